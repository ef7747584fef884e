//! Reads a run file back, whatever state it was left in.
//!
//! A run that was killed ends in the middle of a line: that line is dropped and the run is
//! incomplete. Anything else that is no record is an error with its line number.

use crate::outcome::Failure;
use drivelab_core::record::{Begin, FORMAT, Record};
use drivelab_core::run::{Run, StepRun};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Longest line a run file can have; a longer one is no run file.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// Reads the run in `path`.
pub fn read(path: &Path) -> Result<Run, Failure> {
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot open {}: {error}", path.display())))?;
    read_from(BufReader::with_capacity(1 << 20, file), &path.display().to_string())
}

/// The first record of the run in `path`, and nothing else of it.
///
/// # Errors
/// It is not a run file, or cannot be read.
pub fn begin(path: &Path) -> Result<Begin, Failure> {
    let name = path.display().to_string();
    let file =
        File::open(path).map_err(|error| Failure::usage(format!("cannot open {name}: {error}")))?;
    let mut line = Vec::new();
    std::io::Read::take(BufReader::new(file), LINE_BYTES_MAX)
        .read_until(b'\n', &mut line)
        .map_err(|error| Failure::invalid(format!("cannot read {name}: {error}")))?;
    match serde_json::from_slice::<Record>(&line) {
        Ok(Record::Begin(begin)) if (1..=FORMAT).contains(&begin.format) => Ok(*begin),
        Ok(_) => Err(Failure::usage(format!("{name} is not a run file of a known format"))),
        Err(error) => Err(wrong_line(&name, 1, &error)),
    }
}

/// A run that was broken off, as far as it can be gone on with.
#[derive(Debug, Clone)]
pub struct Kept {
    /// What stays.
    pub run: Run,
    /// Its file.
    pub path: PathBuf,
    /// How many bytes of the file that is.
    pub bytes: u64,
}

/// Reads a run that is to go on. Its end and its conclusions are dropped; with `whole_steps`, so
/// is a step that did not come to its end, as if it had never begun: that is so in virtual time.
///
/// # Errors
/// No run, or one that has come to its end.
pub fn read_to_go_on(path: &Path, whole_steps: bool) -> Result<Kept, Failure> {
    let whole = read(path)?;
    let name = path.display().to_string();
    if whole.complete() {
        return Err(Failure::usage(format!("{name} is complete; there is nothing to resume"))
            .advise("`drivelab report` shows it; `drivelab study` makes a new one."));
    }
    if still_goes_on(path) {
        return Err(Failure::usage(format!("{name} is being written: this run is still going on"))
            .advise("Wait for its end, or stop it first."));
    }
    let text = std::fs::read(path)
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let broken = whole_steps.then(|| last_step(&whole, &text)).flatten();
    let mut run = Run::default();
    let mut bytes = 0;
    for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        let Ok(record) = serde_json::from_slice::<Record>(line) else { break };
        let ends = match &record {
            Record::End(_) | Record::Judged { .. } => true,
            Record::StepBegin(begin) => Some(begin.step) == broken,
            _ => false,
        };
        if ends || !line.ends_with(b"\n") {
            break;
        }
        take(&mut run, record, &name, number)?;
        bytes += line.len() as u64;
    }
    Ok(Kept { run, path: path.to_path_buf(), bytes })
}

/// Whether a process that lives holds the file.
pub fn still_goes_on(path: &Path) -> bool {
    let lock = File::open(path).map(|file| file.try_lock());
    matches!(lock, Ok(Err(std::fs::TryLockError::WouldBlock)))
}

/// The step that must be done again: the last one that was begun, unless something of the study
/// follows it. A step's own warnings come behind its end, so its end alone does not make it whole.
fn last_step(run: &Run, text: &[u8]) -> Option<u32> {
    let mut last = None;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Record>(line) {
            Ok(Record::StepBegin(begin)) => last = Some(begin.step),
            Ok(Record::Plan { .. } | Record::Established(_)) if line.ends_with(b"\n") => {
                last = None;
            }
            _ => {}
        }
    }
    let incomplete = |step: &&StepRun| step.end.as_ref().is_none_or(|end| end.incomplete.is_some());
    run.steps.iter().find(incomplete).map(|step| step.begin.step).or(last)
}

fn read_from(mut lines: impl BufRead, name: &str) -> Result<Run, Failure> {
    let mut run = Run::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = std::io::Read::take(&mut lines, LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let bytes = read.map_err(|error| {
            Failure::invalid(format!("cannot read {name} line {number}: {error}"))
        })?;
        if bytes == 0 {
            break;
        }
        let torn = !line.ends_with(b"\n");
        match serde_json::from_slice::<Record>(&line) {
            Ok(record) => take(&mut run, record, name, number)?,
            Err(_) if torn && number > 1 => break,
            Err(error) => return Err(wrong_line(name, number, &error)),
        }
    }
    if run.begin.format == 0 {
        return Err(Failure::usage(format!("{name} is empty: no run was recorded in it")));
    }
    Ok(run)
}

fn take(run: &mut Run, record: Record, name: &str, number: usize) -> Result<(), Failure> {
    match (&record, number) {
        (Record::Begin(begin), 1) if begin.format > FORMAT => Err(Failure::usage(format!(
            "{name} has format {}, and this drivelab knows up to {FORMAT}",
            begin.format
        ))
        .advise("Read it with the newer drivelab that wrote it.")),
        (Record::Begin(begin), 1) if begin.format == 0 => {
            Err(Failure::usage(format!("{name} line 1: a run file has a format from 1 on, not 0")))
        }
        (Record::Begin(_), 1) => Ok(()),
        (Record::Begin(_), _) => Err(Failure::usage(format!(
            "{name} line {number}: a second beginning; this file holds more than one run"
        ))),
        (_, 1) => {
            Err(Failure::usage(format!("{name} line 1: a run file starts with the record `begin`")))
        }
        _ => Ok(()),
    }?;
    run.push(record).map_err(|error| Failure::usage(format!("{name} line {number}: {error}")))
}

fn wrong_line(name: &str, number: usize, error: &serde_json::Error) -> Failure {
    let detail = error.to_string();
    // serde_json counts lines of one line; only the column says something.
    let detail = detail.split(" at line ").next().unwrap_or_default().to_string();
    let refusal = Failure::usage(format!(
        "{name} line {number}, column {}: not a record of a drivelab run ({detail})",
        error.column()
    ));
    // A document of several lines ends too early for its first line.
    match number == 1 && error.is_eof() {
        true => refusal.advise(
            "If this is what `--json` printed, name the run instead: its ID stands there as \
             \"run\", and `drivelab runs` lists all that are kept.",
        ),
        false => refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin() -> String {
        let begin = Begin { format: 1, run: "r".into(), ..Begin::default() };
        serde_json::to_string(&Record::Begin(Box::new(begin))).unwrap() + "\n"
    }

    fn error(text: &[u8]) -> String {
        read_from(text, "x.jsonl").expect_err("must be refused").text
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_the_run_incomplete() {
        let end = "{\"record\":\"end\",\"complete\":true,\"status\":0}\n";
        let whole = begin() + end;
        let run = read_from(whole.as_bytes(), "x").unwrap();
        assert!(run.complete());
        for cut in begin().len()..whole.len() - 1 {
            let run = read_from(&whole.as_bytes()[..cut], "x").unwrap();
            assert!(!run.complete() || cut == whole.len() - 1, "{cut}");
        }
    }

    #[test]
    fn nonsense_has_a_line_number() {
        assert_eq!(error(b""), "x.jsonl is empty: no run was recorded in it");
        assert!(error(b"hello\n").starts_with("x.jsonl line 1, column 1: not a record"));
        assert!(error(b"\xff\xfe\x00\n").starts_with("x.jsonl line 1"));
        assert!(
            error(b"{\"record\":\"end\",\"complete\":true,\"status\":0}\n").contains("`begin`")
        );
        let twice = begin() + &begin();
        assert!(error(twice.as_bytes()).contains("line 2: a second beginning"));
        let stray = begin() + "{\"record\":\"step_end\",\"step\":4,\"phases\":[],\"slowest\":[]}\n";
        assert!(error(stray.as_bytes()).contains("line 2: a record of step 4"));
        let newer = begin().replace("\"format\":1", "\"format\":99");
        assert!(error(newer.as_bytes()).contains("format 99"));
    }

    #[test]
    fn noise_never_panics() {
        let whole = begin() + "{\"record\":\"end\",\"complete\":true,\"status\":0}\n";
        let mut random = drivelab_stats::Random::new(3);
        for _ in 0..5000 {
            let mut bytes = whole.clone().into_bytes();
            for _ in 0..=random.below(5) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.below(256) as u8;
            }
            let _ = read_from(bytes.as_slice(), "noise");
        }
    }
}
