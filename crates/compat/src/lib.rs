//! What other tools of the field wrote, read as drivelab's own values. No I/O and no printing.
#![forbid(unsafe_code)]

pub mod fio;
pub mod fio_json;
pub mod front;
pub mod iometer;
pub mod trace;
