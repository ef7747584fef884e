//! `drivelab compare`: two results, held against each other.

use crate::cli::compare::CompareOptions;
use crate::outcome::{Failure, Status};
use crate::outputs::{Made, may_write, write_new};
use crate::{print, store};
use drivelab_compat::fio_json;
use drivelab_core::comparison::{Cell, Comparison, Metric, Sample};
use drivelab_core::summary::summarise;
use drivelab_report::html;
use drivelab_report::terminal::comparison_table;
use drivelab_study::compare::{Gate, Passed, Side, columns, compare as held_against};
use std::io::Read;
use std::path::Path;

/// Files of numbers and what fio wrote may be as large as this.
const TEXT_BYTES_MAX: u64 = 64 << 20;
/// So much of a file tells what it is.
const HEAD_BYTES: u64 = 64 << 10;

/// Compares two sides, and says whether the second passes where that was asked.
pub fn compare(options: &CompareOptions) -> Result<Status, Failure> {
    let metrics: Vec<Metric> = options.metric.iter().map(|word| word.metric()).collect();
    let (before, after) = sides(options, &metrics)?;
    let comparison = held_against(&before, &after, options.band).map_err(Failure::usage)?;
    let gate = options.max_slowdown.map(|slowdown_max| Gate { slowdown_max });
    let passed = gate.map(|gate| gate.judge(&comparison));
    may_write(options.out.as_deref())?;
    match options.json {
        true => print::json(&object(&comparison, passed)?)?,
        false => {
            print::text(&comparison_table(&comparison));
            if let (Some(gate), Some(passed)) = (gate, passed) {
                print::text(&format!("\n{}\n", gate_in_words(&gate, passed, &comparison)));
            }
        }
    }
    if let Some(path) = &options.out {
        write_new(path, Made::Html, html::comparison(&comparison).as_bytes())?;
        if !options.json {
            print::text(&format!("\nReport   {}\n", path.display()));
        }
    }
    Ok(match passed {
        Some(Passed::Yes) => Status::Fine,
        Some(Passed::No) => Status::Finding,
        Some(Passed::CannotTell) => Status::Invalid,
        None if comparison.cells.iter().any(Cell::is_slower) => Status::Finding,
        None if comparison.cells.iter().all(|cell| cell.suspect.is_some()) => Status::Invalid,
        None => Status::Fine,
    })
}

fn sides(options: &CompareOptions, metrics: &[Metric]) -> Result<(Side, Side), Failure> {
    let both = |before: &str, after: &str| {
        let is_by_run = |side: &Side| side.is_by_run;
        let alone = (side(before, options, metrics, false)?, side(after, options, metrics, false)?);
        match is_by_run(&alone.0) == is_by_run(&alone.1) {
            true => Ok(alone),
            // Runs against the repetitions of one run would pass for more than they are.
            false => {
                Ok((side(before, options, metrics, true)?, side(after, options, metrics, true)?))
            }
        }
    };
    match (&options.baseline, options.sides.as_slice()) {
        (Some(baseline), [after]) => both(baseline, after),
        (None, [before, after]) => both(before, after),
        (None, [both]) => two_columns(both, options),
        _ => Err(Failure::usage("--baseline takes the place of the first of two sides")
            .advise("drivelab compare --baseline BEFORE --max-slowdown 5% AFTER")),
    }
}

/// What a file on a side holds.
enum Content {
    Numbers(String),
    Fio(String),
    /// A run, which its own reader reads.
    Run,
}

/// One side: runs, files of numbers or what fio wrote, joined by commas.
fn side(
    names: &str,
    options: &CompareOptions,
    metrics: &[Metric],
    is_by_run: bool,
) -> Result<Side, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let (mut runs, mut numbers, mut of_fio) = (Vec::new(), Vec::new(), Vec::new());
    for name in names.split(',').filter(|name| !name.is_empty()) {
        match content(Path::new(name))? {
            Content::Numbers(text) => {
                numbers.push(columns(&text, name).map_err(Failure::usage)?);
            }
            Content::Fio(text) => {
                of_fio.push(fio_json::samples(&text, name, metrics).map_err(Failure::usage)?);
            }
            Content::Run => {
                let run = store::reader::read(&store::locate(name, &directory)?)?;
                let facts = run.begin.facts.clone();
                runs.push((summarise(&run), facts));
            }
        }
    }
    match (runs.is_empty(), numbers.is_empty(), of_fio.is_empty()) {
        (true, false, true) => Ok(Side::of_numbers(names, &numbers)),
        (true, true, false) => Ok(Side::of_parts(names, &of_fio)),
        (_, true, true) => Side::of_runs(names, &runs, metrics, is_by_run).map_err(Failure::usage),
        _ => Err(Failure::usage(format!(
            "{names} mixes runs, files of numbers and output of fio; a side is of one kind"
        ))),
    }
}

/// One file whose two columns are the two sides.
fn two_columns(name: &str, options: &CompareOptions) -> Result<(Side, Side), Failure> {
    let needs = || {
        Failure::usage(format!("{name} alone is not two sides"))
            .advise("name two runs, or a file with two columns of numbers, before and after")
    };
    let text = match content(Path::new(name))? {
        Content::Numbers(text) => text,
        Content::Fio(_) => return Err(needs()),
        Content::Run => {
            let directory = store::directory(options.store.runs.as_deref())?;
            return Err(store::locate(name, &directory).map_or_else(|error| error, |_| needs()));
        }
    };
    let [before, after]: [Sample; 2] =
        columns(&text, name).map_err(Failure::usage)?.try_into().map_err(|_| needs())?;
    let side = |sample: &Sample| {
        let cell = Sample { name: "values".into(), ..sample.clone() };
        Side::of_numbers(&sample.name, &[vec![cell]])
    };
    Ok((side(&before), side(&after)))
}

/// Tells by its beginning what a file is; a name that is no file can only be a run.
fn content(path: &Path) -> Result<Content, Failure> {
    if !path.is_file() {
        return Ok(Content::Run);
    }
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be read: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    (&file).take(HEAD_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let is_fio = fio_json::is_fio(&head);
    if head.trim_start().starts_with('{') && !is_fio {
        return Ok(Content::Run);
    }
    (&file).take(TEXT_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Failure::usage(format!(
            "{} is larger than {TEXT_BYTES_MAX} bytes, which no such file of results is",
            path.display()
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!(
            "{} is neither a run, nor numbers, nor output of fio",
            path.display()
        ))
    })?;
    Ok(if is_fio { Content::Fio(text) } else { Content::Numbers(text) })
}

fn object(comparison: &Comparison, passed: Option<Passed>) -> Result<serde_json::Value, Failure> {
    let failed =
        |error: serde_json::Error| Failure::invalid(format!("the results fit no JSON: {error}"));
    let mut object = serde_json::to_value(comparison).map_err(failed)?;
    object["schema"] = drivelab_core::summary::SCHEMA.into();
    object["passed"] = serde_json::to_value(passed).map_err(failed)?;
    Ok(object)
}

fn gate_in_words(gate: &Gate, passed: Passed, comparison: &Comparison) -> String {
    let limit = 100.0 * gate.slowdown_max;
    let of = |wanted: Passed| -> String {
        let cells = comparison.cells.iter().filter(|cell| gate.judge_cell(cell) == wanted);
        cells.map(|cell| cell.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match passed {
        Passed::Yes => format!("Gate     passed: every cell is within {limit} %"),
        Passed::No => format!("Gate     not passed: slower by more than {limit} %: {}", of(passed)),
        Passed::CannotTell => {
            let open = [of(passed), comparison.only_before.join(", ")];
            let open: Vec<&str> =
                open.iter().map(String::as_str).filter(|names| !names.is_empty()).collect();
            let open = open.join(", ");
            format!("Gate     cannot tell whether these are within {limit} %: {open}")
        }
    }
}
