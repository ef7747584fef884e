//! How many times as long as on the best of several drives.

use crate::across::short;
use drivelab_core::findings::Figure;
use drivelab_core::gathering::Member;
use drivelab_core::quantity::{count, time};
use drivelab_stats::Estimate;

/// Mean of a random write of 4 KiB, one at a time, as a figure.
pub const MEAN: &str = "random write 4 KiB, mean";
/// The slowest of them.
pub const LONGEST: &str = "random write 4 KiB, longest";

/// A sentence on the mean and one on the maximum, where at least two drives have the number.
pub fn sentences(members: &[Member<'_>]) -> Vec<String> {
    let measures =
        [(MEAN, "the mean latency was lowest"), (LONGEST, "the slowest one was quickest")];
    measures.iter().filter_map(|(figure, words)| sentence(members, figure, words)).collect()
}

fn sentence(members: &[Member<'_>], figure: &str, words: &str) -> Option<String> {
    let names = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let found = members.iter().map(|member| estimate(member, figure));
    let all: Vec<(&String, Option<Estimate>)> = names.iter().zip(found).collect();
    let mut known: Vec<(&String, Estimate)> =
        all.iter().filter_map(|(name, estimate)| Some((*name, (*estimate)?))).collect();
    known.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let [(name, best), others @ ..] = known.as_slice() else { return None };
    if others.is_empty() {
        return None;
    }
    let mut parts: Vec<String> =
        others.iter().map(|(name, estimate)| against(best, name, estimate)).collect();
    let missing = all.iter().filter(|(_, estimate)| estimate.is_none());
    parts.extend(missing.map(|(name, _)| format!("{name} has no valid number")));
    Some(format!(
        "Random writes of 4 KiB, one at a time: {words} on {name}, {}. Against that, {}.",
        time(best.value),
        parts.join("; ")
    ))
}

fn estimate(member: &Member<'_>, name: &str) -> Option<Estimate> {
    let figures = member.run.findings.as_ref().map_or(&[][..], |found| &found.figures);
    let is_it = |figure: &&Figure| figure.name == name && figure.estimate.value > 0.0;
    figures.iter().find(is_it).map(|figure| figure.estimate)
}

/// One drive against the best. Means whose intervals meet are not told apart; where there is no
/// interval, what was seen is said and no more.
fn against(best: &Estimate, name: &str, other: &Estimate) -> String {
    let took = time(other.value);
    let ratio = times(other.value / best.value);
    match (best.high, other.low) {
        (Some(high), Some(low)) if low <= high => {
            format!("{name} cannot be distinguished from it ({took}, the 95 % intervals overlap)")
        }
        (Some(_), Some(_)) => format!("{name} takes about {ratio} as long ({took})"),
        _ => format!("{name} took {ratio} as long here ({took}, no interval)"),
    }
}

/// Two digits of a ratio, as one would say it: `1.4 times`, `26 times`, `2,700 times`.
fn times(ratio: f64) -> String {
    if ratio < 9.95 {
        return format!("{ratio:.1} times");
    }
    let step = 10f64.powi(ratio.log10().floor() as i32 - 1);
    format!("{} times", count(((ratio / step).round() * step).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::findings::{Findings, Unit};
    use drivelab_core::run::Run;

    fn run(mean: Estimate, longest: Option<f64>) -> Run {
        let figure = |name: &str, estimate| Figure {
            name: name.into(),
            estimate,
            unit: Unit::Ns,
            note: String::new(),
        };
        let mut figures = vec![figure(MEAN, mean)];
        figures.extend(longest.map(|ns| figure(LONGEST, Estimate::point(ns, 1))));
        Run { findings: Some(Findings { figures, ..Findings::default() }), ..Run::default() }
    }

    fn between(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low: Some(low), high: Some(high), n: 5 }
    }

    #[test]
    fn mean_and_maximum_are_said_as_multiples_of_the_best_drive() {
        let slow = run(between(230e6, 240e6, 250e6), Some(991e6));
        let fast = run(between(88e3, 89e3, 90e3), Some(94e6));
        let equal = run(between(86e3, 91e3, 96e3), Some(76e6));
        let members = [
            Member { target: "sim:slow,seed=1", run: &slow },
            Member { target: "/mnt/fast", run: &fast },
            Member { target: "equal", run: &equal },
        ];
        assert_eq!(
            sentences(&members),
            [
                "Random writes of 4 KiB, one at a time: the mean latency was lowest on fast, 89.0 \
                 µs. Against that, equal cannot be distinguished from it (91.0 µs, the 95 % \
                 intervals overlap); slow takes about 2,700 times as long (240 ms).",
                "Random writes of 4 KiB, one at a time: the slowest one was quickest on equal, \
                 76.0 ms. Against that, fast took 1.2 times as long here (94.0 ms, no \
                 interval); slow took 13 times as long here (991 ms, no interval).",
            ]
        );
    }

    #[test]
    fn what_was_not_measured_is_in_no_ratio() {
        let point = |ns| Estimate::point(ns, 1);
        let (one, other) = (run(point(100e3), None), run(point(2.6e6), Some(5e6)));
        let broken = Run::default();
        let member = |target, run| Member { target, run };
        let all = [member("a", &one), member("b", &other), member("c", &broken)];
        let [mean] = &sentences(&all)[..] else { panic!("{:?}", sentences(&all)) };
        let end = "b took 26 times as long here (2.60 ms, no interval); c has no valid number.";
        assert!(mean.ends_with(end), "{mean}");
        assert!(sentences(&[member("b", &other), member("c", &broken)]).is_empty());
        let zero = run(point(0.0), None);
        assert!(sentences(&[member("a", &one), member("z", &zero)]).is_empty());
    }

    #[test]
    fn a_ratio_is_said_in_two_digits() {
        let said = [1.0, 1.44, 9.94, 9.96, 26.3, 995.0, 2696.6, 123_456.0].map(times);
        let expected = ["1.0", "1.4", "9.9", "10", "26", "1,000", "2,700", "120,000"];
        assert_eq!(said, expected.map(|ratio| format!("{ratio} times")));
    }
}
