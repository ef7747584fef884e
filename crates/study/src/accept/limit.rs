//! The limit of a claim: a plain number in the unit of its figure, or as a data sheet has it.

use drivelab_core::claims::Metric;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use std::fmt;

/// As it stands in a specification.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Limit {
    /// Operations a second, bytes a second or nanoseconds.
    Number(f64),
    /// A number with its unit.
    Text(String),
}

/// Units by what they are of, and how many of the plain unit each is.
const IOPS: [(&str, f64); 6] =
    [("IOPS", 1.0), ("kIOPS", 1e3), ("KIOPS", 1e3), ("MIOPS", 1e6), ("k", 1e3), ("", 1.0)];
/// A small b is a bit.
const BANDWIDTH: [(&str, f64); 8] = [
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("KB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1_048_576.0),
    ("GiB/s", 1_073_741_824.0),
];
const TIME: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

impl Limit {
    /// The limit in the plain unit of the figure.
    ///
    /// # Errors
    /// How such a figure is written.
    pub(super) fn of(&self, metric: Metric) -> Result<f64, String> {
        let text = match self {
            Limit::Number(number) => return Ok(*number),
            Limit::Text(text) => text,
        };
        let (units, example): (&[(&str, f64)], &str) = match metric {
            Metric::Iops => (&IOPS, "\"900k IOPS\" or 900_000"),
            Metric::BandwidthBytesPerS => (&BANDWIDTH, "\"7 GB/s\" or 7_000_000_000"),
            _ => (&TIME, "\"200 us\" or 200_000 (nanoseconds)"),
        };
        let at = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '_')).unwrap_or(text.len());
        let number = text[..at].replace('_', "").parse::<f64>().ok();
        let unit = text[at..].split_whitespace().collect::<String>();
        let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        let value = number.zip(scale).map(|(number, scale)| number * scale);
        value.ok_or_else(|| {
            format!("{text:?} is not a limit of {}; write {example}", metric.words())
        })
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Limit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a text such as \"7 GB/s\"")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Limit, E> {
                Ok(Limit::Number(value))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Limit, E> {
                Ok(Limit::Number(value as f64))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Limit, E> {
                Ok(Limit::Number(value as f64))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Limit, E> {
                Ok(Limit::Text(value.to_owned()))
            }
        }
        from.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_written_as_a_data_sheet_has_it() {
        let of = |text: &str, metric| Limit::Text(text.into()).of(metric);
        assert_eq!(of("7 GB/s", Metric::BandwidthBytesPerS), Ok(7e9));
        assert_eq!(of("7GiB/s", Metric::BandwidthBytesPerS), Ok(7.0 * 1_073_741_824.0));
        assert_eq!(of("900k IOPS", Metric::Iops), Ok(9e5));
        assert_eq!(of("1.4M IOPS", Metric::Iops), Ok(1.4e6));
        assert_eq!(of("900_000 IOPS", Metric::Iops), Ok(9e5));
        assert_eq!(of("900000", Metric::Iops), Ok(9e5));
        assert_eq!(of("200 µs", Metric::P99Ns), Ok(2e5));
        assert_eq!(Limit::Number(3.0).of(Metric::MaxNs), Ok(3.0));
        for (text, metric) in [
            ("7 GB/s", Metric::Iops),
            ("7 Gb/s", Metric::BandwidthBytesPerS),
            ("900k IOPS", Metric::BandwidthBytesPerS),
            ("7", Metric::BandwidthBytesPerS),
            ("200", Metric::P99Ns),
            ("fast", Metric::P99Ns),
            ("1.2.3 s", Metric::P99Ns),
            ("-5 ms", Metric::P99Ns),
        ] {
            let why = of(text, metric).expect_err(text);
            assert!(why.contains("write \""), "{why}");
        }
    }
}
