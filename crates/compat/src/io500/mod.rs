//! IO500: its file as lines of IOR and mdtest, one after the other, with a find and a score.
//!
//! Written from what the suite does, as its source says (commit 02091cf); no code of it is used.
//! Where it starts pfind, a step of drivelab's own looks for the files.

pub mod ini;
pub mod known;

mod config;
mod outcome;
mod phase;
mod print;
mod score;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]
mod tests;
mod words;

pub use config::{Config, FAILED};
pub use phase::{FAMILIES, FILE_BYTES, Group, Phase};
pub use score::Score;

use crate::front::{Asked, Existing, Found, Job, Layout, Note, Output, OutputFile};
use crate::front::{Refusal, ResultFile, Scale, World};
use crate::front_end::FrontEnd;
use crate::suite::{self, Begun, Done, Outcome, Suite};
use crate::{ior, mdtest};
use drivelab_core::plan::{Act, Find, Plan, Role, Step};
use drivelab_core::units::Size;

/// What stands in the place of the suite's own version.
pub const VERSION: &str = concat!("drivelab-", env!("CARGO_PKG_VERSION"));
/// The part of a name that is looked for.
const FOUND_NAME: &str = "01";
/// Seconds of writing that a valid result takes, and of one of students.
const LEAST_S: u64 = 300;
const LEAST_OF_STUDENTS_S: u64 = 30;

/// IO500 among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["io500"],
    failed: FAILED,
    example: "config.ini",
    parse: |_, args, world| words::parse(args, world),
    table: Some(known::table),
};

/// The suite, as a file asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Io500 {
    /// What the file asks for.
    pub config: Config,
    /// The name of the directories of this time, where one was given.
    pub named: Option<String>,
    /// Where data goes.
    pub data: String,
    /// Where results go.
    pub results: String,
    /// Processes.
    pub ranks: u32,
    /// Sizes and counts are this many times as large.
    pub scale: Scale,
    /// Times are this many times as long.
    pub scale_time: Scale,
    /// What it really measures.
    pub notes: Vec<Note>,
}

impl Suite for Io500 {
    fn begin_at(&mut self, now_ms: u64) {
        let stamp = self.named.clone().unwrap_or_else(|| print::stamp(now_ms));
        let of = |key: &str, stamped: &str| {
            let typed = self.config.value("global", key).trim_end_matches('/').to_owned();
            match self.config.is_on("global", stamped) {
                true => format!("{typed}/{stamp}"),
                false => typed,
            }
        };
        let data = of("datadir", "timestamp-datadir");
        let results = of("resultdir", "timestamp-resultdir");
        (self.data, self.results) = (data, results);
    }

    fn data(&self) -> &str {
        &self.data
    }

    fn results(&self) -> &str {
        &self.results
    }

    fn directories(&self) -> Vec<String> {
        FAMILIES.map(|family| format!("{}/{family}", self.data)).into()
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn phases(&self) -> Vec<&'static str> {
        Phase::ALL.iter().map(|phase| phase.name()).collect()
    }

    fn shown(&self, phase: usize) -> Option<String> {
        let phase = Phase::at(phase);
        match phase {
            _ if !self.config.runs(phase) => None,
            Phase::Timestamp => None,
            Phase::Find => Some(self.find(0).line),
            phase => self.line(phase).map(|words| words.join(" ")),
        }
    }

    fn begin(
        &self,
        phase: usize,
        world: &dyn World,
        changed_from_ns: u64,
    ) -> Result<suite::Phase, Refusal> {
        let phase = Phase::at(phase);
        if phase == Phase::Timestamp {
            return Ok(suite::Phase::Stamp(self.file("timestampfile")));
        }
        if !self.config.runs(phase) {
            return Ok(suite::Phase::Skipped);
        }
        let begun = match self.line(phase) {
            None => self.find(changed_from_ns),
            Some(words) if phase.group() == Group::Bandwidth => {
                self.of_ior(phase, &words, world)?
            }
            Some(words) => of_mdtest(&words, world)?,
        };
        Ok(suite::Phase::Run(Box::new(begun)))
    }

    fn outcome(&self, done: Done) -> Outcome {
        let figure = done.measured.as_ref().map(|(figure, _)| *figure);
        Outcome { against: self.against(Phase::at(done.phase), figure), done }
    }

    fn heading(&self) -> String {
        format!("IO500 version {VERSION} (standard)\n")
    }

    fn row(&self, outcome: &Outcome) -> String {
        let row = Io500::row_of(outcome);
        match outcome.word() {
            Some(word) => format!("{row}  guard: {}\n", word.word()),
            None => row + "\n",
        }
    }

    fn score(&self, outcomes: &[Outcome]) -> String {
        let row = self.score_row(outcomes);
        format!("{row}\nResults: {}\n", self.results)
    }

    fn invalid(&self, outcomes: &[Outcome]) -> Vec<String> {
        let mut found = self.asked_otherwise();
        for outcome in outcomes {
            let name = Phase::at(outcome.done.phase).name();
            found.extend(outcome.against.iter().map(|reason| format!("{name}: {reason}")));
        }
        found
    }

    fn file(&self, name: &str) -> ResultFile {
        let path = format!("{}/{name}", self.results);
        ResultFile { path, existing: Existing::ReplaceOwn }
    }

    fn asked_files(&self) -> Vec<OutputFile> {
        vec![
            self.written("config-orig.ini", self.config.text.clone()),
            self.written("config.ini", self.config.in_full()),
        ]
    }

    fn told_files(&self, outcomes: &[Outcome]) -> Vec<OutputFile> {
        vec![
            self.written("result_summary.txt", self.summary(outcomes)),
            self.written("result.txt", self.result(outcomes)),
        ]
    }

    fn passing_files(&self) -> Vec<String> {
        FAMILIES.map(|family| format!("{}/{family}.stonewall", self.results)).into()
    }
}

impl Io500 {
    /// Seconds after which writing stops.
    pub fn wall_s(&self) -> f64 {
        let stonewall_s = self.config.count("debug", "stonewall-time");
        self.scale_time.of(stonewall_s * 1_000, 1) as f64 / 1_000.0
    }

    /// Seconds that writing takes at least in a valid result.
    pub fn least_s(&self) -> u64 {
        if self.config.is_on("global", "scc") { LEAST_OF_STUDENTS_S } else { LEAST_S }
    }

    /// Why no result of this could be valid, whatever is measured.
    pub fn asked_otherwise(&self) -> Vec<String> {
        let mut found = Vec::new();
        let (asked, least) = (self.config.count("debug", "stonewall-time"), self.least_s());
        if asked != least {
            found.push(format!("stonewall-time is {asked} s, and the rules ask for {least} s"));
        }
        if self.scale_time != Scale::WHOLE {
            found.push(format!("--scale-time makes the stonewall one of {} s", self.wall_s()));
        }
        if self.scale != Scale::WHOLE {
            found.push("--scale-size changes sizes and numbers of files".to_owned());
        }
        found
    }

    fn written(&self, name: &str, text: String) -> OutputFile {
        OutputFile { place: self.file(name), bytes: text.into_bytes(), said: String::new() }
    }

    fn of_ior(&self, phase: Phase, words: &[String], world: &dyn World) -> Result<Begun, Refusal> {
        let line = words.join(" ");
        let Asked::Run { mut job, options } = ior::parse("ior", &words[1..], world)? else {
            return Err(asks_for_help(&line));
        };
        self.drop_what_was_written(phase, &mut job);
        let own = options.clone();
        let layout: Box<Layout> = Box::new(move |run, host| ior::output(&own, run, host));
        let measure = Box::new(move |run: &_| outcome::of_ior(&options, run));
        Ok(Begun { job: *job, layout: Some(layout), measure, line })
    }

    /// Behind the last step of a line, so that the places of the others stay.
    fn drop_what_was_written(&self, phase: Phase, job: &mut Job) {
        if self.config.is_on("global", "drop-caches") && phase.has_stonewall() {
            job.plan.steps.push(act("drop the cache", Role::Prepare, Act::DropCaches));
        }
    }

    fn find(&self, changed_from_ns: u64) -> Begun {
        let processes = self.config.count("find", "nproc").clamp(0, u64::from(self.ranks));
        let wanted = Find {
            name: FOUND_NAME.to_owned(),
            bytes: Some(Size(FILE_BYTES)),
            changed_from_ns: Some(changed_from_ns),
            processes: u32::try_from(processes).ok().filter(|count| *count > 0),
        };
        let line = format!(
            "find {} -newer {}/timestampfile -size {FILE_BYTES}c -name \"*{FOUND_NAME}*\"",
            self.data, self.results
        );
        let plan = Plan {
            title: line.clone(),
            seed: 1,
            steps: vec![act("find", Role::Measure, Act::Find(wanted))],
            ..Plan::default()
        };
        let (target, notes, results) = (self.data.clone(), Vec::new(), Vec::new());
        let job = Job { plan, target, keeps: true, notes, results };
        Begun { job, layout: None, measure: Box::new(outcome::of_find), line }
    }
}

fn act(name: &str, role: Role, act: Act) -> Step {
    let name = name.to_owned();
    Step { name, role, act: Some(act), repeat: 1, ..Step::default() }
}

fn of_mdtest(words: &[String], world: &dyn World) -> Result<Begun, Refusal> {
    let line = words.join(" ");
    let Asked::Run { job, options } = mdtest::parse(&words[1..], world)? else {
        return Err(asks_for_help(&line));
    };
    let own = options.clone();
    let layout: Box<Layout> =
        Box::new(move |run, host| -> Output { mdtest::output(&own, run, host) });
    let measure = Box::new(move |run: &_| outcome::of_mdtest(&options, run));
    Ok(Begun { job: *job, layout: Some(layout), measure, line })
}

fn asks_for_help(line: &str) -> Refusal {
    Refusal::new(FAILED, format!("{line} asks for help"), "")
}

/// Whether data may go to a directory: it is not there yet, or is one.
fn refuse_place(path: &str, world: &dyn World) -> Result<(), Refusal> {
    let why = match world.found(path) {
        Found::Absent | Found::Directory => return Ok(()),
        Found::Unusable(why) => why,
        _ => "it is not a directory".to_owned(),
    };
    Err(Refusal::new(FAILED, format!("{path} cannot be used: {why}"), "Name another directory."))
}
