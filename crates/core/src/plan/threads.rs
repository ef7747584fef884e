//! What the kernel is told of the threads that do the I/O.

use crate::op::Action;
use crate::units::{Size, is_default};
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
    /// Hint to the drive, such as the number of a command duration limit: 0, none, to 1023.
    #[serde(skip_serializing_if = "is_default")]
    pub hint: u16,
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

/// Requests that have a priority of their own, which goes to the kernel with each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestPriority {
    /// Reads or writes.
    pub action: Action,
    /// Those of this size; of every size if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// How many of them have it, drawn at random; in percent.
    pub percent: u32,
    /// Which one.
    pub priority: IoPriority,
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
    /// The largest hint.
    pub const HINT_MAX: u16 = 1023;

    /// The number that the kernel takes: the class above thirteen bits, the hint above three, and
    /// the level.
    pub fn number(self) -> u16 {
        let class = match self.class {
            IoClass::Realtime => 1,
            IoClass::BestEffort => 2,
            IoClass::Idle => 3,
        };
        class << 13 | self.hint.min(IoPriority::HINT_MAX) << 3 | u16::from(self.level & 7)
    }

    /// The priority that has this number; `None` where that has no class: it is that of the thread.
    pub fn of_number(number: u16) -> Option<IoPriority> {
        let class = match number >> 13 {
            1 => IoClass::Realtime,
            2 => IoClass::BestEffort,
            3 => IoClass::Idle,
            _ => return None,
        };
        let hint = number >> 3 & IoPriority::HINT_MAX;
        Some(IoPriority { class, level: (number & 7) as u8, hint })
    }

    /// As it is printed: `realtime 0`, with its hint if it has one.
    pub fn words(self) -> String {
        let class = match self.class {
            IoClass::Realtime => "realtime",
            IoClass::BestEffort => "best effort",
            IoClass::Idle => "idle",
        };
        match self.hint {
            0 => format!("{class} {}", self.level),
            hint => format!("{class} {}, hint {hint}", self.level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_the_kernel_is_read_as_it_is_made() {
        for class in [IoClass::Realtime, IoClass::BestEffort, IoClass::Idle] {
            for (level, hint) in [(0, 0), (7, 0), (3, 1), (7, 1023)] {
                let priority = IoPriority { class, level, hint };
                assert_eq!(IoPriority::of_number(priority.number()), Some(priority));
            }
        }
        assert_eq!(IoPriority { hint: 2, ..IoPriority::default() }.number(), 2 << 13 | 16);
        assert_eq!([0, 7, 0x8001].map(IoPriority::of_number), [None; 3]);
    }
}
