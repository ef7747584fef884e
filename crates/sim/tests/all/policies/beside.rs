//! A policy of the simulator next to the counter that shares no code with it.

use super::counter::{Choice, Counter};
use super::layout::LOW;
use drivelab_sim::flash::{Ftl, Layout, Policy, Timeless};
use drivelab_stats::Random;

/// Name, policy, its choices, and how the counter chooses.
pub const POLICIES: [(&str, Policy, u32, Choice); 4] = [
    ("FIFO", Policy::Fifo, 1, Choice::Oldest),
    ("greedy", Policy::Greedy, 1, Choice::Emptiest),
    ("emptiest of 10", Policy::DChoices, 10, Choice::EmptiestOf(10)),
    ("emptiest of the 32 oldest", Policy::Windowed, 32, Choice::EmptiestOfOldest(32)),
];

/// Amplification of writes to the first `span` of the addresses, over the second half of `writes`.
///
/// # Errors
/// A layout that no drive can have.
pub fn simulated(layout: &Layout, span: f64, writes: u64) -> Result<f64, String> {
    simulated_by(layout, span, writes, 0)
}

/// The same by other addresses and other draws of victims.
///
/// # Errors
/// As [`simulated`].
pub fn simulated_by(layout: &Layout, span: f64, writes: u64, seed: u64) -> Result<f64, String> {
    let mut ftl = Ftl::new(Layout { seed: layout.seed + seed, ..layout.clone() })?;
    ftl.fill();
    let units = (f64::from(layout.logical_units) * span) as u64;
    let mut random = Random::new(5 + seed);
    let mut half = || {
        let from = ftl.inside();
        for _ in 0..writes / 2 {
            ftl.write(&mut Timeless, random.below(units) as u32);
        }
        ftl.inside().since(&from)
    };
    half();
    let change = half();
    ftl.assert_consistent();
    Ok(change.programmed_units() as f64 / change.programmed_host_units as f64)
}

/// The same by the counter, of a drive with as many blocks.
pub fn counted(layout: &Layout, choice: Choice, span: f64, writes: u64) -> f64 {
    counted_by(layout, choice, span, writes, 0)
}

/// The same by other addresses and other draws of victims.
pub fn counted_by(layout: &Layout, choice: Choice, span: f64, writes: u64, seed: u64) -> f64 {
    let (pages, logical) = (layout.block_units as usize, layout.logical_units as usize);
    let separate = layout.collection_frontiers > 0;
    let counter =
        Counter::new(layout.blocks as usize, pages, logical, LOW as usize, choice, separate);
    let high = if layout.paces { layout.high_blocks as usize } else { 0 };
    let mut counter = counter.paced(high).seeded(seed);
    let span = (logical as f64 * span) as usize;
    let mut half = || {
        (counter.host, counter.copies) = (0, 0);
        for _ in 0..writes / 2 {
            let page = counter.below(span);
            counter.write(page);
        }
        1.0 + counter.copies as f64 / counter.host as f64
    };
    half();
    half()
}
