//! What a study is asked for, and what it may prove of a drive's state on its way.

use crate::plan::{FileSystem, Purge, Stripe, Switch};
use crate::price::Price;
use crate::units::{Size, Span, is_default};
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

/// SNIA's two profiles (PTS 2.0.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The whole drive, write cache off, four workers of 32.
    #[default]
    Enterprise,
    /// Three quarters of the drive, write cache on, two workers of 16.
    Client,
}

impl Profile {
    /// Whether it is the one that is followed unless said otherwise.
    pub fn is_enterprise(&self) -> bool {
        *self == Profile::Enterprise
    }

    /// What the drive's volatile write cache has to be.
    pub fn write_cache(self) -> Switch {
        if self.is_enterprise() { Switch::Off } else { Switch::On }
    }
}

/// Loads that `steady` and `fs` follow in the place of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Those of the review of the PBlaze5 C916 behind XFS: 128 KiB in order, 256 at once; 4 KiB at
    /// random by eight jobs of 64.
    Pblaze5,
}

/// What may be tried to bring back what a torture took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// The drive is left alone.
    Idle,
    /// All of it is trimmed.
    Trim,
    /// It purges itself, by the command that `--purge` names.
    Purge,
}

impl Leg {
    /// All of them, with the words they are asked for by.
    pub const ALL: [(Leg, &'static str); 3] =
        [(Leg::Idle, "idle"), (Leg::Trim, "trim"), (Leg::Purge, "purge")];

    /// The word it is asked for by.
    pub fn word(self) -> &'static str {
        Leg::ALL.iter().find(|(leg, _)| *leg == self).map_or("", |(_, word)| word)
    }
}

/// What the study `torture` alone is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TortureOptions {
    /// Times that the drive is measured, tortured and measured again.
    pub cycles: u64,
    /// What is tried afterwards, in this order.
    #[serde(default)]
    pub legs: Vec<Leg>,
}

impl Default for TortureOptions {
    fn default() -> Self {
        TortureOptions { cycles: 1, legs: Vec::new() }
    }
}

/// What the study `fs` alone is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystemOptions {
    /// Makes this one on the device.
    pub make: Option<FileSystem>,
    /// Makes it both plain and told of these stripes, and compares the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Stripe>,
    /// Uses the one that this directory lies in.
    pub directory: Option<String>,
}

/// What else uses the drive in the study `under`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbour {
    /// A database under short transactions.
    #[default]
    Oltp,
    /// A table that is loaded.
    Import,
}

impl Neighbour {
    /// All of them, with the words they are asked for by.
    pub const ALL: [(Neighbour, &'static str); 2] =
        [(Neighbour::Oltp, "oltp"), (Neighbour::Import, "import")];

    /// The word it is asked for by.
    pub fn word(self) -> &'static str {
        Neighbour::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
    }
}

/// What the study `under` alone is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderOptions {
    /// Who else uses the drive.
    pub load: Neighbour,
    /// Its operations a second; `None`: those of its model.
    #[serde(default)]
    pub rate: Option<u32>,
}

/// What `accept` alone is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AcceptOptions {
    /// The claims, as they were read (TOML).
    pub spec: String,
    /// Lays out the whole target first, for it is a file that drivelab made.
    pub lays_out: bool,
}

/// Everything that decides what a study does, besides the target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyOptions {
    /// Which study.
    pub name: String,
    /// How thorough.
    pub scale: Scale,
    /// Everything random derives from it.
    pub seed: u64,
    /// Most bytes that may be written.
    pub budget: Size,
    /// Most time that steps may take together; 0: as long as they take.
    pub time: Span,
    /// The share by which a value may change and still count as unchanged, declared beforehand.
    pub delta: f64,
    /// How the drive is emptied.
    pub emptying: Emptying,
    /// CPUs the workers may use; empty: any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpus: String,
    /// Which of SNIA's two profiles its tests follow.
    #[serde(default, skip_serializing_if = "Profile::is_enterprise")]
    pub profile: Profile,
    /// What the drive's volatile write cache is set to while the study lasts; `None`: left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<Switch>,
    /// Bytes that the drive's maker promises it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<Size>,
    /// Bytes that a day of use writes; `None`: the drive once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<Size>,
    /// Bytes of the data file or device.
    pub bytes: u64,
    /// What `fs` alone is asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_system: FileSystemOptions,
    /// What `torture` alone is asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub torture: TortureOptions,
    /// What `under` alone is asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub under: UnderOptions,
    /// What `accept` alone is asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub accept: AcceptOptions,
    /// `patterns`: operations a second, and no ratios.
    #[serde(default, skip_serializing_if = "is_default")]
    pub absolute: bool,
    /// `apps`: the target that the others are compared with, as typed; absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What this target costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// `modes`: the table of an article, direct against buffered at depth 64, and nothing else.
    #[serde(default, skip_serializing_if = "is_default")]
    pub article: bool,
    /// `steady`: whose loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// `check`: nothing is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_only: bool,
    /// `check`: the uses that were asked for by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
}

/// A state that was proved by what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Established {
    /// The state, in a word of the contract.
    pub state: String,
    /// The evidence, in a sentence.
    pub because: String,
}
