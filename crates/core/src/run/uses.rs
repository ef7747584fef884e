//! What a drive is good for, and the class that its figures are like.

use crate::findings::{Figure, Unit};
use crate::quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How well a drive serves a use.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Certainly worse than the lower limit.
    Poor,
    /// Certainly between the limits.
    Enough,
    /// Certainly as good as the upper limit.
    Good,
    /// The data support none of them.
    NotKnown,
}

impl Grade {
    /// From the best, as they are printed.
    pub const ALL: [Grade; 4] = [Grade::Good, Grade::Enough, Grade::Poor, Grade::NotKnown];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Enough => "enough",
            Grade::Poor => "poor",
            Grade::NotKnown => "not known",
        }
    }

    /// What stands before the uses that have it.
    pub fn label(self) -> &'static str {
        match self {
            Grade::Good => "Good for",
            Grade::Enough => "Enough for",
            Grade::Poor => "Poor for",
            Grade::NotKnown => "Not known",
        }
    }
}

/// What a figure must reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// From here on it is good.
    pub good: f64,
    /// From here on it is enough.
    pub enough: f64,
    /// Whether the figure must be at most that; else at least.
    pub at_most: bool,
}

impl Limit {
    /// The grade of an exact number.
    pub fn grade(&self, value: f64) -> Grade {
        let reaches = |limit: f64| if self.at_most { value <= limit } else { value >= limit };
        match (reaches(self.good), reaches(self.enough)) {
            (true, _) => Grade::Good,
            (false, true) => Grade::Enough,
            (false, false) => Grade::Poor,
        }
    }
}

/// One figure of a use, against its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ground {
    /// What is asked of the drive, in a few words.
    pub name: String,
    /// What was measured; absent where nothing was that can be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
    /// What it must reach.
    pub limit: Limit,
    /// The unit of both limits.
    pub unit: Unit,
    /// What follows from this figure alone.
    pub grade: Grade,
    /// Why nothing follows; empty where something does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// What a drive is good for: one use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Use {
    /// Its name on the command line.
    pub name: String,
    /// What it is called in a sentence.
    pub label: String,
    /// How well the drive serves it.
    pub grade: Grade,
    /// It was asked for by name.
    #[serde(default)]
    pub asked: bool,
    /// The figure that the grade rests on comes first.
    pub grounds: Vec<Ground>,
}

impl Use {
    /// The use with the figure and the limit that its grade rests on: `a desktop: random read …`.
    pub fn told(&self) -> String {
        let ground = self.grounds.first().map(Ground::told).unwrap_or_default();
        format!("{}: {ground}", self.label)
    }
}

impl Ground {
    /// The figure, and the limit that it is held against.
    pub fn told(&self) -> String {
        let bound = if self.limit.at_most { "up to" } else { "from" };
        let limit = |limit: f64| written(limit, self.unit);
        let against = match self.grade {
            Grade::Good => format!("good {bound} {}", limit(self.limit.good)),
            Grade::Enough => format!(
                "good {bound} {}, enough {bound} {}",
                limit(self.limit.good),
                limit(self.limit.enough)
            ),
            Grade::Poor => format!("enough {bound} {}", limit(self.limit.enough)),
            Grade::NotKnown => self.why.clone(),
        };
        match &self.figure {
            None => format!("{}: {against}", self.name),
            Some(figure) if figure.note.is_empty() => {
                format!("{} {} ({against})", self.name, written(figure.estimate.value, self.unit))
            }
            Some(figure) => format!("{} ({against})", figure.note),
        }
    }
}

/// The kind of drive that figures are like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// What the drives are called; absent where the figures are like none of those listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The ranges of that class that the figures lie in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<Range>,
    /// Why there is none; empty where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Where a figure of a class lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// What it is.
    pub name: String,
    /// From.
    pub low: f64,
    /// To.
    pub high: f64,
    /// In this unit.
    pub unit: Unit,
}

impl Class {
    /// The class and its ranges in one sentence.
    pub fn told(&self) -> String {
        let Some(name) = &self.name else { return self.why.clone() };
        let range = |range: &Range| {
            let ends = [range.low, range.high].map(|end| written(end, range.unit));
            // One unit for both ends where they have the same; a k or an M is part of the number.
            let [low, high] = &ends;
            let unit = high.find(' ').map_or("", |at| &high[at..]);
            format!("{} {} to {high}", range.name, low.strip_suffix(unit).unwrap_or(low))
        };
        let ranges: Vec<String> = self.ranges.iter().map(range).collect();
        format!("{name} ({})", ranges.join(", "))
    }
}

/// A number in its unit.
pub fn written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => quantity::operations(value),
        Unit::BytesPerS => quantity::bandwidth(value),
        Unit::Bytes => quantity::capacity(value as u64),
        Unit::Ns => quantity::time(value),
        Unit::Share => quantity::percent(value),
        Unit::Factor | Unit::Count => quantity::digits(value),
    }
}

/// One line of the table that everyone compares: the same load, reading and writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// What the line is called.
    pub label: String,
    /// The cell that reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// The cell that writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<String>,
    /// One of the four that everyone compares.
    #[serde(default)]
    pub is_standard: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_stats::Estimate;

    fn ground(grade: Grade, figure: Option<Figure>) -> Ground {
        let limit = Limit { good: 4000.0, enough: 1500.0, at_most: false };
        let why = "the interval covers a limit".into();
        Ground { name: "random read".into(), figure, limit, unit: Unit::Iops, grade, why }
    }

    #[test]
    fn a_figure_at_a_limit_has_reached_it() {
        let least = Limit { good: 4000.0, enough: 1500.0, at_most: false };
        let most = Limit { good: 0.1, enough: 1.0, at_most: true };
        for (value, grade) in [
            (4000.0, Grade::Good),
            (3999.9, Grade::Enough),
            (1500.0, Grade::Enough),
            (1499.9, Grade::Poor),
        ] {
            assert_eq!(least.grade(value), grade, "{value}");
        }
        for (value, grade) in [(0.1, Grade::Good), (1.0, Grade::Enough), (1.1, Grade::Poor)] {
            assert_eq!(most.grade(value), grade, "{value}");
        }
    }

    #[test]
    fn a_use_is_told_with_its_figure_and_limit() {
        let estimate = Estimate::point(2000.0, 5);
        let figure = |note: &str| Figure {
            name: "random read".into(),
            estimate,
            unit: Unit::Iops,
            note: note.into(),
        };
        let told = |grade, note| ground(grade, Some(figure(note))).told();
        let enough = "random read 2.00k IOPS (good from 4.00k IOPS, enough from 1.50k IOPS)";
        assert_eq!(told(Grade::Enough, ""), enough);
        assert_eq!(told(Grade::Good, "none in 12 s"), "none in 12 s (good from 4.00k IOPS)");
        let unknown = ground(Grade::NotKnown, None).told();
        assert_eq!(unknown, "random read: the interval covers a limit");
    }

    #[test]
    fn a_class_is_told_with_its_ranges() {
        let range = |name: &str, low, high, unit| Range { name: name.into(), low, high, unit };
        let class = Class {
            name: Some("SATA SSDs".into()),
            ranges: vec![
                range("sequential read", 0.45e9, 0.57e9, Unit::BytesPerS),
                range("random read", 8e3, 1e6, Unit::Iops),
                range("Q1", 9e3, 28e3, Unit::Iops),
                range("written", 0.9e9, 1.5e9, Unit::BytesPerS),
            ],
            why: String::new(),
        };
        let text = "SATA SSDs (sequential read 450 to 570 MB/s, random read 8.00k to 1.00M IOPS, \
                    Q1 9.00k to 28.0k IOPS, written 900 MB/s to 1.50 GB/s)";
        assert_eq!(class.told(), text);
    }
}
