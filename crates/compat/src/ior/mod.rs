//! IOR: its lines and scripts as a plan, its output from a run.
//!
//! Written from its user guide and from what the programs 2.10.3 and 4.0.0 do and print, watched by
//! strace; no code of them is used. Called as `IOR` it is the one, called as `ior` the other.

pub mod known;

mod check;
mod comma;
mod files;
mod help;
mod json;
mod new_output;
mod notes;
mod old_output;
mod place;
mod plan;
mod script;
mod settings;
mod timing;
mod words;

pub use check::Test;
pub use plan::{Access, Key};
pub use settings::{Era, FAILED, Interface, Packet, Settings, Summary};

use crate::front::{Asked, Host, Job, Note, Output, OutputFile, Refusal, World};
use crate::front_end::FrontEnd;
use drivelab_core::run::Run;

/// A line, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Which program it is for.
    pub era: Era,
    /// The line, with the name of the program.
    pub line: String,
    /// The tests, in order; at least one.
    pub tests: Vec<Test>,
    /// What each step of the plan is.
    pub keys: Vec<Key>,
    /// For each test the files that were there when it began to write, which 4.x warns of.
    pub overwritten: Vec<Vec<String>>,
    /// For each test that only reads, the bytes of its files when it was asked for.
    pub there: Vec<Option<u64>>,
    /// Bytes on this machine's disk are those of a drive: there is no file system to be shown.
    pub is_drive: bool,
}

/// IOR among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["ior", "IOR"],
    failed: FAILED,
    example: "-b 64k -t 4k",
    parse: |program, args, world| Ok(parse(program, args, world)?.laid_out(output)),
    table: Some(known::table),
};

/// The line that these words are; `program` is the name that it was called by.
///
/// # Errors
/// What IOR would refuse, in its words; what is not supported here, by name.
pub fn parse(program: &str, args: &[String], world: &dyn World) -> Result<Asked<Options>, Refusal> {
    let era = Era::of(program);
    let line = words::line(args, era, world)?;
    if line.helps {
        return Ok(Asked::Text(help::text(program, era)));
    }
    let mut notes: Vec<Note> = line.notes;
    let mut tests = Vec::new();
    for settings in &line.tests {
        tests.push(check::test(settings, era, world, &mut notes)?);
    }
    let places = place::places(&tests, era, world)?;
    let typed: Vec<&str> =
        std::iter::once(program).chain(args.iter().map(String::as_str)).collect();
    let typed = typed.join(" ");
    let (plan, keys) = plan::plan(&typed, &tests, &places, era, world.scale_time())?;
    notes.extend(notes::of(&tests, &places, era, world));
    let keeps = tests.iter().any(|test| {
        test.settings.keep || (test.settings.keep_with_error && test.settings.checks())
    });
    let keeps = keeps || !tests.iter().any(|test| test.writes);
    let results = files::places(&tests);
    let job = Job { plan, target: places.target, keeps, notes: notes::once(notes), results };
    let overwritten = place::overwritten(&tests, era, world);
    let is_drive = places.is_drive;
    let there = tests.iter().map(|test| place::bytes_there(test, era, world)).collect();
    let options = Options { era, line: typed, tests, keys, overwritten, there, is_drive };
    Ok(Asked::Run { job: Box::new(job), options: Box::new(options) })
}

/// What IOR would have printed of this run.
pub fn output(options: &Options, run: &Run, host: &Host) -> Output {
    let results = timing::results(options, run);
    let summary = options.tests.first().map_or(Summary::Text, |test| test.settings.summary);
    let text = match (options.era, summary) {
        (Era::Old, _) => old_output::text(options, run, host, &results),
        (Era::New, Summary::Text) => new_output::text(options, run, host, &results),
        (Era::New, Summary::Json) => json::text(options, run, host, &results),
        (Era::New, Summary::Csv) => comma::text(&results, options),
    };
    let mut written = files::of(options, &results);
    let Some(place) = files::place_of_summary(&options.tests) else {
        return Output { text, files: written, ..Output::default() };
    };
    let said = format!("Writing output to {}\n", place.path);
    written.insert(0, OutputFile { place, bytes: text.into_bytes(), said });
    let text = match options.era {
        Era::Old => String::new(),
        Era::New => new_output::warnings(options, &results),
    };
    Output { text, files: written, ..Output::default() }
}
