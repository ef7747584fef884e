//! One request of a trace.

use crate::op::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// When it came, what it was, where. In plans it is one word after the other, `1500 read 4096
/// 8192`: nanoseconds after the first, action, first byte, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Request {
    /// Nanoseconds after the trace began.
    pub at_ns: u64,
    /// Read, write, trim or flush.
    pub action: Action,
    /// First byte; 0 of a flush.
    pub offset: u64,
    /// Bytes; 0 of a flush.
    pub bytes: u32,
}

impl Request {
    /// What a trace can hold.
    pub const ACTIONS: [Action; 4] = [Action::Read, Action::Write, Action::Trim, Action::Flush];

    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.bytes))
    }
}

impl Display for Request {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{} {} {} {}", self.at_ns, self.action.word(), self.offset, self.bytes)
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a traced request; write one as `1500 read 4096 \
                                8192`"
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [at_ns, action, offset, bytes] = words.as_slice() else { return Err(wrong()) };
        let known = Request::ACTIONS.into_iter().find(|known| known.word() == *action);
        Ok(Request {
            at_ns: at_ns.parse().map_err(|_| wrong())?,
            action: known.ok_or_else(wrong)?,
            offset: offset.parse().map_err(|_| wrong())?,
            bytes: bytes.parse().map_err(|_| wrong())?,
        })
    }
}

impl TryFrom<String> for Request {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Request> for String {
    fn from(request: Request) -> String {
        request.to_string()
    }
}
