//! What a report says, as data: rows, numbers with their units, words, pictures.
//!
//! Nothing here knows how it will look. `terminal`, `html`, `svg`, `csv` and `xlsx` take from here
//! and, but for the pictures of a page, nothing from each other.

pub(crate) mod amounts;
pub mod chart;
pub(crate) mod comparison;
pub(crate) mod facts;
pub(crate) mod headline;
pub(crate) mod heat;
pub(crate) mod sheet;
pub(crate) mod unit;
