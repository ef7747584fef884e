//! Whether drive and machine stood still while a study ran: a control cell first, in the middle and
//! last, and a test of drift over the order in which everything was measured.

use super::Setting;
use super::loads;
use drivelab_core::comparison::{Metric, Sample};
use drivelab_core::findings::Findings;
use drivelab_core::plan::{Mix, Role, Step, Until};
use drivelab_core::quantity::{digits, percent};
use drivelab_core::summary::{StepSummary, Summary};
use drivelab_core::units::Span;
use drivelab_stats::{Pair, Verdict, holm, judge, trend};

/// Random reads at depth 1: what a drive that stands still does alike for ever.
const NAMES: [&str; 3] = ["control first", "control middle", "control last"];
/// Repetitions at each place: a test of fewer can prove nothing.
const REPETITIONS: usize = 5;
/// What the control may move by.
const DELTA: f64 = 0.02;
/// A trend of less over all repetitions of a cell is certain on a quiet drive, and harms nothing.
pub const DRIFT: f64 = 0.02;

/// Steps of one place (0 first, 1 middle, 2 last), each this long.
pub fn steps(setting: &Setting<'_>, place: usize, each_ns: u64) -> Vec<Step> {
    let until = Until { elapsed: Some(Span(each_ns)), ..Until::default() };
    let stream = loads::random(setting, Mix::READ, 1);
    let one = loads::step(setting, NAMES[place], Role::Measure, until, stream);
    vec![one; REPETITIONS]
}

/// How many control steps a study has.
pub const COUNT: u64 = (3 * REPETITIONS) as u64;

/// The sound and complete repetitions of a cell, in the order they were measured.
pub fn sound<'a>(
    summary: &'a Summary,
    name: &'a str,
) -> impl Iterator<Item = &'a StepSummary> + 'a {
    summary.steps.iter().filter(move |step| {
        step.name == name && step.valid != Some(false) && step.incomplete.is_none()
    })
}

/// One side of a comparison: the operations a second of a cell, under the name of the question.
pub fn sample(summary: &Summary, cell: &str, name: &str) -> Option<Sample> {
    let known = summary.cells.iter().find(|known| known.name == cell)?;
    let values = centred(summary, cell);
    let suspect = known.against();
    let has_any = !values.is_empty() || suspect.is_some();
    has_any.then(|| Sample {
        name: name.into(),
        metric: Metric::Iops,
        values,
        is_ordered: false,
        suspect,
    })
}

/// Operations a second of every sound repetition of a cell, in the order they were measured.
pub fn values(summary: &Summary, name: &str) -> Vec<f64> {
    let rate = |step: &StepSummary| step.streams.first()?.total.iops.map(|iops| iops.value);
    sound(summary, name).filter_map(rate).collect()
}

/// The same for a comparison: their geometric mean is the rate of the cell, all operations by all
/// time.
pub fn centred(summary: &Summary, name: &str) -> Vec<f64> {
    let counts = |step: &StepSummary| {
        let stream = step.streams.first()?;
        stream.total.iops?;
        Some((stream.total.ops as f64, stream.seconds?))
    };
    let counts: Vec<(f64, f64)> = sound(summary, name).filter_map(counts).collect();
    drivelab_stats::centred(&counts).unwrap_or_else(|_| values(summary, name))
}

/// Says what the control found.
pub fn look(summary: &Summary, findings: &mut Findings) {
    let [first, middle, last] = NAMES.map(|name| centred(summary, name));
    let pairs = [("middle", &middle), ("end", &last)];
    let family: Vec<Pair<'_>> =
        pairs.iter().map(|(_, after)| Pair { before: &first, after, delta: DELTA }).collect();
    let Ok(judged) = judge(&family) else {
        findings
            .unknown
            .push("Whether drive and machine were stable: the control cell has no values.".into());
        return;
    };
    for ((place, _), judged) in pairs.iter().zip(&judged) {
        let by = percent((judged.ratio.value - 1.0).abs());
        let way = if judged.ratio.value < 1.0 { "slower" } else { "faster" };
        match judged.verdict {
            Verdict::Changed | Verdict::ChangedMaybeRelevant => findings.suspect.push(format!(
                "Conditions changed: the control, random reads at depth 1, was {by} {way} at the \
                 {place} than at the beginning, though nothing about it was changed. Run again \
                 when the machine is quiet."
            )),
            Verdict::Inconclusive => findings.unknown.push(format!(
                "Whether drive and machine were stable until the {place}: the control was {by} \
                 {way} there, within its own noise."
            )),
            _ => {}
        }
    }
}

/// Says which of `cells` moved by at least the share `least` over the order of measurement; each
/// is the values of one cell in that order.
pub fn drift(cells: &[(String, Vec<f64>)], least: f64, findings: &mut Findings) {
    let trends: Vec<_> = cells.iter().map(|(_, values)| trend(values).ok()).collect();
    let p = holm(&trends.iter().map(|found| found.map(|found| found.p)).collect::<Vec<_>>());
    for (((name, values), found), p) in cells.iter().zip(&trends).zip(p) {
        let (Some(found), Some(p)) = (found, p.filter(|p| *p <= 0.05)) else { continue };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let moved = found.slope * (values.len() - 1) as f64 / mean;
        if moved.abs() < least {
            continue;
        }
        findings.unknown.push(format!(
            "Whether {name} was stable: it changed by {} over the {} times it was measured (p {}), \
             and its figures are of all of them.",
            percent(moved),
            values.len(),
            digits(p)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, values: impl Iterator<Item = f64>) -> (String, Vec<f64>) {
        (name.to_string(), values.collect())
    }

    fn said(cells: &[(String, Vec<f64>)], least: f64) -> Vec<String> {
        let mut findings = Findings::default();
        drift(cells, least, &mut findings);
        findings.unknown
    }

    #[test]
    fn a_planted_drift_is_found_and_noise_is_not() {
        let noise = |at: u64| 1000.0 + (at * 7919 % 13) as f64;
        let still = cell("still", (0..12).map(noise));
        let moved = cell("moved", (0..12).map(|at| noise(at) * (1.0 - 0.01 * at as f64)));
        let found = said(&[still.clone(), moved.clone()], DRIFT);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("Whether moved was stable: it changed by -1"), "{found:?}");
        assert_eq!(said(&[still], 0.0), [""; 0]);
        assert_eq!(said(&[moved], 0.2), [""; 0], "less than what counts");
    }
}
