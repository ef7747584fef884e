//! The parts of a cell's I/Os: which repetitions count, and what they add up to.

use super::{Cell, Side};
use drivelab_core::anatomy::{Anatomy, Dissected, KindAnatomy};
use drivelab_core::op::Action;
use drivelab_core::quantity::{count, percent};
use drivelab_core::run::Run;
use drivelab_core::summary::{KindSummary, StepSummary, Summary};

/// The parts of an I/O must add up to the whole within this share of it.
const SUM_OFF_MAX: f64 = 0.01;
/// The I/Os that were broken down must be as slow on average as all of the step, within this.
const MEAN_OFF_MAX: f64 = 0.01;
/// The slow ones: this share of each repetition.
const SLOW_PART: u64 = 1000;

/// All I/Os of a cell that were broken down.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The cell.
    pub cell: Cell,
    /// Sums over all repetitions that count.
    pub all: KindAnatomy,
    /// Means of the parts of each repetition, in nanoseconds.
    pub means: Vec<[f64; 4]>,
    /// The slowest thousandth of each repetition.
    pub slow: Vec<Dissected>,
}

/// What is wrong with one repetition, in a sentence without its name.
fn doubt(step: &StepSummary, anatomy: &Anatomy, kind: &KindAnatomy) -> Option<String> {
    let total = kind.total.sum() as f64;
    let off = kind.unaccounted_ns as f64 / total.max(1.0);
    if off > SUM_OFF_MAX {
        return Some(format!(
            "the parts of its I/Os differ from their whole by {}: the clocks of program and \
             kernel disagree",
            percent(off)
        ));
    }
    let all = step.streams.first()?.kinds.get(&kind.kind)?.service_ns.as_ref()?;
    let mean = kind.total.mean()?;
    let off = (mean / all.mean - 1.0).abs();
    (off > MEAN_OFF_MAX).then(|| {
        let missed = match anatomy.missed {
            0 => String::new(),
            missed => format!("; {} events were overwritten", count(missed)),
        };
        format!(
            "the {} of {} I/Os that could be broken down differ by {} from all of them on \
             average{missed}",
            count(kind.total.count()),
            count(all.count),
            percent(off)
        )
    })
}

/// What one repetition says of the I/Os of its cell.
pub fn kind_of(step: &StepSummary, cell: Cell) -> Option<&KindSummary> {
    step.streams.first()?.kinds.get(&cell.kind)
}

/// The untraced repetitions of a cell that count.
pub fn sound(summary: &Summary, cell: Cell) -> impl Iterator<Item = &StepSummary> {
    let name = cell.of(Side::Untraced);
    summary.steps.iter().filter(move |step| {
        step.name == name && step.valid != Some(false) && step.incomplete.is_none()
    })
}

/// The parts of one cell; what does not count is said.
pub fn of(run: &Run, summary: &Summary, cell: Cell, doubts: &mut Vec<String>) -> Option<Parts> {
    let mut found: Option<Parts> = None;
    let name = cell.of(Side::Traced);
    for (step, shown) in run.steps.iter().zip(&summary.steps) {
        let is_sound = shown.valid != Some(false) && shown.incomplete.is_none();
        let Some(anatomy) = step.anatomy.as_ref().filter(|_| step.begin.name == name && is_sound)
        else {
            continue;
        };
        let of_kind = |kind: Action| anatomy.kinds.iter().find(|known| known.kind == kind);
        let Some(kind) = of_kind(cell.kind) else {
            if anatomy.refused.is_none() {
                doubts.push(format!("{name}: none of its I/Os was found in the trace"));
            }
            continue;
        };
        if let Some(why) = doubt(shown, anatomy, kind) {
            doubts.push(format!("{name}, repetition {}: {why}", shown.repetition));
            continue;
        }
        let means = std::array::from_fn(|part| kind.segments[part].mean().unwrap_or(0.0));
        let slow = kind.slowest.iter().take(kind.total.count().div_ceil(SLOW_PART) as usize);
        match &mut found {
            Some(parts) => {
                parts.all.merge(kind);
                parts.means.push(means);
                parts.slow.extend(slow);
            }
            None => {
                let slow = slow.copied().collect();
                found = Some(Parts { cell, all: kind.clone(), means: vec![means], slow });
            }
        }
    }
    found
}

impl Parts {
    /// Means of the parts over all I/Os.
    pub fn mean_ns(&self) -> [f64; 4] {
        std::array::from_fn(|part| self.all.segments[part].mean().unwrap_or(0.0))
    }

    /// Means of the parts of the slow ones.
    pub fn slow_mean_ns(&self) -> [f64; 4] {
        let count = self.slow.len().max(1) as f64;
        std::array::from_fn(|part| {
            self.slow.iter().map(|io| io.segments_ns[part] as f64).sum::<f64>() / count
        })
    }
}
