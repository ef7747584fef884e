//! The report for Excel, on the console and as a worksheet.

use super::figures;
use super::options::{Layout, Options, Table, Throughput};
use super::print::command;
use super::test::{Load, Test};
use super::throughput::{units, word};
use crate::biff::Sheet;
use crate::front::{Existing, OutputFile, ResultFile};
use drivelab_core::run::Run;
use std::fmt::Write;

/// What the second and third row of a worksheet of the table say.
const EMPTY: &str = " ";
const AXES: &str = "The top row is records sizes, the left column is file sizes";
/// Rows of a worksheet before the figures of the throughput mode begin, and their first column.
const ROWS_BEFORE: u16 = 4;
const FIRST_COLUMN: u16 = 2;

/// The reports of all selected tests.
pub(super) fn of_table(options: &Options, table: &Table, run: &Run) -> String {
    let mut text = String::from("Excel output is below:\n");
    for test in &table.tests {
        let rows = rows(options, table, run, *test);
        if rows.is_empty() {
            continue;
        }
        let records: Vec<String> =
            table.records_kb.iter().map(|record| format!("\"{record}\"")).collect();
        let _ = writeln!(text, "\n\"{}\"\n        {}", test.report(), records.join("  "));
        for (file_kb, values) in rows {
            let values: String = values.iter().map(|value| format!("{value} ")).collect();
            let values = values.trim_end().replace(' ', "  ");
            let _ = writeln!(text, "\"{file_kb}\"   {values} ");
        }
    }
    text
}

/// One row for each size of file: a value for each record up to the last that was run.
fn rows(options: &Options, table: &Table, run: &Run, test: Test) -> Vec<(u64, Vec<u64>)> {
    let mut rows: Vec<(u64, Vec<u64>)> = Vec::new();
    for cell in &table.cells {
        if rows.last().is_none_or(|(file_kb, _)| *file_kb != cell.file_kb) {
            rows.push((cell.file_kb, Vec::new()));
        }
        let column = table.records_kb.iter().position(|record| *record == cell.record_kb);
        let (Some((_, values)), Some(column)) = (rows.last_mut(), column) else { continue };
        let value = figures::value(options, table, run, test, *cell);
        let Some(value) = value.or(of_none(run)) else { continue };
        values.resize(column, 0);
        values.push(value);
    }
    rows.retain(|(_, values)| !values.is_empty());
    rows
}

/// The figure of what was not run: IOzone's 0 where a line leaves it out, and none where the line
/// was broken off before it.
fn of_none(run: &Run) -> Option<u64> {
    run.complete().then_some(0)
}

/// The report of the throughput mode: a line for each load, a value for each number of processes.
pub(super) fn of_throughput(options: &Options, throughput: &Throughput, run: &Run) -> String {
    let mut text = format!(
        "\n\"{}\"\n\"{} \"\n\"{}\"\n\n",
        axes(throughput),
        record_size(throughput),
        output_unit(options)
    );
    for load in &throughput.loads {
        let sums = sums(options, throughput, run, *load);
        if sums.is_empty() {
            continue;
        }
        let _ = write!(text, "\"{}\"", load.label());
        for value in sums {
            let _ = write!(text, " {value:10.2} ");
        }
        text.push_str("\n\n");
    }
    text
}

fn axes(throughput: &Throughput) -> String {
    let plural = if throughput.threads { "s" } else { "es" };
    let word = word(throughput);
    format!("Throughput report Y-axis is type of test X-axis is number of {word}{plural}")
}

fn record_size(throughput: &Throughput) -> String {
    format!("Record size = {} kBytes", throughput.record_kb)
}

fn output_unit(options: &Options) -> String {
    let unit = if units(options.unit).1 == "kB" { "kBytes/sec" } else { "ops/sec" };
    format!("Output is in {unit}")
}

/// What the children saw together, for each number of processes.
fn sums(options: &Options, throughput: &Throughput, run: &Run, load: Load) -> Vec<f64> {
    let sum = |count: &u32| {
        let found = figures::children(options, throughput, run, load, *count);
        let rates =
            found.map(|(children, _)| children.iter().map(|child| child.rate(options.unit)).sum());
        rates.or(of_none(run).map(|none| none as f64))
    };
    throughput.counts.iter().map_while(sum).collect()
}

/// Where the worksheet goes. IOzone removes a file of that name; here it is only replaced if
/// drivelab wrote it.
pub(super) fn place(path: &str) -> ResultFile {
    ResultFile { path: path.to_owned(), existing: Existing::ReplaceOwn }
}

/// The worksheet.
pub(super) fn sheet(options: &Options, path: &str, run: &Run) -> OutputFile {
    let mut sheet = Sheet::default();
    sheet.label(0, 0, &format!("{} ", command(options)));
    match &options.layout {
        Layout::Table(table) => table_sheet(&mut sheet, options, table, run),
        Layout::Throughput(throughput) => {
            throughput_sheet(&mut sheet, options, throughput, run);
        }
    }
    OutputFile { place: place(path), bytes: sheet.finish(), said: String::new() }
}

fn table_sheet(sheet: &mut Sheet, options: &Options, table: &Table, run: &Run) {
    sheet.label(1, 0, EMPTY);
    sheet.label(2, 0, AXES);
    let mut row = 3;
    for test in &table.tests {
        sheet.label(row, 0, test.sheet());
        for (column, record_kb) in (1..).zip(&table.records_kb) {
            sheet.number(row + 1, column, *record_kb as f64);
        }
        row += 2;
        for (file_kb, values) in rows(options, table, run, *test) {
            sheet.number(row, 0, file_kb as f64);
            for (column, value) in (1..).zip(values) {
                sheet.number(row, column, value as f64);
            }
            row += 1;
        }
    }
}

fn throughput_sheet(sheet: &mut Sheet, options: &Options, throughput: &Throughput, run: &Run) {
    sheet.label(1, 0, &axes(throughput));
    sheet.label(2, 0, &record_size(throughput));
    sheet.label(3, 0, &output_unit(options));
    for (row, load) in (ROWS_BEFORE..).zip(&throughput.loads) {
        sheet.label(row, 0, load.label());
        for (column, value) in (FIRST_COLUMN..).zip(sums(options, throughput, run, *load)) {
            sheet.number(row, column, value);
        }
    }
}
