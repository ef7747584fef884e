//! Simulated drives in virtual time: targets like any other, whose insides are known.
//!
//! Pure: no clock, no I/O, no threads. A drive takes operations at virtual times and says when they
//! end; [`testbed`] advances the virtual clock for the same drivers that measure real drives.
#![deny(unsafe_code)]

pub mod array;
pub mod block_map;
pub mod disk;
pub mod drive;
pub mod ends;
pub mod figures;
pub mod file_system;
pub mod flash;
pub mod fragmentation;
pub mod lane;
pub mod log_block;
pub mod memory;
pub mod network;
pub mod page_cache;
pub mod profile;
pub mod queue_delay;
pub mod scaling;
mod stack;
pub mod stalls;
pub mod target;
pub mod testbed;
pub mod theory;
pub mod volume;
