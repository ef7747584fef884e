//! What was concluded, in words, each with the figure it rests on.

use crate::comparison::{Cell, Comparison};
use drivelab_stats::Estimate;
use serde::{Deserialize, Serialize};

/// Conclusions of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Findings {
    /// What is true of the drive.
    pub verdict: Vec<String>,
    /// Which numbers may not be what they are called, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// No headline number can be believed: there is no answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_answer: bool,
    /// What can hurt.
    pub beware: Vec<String>,
    /// What this experiment cannot say, and what would.
    pub unknown: Vec<String>,
    /// Something of it is unknown for want of time or bytes. No file keeps that: the sentence names
    /// the option that gives more.
    #[serde(skip)]
    pub wants_more: bool,
    /// Remarks on single cells, shown beside their numbers.
    pub remarks: Vec<Remark>,
    /// Cells in the order they are to be read; they ran in another, shuffled one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// The numbers that the verdict rests on, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// What was drawn from the measurements, the key picture first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// Ratios that are seen at a glance, rows by columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heat_maps: Vec<HeatMap>,
    /// What adds up to a whole, drawn before the pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    /// The same quantity of several sides, place by place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bars>,
    /// Results that belong side by side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Sides of this run held against each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Where this run did otherwise than the method that it follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    /// What this target cannot serve: the cell and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<Remark>,
}

/// What a run says to its question: the exit status follows from it, and from nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is answered, and nothing bad was found.
    Given,
    /// Something bad was found, in numbers that can be believed.
    Bad,
    /// It is not answered.
    None,
}

impl Findings {
    /// A bad finding is an answer even where another part of the question has none; silence never
    /// is.
    pub fn answer(&self) -> Answer {
        match (self.beware.is_empty(), self.no_answer || self.verdict.is_empty()) {
            (false, _) => Answer::Bad,
            (true, true) => Answer::None,
            (true, false) => Answer::Given,
        }
    }

    /// Notes what is unknown for want of time or bytes.
    pub fn want_more(&mut self, text: String) {
        self.unknown.push(text);
        self.wants_more = true;
    }

    /// The conclusions as they are kept: whoever concluded nothing has given no answer.
    pub fn closed(mut self) -> Self {
        self.no_answer |= self.verdict.is_empty() && self.beware.is_empty();
        self
    }
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    BytesPerS,
    /// Bytes.
    Bytes,
    /// A time in nanoseconds.
    Ns,
    /// A share from 0 to 1, shown as a percentage.
    Share,
    /// A ratio.
    Factor,
    /// How many.
    Count,
}

/// One number that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is, in a few words.
    pub name: String,
    /// The number; an estimate wherever chance had a part in it.
    pub estimate: Estimate,
    /// What it is counted in.
    pub unit: Unit,
    /// What must be known beside it; empty where nothing must.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One picture as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// What to see in it, in a sentence.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub lines: Vec<Line>,
    /// Places of the horizontal axis worth a word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// What an axis measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// In words.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What it is.
    pub label: String,
    /// Whether it was measured, or is a limit or a fit.
    pub kind: LineKind,
    /// Points in the units of the axes, in the order of x.
    pub points: Vec<(f64, f64)>,
}

/// What a curve is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// What was measured.
    Measured,
    /// A mean, or a line through what was measured.
    Fit,
    /// What a criterion allows.
    Limit,
}

/// A place worth a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// The word.
    pub label: String,
}

/// Ratios of rates, rows by columns: what is fast, and what is slow. Maps of several runs can be
/// put side by side by the names of their rows and columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// What to see in it, in a sentence.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// From the top.
    pub rows: Vec<HeatRow>,
}

/// One row of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatRow {
    /// What it is.
    pub name: String,
    /// What its ratios are held against, in a few words.
    pub against: String,
    /// One entry a column, judged; `None` where nothing is measured.
    pub cells: Vec<Option<Cell>>,
}

/// Bars whose parts add up, one below the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// What it shows.
    pub title: String,
    /// What to see in it, in a sentence.
    pub note: String,
    /// What the length of a bar is, in words.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// Names of the parts, from the left.
    pub parts: Vec<String>,
    /// The bars, from the top.
    pub bars: Vec<StackBar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StackBar {
    /// What it is.
    pub label: String,
    /// Lengths of its parts, in their order.
    pub values: Vec<f64>,
}

/// Groups of bars: one bar for each side, with how far its values spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// The suite it is a test of: tests of one are drawn in one picture. Empty: it is drawn alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub benchmark: String,
    /// The title of the table of which it draws a column; empty: of none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table: String,
    /// What to see in it, in a sentence; empty where that is said elsewhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What the length of a bar is, in words.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// Names of the sides, in the order of the bars of a group.
    pub sides: Vec<String>,
    /// The groups, from the top.
    pub groups: Vec<BarGroup>,
}

/// The bars of one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BarGroup {
    /// What it is.
    pub label: String,
    /// A mean and one standard deviation for each side; `None` where nothing was measured.
    pub values: Vec<Option<(f64, f64)>>,
}

/// Results side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// What to see in it; empty where that is plain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Heads of the columns.
    pub heads: Vec<Head>,
    /// One entry a column in each.
    pub rows: Vec<Vec<Entry>>,
}

/// Head of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// In words.
    pub name: String,
    /// Unit of its numbers; absent where the column holds words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// One entry of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A number in the unit of its column.
    Number(f64),
    /// Words.
    Text(String),
    /// Nothing was measured, or nothing applies.
    Nothing,
}

/// A remark on one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// Name of the cell.
    pub cell: String,
    /// The remark, a few words.
    pub text: String,
}
