//! The real world: queues, facts, guard, counters. The only crate with `unsafe`.

pub mod bare;
pub mod buffer;
pub mod cache;
pub mod clock;
pub mod counters;
pub mod cpus;
pub mod doctor;
pub mod engine;
pub mod extents;
pub mod facts;
pub mod guard;
pub mod libaio;
pub mod map;
pub mod names;
pub mod null;
pub mod scratch;
pub mod sensors;
pub mod signal;
pub mod signature;
pub mod sync;
pub mod target;
pub mod testbed;
pub mod trim;
pub mod uring;
pub mod watch;
pub mod worker;
