//! The experiment as data, the driver on drives that are known, and what is kept of a run.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod commits;
mod driver_given;
mod driver_loops;
mod driver_records;
mod front_keys;
mod golden;
mod levels;
mod mapped;
mod patterns;
mod priorities;
mod rate_min;
mod ratios;
mod read_back;
mod replies;
mod runs;
mod shared_buffers;
mod skewed;
mod support;
mod tally_merge;
mod traces;
mod wear_out;
mod windowed;
mod zoned;
