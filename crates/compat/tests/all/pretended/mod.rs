//! A world that front ends can ask, and runs that never were, for tests of several of them.

use drivelab_compat::front::{Found, Host, Job, Note, Scale, World};
use drivelab_core::op::Action;
use drivelab_core::plan::{Plan, Step, Stream};
use drivelab_core::plan_text::render;
use drivelab_core::record::{Begin, End, StepBegin, StepEnd};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::tally::{Keep, KindTally, Phase, Tally};
use std::collections::BTreeMap;

/// Every directory exists but those below `missing`; files and devices are those that are listed.
pub struct Pretended {
    pub found: BTreeMap<String, Found>,
    pub texts: BTreeMap<String, String>,
    pub variables: BTreeMap<String, String>,
    pub scale: Scale,
    pub memory_bytes: u64,
}

impl Default for Pretended {
    fn default() -> Self {
        let bytes = 3_200_631_791_616;
        let simulated = Found::Simulated { bytes: 64 << 30 };
        let found = [
            (".", Found::Directory),
            ("/", Found::Directory),
            ("/mnt", Found::Directory),
            ("/mnt/a", Found::Directory),
            ("/mnt/b", Found::Directory),
            ("data", Found::Directory),
            ("/mnt/a/there", Found::File { bytes: 1 << 30 }),
            ("/dev/nvme1n1", Found::Device { bytes }),
            ("/dev/nvme2n1", Found::Device { bytes }),
            ("sim:nvme-tlc,page_cache=1GiB", simulated),
        ];
        Pretended {
            found: found.into_iter().map(|(path, what)| (path.to_owned(), what)).collect(),
            texts: BTreeMap::new(),
            variables: BTreeMap::new(),
            scale: Scale::WHOLE,
            memory_bytes: 62 << 30,
        }
    }
}

impl World for Pretended {
    fn found(&self, path: &str) -> Found {
        self.found.get(path).cloned().unwrap_or(Found::Absent)
    }
    fn text(&self, path: &str) -> Result<String, String> {
        self.texts.get(path).cloned().ok_or_else(|| "No such file or directory".to_owned())
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
    fn host(&self) -> Host {
        Host {
            name: "lab".to_owned(),
            kernel: "6.1.0".to_owned(),
            machine: "x86_64".to_owned(),
            cpus: 8,
            memory_bytes: self.memory_bytes,
            now_ms: 1_795_196_237_000,
            process: 4711,
            version: "0.1.0".to_owned(),
            signal: None,
        }
    }
    fn ranks(&self) -> u32 {
        1
    }
    fn scale(&self) -> Scale {
        self.scale
    }
}

/// The words of a line of a corpus, without the program's name.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

/// The lines of a corpus; `#` begins a comment.
pub fn lines(corpus: &str) -> impl Iterator<Item = &str> {
    corpus.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// A job in few lines: each step and each stream of its plan is one.
pub fn told(job: &Job) -> String {
    let stays = if job.keeps { "stays" } else { "is removed" };
    let mut text = format!("target {}, {stays}\n", job.target);
    for note in &job.notes {
        text.push_str(&told_note(note));
    }
    text.push_str(&told_plan(&job.plan));
    text
}

/// A note in one line.
pub fn told_note(note: &Note) -> String {
    format!("note {} ({:?}) {note}\n", note.code, note.treatment)
}

/// A plan in few lines; of a long one only the first steps.
pub fn told_plan(plan: &Plan) -> String {
    const IN_FULL: usize = 20;
    const DEFAULTS: [&str; 3] = ["repeat = 0", "gap_over = \"100ms\"", "until = {}"];
    let short = Plan { steps: plan.steps.iter().take(IN_FULL).cloned().collect(), ..plan.clone() };
    let mut text = String::new();
    for block in render(&short).trim().split("\n\n") {
        let indent = if block.starts_with("[[steps.streams]]") { "    " } else { "  " };
        let says = |line: &&str| !line.starts_with("[[") && !DEFAULTS.contains(line);
        let lines: Vec<&str> = block.lines().filter(says).collect();
        text.push_str(&format!("{indent}{}\n", lines.join("; ")));
    }
    if plan.steps.len() > IN_FULL {
        text.push_str(&format!("  … and {} more steps\n", plan.steps.len() - IN_FULL));
    }
    text
}

/// What a plan could have left: every step took what `nanoseconds` says of its name, its stream
/// and its worker, and did all its work.
pub fn run_of(plan: &Plan, nanoseconds: impl Fn(&str, u32, u32) -> u64) -> Run {
    let steps = (0..).zip(&plan.steps).map(|(number, step)| done(number, step, &nanoseconds));
    Run {
        begin: Begin { started_at: "2026-11-20T17:37:17Z".to_owned(), ..Begin::default() },
        plans: vec![plan.clone()],
        steps: steps.collect(),
        end: Some(End { complete: true, status: 0, reason: None }),
        ..Run::default()
    }
}

fn done(number: u32, step: &Step, nanoseconds: &impl Fn(&str, u32, u32) -> u64) -> StepRun {
    let mut tallies = Vec::new();
    let mut end = StepEnd { step: number, ..StepEnd::default() };
    for (index, stream) in (0..).zip(&step.streams) {
        for worker in 0..stream.workers {
            let elapsed_ns = nanoseconds(&step.name, index, worker);
            tallies.push(tally(
                number,
                (index, worker),
                stream,
                operations(step, stream),
                elapsed_ns,
            ));
            let first = 1_000_000_000 + u64::from(worker) * 1000;
            let closed = first + elapsed_ns;
            end.phases.push(Phase {
                stream: index,
                worker,
                opened: 999_999_000,
                measured_from: 999_999_000,
                first,
                last: closed,
                closed,
                ..Phase::default()
            });
        }
    }
    StepRun {
        begin: StepBegin {
            step: number,
            plan_step: number,
            plan: 0,
            repetition: 1,
            name: step.name.clone(),
            role: step.role,
            state: "unknown".to_owned(),
            opened: Vec::new(),
        },
        plan: step.clone(),
        tallies,
        insides: Vec::new(),
        anatomy: None,
        requests: Vec::new(),
        end: Some(end),
    }
}

/// Operations of one worker of a step that ends by passes or operations.
fn operations(step: &Step, stream: &Stream) -> u64 {
    let pass = stream.length.map_or(0, |length| length.0) / stream.size.0.max(1);
    let workers = u64::from(stream.workers.max(1));
    step.until.operations.map_or(pass, |operations| operations / workers)
}

fn tally(step: u32, (index, worker): (u32, u32), stream: &Stream, ops: u64, elapsed: u64) -> Tally {
    let keep = Keep::default();
    let kind = if stream.mix.write > 0 { Action::Write } else { Action::Read };
    let mut tally = Tally::new(step, index, worker, &[kind, Action::Flush], keep);
    let moved: &mut KindTally = &mut tally.kinds[0];
    moved.ops = ops;
    moved.bytes = ops * stream.size.0;
    for _ in 0..ops {
        moved.service.record(elapsed / ops.max(1));
    }
    tally.kinds[1].ops = 1;
    tally
}
