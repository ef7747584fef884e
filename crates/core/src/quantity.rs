//! Numbers with their units: KiB for sizes, kB for rates and capacities, always written out.
//!
//! Two to four digits are kept, because nobody reads more and fewer hide differences.

use drivelab_stats::Estimate;

/// What is printed for a number that is not finite or not known.
pub const UNKNOWN: &str = "unknown";

/// A factor and the unit it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// One of this unit in base units.
    pub factor: f64,
    /// The letter that follows the digits without a space: the `k` of `80.1k IOPS`.
    pub suffix: &'static str,
    /// The unit as written.
    pub unit: &'static str,
}

impl Scale {
    /// A scale whose unit already holds its prefix, as in `61.0 µs`.
    pub const fn of(factor: f64, unit: &'static str) -> Self {
        Scale { factor, suffix: "", unit }
    }

    /// A scale of rates of operations: `912k IOPS`.
    const fn iops(factor: f64, suffix: &'static str) -> Self {
        Scale { factor, suffix, unit: "IOPS" }
    }

    /// A number that was divided by the factor, with its unit.
    pub fn written(self, number: &str) -> String {
        format!("{number}{} {}", self.suffix, self.unit)
    }
}

const OPERATIONS: [Scale; 4] =
    [Scale::iops(1.0, ""), Scale::iops(1e3, "k"), Scale::iops(1e6, "M"), Scale::iops(1e9, "G")];

const BANDWIDTH: [Scale; 5] = [
    Scale::of(1.0, "B/s"),
    Scale::of(1e3, "kB/s"),
    Scale::of(1e6, "MB/s"),
    Scale::of(1e9, "GB/s"),
    Scale::of(1e12, "TB/s"),
];

const CAPACITY: [Scale; 6] = [
    Scale::of(1.0, "B"),
    Scale::of(1e3, "kB"),
    Scale::of(1e6, "MB"),
    Scale::of(1e9, "GB"),
    Scale::of(1e12, "TB"),
    Scale::of(1e15, "PB"),
];

const SIZE: [Scale; 5] = [
    Scale::of(1.0, "B"),
    Scale::of(1024.0, "KiB"),
    Scale::of(1_048_576.0, "MiB"),
    Scale::of(1_073_741_824.0, "GiB"),
    Scale::of(1_099_511_627_776.0, "TiB"),
];

const TIME: [Scale; 4] =
    [Scale::of(1.0, "ns"), Scale::of(1e3, "µs"), Scale::of(1e6, "ms"), Scale::of(1e9, "s")];

/// The largest unit in which `value` does not round to less than 1.
fn scale_for(value: f64, scales: &[Scale]) -> Scale {
    let magnitude = value.abs();
    let fits = |scale: &&Scale| magnitude >= scale.factor * 0.9995;
    scales.iter().rev().find(fits).or(scales.first()).copied().unwrap_or(OPERATIONS[0])
}

/// The scale for operations a second.
pub fn operations_scale(per_second: f64) -> Scale {
    scale_for(per_second, &OPERATIONS)
}

/// The scale for bytes a second.
pub fn bandwidth_scale(bytes_per_second: f64) -> Scale {
    scale_for(bytes_per_second, &BANDWIDTH)
}

/// The scale for bytes in powers of 1000.
pub fn capacity_scale(bytes: f64) -> Scale {
    scale_for(bytes, &CAPACITY)
}

/// The scale for a time in nanoseconds.
pub fn time_scale(nanoseconds: f64) -> Scale {
    scale_for(nanoseconds, &TIME)
}

fn scaled(value: f64, scales: &[Scale]) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let scale = scale_for(value, scales);
    let number = value / scale.factor;
    // Whole base units are exact: `850 ns`, not `850.0 ns`.
    let text = match scale.factor == 1.0 && number.fract() == 0.0 {
        true => format!("{number:.0}"),
        false => digits(number),
    };
    scale.written(&text)
}

/// Three digits, four from 1000 on: `1.31`, `16.9`, `912`, `1234`.
pub fn digits(value: f64) -> String {
    match value.abs() {
        magnitude if !magnitude.is_finite() => UNKNOWN.to_owned(),
        magnitude if magnitude < 9.995 => format!("{value:.2}"),
        magnitude if magnitude < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Operations a second: `912k IOPS`.
pub fn operations(per_second: f64) -> String {
    scaled(per_second, &OPERATIONS)
}

/// Bytes a second: `6.61 GB/s`.
pub fn bandwidth(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, &BANDWIDTH)
}

/// A time in nanoseconds: `61.0 µs`.
pub fn time(nanoseconds: f64) -> String {
    scaled(nanoseconds, &TIME)
}

/// A capacity in powers of 1000: `2.00 TB`.
pub fn capacity(bytes: u64) -> String {
    scaled(bytes as f64, &CAPACITY)
}

/// A size in powers of 1024, whole where it is whole: `4 KiB`, `1.50 GiB`.
pub fn size(bytes: u64) -> String {
    let exact =
        |scale: &&Scale| bytes >= scale.factor as u64 && bytes.is_multiple_of(scale.factor as u64);
    let whole = SIZE.iter().rev().find(exact).copied().unwrap_or(SIZE[0]);
    let number = bytes as f64 / whole.factor;
    match number < 10_000.0 {
        true => format!("{number:.0} {}", whole.unit),
        false => scaled(bytes as f64, &SIZE),
    }
}

/// A span in days, in the unit that people count it in: `31.2 hours`, `729 days`, `12.5 years`.
pub fn days(days: f64) -> String {
    match days {
        days if !days.is_finite() => UNKNOWN.to_owned(),
        days if days < 2.0 => format!("{} hours", digits(days * 24.0)),
        days if days < 1000.0 => format!("{} days", digits(days)),
        days => format!("{} years", digits(days / 365.25)),
    }
}

/// A count with its thousands apart: `9,120,334`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun, plural by an `s`: `1 step`, `9,120,334 I/Os`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A share as a percentage: `0.4 %`, `13 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        magnitude if !magnitude.is_finite() => UNKNOWN.to_owned(),
        magnitude if magnitude < 0.0995 => format!("{value:.2} %"),
        magnitude if magnitude < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// Ends further apart than this factor are not told as a share of the value.
const WIDE: f64 = 3.0;

/// Half the width of the 95 % interval by the value: `± 0.4 %`, or `no interval`. Of something
/// positive nothing is ± 177 %: a wide interval is a factor, `× or ÷ 2.8`.
///
/// ```
/// use drivelab_core::quantity::{half_width, operations, time};
/// use drivelab_stats::Estimate;
///
/// assert_eq!(operations(71_340.0), "71.3k IOPS");
/// assert_eq!(time(34_100.0), "34.1 µs");
/// assert_eq!(half_width(&Estimate::point(100.0, 1)), "no interval");
/// let estimate = Estimate { value: 100.0, low: Some(95.0), high: Some(105.0), n: 5 };
/// assert_eq!(half_width(&estimate), "± 5.0 %");
/// ```
pub fn half_width(estimate: &Estimate) -> String {
    if let (Some(low), Some(high)) = (estimate.low, estimate.high)
        && low > 0.0
        && high / low > WIDE
    {
        return format!("× or ÷ {}", digits((high / low).sqrt()));
    }
    match estimate.relative_half_width() {
        Some(share) => format!("± {}", percent(share)),
        None => "no interval".to_owned(),
    }
}

/// The 95 % interval in the unit of its value, `906k to 917k IOPS`; `None` without one.
pub fn interval(estimate: &Estimate, scale: Scale) -> Option<String> {
    let (low, high) = (estimate.low? / scale.factor, estimate.high? / scale.factor);
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    // Two digits of the width, so that the ends differ, but no more than the eye can take.
    let width = (high - low).abs().max(f64::MIN_POSITIVE);
    let decimals = (1.0 - width.log10().floor()).clamp(0.0, 4.0) as usize;
    let suffix = scale.suffix;
    Some(format!("{low:.decimals$}{suffix} to {high:.decimals$}{suffix} {}", scale.unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_two_to_four_digits() {
        for (value, text) in [
            (0.0, "0 IOPS"),
            (1.0, "1 IOPS"),
            (1310.0, "1.31k IOPS"),
            (16_900.0, "16.9k IOPS"),
            (912_345.0, "912k IOPS"),
            (999_600.0, "1.00M IOPS"),
            (f64::NAN, "unknown"),
            (f64::INFINITY, "unknown"),
        ] {
            assert_eq!(operations(value), text);
        }
        assert_eq!(bandwidth(6.61e9), "6.61 GB/s");
        assert_eq!(time(850.0), "850 ns");
        assert_eq!(time(850.25), "850 ns");
        assert_eq!(time(61_000.0), "61.0 µs");
        assert_eq!(time(999_999.0), "1.00 ms");
        assert_eq!(time(3.6e12), "3600 s");
        assert_eq!(capacity(2_000_398_934_016), "2.00 TB");
    }

    #[test]
    fn sizes_are_whole_where_they_are_whole() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(512), "512 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(8 << 30), "8 GiB");
        assert_eq!(size(3 << 29), "1536 MiB");
        assert_eq!(size((8 << 30) + 512), "8.00 GiB");
        assert_eq!(size(u64::MAX), "16777216 TiB");
    }

    #[test]
    fn counts_percentages_and_intervals() {
        assert_eq!((days(1.3).as_str(), days(728.8).as_str()), ("31.2 hours", "729 days"));
        assert_eq!((days(4567.0).as_str(), days(f64::NAN).as_str()), ("12.5 years", UNKNOWN));
        assert_eq!(count(7), "7");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((counted(1, "I/O"), counted(0, "step")), ("1 I/O".into(), "0 steps".into()));
        assert_eq!(counted(1_234_567, "I/O"), "1,234,567 I/Os");
        assert_eq!(percent(0.0042), "0.4 %");
        assert_eq!(percent(0.134), "13 %");
        assert_eq!(percent(0.0004), "0.04 %");
        let estimate =
            Estimate { value: 912_000.0, low: Some(906_400.0), high: Some(917_600.0), n: 30 };
        assert_eq!(half_width(&estimate), "± 0.6 %");
        assert_eq!(interval(&estimate, operations_scale(912_000.0)).unwrap(), "906k to 918k IOPS");
        assert_eq!(half_width(&Estimate::point(1.0, 1)), "no interval");
        assert_eq!(interval(&Estimate::point(1.0, 1), operations_scale(1.0)), None);
    }
}
