//! Settings of the kernel's queue in front of a drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting, by the name of its file in `/sys/block/NAME/queue` (kernel document
/// `Documentation/ABI/stable/sysfs-block`).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum QueueSetting {
    /// Who decides which request goes next.
    Scheduler,
    /// On which CPU a request ends: 0 any, 1 in the group of the one that issued it, 2 that very
    /// one.
    RqAffinity,
    /// Most KiB that a buffered reader is read ahead.
    ReadAheadKb,
}

impl QueueSetting {
    /// Every setting, in the order of the reports.
    pub const ALL: [QueueSetting; 3] =
        [QueueSetting::Scheduler, QueueSetting::RqAffinity, QueueSetting::ReadAheadKb];

    /// The name of its file.
    pub fn word(self) -> &'static str {
        match self {
            QueueSetting::Scheduler => "scheduler",
            QueueSetting::RqAffinity => "rq_affinity",
            QueueSetting::ReadAheadKb => "read_ahead_kb",
        }
    }

    /// What the kernel in front of a simulated drive offers; the first is what it begins with.
    pub fn simulated(self) -> &'static [&'static str] {
        match self {
            QueueSetting::Scheduler => &["none", "mq-deadline", "kyber", "bfq"],
            QueueSetting::RqAffinity => &["1", "0", "2"],
            QueueSetting::ReadAheadKb => &["128", "0", "1024"],
        }
    }
}

/// A setting that was changed, as it was read before and afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    /// Kernel name of the device.
    pub device: String,
    /// The setting.
    pub setting: QueueSetting,
    /// What it was just before.
    pub before: String,
    /// What it was just afterwards.
    pub after: String,
}
