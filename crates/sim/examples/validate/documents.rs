//! The figures that five documents (and two reviews next to them) publish of drives that are
//! simulated here: where each stands, whether it was fitted, and how near is near enough. All of
//! that is declared here, before anything is run.

mod doc_000;
pub mod doc_001;
mod doc_002;
mod doc_003;
mod doc_004;
mod reviews;

use crate::load::is_there;
use crate::page::{Table, difference, number};

/// What one source publishes.
pub struct Document {
    /// Its number, or a word.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What of it is not compared with a simulated drive here, and why.
    pub left_out: &'static str,
    /// Its loads.
    pub loads: &'static [Load],
}

/// A load on one profile, and what is published of it.
pub struct Load {
    /// The profile.
    pub profile: &'static str,
    /// The state in which it begins; empty where a drive has none that counts.
    pub state: &'static str,
    /// What the document says of the state.
    pub state_source: &'static str,
    /// The load in words.
    pub load: &'static str,
    /// The figures, in the order in which `measure` gives them.
    pub figures: &'static [Figure],
    /// Runs the load on a target.
    pub measure: fn(&str) -> Result<Vec<f64>, String>,
}

/// One published figure.
pub struct Figure {
    /// Where it stands in the document.
    pub place: &'static str,
    /// What it is, with its unit.
    pub what: &'static str,
    /// What is published.
    pub published: Published,
    /// How near counts as a hit.
    pub tolerance: Tolerance,
    /// Whether a parameter was chosen by it.
    pub role: Role,
    /// What was expected of the simulated drive before its first run, and why, where that was
    /// written down.
    pub expected: Option<(f64, f64, &'static str)>,
}

/// What is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Published {
    /// A number.
    Value(f64),
    /// Between two numbers.
    Range(f64, f64),
    /// More than that, and no more is said.
    Over(f64),
}

/// How near is near enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// This share of what is published, either way; above it where only "over" is published.
    Share(f64),
    /// This factor, either way.
    Factor(f64),
    /// A change in per cent with its sign, within these points; below [`NO_CHANGE`] it has none.
    Points(f64),
    /// On the right side.
    Order,
}

/// Whether a figure was used to choose a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// This parameter was chosen so that the figure comes out.
    Fitted(&'static str),
    /// This parameter is the figure itself, or a plain quotient of it.
    Given(&'static str),
    /// It says the same as another figure, and is not counted.
    Restates(&'static str),
    /// Nothing was chosen by it.
    Predicted,
}

/// A change of less than this many per cent has no sign.
const NO_CHANGE: f64 = 1.0;

/// All of them.
pub const DOCUMENTS: &[Document] = &[
    doc_000::DOCUMENT,
    doc_001::DOCUMENT,
    doc_002::DOCUMENT,
    doc_003::DOCUMENT,
    doc_004::DOCUMENT,
    reviews::DOCUMENT,
];

/// A prediction.
const fn predicted(
    place: &'static str,
    what: &'static str,
    published: Published,
    tolerance: Tolerance,
) -> Figure {
    Figure { place, what, published, tolerance, role: Role::Predicted, expected: None }
}

impl Figure {
    /// The same with another role.
    const fn of_role(self, role: Role) -> Figure {
        Figure { role, ..self }
    }

    /// The same with what was expected before the first run.
    const fn expecting(self, low: f64, high: f64, why: &'static str) -> Figure {
        Figure { expected: Some((low, high, why)), ..self }
    }

    /// Whether the simulated figure is near enough.
    pub fn is_hit(&self, found: f64) -> bool {
        let (low, high) = match self.published {
            Published::Value(value) => (value, value),
            Published::Range(low, high) => (low, high),
            Published::Over(least) => (least, f64::INFINITY),
        };
        match self.tolerance {
            Tolerance::Share(share) => match self.published {
                Published::Over(least) => (least..=least * (1.0 + share)).contains(&found),
                _ => (low * (1.0 - share)..=high * (1.0 + share)).contains(&found),
            },
            Tolerance::Factor(factor) => (low / factor..=high * factor).contains(&found),
            Tolerance::Points(points) => {
                let is_none = found.abs() < NO_CHANGE;
                let is_near = (low - points..=high + points).contains(&found);
                match low <= 0.0 && high >= 0.0 {
                    true => is_near,
                    false => is_near && !is_none && (found > 0.0) == (low > 0.0),
                }
            }
            Tolerance::Order => found >= low && found <= high,
        }
    }

    fn row(&self, found: String, verdict: &str) -> [String; 8] {
        let expected = self.expected.map_or(String::new(), |(low, high, why)| {
            format!("{}: {why}", Published::Range(low, high).words())
        });
        [
            self.place.to_owned(),
            self.what.to_owned(),
            self.role.words(),
            self.published.words(),
            self.tolerance.words(),
            found,
            verdict.to_owned(),
            expected,
        ]
    }

    fn off_by(&self, found: f64) -> String {
        match (self.tolerance, self.published) {
            (Tolerance::Points(_) | Tolerance::Order, _) => number(found),
            (_, Published::Value(value) | Published::Over(value)) => {
                format!("{} ({})", number(found), difference(found, value))
            }
            (_, Published::Range(..)) => number(found),
        }
    }
}

impl Published {
    fn words(self) -> String {
        match self {
            Published::Value(value) => written(value),
            Published::Range(0.0, 0.0) => "no change".to_owned(),
            Published::Range(low, high) => format!("{} to {}", written(low), written(high)),
            Published::Over(least) => format!("over {}", written(least)),
        }
    }
}

impl Tolerance {
    fn words(self) -> String {
        match self {
            Tolerance::Share(share) => format!("{:.0} %", 100.0 * share),
            Tolerance::Factor(factor) => format!("× {factor}"),
            Tolerance::Points(points) => format!("{points} points, sign"),
            Tolerance::Order => "side".to_owned(),
        }
    }
}

impl Role {
    fn words(self) -> String {
        match self {
            Role::Fitted(parameter) => format!("fitted, `{parameter}`"),
            Role::Given(parameter) => format!("given as `{parameter}`"),
            Role::Restates(other) => format!("restates {other}"),
            Role::Predicted => "predicted".to_owned(),
        }
    }
}

/// A constant as it stands in the source.
fn written(value: f64) -> String {
    format!("{value}").replace('-', "−")
}

impl Load {
    /// The target, with keys behind the profile (each with a comma before it).
    pub fn target(&self, keys: &str) -> String {
        let state = if self.state.is_empty() { "" } else { ",state=" };
        format!("{}{keys}{state}{}", self.profile, self.state)
    }

    /// Runs it.
    pub fn found(&self, keys: &str) -> Result<Vec<f64>, String> {
        match is_there(self.profile) {
            true => (self.measure)(&self.target(keys)),
            false => Err("profile not there".to_owned()),
        }
    }
}

/// Hits of this many.
#[derive(Default, Clone, Copy)]
struct Count {
    hits: u32,
    of: u32,
}

impl Count {
    fn add(&mut self, is_hit: bool) {
        self.of += 1;
        self.hits += u32::from(is_hit);
    }

    fn words(self) -> String {
        format!("{} of {}", self.hits, self.of)
    }
}

#[derive(Default)]
struct Score {
    chosen: Count,
    predicted: Count,
    absent: u32,
}

/// A line that says what was run, and a table of its figures.
fn told(load: &Load, score: &mut Score) -> String {
    let measured = load.found("");
    let mut table = Table::new(&HEADS);
    for (index, figure) in load.figures.iter().enumerate() {
        let value = match &measured {
            Ok(values) => values.get(index).copied().ok_or("not measured".to_owned()),
            Err(error) => Err(error.clone()),
        };
        let (found, verdict) = match value {
            Ok(value) => {
                let is_hit = figure.is_hit(value);
                match figure.role {
                    Role::Fitted(_) | Role::Given(_) => score.chosen.add(is_hit),
                    Role::Predicted => score.predicted.add(is_hit),
                    Role::Restates(_) => {}
                }
                (figure.off_by(value), if is_hit { "hit" } else { "**miss**" })
            }
            Err(error) => {
                score.absent += 1;
                (error, "unknown")
            }
        };
        table.row(&figure.row(found, verdict));
    }
    let state = match (load.state, load.state_source) {
        ("", _) => String::new(),
        (state, "") => format!(", state `{state}`"),
        (state, source) => format!(", state `{state}` ({source})"),
    };
    format!("`{}`, {}{state}:\n\n{}\n", load.profile, load.load, table.text())
}

const HEADS: [&str; 8] = [
    "place",
    "figure",
    "role",
    "published",
    "tolerance",
    "here",
    "",
    "expected before the first run, and why",
];

const RULE: &str = "\
Each published figure with its place, and a tolerance that was fixed before the run: rates \
and means 10 %, longest times a factor of two, where no word of the document says otherwise; \
changes 5 points and their sign (a change below 1 % has none); orders on the right side. \
*Fitted* names the parameter that was chosen so that the figure comes out, each for one \
figure of its profile (a test counts); *given* is a parameter that is the figure itself; \
*restates* says the same as another figure and is not counted; all else is *predicted*: \
nothing was chosen by it, and a miss stays one.";

/// The tables of all documents, or of the one that is named behind the section.
pub fn section() -> Result<String, String> {
    let (mut tables, mut sums) = (String::new(), Table::new(&SUM_HEADS));
    let asked = std::env::args().nth(2);
    let is_asked = |name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    for document in DOCUMENTS.iter().filter(|document| is_asked(document.name)) {
        let mut score = Score::default();
        let loads: Vec<String> = document.loads.iter().map(|load| told(load, &mut score)).collect();
        sums.row(&[
            document.name.to_owned(),
            document.title.to_owned(),
            score.chosen.words(),
            score.predicted.words(),
            score.absent.to_string(),
            document.left_out.to_owned(),
        ]);
        tables.push_str(&format!(
            "#### {}: {}\n\n{}\n",
            document.name,
            document.title,
            loads.concat()
        ));
    }
    Ok(format!("### The documents' figures\n\n{RULE}\n\n{}\n{}", sums.text(), tables.trim_end()))
}

const SUM_HEADS: [&str; 6] = [
    "document",
    "title",
    "fitted or given, hit",
    "predicted, hit",
    "could not run",
    "left out here, and why",
];

#[cfg(test)]
mod tests;
