//! Metarates: its lines as a plan, its output from a run.
//!
//! Written from what is known of its options and of what it does (2004); no code of it is used.

pub mod known;

mod line;
mod plan;
mod rates;

pub use line::{FAILED, Options};
pub use plan::{Key, Phase};

use crate::front::{Asked, Host, Job, Note, Output, Refusal, Scale, Treatment, World};
use crate::front_end::FrontEnd;
use drivelab_core::run::Run;

/// Metarates among the tools.
pub(crate) const FRONT_END: FrontEnd = FrontEnd {
    names: &["metarates"],
    failed: FAILED,
    example: "-d . -n 5 -C",
    parse: |_, args, world| Ok(parse(args, world)?.laid_out(output)),
    table: Some(known::table),
};

/// The line that these words are.
///
/// # Errors
/// What Metarates would refuse; what is not supported here, by name.
pub fn parse(args: &[String], world: &dyn World) -> Result<Asked<Options>, Refusal> {
    let (mut options, mut said) = line::read(args, world)?;
    let plan = plan::plan(&mut options, world);
    said.extend(notes(&options, world));
    let (target, keeps) = (options.directory.clone(), options.keep);
    let job = Job { plan, target, keeps, notes: said, results: Vec::new() };
    Ok(Asked::Run { job: Box::new(job), options: Box::new(options) })
}

/// What Metarates would have printed of this run.
pub fn output(options: &Options, run: &Run, _host: &Host) -> Output {
    Output { text: rates::text(options, run), ..Output::default() }
}

/// What a line really measures.
fn notes(options: &Options, world: &dyn World) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut say = |code, about: &str, treatment, text: String| {
        notes.push(Note::new(code, about, treatment, text));
    };
    if options.creates && !options.sync {
        let text = "Nothing is made durable: files are created in memory, and the file system \
                    writes them when it likes. -s makes each durable before it is closed.";
        say("no_fsync", "-C", Treatment::Same, text.into());
    }
    if options.stats || options.utimes {
        let text = "The files were just made on this machine, by one task: its cache answers.";
        say("names_from_cache", "", Treatment::Same, text.into());
    }
    let text = "The total rate is the lowest rate of a task times the number of tasks, so that the \
                slowest decides; there is one sample, without latencies or a deviation.";
    say("slowest_task_decides", "", Treatment::Same, text.into());
    if options.keep && options.creates && (options.stats || options.utimes) {
        let text = "Files that an earlier test left are not created once more.";
        say("not_created_again", "-k", Treatment::Approximated, text.into());
    }
    if !options.is_in_phase_order {
        let text = "Tests are done in the order create, stat, utime, whatever the line says.";
        say("fixed_order", "", Treatment::Same, text.into());
    }
    let scale = world.scale();
    if scale != Scale::WHOLE {
        let text = format!(
            "The number of files is {}/{} of what the line says.",
            scale.numerator, scale.denominator
        );
        say("scaled", "--scale-size", Treatment::Approximated, text);
    }
    notes
}
