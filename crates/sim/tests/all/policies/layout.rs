//! Layouts of drives that do nothing but collect.

use drivelab_sim::flash::{Layout, Policy};

/// Free blocks below which victims are emptied, and up to which.
pub const LOW: u32 = 2;
pub const HIGH: u32 = 4;

/// One without logical units yet.
pub fn bare(policy: Policy, choices: u32, block_units: u32, blocks: u32) -> Layout {
    Layout {
        logical_units: 0,
        block_units,
        blocks,
        program_units: 1,
        page_units: 1,
        stripe_units: 1,
        allocation_dies: 0,
        low_blocks: LOW,
        high_blocks: HIGH,
        policy,
        choices,
        collection_frontiers: 1,
        paces: true,
        levels_wear: false,
        wear_difference_max: None,
        endurance_cycles: 0,
        seed: 11,
    }
}

/// The layout with the logical units that give this spare.
pub fn with_spare(layout: Layout, spare: f64) -> Layout {
    let logical_units = (layout.data_units() / (1.0 + spare)) as u32;
    Layout { logical_units, ..layout }
}
