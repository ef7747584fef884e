//! What a drive with plain block mapping is made of.

use crate::log_block::array::Timing;
use serde::{Deserialize, Serialize};

/// How a block that holds data is overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overwrite {
    /// The block is read, erased and programmed again at once: no spare block is needed.
    InPlace,
    /// An erased block takes what is new and what is before it; the rest follows, and the old
    /// block is erased, when the host goes back or elsewhere.
    Replacement,
}

/// Geometry, times and firmware of a drive with plain block mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Bytes that a host can address: whole pages.
    pub user_bytes: u64,
    /// Bytes of a page of the flash.
    pub page_bytes: u32,
    /// Pages of an erase block of one die.
    pub pages_per_block: u32,
    /// Channels between the controller and the dies.
    pub channels: u32,
    /// Dies; die `d` is on channel `d % channels`.
    pub dies: u32,
    /// Dies that a logical block is spread over, page by page; divides `dies`.
    pub block_dies: u32,
    /// Time to sense a page, ns.
    pub read_ns: u64,
    /// Time to program a page, ns.
    pub program_ns: u64,
    /// Time to erase a block, ns.
    pub erase_ns: u64,
    /// Bytes per second of a channel.
    pub channel_bytes_per_s: u64,
    /// Bytes per second of the link to the host.
    pub link_bytes_per_s: u64,
    /// Time the controller takes for a command, ns.
    pub command_ns: u64,
    /// Commands that the drive works on at once; 1: no queue of its own.
    pub queue_depth: u32,
    /// Pages in copy at once on one channel.
    pub copies_per_channel: u32,
    /// How a block is overwritten.
    pub overwrite: Overwrite,
}

impl Parameters {
    pub(super) fn timing(&self) -> Timing {
        Timing {
            page_bytes: self.page_bytes,
            channels: self.channels,
            dies: self.dies,
            read_ns: self.read_ns,
            program_ns: self.program_ns,
            erase_ns: self.erase_ns,
            channel_bytes_per_s: self.channel_bytes_per_s,
            link_bytes_per_s: self.link_bytes_per_s,
            command_ns: self.command_ns,
            queue_depth: self.queue_depth,
            copies_per_channel: self.copies_per_channel,
        }
    }
}
