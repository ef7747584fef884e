//! What other tools of the field wrote, read as drivelab's own values. No I/O and no printing.
#![forbid(unsafe_code)]

pub mod biff;
mod calendar;
pub mod counters;
pub mod fio;
pub mod fio_json;
pub mod front;
pub mod front_end;
pub mod io500;
pub mod iometer;
pub mod ior;
pub mod iostat;
pub mod iozone;
mod letters;
pub mod mdtest;
pub mod metarates;
pub mod option;
mod parallel;
pub mod suite;
pub mod trace;

use front_end::FrontEnd;

/// The tools whose lines are understood: the program, the fuzzers, the tests of all front ends and
/// the tables of the documentation go through this list.
pub static TOOLS: &[&FrontEnd] = &[
    &fio::FRONT_END,
    &iometer::FRONT_END,
    &iozone::FRONT_END,
    &ior::FRONT_END,
    &mdtest::FRONT_END,
    &io500::FRONT_END,
    &metarates::FRONT_END,
    &iostat::FRONT_END,
];

/// The tool that a word names, as it is typed.
pub fn tool_named(word: &str) -> Option<&'static FrontEnd> {
    TOOLS.iter().copied().find(|tool| tool.names.contains(&word))
}
