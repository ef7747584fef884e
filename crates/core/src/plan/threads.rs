//! What the kernel is told of the threads that do the I/O.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What each worker tells the kernel of its thread before it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadSettings {
    /// Priority of its I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_priority: Option<IoPriority>,
    /// Nice value, -20 to 19 (setpriority(2)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i8>,
    /// NUMA nodes whose CPUs it may use, such as `0-1`; all if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cpu_nodes: String,
    /// Where its memory comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryPolicy>,
}

/// The priority of I/O (ioprio_set(2)), which a scheduler of the kernel may heed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IoPriority {
    /// Which class.
    pub class: IoClass,
    /// Level in the class: 0, the highest, to 7.
    pub level: u8,
}

/// Classes of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// Before all others.
    Realtime,
    /// As processes have it.
    #[default]
    BestEffort,
    /// When nobody else asks.
    Idle,
}

/// Where memory comes from (set_mempolicy(2)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPolicy {
    /// In which way.
    pub mode: MemoryMode,
    /// From which NUMA nodes, such as `0-1`; none for `local`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub nodes: String,
}

/// Ways of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryMode {
    /// From these nodes alone.
    Bind,
    /// From this node as long as it has some.
    Prefer,
    /// From these nodes in turn.
    Interleave,
    /// From the node on whose CPU it runs.
    Local,
}

impl IoPriority {
    /// The least urgent level.
    pub const LEVEL_MAX: u8 = 7;

    /// The number that the kernel takes: the class above thirteen bits, and the level.
    pub fn number(self) -> i32 {
        let class = match self.class {
            IoClass::Realtime => 1,
            IoClass::BestEffort => 2,
            IoClass::Idle => 3,
        };
        class << 13 | i32::from(self.level)
    }
}
