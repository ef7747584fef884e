//! When a run began and ended, as these tools print it. Dates are UTC here, whatever the zone of
//! the machine.

use crate::calendar::Moment;
use crate::front::Host;
use drivelab_core::record::Begin;

/// Now.
pub(crate) fn now(host: &Host) -> Moment {
    Moment::of(host.now_ms / 1000)
}

/// When the run began; now, if that cannot be read.
pub(crate) fn began(begin: &Begin, host: &Host) -> Moment {
    Moment::read(&begin.started_at).unwrap_or_else(|| now(host))
}

/// So many nanoseconds later.
pub(crate) fn after(moment: Moment, nanoseconds: u64) -> Moment {
    Moment::of(moment.seconds + nanoseconds / 1_000_000_000)
}

/// `11/22/2026 05:37:46`.
pub(crate) fn in_numbers(moment: Moment) -> String {
    let Moment { year, month, day, .. } = moment;
    format!("{month:02}/{day:02}/{year} {}", moment.time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_that_is_no_date_is_now() {
        let host = Host { now_ms: 5_999, ..Host::default() };
        let of = |text: &str| Begin { started_at: text.into(), ..Begin::default() };
        assert_eq!(began(&of("yesterday"), &host).seconds, 5);
        let begin = began(&of("2026-11-22T05:37:46Z"), &host);
        assert_eq!(in_numbers(after(begin, 13_999_999_999)), "11/22/2026 05:37:59");
    }
}
