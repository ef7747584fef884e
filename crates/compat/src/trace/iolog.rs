//! fio's iolog in text, versions 2 and 3 (fio documentation, "Trace file format").
//!
//! Version 2 has lines of `FILE ACTION [OFFSET LENGTH]`, with times only as `wait` actions, each
//! relative to the one before; version 3 puts microseconds before every line.

use super::{Place, Trace, TraceError};
use drivelab_core::op::Action;
use drivelab_core::plan::Request;

const BEGINS: &[u8] = b"fio version ";

pub fn is_one(data: &[u8]) -> bool {
    data.starts_with(BEGINS)
}

/// What a line tells.
enum Line<'a> {
    /// Nothing to replay.
    Nothing,
    /// Microseconds until what follows.
    Wait(u64),
    Request(&'a str, Request),
}

pub fn parse(data: &[u8]) -> Result<Trace, TraceError> {
    let text = std::str::from_utf8(data).map_err(|error| {
        let before = &data[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        at(line, "not UTF-8 text".into())
    })?;
    let mut lines = (1..).zip(text.lines());
    let head = lines.next().map_or("", |(_, head)| head.trim());
    let (format, is_timed) = match head {
        "fio version 2 iolog" => ("fio iolog, version 2", false),
        "fio version 3 iolog" => ("fio iolog, version 3", true),
        _ => return Err(at(1, format!("`{head}`: only versions 2 and 3 are known"))),
    };
    let mut trace = Trace { format, requests: Vec::new(), is_timed, file: None };
    let (mut now_us, mut only_file) = (0u64, None);
    for (number, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let (at_us, words) = match is_timed {
            true => (number_of(words[0], "a time in microseconds", number)?, &words[1..]),
            false => (now_us, words.as_slice()),
        };
        match line_of(words, number)? {
            Line::Nothing => {}
            Line::Wait(_) if is_timed => {
                return Err(at(number, "version 3 has times, and no `wait`".into()));
            }
            Line::Wait(microseconds) => {
                trace.is_timed = true;
                now_us = now_us.saturating_add(microseconds);
            }
            Line::Request(file, request) => {
                let known = *only_file.get_or_insert(file);
                if known != file {
                    return Err(at(
                        number,
                        format!(
                            "`{file}` after `{known}`: a trace of one file is replayed; split it"
                        ),
                    ));
                }
                let at_ns = at_us.checked_mul(1000);
                let at_ns = at_ns.ok_or_else(|| at(number, "a time beyond all years".into()))?;
                trace.requests.push(Request { at_ns, ..request });
            }
        }
    }
    trace.file = only_file.map(str::to_owned);
    match trace.requests.is_empty() {
        true => Err(at(text.lines().count().max(1), "ends without a request".into())),
        false => Ok(trace),
    }
}

fn line_of<'a>(words: &[&'a str], number: usize) -> Result<Line<'a>, TraceError> {
    let (file, action, rest) = match words {
        [file, action, rest @ ..] => (*file, *action, rest),
        _ => return Err(at(number, "a line has a file and an action".into())),
    };
    let action = match action {
        "add" | "open" | "close" => return Ok(Line::Nothing),
        "read" => Action::Read,
        "write" => Action::Write,
        "trim" => Action::Trim,
        "sync" | "datasync" | "sync_file_range" => Action::Flush,
        "wait" => {
            let microseconds = rest.first().copied().unwrap_or("");
            return number_of(microseconds, "microseconds to wait", number).map(Line::Wait);
        }
        other => return Err(at(number, format!("`{other}` is not an action of an iolog"))),
    };
    if action == Action::Flush {
        let request = Request { at_ns: 0, action, offset: 0, bytes: 0 };
        return Ok(Line::Request(file, request));
    }
    let [offset, bytes] = rest else {
        return Err(at(number, format!("`{}` needs an offset and a length", action.word())));
    };
    let offset = number_of(offset, "an offset in bytes", number)?;
    let bytes = number_of(bytes, "a length in bytes", number)?;
    let is_inside = offset.checked_add(bytes).is_some();
    let bytes = u32::try_from(bytes).ok().filter(|bytes| *bytes > 0 && is_inside);
    let bytes = bytes.ok_or_else(|| at(number, "a length of 1 byte to 4 GiB is needed".into()))?;
    Ok(Line::Request(file, Request { at_ns: 0, action, offset, bytes }))
}

fn number_of(word: &str, what: &str, line: usize) -> Result<u64, TraceError> {
    word.parse().map_err(|_| at(line, format!("`{word}` is not {what}")))
}

fn at(line: usize, text: String) -> TraceError {
    TraceError { place: Place::Line(line), text }
}
