//! What a step without streams does.

use super::QueueSetting;
use crate::units::{Size, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a step without streams does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Act {
    /// Waits.
    Idle(Span),
    /// Writes back and drops the page cache of the target's files.
    DropCaches,
    /// Discards a range of the target in one call.
    Trim {
        /// First byte.
        offset: Size,
        /// Bytes; all to the end if absent.
        length: Option<Size>,
    },
    /// Has the drive forget everything, by a command of its own.
    Purge(Purge),
    /// Turns the drive's volatile write cache on or off until the run ends.
    WriteCache(Switch),
    /// Makes a file system on the whole device; what was on it is lost.
    Mkfs(FileSystem),
    /// From here on streams and acts go to files in a file system on the device.
    Mount(Mount),
    /// From here on they go to the device itself again; where the files lie on it is recorded.
    Unmount,
    /// Has the file system set aside the blocks of the target's files, unwritten.
    Allocate,
    /// Sets the kernel's queue in front of the drive until the run ends, or until it is set back.
    Queue {
        /// What is set.
        setting: QueueSetting,
        /// To what, in the kernel's word.
        value: String,
    },
    /// Looks for files in the target directory and in all that are below it; opens none of them.
    Find(Find),
}

/// Which files are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Find {
    /// What stands somewhere in the name.
    pub name: String,
    /// Bytes that the file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// Its inode changed no earlier than this, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_from_ns: Option<u64>,
    /// Processes that take part; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
}

/// What looking for files came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Files that were looked for.
    pub matched: u64,
    /// All that were met; a directory is none.
    pub total: u64,
}

/// File systems that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileSystem {
    /// XFS.
    Xfs,
    /// Ext4.
    Ext4,
    /// Ext4 that is told how the device below spreads its data.
    Ext4Striped(Stripe),
}

/// What ext4 is told of an array, in blocks of 4 KiB; it changes where files are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stripe {
    /// Blocks of one member before the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<u32>,
    /// Blocks of data of all members before the first one again.
    pub stripe_width: u32,
}

impl FileSystem {
    /// The word it is asked for by.
    pub fn word(self) -> &'static str {
        match self {
            FileSystem::Xfs => "xfs",
            FileSystem::Ext4 | FileSystem::Ext4Striped(_) => "ext4",
        }
    }
}

/// Which files are used in a file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mount {
    /// How many; they are made where they are not there yet.
    pub files: u32,
    /// Bytes of each.
    pub bytes: Size,
    /// A directory in a file system that is mounted already; absent: the device is mounted at a
    /// place of drivelab's own, which no one else sees, until the next unmount or the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl Switch {
    /// The word it is asked for by.
    pub fn word(self) -> &'static str {
        if self == Switch::On { "on" } else { "off" }
    }
}

/// Commands that make a drive forget all it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// NVMe Format NVM with user data erase (NVM Command Set 1.0, 5.14 of the base specification).
    NvmeFormat,
    /// NVMe Sanitize, block erase.
    NvmeSanitize,
    /// ATA SECURITY ERASE UNIT, after setting a password (ATA Command Set 4, 7.45).
    AtaSecureErase,
}

impl Purge {
    /// All of them, with the words they are asked for by.
    pub const ALL: [(Purge, &'static str); 3] = [
        (Purge::NvmeFormat, "nvme-format"),
        (Purge::NvmeSanitize, "nvme-sanitize"),
        (Purge::AtaSecureErase, "ata-secure-erase"),
    ];

    /// The word it is asked for by.
    pub fn word(self) -> &'static str {
        Purge::ALL.iter().find(|(purge, _)| *purge == self).map_or("", |(_, word)| word)
    }
}
