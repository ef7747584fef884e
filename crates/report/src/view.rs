//! What a report says, as data: rows, numbers with their units, words, pictures.
//!
//! Nothing here knows how it will look. `terminal`, `html`, `svg`, `csv`, `xlsx` and `markdown`
//! take from here and, but for the pictures of a page, nothing from each other.

pub(crate) mod amounts;
pub(crate) mod block;
pub(crate) mod card;
pub(crate) mod cells;
pub mod chart;
pub(crate) mod comparison;
pub(crate) mod document;
pub(crate) mod drives;
pub(crate) mod facts;
pub(crate) mod finding_sheets;
pub(crate) mod header;
pub(crate) mod headline;
pub(crate) mod heat;
pub(crate) mod intervals;
pub(crate) mod layouts;
pub(crate) mod method;
pub(crate) mod namespace;
pub(crate) mod numbers;
pub(crate) mod sheet;
pub(crate) mod steps;
pub(crate) mod study;
pub(crate) mod truth;
pub(crate) mod unit;
