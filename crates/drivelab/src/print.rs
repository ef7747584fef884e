//! The only place that writes to stdout and stderr (the progress line apart).
//!
//! Of several processes the first one speaks for all.
//!
//! A reader that goes away (`| head`) is no error: what nobody reads is dropped.

use crate::outcome::Failure;
use drivelab_io::team::team;
use serde::Serialize;
use std::io::Write;

/// Results.
pub fn text(text: &str) {
    if !team().leads() {
        return;
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// One JSON object.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut line = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::invalid(format!("the results fit no JSON: {error}")))?;
    line.push('\n');
    text(&line);
    Ok(())
}

/// An error or a note.
pub fn error(text: &str) {
    if !team().leads() {
        return;
    }
    let _ = writeln!(std::io::stderr(), "{text}");
}
