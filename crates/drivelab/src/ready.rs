//! One way to run something: every command that measures asks for a [`Job`], finds out what the
//! target is, makes it [`Ready`], has it done, and shows how it ended.
//!
//! Nothing of the target is touched before [`Ready::measure`]: leftovers of killed runs are removed
//! first, then the target is looked at, then the guard is asked, then the plan is held against what
//! is there. Of several ranks nobody goes on before all have done each of it.

mod commands;
mod unfit;
mod zones;

use crate::cli::Terms;
use crate::documents::Planned;
use crate::forecast::{Forecast, forecast};
use crate::job::{Inquiry, Job};
use crate::layout;
use crate::live;
use crate::outcome::{Failure, Status};
use crate::patience::Patience;
use crate::ranks::{agree, name_files, on_rank_0, same_target};
use crate::results::results;
use crate::session::intent::intent_of;
use crate::session::{self, Ended, or_gone, refused};
use crate::shown::Shown;
use crate::target::{Kind, Missing, ResolvedTarget};
use crate::target_actions::SETTINGS;
use crate::{print, store};
use drivelab_core::plan::{Plan, Role};
use drivelab_core::plan_text;
use drivelab_core::record::Warning;
use drivelab_core::validate::{Problem, validate};
use drivelab_io::facts::System;
use drivelab_io::ranks::Ranks;
use drivelab_io::scratch::remove_leftovers;
use drivelab_io::{guard, scratch, settings};
use std::io::ErrorKind;
use std::path::Path;

impl<'a> Job<'a> {
    /// A job of one rank with nothing but what every command asks. One that measures removes what
    /// killed runs left behind, before anything is looked at.
    ///
    /// # Errors
    /// There is no place for run files, or a list of scratch that is not drivelab's.
    pub fn new(
        command: &'a str,
        target: &'a str,
        terms: &Terms<'_>,
        shown: Shown<'a>,
    ) -> Result<Self, Failure> {
        Job::of_ranks(Ranks::ALONE, command, target, terms, shown)
    }

    /// The same job, shared by these ranks.
    ///
    /// # Errors
    /// As for [`Job::new`].
    pub fn of_ranks(
        ranks: Ranks,
        command: &'a str,
        target: &'a str,
        terms: &Terms<'_>,
        shown: Shown<'a>,
    ) -> Result<Self, Failure> {
        let live = live_of(ranks, terms, shown)?;
        let shown = Shown { is_aside: live.is_on_stdout(), ..shown };
        let job = Job {
            ranks,
            command,
            target,
            erase: terms.safety.erase.clone(),
            keep: terms.safety.keep,
            size: None,
            runs: store::directory(terms.store.runs.as_deref())?,
            tag: terms.tag.map(Into::into),
            stuck_after: terms.stuck_after,
            is_dry: terms.is_dry,
            live,
            shown,
            is_load: false,
            reserve_bytes: 0,
            warnings: Vec::new(),
            study: None,
            kept: None,
            system: System::live(),
        };
        if !job.is_dry {
            on_rank_0(ranks, || tidy_up(&job.runs, &job.system))?;
        }
        Ok(job)
    }

    /// Looks at the target for what `plan` needs; all ranks find the same.
    ///
    /// # Errors
    /// Nothing is there and nothing is to be made, or the plan does not fit what is there.
    pub fn take(&self, plan: &Plan, missing: Missing<'_>) -> Result<ResolvedTarget, Failure> {
        let taken = ResolvedTarget::take(&self.system, self.target, plan, self.size, missing);
        let mut resolved = agree(self.ranks, taken)?;
        same_target(self.ranks, &mut resolved)?;
        Ok(resolved)
    }

    /// Looks at the target, for one data file of a size to be decided.
    ///
    /// # Errors
    /// Nothing is there and nothing is to be made, or it cannot be looked at.
    pub fn look(&self, missing: Missing<'_>) -> Result<ResolvedTarget, Failure> {
        ResolvedTarget::look(&self.system, self.target, missing)
    }

    /// Tries the place of the report, asks the guard, then holds the plan with all that is done
    /// for it against the target: a refusal for safety comes before anything that is wrong with
    /// the plan.
    ///
    /// # Errors
    /// The report cannot be written, the guard refuses, or the plan makes no sense on this target.
    pub fn ready<I: Inquiry>(
        mut self,
        mut resolved: ResolvedTarget,
        mut first: Plan,
        inquiry: I,
    ) -> Result<Ready<'a, I>, Failure> {
        zones::fit(&mut first, &resolved, self.ranks, self.study.is_some())?;
        unfit::refuse_cpus(&first)?;
        commands::refuse_unfit(&self.system, &first, &resolved)?;
        if !self.is_dry {
            on_rank_0(self.ranks, || self.shown.is_possible())?;
            self.live.is_possible()?;
            let or_gone = |failure| or_gone(failure, &self, &resolved);
            agree(self.ranks, ask_guard(&self, &resolved, &first).map_err(or_gone))?;
            unfit::refuse_purges(&self.system, &first, &resolved).map_err(or_gone)?;
        } else if let Err(refused) = ask_guard(&self, &resolved, &first)
            .and_then(|()| unfit::refuse_purges(&self.system, &first, &resolved))
        {
            tell_refusal(&refused);
        }
        self.warnings.extend(unfit::not_polled(&first, &resolved));
        self.warnings.extend(commands::told(&resolved));
        let laid_out = if self.is_load { layout::prepend(&mut first, &resolved) } else { 0 };
        agree(self.ranks, check_behind(laid_out, &first, &resolved))?;
        if self.is_load {
            // What a plan says of its files was compared with files that it names itself.
            name_files(self.ranks, &mut first, &mut resolved)?;
        }
        Ok(Ready { job: self, resolved, first, inquiry })
    }
}

/// A job that can begin: everything was looked at, and the guard has said yes. What was checked
/// stays as it was.
#[derive(Debug)]
pub struct Ready<'a, I> {
    job: Job<'a>,
    resolved: ResolvedTarget,
    first: Plan,
    inquiry: I,
}

impl<'a, I> Ready<'a, I> {
    /// What was asked.
    pub fn job(&self) -> &Job<'a> {
        &self.job
    }

    /// What it is asked of.
    pub fn resolved(&self) -> &ResolvedTarget {
        &self.resolved
    }

    /// The first plan.
    pub fn first(&self) -> &Plan {
        &self.first
    }

    /// What follows it.
    pub fn inquiry(&self) -> &I {
        &self.inquiry
    }

    /// What the first plan takes.
    pub fn cost(&self) -> Forecast {
        forecast(&self.first, self.resolved.file_bytes)
    }

    /// Tells a reader more before the first step.
    pub fn warn(&mut self, found: Vec<Warning>) {
        self.job.warnings.extend(found);
    }
}

impl<I: Inquiry> Ready<'_, I> {
    /// Prints the first plan with its cost; touches nothing.
    ///
    /// # Errors
    /// It cannot be printed.
    pub fn print(&self) -> Result<Status, Failure> {
        let (plan, resolved) = (&self.first, &self.resolved);
        let cost = self.cost();
        if self.job.shown.as_json {
            print::document(Planned { plan, cost })?;
            return Ok(Status::Fine);
        }
        // A comment, so that the output is a plan file.
        let creates = match resolved.creates() {
            true => {
                let bytes = drivelab_report::units::size(resolved.file_bytes);
                let files = drivelab_report::units::counted(u64::from(resolved.files), "file");
                let size = bytes.replace(' ', "");
                format!("# creates {files} of {bytes}\n# as a plan it takes --size {size}\n")
            }
            false => String::new(),
        };
        let cost = cost.in_words();
        print::text(&format!("# {cost}\n{creates}"));
        print::verbatim(&plan_text::render(plan));
        Ok(Status::Fine)
    }

    /// Measures.
    ///
    /// # Errors
    /// The target could not be opened.
    pub fn measure(mut self) -> Result<(Ended, I), Failure> {
        let ended = session::run(&self.job, self.resolved, self.first, &mut self.inquiry)?;
        Ok((ended, self.inquiry))
    }

    /// Measures, and shows what was found.
    ///
    /// # Errors
    /// The target could not be opened, or the results could not be written.
    pub fn finish(self) -> Result<Status, Failure> {
        let shown = self.job.shown;
        results(self.measure()?.0, shown)
    }
}

/// What is told of a run while it lasts, where that can be.
fn live_of(ranks: Ranks, terms: &Terms<'_>, shown: Shown<'_>) -> Result<live::Asked, Failure> {
    let Some(options) = terms.live else { return Ok(live::Asked::default()) };
    let (feed, openmetrics) = (options.feed.clone(), options.openmetrics.clone());
    let asked = live::Asked { feed, openmetrics };
    if asked.is_on_stdout() && shown.as_json {
        return Err(Failure::usage("--feed - and --json both print JSON on stdout")
            .advise("Name a file for one of them, such as:  --feed feed.jsonl"));
    }
    if asked.is_any() && !ranks.is_alone() {
        return Err(Failure::usage(
            "--feed and --openmetrics are for one process: of several, the intervals of the others \
             come when a step has ended",
        ));
    }
    Ok(asked)
}

fn ask_guard(job: &Job<'_>, resolved: &ResolvedTarget, plan: &Plan) -> Result<(), Failure> {
    if !matches!(resolved.kind, Kind::File | Kind::Device) {
        return Ok(());
    }
    let list = scratch::ScratchList::at(store::scratch_list(Some(&job.runs))?);
    let consent = job.erase.as_deref();
    guard::assess(&job.system, &resolved.path, intent_of(plan, resolved), consent, &list)
        .map(drop)
        .map_err(refused)
}

/// Says of a line that was only looked at what the guard would say of it.
fn tell_refusal(refused: &Failure) {
    let (what, advice) = refused.parts();
    let advice = advice.map_or(String::new(), |advice| format!("\n  {advice}"));
    let what = what.strip_prefix("refused: ").unwrap_or(&what);
    crate::print::error(&format!("drivelab: this line would be refused: {what}{advice}"));
}

/// Refuses what makes no sense on this target, with every reason.
pub fn check_plan(plan: &Plan, resolved: &ResolvedTarget) -> Result<(), Failure> {
    check_behind(0, plan, resolved)
}

/// The same of a plan whose first steps, this many, lay out what it needs. Nobody wrote these: the
/// others are numbered without them, and what is wrong with them counts where nothing else is.
fn check_behind(laid_out: usize, plan: &Plan, resolved: &ResolvedTarget) -> Result<(), Failure> {
    let Err(problems) = validate(plan, &resolved.geometry()) else { return Ok(()) };
    let (layout, mut problems): (Vec<Problem>, Vec<Problem>) =
        problems.into_iter().partition(|it| it.step.is_some_and(|step| step < laid_out));
    problems.iter_mut().filter_map(|it| it.step.as_mut()).for_each(|step| *step -= laid_out);
    let problems = if problems.is_empty() { layout } else { problems };
    let single = plan.steps.iter().filter(|step| step.role != Role::Prepare).count() <= 1;
    let mut lines: Vec<String> = problems
        .iter()
        .map(|problem| if single { problem.text.clone() } else { problem.to_string() })
        .collect();
    lines.dedup();
    let first = lines.remove(0);
    let failure = Failure::usage(first);
    Err(if lines.is_empty() { failure } else { failure.advise(lines.join("\n  ")) })
}

/// Removes and undoes what runs that were killed have left behind, and says so. It comes before the
/// facts of a target are taken, which would tell what such a run had set.
fn tidy_up(runs: &Path, system: &System) -> Result<(), Failure> {
    let scratch_list = store::scratch_list(Some(runs))?;
    for left in settings::leftovers(system, &scratch_list.with_file_name(SETTINGS)) {
        crate::print::error(&format!("drivelab: {}", left.text));
    }
    let looking = Patience::begin("what a killed run left is looked for", Vec::new());
    let list = scratch::ScratchList::at(scratch_list);
    let leftovers = match remove_leftovers(&list) {
        Ok(leftovers) => leftovers,
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Err(refused(guard::foreign_list(&list, &error)));
        }
        // It is said when something is to be written into it.
        Err(_) => return Ok(()),
    };
    drop(looking);
    for path in leftovers.removed {
        crate::print::error(&format!(
            "drivelab: removed {}, left by a run that was killed",
            path.display()
        ));
    }
    for (path, reason) in leftovers.left {
        crate::print::error(&format!(
            "drivelab: left {} as it is, which a run that was killed had made: {reason}",
            path.display()
        ));
    }
    Ok(())
}
