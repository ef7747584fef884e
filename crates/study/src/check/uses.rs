//! What a drive is good for: figures against limits, both in one table.
//!
//! A grade is given where the whole interval of a figure lies on one side of a limit. A use is as
//! good as its worst figure; where that depends on what cannot be told, it is not known.

use super::{FREEZE_NS, STUTTER_SECONDS_MIN};
use drivelab_core::findings::{Figure, Unit};
use drivelab_core::quantity;
use drivelab_core::uses::{Grade, Ground, Limit, Use};
use drivelab_stats::Estimate;
use std::fmt::Write;

/// What is asked of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The rate of this kind in this cell.
    Rate(Rate),
    /// The longest time without a completion under small writes.
    Freeze,
    /// The rate at which it takes writes for hours.
    Sustained,
}

/// Rates that uses rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Rate {
    SequentialRead,
    SequentialReadAlone,
    SequentialWriteAlone,
    RandomRead,
    RandomWrite,
    RandomReadAlone,
    RandomWriteAlone,
    Commit,
}

/// One line of the table of limits.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    /// What must reach the limits.
    pub asked: Asked,
    /// From here on it is good.
    pub good: f64,
    /// From here on it is enough.
    pub enough: f64,
    /// Where the limits come from.
    pub source: &'static str,
}

/// A use and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is called in a sentence.
    pub label: &'static str,
    /// All of these are needed.
    pub conditions: &'static [Condition],
}

const fn condition(asked: Asked, good: f64, enough: f64, source: &'static str) -> Condition {
    Condition { asked, good, enough, source }
}

const SD: &str = "SD Association, Application Performance Class A2 and A1: what a card must do so \
                  that programs run from it";
const NIELSEN: &str = "Nielsen 1993: up to 0.1 s feels immediate, up to 1 s keeps the flow of \
                       thought";
const VIDEO: &str = "CompactFlash Association VPG-400 (8K RAW) and SD Association V90 (8K), both \
                     for writes; the same is asked of reads";
const MICROSOFT: &str = "Microsoft's guidance for SQL Server: 10 ms an I/O is good, 20 ms is \
                         enough; 32 in flight take that long at 3,200 and 1,600 IOPS";
const ETCD: &str = "etcd: 500 durable writes a second for heavily loaded clusters, 50 for any";
const COMMIT: &str = "drivelab's choice: 0.1 ms a commit takes a write cache that survives a power \
                      cut; at 0.5 ms one connection makes 2,000";
const BACKUP: &str = "arithmetic: 1 Gbit/s Ethernet carries 118 MB/s of data; 1 TB in 8 hours is \
                      35 MB/s";

const FREEZE: Condition = condition(Asked::Freeze, 1e8, 1e9, NIELSEN);
const READS: Condition = condition(Asked::Rate(Rate::RandomRead), 3200.0, 1600.0, MICROSOFT);
const COMMITS: Condition = condition(Asked::Rate(Rate::Commit), 500.0, 50.0, ETCD);

/// Every use, in the order in which they are printed.
pub const USES: [Kind; 6] = [
    Kind {
        name: "desktop",
        label: "desktop",
        conditions: &[
            condition(Asked::Rate(Rate::RandomReadAlone), 4000.0, 1500.0, SD),
            condition(Asked::Rate(Rate::RandomWriteAlone), 2000.0, 500.0, SD),
            FREEZE,
        ],
    },
    Kind {
        name: "video",
        label: "video editing",
        conditions: &[
            condition(Asked::Rate(Rate::SequentialReadAlone), 400e6, 90e6, VIDEO),
            condition(Asked::Rate(Rate::SequentialWriteAlone), 400e6, 90e6, VIDEO),
        ],
    },
    Kind {
        name: "database-group",
        label: "database with group commit",
        conditions: &[COMMITS, READS],
    },
    Kind {
        name: "database-each",
        label: "database with a commit each",
        conditions: &[condition(Asked::Rate(Rate::Commit), 10_000.0, 2000.0, COMMIT), READS],
    },
    Kind {
        name: "vm",
        label: "VM host",
        conditions: &[
            READS,
            condition(Asked::Rate(Rate::RandomWrite), 3200.0, 1600.0, MICROSOFT),
            COMMITS,
            FREEZE,
        ],
    },
    Kind {
        name: "backup",
        label: "backup",
        conditions: &[
            condition(Asked::Sustained, 118e6, 35e6, BACKUP),
            condition(Asked::Rate(Rate::SequentialRead), 118e6, 35e6, BACKUP),
        ],
    },
];

/// Names that stand for several uses.
const TOGETHER: [(&str, &[&str]); 1] = [("database", &["database-group", "database-each"])];

/// The uses that a word names.
///
/// # Errors
/// The word is none of them: all names, and a line that works.
pub fn named(word: &str) -> Result<Vec<&'static str>, (String, String)> {
    if let Some((_, names)) = TOGETHER.iter().find(|(name, _)| *name == word) {
        return Ok(names.to_vec());
    }
    let found = USES.iter().find(|kind| kind.name == word);
    found.map(|kind| vec![kind.name]).ok_or_else(|| {
        let names: Vec<&str> = USES.iter().map(|kind| kind.name).collect();
        let text = format!("--for {word} names no use that check knows");
        let line = format!(
            "Uses: {}; database stands for both databases.\n  For example:  drivelab check --for \
             database,desktop",
            names.join(", ")
        );
        (text, line)
    })
}

/// What is known of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// A number with its interval.
    Measured {
        /// The number.
        estimate: Estimate,
        /// Repetitions were equal.
        is_exact: bool,
    },
    /// It is at most that, and why no more is known.
    AtMost {
        /// What was measured.
        estimate: Estimate,
        /// It is at least that.
        least: f64,
        /// Why it may be less than was measured.
        why: String,
    },
    /// A number that says too little, and why.
    Open(Estimate, String),
    /// No freeze came.
    None {
        /// The longest time without a completion, where known.
        longest_ns: Option<u64>,
        /// How long it was looked for.
        seconds: f64,
    },
    /// Why nothing is known.
    Nothing(String),
}

impl Asked {
    fn name(self) -> &'static str {
        match self {
            Asked::Rate(rate) => rate.name(),
            Asked::Freeze => "longest freeze",
            Asked::Sustained => "sustained sequential write",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Asked::Rate(rate) => rate.unit(),
            Asked::Freeze => Unit::Ns,
            Asked::Sustained => Unit::BytesPerS,
        }
    }
}

impl Rate {
    /// What it is called in a sentence.
    fn name(self) -> &'static str {
        match self {
            Rate::SequentialRead => "sequential read Q8",
            Rate::SequentialReadAlone => "sequential read Q1",
            Rate::SequentialWriteAlone => "sequential write Q1",
            Rate::RandomRead => "random 4K read Q32",
            Rate::RandomWrite => "random 4K write Q32",
            Rate::RandomReadAlone => "random 4K read Q1",
            Rate::RandomWriteAlone => "random 4K write Q1",
            Rate::Commit => "durable commits",
        }
    }

    /// Bytes or operations.
    pub fn unit(self) -> Unit {
        match self {
            Rate::SequentialRead | Rate::SequentialReadAlone | Rate::SequentialWriteAlone => {
                Unit::BytesPerS
            }
            _ => Unit::Iops,
        }
    }
}

/// The uses, each judged by what `known` says of its figures.
pub fn judged(asked: &[String], known: impl Fn(Asked) -> Known) -> Vec<Use> {
    let one = |kind: &Kind| {
        let mut grounds: Vec<(Ground, [Grade; 2])> = kind
            .conditions
            .iter()
            .map(|condition| ground(condition, known(condition.asked)))
            .collect();
        let worst = grounds.iter().map(|(_, [worst, _])| *worst).min().unwrap_or(Grade::Poor);
        let best = grounds.iter().map(|(_, [_, best])| *best).min().unwrap_or(Grade::Poor);
        let grade = if worst == best { worst } else { Grade::NotKnown };
        // The figure that decides comes first: of those with this grade the one that is the
        // furthest from good.
        grounds.sort_by(|(a, _), (b, _)| {
            (a.grade != grade, share(a))
                .partial_cmp(&(b.grade != grade, share(b)))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        Use {
            name: kind.name.into(),
            label: kind.label.into(),
            grade,
            asked: asked.iter().any(|name| name == kind.name),
            grounds: grounds.into_iter().map(|(ground, _)| ground).collect(),
        }
    };
    USES.iter().map(one).collect()
}

/// A figure by its good limit, the worse the smaller.
fn share(ground: &Ground) -> f64 {
    let Some(figure) = &ground.figure else { return f64::INFINITY };
    let share = figure.estimate.value / ground.limit.good;
    if ground.limit.at_most { 1.0 / share.max(f64::MIN_POSITIVE) } else { share }
}

/// What follows from one figure: its worst and its best possible grade.
fn ground(condition: &Condition, known: Known) -> (Ground, [Grade; 2]) {
    let asked = condition.asked;
    let (name, unit) = (asked.name().to_string(), asked.unit());
    let limit =
        Limit { good: condition.good, enough: condition.enough, at_most: asked == Asked::Freeze };
    let figure = |estimate, note| Some(Figure { name: asked.name().into(), estimate, unit, note });
    let nothing = [Grade::Poor, Grade::Good];
    let (figure, [worst, best], why) = match known {
        Known::Nothing(why) => (None, nothing, why),
        Known::Open(estimate, why) => (figure(estimate, String::new()), nothing, why),
        Known::None { longest_ns, seconds } => {
            let longest = longest_ns.unwrap_or(FREEZE_NS) as f64;
            let note = format!(
                "no freeze over {} in {} s",
                quantity::time(longest),
                quantity::digits(seconds)
            );
            let estimate = Estimate::point(longest, 1);
            match seconds >= STUTTER_SECONDS_MIN {
                true => (figure(estimate, note), [Grade::Good; 2], String::new()),
                false => (None, nothing, format!("{note}, too short a look")),
            }
        }
        Known::AtMost { estimate, least, why } => {
            let high = estimate.high.unwrap_or(estimate.value);
            (figure(estimate, String::new()), [limit.grade(least), limit.grade(high)], why)
        }
        Known::Measured { estimate, is_exact } => {
            let exact = is_exact.then_some((estimate.value, estimate.value));
            match estimate.low.zip(estimate.high).or(exact) {
                Some(ends) => measured(&limit, unit, ends, figure(estimate, String::new())),
                None => (figure(estimate, String::new()), nothing, "no interval".into()),
            }
        }
    };
    let grade = if worst == best { worst } else { Grade::NotKnown };
    let why = if grade == Grade::NotKnown { why } else { String::new() };
    (Ground { name, figure, limit, unit, grade, why }, [worst, best])
}

/// The grades of both ends of an interval, the worse first, and which limit lies within it.
fn measured(
    limit: &Limit,
    unit: Unit,
    (low, high): (f64, f64),
    figure: Option<Figure>,
) -> (Option<Figure>, [Grade; 2], String) {
    let ends = if limit.at_most { [high, low] } else { [low, high] };
    let [worst, best] = ends.map(|end| limit.grade(end));
    let crossed = if best == Grade::Good { limit.good } else { limit.enough };
    let written = |value| drivelab_core::uses::written(value, unit);
    let why = format!(
        "cannot tell: {} to {} covers the limit of {}",
        written(low),
        written(high),
        written(crossed)
    );
    (figure, [worst, best], why)
}

/// The table of limits as docs/METHODOLOGY.md has it.
pub fn table() -> String {
    let mut text = String::from(
        "| use (`--for`) | figure | good | enough | source |\n|---|---|---|---|---|\n",
    );
    for kind in &USES {
        for (index, condition) in kind.conditions.iter().enumerate() {
            let name = match index {
                0 => format!("{} (`{}`)", kind.label, kind.name),
                _ => String::new(),
            };
            let unit = condition.asked.unit();
            let written = |value| drivelab_core::uses::written(value, unit);
            let bound = if condition.asked == Asked::Freeze { "at most" } else { "at least" };
            let _ = writeln!(
                text,
                "| {name} | {} | {bound} {} | {bound} {} | {} |",
                condition.asked.name(),
                written(condition.good),
                written(condition.enough),
                condition.source
            );
        }
    }
    text
}

#[cfg(test)]
mod tests;
