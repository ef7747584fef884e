//! What a line of mdtest asks for, as it says it.

use super::known::KNOWN;
use crate::front::{Note, Refusal, Treatment};
use crate::letters::{Grammar, Word, read, with_hyphens};
use crate::option::{Care, Opt, find};
use crate::parallel::number;

/// The exit status of a line that is not understood or contradicts itself.
pub const USAGE: u8 = 1;
/// The exit status where something cannot be done.
pub const FAILED: u8 = 255;

/// A line, as it was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `-a DUMMY`: nothing is made and nothing looked up.
    pub dummy: bool,
    /// `-d`.
    pub directory: String,
    /// `-n`.
    pub items: u64,
    /// `-I`.
    pub per_directory: u64,
    /// `-b`.
    pub branching: u64,
    /// `-z`.
    pub depth: u64,
    /// `-i`.
    pub iterations: u64,
    /// `-D`.
    pub directories_only: bool,
    /// `-F`.
    pub files_only: bool,
    /// `-C`.
    pub create: bool,
    /// `-T`.
    pub stat: bool,
    /// `-E`.
    pub read: bool,
    /// `-r`.
    pub remove: bool,
    /// `-u`.
    pub unique: bool,
    /// `-t`.
    pub times_unique: bool,
    /// `-c`.
    pub collective: bool,
    /// `-L`.
    pub leaves_only: bool,
    /// `-N`.
    pub stride: u64,
    /// `-w`.
    pub write_bytes: u64,
    /// `-e`.
    pub read_bytes: u64,
    /// `-y`.
    pub sync: bool,
    /// `-f`.
    pub first: u64,
    /// `-l`.
    pub last: u64,
    /// `-s`.
    pub step: u64,
    /// `-p`.
    pub delay_s: u64,
    /// `-P`.
    pub prints_both: bool,
    /// `-Z`.
    pub prints_times: bool,
    /// `-v` and `-V`.
    pub verbose: u64,
    /// `-G`.
    pub signature: i64,
    /// `-W` in seconds.
    pub wall_s: u64,
    /// `-x`.
    pub status_file: Option<String>,
    /// `--saveRankPerformanceDetails`.
    pub ranks_file: Option<String>,
    /// `-X`.
    pub verifies: bool,
    /// `-Y`.
    pub syncs_phases: bool,
}

/// A line that was parsed; without settings it asks for help.
pub type Line = (Option<Settings>, Vec<Note>);

/// Reads the words of a line.
///
/// # Errors
/// What is not known, not supported, or makes no sense.
pub fn line(args: &[String]) -> Result<Line, Refusal> {
    let (args, changed) = with_hyphens(args);
    let typographic = |word: &String| {
        let text = "Typographic dash treated as `-`.";
        Note::new("typographic_dash", word, Treatment::Approximated, text)
    };
    let mut notes: Vec<Note> = changed.iter().map(typographic).collect();
    let spellings = KNOWN.iter().flat_map(Opt::spellings).chain(["-h", "--help"]).collect();
    let grammar = Grammar { spellings, has_equals: true };
    let mut settings = Settings {
        directory: "./out".to_owned(),
        branching: 1,
        iterations: 1,
        first: 1,
        step: 1,
        ..Settings::default()
    };
    for word in read(&args, &grammar) {
        let given = match word {
            Word::Option(given) => given,
            Word::Lacking(typed) => {
                let name = typed.trim_start_matches('-');
                let text = format!("Error, argument missing for option {name}");
                return Err(Refusal::new(USAGE, text, format!("{typed} needs a value.")));
            }
            Word::Unknown(typed) | Word::Stray(typed) => {
                let text = format!("Error invalid argument: {typed}");
                return Err(Refusal::new(
                    USAGE,
                    text,
                    "Remove it; -h lists the supported options.",
                ));
            }
        };
        if matches!(given.name.as_str(), "-h" | "--help") {
            return Ok((None, notes));
        }
        let Some(known) = find(KNOWN.iter(), &given.name) else { continue };
        settings.take(known, &given.value, &given.typed, &mut notes)?;
    }
    Ok((Some(settings), notes))
}

impl Settings {
    fn take(
        &mut self,
        known: &Opt,
        value: &str,
        typed: &str,
        notes: &mut Vec<Note>,
    ) -> Result<(), Refusal> {
        match known.care {
            Care::Same | Care::InPart(_) | Care::Near(_) => self.set(known.name(), value, typed),
            // The default is nothing that could not be had.
            Care::Unsupported { .. } if !known.is_flag() && value == "0" => Ok(()),
            care => {
                notes.extend(care.note("without_effect", typed, "It has no effect"));
                let clause = format!("{typed} ({}) is not supported here.", known.meaning);
                care.refusal(USAGE, &clause).map_or(Ok(()), Err)
            }
        }
    }

    fn set(&mut self, name: &str, value: &str, typed: &str) -> Result<(), Refusal> {
        let bad = || {
            let text = format!("`{value}` is not a number ({typed}).");
            Refusal::new(
                USAGE,
                text,
                "mdtest itself parses the leading digits and ignores the \
                                       rest.",
            )
        };
        let count = || number::count(value).ok_or_else(bad);
        let bytes = || number::bytes(value).ok_or_else(bad);
        match name {
            "-a" if value.eq_ignore_ascii_case("POSIX") => self.dummy = false,
            "-a" if value.eq_ignore_ascii_case("DUMMY") => self.dummy = true,
            "-a" => {
                let text = format!("ERROR: Unrecognized I/O API ({value})");
                let advice = "Only -a POSIX and -a DUMMY are supported here.";
                return Err(Refusal::new(FAILED, text, advice));
            }
            "-b" => self.branching = count()?,
            "-c" => self.collective = true,
            "-C" => self.create = true,
            "-d" => value.clone_into(&mut self.directory),
            "-D" => self.directories_only = true,
            "-e" => self.read_bytes = bytes()?,
            "-E" => self.read = true,
            "-f" => self.first = count()?,
            "-F" => self.files_only = true,
            "-i" => self.iterations = count()?,
            "-I" => self.per_directory = count()?,
            "-l" => self.last = count()?,
            "-L" => self.leaves_only = true,
            "-n" => self.items = count()?,
            "-N" => self.stride = count()?,
            "-p" => self.delay_s = count()?,
            "-P" => self.prints_both = true,
            "-r" => self.remove = true,
            "-s" => self.step = count()?,
            "-t" => self.times_unique = true,
            "-T" => self.stat = true,
            "-u" => self.unique = true,
            "-v" => self.verbose = self.verbose.saturating_add(1),
            "-V" => self.verbose = count()?,
            "-w" => self.write_bytes = bytes()?,
            "-G" => self.signature = value.parse().map_err(|_| bad())?,
            "-W" => self.wall_s = count()?,
            "-x" => self.status_file = Some(value.to_owned()),
            "--saveRankPerformanceDetails" => self.ranks_file = Some(value.to_owned()),
            "-X" | "--verify-read" => self.verifies = true,
            "-Y" => self.syncs_phases = true,
            "-y" => self.sync = true,
            "-z" => self.depth = count()?,
            _ => self.prints_times = true,
        }
        Ok(())
    }
}
