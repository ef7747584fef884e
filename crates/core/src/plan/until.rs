//! When a step ends.

use super::{Level, RateMin};
use crate::units::{Size, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first bound reached ends each stream; all are per stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Until {
    /// Time after the ramp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<Span>,
    /// Operations issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Bytes issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// Times the bytes of the region were issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u64>,
    /// The rate has settled, by two turns of the region: the step is done in rounds of an eighth of
    /// it, one repetition each, and another bound says when to give up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub steady: bool,
    /// What each worker of this stream of the step before, counted from 0, wrote until it ended:
    /// a step whose end the plan does not tell is read back as far as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_by: Option<u32>,
    /// The first worker that ends stops the others of its stream.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stonewall: bool,
    /// The first worker that ends stops all others of the step.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends_all: bool,
    /// Whose time is over waits for the other workers of its stream, and then does as many
    /// operations as the one that did most: what parallel file systems call a stonewall that is
    /// worn out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wear_out: bool,
    /// The rate of the last seconds has become level; another bound says when to give up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The least rates of each worker: one that falls below ends there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_min: Option<RateMin>,
}
