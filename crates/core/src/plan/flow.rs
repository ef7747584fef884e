//! Streams that keep their operations in a ratio.

use super::is_zero_span;
use crate::units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The share that each worker of a stream has in the operations of its group: its weight among
/// those of all workers of the step's streams with the same `group` that still run. Who has had
/// more than its share waits for the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Operations of each worker, as a multiple of those of a worker of weight 1.
    pub weight: u32,
    /// Which streams belong together.
    #[serde(default)]
    pub group: u32,
    /// How long it waits before it looks again; as soon as it can if 0.
    #[serde(default, skip_serializing_if = "is_zero_span")]
    pub pause: Span,
}
