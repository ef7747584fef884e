//! Every option of fio: how it is treated here, and what it changes.

mod course;
mod foreign;
mod reports;
mod requests;

use super::marks::{bytes, plain_bytes};
use super::names::Work;
use super::reading::{
    Given, above_zero, alignment, blocks, checksum, direction, distributions, engine, file_sizes,
    is_lfsr, mask_of_cpus, names_or_drive, percentiles, put, ranges, shares, splits, start_delay,
    synced, window,
};
use super::settings::{Ends, Settings, Wrong};
use super::shown::{Unified, Without};
use super::steadystate::criterion;
use super::value::{BadValue, by_direction, number, size};
use super::zones::ZoneMode;
use crate::option::Care::{self, Ignored, InPart, Near, Same};
use crate::option::{self, Opt};
use drivelab_core::op::SECOND;
use drivelab_core::plan::{Content, Sync};

/// One option.
pub type Known = Opt<Own>;

/// What only fio has of an option.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// It stands alone, or with `=`.
    pub bare: bool,
    /// Values with which it asks for nothing.
    pub(super) nothing: &'static [&'static str],
    /// How it changes the settings of a job.
    pub(super) set: Option<Set>,
}

pub(super) type Set = fn(&mut Settings, &Given<'_>) -> Result<(), Wrong>;

/// Of hints to the drive, which came after fio 3.33.
const HINTS: &str = "goes to the kernel with the priority; fio 3.33, with which everything is \
                     compared, does not know it";

pub(super) const fn option(typed: &'static str, care: Care) -> Known {
    Opt { typed, meaning: "", care, own: Own { bare: false, nothing: &[], set: None } }
}

pub(super) const fn bare(typed: &'static str, care: Care) -> Known {
    Opt { typed, meaning: "", care, own: Own { bare: true, nothing: &[], set: None } }
}

impl Known {
    /// With these values it asks for nothing.
    pub(super) const fn unless(self, nothing: &'static [&'static str]) -> Self {
        Opt { own: Own { nothing, ..self.own }, ..self }
    }

    /// With 0 it asks for nothing.
    pub(super) const fn off(self) -> Self {
        self.unless(&["0"])
    }

    /// Whether it asks for nothing with this value.
    pub(super) fn is_off(&self, value: Option<&str>) -> bool {
        value.is_some_and(|value| self.own.nothing.contains(&value.trim()))
    }

    const fn sets(self, set: Set) -> Self {
        Opt { own: Own { set: Some(set), ..self.own }, ..self }
    }
}

pub(super) const fn no(why: &'static str) -> Care {
    Care::no(why)
}

pub(super) const fn instead(way: &'static str) -> Care {
    Care::instead(way)
}

/// Every option of fio, with what becomes of it here.
pub fn all() -> impl Iterator<Item = &'static Known> {
    let parts = [requests::ALL, course::ALL, reports::ALL, foreign::ALL];
    parts.into_iter().flatten()
}

/// The option of that name.
pub fn find(name: &str) -> Option<&'static Known> {
    option::find(all(), name)
}

/// The option whose name begins so, if there is one alone: getopt takes what cannot be mistaken.
pub fn find_by_beginning(beginning: &str) -> Option<&'static Known> {
    if let Some(known) = find(beginning) {
        return Some(known);
    }
    let begins = |known: &&Known| known.names().any(|name| name.starts_with(beginning));
    let mut fitting = all().filter(begins);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let row = |known: &'static Known| (vec![option::spelt(known)], &known.care);
    option::table("| option | here | |", all().map(row))
}
