//! What a study is asked for, and what it may prove of a drive's state on its way.

use crate::plan::Purge;
use crate::units::{Size, Span};
use serde::{Deserialize, Serialize};

/// How thorough a study is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// At most five minutes and 10 GiB.
    Quick,
    /// As much as most questions need.
    #[default]
    Default,
    /// As the method asks for, however long it takes.
    Full,
}

/// How a study may empty the drive first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Emptying {
    /// Discards all of it (BLKDISCARD).
    #[default]
    Discard,
    /// Takes it as it is.
    None,
    /// Has the drive purge itself.
    #[serde(untagged)]
    Purge(Purge),
}

/// Everything that decides what a study does, besides the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyOptions {
    /// Which study.
    pub name: String,
    /// How thorough.
    pub scale: Scale,
    /// Everything random derives from it.
    pub seed: u64,
    /// Most bytes that may be written.
    pub budget: Size,
    /// Most time that steps may take together.
    pub time: Span,
    /// The share by which a value may change and still count as unchanged, declared beforehand.
    pub delta: f64,
    /// How the drive is emptied.
    pub emptying: Emptying,
    /// CPUs the workers may use; empty: any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpus: String,
    /// Bytes of the data file or device.
    pub bytes: u64,
}

/// A state that was proved by what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Established {
    /// The state, in a word of the contract.
    pub state: String,
    /// The evidence, in a sentence.
    pub because: String,
}
