//! What other tools of the field wrote, read as drivelab's own values. No I/O and no printing.
#![forbid(unsafe_code)]

pub mod biff;
mod calendar;
pub mod fio;
pub mod fio_json;
pub mod front;
pub mod front_end;
pub mod iometer;
pub mod ior;
pub mod iostat;
pub mod iozone;
mod letters;
pub mod mdtest;
pub mod metarates;
pub mod option;
mod parallel;
pub mod tools;
pub mod trace;
