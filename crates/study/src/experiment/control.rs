//! Whether drive and machine stood still while a study ran: a control cell first, in the middle and
//! last, and a test of drift over the order in which everything was measured.

use super::Setting;
use super::loads;
use drivelab_core::findings::Findings;
use drivelab_core::plan::{Mix, Role, Step, Until};
use drivelab_core::quantity::{digits, percent};
use drivelab_core::summary::Summary;
use drivelab_core::units::Span;
use drivelab_stats::{Pair, Verdict, holm, judge, trend};

/// Random reads at depth 1: what a drive that stands still does alike for ever.
const NAMES: [&str; 3] = ["control first", "control middle", "control last"];
/// Repetitions at each place: a test of fewer can prove nothing.
const REPETITIONS: usize = 5;
/// What the control may move by.
const DELTA: f64 = 0.02;

/// Steps of one place (0 first, 1 middle, 2 last), each this long.
pub fn steps(setting: &Setting<'_>, place: usize, each_ns: u64) -> Vec<Step> {
    let until = Until { elapsed: Some(Span(each_ns)), ..Until::default() };
    let stream = loads::random(setting, Mix::READ, 1);
    let one = loads::step(setting, NAMES[place], Role::Measure, until, stream);
    vec![one; REPETITIONS]
}

/// How many control steps a study has.
pub const COUNT: u64 = (3 * REPETITIONS) as u64;

/// Operations a second of every sound repetition of a cell, in the order they were measured.
pub fn values(summary: &Summary, name: &str) -> Vec<f64> {
    let sound = |step: &&drivelab_core::summary::StepSummary| {
        step.name == name && step.valid != Some(false) && step.incomplete.is_none()
    };
    let rate = |step: &drivelab_core::summary::StepSummary| {
        step.streams.first()?.total.iops.map(|iops| iops.value)
    };
    summary.steps.iter().filter(sound).filter_map(rate).collect()
}

/// Says what the control found.
pub fn look(summary: &Summary, findings: &mut Findings) {
    let [first, middle, last] = NAMES.map(|name| values(summary, name));
    let pairs = [("middle", &middle), ("end", &last)];
    let family: Vec<Pair<'_>> =
        pairs.iter().map(|(_, after)| Pair { before: &first, after, delta: DELTA }).collect();
    let Ok(judged) = judge(&family) else {
        findings
            .unknown
            .push("Whether drive and machine stood still: the control cell has no values.".into());
        return;
    };
    for ((place, _), judged) in pairs.iter().zip(&judged) {
        let by = percent((judged.ratio.value - 1.0).abs());
        let way = if judged.ratio.value < 1.0 { "slower" } else { "faster" };
        match judged.verdict {
            Verdict::Changed | Verdict::ChangedMaybeRelevant => findings.suspect.push(format!(
                "The surroundings moved: the control, random reads at depth 1, was {by} {way} at \
                 the {place} than at the beginning, though nothing of it was changed. Run again \
                 when the machine is quiet."
            )),
            Verdict::Inconclusive => findings.unknown.push(format!(
                "Whether drive and machine stood still until the {place}: the control was {by} \
                 {way} there, within its own noise."
            )),
            _ => {}
        }
    }
}

/// Says which of `cells` drifted over the order of measurement; each is the values of one cell in
/// that order.
pub fn drift(cells: &[(String, Vec<f64>)], findings: &mut Findings) {
    let trends: Vec<_> = cells.iter().map(|(_, values)| trend(values).ok()).collect();
    let p = holm(&trends.iter().map(|found| found.map(|found| found.p)).collect::<Vec<_>>());
    for (((name, values), found), p) in cells.iter().zip(&trends).zip(p) {
        let (Some(found), Some(p)) = (found, p.filter(|p| *p <= 0.05)) else { continue };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let moved = found.slope * (values.len() - 1) as f64 / mean;
        findings.suspect.push(format!(
            "{name} drifted by {} over the {} times it was measured (p {}): its figures mix what \
             it was with what it became.",
            percent(moved),
            values.len(),
            digits(p)
        ));
    }
}
