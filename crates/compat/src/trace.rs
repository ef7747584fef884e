//! Traces of block I/O that other tools recorded: which requests came when.
//!
//! Both formats are told by their first bytes. What is no request (opening a file, a message, a
//! merge) is left out; what is a request and cannot be replayed is an error with its place.

mod blktrace;
mod iolog;

use drivelab_core::op::Action;
use drivelab_core::plan::{Mix, Request, WeightedSize};
use drivelab_core::units::Size;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// The requests of a trace in the order of their times; the first comes at 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// `fio iolog, version 3` or `blktrace`.
    pub format: &'static str,
    /// At least one.
    pub requests: Vec<Request>,
    /// Whether it says when they came.
    pub is_timed: bool,
    /// The file that an iolog names.
    pub file: Option<String>,
}

/// Where a trace goes wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// The place.
    pub place: Place,
    /// What is wrong there.
    pub text: String,
}

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line of a text, from 1.
    Line(usize),
    /// Byte of a file, from 0.
    Byte(usize),
}

impl Display for TraceError {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line) => write!(to, "line {line}: {}", self.text),
            Place::Byte(byte) => write!(to, "byte {byte}: {}", self.text),
        }
    }
}

impl Trace {
    /// The first byte behind all of them: what the target must have.
    pub fn end(&self) -> u64 {
        self.requests.iter().map(Request::end).max().unwrap_or(0)
    }

    /// How many of one kind.
    pub fn count(&self, action: Action) -> usize {
        self.requests.iter().filter(|request| request.action == action).count()
    }

    /// How many there are of each kind that moves or discards data.
    pub fn mix(&self) -> Mix {
        let count = |action| u32::try_from(self.count(action)).unwrap_or(u32::MAX);
        let [read, write, trim] = [Action::Read, Action::Write, Action::Trim].map(count);
        Mix { read, write, trim }
    }

    /// How many there are of each size.
    pub fn sizes(&self) -> Vec<WeightedSize> {
        let mut sizes = BTreeMap::new();
        for request in self.requests.iter().filter(|request| request.bytes > 0) {
            *sizes.entry(request.bytes).or_insert(0u32) += 1;
        }
        let weighted =
            |(size, weight)| WeightedSize { size: Size(u64::from(size)), weight, kind: None };
        sizes.into_iter().map(weighted).collect()
    }
}

/// Reads a trace of either format.
///
/// # Errors
/// It is of no known format, breaks off, contradicts itself, or holds no request.
pub fn parse(data: &[u8]) -> Result<Trace, TraceError> {
    let trace = match () {
        () if iolog::is_one(data) => iolog::parse(data)?,
        () if blktrace::is_one(data) => blktrace::parse(data)?,
        () => {
            return Err(TraceError {
                place: Place::Byte(0),
                text: "neither an iolog of fio (it begins with `fio version 2 iolog` or 3) nor a \
                       blktrace (magic number 0x65617407)"
                    .into(),
            });
        }
    };
    Ok(from_the_first(trace))
}

/// In the order of time, from the first request on. Those of one time keep their order.
fn from_the_first(mut trace: Trace) -> Trace {
    trace.requests.sort_by_key(|request| request.at_ns);
    let first = trace.requests.first().map_or(0, |request| request.at_ns);
    for request in &mut trace.requests {
        request.at_ns -= first;
    }
    trace
}
