//! Sizes and spans as people type them, exact in both directions.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A number of bytes. `4k` is 4 KiB; `4KiB … TiB` and `4kB … TB` are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(pub u64);

/// A span of time in nanoseconds. A bare number is seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

/// Whether a field says nothing, and is left out of what is written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const SIZE_UNITS: [(&str, u64); 18] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("m", 1 << 20),
    ("M", 1 << 20),
    ("g", 1 << 30),
    ("G", 1 << 30),
    ("t", 1 << 40),
    ("T", 1 << 40),
    ("B", 1),
    ("", 1),
];

const SPAN_UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("", 1_000_000_000),
];

/// Splits `text` into digits, decimals and unit, and multiplies exactly.
fn exact(text: &str, units: &[(&str, u64)], what: &str, example: &str) -> Result<u64, String> {
    let bad = |why: &str| format!("`{text}` is not a {what}: {why}; write {example}");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, scale) = units
        .iter()
        .find(|(name, _)| *name == unit.trim_start())
        .ok_or_else(|| bad(&format!("unknown unit `{}`", unit.trim_start())))?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || decimals.len() > 12 || number.ends_with('.') {
        return Err(bad("no number"));
    }
    let digits: u128 = format!("{whole}{decimals}").parse().map_err(|_| bad("no number"))?;
    let divisor = 10u128.pow(decimals.len() as u32);
    let product = digits.checked_mul(u128::from(*scale)).ok_or_else(|| bad("too large"))?;
    if product % divisor != 0 {
        return Err(bad("not a whole number of the smallest unit"));
    }
    u64::try_from(product / divisor).map_err(|_| bad("too large"))
}

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        exact(text.trim(), &SIZE_UNITS, "size", "4k, 1MiB or 10GB").map(Size)
    }
}

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        exact(text.trim(), &SPAN_UNITS, "time", "10, 500ms or 2m").map(Span)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, scale) =
            [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
                .into_iter()
                .find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale))
                .unwrap_or(("", 1));
        write!(f, "{}{}", self.0 / scale, name)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, scale) =
            [("h", 3_600_000_000_000u64), ("m", 60_000_000_000), ("s", 1_000_000_000)]
                .into_iter()
                .chain([("ms", 1_000_000), ("us", 1_000)])
                .find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale))
                .unwrap_or(("ns", 1));
        if self.0 == 0 { f.write_str("0s") } else { write!(f, "{}{}", self.0 / scale, name) }
    }
}

impl Span {
    /// The span in seconds.
    ///
    /// ```
    /// use drivelab_core::units::{Size, Span};
    ///
    /// assert_eq!("128k".parse(), Ok(Size(131_072)));
    /// assert_eq!("1500ms".parse(), Ok(Span(1_500_000_000)));
    /// assert_eq!(Span(1_500_000_000).seconds(), 1.5);
    /// assert_eq!(Span(1_500_000_000).to_string(), "1500ms");
    /// ```
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

struct Text<T>(std::marker::PhantomData<T>, u64);

impl<T: FromStr<Err = String> + FromNumber> de::Visitor<'_> for Text<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        number.checked_mul(self.1).map(T::from_number).ok_or_else(|| E::custom("too large"))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        let number = u64::try_from(number).map_err(|_| E::custom("negative"))?;
        self.visit_u64(number)
    }
}

trait FromNumber: Sized {
    const EXPECTED: &str;
    fn from_number(number: u64) -> Self;
}

impl FromNumber for Size {
    const EXPECTED: &str = "a size such as 4096, \"4k\", \"1MiB\" or \"10GB\"";
    fn from_number(number: u64) -> Self {
        Size(number)
    }
}

impl FromNumber for Span {
    const EXPECTED: &str = "a time such as 10 (seconds), \"500ms\" or \"2m\"";
    fn from_number(number: u64) -> Self {
        Span(number)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text(std::marker::PhantomData, 1))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text(std::marker::PhantomData, 1_000_000_000))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^[0-9]+([KMGT]iB)?$",
            "description": "A number of bytes: digits, and a unit of KiB, MiB, GiB or TiB.",
        })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]+(ns|us|ms|s|m|h)$",
            "description": "A span of time: digits, and a unit from ns to h.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_in_both_directions() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("1.5GiB", 1_610_612_736),
            ("10TB", 10_000_000_000_000),
            ("512", 512),
            ("512B", 512),
        ] {
            let size: Size = text.parse().unwrap();
            assert_eq!(size.0, bytes, "{text}");
            assert_eq!(size.to_string().parse::<Size>().unwrap(), size, "{text}");
        }
        for text in ["", "k", "-4k", "4q", "0.3B", "1..2k", "99999999T", "4KB", "1e9", "٤k"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn spans_are_exact_in_both_directions() {
        for (text, nanoseconds) in [
            ("10", 10 * 1_000_000_000),
            ("0.5", 500_000_000),
            ("200us", 200_000),
            ("2m", 120_000_000_000),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.0, nanoseconds, "{text}");
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span, "{text}");
        }
        assert!("10 parsecs".parse::<Span>().is_err());
    }
}
