//! What a layout must fulfil, and what must hold at any moment.

use super::blocks::BlockState;
use super::ftl::Ftl;
use super::layout::Layout;
use crate::memory::NONE;

/// Full checks are made after every collection up to this many units, else now and then.
#[cfg(debug_assertions)]
const UNITS_ALWAYS_CHECKED: usize = 4096;

/// Refuses what cannot work, with the constraint.
pub(super) fn check(layout: &Layout) -> Result<(), String> {
    let Layout { logical_units, block_units, blocks, program_units, page_units, .. } = *layout;
    if logical_units == 0 || block_units == 0 || page_units == 0 || program_units == 0 {
        return Err("a drive needs at least one unit, and blocks, programs and pages of at least \
                    one unit"
            .into());
    }
    if u64::from(blocks) * u64::from(block_units) >= u64::from(NONE) {
        return Err(format!(
            "{blocks} blocks of {block_units} units are more than the map can name (2^32 units); \
             use larger map units"
        ));
    }
    if !block_units.is_multiple_of(program_units) || !program_units.is_multiple_of(page_units) {
        return Err(format!(
            "a block of {block_units} units must be a whole number of programs of {program_units}, \
             and a program a whole number of pages of {page_units}"
        ));
    }
    let needed = layout.open_blocks().max(2);
    if layout.low_blocks < needed {
        return Err(format!(
            "collection_low_blocks is {}, and collection needs {needed} free blocks to go on",
            layout.low_blocks
        ));
    }
    if layout.high_blocks <= layout.low_blocks {
        return Err(format!(
            "collection_high_blocks is {} and must be above collection_low_blocks, {}",
            layout.high_blocks, layout.low_blocks
        ));
    }
    let spare_blocks = layout.spare() * f64::from(logical_units) / f64::from(block_units);
    if spare_blocks < 1.0 {
        return Err(format!(
            "spare is too small for collection to go on: after {} reserved and open blocks, {:.1} \
             blocks of {block_units} units are left beyond the user's; it needs at least 1",
            layout.high_blocks + layout.collection_frontiers + 1,
            spare_blocks
        ));
    }
    Ok(())
}

impl Layout {
    /// Whether a drive can be made of it.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub fn has_room(&self) -> Result<(), String> {
        check(self)
    }
}

impl Ftl {
    #[cfg(debug_assertions)]
    pub(super) fn assert_consistent_sometimes(&self) {
        let units = self.reverse.len();
        if units <= UNITS_ALWAYS_CHECKED || self.counts.erases.is_multiple_of((units / 64) as u64) {
            self.assert_consistent();
        }
    }

    /// Everything that must hold between two operations.
    ///
    /// # Panics
    /// When it does not.
    pub fn assert_consistent(&self) {
        let mut valid = vec![0; self.blocks.count() as usize];
        let mut mapped = 0;
        for logical in 0..self.forward.len() as u32 {
            let unit = self.locate(logical);
            if unit == NONE {
                continue;
            }
            mapped += 1;
            let (block, at) = self.by_block.split(unit);
            assert_eq!(self.valid_in(unit), logical, "the map is not a bijection");
            valid[block as usize] += 1;
            let state = self.blocks.state[block as usize];
            assert!(!matches!(state, BlockState::Free | BlockState::Bad), "data in a free block");
            let open = [&self.host, &self.cold].into_iter().chain(&self.copies);
            for frontier in open.filter(|frontier| frontier.block == block) {
                assert!(unit < frontier.next, "data at {at}, which was not programmed");
            }
        }
        assert_eq!(mapped, self.mapped, "mapped units");
        assert_eq!(valid, self.blocks.valid, "valid units by block");
        let free = self.blocks.state.iter().filter(|state| **state == BlockState::Free).count();
        assert_eq!(free as u32, self.blocks.free(), "free blocks");
    }
}
