//! Whether jobs became steady, as fio prints it.

use super::figures::Block;
use super::gather::{Clone, executed};
use super::scale::{Step, short, short_kilo};
use crate::fio::steadystate;
use drivelab_core::level::{Judgement, Second, outcome};
use drivelab_core::plan::{Level, Rate, Unevenness};
use drivelab_core::run::Run;
use std::fmt::{self, Write};

/// What became of `steadystate`.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    /// What was asked.
    pub level: Level,
    /// Whether a window was within the limit.
    pub attained: bool,
    /// What the last window says; all zero where there was no whole one.
    pub judgement: Judgement,
    /// Its seconds, and zeros for those that it lacks: operations and bytes of each, and their
    /// mean latency in nanoseconds.
    pub seconds: Vec<[u64; 3]>,
}

impl Steady {
    /// Of clones that are reported as one.
    pub fn of(clones: &[Clone<'_>], run: &Run) -> Option<Self> {
        let section = clones.first()?.section;
        let step = executed(run, section.step)?;
        let stream = step.plan.streams.get(section.stream as usize)?;
        let level = step.plan.until_of(stream).level?;
        let workers = clones.iter().map(|clone| (clone.section.stream, clone.worker)).collect();
        let mut found = outcome(&step.tallies, level, workers);
        found.seconds.resize(level.window_seconds(), Second::default());
        let (attained, judgement) = (found.attained, found.judgement);
        let values = |second: &Second| {
            let rates = [Rate::Operations, Rate::Bytes, Rate::Latency];
            rates.map(|of| Level { of, ..level }.value(second) as u64)
        };
        let seconds = found.seconds.iter().map(values).collect();
        Some(Steady { level, attained, judgement, seconds })
    }

    /// What was asked, in fio's words.
    pub fn asked(&self) -> String {
        steadystate::words(&self.level)
    }

    /// Mean of the window: operations or bytes a second, or nanoseconds.
    pub fn mean(&self, of: Rate) -> u64 {
        let place = place_of(of);
        let all: u64 = self.seconds.iter().map(|second| second[place]).sum();
        all / (self.seconds.len() as u64).max(1)
    }

    /// What was compared with the limit, for JSON: fio keeps no more of it.
    pub fn criterion(&self) -> String {
        format!("{:.6}{}", self.judgement.criterion as f32, self.sign())
    }

    fn sign(&self) -> &'static str {
        if self.level.percent { "%" } else { "" }
    }
}

/// Where a second has what is counted.
pub fn place_of(of: Rate) -> usize {
    match of {
        Rate::Operations => 0,
        Rate::Bytes => 1,
        Rate::Latency => 2,
    }
}

/// The mean latency, which is printed where it is what is judged.
fn latency(steady: &Steady) -> String {
    if steady.level.of != Rate::Latency {
        return String::new();
    }
    // fio's choice of a unit looks at a deviation that it leaves at zero.
    format!(", lat={}nsec", short(steady.mean(Rate::Latency), 4, Step::Decimal, ""))
}

/// The line of the layout for people.
pub fn line(block: &Block, steady: &Steady, to: &mut String) -> fmt::Result {
    let kilo = if block.is_decimal { 1000 } else { 1024 };
    let amount = steady.mean(Rate::Bytes) / kilo;
    let (amount, unit) = match block.is_bits {
        true => (amount.saturating_mul(8), "bit/s"),
        false => (amount, "B/s"),
    };
    let (first, second) = match block.is_decimal {
        true => (Step::Decimal, Step::Binary),
        false => (Step::Binary, Step::Decimal),
    };
    let of = ["iops", "bw", "lat"][place_of(steady.level.of)];
    let by = if steady.level.by == Unevenness::Slope { "slope" } else { "mean dev" };
    writeln!(
        to,
        "  steadystate  : attained={}, bw={} ({}), iops={}{}, {of} {by}={:.3}{}",
        if steady.attained { "yes" } else { "no" },
        // In brackets fio shortens the same number by thousands.
        short_kilo(amount, 4, first, unit),
        short_kilo(amount, 4, second, unit),
        short(steady.mean(Rate::Operations), 4, Step::Decimal, ""),
        latency(steady),
        steady.judgement.criterion,
        steady.sign()
    )
}
