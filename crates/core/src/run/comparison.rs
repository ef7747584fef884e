//! Two results compared, in a form that terminal, report and JSON share.

use drivelab_stats::{Open, Ratio, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is compared of each kind of I/O.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Operations a second.
    Iops,
    /// Mean latency; response where there is one, else service.
    MeanNs,
    /// Its median.
    P50Ns,
    /// Its 99th percentile.
    P99Ns,
    /// Its 99.9th percentile.
    #[serde(rename = "p99_9_ns")]
    P999Ns,
    /// Numbers whose unit nobody said.
    Numbers,
}

impl Metric {
    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Metric::Iops => "IOPS",
            Metric::MeanNs => "mean latency",
            Metric::P50Ns => "p50 latency",
            Metric::P99Ns => "p99 latency",
            Metric::P999Ns => "p99.9 latency",
            Metric::Numbers => "numbers",
        }
    }

    /// Whether more is better; unnamed numbers are taken for rates.
    pub fn is_rate(self) -> bool {
        matches!(self, Metric::Iops | Metric::Numbers)
    }

    /// The share by which a value may change and still count as unchanged: 5 % of rates, means and
    /// medians, 10 % of p99, 20 % of p99.9.
    pub fn delta(self) -> f64 {
        match self {
            Metric::P99Ns => 0.10,
            Metric::P999Ns => 0.20,
            _ => 0.05,
        }
    }
}

/// What one side says of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The cell, and of which kind where it has several.
    pub name: String,
    /// What was measured of it.
    pub metric: Metric,
    /// One value for each repetition, or for each run where there are several; their geometric
    /// mean is the figure of all together.
    pub values: Vec<f64>,
    /// The values were measured one after the other, so that they may depend on each other;
    /// repetitions between which others came do not.
    pub is_ordered: bool,
    /// Why it must not be judged.
    pub suspect: Option<String>,
}

/// One cell of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ComparedCell")]
pub struct Cell {
    /// The cell.
    pub name: String,
    /// What was compared of it.
    pub metric: Metric,
    /// In a word; `None`: suspect, and kept out.
    pub verdict: Option<Verdict>,
    /// After by before.
    pub ratio: Option<Ratio>,
    /// p-value of a difference, adjusted over the family; `None` where there was no test.
    pub p_adjusted: Option<f64>,
    /// Repetitions a side that would most likely settle what is open.
    pub needs_n: Option<u64>,
    /// What keeps it from a word, besides noise.
    #[serde(default)]
    pub open: Option<Open>,
    /// What each side measured, in the unit of the metric; `None` in results of old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<(f64, f64)>,
    /// How many values there are before and after.
    pub n: (usize, usize),
    /// Why it was kept out.
    pub suspect: Option<String>,
}

impl Cell {
    /// How much better (above 0) or worse it became, as a logarithm.
    pub fn gain(&self) -> f64 {
        let ratio = self.ratio.map_or(1.0, |ratio| ratio.value);
        if self.metric.is_rate() { ratio.ln() } else { -ratio.ln() }
    }

    /// The word that a person reads.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            None => "suspect",
            Some(Verdict::Identical) => "identical",
            Some(Verdict::Degenerate) => "no noise",
            Some(Verdict::Changed) if self.gain() < 0.0 => "slower",
            Some(Verdict::Changed) => "faster",
            Some(Verdict::ChangedNegligible) => "negligible",
            Some(Verdict::ChangedMaybeRelevant) => "size unsettled",
            Some(Verdict::Equivalent) => "equivalent",
            Some(Verdict::Inconclusive) => "cannot tell",
        }
    }

    /// Whether it became slower by more than the band.
    pub fn is_slower(&self) -> bool {
        self.word() == "slower"
    }
}

/// Two sides, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// How the baseline was called.
    pub before: String,
    /// How the candidate was called.
    pub after: String,
    /// All cells that both measured, the largest losses first, suspect ones last.
    pub cells: Vec<Cell>,
    /// Cells of the baseline that the candidate has not.
    pub only_before: Vec<String>,
    /// Cells of the candidate that the baseline has not.
    pub only_after: Vec<String>,
    /// What differs between the sides besides what was measured.
    pub differences: Vec<String>,
    /// Whether each value is a run of its own.
    pub is_by_run: bool,
    /// The threshold that was asked for; `None`: each metric has its own, see [`Metric::delta`].
    pub delta: Option<f64>,
}
