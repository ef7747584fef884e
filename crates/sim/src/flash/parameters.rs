//! What a page-mapped flash drive is made of, and what follows from it.

mod check;

use super::collector::Policy;
use super::layout::Layout;
use super::medium::Timing;
use serde::Deserialize;

/// Parameters of a page-mapped flash drive; what is `None` or 0 the drive does not have.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Bytes that a host can address.
    pub user_bytes: u64,
    /// Bytes of flash, without what is kept for the firmware; or `spare` is given.
    #[serde(default)]
    pub raw_bytes: Option<u64>,
    /// ρ = (T − U) ÷ U, T after reserve and open blocks.
    #[serde(default)]
    pub spare: Option<f64>,
    /// Bytes that the map knows as one.
    pub map_unit_bytes: u64,
    /// Channels.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes of a die, programmed and erased together.
    pub planes: u32,
    /// Bytes of a flash page.
    pub page_bytes: u64,
    /// Pages of one plane that are programmed at once (one shot: 3 where cells hold three bits).
    #[serde(default = "one")]
    pub pages_per_program: u32,
    /// Bytes that go to one die before another has its turn; 0: one program.
    #[serde(default)]
    pub stripe_bytes: u64,
    /// Whether each die has blocks and a free list of its own, and a stripe goes to the die that is
    /// free first; else blocks span all dies, which take turns.
    #[serde(default)]
    pub allocates_by_die: bool,
    /// Pages of a block of one plane.
    pub pages_per_block: u32,
    /// Share of the blocks that are bad from the beginning.
    #[serde(default)]
    pub bad_block_share: f64,
    /// Sensing a page.
    pub read_ns: u64,
    /// One program of all planes of a die.
    pub program_ns: u64,
    /// The same of every other row of a die's block, where the second page of two bits takes longer
    /// than the first; `program_ns` is the first's. 0: all are alike.
    #[serde(default)]
    pub slow_program_ns: u64,
    /// Erasing a block.
    pub erase_ns: u64,
    /// Whether each die erases its part of a block just before it first writes there, as one
    /// operation; else all dies erase theirs together, as background work, when it is empty.
    #[serde(default)]
    pub erases_by_die: bool,
    /// Time to suspend a program or background work for a read; absent: reads wait for its end.
    #[serde(default)]
    pub suspend_ns: Option<u64>,
    /// Bytes a second over one channel.
    pub channel_bytes_per_s: u64,
    /// Bytes a second over the host link, each way.
    pub link_bytes_per_s: u64,
    /// Whether the link moves data one way at a time.
    #[serde(default)]
    pub link_is_half_duplex: bool,
    /// Fixed time of every command, host and protocol.
    pub command_ns: u64,
    /// Controller time of a read command; commands follow each other.
    pub firmware_read_ns: u64,
    /// Controller time of a write command.
    pub firmware_write_ns: u64,
    /// Controller time of each map unit of a command.
    #[serde(default)]
    pub firmware_unit_ns: u64,
    /// Controller time of each map unit of a write, beyond that.
    #[serde(default)]
    pub firmware_write_unit_ns: u64,
    /// Controller time of each piece of a read that does not lie behind the one before it.
    #[serde(default)]
    pub firmware_piece_ns: u64,
    /// Controller time of each map unit that collection copies for a write.
    #[serde(default)]
    pub firmware_copy_unit_ns: u64,
    /// Commands that the drive takes at a time; 0: any number.
    #[serde(default)]
    pub queue_depth: u32,
    /// Bytes of reads and writes that are under way between host and drive at a time; 0: any.
    #[serde(default)]
    pub link_credit_bytes: u64,
    /// Units that were read and are kept for further reads, next to the write buffer.
    #[serde(default)]
    pub read_cache_bytes: u64,
    /// Write buffer, with what waits to be combined and what was read ahead.
    pub buffer_bytes: u64,
    /// Whether a write is complete when it is in the buffer.
    pub early_completion: bool,
    /// Whether the buffer survives a power cut, so that a flush costs nothing.
    #[serde(default)]
    pub power_loss_protection: bool,
    /// Bytes that wait in the buffer for neighbours and repeats before they are programmed.
    #[serde(default)]
    pub combining_bytes: u64,
    /// Bytes of the flash that are written as one group: a read closes the one that is open, and
    /// its rest stays empty; 0: writes have no groups.
    #[serde(default)]
    pub write_group_bytes: u64,
    /// Rest of the host after which the buffer programs what it holds, and leaves the rest of the
    /// program or write group empty; 0: it waits for more.
    #[serde(default)]
    pub idle_flush_ns: u64,
    /// Bytes read ahead for each stream of sequential reads, as far as writes leave room.
    #[serde(default)]
    pub prefetch_bytes: u64,
    /// Streams of sequential reads that are told apart.
    #[serde(default)]
    pub prefetch_streams: u32,
    /// How victims are chosen.
    #[serde(default = "greedy")]
    pub collector: Policy,
    /// d of d-choices, or the length of the window.
    #[serde(default = "ten")]
    pub collector_choices: u32,
    /// Free blocks (over all dies) that are kept in any case.
    #[serde(default = "two")]
    pub collection_low_blocks: u32,
    /// Free blocks below which collection keeps pace.
    #[serde(default = "four")]
    pub collection_high_blocks: u32,
    /// Whether collection is spread over the writes that it makes room for.
    #[serde(default = "yes")]
    pub paces_collection: bool,
    /// Free blocks that collection brings about while the host rests; 0: it waits for writes.
    #[serde(default)]
    pub idle_collection_blocks: u32,
    /// Rest before that begins.
    #[serde(default)]
    pub idle_collection_ns: u64,
    /// Frontiers for copies, by temperature; 0: copies go among host writes.
    #[serde(default = "one")]
    pub collection_frontiers: u32,
    /// Whether the least worn free block is opened first.
    #[serde(default = "yes")]
    pub levels_wear: bool,
    /// Erases between the least and the most worn block beyond which cold data is moved.
    #[serde(default)]
    pub wear_difference_max: Option<u32>,
    /// For how long a die is taken when the drive moves a block of it for itself (refresh, wear
    /// levelling); the dies have their turns. 0: it never does.
    #[serde(default)]
    pub relocation_ns: u64,
    /// Time from the beginning of one relocation to that of the next; 0: none by the clock.
    #[serde(default)]
    pub relocation_interval_ns: u64,
    /// Units written by the host from one relocation to the next; 0: none by writes.
    #[serde(default)]
    pub relocation_interval_units: u64,
    /// Whether trimmed units are dropped; else TRIM is accepted and ignored.
    #[serde(default = "yes")]
    pub honours_trim: bool,
    /// Bytes of the map that fit the controller's memory; 0: all of it.
    #[serde(default)]
    pub map_cache_bytes: u64,
    /// Units written by the host after which the controller saves `map_save_bytes` of its tables to
    /// the flash, and takes nothing meanwhile; 0: never.
    #[serde(default)]
    pub map_save_units: u64,
    /// See `map_save_units`.
    #[serde(default)]
    pub map_save_bytes: u64,
    /// Bits of a cell.
    #[serde(default = "one")]
    pub bits_per_cell: u32,
    /// SLC cache that is always there.
    #[serde(default)]
    pub slc_static_bytes: u64,
    /// Share of the unused cells that serve as SLC cache too.
    #[serde(default)]
    pub slc_dynamic_share: f64,
    /// One program of all planes of a die in SLC mode: one page of each.
    #[serde(default)]
    pub slc_program_ns: u64,
    /// Rest before the SLC cache is emptied.
    #[serde(default)]
    pub slc_idle_ns: u64,
    /// What a full SLC cache means.
    #[serde(default)]
    pub slc_when_full: WhenFull,
    /// Erases after which a block is taken out of use, while spare is left; 0: not known.
    #[serde(default)]
    pub endurance_cycles: u32,
    /// How often a page is sensed again at the end of `endurance_cycles`; in proportion before.
    #[serde(default)]
    pub read_retries: u32,
    /// Erases of every block before the beginning.
    #[serde(default)]
    pub worn_cycles: u32,
    /// How often more a page is sensed at the end of `endurance_cycles` when its data has lain for
    /// `retention_days`; in proportion to both before.
    #[serde(default)]
    pub retention_retries: u32,
    /// See `retention_retries`.
    #[serde(default)]
    pub retention_days: u32,
    /// How long data that is there at the beginning has lain.
    #[serde(default)]
    pub lain_days: u32,
}

/// What happens to writes when the SLC cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// They go to the dense cells directly.
    #[default]
    Direct,
    /// They go through the cache, which must be emptied for them.
    Fold,
}

fn one() -> u32 {
    1
}
fn two() -> u32 {
    2
}
fn four() -> u32 {
    4
}
fn ten() -> u32 {
    10
}
fn yes() -> bool {
    true
}
fn greedy() -> Policy {
    Policy::Greedy
}

const SECOND_NS: u128 = 1_000_000_000;

/// Time to move `bytes` at a rate.
pub(super) fn transfer_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    (u128::from(bytes) * SECOND_NS / u128::from(bytes_per_s.max(1))) as u64
}

impl Parameters {
    /// Dies on all channels.
    pub fn dies(&self) -> u32 {
        self.channels.saturating_mul(self.dies_per_channel)
    }

    /// Bytes of one program on one die.
    pub fn program_bytes(&self) -> u64 {
        self.page_bytes * u64::from(self.planes) * u64::from(self.pages_per_program)
    }

    /// Bytes that are erased together, over all dies.
    pub fn block_bytes(&self) -> u64 {
        self.page_bytes
            * u64::from(self.planes)
            * u64::from(self.pages_per_block)
            * u64::from(self.dies())
    }

    /// The layout of the translation layer.
    ///
    /// # Errors
    /// A parameter out of its range, or two that contradict each other, in a sentence.
    pub fn layout(&self, seed: u64) -> Result<Layout, String> {
        self.check()?;
        let units = |bytes: u64, what: &str| {
            u32::try_from(bytes / self.map_unit_bytes).map_err(|_| {
                format!("{what} of {bytes} bytes is more than 2^32 map units; use larger ones")
            })
        };
        let dies = if self.allocates_by_die { self.dies() } else { 0 };
        let block_bytes = self.block_bytes() / u64::from(dies.max(1));
        let block_units = units(block_bytes, "a block")?;
        let mut layout = Layout {
            logical_units: units(self.user_bytes, "user_bytes")?,
            block_units,
            blocks: 0,
            program_units: units(self.program_bytes(), "a program")?,
            page_units: units(self.page_bytes.max(self.map_unit_bytes), "a page")?,
            stripe_units: units(self.stripe_bytes.max(self.program_bytes()), "a stripe")?,
            allocation_dies: dies,
            low_blocks: self.collection_low_blocks.saturating_mul(dies.max(1)),
            high_blocks: self.collection_high_blocks.saturating_mul(dies.max(1)),
            policy: self.collector,
            choices: self.collector_choices,
            collection_frontiers: self.collection_frontiers,
            paces: self.paces_collection,
            levels_wear: self.levels_wear,
            wear_difference_max: self.wear_difference_max,
            endurance_cycles: self.endurance_cycles,
            seed,
        };
        layout.blocks = match (self.spare, self.raw_bytes) {
            (Some(spare), _) => layout.blocks_for(spare),
            (None, Some(raw)) => {
                let good = (raw as f64 * (1.0 - self.bad_block_share)) as u64;
                u32::try_from(good / block_bytes).unwrap_or(u32::MAX)
            }
            (None, None) => 0,
        };
        Ok(layout)
    }

    /// How long things take.
    pub fn timing(&self) -> Timing {
        let programs_per_block = u64::from(self.pages_per_block / self.pages_per_program);
        let blocks_put_off =
            u64::from(self.collection_high_blocks.saturating_sub(self.collection_low_blocks));
        let rows_ns = (self.slow_program_ns > 0).then_some([self.program_ns, self.slow_program_ns]);
        let program_ns = rows_ns.map_or(self.program_ns, |[fast, slow]| u64::midpoint(fast, slow));
        Timing {
            channels: self.channels,
            dies: self.dies(),
            read_ns: self.read_ns,
            program_ns,
            rows_ns,
            erase_ns: self.erase_ns,
            page_transfer_ns: transfer_ns(
                self.page_bytes.max(self.map_unit_bytes),
                self.channel_bytes_per_s,
            ),
            unit_transfer_ns: transfer_ns(self.map_unit_bytes, self.channel_bytes_per_s),
            program_transfer_ns: transfer_ns(self.program_bytes(), self.channel_bytes_per_s),
            suspend_ns: self.suspend_ns,
            debt_max_ns: blocks_put_off * (programs_per_block * program_ns + self.erase_ns),
        }
    }
}
