//! From the words of a line of Metarates to what it asks for.

use super::known::KNOWN;
use super::plan::Key;
use crate::front::{Found, Note, Refusal, Treatment, World};
use crate::letters::{Given, Grammar, Word, read as words_of, with_hyphens};
use crate::option::{Opt, find};
use crate::parallel::number;

/// The exit status of a line that is not understood, or does not fit.
pub const FAILED: u8 = 1;
/// With no more words than that the usage is printed.
const WORDS_MIN: usize = 3;
const USAGE: &str = "usage: metarates -d directory -n files [-u] [-C] [-S] [-U] [-s] [-k]";

/// A line, understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `-d`.
    pub directory: String,
    /// `-n`, scaled: files of all tasks together.
    pub files: u64,
    /// Tasks.
    pub tasks: u32,
    /// `-u`.
    pub unique: bool,
    /// `-C`.
    pub creates: bool,
    /// `-S`.
    pub stats: bool,
    /// `-U`.
    pub utimes: bool,
    /// `-s`.
    pub sync: bool,
    /// `-k`.
    pub keep: bool,
    /// It is a simulated drive, whose file system is new.
    pub is_simulated: bool,
    /// The tests stand on the line in the order in which they are done.
    pub is_in_phase_order: bool,
    /// What each step of the plan is.
    pub keys: Vec<Key>,
}

impl Options {
    /// Files of one task.
    pub fn of_task(&self) -> u64 {
        self.files / u64::from(self.tasks.max(1))
    }
}

/// Reads the words of a line, and looks at what they are about.
pub fn read(args: &[String], world: &dyn World) -> Result<(Options, Vec<Note>), Refusal> {
    let (args, changed) = with_hyphens(args);
    let mut notes: Vec<Note> = changed.iter().map(|word| typographic(word)).collect();
    if args.len() < WORDS_MIN {
        return Err(refused(USAGE, "Give -d DIRECTORY, -n FILES, and what to test: -C, -S or -U."));
    }
    let spellings = KNOWN.iter().flat_map(Opt::spellings).collect();
    let grammar = Grammar { spellings, has_equals: false };
    let mut options = Options { tasks: world.ranks().max(1), ..Options::default() };
    let mut order = Vec::new();
    for word in words_of(&args, &grammar) {
        match word {
            Word::Option(given) => options.take(&given, &mut order)?,
            Word::Lacking(typed) => {
                return Err(refused(USAGE, &format!("{typed} needs a value.")));
            }
            Word::Unknown(typed) => {
                return Err(refused(
                    USAGE,
                    &format!(
                        "{typed} is not an option of metarates; remove \
                                                    it."
                    ),
                ));
            }
            Word::Stray(typed) => {
                let advice = format!("`{typed}` does not belong to an option; remove it.");
                return Err(refused(USAGE, &advice));
            }
        }
    }
    options.is_in_phase_order = order.is_sorted();
    options.check(world, &mut notes)?;
    Ok((options, notes))
}

fn refused(text: &str, advice: &str) -> Refusal {
    Refusal::new(FAILED, text, advice)
}

fn typographic(word: &str) -> Note {
    let text = "Typographic dash treated as `-`; Metarates itself would ignore such a word.";
    Note::new("typographic_dash", word, Treatment::Approximated, text)
}

impl Options {
    fn take(&mut self, given: &Given, order: &mut Vec<u8>) -> Result<(), Refusal> {
        match given.name.as_str() {
            "-d" => given.value.clone_into(&mut self.directory),
            "-n" => {
                self.files = number::count(&given.value).ok_or_else(|| {
                    refused(USAGE, &format!("`{}` is not a number of files.", given.value))
                })?;
            }
            "-u" => self.unique = true,
            "-C" => {
                self.creates = true;
                order.push(0);
            }
            "-S" => {
                self.stats = true;
                order.push(1);
            }
            "-U" => {
                self.utimes = true;
                order.push(2);
            }
            "-s" => self.sync = true,
            "-k" => self.keep = true,
            name => {
                let clause = format!("{} is not supported here.", given.typed);
                let refusal = find(KNOWN.iter(), name)
                    .and_then(|option| option.care.refusal(FAILED, &clause));
                return refusal.map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    fn check(&mut self, world: &dyn World, notes: &mut Vec<Note>) -> Result<(), Refusal> {
        let tasks = u64::from(self.tasks);
        if self.directory.is_empty() {
            return Err(refused(USAGE, "Give -d DIRECTORY."));
        }
        self.is_simulated = matches!(world.found(&self.directory), Found::Simulated { .. });
        if !self.is_simulated && world.found(&self.directory) != Found::Directory {
            let text = format!("{}: No such file or directory", self.directory);
            return Err(refused(&text, "Make the directory first; Metarates does not."));
        }
        if !(self.creates || self.stats || self.utimes) {
            return Err(refused(USAGE, "Give what to test: -C, -S or -U."));
        }
        if !self.files.is_multiple_of(tasks) || self.files == 0 {
            let text = format!(
                "the total number of files ({}) must be divisible by the number of processes \
                 ({tasks})",
                self.files
            );
            let next = self.files.checked_next_multiple_of(tasks).unwrap_or(tasks).max(tasks);
            return Err(refused(&text, &format!("Use -n {next}.")));
        }
        self.files = world.scale().of(self.files, tasks);
        if u32::try_from(self.of_task()).is_err() {
            return Err(refused("too many files.", "Use a smaller -n."));
        }
        if self.sync && !self.creates {
            let text = "There is no create test, in which files would be made durable.";
            notes.push(Note::new("without_effect", "-s", Treatment::Ignored, text));
        }
        Ok(())
    }
}
