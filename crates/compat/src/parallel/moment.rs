//! Dates as these tools print them. They are UTC here, whatever the zone of the machine.

use crate::front::Host;
use drivelab_core::record::Begin;

const DAY_S: u64 = 86_400;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A second of the calendar, UTC, from 1970 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// Seconds since 1970.
    pub seconds: u64,
}

impl Moment {
    /// Now.
    pub fn now(host: &Host) -> Self {
        Moment { seconds: host.now_ms / 1000 }
    }

    /// When the run began; now, if that cannot be read.
    pub fn began(begin: &Begin, host: &Host) -> Self {
        Moment::read(&begin.started_at).unwrap_or_else(|| Moment::now(host))
    }

    /// From the first 19 characters of RFC 3339, in UTC.
    fn read(text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let is_date = year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
        if !is_date || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = days_until(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
        Some(Moment { seconds })
    }

    /// So many nanoseconds later.
    pub fn after(self, nanoseconds: u64) -> Self {
        Moment { seconds: self.seconds + nanoseconds / 1_000_000_000 }
    }

    /// `Sun Nov 22 05:36:22 2026`.
    pub fn in_words(self) -> String {
        let (year, month, day) = date(self.seconds / DAY_S);
        let weekday = DAYS[(self.seconds / DAY_S % 7) as usize];
        let month = MONTHS[(month - 1) as usize];
        format!("{weekday} {month} {day:2} {} {year}", self.clock())
    }

    /// `11/22/2026 05:37:46`.
    pub fn in_numbers(self) -> String {
        let (year, month, day) = date(self.seconds / DAY_S);
        format!("{month:02}/{day:02}/{year} {}", self.clock())
    }

    fn clock(self) -> String {
        let second = self.seconds % DAY_S;
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }
}

/// Days from 1970 to a date of the Gregorian calendar: years that begin in March have their leap
/// day at the end, and 400 of them are 146 097 days.
fn days_until(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

/// Year, month and day after so many days from 1970.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        for (text, seconds, words, numbers) in [
            ("1970-01-01T00:00:00Z", 0, "Thu Jan  1 00:00:00 1970", "01/01/1970 00:00:00"),
            (
                "2026-11-22T05:36:22.125Z",
                1_795_325_782,
                "Sun Nov 22 05:36:22 2026",
                "11/22/2026 05:36:22",
            ),
            (
                "2024-02-29T23:59:59Z",
                1_709_251_199,
                "Thu Feb 29 23:59:59 2024",
                "02/29/2024 23:59:59",
            ),
            (
                "2000-03-01T00:00:00Z",
                951_868_800,
                "Wed Mar  1 00:00:00 2000",
                "03/01/2000 00:00:00",
            ),
        ] {
            let moment = Moment::read(text).unwrap();
            assert_eq!(moment.seconds, seconds, "{text}");
            assert_eq!(
                (moment.in_words().as_str(), moment.in_numbers().as_str()),
                (words, numbers)
            );
        }
        assert_eq!(Moment { seconds: 59 }.after(1_999_999_999).in_numbers(), "01/01/1970 00:01:00");
    }

    #[test]
    fn every_day_comes_back() {
        for day in 0..60_000 {
            let (year, month, of_month) = date(day);
            assert_eq!(days_until(year, month, of_month), day);
        }
    }

    #[test]
    fn what_is_no_date_is_now() {
        let host = Host { now_ms: 5_000, ..Host::default() };
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "1960-01-01T00:00:00Z", "2026–11–22"]
        {
            let begin = Begin { started_at: text.into(), ..Begin::default() };
            assert_eq!(Moment::began(&begin, &host).seconds, 5, "{text}");
        }
    }
}
