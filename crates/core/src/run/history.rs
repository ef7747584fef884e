//! The same cell over all runs of one drive, in a form that terminal and JSON share.

use crate::comparison::Metric;
use crate::units::is_default;
use schemars::JsonSchema;
use serde::Serialize;

/// All runs of one drive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct History {
    /// The drive, as its serial number, else its name and size, else the target as typed.
    pub drive: String,
    /// Runs that were read.
    pub runs: usize,
    /// Runs that did not come to their end: left out.
    #[serde(skip_serializing_if = "is_default")]
    pub incomplete: usize,
    /// Values that are suspect: left out.
    pub suspect: usize,
    /// One for each cell and metric that at least two runs measured, in the order of the cells.
    pub lines: Vec<Line>,
}

/// One figure of one cell over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "HistoryLine")]
pub struct Line {
    /// `check`, `study wsat` …: cells of different commands are different cells.
    pub command: String,
    /// What of the drive was measured: `partition of 10 GiB`, `files on ext4 at /srv`; empty for
    /// the drive itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub on: String,
    /// The cell.
    pub cell: String,
    /// State of the drive in which it was measured.
    pub state: String,
    /// What is followed.
    pub metric: Metric,
    /// Its value in each run, oldest first.
    pub points: Vec<Point>,
    /// Runs whose value is suspect: left out.
    pub suspect: usize,
    /// Where it changed.
    pub changes: Vec<Change>,
    /// The load, by which cells of one name are told apart.
    #[serde(skip)]
    pub load: String,
}

/// A value of one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "HistoryPoint")]
pub struct Point {
    /// Run ID.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// What the run was called.
    pub tag: Option<String>,
    /// Operations a second, or nanoseconds.
    pub value: f64,
    /// What describes drive and machine.
    #[serde(skip)]
    pub facts: Vec<(&'static str, String)>,
}

/// A run from which on a figure is another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "HistoryChange")]
pub struct Change {
    /// Index of the first point of the new level.
    pub at: usize,
    /// Its run.
    pub run: String,
    /// When that began.
    pub started_at: String,
    /// Geometric mean of the points from the change before to this one.
    pub before: f64,
    /// Geometric mean of the points from here to the next change.
    pub after: f64,
    /// p-value, adjusted for splits and lines; `None` where neither side has any spread.
    pub p_adjusted: Option<f64>,
    /// Facts of drive and machine that are not what they were in the run before.
    pub differences: Vec<String>,
}
