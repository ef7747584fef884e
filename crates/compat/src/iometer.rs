//! Iometer: an `.icf` in, a results `.csv` out.
//!
//! Facts are from the Iometer User's Guide 1.1.0, the release notes of its versions and files that
//! Iometer wrote. Each worker of the file is a stream of its own (workers that are alike are one
//! stream of several workers); each test is a step.

pub mod icf;

mod access;
mod csv;
mod cycling;
mod drive;
mod figures;
mod line;
mod notes;
mod translation;
mod workers;

use crate::front::{Asked, Existing, Host, Output, OutputFile, Refusal, ResultFile, World};
use crate::front_end::FrontEnd;
use drivelab_core::run::Run;
use icf::{Icf, Recorded, Specification};
use line::Words;

/// What ends a line that cannot be run. Iometer has a window and says so there.
pub const USAGE: u8 = 1;

/// A command line with its file, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The file of results.
    pub results: String,
    /// Which layout it has.
    pub era: Era,
    /// Version of the configuration file, as results repeat it.
    pub version: String,
    /// Test description.
    pub description: String,
    /// Number of the test type.
    pub test_type: usize,
    /// Which rows are written.
    pub recorded: Recorded,
    /// The tests, in order.
    pub tests: Vec<Test>,
}

/// Layouts of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Versions named by dates, 2006.07.27 to 2010.
    Dated,
    /// 1.1.0: megabytes of both kinds, and bins of latency.
    Binned,
}

/// One test.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Index of its step in the plan.
    pub plan_step: u32,
    /// The access specifications that it runs.
    pub specifications: Vec<Specification>,
    /// The workers that take part, in order.
    pub workers: Vec<Place>,
}

/// Where the figures of a worker are found, and what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Stream of the step.
    pub stream: u32,
    /// Worker of the stream.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Name of its access specification.
    pub specification: String,
    /// Name of its target, as in the configuration file.
    pub target: String,
    /// Outstanding I/Os.
    pub outstanding: u32,
    /// First sector.
    pub starting_sector: u64,
    /// Sectors; 0: all.
    pub maximum_sectors: u64,
    /// Whether each request has a reply.
    pub replies: bool,
}

/// Iometer among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["iometer", "Iometer"],
    failed: USAGE,
    example: "/r a.csv",
    parse: |_, args, world| Ok(parse(args, world)?.laid_out(output)),
    table: None,
};

/// What a line asks for, its file included.
///
/// # Errors
/// A line or a file that Iometer would not run, or that cannot be run here, by name.
pub fn parse(args: &[String], world: &dyn World) -> Result<Asked<Options>, Refusal> {
    let line = match line::read(args)? {
        Words::Help => return Ok(Asked::Text(line::HELP.to_owned())),
        Words::Line(line) => line,
    };
    let file = &line.configuration.0;
    let text = world.text(file).map_err(|why| {
        Refusal::new(USAGE, format!("{file}: {why}"), "name an .icf file: /c setup.icf")
    })?;
    let icf = icf::parse(&text).map_err(|error| {
        let icf::IcfError { line, column, found, expected } = error;
        let text = format!("{file}:{line}:{column}: found {found}");
        Refusal::new(USAGE, text, format!("expected {expected}"))
    })?;
    let (job, options) = translation::translate(&line, &icf, world)?;
    Ok(Asked::Run { job: Box::new(job), options: Box::new(options) })
}

/// What Iometer leaves behind: a file of results. It prints nothing itself.
pub fn output(options: &Options, run: &Run, host: &Host) -> Output {
    let (text, tests) = csv::render(options, run, host);
    let many = if tests == 1 { "" } else { "s" };
    let said = format!("Results of {tests} test{many} are in {}.\n", options.results);
    let file = OutputFile { place: place(&options.results), bytes: text.into_bytes(), said };
    Output { files: vec![file], ..Output::default() }
}

/// Where the results go: behind those that are there.
fn place(path: &str) -> ResultFile {
    let existing = Existing::AppendAfter(csv::FIRST_BYTES.to_vec());
    ResultFile { path: path.to_owned(), existing }
}

impl Era {
    /// The era of a file: versions were dates before they were 1.1.0.
    fn of(icf: &Icf) -> Era {
        const YEARS_FROM: u64 = 1990;
        let digits = icf.version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
        let first: u64 = digits.parse().unwrap_or(u64::MAX);
        if first < YEARS_FROM { Era::Binned } else { Era::Dated }
    }
}
