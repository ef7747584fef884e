//! The tools whose lines are understood, in one list: the program, the fuzzers, the tests of all
//! front ends and the tables of the documentation go through it.

use crate::front_end::FrontEnd;
use crate::{fio, iometer, ior, iostat, iozone, mdtest, metarates};

/// All of them.
pub static ALL: [&FrontEnd; 7] = [
    &fio::FRONT_END,
    &iometer::FRONT_END,
    &iozone::FRONT_END,
    &ior::FRONT_END,
    &mdtest::FRONT_END,
    &metarates::FRONT_END,
    &iostat::FRONT_END,
];

/// The tool that a word names, as it is typed.
pub fn named(word: &str) -> Option<&'static FrontEnd> {
    ALL.into_iter().find(|tool| tool.names.contains(&word))
}
