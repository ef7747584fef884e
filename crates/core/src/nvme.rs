//! What NVMe drives say of a namespace and of themselves, as plain data.
//!
//! Each field names where the NVM Express Base Specification 2.0c or the NVM Command Set
//! Specification 1.0c has it. What a drive was not asked for is `None`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an NVMe drive says of one of its namespaces, and of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NvmeFacts {
    /// IEEE Extended Unique Identifier of the namespace (EUI64), as 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eui64: Option<String>,
    /// Globally unique identifier of the namespace (NGUID), as 32 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nguid: Option<String>,
    /// UUID of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Formats of blocks that it offers (LBAF0 to LBAF63 of Identify Namespace).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_formats: Vec<BlockFormat>,
    /// Type of the protection information that the namespace is formatted with (DPS, bits 2:0);
    /// 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection_type: Option<u8>,
    /// What it writes as a whole or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_writes: Option<AtomicWrites>,
    /// Whether it changes its power state by itself (APST: APSTA of Identify Controller, feature
    /// 0Ch).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apst: Option<Apst>,
    /// Whether it takes hints where to put data (Flexible Data Placement: CTRATT, bit 19).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places_data: Option<bool>,
    /// Words of `--purge` for the commands that can empty it: those that Identify Controller says
    /// it knows, and that are on its own list (log page 05h) where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purges: Option<Vec<String>>,
}

/// A format that the blocks of a namespace may have (NVM Command Set Specification, figure "LBA
/// Format Data Structure").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockFormat {
    /// Its number, which a format names.
    pub number: u32,
    /// Bytes of data in a block.
    pub data_bytes: u64,
    /// Bytes of metadata that come with a block.
    pub metadata_bytes: u32,
    /// How fast the drive says it is next to the others.
    pub performance: Performance,
    /// Whether the namespace has it now (FLBAS).
    pub is_in_use: bool,
}

/// How fast a format is next to the others of the drive (RP).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Performance {
    /// 00b.
    Best,
    /// 01b.
    Better,
    /// 10b.
    Good,
    /// 11b.
    Degraded,
}

impl Performance {
    /// As the specification calls it.
    pub fn word(self) -> &'static str {
        match self {
            Performance::Best => "best",
            Performance::Better => "better",
            Performance::Good => "good",
            Performance::Degraded => "degraded",
        }
    }
}

/// Writes that a drive carries out as a whole or not at all (NVM Command Set Specification, 2.1.4).
/// It counts them in logical blocks; here they are bytes of the format in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AtomicWrites {
    /// The largest of which no other command sees a part (NAWUN, else AWUN).
    pub write_bytes: u64,
    /// The largest of which nothing or everything is there after power was lost (NAWUPF, else
    /// AWUPF).
    pub power_fail_write_bytes: u64,
    /// A write across a multiple of this is not atomic (NABSN); absent: there is no such bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary_bytes: Option<u64>,
    /// The same for what is there after power was lost (NABSPF).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_fail_boundary_bytes: Option<u64>,
    /// Whether it tells this for the namespace (NSFEAT, bit 1); else for all of the drive.
    pub is_of_namespace: bool,
}

/// Whether a drive changes its power state by itself, as it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Apst {
    /// It does.
    On,
    /// It could, and that is turned off.
    Off,
    /// It cannot.
    Absent,
}

impl NvmeFacts {
    /// The format that the namespace has.
    pub fn format_in_use(&self) -> Option<&BlockFormat> {
        self.block_formats.iter().find(|format| format.is_in_use)
    }
}
