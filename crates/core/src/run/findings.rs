//! What was concluded, in words, each with the figure it rests on.

use crate::claims::JudgedClaim;
use crate::comparison::{Cell, Comparison};
use crate::uses::{Class, Grade, Row, Use};
use drivelab_stats::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conclusions of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Findings {
    /// What is true of the drive.
    pub verdict: Vec<String>,
    /// Which numbers may not be what they are called, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// What it is good for, each with the figure and the limit that this rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Use>,
    /// The kind of drive that its figures are like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Whether something bad was found, where that is not all that there is to beware of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad: Option<bool>,
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
    /// Remarks on single cells, shown next to their numbers.
    pub remarks: Vec<Remark>,
    /// Cells in the order they are to be read; they ran in another, shuffled one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Cells that are read side by side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
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
    /// What happened when, such as freezes, drawn before the pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
    /// Estimates of several sides, load by load, drawn before the pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dots: Vec<Dots>,
    /// Claims that were asked for, each with its answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<JudgedClaim>,
    /// The same quantity of several sides, place by place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bars>,
    /// Results that belong side by side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Sides of this run compared.
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
        let is_bad = self.bad.unwrap_or(!self.beware.is_empty());
        match (is_bad, self.no_answer || self.is_silent()) {
            (true, _) => Answer::Bad,
            (false, true) => Answer::None,
            (false, false) => Answer::Given,
        }
    }

    /// Whether nothing is said of the drive.
    fn is_silent(&self) -> bool {
        let is_known = |one: &Use| one.grade != Grade::NotKnown;
        self.verdict.is_empty() && !self.uses.iter().any(is_known)
    }

    /// Notes what is unknown for want of time or bytes.
    pub fn want_more(&mut self, text: String) {
        self.unknown.push(text);
        self.wants_more = true;
    }

    /// The conclusions as they are kept: whoever concluded nothing has given no answer.
    pub fn closed(mut self) -> Self {
        self.no_answer |= self.is_silent() && self.beware.is_empty();
        self
    }
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// A count.
    Count,
}

/// One number that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// What it is, in a few words.
    pub name: String,
    /// The number; an estimate wherever chance had a part in it.
    pub estimate: Estimate,
    /// What it is counted in.
    pub unit: Unit,
    /// What must be known next to it; empty where nothing must.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One picture as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// Title: what the picture shows.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// The measured quantity in words.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Label of the element in legends and tables.
    pub label: String,
    /// Whether it was measured, or is a limit or a fit.
    pub kind: LineKind,
    /// Points in the units of the axes, in the order of x.
    pub points: Vec<(f64, f64)>,
}

/// What a curve is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Text at the point.
    pub label: String,
}

/// Ratios of rates, rows by columns: what is fast, and what is slow. Maps of several runs can be
/// put side by side by the names of their rows and columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMap {
    /// Title: what the picture shows.
    pub title: String,
    /// What to see in it, in a sentence.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows of the heat map, from the top.
    pub rows: Vec<HeatRow>,
}

/// One row of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatRow {
    /// Name of the row.
    pub name: String,
    /// What its ratios are compared with, in a few words.
    pub against: String,
    /// One entry a column, judged; `None` where nothing is measured.
    pub cells: Vec<Option<Cell>>,
}

/// Bars whose parts add up, one below the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stack {
    /// Title: what the picture shows.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackBar {
    /// Label of the element in legends and tables.
    pub label: String,
    /// Lengths of its parts, in their order.
    pub values: Vec<f64>,
}

/// Times in which something was so, over the time that was watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Title: what the picture shows.
    pub title: String,
    /// What to see in it, in a sentence.
    pub note: String,
    /// What follows from it, as a letter; empty where nothing does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub grade: String,
    /// Length in nanoseconds from which a time is marked as a bad one.
    pub bad_from_ns: u64,
    /// Stretches that were watched, from the top.
    pub rows: Vec<TimelineRow>,
}

/// One stretch that was watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRow {
    /// Label of the element in legends and tables.
    pub label: String,
    /// How long it was watched, in nanoseconds.
    pub length_ns: u64,
    /// Begin and end in nanoseconds from its begin, in order of time.
    pub times: Vec<(u64, u64)>,
    /// How many more there were than could be listed.
    #[serde(default)]
    pub unlisted: u64,
}

/// Estimates of several sides, a mark for each side in each row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dots {
    /// Title: what the picture shows.
    pub title: String,
    /// What to see in it, in a sentence.
    pub note: String,
    /// Names of the sides.
    pub sides: Vec<String>,
    /// Rows that have one axis, from the top.
    pub panels: Vec<DotPanel>,
}

/// Rows of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DotPanel {
    /// The measured quantity in words.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// The rows, from the top.
    pub rows: Vec<DotRow>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DotRow {
    /// Label of the element in legends and tables.
    pub label: String,
    /// An estimate for each side; `None` where nothing valid was measured.
    pub values: Vec<Option<Estimate>>,
}

/// Groups of bars: one bar for each side, with how far its values spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bars {
    /// Title: what the picture shows.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BarGroup {
    /// Label of the element in legends and tables.
    pub label: String,
    /// A mean and one standard deviation for each side; `None` where nothing was measured.
    pub values: Vec<Option<(f64, f64)>>,
}

/// Results side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// Title: what the picture shows.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// Name of the column in words.
    pub name: String,
    /// Unit of its numbers; absent where the column holds words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// One entry of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Name of the cell.
    pub cell: String,
    /// The remark, a few words.
    pub text: String,
}
