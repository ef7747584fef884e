//! What was published of drives that are simulated here, to stand next to what they do.
//!
//! Figures of one review of 2008 and of its translation, which is the only source of those beyond
//! random writes of 4 KiB at depth 1. Some were used to fit the simulated drives, the others are
//! predictions and were not.

use super::cells::{BESIDE, RANDOM, SEQUENTIAL, of_depth, of_order, of_size};
use super::judge::Seen;
use crate::experiment::published::{self, Held};
use drivelab_core::findings::Table;
use drivelab_core::quantity::{bandwidth, operations, time};

const ANANDTECH: &str = "A";
const TRANSLATION: &str = "T";

/// Which number of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    Iops,
    BytesPerS,
    MeanNs,
    LongestNs,
}

/// What counts as a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Within {
    /// Off by at most this share of what was published.
    Share(f64),
    /// Between half and double.
    FactorTwo,
    /// Published is that it is no less.
    AtLeast,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
struct Published {
    cell: String,
    measure: Measure,
    value: f64,
    within: Within,
    /// Whether the simulated drive was fitted to it.
    is_fitted: bool,
    source: &'static str,
}

/// Random writes of 4 KiB at depth 1: a second, bytes a second, mean and longest milliseconds.
fn random(iops: f64, mebibytes: f64, mean_ms: f64, longest_ms: f64) -> Vec<Published> {
    let one = |measure, value, within| Published {
        cell: RANDOM.into(),
        measure,
        value,
        within,
        is_fitted: true,
        source: ANANDTECH,
    };
    vec![
        one(Measure::Iops, iops, Within::Share(0.1)),
        one(Measure::BytesPerS, mebibytes * f64::from(1 << 20), Within::Share(0.1)),
        one(Measure::MeanNs, mean_ms * 1e6, Within::Share(0.1)),
        one(Measure::LongestNs, longest_ms * 1e6, Within::FactorTwo),
    ]
}

/// A figure that only the translation has, and nothing was fitted to.
fn beyond(cell: String, measure: Measure, milliseconds: f64, within: Within) -> Published {
    let value = milliseconds * 1e6;
    Published { cell, measure, value, within, is_fitted: false, source: TRANSLATION }
}

fn of(profile: &str) -> Vec<Published> {
    let about = Within::Share(0.2);
    match profile {
        "ocz-core" => {
            let in_order = beyond(SEQUENTIAL.into(), Measure::MeanNs, 0.36, Within::Share(0.1));
            let mut all = random(4.06, 0.016, 244.0, 991.0);
            all.extend([
                beyond(of_size(128 << 10), Measure::MeanNs, 244.0, about),
                Published { is_fitted: true, ..in_order },
                beyond(of_order(90), Measure::MeanNs, 25.8, Within::Share(0.1)),
                beyond(of_order(90), Measure::LongestNs, 983.0, Within::FactorTwo),
                beyond(of_depth(4), Measure::LongestNs, 2000.0, Within::AtLeast),
                beyond(of_depth(64), Measure::MeanNs, 15_000.0, about),
                beyond(of_depth(64), Measure::LongestNs, 30_000.0, about),
                beyond(BESIDE.into(), Measure::LongestNs, 250.0, Within::FactorTwo),
            ]);
            all
        }
        "samsung-slc" => {
            let mut all = random(109.0, 0.43, 9.17, 83.2);
            // The OCZ Core took 13 times as long.
            all.push(beyond(of_order(90), Measure::MeanNs, 25.8 / 13.0, about));
            all
        }
        "x25-m" => random(11_171.0, 43.6, 0.089, 94.2),
        "momentus-7200" => random(106.9, 0.42, 9.4, 76.5),
        _ => Vec::new(),
    }
}

/// The state in which the simulated drive was fitted; a disk has none that counts.
fn fitted_in(profile: &str) -> Option<&'static str> {
    (profile != "momentus-7200").then_some("fragmented")
}

/// The table for a simulated drive of which something was published.
pub fn table(target: &str, state: &str, seen: &Seen) -> Option<Table> {
    let profile = target.strip_prefix("sim:")?.split(',').next()?;
    let held = of(profile).iter().filter_map(|one| held(one, seen)).collect();
    let unlike = published::unlike(target, state, fitted_in(profile));
    published::table(
        held,
        unlike.as_deref(),
        "rates and means within 10 % (20 % where about was said), longest times within a factor of \
         two, where no word says otherwise.",
        "Sources: A, AnandTech, 8 September 2008, page 8; T, its Chinese translation by IT168, the \
         only one to have these.",
    )
}

fn held(published: &Published, seen: &Seen) -> Option<Held> {
    let here = seen.number(&published.cell, published.measure)?;
    let (low, high) = match published.within {
        Within::Share(share) => (1.0 - share, 1.0 + share),
        Within::FactorTwo => (0.5, 2.0),
        Within::AtLeast => (1.0, f64::INFINITY),
    };
    let ratio = here / published.value;
    let (what, show): (&str, fn(f64) -> String) = match published.measure {
        Measure::Iops => ("rate", operations),
        Measure::BytesPerS => ("bytes", bandwidth),
        Measure::MeanNs => ("mean", time),
        Measure::LongestNs => ("longest", time),
    };
    let more = if published.within == Within::AtLeast { "more than " } else { "" };
    Some(Held {
        figure: format!("{}, {what}", published.cell),
        here: show(here),
        published: format!("{more}{}", show(published.value)),
        ratio,
        is_hit: (low..=high).contains(&ratio),
        is_fitted: published.is_fitted,
        source: published.source,
    })
}
