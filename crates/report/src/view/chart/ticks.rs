//! Ticks at 1, 2 and 5 times a power of ten, with SI labels.

use crate::view::chart::{Axis, Unit};

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where, in the unit of the axis.
    pub at: f64,
    /// What is written there; empty for a minor tick.
    pub label: String,
}

impl Tick {
    /// The label of an axis whose name says IOPS: `200k`.
    pub fn short(&self) -> &str {
        self.label.strip_suffix(" IOPS").unwrap_or(&self.label)
    }
}

/// Ticks of an axis, about `wanted` of them and never more than twice as many.
pub fn ticks(axis: &Axis, wanted: usize) -> Vec<Tick> {
    let mut values = match (axis.is_log, axis.unit) {
        (true, Unit::Bytes) => binary_values(axis.from, axis.to, wanted),
        // Depths double from point to point; what lies anywhere, such as days, does not.
        (true, Unit::Count) if axis.from.fract() == 0.0 => {
            binary_values(axis.from, axis.to, wanted)
        }
        (true, _) => log_values(axis.from, axis.to, wanted),
        (false, _) => linear_values(axis.from, axis.to, wanted),
    };
    if axis.unit == Unit::Count {
        // There is no half of a round.
        values.retain(|value| (value - value.round()).abs() < 1e-9 * value.abs().max(1.0));
    }
    values.into_iter().map(|at| Tick { at, label: label(at, axis.unit) }).collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `value`; 1 for nothing usable.
pub(crate) fn round_up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let power = 10f64.powi(value.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= value * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

fn linear_values(from: f64, to: f64, wanted: usize) -> Vec<f64> {
    let step = round_up((to - from) / wanted.max(1) as f64);
    let first = (from / step - 1e-9).ceil() as i64;
    let last = (to / step + 1e-9).floor() as i64;
    // Products, not sums: ticks must not drift.
    (first..=last.min(first + 2 * wanted as i64)).map(|index| index as f64 * step).collect()
}

fn log_values(from: f64, to: f64, wanted: usize) -> Vec<f64> {
    let from = from.max(f64::MIN_POSITIVE);
    let decades: Vec<i32> = (from.log10().floor() as i32..=to.log10().ceil() as i32).collect();
    let inside = |value: &f64| *value >= from * (1.0 - 1e-9) && *value <= to * (1.0 + 1e-9);
    let with = |steps: &[f64]| -> Vec<f64> {
        let all = decades.iter().flat_map(|power| steps.iter().map(|s| s * 10f64.powi(*power)));
        all.filter(inside).collect()
    };
    for steps in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0][..], &[1.0][..]] {
        let values = with(steps);
        if values.len() <= wanted.max(2) {
            return values;
        }
    }
    let values = with(&[1.0]);
    let every = values.len().div_ceil(wanted.max(1));
    values.into_iter().step_by(every).collect()
}

/// Powers of two: sizes of requests and depths of queues are none of ten.
fn binary_values(from: f64, to: f64, wanted: usize) -> Vec<f64> {
    let from = from.max(1.0);
    let (first, last) = (from.log2().ceil() as i32, to.max(from).log2().floor() as i32);
    let every = ((last - first + 1).max(1) as usize).div_ceil(wanted.max(1));
    (first..=last).step_by(every).map(|power| 2f64.powi(power)).collect()
}

/// A tick's value with an SI prefix and no trailing zeros.
fn label(value: f64, unit: Unit) -> String {
    let scaled = |scale: crate::units::Scale| scale.written(&plain(value / scale.factor));
    match unit {
        Unit::Operations if value == 0.0 => "0".to_owned(),
        Unit::Bandwidth | Unit::Bytes if value == 0.0 => "0".to_owned(),
        Unit::Operations => scaled(crate::units::operations_scale(value)),
        Unit::Bandwidth => scaled(crate::units::bandwidth_scale(value)),
        Unit::Nanoseconds => scaled(crate::units::time_scale(value)),
        Unit::Bytes if crate::view::unit::is_size(value) => crate::view::unit::bytes(value),
        Unit::Bytes => scaled(crate::units::capacity_scale(value)),
        Unit::Count => crate::view::unit::count(value),
        Unit::Seconds if value > 0.0 && value < 1e-3 => label(value * 1e9, Unit::Nanoseconds),
        Unit::Seconds => format!("{} s", plain(value)),
        Unit::Celsius => format!("{} °C", plain(value)),
        Unit::Factor => format!("× {}", plain(value)),
        // A percentile of many nines: in full it would be wider than the margin.
        Unit::Share if value > 0.0 && value < 9e-7 => format!("{:.0e} %", value * 100.0),
        Unit::Share => format!("{} %", plain(value * 100.0)),
    }
}

/// Up to seven significant decimals, zeros dropped: `0.5`, `20`, `0.001`.
fn plain(value: f64) -> String {
    let text = format!("{value:.7}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: Unit, is_log: bool, from: f64, to: f64, wanted: usize) -> String {
        let axis = Axis { quantity: String::new(), unit, is_log, from, to };
        let labels: Vec<String> = ticks(&axis, wanted).into_iter().map(|tick| tick.label).collect();
        labels.join("|")
    }

    #[test]
    fn steps_are_one_two_five() {
        assert_eq!(labels(Unit::Seconds, false, 0.0, 10.0, 5), "0 s|2 s|4 s|6 s|8 s|10 s");
        assert_eq!(labels(Unit::Seconds, false, 0.0, 0.7, 4), "0 s|0.2 s|0.4 s|0.6 s");
        let rates = labels(Unit::Operations, false, 0.0, 950_000.0, 5);
        assert_eq!(rates, "0|200k IOPS|400k IOPS|600k IOPS|800k IOPS");
        assert_eq!(labels(Unit::Bandwidth, false, 0.0, 6.6e9, 4), "0|2 GB/s|4 GB/s|6 GB/s");
    }

    #[test]
    fn log_axes_show_decades_and_fill_up_where_there_is_room() {
        assert_eq!(labels(Unit::Nanoseconds, true, 1e4, 1e7, 5), "10 µs|100 µs|1 ms|10 ms");
        assert_eq!(labels(Unit::Nanoseconds, true, 1e4, 1e5, 5), "10 µs|20 µs|50 µs|100 µs");
        assert_eq!(labels(Unit::Share, true, 1e-4, 1.0, 6), "0.01 %|0.1 %|1 %|10 %|100 %");
        assert_eq!(labels(Unit::Nanoseconds, true, 1.0, 1e12, 5), "1 ns|1 µs|1 ms|1 s|1000 s");
    }

    #[test]
    fn bytes_and_counts_have_ticks_of_their_own() {
        assert_eq!(labels(Unit::Bytes, false, 0.0, 2e11, 4), "0|50 GB|100 GB|150 GB|200 GB");
        assert_eq!(labels(Unit::Bytes, true, 512.0, 1.2e6, 4), "512 B|4 KiB|32 KiB|256 KiB");
        assert_eq!(labels(Unit::Count, true, 1.0, 256.0, 9), "1|2|4|8|16|32|64|128|256");
        assert_eq!(labels(Unit::Count, false, 1.0, 4.0, 8), "1|2|3|4");
        assert_eq!(labels(Unit::Count, false, 0.0, 25e3, 5), "0|5,000|10,000|15,000|20,000|25,000");
    }

    #[test]
    fn rounding_up_stops_at_the_next_step() {
        for (value, rounded) in [(1.0, 1.0), (1.1, 2.0), (4.9, 5.0), (5.1, 10.0), (0.03, 0.05)] {
            assert!((round_up(value) - rounded).abs() < 1e-12, "{value}");
        }
        assert_eq!(round_up(f64::NAN), 1.0);
        assert_eq!(round_up(0.0), 1.0);
    }
}
