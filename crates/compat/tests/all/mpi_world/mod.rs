//! What the tests of the tools under mpirun have in common: a world that holds still, runs made by
//! hand, and plans shown without their repetitions.

use drivelab_compat::front::{Found, Host, Job, Note, Refusal, Scale, World};
use drivelab_core::facts::TargetKind;
use drivelab_core::op::{Action, Errno};
use drivelab_core::plan::{Plan, Step};
use drivelab_core::plan_text::render;
use drivelab_core::record::{Begin, End, StepBegin, StepEnd};
use drivelab_core::run::{Run, StepRun};
use drivelab_core::tally::{Keep, KindTally, Phase, Tally};
use drivelab_core::validate::{Geometry, validate};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A world in which nothing happens.
pub struct Still {
    pub ranks: u32,
    pub scale: Scale,
    pub found: BTreeMap<String, Found>,
    pub texts: BTreeMap<String, String>,
}

pub const MIB: u64 = 1 << 20;

impl Still {
    pub fn with(ranks: u32) -> Self {
        let mut found = BTreeMap::new();
        for directory in [".", "/", "/tmp", "/mnt/fs", "/scratch", "junk", "sub", "sub/0", "sub/1"]
        {
            found.insert(directory.to_owned(), Found::Directory);
        }
        for (file, bytes) in [("old", 16 * MIB), ("short", 4096), ("/mnt/fs/kept", 64 * MIB)] {
            found.insert(file.to_owned(), Found::File { bytes });
        }
        for rank in 0..4 {
            found.insert(format!("each.{rank:08}"), Found::File { bytes: 16 * MIB });
        }
        found.insert("/dev/nvme0n1".into(), Found::Device { bytes: 4096 * MIB });
        found.insert("sim:x25-e".into(), Found::Simulated { bytes: 32_768 * MIB });
        found.insert("/root".into(), Found::Unusable("Permission denied".into()));
        Still { ranks, scale: Scale::WHOLE, found, texts: scripts() }
    }

    pub fn scaled(ranks: u32, numerator: u64, denominator: u64) -> Self {
        Still { scale: Scale { numerator, denominator }, ..Still::with(ranks) }
    }
}

fn scripts() -> BTreeMap<String, String> {
    let two = "IOR START\n  api=POSIX\n  testFile=/mnt/fs/f\n  repetitions=3\n  blockSize=1m\n  \
               transferSize=256k  # bytes\n  filePerProc=1\n  collective=0\nRUN\n  \
               segmentCount=16\n  fsync=1\nRUN\nIOR STOP\n";
    let write_then_read = "IOR START\ntestFile=/mnt/fs/f\nblockSize=4m, keepFile=1\nwriteFile=1\n\
                           RUN\nwriteFile=0\nreadFile=1\nRUN\nIOR STOP\n";
    let all = [
        ("two.ior", two),
        ("write-then-read.ior", write_then_read),
        ("config.ini", "[global]\ndatadir = /mnt/fs/data\nresultdir = results\n"),
        ("scc.ini", "[global]\nscc = TRUE\n[debug]\nstonewall-time = 30\n[find]\nnproc = 1\n"),
        ("no-start.ior", "blockSize=1m\nRUN\n"),
        ("no-stop.ior", "IOR START\nRUN\n"),
        ("unknown-key.ior", "IOR START\nfoo=1\nRUN\nIOR STOP\n"),
        ("hints.ior", "ior start\nhintsFileName=h\nsetAlignment=1\nuseFileView=1\nior stop\n"),
    ];
    all.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

impl World for Still {
    fn found(&self, path: &str) -> Found {
        self.found.get(path).cloned().unwrap_or(Found::Absent)
    }

    fn text(&self, path: &str) -> Result<String, String> {
        self.texts.get(path).cloned().ok_or_else(|| "No such file or directory".to_owned())
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn host(&self) -> Host {
        host()
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn scale(&self) -> Scale {
        self.scale
    }
}

/// Sun Nov 22 05:37:46 2026, UTC.
pub fn host() -> Host {
    Host {
        name: "vm".into(),
        kernel: "6.1.0".into(),
        machine: "x86_64".into(),
        cpus: 2,
        memory_bytes: 8 << 30,
        now_ms: 1_795_325_866_000,
        process: 1,
        version: "0.1.0".into(),
        signal: None,
    }
}

pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

/// A line without `mpirun` and its options: ranks, program, arguments.
pub fn launched(line: &str) -> (u32, String, Vec<String>) {
    const VALUED: [&str; 7] =
        ["-np", "-n", "-machinefile", "-hostfile", "--map-by", "-H", "--bind-to"];
    let mut words = words(line).into_iter().peekable();
    let mut ranks = 1;
    let starter = words.peek().cloned().unwrap_or_default();
    if matches!(starter.as_str(), "mpirun" | "mpiexec" | "srun") {
        words.next();
        while let Some(option) = words.next_if(|word| word.starts_with('-')) {
            let value = if VALUED.contains(&option.as_str()) { words.next() } else { None };
            if let ("-np" | "-n", Some(count)) = (option.as_str(), value) {
                ranks = count.parse().expect("a number of ranks");
            }
        }
    }
    let program = words.next().expect("a program");
    (ranks, program, words.collect())
}

/// The lines of a corpus, without comments.
pub fn corpus(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// A refusal as it is shown.
pub fn refused(refusal: &Refusal) -> String {
    let Refusal { text, advice, status } = refusal;
    assert!(!text.is_empty() && *status != 0, "{refusal:?}");
    format!("refused ({status}): {text}\n  {advice}\n")
}

pub fn noted(notes: &[Note]) -> String {
    let shown = |note: &Note| {
        let treatment = format!("{:?}", note.treatment).to_lowercase();
        let about = if note.about.is_empty() { String::new() } else { format!(" {}", note.about) };
        format!("note {} ({treatment}){about}: {}\n", note.code, note.text)
    };
    notes.iter().map(shown).collect()
}

/// A job as it is shown: its plan without repetitions that are like the one before. `group` says
/// which repetition a step belongs to, `alike` takes out what may differ between repetitions.
pub fn shown(job: &Job, group: impl Fn(usize) -> u64, alike: impl Fn(&mut Step, u64)) -> String {
    assert_sound(job);
    let mut out =
        format!("target {}, {}\n", job.target, if job.keeps { "kept" } else { "removed" });
    out.push_str(&noted(&job.notes));
    let mut plan = job.plan.clone();
    let files = plan.files.len();
    plan.files.truncate(3);
    let steps = std::mem::take(&mut plan.steps);
    out.push_str(&render(&plan));
    if files > 3 {
        let last = &job.plan.files[files - 1];
        writeln!(out, "# … {files} files, the last is {} of {}", last.name, last.size).unwrap();
    }
    let mut groups: Vec<(u64, Vec<Step>)> = Vec::new();
    for (index, step) in steps.into_iter().enumerate() {
        let of = group(index);
        match groups.last_mut() {
            Some((last, steps)) if *last == of => steps.push(step),
            _ => groups.push((of, vec![step])),
        }
    }
    let mut before: Option<Vec<Step>> = None;
    let mut same = 0;
    for (number, steps) in groups {
        let mut bare = steps.clone();
        bare.iter_mut().for_each(|step| alike(step, number));
        if before.as_ref() == Some(&bare) {
            same += 1;
            continue;
        }
        if same > 0 {
            writeln!(out, "# … and {same} more of these").unwrap();
        }
        (same, before) = (0, Some(bare));
        steps.iter().for_each(|step| out.push_str(&in_a_line(step)));
    }
    if same > 0 {
        writeln!(out, "# … and {same} more of these").unwrap();
    }
    out
}

/// Before the plans of a corpus.
pub const HEADING: &str = "\
# Each line of the corpus with its notes and its plan, a step a line. Not shown are engine psync,
# io buffered, sync none, depth 1, content random, gap_over 100ms, repeat 1, until one pass (or
# nothing, of an act) and role measure; of names also mix and size. Written by the test itself with
# UPDATE_EXPECT=1.
";

/// What a step has unless its line says otherwise.
const USUAL: [&str; 10] = [
    "engine = \"psync\"",
    "io = \"buffered\"",
    "sync = \"none\"",
    "depth = 1",
    "content = \"random\"",
    "gap_over = \"100ms\"",
    "repeat = 1",
    "until = { passes = 1 }",
    "until = {}",
    "role = \"measure\"",
];
/// The same of a step on names, which have neither.
const USUAL_OF_NAMES: [&str; 2] = ["mix = { read = 100 }", "size = \"4KiB\""];

/// A step as its keys, without those that are as usual.
fn in_a_line(step: &Step) -> String {
    let text = render(&Plan { steps: vec![step.clone()], ..Plan::default() });
    let of_names = text.contains("pattern = \"names\"");
    let keys = text.lines().skip(2).filter(|line| !line.is_empty() && !line.starts_with("[["));
    let keys =
        keys.filter(|key| !(USUAL.contains(key) || of_names && USUAL_OF_NAMES.contains(key)));
    let keys: Vec<&str> = keys.collect();
    format!("- {}\n", keys.join(", "))
}

/// What core itself would refuse must not come out of a front end.
pub fn assert_sound(job: &Job) {
    let (kind, file_bytes) = match job.target.as_str() {
        "/dev/nvme0n1" => (TargetKind::BlockDevice, Some(4096 * MIB)),
        "sim:x25-e" => (TargetKind::Simulated, Some(32_768 * MIB)),
        _ => (TargetKind::Directory, None),
    };
    let geometry = Geometry {
        kind,
        file_bytes,
        logical_block_bytes: 512,
        lacks_page_cache: false,
        memory_bytes: None,
    };
    if let Err(problems) = validate(&job.plan, &geometry) {
        // How large a block of the drive is, nobody knows before the target is opened; and core
        // knows how many names are too many.
        let is_known = |text: &str| {
            text.contains("that direct I/O needs here") || text.contains("names at most")
        };
        let known = problems.iter().find(|problem| !is_known(&problem.text));
        assert!(known.is_none(), "{}: {}", job.plan.title, known.unwrap());
    }
    for note in &job.notes {
        assert!(note.text.ends_with('.') || note.text.ends_with("open/close"), "{}", note.text);
    }
}

/// How one task of a step did: when it was let go, issued its first operation and was done, in
/// microseconds, and what it moved.
#[derive(Clone, Copy)]
pub struct Did {
    pub opened: u64,
    pub first: u64,
    pub closed: u64,
    pub ops: u64,
    pub bytes: u64,
}

/// A run in which every step of a plan went as `of` says, one after the other.
pub fn run(job: &Job, of: impl Fn(usize, &Step) -> Vec<Did>) -> Run {
    let mut run = Run {
        begin: Begin {
            started_at: "2026-11-22T05:37:46Z".into(),
            target: job.target.clone(),
            ..Begin::default()
        },
        plans: vec![job.plan.clone()],
        end: Some(End { complete: true, status: 0, reason: None }),
        ..Run::default()
    };
    let mut now = 0;
    for (index, step) in job.plan.steps.iter().enumerate() {
        let tasks = of(index, step);
        run.steps.push(ended(index as u32, step, &tasks, now));
        now += tasks.iter().map(|task| task.closed).max().unwrap_or(0) * 1000 + 1000;
    }
    run
}

fn ended(number: u32, step: &Step, tasks: &[Did], from: u64) -> StepRun {
    let at = |microseconds: u64| from + microseconds * 1000;
    let phases = tasks.iter().zip(0..).map(|(task, worker)| Phase {
        worker,
        opened: at(task.opened),
        measured_from: at(task.opened),
        first: at(task.first),
        last: at(task.closed),
        closed: at(task.closed),
        issued: task.ops,
        ..Phase::default()
    });
    let kind = step.streams.first().and_then(|stream| stream.kinds().first().copied());
    let tallies = tasks.iter().zip(0..).map(|(task, worker)| {
        let keep = Keep::default();
        let mut tally = Tally::new(number, 0, worker, &[], keep);
        let mut of_kind = KindTally::new(kind.unwrap_or(Action::Read), keep);
        (of_kind.ops, of_kind.bytes) = (task.ops, task.bytes);
        of_kind.errors = Vec::<(Errno, u64)>::new();
        tally.kinds.push(of_kind);
        tally
    });
    StepRun {
        begin: StepBegin {
            step: number,
            plan_step: number,
            plan: 0,
            repetition: 1,
            name: step.name.clone(),
            role: step.role,
            state: "unknown".into(),
            opened: Vec::new(),
        },
        plan: step.clone(),
        tallies: if step.act.is_some() { Vec::new() } else { tallies.collect() },
        insides: Vec::new(),
        anatomy: None,
        requests: Vec::new(),
        end: Some(StepEnd {
            step: number,
            phases: if step.act.is_some() { Vec::new() } else { phases.collect() },
            ..StepEnd::default()
        }),
    }
}
