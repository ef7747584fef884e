//! The real world: queues, facts, guard, counters. The only crate with `unsafe`.

pub mod counters;
pub mod facts;
pub mod guard;
pub mod scratch;
pub mod signature;
pub mod target;
