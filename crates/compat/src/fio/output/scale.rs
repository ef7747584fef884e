//! Numbers as fio shortens them, and its dates.

/// What a number is divided by when it is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// 1024, `Ki` `Mi` `Gi`.
    Binary,
    /// 1000, `k` `M` `G`.
    Decimal,
}

const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// `value` in at most `length` characters next to its unit.
pub fn short(value: u64, length: usize, step: Step, unit: &str) -> String {
    shortened(value, 0, length, step, unit)
}

/// A value that is in thousands already, shortened as fio shortens it.
pub fn short_kilo(value: u64, length: usize, step: Step, unit: &str) -> String {
    shortened(value, 1, length, step, unit)
}

fn shortened(value: u64, begin: usize, length: usize, step: Step, unit: &str) -> String {
    let (divisor, prefixes) = match step {
        Step::Binary => (1024, BINARY),
        Step::Decimal => (1000, DECIMAL),
    };
    let (mut whole, mut rest, mut prefix) = (value, 0, begin);
    while whole.to_string().len() > length && prefix + 1 < prefixes.len() {
        rest = whole % divisor;
        whole /= divisor;
        prefix += 1;
    }
    let digits = whole.to_string().len();
    let suffix = format!("{}{unit}", prefixes[prefix]);
    if prefix == begin {
        return format!("{whole}{suffix}");
    }
    let decimals = length.saturating_sub(1 + digits);
    if decimals == 0 {
        return format!("{}{suffix}", whole + u64::from(2 * rest >= divisor));
    }
    // The fraction is rounded by itself, and may become 1.
    let fraction = format!("{:.decimals$}", rest as f64 / divisor as f64);
    let whole = whole + u64::from(fraction.starts_with('1'));
    format!("{whole}{}{suffix}", &fraction[1..])
}

/// Seconds since 1970 as the C library writes them, in UTC.
pub fn date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut day) = (1970, days);
    while day >= length_of(year) {
        day -= length_of(year);
        year += 1;
    }
    let february = length_of(year) - 337;
    let mut month = 0;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let weekday = DAYS[(days % 7) as usize];
    format!("{weekday} {} {:2} {hour:02}:{minute:02}:{second:02} {year}", MONTHS[month], day + 1)
}

fn length_of(year: u64) -> u64 {
    let leaps = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leaps { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As fio printed them.
    #[test]
    fn numbers_are_shortened_as_fio_does() {
        for (value, expected) in [
            (9_999, "9999B"),
            (10_000, "9.77KiB"),
            (10_230, "9.99KiB"),
            (10_235, "10.00KiB"),
            (10_240, "10.0KiB"),
            (10_291, "10.0KiB"),
            (102_348, "99.9KiB"),
            (102_349, "100.0KiB"),
            (102_400, "100KiB"),
            (102_912, "101KiB"),
            (1_023_487, "999KiB"),
            (1_023_488, "1000KiB"),
            (10_229_000, "9989KiB"),
            (10_485_759, "10.00MiB"),
        ] {
            assert_eq!(short(value, 4, Step::Binary, "B"), expected);
        }
        assert_eq!(short(41_950_241, 4, Step::Decimal, "B/s"), "41.9MB/s");
        assert_eq!(short(41_526_999, 6, Step::Decimal, ""), "41527k");
        assert_eq!(short(8_027_500, 6, Step::Decimal, ""), "8027.5k");
        assert_eq!(short(2_681_706_605, 6, Step::Decimal, ""), "2681.7M");
        assert_eq!(short(0, 4, Step::Decimal, ""), "0");
        assert_eq!(short(u64::MAX, 4, Step::Binary, "B"), "16.0EiB");
    }

    #[test]
    fn dates_are_those_of_the_c_library() {
        for (seconds, expected) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_782_399, "Mon Feb 28 23:59:59 2000"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (1_078_099_199, "Sun Feb 29 23:59:59 2004"),
            (1_795_326_694, "Sun Nov 22 05:51:34 2026"),
            (4_107_542_399, "Sun Feb 28 23:59:59 2100"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
