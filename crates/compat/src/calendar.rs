//! Dates and times of day in UTC, from the seconds that a clock counted and from text.

/// Names of the days, from Sunday.
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
/// Names of the months.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SECONDS_A_DAY: u64 = 86_400;

/// A moment, UTC, in the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Year.
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
    /// 0 to 23.
    pub hour: u64,
    /// 0 to 59.
    pub minute: u64,
    /// 0 to 59.
    pub second: u64,
    /// 0 is Sunday.
    pub weekday: usize,
    /// Since the beginning of 1970.
    pub seconds: u64,
}

impl Moment {
    /// The moment so many seconds after the beginning of 1970.
    pub fn of(seconds: u64) -> Moment {
        let (days, rest) = (seconds / SECONDS_A_DAY, seconds % SECONDS_A_DAY);
        // Eras of 400 years begin on 1 March of the year 0; this way the leap day comes last.
        let since_era_zero = days + 719_468;
        let (era, of_era) = (since_era_zero / 146_097, since_era_zero % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Moment {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: of_year - (153 * from_march + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: ((days + 4) % 7) as usize,
            seconds,
        }
    }

    /// The moment that RFC 3339 text in UTC (`2026-11-20T17:37:17Z`) means.
    pub fn read(text: &str) -> Option<Moment> {
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let fits = year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
        if !fits || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let (shifted, from_march) =
            if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
        let (era, year_of_era) = (shifted / 400, shifted % 400);
        let of_year = (153 * from_march + 2) / 5 + day - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        let days = (era * 146_097 + of_era).checked_sub(719_468)?;
        Some(Moment::of(days * SECONDS_A_DAY + hour * 3600 + minute * 60 + second))
    }

    /// `Fri Nov 20 17:37:17 2026`, as C's `ctime` has it.
    pub fn as_ctime(&self) -> String {
        format!(
            "{} {} {:>2} {} {}",
            DAYS.get(self.weekday).copied().unwrap_or_default(),
            MONTHS.get(self.month as usize - 1).copied().unwrap_or_default(),
            self.day,
            self.time(),
            self.year
        )
    }

    /// `17:37:17`.
    pub fn time(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (1_795_196_237, "Fri Nov 20 17:37:17 2026"),
            (4_107_542_399, "Sun Feb 28 23:59:59 2100"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
        ] {
            let moment = Moment::of(seconds);
            assert_eq!((moment.as_ctime().as_str(), moment.seconds), (text, seconds));
        }
    }

    #[test]
    fn text_is_read_back() {
        let read = Moment::read("2026-11-20T17:37:17Z").unwrap();
        assert_eq!(read, Moment::of(1_795_196_237));
        for seconds in (0..5_000_000_000u64).step_by(86_400 * 7 + 3671) {
            let moment = Moment::of(seconds);
            let (date, time) = ((moment.year, moment.month, moment.day), moment.time());
            let text = format!("{:04}-{:02}-{:02}T{time}Z", date.0, date.1, date.2);
            assert_eq!(Moment::read(&text), Some(moment), "{text}");
        }
        for text in ["", "2026-11-20", "1969-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "é"] {
            assert_eq!(Moment::read(text), None, "{text}");
        }
    }
}
