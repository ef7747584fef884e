//! A gate: may this result pass, given a baseline?

use drivelab_core::comparison::{Cell, Comparison};
use schemars::JsonSchema;
use serde::Serialize;

/// How much slower a cell may have become, as a share of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// 0.05: 5 % less of a rate, or a latency longer by what 5 % less of a rate would make it.
    pub slowdown_max: f64,
}

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// Every cell is shown to be within the limit.
    Yes,
    /// A cell is shown to be beyond it.
    No,
    /// A cell may be on either side.
    CannotTell,
}

impl Gate {
    /// Judges a comparison: a cell passes where its whole 95 % interval lies within the limit, and
    /// fails where all of it lies beyond.
    pub fn judge(&self, comparison: &Comparison) -> Passed {
        let all: Vec<Passed> = comparison.cells.iter().map(|cell| self.judge_cell(cell)).collect();
        match () {
            () if all.contains(&Passed::No) => Passed::No,
            // What is no longer measured may be what became slow.
            () if !comparison.only_before.is_empty() => Passed::CannotTell,
            () if all.contains(&Passed::CannotTell) => Passed::CannotTell,
            () => Passed::Yes,
        }
    }

    /// Judges one cell; a constant is its own interval.
    pub fn judge_cell(&self, cell: &Cell) -> Passed {
        let Some(ratio) = cell.ratio else { return Passed::CannotTell };
        let is_constant = matches!(cell.word(), "identical" | "no noise");
        let ends = match (ratio.low, ratio.high) {
            // Too few values for a verdict are too few for a gate.
            _ if !is_constant && cell.p_adjusted.is_none() => return Passed::CannotTell,
            (Some(low), Some(high)) => (low, high),
            _ if is_constant => (ratio.value, ratio.value),
            _ => return Passed::CannotTell,
        };
        // As rates: the worst and the best.
        let (worst, best) = if cell.metric.is_rate() { ends } else { (1.0 / ends.1, 1.0 / ends.0) };
        let limit = 1.0 - self.slowdown_max;
        match () {
            () if worst >= limit => Passed::Yes,
            () if best < limit => Passed::No,
            () => Passed::CannotTell,
        }
    }
}
