//! `drivelab compare`: two results, compared.

use crate::cli::compare::CompareOptions;
use crate::documents::Compared;
use crate::outcome::{Failure, Status};
use crate::outputs::{Made, is_stdout, may_replace, may_write, write_new};
use crate::{print, store};
use drivelab_compat::fio_json;
use drivelab_core::comparison::{Cell, Comparison, Metric, Sample};
use drivelab_core::summary::summarise;
use drivelab_report::chart::{Chart, latency_of_sides};
use drivelab_report::terminal::comparison_table;
use drivelab_report::{comparison_markdown, html};
use drivelab_stats::Histogram;
use drivelab_study::compare::{
    Gate, Passed, Side, cell_latencies, columns, compare as held_against,
};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files of numbers and what fio wrote may be as large as this.
const TEXT_BYTES_MAX: u64 = 64 << 20;
/// So much of a file tells what it is.
const HEAD_BYTES: u64 = 64 << 10;

/// Compares two sides, and says whether the second passes where that was asked.
pub fn compare(options: &CompareOptions) -> Result<Status, Failure> {
    let metrics: Vec<Metric> = options.metric.iter().map(|word| word.metric()).collect();
    let (before, after) = sides(options, &metrics)?;
    tell_of_one_run(options)?;
    let comparison = held_against(&before, &after, options.band).map_err(Failure::usage)?;
    let gate = options.max_slowdown.map(|slowdown_max| Gate { slowdown_max });
    let passed = gate.map(|gate| gate.judge(&comparison));
    may_write(options.out.as_deref())?;
    let said = gate.zip(passed).map(|(gate, passed)| gate_in_words(&gate, passed, &comparison));
    let markdown = markdown_asked(options)?;
    match (options.json, markdown) {
        (true, _) => print::document(Compared { comparison: &comparison, passed })?,
        (false, Some(path)) if is_stdout(path) => {}
        (false, _) => {
            print::text(&comparison_table(&comparison));
            said.iter().for_each(|said| print::text(&format!("\nGate     {said}\n")));
        }
    }
    if let Some(path) = markdown {
        let text = comparison_markdown(&comparison, said.as_deref());
        write_new(path, Made::Markdown, text.as_bytes())?;
    }
    if let Some(path) = &options.out {
        let curves = curves(options, &comparison)?;
        write_new(path, Made::Html, html::comparison(&comparison, &curves).as_bytes())?;
        if !options.json {
            print::text(&format!("\nReport   {}\n", path.display()));
        }
    }
    Ok(match passed {
        Some(Passed::Yes) => Status::Fine,
        Some(Passed::No) => Status::Finding,
        Some(Passed::CannotTell) => Status::Invalid,
        None if comparison.cells.iter().any(|cell| is_lost(cell, &comparison)) => Status::Finding,
        None if comparison.cells.iter().all(|cell| cell.suspect.is_some()) => Status::Invalid,
        None => Status::Fine,
    })
}

/// A run next to itself shows nothing: `last` may be the run that was typed as well.
fn tell_of_one_run(options: &CompareOptions) -> Result<(), Failure> {
    let names: Vec<&String> = options.baseline.iter().chain(&options.sides).collect();
    let [one, other] = names[..] else { return Ok(()) };
    let directory = store::directory(options.store.runs.as_deref())?;
    let located = |name: &str| store::locate(name, &directory).ok();
    if located(one).is_some_and(|path| Some(path) == located(other)) {
        print::error(&format!("drivelab: note: both sides are one run, {one}"));
    }
    Ok(())
}

/// Whether a cell became slower: by its word, or as a constant that no noise speaks against.
fn is_lost(cell: &Cell, comparison: &Comparison) -> bool {
    let band = comparison.delta.unwrap_or_else(|| cell.metric.delta());
    let is_constant = cell.word() == "no noise" && cell.n.0 > 1 && cell.n.1 > 1;
    cell.is_slower() || (is_constant && cell.gain() < -band.ln_1p())
}

/// Where Markdown goes, if anywhere: tried before anything is printed.
fn markdown_asked(options: &CompareOptions) -> Result<Option<&Path>, Failure> {
    let Some(path) = options.markdown.as_deref() else { return Ok(None) };
    let path = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
    if is_stdout(path) && options.json {
        return Err(Failure::usage("--markdown - and --json both print on stdout")
            .advise("Name a file for the Markdown, such as:  --markdown compare.md"));
    }
    may_replace(Some(path), Made::Markdown)?;
    Ok(Some(path))
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

/// Cells whose latencies are drawn, those that changed most first.
const CURVES_MAX: usize = 12;

/// The latencies of both sides over each other, where both are runs.
fn curves(options: &CompareOptions, comparison: &Comparison) -> Result<Vec<Chart>, Failure> {
    let names = options.baseline.iter().chain(&options.sides).collect::<Vec<_>>();
    let [before, after] = names[..] else { return Ok(Vec::new()) };
    let sides = [latencies(before, options)?, latencies(after, options)?];
    let mut cells: Vec<&Cell> = comparison.cells.iter().filter(|it| it.ratio.is_some()).collect();
    cells.sort_by(|one, other| other.gain().abs().total_cmp(&one.gain().abs()));
    let mut charts: Vec<Chart> = Vec::new();
    for cell in cells {
        let of_cell = |side: &Vec<(String, Histogram)>| {
            side.iter().find(|(name, _)| *name == cell.name).map(|(_, found)| found.clone())
        };
        let (Some(first), Some(second)) = (of_cell(&sides[0]), of_cell(&sides[1])) else {
            continue;
        };
        if charts.len() < CURVES_MAX && charts.iter().all(|chart| chart.title != cell.name) {
            charts.extend(latency_of_sides(&cell.name, [("before", &first), ("after", &second)]));
        }
    }
    Ok(charts)
}

/// The latencies of each cell of a side, all its runs together; none where it is not one of runs.
fn latencies(names: &str, options: &CompareOptions) -> Result<Vec<(String, Histogram)>, Failure> {
    let directory = store::directory(options.store.runs.as_deref())?;
    let mut found: Vec<(String, Histogram)> = Vec::new();
    for name in names.split(',').filter(|name| !name.is_empty()) {
        let Content::Run = content(Path::new(name))? else { continue };
        for path in runs_named(name, &directory)? {
            let run = store::reader::read(&path)?;
            for (name, part) in cell_latencies(&run, &summarise(&run)) {
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, merged)) => merged.merge(&part),
                    None => found.push((name, part)),
                }
            }
        }
    }
    Ok(found)
}

/// The run of this name, or all runs with this tag.
fn runs_named(name: &str, directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let located = store::locate(name, directory).map(|path| vec![path]);
    located.or_else(|failure| match store::with_tag(name, directory).unwrap_or_default() {
        tagged if tagged.is_empty() => Err(failure),
        tagged => Ok(tagged),
    })
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
                for path in runs_named(name, &directory)? {
                    let run = store::reader::read(&path)?;
                    let facts = run.begin.facts.clone();
                    runs.push((summarise(&run), facts));
                }
            }
        }
    }
    match (runs.is_empty(), numbers.is_empty(), of_fio.is_empty()) {
        (true, false, true) => Ok(Side::of_numbers(names, &numbers)),
        (true, true, false) => Ok(Side::of_parts(names, &of_fio)),
        (_, true, true) => Side::of_runs(names, &runs, metrics, is_by_run).map_err(Failure::usage),
        _ => Err(Failure::usage(format!(
            "{names} mixes runs, files of numbers and output of fio; use one kind per side"
        ))),
    }
}

/// One file whose two columns are the two sides.
fn two_columns(name: &str, options: &CompareOptions) -> Result<(Side, Side), Failure> {
    let needs = || {
        Failure::usage(format!("{name} alone is one side, and two are compared"))
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
            "{} is larger than {TEXT_BYTES_MAX} bytes, too large for a file of results",
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

fn gate_in_words(gate: &Gate, passed: Passed, comparison: &Comparison) -> String {
    let limit = 100.0 * gate.slowdown_max;
    let of = |wanted: Passed| -> String {
        let cells = comparison.cells.iter().filter(|cell| gate.judge_cell(cell) == wanted);
        let first = comparison.cells.first().map(|cell| cell.metric);
        let is_one = comparison.cells.iter().all(|cell| Some(cell.metric) == first);
        let named = |cell: &Cell| match is_one {
            true => cell.name.clone(),
            false => format!("{} ({})", cell.name, cell.metric.words()),
        };
        cells.map(named).collect::<Vec<_>>().join(", ")
    };
    match passed {
        Passed::Yes => format!("passed: every cell is within {limit} %"),
        Passed::No => format!("not passed: slower by more than {limit} %: {}", of(passed)),
        Passed::CannotTell => {
            let open = [of(passed), comparison.only_before.join(", ")];
            let open: Vec<&str> =
                open.iter().map(String::as_str).filter(|names| !names.is_empty()).collect();
            let open = open.join(", ");
            format!("cannot tell whether these are within {limit} %: {open}")
        }
    }
}
