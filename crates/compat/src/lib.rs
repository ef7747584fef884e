//! What other tools of the field wrote, read as drivelab's own values. No I/O and no printing.
#![forbid(unsafe_code)]

pub mod biff;
pub mod calendar;
pub mod catalogue;
pub mod fio_json;
pub mod front;
pub mod iostat;
pub mod iozone;
pub mod trace;
