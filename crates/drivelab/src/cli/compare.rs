//! The options of `drivelab compare`.

use super::StoreOptions;
use clap::{Args, ValueEnum};
use drivelab_core::comparison::Metric;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drivelab compare before.jsonl after.jsonl
  drivelab compare 20260101-101500-ab12 last --metric p99
  drivelab compare a1.jsonl,a2.jsonl,a3.jsonl b1.jsonl,b2.jsonl,b3.jsonl
                                 sets of runs: then each run is one value
  drivelab compare iops.csv      two columns of numbers, before and after
  drivelab compare a1.json,a2.json,a3.json b1.json,b2.json,b3.json
                                 written by fio --output-format=json, one run
                                 per file; five per side are enough for a
                                 verdict
  drivelab compare before after  all runs with --tag before, against those with
                                 --tag after
  drivelab compare --baseline main.jsonl --max-slowdown 5% new.jsonl
                                 a gate: 0 within the limit, 1 beyond it, 4
                                 cannot tell

Verdicts, of the ratio after/before and its 95 % interval:
  slower, faster   the whole interval lies outside the band (5 % of rates,
                   means and medians, 10 % of p99, 20 % of p99.9)
  negligible       a difference that is real, and smaller than the band
  size unsettled   a difference that is real, of which the interval crosses the
                   edge of the band
  equivalent       shown not to differ by more than the band
  cannot tell      the data are too few or too noisy; (n 12) says how many
                   repetitions per side are most likely enough
  identical        all values are one number
  no noise         two constants that differ: chance cannot be assessed
  suspect          the truth guard objects to it on one side: kept out
All cells are one family, whose p-values are adjusted together; intervals are
each cell's own.

Exit status: 0 nothing slower, 1 a cell is slower.";

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum MetricWord {
    Iops,
    Mean,
    P50,
    P99,
    #[value(name = "p99.9")]
    P999,
}

impl MetricWord {
    /// What it stands for.
    pub fn metric(self) -> Metric {
        match self {
            MetricWord::Iops => Metric::Iops,
            MetricWord::Mean => Metric::MeanNs,
            MetricWord::P50 => Metric::P50Ns,
            MetricWord::P99 => Metric::P99Ns,
            MetricWord::P999 => Metric::P999Ns,
        }
    }
}

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareOptions {
    /// Runs (a path, an ID, a tag, or `last`), files of numbers or JSON of fio: before and after,
    /// several of a side joined by commas
    #[arg(value_name = "RUNS", required = true, num_args = 1..=2)]
    pub sides: Vec<String>,
    /// The side before, for a gate
    #[arg(long, value_name = "RUNS", requires = "max_slowdown")]
    pub baseline: Option<String>,
    /// Gate: largest slowdown allowed in any cell, such as 5%
    #[arg(long, value_name = "SHARE", requires = "baseline", value_parser = share)]
    pub max_slowdown: Option<f64>,
    /// What is compared; may be given several times
    #[arg(long, value_name = "METRIC", default_value = "iops", value_delimiter = ',')]
    pub metric: Vec<MetricWord>,
    /// Changes smaller than this count as unchanged [default: 5% to 20%, by metric]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub band: Option<f64>,
    /// Where to write an HTML page with all cells in one picture [default: none]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write Markdown as GitHub shows it; - prints it instead of text
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

/// A share between 0 and 1, such as `5%` or `0.05`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let value = number.parse::<f64>().map(|value| value / scale);
    value
        .ok()
        .filter(|value| *value > 0.0 && *value < 1.0)
        .ok_or_else(|| "a share above 0 and below 100%, such as 5% or 0.05".into())
}
