//! The real world: engines, the guard, what is kept and what is looked at.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod conformance;
mod conformance_names;
mod conformance_queues;
mod conformance_space;
mod conformance_support;
mod conformance_testbed;
mod facts;
mod guard;
mod guard_blkid;
mod guard_signature;
mod guard_support;
mod guard_token;
mod kept;
mod named;
mod purge;
mod scratch;
