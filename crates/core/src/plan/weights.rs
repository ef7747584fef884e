//! Shares and weights: of zones, of sizes, of kinds.

use crate::op::Action;
use crate::units::{Size, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One hot (or cold) zone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the region's addresses, 0 to 1.
    pub addresses: f64,
    /// Share of the accesses, 0 to 1.
    pub accesses: f64,
}

/// A request size and how often it is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// Bytes of the request.
    pub size: Size,
    /// Weight in the draw.
    pub weight: u32,
    /// Only requests of this kind have it; those of every kind if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Action>,
}

/// A probability for each kind of a stream; 0 if absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KindShares {
    /// Of reads.
    pub read: f64,
    /// Of writes.
    pub write: f64,
    /// Of trims.
    pub trim: f64,
}

impl KindShares {
    /// In the order of the kinds.
    pub fn each(&self) -> [f64; 3] {
        [self.read, self.write, self.trim]
    }
}

/// Weights of the kinds in one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mix {
    /// Weight of reads.
    #[serde(skip_serializing_if = "is_default")]
    pub read: u32,
    /// Weight of writes.
    #[serde(skip_serializing_if = "is_default")]
    pub write: u32,
    /// Weight of trims.
    #[serde(skip_serializing_if = "is_default")]
    pub trim: u32,
}

impl Mix {
    /// Reads only.
    pub const READ: Mix = Mix { read: 100, write: 0, trim: 0 };
    /// Writes only.
    pub const WRITE: Mix = Mix { read: 0, write: 100, trim: 0 };

    /// Sum of the weights.
    pub fn total(&self) -> u64 {
        u64::from(self.read) + u64::from(self.write) + u64::from(self.trim)
    }
}
