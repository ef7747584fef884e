//! Page-mapped flash drives.

mod allocation;
mod blocks;
mod buffer;
mod check;
mod closing;
mod collection;
mod collector;
mod combining;
mod condition;
mod credits;
mod drive;
mod ftl;
mod host;
mod layout;
mod map_cache;
mod map_saves;
mod medium;
mod memories;
mod origin;
mod own_work;
mod parameters;
mod path;
mod pauses;
mod pieces;
mod power;
mod prefetch;
mod read_cache;
mod reading;
mod retries;
mod slc;
#[cfg(test)]
mod swarm_tests;

pub use collector::Policy;
pub use drive::FlashDrive;
pub use ftl::{Ftl, Medium, Timeless};
pub use layout::Layout;
pub use parameters::{Parameters, WhenFull};
