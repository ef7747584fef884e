//! Units, and numbers in them as words.

use drivelab_core::findings;

use crate::units;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Operations a second.
    Operations,
    /// Bytes a second.
    Bandwidth,
    /// Bytes.
    Bytes,
    /// Times in nanoseconds.
    Nanoseconds,
    /// Times in seconds.
    Seconds,
    /// Shares from 0 to 1, shown as percentages.
    Share,
    /// Degrees Celsius.
    Celsius,
    /// A plain ratio.
    Factor,
    /// Counts.
    Count,
}

impl Unit {
    /// A value of it in words.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Operations => units::operations(value),
            Unit::Bandwidth => units::bandwidth(value),
            Unit::Bytes => bytes(value),
            Unit::Nanoseconds => units::time(value),
            Unit::Seconds => units::time(value * 1e9),
            // What is not all of it is not rounded to all of it.
            Unit::Share if (0.995..1.0).contains(&value) => {
                format!("{:.2} %", (value * 1e4).floor() / 1e2)
            }
            Unit::Share => units::percent(value),
            Unit::Celsius => format!("{value:.0} °C"),
            Unit::Factor => format!("× {}", units::digits(value)),
            Unit::Count => count(value),
        }
    }
}

impl From<findings::Unit> for Unit {
    fn from(unit: findings::Unit) -> Self {
        match unit {
            findings::Unit::Iops => Unit::Operations,
            findings::Unit::BytesPerS => Unit::Bandwidth,
            findings::Unit::Bytes => Unit::Bytes,
            findings::Unit::Ns => Unit::Nanoseconds,
            findings::Unit::Share => Unit::Share,
            findings::Unit::Factor => Unit::Factor,
            findings::Unit::Count => Unit::Count,
        }
    }
}

/// Bytes: a size in powers of 1024 where it is one, else an amount in powers of 1000.
pub(crate) fn bytes(value: f64) -> String {
    match is_size(value) {
        true => units::size(value as u64),
        false => amount(value),
    }
}

/// Whether it is whole in a unit of its magnitude that is a power of 1024: `4 KiB`, `8 GiB`.
pub(crate) fn is_size(value: f64) -> bool {
    let is_whole = |factor: f64| value % factor == 0.0 && value / factor < 1024.0;
    value >= 0.0 && [1.0, 1024.0, 1024f64.powi(2), 1024f64.powi(3)].into_iter().any(is_whole)
}

/// An amount in powers of 1000.
pub(crate) fn amount(value: f64) -> String {
    if !value.is_finite() {
        return units::UNKNOWN.to_owned();
    }
    let scale = units::capacity_scale(value);
    let number = value / scale.factor;
    match scale.factor == 1.0 && number.fract() == 0.0 {
        true => scale.written(&format!("{number:.0}")),
        false => scale.written(&units::digits(number)),
    }
}

/// A count with its thousands apart; of a mean of counts three digits.
pub(crate) fn count(value: f64) -> String {
    if !value.is_finite() {
        return units::UNKNOWN.to_owned();
    }
    let whole = value.round();
    if (value - whole).abs() > 1e-9 * value.abs() && value.abs() < 1e3 {
        return units::digits(value);
    }
    let sign = if whole < 0.0 { "-" } else { "" };
    format!("{sign}{}", units::count(whole.abs() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_sizes_or_amounts() {
        for (value, text) in [
            (0.0, "0 B"),
            (512.0, "512 B"),
            (4096.0, "4 KiB"),
            (8.0 * 1024f64.powi(3), "8 GiB"),
            (1536.0 * 1024f64.powi(2), "1.61 GB"),
            (5000.0, "5.00 kB"),
            (-2e9, "-2.00 GB"),
            (98.4e9, "98.4 GB"),
            (f64::NAN, "unknown"),
            (f64::INFINITY, "unknown"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn counts_are_whole_where_they_are() {
        for (value, text) in [
            (5.0, "5"),
            (2.4, "2.40"),
            (-3.0, "-3"),
            (-0.0, "0"),
            (1_234_567.4, "1,234,567"),
            (f64::NEG_INFINITY, "unknown"),
        ] {
            assert_eq!(count(value), text);
        }
    }
}
