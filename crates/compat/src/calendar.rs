//! Dates and times of day as other tools print them: in UTC, whatever the zone of the machine.

use crate::front::Host;
use drivelab_core::record::Begin;
use jiff::{SignedDuration, Timestamp};

/// Now.
pub(crate) fn now(host: &Host) -> Timestamp {
    let milliseconds = i64::try_from(host.now_ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
}

/// When the run began; now, if that cannot be read.
pub(crate) fn began(begin: &Begin, host: &Host) -> Timestamp {
    begin.started_at.parse().unwrap_or_else(|_| now(host))
}

/// This many nanoseconds later.
pub(crate) fn after(moment: Timestamp, nanoseconds: u64) -> Timestamp {
    let later = SignedDuration::from_nanos(i64::try_from(nanoseconds).unwrap_or(i64::MAX));
    moment.checked_add(later).unwrap_or(Timestamp::MAX)
}

/// `Fri Nov 20 17:37:17 2026`, as C's `ctime` has it.
pub(crate) fn as_ctime(moment: Timestamp) -> String {
    moment.strftime("%a %b %e %T %Y").to_string()
}

#[cfg(test)]
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
            let host = Host { now_ms: seconds * 1000 + 999, ..Host::default() };
            assert_eq!(as_ctime(now(&host)), text);
        }
    }

    #[test]
    fn a_beginning_that_is_no_date_is_now() {
        let host = Host { now_ms: 5_000, ..Host::default() };
        let of = |text: &str| began(&Begin { started_at: text.into(), ..Begin::default() }, &host);
        for text in ["yesterday", "", "2026-11-20", "2026-13-01T00:00:00Z", "é"] {
            assert_eq!(of(text), now(&host), "{text}");
        }
        let begin = of("2026-11-22T05:37:46Z");
        assert_eq!(as_ctime(after(begin, 13_999_999_999)), "Sun Nov 22 05:37:59 2026");
        assert_eq!(after(Timestamp::MAX, u64::MAX), Timestamp::MAX);
        assert_eq!(now(&Host { now_ms: u64::MAX, ..Host::default() }), Timestamp::MAX);
    }
}
