//! How often a running step is written down.

use crate::units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The length of a recording interval; 1 s unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Interval(pub Span);

impl Default for Interval {
    fn default() -> Self {
        Interval(Span(1_000_000_000))
    }
}

impl Interval {
    pub(super) fn is_default(&self) -> bool {
        *self == Interval::default()
    }
}
