//! What a phase measures, and whether the suite takes it.

use super::Io500;
use super::phase::{Group, Phase};
use crate::ior;
use crate::mdtest;
use crate::suite::Figure;
use drivelab_core::run::Run;

/// Mebibytes of a gibibyte.
const MEBIBYTES: f64 = 1024.0;
const SECOND_NS: f64 = 1e9;

impl Io500 {
    /// Why the suite does not take a result.
    pub(super) fn against(&self, phase: Phase, figure: Option<Figure>) -> Vec<String> {
        let Some(figure) = figure else {
            let is_measured = phase.group() != Group::None;
            return if is_measured { vec!["the phase was not run".to_owned()] } else { vec![] };
        };
        let mut against = Vec::new();
        if figure.score <= 0.0 {
            against.push("nothing was measured".to_owned());
        }
        if phase.has_stonewall() {
            let (took, wall, least) = (figure.seconds, self.wall_s(), self.least_s() as f64);
            if took < wall {
                against.push(format!("it took {took:.3} s, less than the stonewall of {wall} s"));
            }
            if took < least {
                against.push(format!("it took {took:.3} s, and the rules ask for {least} s"));
            }
        }
        if figure.found.is_some_and(|found| found.matched == 0) {
            against.push("no file was found".to_owned());
        }
        against
    }
}

/// Bandwidth of a line of IOR.
pub fn of_ior(options: &ior::Options, run: &Run) -> Option<(Figure, Vec<u32>)> {
    let (mebibytes, seconds, step) = options.measured(run)?;
    Some((Figure { score: mebibytes / MEBIBYTES, seconds, found: None }, vec![step]))
}

/// Rate of a line of mdtest.
pub fn of_mdtest(options: &mdtest::Options, run: &Run) -> Option<(Figure, Vec<u32>)> {
    let (rate, seconds, steps) = options.measured(run)?;
    Some((Figure { score: rate / 1000.0, seconds, found: None }, steps))
}

/// All files that a find met, a second.
pub fn of_find(run: &Run) -> Option<(Figure, Vec<u32>)> {
    run.steps.iter().find_map(|step| {
        let end = step.end.as_ref().filter(|end| end.incomplete.is_none())?;
        let (found, took_ns) = (end.found?, end.act_ns.filter(|took| *took > 0)?);
        let seconds = took_ns as f64 / SECOND_NS;
        let score = found.total as f64 / seconds / 1000.0;
        Some((Figure { score, seconds, found: Some(found) }, vec![step.begin.step]))
    })
}
