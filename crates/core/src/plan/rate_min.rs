//! Rates that each worker must keep, as a bound of a step.

use super::Rate;
use crate::op::{Action, SECOND};
use crate::units::{Span, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A worker whose rate falls below ends there: what it did is kept, and the step says that it ended
/// because of that. A kind of which it has done nothing yet is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateMin {
    /// What is counted: operations or bytes.
    #[serde(default)]
    pub of: Rate,
    /// The least number of reads, or of bytes read, each second; 0: any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read: u64,
    /// The same of writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write: u64,
    /// The same of trims.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trim: u64,
    /// Over how long the rate is taken, up to the completion that follows.
    #[serde(default = "one_second", skip_serializing_if = "is_one_second")]
    pub every: Span,
    /// Time after the ramp before the first such window begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after: Span,
}

impl RateMin {
    /// The kinds whose rates can be asked for.
    pub const KINDS: [Action; 3] = [Action::Read, Action::Write, Action::Trim];

    /// The least rates, in the order of [`RateMin::KINDS`].
    pub fn least(&self) -> [u64; 3] {
        [self.read, self.write, self.trim]
    }
}

/// What a worker did each second, of the kinds of which that was too little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BelowRate {
    /// Reads, or bytes read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Writes, or bytes written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<u64>,
    /// Trims, or bytes trimmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<u64>,
}

impl BelowRate {
    /// In the order of [`RateMin::KINDS`].
    pub fn rates(&self) -> [Option<u64>; 3] {
        [self.read, self.write, self.trim]
    }
}

fn one_second() -> Span {
    Span(SECOND)
}

fn is_one_second(span: &Span) -> bool {
    *span == one_second()
}
