//! Wall-clock time for people: run IDs and RFC 3339, always UTC.

use jiff::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment of the wall clock, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime(Timestamp);

impl WallTime {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        WallTime::of(since.map_or(0, |since| since.as_secs()))
    }

    fn of(seconds: u64) -> Self {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        WallTime(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
    }

    /// The moment so many seconds before.
    pub fn earlier_by(self, seconds: u64) -> Self {
        let then = self.0.as_second().saturating_sub(i64::try_from(seconds).unwrap_or(i64::MAX));
        WallTime(Timestamp::from_second(then).unwrap_or(Timestamp::MIN))
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0.as_second()
    }

    /// What [`WallTime::rfc3339`] wrote.
    pub fn of_rfc3339(text: &str) -> Option<Self> {
        text.parse().ok().map(WallTime)
    }

    /// `2026-11-20T15:03:12Z`.
    pub fn rfc3339(self) -> String {
        self.0.to_string()
    }

    /// `20261120-150312`.
    pub fn compact(self) -> String {
        self.0.strftime("%Y%m%d-%H%M%S").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::WallTime;

    #[test]
    fn dates_are_right() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(WallTime::of(seconds).rfc3339(), text);
        }
        assert_eq!(WallTime::of(951_782_401).earlier_by(86_401).rfc3339(), "2000-02-28T00:00:00Z");
        assert_eq!(WallTime::of(951_782_401).compact(), "20000229-000001");
    }
}
