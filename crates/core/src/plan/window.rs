//! A part of the region that a stream keeps to for a while, before it moves on.

use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the region that a stream keeps to for a while, before it moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Bytes of the part.
    pub size: Size,
    /// Bytes moved within it before the stream moves on; as many as it has if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// From its first byte to that of the next; as far as it is long if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Size>,
}

impl Window {
    /// Bytes moved before it moves on.
    pub fn moved(&self) -> u64 {
        self.bytes.unwrap_or(self.size).0
    }

    /// Bytes by which it moves on.
    pub fn step(&self) -> u64 {
        self.step.unwrap_or(self.size).0
    }

    /// How many lie whole in a region of `bytes`.
    pub fn count(&self, bytes: u64) -> u64 {
        let rest = bytes.checked_sub(self.size.0);
        rest.map_or(0, |rest| rest / self.step().max(1) + 1)
    }
}
