//! The experiment as data, the driver that turns it into operations, and the seam to a drive.
#![forbid(unsafe_code)]

pub mod facts;
pub mod op;
pub mod units;
