//! `drivelab compare`: two results, held against each other.

use crate::cli::compare::CompareOptions;
use crate::outcome::{Failure, Status};
use crate::{print, store};
use drivelab_core::comparison::{Cell, Comparison, Metric};
use drivelab_core::summary::summarise;
use drivelab_report::terminal::comparison_table;
use drivelab_study::compare::{Gate, Passed, Sample, Side, columns, compare as held_against};
use std::io::Read;
use std::path::Path;

/// Files of numbers may be as large as this.
const NUMBERS_BYTES_MAX: u64 = 64 << 20;

/// Compares two sides, and says whether the second passes where that was asked.
pub fn compare(options: &CompareOptions) -> Result<Status, Failure> {
    let metrics: Vec<Metric> = options.metric.iter().map(|word| word.metric()).collect();
    let (before, after) = sides(options, &metrics)?;
    let comparison = held_against(&before, &after, options.band).map_err(Failure::usage)?;
    let gate = options.max_slowdown.map(|slowdown_max| Gate { slowdown_max });
    let passed = gate.map(|gate| gate.judge(&comparison));
    match options.json {
        true => print::json(&object(&comparison, passed)?)?,
        false => {
            print::text(&comparison_table(&comparison));
            if let (Some(gate), Some(passed)) = (gate, passed) {
                print::text(&format!("\n{}\n", gate_in_words(&gate, passed, &comparison)));
            }
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
    let side = |names: &str| side(names, options, metrics);
    match (&options.baseline, options.sides.as_slice()) {
        (Some(baseline), [after]) => Ok((side(baseline)?, side(after)?)),
        (None, [before, after]) => Ok((side(before)?, side(after)?)),
        (None, [both]) => two_columns(both, options),
        _ => Err(Failure::usage("--baseline takes the place of the first of two sides")
            .advise("drivelab compare --baseline BEFORE --max-slowdown 5% AFTER")),
    }
}

/// One side: runs or files of numbers, joined by commas.
fn side(names: &str, options: &CompareOptions, metrics: &[Metric]) -> Result<Side, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let (mut runs, mut numbers) = (Vec::new(), Vec::new());
    for name in names.split(',').filter(|name| !name.is_empty()) {
        if let Some(text) = text_of_numbers(Path::new(name))? {
            numbers.extend(columns(&text, name).map_err(Failure::usage)?);
            continue;
        }
        let run = store::reader::read(&store::locate(name, &directory)?)?;
        let facts = run.begin.facts.clone();
        runs.push((summarise(&run), facts));
    }
    if !numbers.is_empty() && !runs.is_empty() {
        return Err(Failure::usage(format!("{names} mixes runs and files of numbers")));
    }
    if numbers.is_empty() {
        return Side::of_runs(names, &runs, metrics).map_err(Failure::usage);
    }
    Ok(of_numbers(names, numbers))
}

fn of_numbers(name: &str, samples: Vec<Sample>) -> Side {
    Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
}

/// One file whose two columns are the two sides.
fn two_columns(name: &str, options: &CompareOptions) -> Result<(Side, Side), Failure> {
    let needs = || {
        Failure::usage(format!("{name} alone is not two sides"))
            .advise("name two runs, or a file with two columns of numbers, before and after")
    };
    let Some(text) = text_of_numbers(Path::new(name))? else {
        let directory = store::directory(options.store.runs.as_deref())?;
        return Err(store::locate(name, &directory).map_or_else(|error| error, |_| needs()));
    };
    let [before, after]: [Sample; 2] =
        columns(&text, name).map_err(Failure::usage)?.try_into().map_err(|_| needs())?;
    let cell = |sample: &Sample| vec![Sample { name: "values".into(), ..sample.clone() }];
    Ok((of_numbers(&before.name, cell(&before)), of_numbers(&after.name, cell(&after))))
}

/// The text of a file that is no run: a run file begins with a brace.
fn text_of_numbers(path: &Path) -> Result<Option<String>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be read: {error}", path.display()))
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut first = [0_u8; 1];
    let read = file.read(&mut first).map_err(unreadable)?;
    if read == 1 && first[0] == b'{' {
        return Ok(None);
    }
    let mut bytes = first[..read].to_vec();
    file.take(NUMBERS_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > NUMBERS_BYTES_MAX {
        return Err(Failure::usage(format!(
            "{} is larger than {NUMBERS_BYTES_MAX} bytes, which no column of results is",
            path.display()
        )));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| {
        Failure::usage(format!("{} is neither a run nor a file of numbers", path.display()))
    })
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
            format!("Gate     cannot tell whether these are within {limit} %: {}", of(passed))
        }
    }
}
