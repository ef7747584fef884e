//! The words of a line: the file, and what is to be done with it.

use super::config::{Config, FAILED};
use super::known::{SECTIONS, keys_of};
use super::{Io500, refuse_place};
use crate::front::{Note, Refusal, Treatment, World};
use crate::front_end::Answer;
use std::fmt::Write;

const USAGE: &str = "\
Usage: io500 config.ini [options]   run the suite as the file says
       io500 --list                 print every section and key with its default
       mpirun -n 2 drivelab io500 config.ini

Options, as drivelab understands them:
  --mode=standard         the only mode
  --timestamp=NAME        name of the directories that are made in datadir and resultdir
  -v, --verbose=N         (without effect)
  -l, --list              print every section and key
  -h, --help              print this

Of drivelab: --dry-run prints the lines of the phases; --scale-time 0.01 shortens the
stonewall and marks the result as invalid.
";

/// What a line asks for.
///
/// # Errors
/// What is not known or not supported, with a way out.
pub fn parse(args: &[String], world: &dyn World) -> Result<Answer, Refusal> {
    let (mut file, mut named, mut notes) = (None, None, Vec::new());
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-h" | "--help" => return Ok(Answer::Text(USAGE.to_owned())),
            "-l" | "--list" | "-lm" | "--list-mandatory" => return Ok(Answer::Text(listed())),
            "-v" | "--mode=standard" => {}
            _ if word.starts_with("--verbose=") => {}
            "--timestamp" => named = words.next().cloned().or(Some(String::new())),
            _ if word.starts_with("--timestamp=") => {
                named = word.split_once('=').map(|(_, name)| name.to_owned());
            }
            _ if word.starts_with('-') => return Err(unknown(word)),
            _ if file.is_none() => file = Some(word.as_str()),
            _ => return Err(wrong(format!("{word} stands behind the file"), "Leave it out.")),
        }
    }
    let Some(path) = file else { return Ok(Answer::Text(USAGE.to_owned())) };
    let is_name = |name: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)
    };
    if let Some(name) = named.as_ref().filter(|name| !is_name(name)) {
        let text = format!("--timestamp={name} is not the name of a directory");
        return Err(wrong(text, "Use letters, digits, `.`, `_` and `-`, as in --timestamp=run-1."));
    }
    let text = world.text(path).map_err(|error| {
        let text = format!("{path} cannot be read: {error}");
        wrong(text, "Name a file as io500 --list prints one.")
    })?;
    let config = Config::of(path, &text, &mut notes)?;
    for key in ["datadir", "resultdir"] {
        refuse_place(config.value("global", key), world)?;
    }
    notes.extend(notes_of(&config));
    Ok(Answer::Suite(Box::new(Io500 {
        config,
        named,
        data: String::new(),
        results: String::new(),
        ranks: world.ranks().max(1),
        scale: world.scale(),
        scale_time: world.scale_time(),
        notes,
    })))
}

fn notes_of(config: &Config) -> Vec<Note> {
    let mut said = vec![Note::new(
        "times_of_phases",
        "",
        Treatment::Approximated,
        "The time of a phase is the span from which its result is computed; in the suite it also \
         has starting and ending.",
    )];
    if !config.is_on("global", "drop-caches") {
        let text = "A machine that reads what it wrote itself may find it in memory; \
                    `drop-caches = TRUE`, or API = POSIX --posix.odirect in [ior-easy] and \
                    [ior-hard], makes IOR's phases read from the drive.";
        said.push(Note::new("caches_stay", "", Treatment::Same, text));
    }
    said
}

fn wrong(text: String, advice: &str) -> Refusal {
    Refusal::new(FAILED, text, advice)
}

fn unknown(word: &str) -> Refusal {
    let known = [
        ("--cleanup", "the directories of a run that failed are named by it: remove them by hand"),
        ("--verify", "drivelab's results have no hashes to be verified"),
        ("--config-hash", "drivelab's results have no hashes"),
        ("--mode=extended", "only the standard mode is run; leave it out"),
    ];
    match known.iter().find(|(name, _)| *name == word) {
        Some((_, why)) => {
            wrong(format!("{word} is not supported here"), &crate::option::sentence(why))
        }
        None => wrong(format!("{word} is not an option of io500"), "-h lists the options."),
    }
}

/// A file with every section and key and its default.
fn listed() -> String {
    let mut text = String::new();
    for section in SECTIONS {
        let end = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{end}[{section}]");
        for key in keys_of(section) {
            let _ = writeln!(text, "# {}{}", key.meaning, key.care.in_brief());
            let _ = writeln!(text, "{} = {}", key.name(), key.own.default);
        }
    }
    text
}
