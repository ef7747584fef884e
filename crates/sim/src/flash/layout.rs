//! What decides how a page-mapped drive keeps its room, and the spare that follows from it.

use super::collector::Policy;

/// Spare blocks that worn ones are not taken from.
const SPARE_BLOCKS_MIN: f64 = 2.0;

/// What decides how a page-mapped drive keeps its room.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// U: units that a host can address.
    pub logical_units: u32,
    /// Units erased together.
    pub block_units: u32,
    /// Blocks, without bad ones.
    pub blocks: u32,
    /// Units of one program on one die.
    pub program_units: u32,
    /// Units of one flash page.
    pub page_units: u32,
    /// Units that go to one die before another has its turn.
    pub stripe_units: u32,
    /// Dies that have blocks and free lists of their own, in turn; 0: blocks span all dies.
    pub allocation_dies: u32,
    /// Free blocks that are kept in any case.
    pub low_blocks: u32,
    /// Free blocks below which collection keeps pace with the host.
    pub high_blocks: u32,
    /// How victims are chosen.
    pub policy: Policy,
    /// d of d-choices, or the length of the window.
    pub choices: u32,
    /// Frontiers for copies, by how often the data was copied; 0: copies go among host writes.
    pub collection_frontiers: u32,
    /// Whether collection is spread over the host writes that it makes room for.
    pub paces: bool,
    /// Whether the least worn free block is opened first.
    pub levels_wear: bool,
    /// Erases between the least and the most worn block beyond which cold data is moved; `None`:
    /// never.
    pub wear_difference_max: Option<u32>,
    /// Erases after which a block is taken out of use, as far as the spare allows; 0: never.
    pub endurance_cycles: u32,
    /// Seed of random choices.
    pub seed: u64,
}

impl Layout {
    /// Open blocks: the host's, those of collection, and one for cold data that is moved.
    pub(super) fn open_blocks(&self) -> u32 {
        self.allocation_dies.max(1)
            + self.collection_frontiers
            + u32::from(self.wear_difference_max.is_some())
    }

    /// T: units that may hold data: without the free blocks that are kept, without half of each
    /// open block, and without half of the victim, whose units are copied one by one.
    pub fn data_units(&self) -> f64 {
        // Paced collection begins the next victim at once: one block below the mark or two.
        let (kept, victim) = match self.paces {
            true => (f64::from(self.high_blocks) - 1.5, 0.5),
            false => (f64::from(self.low_blocks), 0.0),
        };
        let open = f64::from(self.open_blocks()) / 2.0;
        (f64::from(self.blocks) - kept - open - victim) * f64::from(self.block_units)
    }

    /// ρ = (T − U) ÷ U.
    pub fn spare(&self) -> f64 {
        self.data_units() / f64::from(self.logical_units) - 1.0
    }

    /// The number of blocks that gives at least `spare`.
    pub fn blocks_for(&self, spare: f64) -> u32 {
        let none = Layout { blocks: 0, ..self.clone() };
        let missing = f64::from(self.logical_units) * (1.0 + spare) - none.data_units();
        libm::ceil(missing / f64::from(self.block_units) - 1e-9) as u32
    }

    /// Blocks that can be taken out of use before collection cannot go on.
    pub(super) fn retirable_blocks(&self) -> u32 {
        let spare_units = self.spare() * f64::from(self.logical_units);
        (spare_units / f64::from(self.block_units) - SPARE_BLOCKS_MIN).max(0.0) as u32
    }
}
