//! Charts as data: what is drawn, in which units, and the numbers behind it.
//!
//! A chart knows nothing of pixels but the width it is made for; [`crate::svg()`] draws it.

mod bars;
mod groups;
mod inside;
mod kernel;
mod latency;
mod parallel;
mod picture;
mod sampling;
mod spans;
mod stacks;
mod ticks;
mod time;

pub use bars::bars;
pub use groups::{groups, suites};
pub use latency::latency_distribution;
pub use parallel::{FileLayout, FileRow, parallel};
pub use picture::picture;
pub use sampling::min_max_per_column;
pub use stacks::stack;
pub use ticks::{Tick, ticks};
pub use time::over_time;

pub use crate::view::unit::Unit;

/// One picture with its caption and its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// One sentence that says what to see in it.
    pub note: String,
    /// What it shows in words, with its figures, for those who do not see it.
    pub alt: String,
    /// The picture.
    pub body: Body,
    /// The numbers of the picture.
    pub table: Table,
}

/// The kinds of pictures.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Curves in one panel or several, one below the other, over one horizontal axis.
    Lines {
        /// The horizontal axis.
        x: Axis,
        /// From the top.
        panels: Vec<Panel>,
        /// Shaded stretches of the horizontal axis, through all panels.
        spans: Vec<Span>,
        /// Where one repetition ends and the next begins.
        seams: Vec<f64>,
        /// What is said where the pointer rests.
        stops: Vec<Stop>,
    },
    /// Horizontal bars from zero, one below the other.
    Bars {
        /// The axis of the values; begins at zero.
        axis: Axis,
        /// The bars, in order from the top.
        bars: Vec<Bar>,
    },
    /// Horizontal bars whose parts add up.
    Stacks {
        /// The axis of the lengths; begins at zero.
        axis: Axis,
        /// Names of the parts, from the left.
        parts: Vec<String>,
        /// The bars, in order from the top.
        bars: Vec<Layered>,
    },
    /// Horizontal bars in groups, one of each side in a group.
    Groups {
        /// The axis of the values; begins at zero.
        axis: Axis,
        /// Names of the sides.
        sides: Vec<String>,
        /// The groups, in order from the top: their names and the bars of the sides.
        groups: Vec<(String, Vec<Option<Bar>>)>,
    },
    /// The tests of a suite as small panels of upright bars, all from zero, each with an axis of
    /// its own.
    Columns {
        /// Names of the sides.
        sides: Vec<String>,
        /// The panels, in rows from the left.
        tests: Vec<Test>,
    },
    /// Files of parallel workers as rows of blocks.
    Layout(FileLayout),
}

/// One panel of upright bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// What was tested.
    pub title: String,
    /// The axis of the values; begins at zero.
    pub axis: Axis,
    /// The groups, from the left: their names and the bars of the sides.
    pub groups: Vec<(String, Vec<Option<Bar>>)>,
}

/// Curves over one vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub lines: Vec<Line>,
    /// Single points worth a word.
    pub points: Vec<Point>,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures, in words.
    pub quantity: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Logarithmic instead of linear.
    pub is_log: bool,
    /// Its first value.
    pub from: f64,
    /// Its last value, larger than the first.
    pub to: f64,
}

/// What a colour means; the same on every page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hue {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Everything else.
    Other,
    /// Something that needs attention.
    Warning,
    /// One of several curves that none of these meanings tells apart.
    Series(u8),
}

/// A curve. Between its pieces nothing is known and nothing is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is, for the legend.
    pub label: String,
    /// Its meaning.
    pub hue: Hue,
    /// What tells it from others of its hue.
    pub stroke: Stroke,
    /// Pieces of `(x, y)` in the units of the axes.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// In one go.
    Solid,
    /// Dashed.
    Dashed,
    /// Dotted.
    Dotted,
    /// Dashes and dots in turn.
    DashDotted,
}

/// A single point with a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Where, in the units of the axes.
    pub at: (f64, f64),
    /// Its meaning.
    pub hue: Hue,
    /// The word.
    pub label: String,
}

/// A shaded stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Where it begins, in the unit of the horizontal axis.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it is; empty where a neighbour has said it.
    pub word: String,
    /// What it is in full, for the pointer.
    pub tip: String,
    /// Its meaning.
    pub hue: Hue,
}

/// A stretch of the horizontal axis and what is said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// Where it begins, in the unit of the horizontal axis.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// The values there.
    pub tip: String,
}

/// A bar with its error bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its length, in the unit of the axis.
    pub value: f64,
    /// The ends of the 95 % interval or of another spread, where there is one.
    pub interval: Option<(f64, f64)>,
    /// The number as text, with its unit, half width and n.
    pub text: String,
    /// The number may not be what it is called: drawn hollow.
    pub is_suspect: bool,
    /// Its meaning.
    pub hue: Hue,
}

/// A bar in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Layered {
    /// Its name.
    pub label: String,
    /// The whole as text, with its unit.
    pub text: String,
    /// Lengths of its parts, in the unit of the axis.
    pub values: Vec<f64>,
    /// What is said of each part.
    pub tips: Vec<String>,
}

/// Numbers in rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Heads of the columns.
    pub heads: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Axis {
    /// The position of `value` on the axis as a share from 0 to 1, within its ends.
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => {
                let (from, to) = (self.from.max(f64::MIN_POSITIVE), self.to);
                (value.max(from) / from).log10() / (to / from).log10()
            }
            false => (value - self.from) / (self.to - self.from),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}
