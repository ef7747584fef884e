//! What is known of the figures that uses and classes rest on.

use super::super::uses::{Asked, Known, Rate};
use super::{
    FSYNC, Freezes, Judged, RANDOM_READ, RANDOM_READ_ALONE, RANDOM_WRITE, RANDOM_WRITE_ALONE,
    SEQUENTIAL_READ, SEQUENTIAL_READ_ALONE, SEQUENTIAL_WRITE, SEQUENTIAL_WRITE_ALONE,
};
use drivelab_core::findings::Unit;
use drivelab_core::op::Action;
use drivelab_core::quantity;
use drivelab_core::rounds;
use drivelab_core::summary::{CellSummary, Rates};
use drivelab_stats::Estimate;
use drivelab_stats::steady::Holder;

/// A disk writes no faster than it reads; beyond this a cache took the writes.
const WRITE_BY_READ_MAX: f64 = 1.1;
/// The innermost tracks of a disk are about half as long as the outermost, and as fast.
const INNER_BY_OUTER_MIN: f64 = 0.4;

impl Rate {
    /// The cell and the kind of operation that it is the rate of.
    fn place(self) -> (&'static str, Action) {
        match self {
            Rate::SequentialRead => (SEQUENTIAL_READ, Action::Read),
            Rate::SequentialReadAlone => (SEQUENTIAL_READ_ALONE, Action::Read),
            Rate::SequentialWriteAlone => (SEQUENTIAL_WRITE_ALONE, Action::Write),
            Rate::RandomRead => (RANDOM_READ, Action::Read),
            Rate::RandomWrite => (RANDOM_WRITE, Action::Write),
            Rate::RandomReadAlone => (RANDOM_READ_ALONE, Action::Read),
            Rate::RandomWriteAlone => (RANDOM_WRITE_ALONE, Action::Write),
            Rate::Commit => (FSYNC, Action::Write),
        }
    }
}

impl Judged<'_> {
    /// What a use may rest on.
    pub(super) fn known(&self, asked: Asked, freezes: &Freezes) -> Known {
        if let Some(why) = self.is_not_of_the_drive() {
            return Known::Nothing(why.into());
        }
        match asked {
            Asked::Rate(rate) => {
                let (cell, action) = rate.place();
                self.rate(cell, action, rate.unit())
            }
            Asked::Freeze => frozen(freezes),
            Asked::Sustained => self.sustained(),
        }
    }

    /// Sequential read, random read at depth 32 and alone, as far as they can be believed.
    pub(super) fn read_figures(&self) -> [Option<Estimate>; 3] {
        let figures = [Rate::SequentialRead, Rate::RandomRead, Rate::RandomReadAlone];
        figures.map(|rate| {
            let (cell, action) = rate.place();
            match self.rate(cell, action, rate.unit()) {
                Known::Measured { estimate, .. } if self.is_not_of_the_drive().is_none() => {
                    Some(estimate)
                }
                _ => None,
            }
        })
    }

    /// Why no figure says what the drive can do.
    fn is_not_of_the_drive(&self) -> Option<&'static str> {
        let filesystem = self.facts.target.filesystem.as_ref();
        match filesystem.and_then(|found| found.hazard.as_ref()) {
            _ if self.is_buffered() => Some("the page cache took part"),
            Some(_) => Some("more than a drive was measured"),
            None => None,
        }
    }

    fn rate(&self, name: &str, action: Action, unit: Unit) -> Known {
        let Some(cell) = self.cell(name) else { return Known::Nothing("not measured".into()) };
        if cell.valid == Some(false) {
            return Known::Nothing(kept_out(cell).into());
        }
        let kind = self.kind(name, action);
        let Some(rates) = kind.map(|kind| &kind.rates) else {
            return Known::Nothing("not measured".into());
        };
        let estimate = match unit {
            Unit::BytesPerS => rates.bandwidth_bytes_per_s,
            _ => rates.iops,
        };
        estimate.map_or_else(
            || Known::Nothing("too short to be measured".into()),
            |estimate| believed(estimate, rates),
        )
    }

    /// Behind a cache nobody knows what comes when it is full: it is at most what was seen. The
    /// same holds of disks that take writes faster than they read; others are slower further in.
    fn sustained(&self) -> Known {
        let known = self.rate(SEQUENTIAL_WRITE, Action::Write, Unit::BytesPerS);
        let Known::Measured { estimate, .. } = known else { return known };
        let read = self.bandwidth(SEQUENTIAL_READ, Action::Read);
        let is_disk = rounds::holder(self.facts) == Holder::Nothing;
        let is_quota = self.has_quota();
        let keeps = |read: f64| estimate.value <= WRITE_BY_READ_MAX * read;
        match is_disk && read.is_some_and(keeps) {
            true if is_quota => known,
            true => Known::AtMost {
                estimate,
                least: INNER_BY_OUTER_MIN * estimate.low.unwrap_or(estimate.value),
                why: "of its first tracks: the last carry about half of that".into(),
            },
            false => Known::AtMost {
                estimate,
                least: 0.0,
                why: "at most that: nobody knows what is left when a cache is full".into(),
            },
        }
    }
}

/// Why a cell has no numbers that may be judged.
fn kept_out(cell: &CellSummary) -> &'static str {
    match (cell.reasons.is_empty(), cell.drifts.is_empty()) {
        (false, _) => "the figure is suspect",
        (true, false) => "the figure drifts from repetition to repetition",
        (true, true) => "no repetition came to its end",
    }
}

/// A rate with its interval; equal repetitions need none.
fn believed(estimate: Estimate, rates: &Rates) -> Known {
    if estimate.low.is_some() && estimate.high.is_some() {
        return Known::Measured { estimate, is_exact: false };
    }
    match &rates.no_interval {
        Some(why) => Known::Open(estimate, why.text.clone()),
        None if estimate.n > 2 => Known::Measured { estimate, is_exact: true },
        None => Known::Open(estimate, "too few repetitions for an interval".into()),
    }
}

fn frozen(freezes: &Freezes) -> Known {
    match freezes.longest_ns {
        _ if freezes.seconds == 0.0 => Known::Nothing("not measured".into()),
        _ if freezes.own_ns.is_some() => Known::Measured {
            estimate: Estimate::point(freezes.own_ns.unwrap_or(0) as f64, 1),
            is_exact: true,
        },
        Some(longest) if freezes.is_open() => Known::Nothing(format!(
            "one of {} may have been this machine's",
            quantity::time(longest as f64)
        )),
        longest => Known::None { longest_ns: longest, seconds: freezes.seconds },
    }
}
