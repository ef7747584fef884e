//! Whether this machine had time for what it measured.

use drivelab_core::observed::Observed;
use drivelab_core::run::StepRun;

/// From this share of the time on in which some task waited for a CPU, what took long may have been
/// waiting for one itself: a freeze is then no evidence against the drive.
const BUSY: f64 = 0.5;

/// The share of the time of these steps in which some task waited for a CPU, where that was so much
/// that a freeze may be this machine's. `None`: it was not, or nobody counted.
pub fn busy<'a>(steps: impl Iterator<Item = &'a StepRun>) -> Option<f64> {
    busy_of(steps.filter_map(|step| step.end.as_ref()?.observed.as_ref()))
}

fn busy_of<'a>(all: impl Iterator<Item = &'a Observed>) -> Option<f64> {
    let (mut waited_ns, mut span_ns) = (0.0, 0.0);
    for observed in all {
        let cpu = observed.pressure.iter().find(|span| span.resource == "cpu");
        waited_ns += cpu.map_or(0.0, |span| span.some_us as f64 * 1e3);
        span_ns += observed.span_ns as f64;
    }
    let share = (waited_ns / span_ns).min(1.0);
    (span_ns > 0.0 && share >= BUSY).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::observed::PressureSpan;

    fn second(spans: &[(&str, u64)]) -> Observed {
        let span = |(resource, some_us): &(&str, u64)| PressureSpan {
            resource: (*resource).into(),
            some_us: *some_us,
            full_us: 0,
        };
        let pressure = spans.iter().map(span).collect();
        Observed { span_ns: 1_000_000_000, pressure, ..Observed::default() }
    }

    #[test]
    fn only_waits_for_a_cpu_most_of_the_time_count() {
        let of = |all: &[&[(&str, u64)]]| {
            let all: Vec<Observed> = all.iter().map(|spans| second(spans)).collect();
            busy_of(all.iter())
        };
        assert_eq!(of(&[]), None, "nobody counted");
        assert_eq!(of(&[&[("io", 990_000), ("cgroup cpu", 990_000), ("cpu", 490_000)]]), None);
        assert_eq!(of(&[&[("cpu", 500_000)]]), Some(0.5));
        assert_eq!(of(&[&[("cpu", 950_000)], &[("cpu", 50_000)]]), Some(0.5));
        assert_eq!(of(&[&[("cpu", 900_000)], &[]]), None);
    }
}
