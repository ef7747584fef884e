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

use crate::outcome::Failure;
use drivelab_core::summary::SCHEMA;
use drivelab_io::ranks::{FinalMessage, Ranks};
use drivelab_report::harmless;
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// Whether stdout was given anything.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// What a process does with what it has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// There are no others: it is printed.
    Alone,
    /// Rank 0 of several: it is printed, and that of stderr kept until the end, when what the
    /// others had to say is held against it.
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

/// Results.
pub fn text(text: &str) {
    bytes(harmless(text).as_bytes());
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
    let mut line = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::invalid(format!("the results fit no JSON: {error}")))?;
    line.push('\n');
    text(&escaped(&line));
    Ok(())
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
        let _ = writeln!(std::io::stderr(), "{}", harmless(text));
    }
}

/// Whether somebody looks at stderr on a terminal.
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether a line of progress is worth its while.
pub fn shows_progress() -> bool {
    output() != Output::Silent && stderr_is_terminal()
}

/// A line of progress on stderr in the place of the one before it; an empty one takes it away.
pub fn progress(line: &str) {
    // A terminal that went away is no reason to stop measuring.
    let _ = write!(std::io::stderr(), "\r\x1b[K{}", harmless(line));
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
        let error =
            serde_json::json!({ "code": refused.status.code(), "text": text, "hint": hint });
        // Text and numbers always fit.
        let _ = json(&serde_json::json!({ "schema": SCHEMA, "error": error }));
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
                let _ = writeln!(std::io::stderr(), "{}", harmless(&named));
                known.push(named);
            }
        }
    }
}
