//! The values of fio's options: sizes, times, shares, lists.

use super::arithmetic::{read_of, sum};
use std::borrow::Cow;

/// A value that is not one: what would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadValue(pub Cow<'static, str>);

impl BadValue {
    /// What is accepted.
    pub const fn wants(form: &'static str) -> BadValue {
        BadValue(Cow::Borrowed(form))
    }
}

const SIZE: BadValue = BadValue::wants("a size: 4096, 4k, 1.5m, 2g");
const AMOUNT: BadValue =
    BadValue::wants("a size, such as 64m, a percentage from 0% to 100%, or zones, such as 8z");
const TIME: BadValue = BadValue::wants("a time: 30, 30s, 5m, 2h, 500ms, 100us");
const YES_OR_NO: BadValue = BadValue::wants("0 or 1");
const DIRECTIONS: BadValue = BadValue::wants("one value, or READ,WRITE, or READ,WRITE,TRIM");

/// Bytes or a share of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent of the whole.
    Percent(u64),
    /// Zones of the drive.
    Zones(u64),
}

impl Amount {
    /// Bytes, where the whole has this many; of zones their number, as their size is not known.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Amount::Bytes(bytes) | Amount::Zones(bytes) => bytes,
            Amount::Percent(percent) => {
                u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX)
            }
        }
    }
}

/// A number with a unit of size. With `kb_base` 1024 `4k` and `4kb` are 4096 and `4kib` is 4000,
/// the opposite of the standard, as fio has it (`4ki` is 4096 all the same); with 1000 as the
/// standard says.
///
/// # Errors
/// No number, an unknown unit, more than 2^64 − 1.
pub fn size(text: &str, kb_base: u64) -> Result<u64, BadValue> {
    if text.trim_start().starts_with('(') {
        return sum(text, kb_base);
    }
    let text = read_of(text).trim().to_ascii_lowercase();
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return u64::from_str_radix(hexadecimal, 16).map_err(|_| SIZE);
    }
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let (letter, ending) = match unit.chars().next() {
        None => ("", ""),
        Some(first) => unit.split_at(first.len_utf8()),
    };
    let power = match letter {
        "" | "b" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(SIZE),
    };
    let other = if kb_base == 1000 { 1024 } else { 1000 };
    let base: u64 = match ending {
        "" | "b" => kb_base,
        "i" if kb_base == 1024 => 1024,
        "i" | "ib" => other,
        _ => return Err(SIZE),
    };
    let factor = base.pow(power);
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor).ok_or(SIZE),
        Err(_) => {
            let value = number.parse::<f64>().map_err(|_| SIZE)? * factor as f64;
            if value.is_finite() && value < 1e19 { Ok(value as u64) } else { Err(SIZE) }
        }
    }
}

/// Bytes or a percentage.
///
/// # Errors
/// As [`size`]; a percentage that is none.
pub fn amount(text: &str, kb_base: u64) -> Result<Amount, BadValue> {
    if let Some(zones) = text.trim().strip_suffix(['z', 'Z']) {
        return zones.parse().map(Amount::Zones).map_err(|_| AMOUNT);
    }
    match text.trim().strip_suffix('%') {
        Some(percent) => {
            let percent: u64 = percent.trim().parse().map_err(|_| AMOUNT)?;
            if percent > 100 { Err(AMOUNT) } else { Ok(Amount::Percent(percent)) }
        }
        None => size(text, kb_base).map(Amount::Bytes).map_err(|_| AMOUNT),
    }
}

/// A time in nanoseconds; a number without a unit is in units of `plain_ns`.
///
/// # Errors
/// No number, an unknown unit.
pub fn time_ns(text: &str, plain_ns: u64) -> Result<u64, BadValue> {
    // Of 1:30 fio takes the 1, whatever stands behind it.
    let text = text.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" => plain_ns,
        "d" => 86_400_000_000_000,
        "h" => 3_600_000_000_000,
        "m" => 60_000_000_000,
        "s" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        _ => return Err(TIME),
    };
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor).ok_or(TIME),
        Err(_) => {
            let value = number.parse::<f64>().map_err(|_| TIME)? * factor as f64;
            if value.is_finite() && value < 1e19 { Ok(value as u64) } else { Err(TIME) }
        }
    }
}

/// A whole number, hexadecimal after `0x`.
///
/// # Errors
/// It is none.
pub fn number(text: &str) -> Result<u64, BadValue> {
    size(text, 1024)
}

/// Yes or no: absent means yes.
///
/// # Errors
/// Neither 0 nor 1.
pub fn boolean(text: Option<&str>) -> Result<bool, BadValue> {
    match text.map(str::trim) {
        None | Some("" | "1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err(YES_OR_NO),
    }
}

/// Values for reads, writes and trims: one for all, `read,write` or `read,write,trim`; an empty
/// place keeps what it had.
///
/// # Errors
/// More than three, or one that is none.
pub fn by_direction<T: Copy>(
    text: &str,
    before: [T; 3],
    one: impl Fn(&str) -> Result<T, BadValue>,
) -> Result<[T; 3], BadValue> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut values = before;
    for (place, part) in parts.iter().enumerate().take(3) {
        if !part.is_empty() {
            // The last word is that of all behind it; what has a comma behind it stands alone.
            let end = if place + 1 == parts.len() { 3 } else { place + 1 };
            values[place..end].fill(one(part)?);
        }
    }
    let is_empty = parts.iter().all(|part| part.is_empty());
    if is_empty || parts.len() > 3 { Err(DIRECTIONS) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_fio() {
        let of = |text| size(text, 1024);
        assert_eq!(of("4k"), Ok(4096));
        assert_eq!(of("4KB"), Ok(4096));
        assert_eq!(of("4ki"), Ok(4096));
        assert_eq!(of("4KiB"), Ok(4000));
        assert_eq!(of("1.5m"), Ok(1_572_864));
        assert_eq!(of("3200G"), Ok(3_435_973_836_800));
        assert_eq!(of("0x10"), Ok(16));
        assert_eq!(size("4k", 1000), Ok(4000));
        assert_eq!(size("4ki", 1000), Ok(4096));
        assert_eq!(of("(2*1m)"), Ok(2 << 20));
        // Without parentheses fio reads the first number.
        assert_eq!((of("5*1024"), of("2k*3"), of("4k+4k")), (Ok(5), Ok(2048), Ok(4096)));
        for bad in ["", "k", "*2", "4x", "-1", "4kk", "1..2", "99999999999999999999", "4kiby"] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time_ns("10800", 1_000_000_000), Ok(10_800_000_000_000));
        assert_eq!(time_ns("5ms", 1_000_000_000), Ok(5_000_000));
        assert_eq!(time_ns("2m", 1), Ok(120_000_000_000));
        assert_eq!(time_ns("50", 1_000), Ok(50_000));
        assert_eq!(time_ns("1:30", 1_000_000_000), Ok(1_000_000_000));
        assert!(time_ns("abc", 1).is_err());
    }

    #[test]
    fn places_are_read_write_trim() {
        let of = |text| by_direction(text, [1, 1, 1], number);
        assert_eq!(of("4,8"), Ok([4, 8, 8]));
        assert_eq!(of(",8"), Ok([1, 8, 8]));
        assert_eq!(of("4,,2"), Ok([4, 1, 2]));
        assert_eq!((of("4,"), of(",4,"), of("4")), (Ok([4, 1, 1]), Ok([1, 4, 1]), Ok([4; 3])));
        assert!(of("1,2,3,4").is_err());
        assert_eq!(amount("50%", 1024), Ok(Amount::Percent(50)));
        assert!(amount("101%", 1024).is_err());
        assert_eq!(amount("524z", 1024), Ok(Amount::Zones(524)));
        assert!(amount("z", 1024).is_err());
    }
}
