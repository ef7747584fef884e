//! How a plan becomes operations: the driver, the seam to a drive, and what is counted on the way.

pub mod arrival;
pub mod content;
pub mod driver;
pub mod endings;
pub mod flow;
pub mod inside;
pub mod level;
pub mod offsets;
mod priorities;
pub mod queue;
pub mod repeated;
pub mod repeats;
pub mod tally;
pub mod virtual_bed;
