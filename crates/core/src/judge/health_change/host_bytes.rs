//! What a drive counted as written by hosts, next to what this kernel sent it.
//!
//! An NVMe drive counts thousands of blocks of 512 bytes, rounded up (Data Units Written, NVM
//! Express Base Specification 2.0c, 5.16.1.3): where its count grew by `n` units, more than `n - 1`
//! and less than `n + 1` units were written.

use super::HealthEvent;
use crate::health_log::Span;
use crate::quantity::capacity;

/// What is said where the kernel's count lies outside of what the drive's leaves open; `meanwhile`
/// says when, where that is not plain. A counter of the drive that stands still says nothing, for
/// some drives keep it only now and then.
pub(crate) fn disagreement(span: &Span<'_>, meanwhile: &str) -> Option<HealthEvent> {
    let sent = span.kernel_written_bytes?;
    let unit = span.after.written_unit_bytes?;
    let counted = span.after.written_bytes?.checked_sub(span.before.written_bytes?)?;
    if counted == 0 {
        return None;
    }
    let (least, most) = (counted.saturating_sub(unit), counted.saturating_add(unit));
    let (code, word, apart, because) = if sent < least {
        ("counted_more", "more", least - sent, MORE)
    } else if sent > most {
        ("counted_less", "less", sent - most, LESS)
    } else {
        return None;
    };
    let (apart, sent) = (capacity(apart), capacity(sent));
    let text = format!(
        "counted at least {apart} {word} written by hosts than the {sent} that this kernel sent \
         it{meanwhile}: {because}"
    );
    Some(HealthEvent { code: code.to_owned(), text, is_suspicious: false })
}

const MORE: &str = "another host, another namespace of the drive or commands past the kernel's \
                    block layer write to it, too, or it counts in another unit";
const LESS: &str = "something in between holds the rest (the cache of an array or of a virtual \
                    machine), it was zeros by command, or the drive counts late or in another unit";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::WearFacts;

    const UNIT: u64 = 512_000;

    fn said(units: u64, sent: Option<u64>, meanwhile: &str) -> Option<String> {
        let wear = |units: u64| WearFacts {
            written_bytes: Some(units * UNIT),
            written_unit_bytes: Some(UNIT),
            ..WearFacts::default()
        };
        let (before, after) = (wear(7), wear(7 + units));
        let span = Span {
            device: "nvme0n1",
            before: &before,
            after: &after,
            kernel_written_bytes: sent,
            steps: (0, 1),
        };
        let event = disagreement(&span, meanwhile)?;
        assert!(!event.is_suspicious);
        Some(event.text)
    }

    #[test]
    fn a_drive_that_counted_more_has_other_writers() {
        let text = said(100, Some(98 * UNIT), " in steps 1 to 3").unwrap();
        let words = "counted at least 512 kB more written by hosts than the 50.2 MB that this \
                     kernel sent it in steps 1 to 3: another host, another namespace of the drive \
                     or commands past the kernel's block layer write to it, too, or it counts in \
                     another unit";
        assert_eq!(text, words);
    }

    #[test]
    fn a_drive_that_counted_less_has_something_before_it() {
        let text = said(1, Some(64_000_000), "").unwrap();
        let words = "counted at least 63.0 MB less written by hosts than the 64.0 MB that this \
                     kernel sent it: something in between holds the rest (the cache of an array or \
                     of a virtual machine), it was zeros by command, or the drive counts late or \
                     in another unit";
        assert_eq!(text, words);
    }

    /// Whatever was written, and however full a unit was before.
    #[test]
    fn an_honest_drive_is_never_named() {
        for start in [0, 1, 511_999, 512_000, 700_001] {
            for written in (0..200).map(|step| step * 77_777) {
                let count = |bytes: u64| bytes.div_ceil(UNIT);
                let units = count(start + written) - count(start);
                assert_eq!(said(units, Some(written), ""), None, "{start} {written}");
            }
        }
        assert_eq!(said(0, Some(1 << 30), ""), None, "a counter that stands still");
        assert_eq!(said(100, None, ""), None, "the kernel's count is not of the same ends");
    }
}
