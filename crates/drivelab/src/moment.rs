//! Wall-clock time for people: run IDs and RFC 3339, always UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment of the wall clock, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    seconds: u64,
}

struct Parts {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Moment {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Moment { seconds: since.map_or(0, |since| since.as_secs()) }
    }

    /// `2026-11-20T15:03:12Z`.
    pub fn rfc3339(self) -> String {
        let Parts { year, month, day, hour, minute, second } = self.parts();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// `20261120-150312`.
    pub fn compact(self) -> String {
        let Parts { year, month, day, hour, minute, second } = self.parts();
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }

    /// Days to a date: Howard Hinnant's `civil_from_days`, for days from 1970 on.
    fn parts(self) -> Parts {
        let days = self.seconds / 86_400 + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let second_of_day = self.seconds % 86_400;
        Parts {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: second_of_day / 3600,
            minute: second_of_day / 60 % 60,
            second: second_of_day % 60,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn dates_are_right() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(Moment { seconds }.rfc3339(), text);
        }
        assert_eq!(Moment { seconds: 951_782_401 }.compact(), "20000229-000001");
    }
}
