//! Page-mapped flash drives.

mod blocks;
mod buffer;
mod check;
mod collector;
mod combining;
mod condition;
mod drive;
mod ftl;
mod layout;
mod map_cache;
mod medium;
mod memories;
mod parameters;
mod power;
mod prefetch;
mod slc;
#[cfg(test)]
mod swarm_tests;

pub use collector::Policy;
pub use drive::FlashDrive;
pub use ftl::{Ftl, Medium, Timeless};
pub use layout::Layout;
pub use parameters::{Parameters, WhenFull};
