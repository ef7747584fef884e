//! What a drive keeps of what happened to it (NVMe: the persistent event log).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of events that an owner wants to know of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// An error of its hardware or of its link.
    HardwareError,
    /// Its temperature crossed a threshold.
    ThermalExcursion,
    /// What a sanitize left is read to verify it; how that ends is another event.
    MediaVerification,
    /// A format of a namespace began.
    FormatStart,
    /// A format of a namespace ended.
    FormatEnd,
    /// A sanitize began.
    SanitizeStart,
    /// A sanitize ended.
    SanitizeEnd,
    /// Firmware was put in place.
    FirmwareCommit,
    /// A namespace was made, changed or deleted.
    NamespaceChange,
    /// It was turned on or reset.
    PowerOnOrReset,
}

impl EventKind {
    /// Its name for one and for several.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            EventKind::HardwareError => ("hardware error", "hardware errors"),
            EventKind::ThermalExcursion => ("thermal excursion", "thermal excursions"),
            EventKind::MediaVerification => ("media verification", "media verifications"),
            EventKind::FormatStart => ("format begun", "formats begun"),
            EventKind::FormatEnd => ("format ended", "formats ended"),
            EventKind::SanitizeStart => ("sanitize begun", "sanitizes begun"),
            EventKind::SanitizeEnd => ("sanitize ended", "sanitizes ended"),
            EventKind::FirmwareCommit => ("firmware commit", "firmware commits"),
            EventKind::NamespaceChange => ("namespace change", "namespace changes"),
            EventKind::PowerOnOrReset => ("power-on or reset", "power-ons or resets"),
        }
    }
}

/// An event that a drive keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriveEvent {
    /// Its kind.
    pub kind: EventKind,
    /// When it was, in milliseconds since 1970; absent where the drive did not know the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// What it was, in words.
    pub what: String,
}

/// How many events of a kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventCount {
    /// The kind.
    pub kind: EventKind,
    /// How many.
    pub count: u64,
}

/// The log of events of a drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventLog {
    /// Events of all kinds that it keeps.
    pub kept: u64,
    /// Times that it was turned on.
    pub power_cycles: u64,
    /// Hours under power.
    pub power_on_hours: u64,
    /// The drive's own clock when it was asked, in milliseconds since 1970; absent where it does
    /// not know the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at_ms: Option<u64>,
    /// Whether all of it was read: only the beginning of a very long one is.
    pub is_whole: bool,
    /// How many there are of each kind that matters to its owner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<EventCount>,
    /// The newest of these, the newest first; at most eight, and of those of power-on or reset only
    /// the newest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newest: Vec<DriveEvent>,
}
