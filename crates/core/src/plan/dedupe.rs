//! Written requests that repeat others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A share of the written requests repeats others, which a drive that looks for such stores once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dedupe {
    /// How many of a hundred, by chance.
    pub percent: u32,
    /// What is repeated is one of the first so many that repeat nothing; absent: the latest of
    /// those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// These first ones are those of several workers; absent: of each its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<DedupeShare>,
}

/// Workers of one or several streams that repeat each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DedupeShare {
    /// How many there are in the plan.
    pub workers: u32,
    /// Which of them the first worker of this stream is, from 0.
    pub first: u32,
}
