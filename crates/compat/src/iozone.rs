//! IOzone: its command line as a plan, and the results of that plan as IOzone prints them.
//!
//! Its behaviour is that of versions 3.471 and 3.489 on Linux, as they were seen to behave.

mod catalogue;
mod choice;
mod figures;
mod grid;
mod line;
mod notes;
mod number;
mod options;
mod place;
mod print;
mod remarks;
mod report;
mod steps;
mod test;
mod throughput;
mod words;

pub use catalogue::{entries, markdown};
pub use line::Unit;
pub use options::{Cell, Columns, Layout, Options, Table, Throughput};
pub use test::{Load, Test};

use crate::front::{Asked, Host, Job, Output, Refusal, World};
use crate::front_end::FrontEnd;
use drivelab_core::plan::{Plan, PlanFile};
use drivelab_core::run::Run;
use drivelab_core::units::Size;
use line::Line;
use place::Place;

/// What IOzone ends with when a test fails.
pub const FAILED: u8 = 1;
/// What IOzone ends with when it does not understand its line.
const USAGE: u8 = 255;
/// Advice on names that are too few.
const LEFT_OVER: &str = "name as many files after -F as -t says";
/// Version of drivelab.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Where the random numbers of all runs begin; IOzone's begin with `srand48(0)`.
const SEED: u64 = 1;

/// IOzone among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["iozone", "IOzone"],
    failed: FAILED,
    example: "-i 0 -s 64",
    parse: |_, args, world| Ok(parse(args, world)?.laid_out(output)),
    table: Some(markdown),
};

/// Understands a line: the words after the program's name.
///
/// # Errors
/// What IOzone says to a line that it does not take, and options that are not supported here.
pub fn parse(args: &[String], world: &dyn World) -> Result<Asked<Options>, Refusal> {
    if args.is_empty() {
        let text = "\tUsage: For usage information type iozone -h \n";
        return Err(Refusal::new(USAGE, text, "a first line: iozone -i 0 -i 1 -s 1g -r 1m"));
    }
    let mut line = line::read(words::cut(args)?, &world.host())?;
    match line.asks {
        Some('h') => return Ok(Asked::Text(catalogue::help())),
        Some(_) => return Ok(Asked::Text(print::version())),
        None => {}
    }
    choice::contradictions(&line)?;
    if line.is_throughput() { throughput::of(&mut line, world) } else { of_table(&mut line, world) }
}

/// What IOzone would have printed, and its worksheet.
pub fn output(options: &Options, run: &Run, host: &Host) -> Output {
    let mut text = print::head(options, run, host);
    match &options.layout {
        Layout::Table(table) => {
            text.push_str(&print::table(options, table, run));
            if run.complete() {
                text.push_str("\niozone test complete.\n");
            }
            if options.report {
                text.push_str(&report::of_table(options, table, run));
            }
        }
        Layout::Throughput(throughput) => {
            text.push_str(&throughput::print(options, throughput, run));
            if options.report {
                text.push_str(&report::of_throughput(options, throughput, run));
            }
            if run.complete() {
                text.push_str("\niozone test complete.\n");
            }
        }
    }
    let files = options.sheet.iter().map(|path| report::sheet(options, path, run)).collect();
    Output { text, files, status: u8::from(!run.complete()), ..Output::default() }
}

/// The plan of the table.
fn of_table(line: &mut Line, world: &dyn World) -> Result<Asked<Options>, Refusal> {
    let grid = grid::grid(line, world.scale())?;
    let asked = grid::grid(line, crate::front::Scale::WHOLE)?;
    let (columns, tests) = choice::tests(line)?;
    let table = Table {
        columns,
        tests,
        retests: !line.no_retest,
        cells: grid.cells,
        records_kb: grid.records_kb,
    };
    let place = place::of_table(line, world)?;
    let runs: Vec<Test> = table.tests.iter().copied().filter(|test| table.runs(*test)).collect();
    let largest = largest(&table.cells);
    if let Some(first) = choice::first_unfilled(&runs) {
        place::holds(&place, first, largest.bytes(), world)?;
    }
    let mut plan = plan(line, &place, &table.cells, largest);
    for cell in &table.cells {
        for test in &runs {
            let is_first = plan.steps.is_empty();
            plan.steps.extend(steps::before(line, *test, place.is_drive(), is_first));
            plan.steps.push(steps::of_test(line, *test, *cell, Table::step(*test, *cell)));
        }
    }
    let doing = remarks::Doing {
        line,
        tests: &runs,
        cell: largest,
        fewest_records: fewest_records(&table.cells),
        files: 1,
        is_grid: table.cells.iter().any(|cell| cell.file_kb != largest.file_kb),
        is_cut_short: false,
        is_drive: place.is_drive(),
        is_simulated: place.is_simulated,
        stays: !runs.iter().any(|test| test.writes()) && !place.is_drive(),
        leaves: !line.keep && !line.reads_foreign && place::is_there(&place, world),
        asked_kb: asked.cells.iter().map(|cell| cell.file_kb).max().unwrap_or(0),
    };
    Ok(asked_to_run(&doing, plan, place, Layout::Table(table), world))
}

/// The largest file.
fn largest(cells: &[Cell]) -> Cell {
    let first = Cell { file_kb: 0, record_kb: 1 };
    cells.iter().copied().max_by_key(|cell| cell.bytes()).unwrap_or(first)
}

/// Records of the file that has fewest.
fn fewest_records(cells: &[Cell]) -> u64 {
    cells.iter().map(Cell::records).min().unwrap_or(0)
}

/// A plan without steps yet.
fn plan(line: &Line, place: &Place, cells: &[Cell], largest: Cell) -> Plan {
    let size = Size(largest.bytes());
    let files = place.names.iter().map(|name| PlanFile { name: name.clone(), size, grows: false });
    let title = match cells {
        [cell] => {
            let words = number::bytes_in_words;
            format!("IOzone: {} in {}", words(cell.bytes()), words(cell.record_bytes()))
        }
        cells => format!("IOzone: {} sizes", cells.len()),
    };
    let title = match (line.is_throughput(), place.names.len()) {
        (true, 2..) => format!("{title}, {} at once", place.names.len()),
        _ => title,
    };
    Plan { title, seed: SEED, files: files.collect(), ..Plan::default() }
}

fn asked_to_run(
    doing: &remarks::Doing,
    plan: Plan,
    place: Place,
    layout: Layout,
    world: &dyn World,
) -> Asked<Options> {
    let line = doing.line;
    let options = Options {
        command: line.printed.clone(),
        splash: line.splash.clone(),
        unit: line.unit(),
        report: line.report || line.sheet.is_some(),
        sheet: line.sheet.clone(),
        cache_kb: line.cache_kb,
        cache_line_bytes: line.cache_line_bytes,
        stride: line.stride,
        only_service: line.think_ms > 0,
        layout,
    };
    let notes = remarks::notes(doing, world);
    let keeps = line.keep || doing.stays;
    let results = options.sheet.iter().map(|path| report::place(path)).collect();
    let job = Job { plan, target: place.target, keeps, notes, results };
    Asked::Run { job: Box::new(job), options: Box::new(options) }
}
