//! The only place that writes to stdout and stderr.
//!
//! Whatever is printed may hold text of others (run files, plans, job files, names of files and
//! drives), so everything passes [`harmless`] here; the `tidy` test refuses any other way out.
//!
//! Of several ranks rank 0 prints for all: `main` sets once how this process prints ([`Output`]).
//!
//! A command that was asked for JSON says in JSON, too, why it did nothing: one object on stdout,
//! and the sentence on stderr as always.
//!
//! A reader that goes away (`| head`) is no error: what nobody reads is dropped. Any other error
//! of stdout is one of the command, for its answer did not arrive.
//!
//! What drivelab says itself is set for the screen ([`text`]); plans, JSON and the layouts of other
//! tools are printed as they are ([`verbatim`]).

use crate::documents::{Document, Reason, Refusal};
use crate::outcome::Failure;
use drivelab_io::ranks::{FinalMessage, Ranks};
use drivelab_io::terminal;
use drivelab_report::{Screen, fitted, harmless, in_ascii};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Columns of a terminal that nobody has asked.
const COLUMNS: usize = 80;
/// What sentences on stderr begin with.
const PREFIX: &str = "drivelab: ";
/// How this process prints; alone, unless `main` has said otherwise.
static OUTPUT: OnceLock<Output> = OnceLock::new();
/// Of several ranks, what this one had to say on stderr, printed or not.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Why stdout did not take results.
static LOST: Mutex<Option<String>> = Mutex::new(None);
/// Why this process could not do what it was asked.
static REASON: Mutex<String> = Mutex::new(String::new());

/// The screen behind stderr; none where nobody looks at it, and its lines are for a log.
static STDERR: OnceLock<Option<Screen>> = OnceLock::new();
/// Whether words are made bold on stdout.
static IS_BOLD: AtomicBool = AtomicBool::new(false);

/// Whether stdout was given anything.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// What a process does with what it has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// There are no others: it is printed.
    Alone,
    /// Rank 0 of several: it is printed, and that of stderr kept until the end, when what the
    /// others had to say is compared with it.
    ForAll,
    /// Another rank: nothing is printed, and that of stderr is kept until the end, for rank 0.
    Silent,
}

impl Output {
    /// That of one of these ranks.
    pub fn of(ranks: Ranks) -> Self {
        match (ranks.is_alone(), ranks.is_rank_0()) {
            (true, _) => Output::Alone,
            (false, true) => Output::ForAll,
            (false, false) => Output::Silent,
        }
    }

    /// That of this process from here on.
    pub fn set(self) {
        // Only `main` sets it, once.
        let _ = OUTPUT.set(self);
    }
}

fn output() -> Output {
    OUTPUT.get().copied().unwrap_or(Output::Alone)
}

/// Looks once at what stands behind stdout and stderr. `COLUMNS` says more than the terminal:
/// somebody has set it.
pub fn look_at_screen() {
    let said = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let asked = said("COLUMNS").and_then(|value| value.trim().parse().ok());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(said);
    let is_ascii = locale.is_some_and(|locale| is_ascii(&locale));
    let columns = asked.or_else(|| terminal::columns(std::io::stdout()));
    Screen::of(columns, is_ascii).set();
    let behind = asked.or_else(|| terminal::columns(std::io::stderr()));
    let screen = (stderr_is_terminal() || asked.is_some()).then(|| Screen::of(behind, is_ascii));
    // Only `main` looks, once.
    let _ = STDERR.set(screen);
    let is_plain = said("NO_COLOR").is_some() || said("TERM").is_none_or(|term| term == "dumb");
    IS_BOLD.store(std::io::stdout().is_terminal() && !is_plain, Ordering::Relaxed);
}

/// Whether stdout is a terminal that can be drawn on.
pub fn has_screen() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal() && !is_dumb
}

/// Whether a locale knows nothing but ASCII: C and POSIX, or a character set that is not UTF-8.
fn is_ascii(locale: &str) -> bool {
    let locale = locale.split('@').next().unwrap_or(locale);
    match locale.split_once('.') {
        Some((_, set)) => !set.replace('-', "").eq_ignore_ascii_case("utf8"),
        None => matches!(locale, "C" | "POSIX"),
    }
}

/// Results in our own words, set for the screen.
pub fn text(text: &str) {
    let set = fitted(&harmless(text), Screen::current().columns);
    match IS_BOLD.load(Ordering::Relaxed) {
        true => bytes(emphasised(&set).as_bytes()),
        false => bytes(set.as_bytes()),
    }
}

/// Results whose lines are somebody else's business: plans, JSON, the layouts of other tools.
pub fn verbatim(text: &str) {
    bytes(harmless(text).as_bytes());
}

/// What must not be overlooked stands in bold: `SUSPECT` and `INCOMPLETE` anywhere, `Beware` and
/// `Suspect` where a paragraph begins with them.
fn emphasised(text: &str) -> String {
    let bold = |word: &str| format!("\x1b[1m{word}\x1b[0m");
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let label = ["Beware", "Suspect"].into_iter().find(|label| line.starts_with(label));
        let rest = label.map_or(line, |label| &line[label.len()..]);
        shown.extend(label.map(bold));
        let rest = rest.replace("SUSPECT", &bold("SUSPECT"));
        shown.push_str(&rest.replace("INCOMPLETE", &bold("INCOMPLETE")));
    }
    shown
}

/// Results that are no text.
pub fn bytes(bytes: &[u8]) {
    if output() == Output::Silent {
        return;
    }
    PRINTED.store(true, Ordering::Relaxed);
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    if let Err(error) = written.as_ref()
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
    }
}

/// Whether stdout has taken all results so far, or nobody reads it.
pub fn is_heard() -> bool {
    LOST.lock().unwrap_or_else(PoisonError::into_inner).is_none()
}

/// Why results could not be printed, if so; told once.
pub fn lost() -> Option<Failure> {
    let error = LOST.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    let text = format!("the results cannot be written to stdout: {error}");
    let advice = "What was measured, if anything, is in the run file: `drivelab report` shows it.";
    Some(Failure::invalid(text).advise(advice))
}

/// One JSON object.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string_pretty(value).map_err(|error| unfit(&error))?;
    verbatim(&escaped(&format!("{line}\n")));
    Ok(())
}

/// The same with the number of its schema.
pub fn document(body: impl Serialize) -> Result<(), Failure> {
    json(&Document::of(body))
}

/// The same on one line, where others follow.
pub fn line(value: impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(&value).map_err(|error| unfit(&error))?;
    verbatim(&escaped(&format!("{line}\n")));
    Ok(())
}

fn unfit(error: &serde_json::Error) -> Failure {
    Failure::invalid(format!("the results cannot be written as JSON: {error}"))
}

/// JSON whose strings hold nothing that steers a terminal, and still the same strings.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match harmless(c.encode_utf8(&mut [0; 4])) {
            same if same.starts_with(c) => text.push(c),
            // All of these are in the basic plane, so that one escape is the whole character.
            _ => text.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    text
}

/// An error or a note.
pub fn error(text: &str) {
    let output = output();
    if output != Output::Alone {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }
    if output != Output::Silent {
        say(text);
    }
}

/// Lines on stderr: set for the screen where there is one, and left whole for a log.
fn say(text: &str) {
    let text = harmless(text);
    let _ = match STDERR.get().copied().flatten() {
        Some(screen) => {
            let text = if screen.is_ascii { in_ascii(&text) } else { text };
            writeln!(std::io::stderr(), "{}", fitted(&text, screen.columns))
        }
        None => writeln!(std::io::stderr(), "{text}"),
    };
}

/// Whether somebody looks at stderr on a terminal.
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether a line of progress is worth its while.
pub fn shows_progress() -> bool {
    output() != Output::Silent && stderr_is_terminal()
}

/// Whether what is said on stderr is this process's to say.
pub fn is_heard_on_stderr() -> bool {
    output() != Output::Silent
}

/// The widest line on stderr.
pub fn stderr_columns() -> usize {
    STDERR.get().copied().flatten().map_or(COLUMNS, |screen| screen.columns)
}

/// A line for who waits: part of no result, and compared with nothing that other ranks say.
pub fn told(line: &str) {
    if is_heard_on_stderr() {
        say(line);
    }
}

/// A line of progress on stderr in the place of the one before it; an empty one takes it away.
pub fn progress(line: &str) {
    // A terminal that went away is no reason to stop measuring.
    let line = harmless(line);
    let is_ascii = STDERR.get().copied().flatten().is_some_and(|screen| screen.is_ascii);
    let line = if is_ascii { in_ascii(&line) } else { line };
    let line: String = line.chars().take(stderr_columns() - 1).collect();
    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
}

/// Why a command could not do what it was asked.
pub fn failure(failure: &Failure) {
    let text = failure.to_string();
    let reason = text.strip_prefix(PREFIX).unwrap_or(&text);
    reason.clone_into(&mut REASON.lock().unwrap_or_else(PoisonError::into_inner));
    error(&text);
}

/// Why a command did nothing, or gave up before it had results; as JSON as well where that was
/// asked for and nothing else stands on stdout.
pub fn refusal(refused: &Failure, as_json: bool) {
    failure(refused);
    if as_json && !PRINTED.load(Ordering::Relaxed) {
        let (text, hint) = refused.parts();
        // Text and numbers always fit.
        let _ = document(Refusal { error: Reason { code: refused.status.code(), text, hint } });
    }
}

/// What is left to say of a process that ends.
pub fn final_message(status: u8) -> FinalMessage {
    let said = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    let reason = std::mem::take(&mut *REASON.lock().unwrap_or_else(PoisonError::into_inner));
    FinalMessage { status, reason, stderr: said.join("\n") }
}

/// Says what only others had to say: lines that are not among the `own` ones.
pub fn others(own: &FinalMessage, others: &[(u32, FinalMessage)]) {
    let mut known: Vec<String> = own.stderr.lines().map(String::from).collect();
    for (rank, message) in others {
        for line in message.stderr.lines() {
            let named = match line.strip_prefix(PREFIX) {
                Some(rest) => format!("{PREFIX}process {rank}: {rest}"),
                None => line.to_owned(),
            };
            if !known.iter().any(|known| known == line || *known == named) {
                say(&named);
                known.push(named);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_that_know_ascii_alone_are_known() {
        for locale in ["C", "POSIX", "de_DE.ISO-8859-1", "de_DE.ISO8859-15@euro"] {
            assert!(is_ascii(locale), "{locale}");
        }
        for locale in ["C.UTF-8", "C.utf8", "en_US.UTF-8", "de_DE.utf8@euro", "en_US"] {
            assert!(!is_ascii(locale), "{locale}");
        }
    }

    #[test]
    fn what_must_not_be_overlooked_is_bold_and_nothing_else() {
        let shown = emphasised("Beware   of\n  Beware\nSuspect  SUSPECT: x\nnot Suspect\n");
        let bold = "\x1b[1mBeware\x1b[0m   of\n  Beware\n\x1b[1mSuspect\x1b[0m  \
                    \x1b[1mSUSPECT\x1b[0m: x\nnot Suspect\n";
        assert_eq!(shown, bold);
    }
}
