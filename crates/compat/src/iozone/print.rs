//! The console of IOzone: what stands before the figures, and the table.

use super::VERSION;
use super::figures;
use super::line::Unit;
use super::options::{Columns, Layout, Options, Table};
use super::test::Test;
use crate::calendar;
use crate::front::Host;
use drivelab_core::run::Run;
use std::fmt::Write;

/// The version whose layout this is. Readers of the output look for it in this form.
const LAYOUT: &str = "Version $Revision: 3.489 $ (layout only)";
/// The two lines over the thirteen columns, and what the others add or take away.
const UPPER: &str = concat!(
    "                                                              random    random     ",
    "bkwd    record    stride                                    "
);
const LOWER: &str = concat!(
    "              kB  reclen    write  rewrite    read    reread    read     write     ",
    "read   rewrite      read   fwrite frewrite    fread  freread"
);
const UPPER_EXTENDED: usize = 35;
const LOWER_EXTENDED: &str = "  pwrite repwrite   pread   repread";
const LOWER_MAPPED: usize = 36;
const UPPER_FOUR: usize = 60;
/// Where the columns of stdio begin, and those after reread.
const WITHOUT_STDIO: usize = 36;
const FOUR: usize = 60;
/// Blanks for stdio in a row of mapped files where tests were selected.
const NO_STDIO: usize = 18;

/// What `-v` prints.
pub(super) fn version() -> String {
    format!(
        "       'Iozone' Filesystem Benchmark Program\n\n        {LAYOUT}\n\n       drivelab \
         {VERSION} (not IOzone itself)\n"
    )
}

/// Everything before the figures.
pub(super) fn head(options: &Options, run: &Run, host: &Host) -> String {
    let began = calendar::as_ctime(calendar::began(&run.begin, host));
    let mut text = format!(
        "\tIozone: Performance Test of File I/O\n\t        {LAYOUT}\n\t\tCompiled for 64 bit mode.\
         \n\t\tBuild: drivelab-{} \n\n\tRun by drivelab {VERSION} (not IOzone itself)\n\n\tRun \
         began: {began}\n\n",
        host.machine
    );
    for line in &options.splash {
        let _ = writeln!(text, "\t{line}");
    }
    let _ = writeln!(text, "\tCommand line used: {}", command(options));
    if options.unit == Unit::KilobytesPerSecond {
        text.push_str("\tOutput is in kBytes/sec\n");
    }
    let _ = writeln!(
        text,
        "\tTime Resolution = 0.000000001 seconds.\n\tProcessor cache size set to {} kBytes.\n\
         \tProcessor cache line size set to {} bytes.\n\tFile stride size set to {} * record size.",
        options.cache_kb, options.cache_line_bytes, options.stride
    );
    if let Layout::Table(table) = &options.layout {
        text.push_str(&heading(table.columns));
    }
    text
}

/// The line as it was typed, after the program's name.
pub(super) fn command(options: &Options) -> String {
    format!("iozone {}", options.command.join(" "))
}

fn heading(columns: Columns) -> String {
    match columns {
        Columns::Thirteen => format!("{UPPER}\n{LOWER}\n"),
        Columns::Extended => {
            format!("{UPPER}{}\n{LOWER}{LOWER_EXTENDED}\n", " ".repeat(UPPER_EXTENDED))
        }
        Columns::Mapped => {
            let kept = LOWER.len() - WITHOUT_STDIO;
            format!("{UPPER}\n{}{}\n", &LOWER[..kept], " ".repeat(LOWER_MAPPED))
        }
        Columns::Four => format!("{}\n{}\n", " ".repeat(UPPER_FOUR), &LOWER[..FOUR]),
    }
}

/// The rows; what was not selected, or did not come to its end, is blank.
pub(super) fn table(options: &Options, table: &Table, run: &Run) -> String {
    let mut text = String::new();
    for cell in &table.cells {
        let _ = write!(text, "{:>16}{:>8}", cell.file_kb, cell.record_kb);
        for test in table.columns.tests() {
            let selected = table.tests.contains(test);
            let value = figures::value(options, table, run, *test, *cell).filter(|_| selected);
            text.push_str(&field(*test, value));
        }
        if table.columns == Columns::Mapped && table.tests.len() < table.columns.tests().len() {
            text.push_str(&" ".repeat(NO_STDIO));
        }
        text.push('\n');
    }
    text
}

/// A value with at least one space before it, in the columns of its test.
fn field(test: Test, value: Option<u64>) -> String {
    let width = test.width() - 1;
    match (value, test) {
        (Some(value), _) => format!(" {value:>width$}"),
        // IOzone leaves a column too few for fread and one too many for pread.
        (None, Test::Refread) => " ".repeat(width),
        (None, Test::Repread) => " ".repeat(width + 2),
        (None, _) => " ".repeat(width + 1),
    }
}
