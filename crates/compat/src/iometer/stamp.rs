//! Time stamps of results: `YYYY-MM-DD HH:MM:SS:mmm`, in UTC.

/// Milliseconds since 1970 of `2026-11-20T15:03:12Z`; `None` if it is none.
pub fn milliseconds(rfc3339: &str) -> Option<u64> {
    let (date, time) = rfc3339.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, between: char| -> Option<[u64; 3]> {
        let found: Vec<u64> = text.split(between).map(str::parse).collect::<Result<_, _>>().ok()?;
        found.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(time, ':')?);
    let is_date = (1970..10_000).contains(&year) && (1..=12).contains(&month) && day >= 1;
    let is_time = day <= 31 && hour < 24 && minute < 60 && second <= 60;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    (is_date && is_time).then_some(seconds * 1000)
}

/// Days since 1970: Howard Hinnant's `days_from_civil`, for years from 1970 on.
fn days(year: u64, month: u64, day: u64) -> u64 {
    if !(1..=12).contains(&month) {
        return 0;
    }
    let year = year.saturating_sub(u64::from(month <= 2));
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - day.min(1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).saturating_sub(719_468)
}

/// The stamp of a moment.
pub fn stamp(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    // Howard Hinnant's `civil_from_days`, for days from 1970 on.
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}:{rest:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_go_both_ways() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2024-03-01T00:00:00Z", 1_709_251_200),
            ("2099-12-31T23:59:59Z", 4_102_444_799),
        ] {
            assert_eq!(milliseconds(text), Some(seconds * 1000), "{text}");
            let expected = text.replace('T', " ").replace('Z', ":007");
            assert_eq!(stamp(seconds * 1000 + 7), expected);
        }
        for text in ["", "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z", "20240101T000000Z", "TZ"] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}
