//! Charts as data: what is drawn, in which units, and the numbers behind it.
//!
//! A chart knows nothing of pixels but the width it is made for; [`crate::svg()`] draws it.

mod bars;
mod claims;
mod density;
mod dots;
mod groups;
mod inside;
mod kernel;
mod latency;
mod map;
mod parallel;
mod picture;
mod sampling;
mod spans;
mod stacks;
mod ticks;
mod time;
mod timeline;

pub use bars::bars;
pub use claims::{ClaimBar, claims};
pub use density::density;
pub use dots::{DotPanel, dots};
pub use groups::{groups, suites};
pub use latency::{latency_distribution, latency_of_sides};
pub use map::{Place, map};
pub use parallel::{FileLayout, FileRow, parallel};
pub use picture::picture;
pub use sampling::min_max_per_column;
pub use stacks::stack;
pub use ticks::{Tick, ticks};
pub use time::over_time;
pub use timeline::{TimelineRow, timeline};

pub use crate::view::unit::Unit;

/// One picture with its caption and its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Title: what the chart shows.
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
        /// Panels, from the top.
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
    /// A mark of each side in rows, over logarithmic axes.
    Dots {
        /// Names of the sides; one without a name is alone.
        sides: Vec<String>,
        /// Rows by what is measured of them, from the top.
        panels: Vec<DotPanel>,
    },
    /// Places in a plane of two logarithmic axes, numbered, with their names below.
    Map {
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// The places, in the order of their numbers.
        places: Vec<Place>,
        /// Products of both coordinates along which a line is drawn, and their names.
        guides: Vec<(f64, String)>,
    },
    /// Claims as bars against their limits, each as a share of its own limit.
    Claims(Vec<ClaimBar>),
    /// What happened when, in rows over one axis of time.
    Timeline {
        /// The axis of time.
        axis: Axis,
        /// A grade in a letter; empty where there is none.
        grade: String,
        /// The rows, from the top.
        rows: Vec<TimelineRow>,
    },
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
    /// Shaded fields behind the curves.
    pub fields: Vec<Field>,
}

/// A rectangle of a panel: the stronger, the more of what is counted lies in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Ends on the horizontal axis.
    pub x: (f64, f64),
    /// Ends on the vertical axis.
    pub y: (f64, f64),
    /// Colour, by its meaning.
    pub hue: Hue,
    /// From 1, the palest, to [`STRENGTH_MAX`].
    pub strength: u8,
}

/// The strongest shade of a [`Field`].
pub const STRENGTH_MAX: u8 = 5;

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

impl Axis {
    /// The name next to the axis.
    pub fn name(&self) -> String {
        self.naming_unit(&self.quantity)
    }

    /// A name that says IOPS where the values are: their ticks are `200k` alone.
    pub fn naming_unit(&self, name: &str) -> String {
        match self.unit {
            Unit::Operations if !name.contains("IOPS") => format!("{name}, IOPS"),
            _ => name.to_owned(),
        }
    }
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
    /// Colour, by its meaning.
    pub hue: Hue,
    /// What tells it from others of its hue.
    pub stroke: Stroke,
    /// Pieces of `(x, y)` in the units of the axes.
    pub pieces: Vec<Vec<(f64, f64)>>,
    /// Its points were measured one by one: a few of them are drawn as dots, because a line would
    /// say something of what lies between. A limit or a fit is a line between any two points.
    pub is_measured: bool,
}

/// A measured curve of fewer points is drawn as dots.
const LINE_POINTS_MIN: usize = 5;

impl Line {
    /// Whether it is drawn as dots alone.
    pub fn is_dots(&self) -> bool {
        let points: usize = self.pieces.iter().map(Vec::len).sum();
        self.stroke == Stroke::Points || (self.is_measured && points < LINE_POINTS_MIN)
    }
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
    /// Not at all: a dot for each point.
    Points,
}

/// A single point with a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Where, in the units of the axes.
    pub at: (f64, f64),
    /// Colour, by its meaning.
    pub hue: Hue,
    /// Text at the point.
    pub label: String,
}

/// A shaded stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Where it begins, in the unit of the horizontal axis.
    pub from: f64,
    /// End, in the unit of the axis.
    pub to: f64,
    /// What it is; empty where a neighbour has said it.
    pub word: String,
    /// What it is in full, for the pointer.
    pub tip: String,
    /// Colour, by its meaning.
    pub hue: Hue,
}

/// A stretch of the horizontal axis and what is said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// Where it begins, in the unit of the horizontal axis.
    pub from: f64,
    /// End, in the unit of the axis.
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
    /// Colour, by its meaning.
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
    /// A logarithmic axis around these values, with a little room at both ends; `None` without a
    /// value above zero.
    pub(crate) fn around(quantity: &str, unit: Unit, values: &[f64]) -> Option<Self> {
        let usable = || values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
        let low = usable().fold(f64::INFINITY, f64::min);
        let high = usable().fold(0.0, f64::max);
        // Ends a factor of four apart have at least two ticks between them.
        let room = (2.0 / (high / low).sqrt()).max(1.15);
        low.is_finite().then(|| Axis {
            quantity: quantity.to_owned(),
            unit,
            is_log: true,
            from: low / room,
            to: high * room,
        })
    }

    /// The position of `value` on the axis as a share from 0 to 1, within its ends.
    pub fn share(&self, value: f64) -> f64 {
        self.share_beyond(value).clamp(0.0, 1.0)
    }

    /// The same, and beyond its ends a little less or more.
    pub(crate) fn share_beyond(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => {
                let (from, to) = (self.from.max(f64::MIN_POSITIVE), self.to);
                (value.max(from) / from).log10() / (to / from).log10()
            }
            false => (value - self.from) / (self.to - self.from),
        };
        if share.is_finite() { share.clamp(-0.1, 1.2) } else { 0.0 }
    }
}
