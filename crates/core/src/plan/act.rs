//! What a step without streams does.

use crate::units::{Size, Span};
use serde::{Deserialize, Serialize};

/// What a step without streams does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
