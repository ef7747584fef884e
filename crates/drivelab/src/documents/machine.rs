//! What is said of this machine.

use drivelab_core::facts::{DeviceFacts, FilesystemFacts, HostFacts};
use drivelab_core::fitness::{Check, Noise};
use drivelab_core::well::DriveHealth;
use drivelab_stats::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Devices and file systems that can be measured.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// Block devices.
    pub devices: Vec<DeviceFacts>,
    /// Mounted file systems that can hold a scratch file.
    pub filesystems: Vec<FilesystemFacts>,
    /// The machine.
    pub host: HostFacts,
}

/// What drives say of themselves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Healths {
    /// Each drive that was named, or all of this machine.
    pub drives: Vec<DriveHealth>,
}

/// Whether this machine is fit to measure.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// The target as typed.
    pub target: String,
    /// One answer for each question.
    pub checks: Vec<Check>,
    /// How the target could be set up.
    pub set_up: Vec<Check>,
    /// Operations a second that one worker issues without a drive; null where there is no rate.
    pub ceiling_iops: Option<Estimate>,
    /// How long the machine took the CPU away.
    pub noise: Option<Noise>,
    /// In one sentence.
    pub verdict: String,
}

/// What became of scratch files that killed runs had left.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cleaned {
    /// Settings of drives that killed runs had changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Restored>,
    /// Files that were removed.
    pub removed: Vec<PathBuf>,
    /// Files of runs that still go on.
    pub in_use: Vec<PathBuf>,
    /// Files that were left.
    pub left: Vec<Left>,
}

/// A setting that a killed run had changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Restored {
    /// What became of it, in a sentence.
    pub text: String,
    /// Whether it is again what it was.
    pub restored: bool,
}

/// A file that was left as it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Left {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}
