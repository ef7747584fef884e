//! The command lines of other tools, run on our own engine: `drivelab fio …`, or a link of that
//! name.

mod drivelab_options;
mod ended;
mod files;
mod place;
mod reports;
mod suite;
mod world;

use crate::cli::Terms;
use crate::cli::{SafetyOptions, StoreOptions};
use crate::entropy;
use crate::job::{self, Inquiry};
use crate::outcome::{Failure, Status};
use crate::ranks::{on_rank_0, same_plan};
use crate::ready::Ready;
use crate::session::Ended;
use crate::shown::Shown;
use crate::target::{Missing, ResolvedTarget};
use crate::{print, store};
use drivelab_compat::front::{Job, Note, Refusal, Treatment};
use drivelab_compat::front_end::{Answer, FrontEnd, Layout};
use drivelab_compat::tool_named;
use drivelab_core::findings::Findings;
use drivelab_core::plan::{IoMode, Plan, Stream};
use drivelab_core::quantity::size;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_io::facts::System;
use drivelab_io::ranks::Ranks;
use drivelab_options::{DrivelabOptions, Notes};
use drivelab_study::battery;
use std::path::Path;
use world::RealWorld;

/// Runs the line of another tool, if this is one: called by its name through a link, or by the
/// first word. Gives the exit status.
pub fn attempt(ranks: Ranks, words: &[String]) -> Option<u8> {
    let called = words.first().map(|word| Path::new(word).file_name().unwrap_or_default());
    let called = called.and_then(|name| name.to_str()).unwrap_or_default().to_string();
    let is_link = tool_named(&called).is_some();
    let (tool, name, rest) = match tool_named(&called) {
        Some(tool) => (tool, called, words.get(1..)?),
        None => {
            let name = words.get(1)?;
            (tool_named(name)?, name.clone(), words.get(2..)?)
        }
    };
    drivelab_io::signal::install();
    Some(match run(ranks, tool, (&name, is_link), rest) {
        Ok(0) if !print::is_heard() => {
            print::lost().iter().for_each(print::failure);
            tool.failed
        }
        Ok(status) => status,
        Err(Ending { failure, status }) => {
            print::failure(&failure);
            status
        }
    })
}

/// How a line ends that was not run to its end.
struct Ending {
    failure: Failure,
    status: u8,
}

impl Ending {
    /// With the tool's own status, but for a refusal for safety and an interruption.
    fn of(tool: &FrontEnd, failure: Failure) -> Self {
        let status = match failure.status {
            Status::Refused => failure.status as u8,
            status if status.is_interruption() => status as u8,
            _ => tool.failed,
        };
        Ending { failure, status }
    }
}

/// Where notes go if nothing is said. Who calls a tool by its name may be a program, and takes what
/// is on stderr for an error of it.
fn usual_notes(is_link: bool) -> Notes {
    let is_asked = std::env::var("DRIVELAB_NOTES").is_ok_and(|place| place == "stderr");
    match is_asked || !is_link || print::stderr_is_terminal() {
        true => Notes::Stderr,
        false => Notes::None,
    }
}

fn run(
    ranks: Ranks,
    tool: &FrontEnd,
    (name, is_link): (&str, bool),
    words: &[String],
) -> Result<u8, Ending> {
    let failed = |failure| Ending::of(tool, failure);
    let (options, rest) = drivelab_options::take(words, usual_notes(is_link)).map_err(failed)?;
    let system = System::live();
    let world = RealWorld::new(ranks, system.clone(), &options);
    let refused = |refusal: Refusal| {
        let advice = Some(refusal.advice).filter(|advice| !advice.is_empty());
        let failure = Failure { status: Status::Usage, text: refusal.text, advice };
        Ending { failure, status: refusal.status }
    };
    let line = Line { ranks, tool, options: &options, world: &world };
    match (tool.parse)(name, &rest, &world).map_err(refused)? {
        Answer::Text(text) => {
            print::text(&text);
            Ok(0)
        }
        Answer::Run { job, layout } => line.run(*job, &*layout),
        Answer::Suite(asked) => suite::run(&line, asked),
        Answer::Reports { reports: asked, notes } => {
            reports::print(&*asked, &notes, options.notes, &world)
        }
    }
    .map_err(failed)
}

/// A line that is to be run.
struct Line<'a> {
    ranks: Ranks,
    tool: &'a FrontEnd,
    options: &'a DrivelabOptions,
    world: &'a RealWorld,
}

impl Line<'_> {
    fn run(&self, job: Job, layout: &Layout) -> Result<u8, Failure> {
        self.tell(&job.notes);
        if self.options.notes == Notes::Only {
            // They are what was asked for.
            return Ok(0);
        }
        let list = store::results(Some(&store::directory(self.options.runs.as_deref())?))?;
        if self.options.dry_run {
            return self.dry(job, layout);
        }
        let ended = self.measure(job, layout)?;
        ended::show(self.tool, ended, layout, self.options.notes, (&self.world.host_now(), &list))
    }

    /// Says what a line really measures, where that is wanted.
    fn tell(&self, notes: &[Note]) {
        match self.options.notes {
            Notes::Only => notes.iter().for_each(|note| print::text(&format!("note: {note}\n"))),
            Notes::Stderr => notes.iter().for_each(|note| print::error(&format!("note: {note}"))),
            Notes::None => {}
        }
    }

    fn dry(&self, job: Job, layout: &Layout) -> Result<u8, Failure> {
        self.with_ready(job, layout, |ready| ready.print().map(|status| status as u8))
    }

    /// Measures, and leaves it to the caller to show it.
    fn measure(&self, job: Job, layout: &Layout) -> Result<Ended, Failure> {
        self.with_ready(job, layout, |ready| ready.measure().map(|(ended, _)| ended))
    }

    fn with_ready<T>(
        &self,
        mut job: Job,
        layout: &Layout,
        act: impl FnOnce(Ready<'_, Told<'_>>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if job.plan.seed == 0 {
            job.plan.seed = entropy::seed();
        }
        let runs = store::directory(self.options.runs.as_deref())?;
        let list = store::results(Some(&runs))?;
        // Results go where rank 0 is.
        on_rank_0(self.ranks, || files::check(&job, &list, self.options.dry_run))?;
        same_plan(self.ranks, &mut job.plan, &job.target)?;
        let safety = SafetyOptions { erase: self.options.erase.clone(), keep: job.keeps };
        let terms = Terms {
            safety: &safety,
            store: &StoreOptions { runs: Some(runs) },
            tag: None,
            stuck_after: drivelab_options::STUCK_AFTER,
            is_dry: self.options.dry_run,
            live: None,
        };
        let (word, shown) = (self.tool.word(), Shown::plainly(false, None));
        let mut measured = job::Job::of_ranks(self.ranks, word, &job.target, &terms, shown)?;
        measured.warnings = warnings(&job.notes);
        let mut resolved = measured.take(&job.plan, Missing::Made)?;
        if let Some(note) = give_page_cache(self.tool, &mut resolved, &job.plan) {
            if self.options.notes != Notes::None {
                print::error(&format!("note: {note}"));
            }
            measured.warnings.extend(warnings(&[note]));
        }
        // The run itself keeps this note.
        let has_names =
            job.plan.steps.iter().flat_map(|step| &step.streams).any(Stream::is_metadata);
        let modelled = resolved.simulated.as_ref().filter(|_| has_names);
        if let Some(simulated) = modelled.filter(|_| self.options.notes != Notes::None) {
            print::error(&format!("note: {}", simulated.names_note()));
        }
        let told = Told { layout, world: self.world };
        act(measured.ready(resolved, job.plan, told)?)
    }
}

/// Most bytes of the page cache that a simulated drive gets by itself.
const PAGE_CACHE_BYTES_MAX: u64 = 8 << 30;

/// IOzone goes through the page cache of its host, and has no option that names the one of a
/// simulated drive: where the target asks for none, there is one all the same.
fn give_page_cache(tool: &FrontEnd, resolved: &mut ResolvedTarget, plan: &Plan) -> Option<Note> {
    let simulated = resolved.simulated.as_mut()?;
    let is_cached = |stream: &Stream| {
        let engine = stream.engine.traits();
        stream.moves_data() && (stream.io == IoMode::Buffered || engine.is_through_page_cache)
    };
    let needs = plan.steps.iter().flat_map(|step| &step.streams).any(is_cached);
    if tool.word() != "iozone" || !needs || simulated.page_cache_bytes.is_some() {
        return None;
    }
    let bytes = battery::page_cache_bytes(PAGE_CACHE_BYTES_MAX, resolved.file_bytes);
    simulated.page_cache_bytes = Some(bytes);
    resolved.facts = simulated.facts();
    let text = format!(
        "the simulated host has a page cache of {}, a quarter of the drive and at most 8 GiB; add \
         page_cache=SIZE to the target to set another.",
        size(bytes)
    );
    Some(Note::new("simulated_page_cache", "", Treatment::Approximated, text))
}

/// One plan, no conclusions, and what the layout finds to say of the run.
struct Told<'a> {
    layout: &'a Layout,
    world: &'a RealWorld,
}

impl Inquiry for Told<'_> {
    fn next(&mut self, _so_far: &Run) -> Option<Plan> {
        None
    }

    fn judge(&self, _run: &Run) -> Option<Findings> {
        None
    }

    fn remarks(&self, run: &Run) -> Vec<Warning> {
        warnings(&(self.layout)(run, &self.world.host_now()).notes)
    }
}

/// Notes are data of the run.
fn warnings(notes: &[Note]) -> Vec<Warning> {
    let warning = |note: &Note| Warning {
        code: note.code.to_string(),
        text: note.to_string(),
        advice: String::new(),
        step: None,
    };
    notes.iter().map(warning).collect()
}
