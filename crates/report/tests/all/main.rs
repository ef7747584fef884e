//! How a run looks: tables, pages, pictures, sheets.
#![allow(clippy::unwrap_used, reason = "what cannot be done fails the test")]

mod charts;
mod heat;
mod labels;
mod markdown;
mod pages;
mod sample;
mod several;
mod studies;
mod tables;
mod terminal;
