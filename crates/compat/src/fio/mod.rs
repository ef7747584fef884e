//! fio: its options and job files as a plan, its output from a run.
//!
//! Written from its manual and from what the program does and prints (3.33, watched by strace); no
//! code of it is used.

pub mod known;
pub mod output;

mod arithmetic;
mod files;
mod help;
mod issued;
mod jobfile;
mod least;
mod marks;
mod names;
mod notes;
mod place;
mod priorities;
mod reading;
mod repeats;
mod replay;
mod sequence;
mod settings;
mod shown;
mod simulated;
mod sizes;
mod space;
mod steadystate;
mod stream;
mod threads;
mod translate;
mod value;
mod waves;
mod words;
mod zones;

pub use shown::{Direction, Format, Line, Log, Logged, Section, Unified, Without};

/// The exit status of a line that failed.
pub const FAILED: u8 = words::STATUS;

use crate::front::{Asked, Job, Refusal, World};
use crate::front_end::FrontEnd;
use settings::Settings;
use translate::Whole;

/// fio among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["fio"],
    failed: FAILED,
    example: "--name=a --size=1m",
    parse: |_, args, world| Ok(parse(args, world)?.laid_out(output::output)),
    table: Some(known::table),
};

/// The line that these words are.
///
/// # Errors
/// What fio would refuse, in its words; what is not supported here, by name.
pub fn parse(args: &[String], world: &dyn World) -> Result<Asked<Line>, Refusal> {
    let words = words::read(args, world)?;
    if let Some(text) = words.text {
        return Ok(Asked::Text(text));
    }
    let (mut notes, mut refusals) = (words.notes.clone(), words.refusals.clone());
    let mut jobs: Vec<(String, Settings)> = Vec::new();
    for job in &words.jobs {
        let mut settings = settings::of(job, &mut notes, &mut refusals);
        // `--parse-only` looks at options and not behind them.
        if !words.parse_only {
            refusals.extend(replay::read(&mut settings, world).err());
            refusals.extend(marks::read(&mut settings, world).err());
        }
        refusals.extend(space::check(&settings).err());
        let writes = settings.rw.kinds[1] || settings.rw.kinds[2];
        if words.readonly && (writes || space::is_changed(&settings)) {
            refusals.push(Refusal::new(
                words::STATUS,
                format!("fio: job <{}> has write bit set, but fio is in read-only mode", job.name),
                match space::is_changed(&settings) {
                    true => "Leave --readonly out: each request of its engine changes the file.",
                    false => "Leave --readonly out, or read.",
                },
            ));
        }
        jobs.push((job.name.clone(), settings));
    }
    if let Some(refusal) = words::together(refusals) {
        return Err(refusal);
    }
    if words.parse_only {
        return Ok(Asked::Text(String::new()));
    }
    let places = match (names::places(&jobs, world)?, simulated::drive_of(&jobs)) {
        (Some(places), _) => places,
        (None, Some(drive)) => simulated::places(&jobs, drive, world)?,
        (None, None) => files::places(&jobs, world)?,
    };
    let wholes: Vec<Whole<'_>> = words
        .jobs
        .iter()
        .zip(&jobs)
        .zip(&places.jobs)
        .map(|((job, (_, settings)), place)| Whole { job, settings, place })
        .collect();
    let translated = translate::plan(&wholes, &places, world)?;
    notes.extend(notes::of(&wholes, &places, &translated.plan, world));
    let are_removed = names::are_removed(&jobs, &places);
    if are_removed {
        names::removed(&mut notes);
    }
    notes::once(&mut notes);
    let line = Line {
        formats: words.formats,
        terse_version: words.terse_version,
        output: words.output,
        shows_orders: words.shows_orders,
        global: words.global_shown,
        sections: translated.sections,
    };
    let keeps = !are_removed && !jobs.iter().any(|(_, settings)| settings.unlink);
    let results = output::files(&line);
    let job = Job { plan: translated.plan, target: places.target, keeps, notes, results };
    Ok(Asked::Run { job: Box::new(job), options: Box::new(line) })
}
