//! What must hold for any words: each function reads them with the front end of another tool, and
//! fails loudly where that panics, takes its time, or makes a plan that cannot be run.
#![allow(dead_code, reason = "each fuzzer uses one of them")]

use drivelab_compat::counters::{Counters, parse_cpu, parse_diskstats, parse_uptime};
use drivelab_compat::front::{Asked, Found, Host, Job, Output, Refusal, Scale, World};
use drivelab_compat::front_end::Answer;
use drivelab_compat::io500::ini;
use drivelab_compat::suite::Phase;
use drivelab_compat::{TOOLS, fio, iometer, iostat, tool_named};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan_text;
use drivelab_core::run::Run;
use drivelab_core::validate::{Geometry, validate};
use std::time::{Duration, Instant};

/// Plans of more steps than this are not rendered: there is nothing new in them.
const STEPS_RENDERED_MAX: usize = 500;
/// Longest time in which a line is to be understood, on a busy machine.
const UNDERSTOOD_WITHIN: Duration = Duration::from_secs(10);
/// Most processes under mpirun that a line is read for.
const RANKS_MAX: u32 = 100_000;
const MIB: u64 = 1 << 20;

/// A machine whose paths say what is there: devices, simulated drives, some directories, files
/// that are called old, and nothing else. Every file holds the same text.
struct Machine<'a> {
    text: &'a str,
    ranks: u32,
    scale: Scale,
}

impl<'a> Machine<'a> {
    fn with(text: &'a str) -> Self {
        Machine { text, ranks: 1, scale: Scale::WHOLE }
    }
}

impl World for Machine<'_> {
    fn found(&self, path: &str) -> Found {
        match path {
            "." | "/" | "/tmp" | "/mnt" | "/mnt/a" | "/mnt/fs" | "junk" | "data" => {
                Found::Directory
            }
            "/root" => Found::Unusable("Permission denied".into()),
            _ if path.starts_with("/dev/") => Found::Device { bytes: 4096 * MIB },
            _ if path.starts_with("sim:") => Found::Simulated { bytes: 4096 * MIB },
            _ if path.ends_with("old") => Found::File { bytes: 16 * MIB },
            _ => Found::Absent,
        }
    }

    fn text(&self, path: &str) -> Result<String, String> {
        match path.contains("absent") {
            true => Err("No such file or directory".to_owned()),
            false => Ok(self.text.to_owned()),
        }
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn host(&self) -> Host {
        Host { cpus: 2, memory_bytes: 4096 * MIB, ..Host::default() }
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn scale(&self) -> Scale {
        self.scale
    }
}

/// Of what core refuses in a plan, amounts that no machine has: their bounds are core's to tell.
const TOO_MUCH: [&str; 13] = [
    "workers are too many",
    "depth",
    "is more than 1GiB",
    "is more than an hour",
    "more than a year",
    "a second cannot be kept",
    "is less than one operation an hour",
    "repetitions in all are too many",
    "reaches beyond the end of the target",
    "is too small for",
    "names at most",
    "is not the name of a file below",
    // How large a block of a drive is, nobody knows before it is opened.
    "that direct I/O needs here",
];

/// A plan that core would refuse does not come out of a front end, but for its amounts; and it
/// reads back as it is written.
fn assert_sound(job: &Job) {
    let plan = &job.plan;
    assert!(!plan.steps.is_empty() && !job.target.is_empty());
    assert!(job.notes.iter().all(|note| !note.text.is_empty() && !note.code.is_empty()));
    let (kind, file_bytes) = match job.target.as_str() {
        target if target.starts_with("/dev/") => (TargetKind::BlockDevice, Some(4096 * MIB)),
        target if target.starts_with("sim:") => (TargetKind::Simulated, Some(4096 * MIB)),
        _ => (TargetKind::Directory, None),
    };
    let geometry = Geometry {
        kind,
        file_bytes,
        logical_block_bytes: 512,
        lacks_page_cache: false,
        memory_bytes: None,
    };
    let problems = validate(plan, &geometry).err().unwrap_or_default();
    for problem in problems {
        assert!(TOO_MUCH.iter().any(|words| problem.text.contains(words)), "{problem}");
    }
    if plan.steps.len() <= STEPS_RENDERED_MAX {
        let rendered = plan_text::render(plan);
        let again = plan_text::parse(&rendered, "rendered.toml");
        let again = again.unwrap_or_else(|error| panic!("{error}\nfrom\n{rendered}"));
        assert_eq!(&again, plan);
    }
}

/// A line is understood in its time, or refused with a status and a word.
fn understood<T>(parse: impl FnOnce() -> Result<T, Refusal>) -> Option<T> {
    let begin = Instant::now();
    let answer = parse();
    let took = begin.elapsed();
    assert!(took < UNDERSTOOD_WITHIN, "it took {took:?}");
    if let Err(Refusal { text, status, .. }) = &answer {
        assert!(*status != 0 && !text.is_empty(), "a refusal without a word");
    }
    answer.ok()
}

/// A plan can be run, and comes to an output even where nothing was done.
fn carried_out(job: &Job, output: impl FnOnce(&Run, &Host) -> Output) {
    assert_sound(job);
    for file in output(&Run::default(), &Host::default()).files {
        assert!(job.results.contains(&file.place), "{} is a surprise", file.place.path);
    }
}

/// The words of the first line, and a machine whose files hold what is behind it. The first word
/// may say how many processes there are and to what share sizes are scaled: `4*1/16`.
fn said(data: &[u8]) -> Option<(Vec<String>, Machine<'_>)> {
    let text = std::str::from_utf8(data).ok()?;
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut words: Vec<String> = line.split_whitespace().map(String::from).collect();
    let mut machine = Machine::with(rest);
    let numbers = words.first().and_then(|word| {
        let (ranks, share) = word.split_once('*')?;
        let (numerator, denominator) = share.split_once('/')?;
        Some((
            ranks.parse::<u32>().ok()?,
            numerator.parse().ok()?,
            denominator.parse::<u64>().ok()?,
        ))
    });
    if let Some((ranks, numerator, denominator)) = numbers {
        machine.ranks = ranks.clamp(1, RANKS_MAX);
        machine.scale = Scale { numerator, denominator: denominator.max(1) };
        words.remove(0);
    }
    Some((words, machine))
}

/// The lines of any tool, which is named before them; all of its names are tried.
pub fn front_ends(data: &[u8]) {
    let (name, line) = data.split_at(data.iter().position(|byte| *byte == b' ').unwrap_or(0));
    let tool = std::str::from_utf8(name).ok().and_then(tool_named);
    let any = TOOLS[usize::from(name.first().copied().unwrap_or(0)) % TOOLS.len()];
    let tool = tool.unwrap_or(any);
    let Some((words, machine)) = said(line) else { return };
    for called in tool.names {
        if let Some(Answer::Run { job, layout }) =
            understood(|| (tool.parse)(called, &words, &machine))
        {
            carried_out(&job, layout);
        }
    }
}

/// The suite's file: what is wrong with it has a way out, and its phases can be shown.
pub fn io500(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = ini::parse(text) {
        assert!(error.line >= 1 && error.line <= text.lines().count(), "{error}");
    }
    let machine = Machine::with(text);
    let tool = tool_named("io500").expect("it is one of the tools");
    let words = ["config.ini".to_string()];
    let Some(Answer::Suite(mut suite)) = understood(|| {
        (tool.parse)("io500", &words, &machine).inspect_err(|refusal| {
            assert!(!refusal.advice.is_empty(), "{refusal:?}");
        })
    }) else {
        return;
    };
    suite.begin_at(0);
    for phase in 0..suite.phases().len() {
        assert!(suite.shown(phase).is_none_or(|line| !line.is_empty()));
        if let Ok(Phase::Run(begun)) = suite.begin(phase, &machine, 0) {
            assert_sound(&begun.job);
        }
    }
    assert!(!suite.told_files(&[]).is_empty() && !suite.score(&[]).contains("NaN"));
}

/// Iostat's lines; and reports of what the kernel may count, which is behind the line.
pub fn iostat(data: &[u8]) {
    let Some((words, machine)) = said(data) else { return };
    let (options, notes) = match iostat::parse(&words, &machine) {
        Ok(iostat::Asked::Reports { options, notes }) => (options, notes),
        Ok(iostat::Asked::Text(text)) => return assert!(!text.is_empty()),
        Err(refusal) => return assert!(refusal.status != 0 && !refusal.text.is_empty()),
    };
    assert!(notes.iter().all(|note| !note.text.is_empty()));
    let text = machine.text;
    let middle = text.lines().count() / 2;
    let counted = |lines: Vec<&str>| Counters {
        devices: parse_diskstats(&lines.join("\n")),
        cpu: parse_cpu(text),
        uptime_s: parse_uptime(lines.first().unwrap_or(&"")),
    };
    let before = counted(text.lines().take(middle).collect());
    let after = counted(text.lines().skip(middle).collect());
    let host = Host::default();
    let mut printed = iostat::opening(&options, &host);
    for (before, seconds) in [(None, after.uptime_s), (Some(&before), 1.0), (Some(&after), 0.0)] {
        printed += &iostat::report(&options, &host, before, &after, seconds);
    }
    printed += iostat::closing(&options);
    assert!(!printed.contains("NaN") || text.contains("NaN"), "{printed}");
}

/// Iometer's files: an error has its place.
pub fn icf(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = iometer::icf::parse(text) {
        assert!(error.line >= 1 && error.column >= 1, "{error}");
        assert!(error.line <= text.lines().count().max(1), "{error}");
        assert!(!error.found.is_empty() && !error.expected.is_empty(), "{error}");
    }
    let words = ["x.icf", "x.csv", "5", "--target", "/dev/x"].map(String::from);
    let parse = || {
        let answer = iometer::parse(&words, &Machine::with(text));
        assert!(!matches!(answer, Ok(Asked::Text(_))), "nobody asked for help");
        assert!(answer.as_ref().err().is_none_or(|refusal| !refusal.advice.is_empty()));
        answer
    };
    if let Some(Asked::Run { job, options }) = understood(parse) {
        assert_eq!(options.tests.len(), job.plan.steps.len());
        carried_out(&job, |run, host| iometer::output(&options, run, host));
        let output = iometer::output(&options, &Run::default(), &Host::default());
        assert!(output.files[0].bytes.starts_with(b"'Test Type"));
    }
}

/// fio's job files and lines: each job has its stream.
pub fn fio_lines(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let machine = Machine::with(text);
    let line: Vec<String> = text.split_whitespace().map(String::from).collect();
    for words in [vec!["x.fio".to_string()], line] {
        let found = understood(|| fio::parse(&words, &machine));
        let Some(Asked::Run { job, options }) = found else { continue };
        carried_out(&job, |run, host| fio::output::output(&options, run, host));
        for section in &options.sections {
            let step = &job.plan.steps[section.step];
            assert!((section.stream as usize) < step.streams.len());
        }
    }
}
