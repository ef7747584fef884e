//! The throughput mode: several processes at once, and the block of figures of each load.

use super::figures::{self, Child};
use super::line::Line;
use super::line::Unit;
use super::options::{Cell, Layout, Options, Throughput};
use super::place::Place;
use super::test::{Load, Test};
use super::{choice, fewest_records, grid, largest, place, plan, remarks, steps};
use crate::front::{Asked, Refusal, Scale, World};
use drivelab_core::plan::Step;
use drivelab_core::run::Run;
use std::fmt::Write;

/// Processes that one run starts at most, test by test: `-l 1 -u 256` with all tests are fewer.
const STARTS_MAX: u64 = 1 << 19;

/// The plan of a line with `-t`.
pub(super) fn of(line: &mut Line, world: &dyn World) -> Result<Asked<Options>, Refusal> {
    let loads = choice::loads(line)?;
    let (counts, range) = counts(line);
    can_be_started(&counts, loads.len() as u64)?;
    let cell_of = |grid: grid::Grid| grid.cells.first().copied();
    let cell = cell_of(grid::grid(line, world.scale())?);
    let cell = cell.unwrap_or(Cell { file_kb: 1, record_kb: 1 });
    let asked = cell_of(grid::grid(line, Scale::WHOLE)?).unwrap_or(cell);
    let throughput = Throughput {
        range,
        threads: line.threads,
        file_kb: cell.file_kb,
        record_kb: cell.record_kb,
        loads,
        retests: !line.no_retest,
        children: line.children,
        read_percent: line.read_percent,
        size_of_all: line.size_of_all,
        counts,
    };
    let count_max = throughput.counts.iter().copied().max().unwrap_or(1);
    let cells: Vec<Cell> = throughput.counts.iter().map(|count| throughput.cell(*count)).collect();
    if cells.iter().any(|cell| cell.records() == 0) {
        let text = format!("-+k leaves less than a record of {} kB for each file", cell.record_kb);
        return Err(Refusal::new(super::USAGE, text, "use a larger -s"));
    }
    let place = place_of(line, count_max, world)?;
    let runs: Vec<Load> =
        throughput.loads.iter().copied().filter(|load| throughput.runs(*load)).collect();
    let tests: Vec<Test> = runs.iter().map(|load| load.test()).collect();
    let largest = largest(&cells);
    if let Some(first) = choice::first_unfilled(&tests) {
        place::holds(&place, first, largest.bytes(), world)?;
    }
    let mut plan = plan(line, &place, &[largest], largest);
    for count in &throughput.counts {
        plan.steps.extend(of_count(line, &throughput, &runs, *count, &place));
    }
    let mixes_in_writes = runs.contains(&Load::Mixed);
    let doing = remarks::Doing {
        line,
        tests: &tests,
        cell: largest,
        fewest_records: fewest_records(&cells),
        files: if line.one_file { 1 } else { count_max },
        is_grid: cells.iter().any(|cell| cell.file_kb != largest.file_kb),
        is_cut_short: plan.steps.iter().any(|step| step.until.stonewall),
        is_drive: place.is_drive(),
        is_simulated: place.is_simulated,
        stays: !mixes_in_writes && !tests.iter().any(|test| test.writes()) && !place.is_drive(),
        leaves: !line.keep && !line.reads_foreign && place::is_there(&place, world),
        asked_kb: throughput_asked(&throughput, asked.file_kb),
    };
    Ok(super::asked_to_run(&doing, plan, place, Layout::Throughput(throughput), world))
}

/// The steps of `count` processes.
fn of_count(
    line: &Line,
    throughput: &Throughput,
    runs: &[Load],
    count: u32,
    place: &Place,
) -> Vec<Step> {
    let fills = |load: &Load| matches!(load.test(), Test::Write | Test::Fwrite | Test::Pwrite);
    let filling = runs.iter().position(fills);
    let mut steps = Vec::new();
    for (position, load) in runs.iter().enumerate() {
        let is_first = position == 0 && throughput.counts.first() == Some(&count);
        steps.extend(steps::before(line, load.test(), place.is_drive(), is_first));
        let step = steps::of_load(line, throughput, *load, count);
        let is_cut_short = step.until.stonewall && filling == Some(position);
        steps.push(step);
        if is_cut_short && (position + 1 < runs.len() || line.keep) {
            steps.push(steps::rest_of_files(line, throughput, *load, count));
        }
    }
    steps
}

/// The largest file that the line asks for, before scaling.
fn throughput_asked(throughput: &Throughput, file_kb: u64) -> u64 {
    let whole = Throughput { file_kb, ..throughput.clone() };
    whole.counts.iter().map(|count| whole.cell(*count).file_kb).max().unwrap_or(file_kb)
}

/// The numbers of processes; `-l` alone means that number, `-u` alone begins with one.
fn counts(line: &Line) -> (Vec<u32>, Option<(u32, u32)>) {
    if line.lower.is_none() && line.upper.is_none() {
        return (line.processes.into_iter().collect(), None);
    }
    let lower = line.lower.unwrap_or(1);
    let upper = line.upper.unwrap_or(lower);
    ((lower..=upper).collect(), Some((lower, upper)))
}

/// Refuses ranges that no run comes to the end of.
fn can_be_started(counts: &[u32], loads: u64) -> Result<(), Refusal> {
    let of_each: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let all = of_each.saturating_mul(loads);
    if let ([first, .., last], true) = (counts, all > STARTS_MAX) {
        let tests = loads.saturating_mul(counts.len() as u64);
        let text = format!(
            "-l {first} -u {last} starts {all} processes in {tests} tests, and a run here no more \
             than {STARTS_MAX}"
        );
        let advice =
            format!("use a larger -l, a smaller -u, fewer tests by -i, or -t {last} alone");
        return Err(Refusal::new(super::USAGE, text, advice));
    }
    Ok(())
}

fn place_of(line: &Line, count: u32, world: &dyn World) -> Result<Place, Refusal> {
    let mut place = place::of_processes(line, count, world)?;
    if line.one_file {
        place.names.truncate(1);
    }
    Ok(place)
}

/// The blocks of figures, one for each load and number of processes.
pub(super) fn print(options: &Options, throughput: &Throughput, run: &Run) -> String {
    let word = word(throughput);
    let mut text = String::new();
    if let Some((lower, upper)) = throughput.range {
        let _ = writeln!(text, "\tMin {word} = {lower} \n\tMax {word} = {upper} ");
    }
    for (position, count) in throughput.counts.iter().enumerate() {
        if position == 0 {
            let plural = if *count == 1 {
                ""
            } else if throughput.threads {
                "s"
            } else {
                "es"
            };
            let _ = writeln!(text, "\tThroughput test with {count} {word}{plural}");
        }
        let cell = throughput.cell(*count);
        let _ = writeln!(
            text,
            "\tEach {word} writes a {} kByte file in {} kByte records\n",
            cell.file_kb, cell.record_kb
        );
        for load in throughput.loads.iter().filter(|load| throughput.runs(**load)) {
            let children = figures::children(options, throughput, run, *load, *count);
            if let Some((children, parent)) = children {
                block(&mut text, options, throughput, (*load, *count), &children, parent);
            }
        }
        text.push('\n');
    }
    text
}

/// What a process is called.
pub(super) fn word(throughput: &Throughput) -> &'static str {
    if throughput.threads { "thread" } else { "process" }
}

/// The rate and the amount of one process in the unit of the line.
fn amounts(child: &Child, unit: Unit) -> (f64, f64) {
    (child.rate(unit), child.amount(unit))
}

fn block(
    text: &mut String,
    options: &Options,
    throughput: &Throughput,
    (load, count): (Load, u32),
    children: &[Child],
    parent: f64,
) {
    let (rate_unit, unit) = units(options.unit);
    let each: Vec<(f64, f64)> = children.iter().map(|child| amounts(child, options.unit)).collect();
    let sum: f64 = each.iter().map(|(rate, _)| rate).sum();
    let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min).unwrap_or(0.0);
    let slowest = least(&mut each.iter().map(|(rate, _)| *rate));
    let fastest = each.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let least_amount = least(&mut each.iter().map(|(_, amount)| *amount));
    let word = word(throughput);
    let ((width, who), (of_children, of_parent)) = (load.who(), load.tabs());
    let mean = sum / f64::from(count.max(1));
    let many = format!("{count:>width$} {who}");
    let lines = [
        format!("Children see throughput for {many} {of_children}= {sum:10.2} {rate_unit}"),
        format!("Parent sees throughput for {many} {of_parent}= {parent:10.2} {rate_unit}"),
        format!("Min throughput per {word} \t\t\t= {slowest:10.2} {rate_unit} "),
        format!("Max throughput per {word} \t\t\t= {fastest:10.2} {rate_unit}"),
        format!("Avg throughput per {word} \t\t\t= {mean:10.2} {rate_unit}"),
        format!("Min xfer \t\t\t\t\t= {least_amount:10.2} {unit}"),
    ];
    for line in lines {
        let _ = writeln!(text, "\t{line}");
    }
    if throughput.children {
        for (child, (rate, amount)) in each.iter().enumerate() {
            let _ = writeln!(
                text,
                "\tChild[{child}] xfer count = {amount:10.2} {unit}, Throughput = {rate:10.2} \
                 {rate_unit}"
            );
        }
    }
    text.push('\n');
}

/// What a rate and an amount are counted in.
pub(super) fn units(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::KilobytesPerSecond => ("kB/sec", "kB"),
        _ => ("ops/sec", "ops"),
    }
}
