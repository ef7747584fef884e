//! The experiment as data, the driver that turns it into operations, and the seam to a drive.
//!
//! Nothing here reads a clock, a file or the environment.
#![forbid(unsafe_code)]

pub mod anatomy;
pub mod arrival;
pub mod claims;
pub mod comparison;
pub mod content;
pub mod driver;
pub mod facts;
pub mod findings;
pub mod fitness;
pub mod gathering;
pub mod inside;
pub mod ledger;
pub mod level;
pub mod lifetime;
pub mod observed;
pub mod offsets;
pub mod op;
pub mod passes;
pub mod plan;
pub mod plan_text;
pub mod quantity;
pub mod queue;
pub mod record;
pub mod rounds;
pub mod run;
pub mod sound;
pub mod study;
pub mod summary;
pub mod tally;
pub mod team;
pub mod trace;
pub mod truth;
pub mod units;
pub mod validate;
pub mod verified;
pub mod virtual_bed;
mod words;
