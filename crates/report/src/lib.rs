//! Runs and findings as terminal tables, charts, one HTML page, Markdown, CSV and a workbook.
//!
//! What they say is data in `view`; each of the others says how it looks.
//!
//! Functions from values to text: nothing here reads a clock, a file or the environment, and
//! nothing judges. Text for a terminal is set for the [`Screen`] of its thread. A number that is
//! not known is said to be unknown, never printed as NaN.
#![forbid(unsafe_code)]

mod csv;
pub mod errno;
pub mod html;
mod markdown;
mod redact;
mod svg;
pub mod terminal;
mod text;
pub mod units;
mod view;
mod xlsx;

pub use csv::{CSV_BEGIN, csv, histograms_csv, series_csv};
pub use markdown::{card_markdown, comparison_markdown, markdown};
pub use redact::redacted;
pub use svg::{card_svg, svg};
pub use text::{Screen, fitted, hanging, harmless, in_ascii};
pub use view::chart;
pub use view::method::shell_word;
pub use xlsx::{XLSX_CREATOR, xlsx};
