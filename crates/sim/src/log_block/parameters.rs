//! What a drive with log blocks is made of.

use super::array::Timing;
use serde::{Deserialize, Serialize};

/// Which pages a log block takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Associativity {
    /// Pages of one logical block (BAST: Kim and others, IEEE Transactions on Consumer
    /// Electronics 2002).
    Block,
    /// Pages of any logical block; one log block apart for sequential writes (FAST: Lee and
    /// others, ACM TECS 2007).
    Full,
}

/// When the write buffer writes to the flash. What leaves together is freed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferFlush {
    /// There is no buffer: a write ends when the flash holds it.
    None,
    /// Everything, when the buffer is full.
    Full,
    /// Everything, when the buffer is full or a write neither repeats nor continues what it holds.
    Neighbour,
    /// An aligned group of `buffer_group_bytes` as soon as it is complete; the oldest group when
    /// room is needed.
    Aligned,
    /// A row of `buffer_group_bytes` of the log as soon as so much waits for the same dies; all
    /// that waits when a read comes: what is missing of its rows stays empty.
    Row,
}

/// In which order a host hands over writes that wait while the drive serves another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostOrder {
    /// As they came: the drive itself holds them.
    #[default]
    InTurn,
    /// By address, from the last one on upwards, then from the lowest again.
    Ascending,
}

/// Geometry, times and firmware of a drive with log blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Bytes that a host can address: whole pages.
    pub user_bytes: u64,
    /// Bytes of a page of the flash, which is the mapping unit of the log.
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
    /// Pages in copy at once on one channel; 1: a copy is programmed before the next is read.
    pub copies_per_channel: u32,
    /// Log blocks of the whole drive, as large as logical blocks; each of the `dies / block_dies`
    /// groups has an equal part.
    pub log_blocks: u32,
    /// Which pages a log block takes.
    pub associativity: Associativity,
    /// With `full`: the oldest log block is merged page by page as its successor fills, rather
    /// than as a whole when no log block is free.
    pub is_merge_paced: bool,
    /// When the write buffer writes.
    pub buffer_flush: BufferFlush,
    /// Bytes of the write buffer: whole pages; 0 with `none`.
    pub buffer_bytes: u64,
    /// With `aligned`: bytes of a group, with `row` of a row, whole pages; 0 otherwise.
    pub buffer_group_bytes: u32,
    /// In which order a host hands over writes that wait.
    #[serde(default)]
    pub host_order: HostOrder,
    /// Erases of a group of dies after which a block of it is moved to another place, in turn, so
    /// that blocks wear evenly; 0: never.
    #[serde(default)]
    pub wear_swap_erases: u32,
    /// Rest of the host after which the buffer writes what it holds; 0: it waits for more.
    #[serde(default)]
    pub idle_flush_ns: u64,
}

impl Parameters {
    pub(crate) fn timing(&self) -> Timing {
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

    /// Pages of a row of the log.
    pub(crate) fn row_pages(&self) -> u32 {
        (self.buffer_group_bytes / self.page_bytes).max(1)
    }

    /// Pages of a logical block.
    pub(crate) fn logical_block_pages(&self) -> u32 {
        self.pages_per_block * self.block_dies
    }

    /// Names the first parameter that cannot be, and why, in one sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.timing().check()?;
        check_shape(
            self.user_bytes,
            self.page_bytes,
            self.pages_per_block,
            self.dies,
            self.block_dies,
        )?;
        self.check_logs()?;
        self.check_buffer()
    }

    fn check_logs(&self) -> Result<(), String> {
        let groups = self.dies / self.block_dies;
        let logs = self.log_blocks;
        let (least, why) = match (self.associativity, self.is_merge_paced) {
            (Associativity::Block, false) => (1, "one"),
            (Associativity::Block, true) => {
                return Err("is_merge_paced needs associativity \"full\".".to_owned());
            }
            (Associativity::Full, false) => (2, "a sequential and another one"),
            (Associativity::Full, true) => (3, "a sequential, a filling and a draining one"),
        };
        if logs == 0 || !logs.is_multiple_of(groups) || logs / groups < least {
            return Err(format!(
                "log_blocks is {logs}: a multiple of dies / block_dies = {groups}, and at least \
                 {} ({why} for each group).",
                least * groups,
            ));
        }
        if u64::from(logs) * u64::from(self.logical_block_pages()) > 1 << 28 {
            return Err(format!("log_blocks is {logs}: at most 2^28 pages of log are possible."));
        }
        Ok(())
    }

    fn check_buffer(&self) -> Result<(), String> {
        let page_bytes = u64::from(self.page_bytes);
        let bytes = self.buffer_bytes;
        if self.buffer_flush == BufferFlush::None {
            return match bytes {
                0 => Ok(()),
                _ => Err(format!("buffer_bytes is {bytes}: 0 where buffer_flush is \"none\".")),
            };
        }
        if bytes == 0 || !bytes.is_multiple_of(page_bytes) || bytes / page_bytes > 1 << 24 {
            return Err(format!(
                "buffer_bytes is {bytes}: a multiple of page_bytes = {page_bytes}, 2^24 pages at \
                 most.",
            ));
        }
        let group = u64::from(self.buffer_group_bytes);
        let is_grouped = matches!(self.buffer_flush, BufferFlush::Aligned | BufferFlush::Row);
        if is_grouped && (group == 0 || !group.is_multiple_of(page_bytes) || group > bytes) {
            return Err(format!(
                "buffer_group_bytes is {group}: a multiple of page_bytes = {page_bytes}, \
                 buffer_bytes = {bytes} at most.",
            ));
        }
        if !is_grouped && group != 0 {
            return Err(format!(
                "buffer_group_bytes is {group}: 0 unless buffer_flush is \"aligned\" or \"row\".",
            ));
        }
        self.check_rows()
    }

    fn check_rows(&self) -> Result<(), String> {
        if self.buffer_flush != BufferFlush::Row {
            return Ok(());
        }
        if self.associativity != Associativity::Full {
            return Err("buffer_flush \"row\" needs associativity \"full\".".to_owned());
        }
        let (row, pages) = (self.row_pages(), self.logical_block_pages());
        if !pages.is_multiple_of(row) {
            return Err(format!(
                "buffer_group_bytes is {}: rows must divide a logical block of {pages} pages.",
                self.buffer_group_bytes
            ));
        }
        Ok(())
    }
}

/// Whether the blocks make a drive.
pub(crate) fn check_shape(
    user_bytes: u64,
    page_bytes: u32,
    pages_per_block: u32,
    dies: u32,
    block_dies: u32,
) -> Result<(), String> {
    if !(1..=4_096).contains(&pages_per_block) {
        return Err(format!("pages_per_block is {pages_per_block}: 1 to 4096."));
    }
    if block_dies == 0 || !dies.is_multiple_of(block_dies) {
        return Err(format!("block_dies is {block_dies}: a divisor of dies = {dies}."));
    }
    if user_bytes == 0 || !user_bytes.is_multiple_of(u64::from(page_bytes)) {
        return Err(format!(
            "user_bytes is {user_bytes}: a multiple of page_bytes = {page_bytes}.",
        ));
    }
    let pages = user_bytes / u64::from(page_bytes);
    if pages > 1 << 31 {
        return Err(format!("user_bytes is {user_bytes}: 2^31 pages at most."));
    }
    Ok(())
}
