//! A rate that has become level, as a bound of a step.

use crate::op::SECOND;
use crate::units::{Span, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rate of each second of a sliding window is compared with their mean, or their best line
/// against the horizontal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// What is counted each second.
    pub of: Rate,
    /// What must fall below the limit.
    pub by: Unevenness,
    /// The limit, in operations or bytes a second or nanoseconds, or in percent of the mean.
    pub limit: f64,
    /// The limit is in percent of the window's mean.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub percent: bool,
    /// Length of the window; whole seconds count.
    pub window: Span,
    /// What is taken for a second: as long as each of the values of a window.
    #[serde(default = "one_second", skip_serializing_if = "is_one_second")]
    pub every: Span,
    /// Time after the ramp before the first window begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after: Span,
    /// Workers of the step with the same number are judged and end together; absent: each by
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

fn one_second() -> Span {
    Span(SECOND)
}

fn is_one_second(span: &Span) -> bool {
    *span == one_second()
}

/// What is counted each second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Operations.
    #[default]
    Operations,
    /// Bytes.
    Bytes,
    /// Nanoseconds from issue to completion, the mean of its reads, writes and trims.
    Latency,
}

/// What tells a window that is level from one that is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unevenness {
    /// The largest distance of a second from their mean.
    #[default]
    Deviation,
    /// The slope of the best line through the seconds, per second, by least squares.
    Slope,
}
