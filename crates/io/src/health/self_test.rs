//! Tests that a drive makes of itself, as its logs tell: log page 06h of NVMe (base specification
//! 2.0, 5.16.1.7), byte 363 of an ATA drive's SMART data and its self-test log (ACS-4, 9.6, log 06h
//! of SMART), log page 10h of a SCSI drive (SPC-4, 7.3.20).

use super::little;
use drivelab_core::facts::{SelfTestEnd, SelfTestFacts};

/// The log of NVMe drives, and how many of its bytes are read: the state and the newest result.
pub(super) const NVME_PAGE: u8 = 0x06;
pub(super) const NVME_BYTES: usize = 32;

/// What NVMe drives say; `None` where the page is too short.
pub fn of_nvme(page: &[u8]) -> Option<SelfTestFacts> {
    let newest = page.get(4..32)?;
    let is_running = page[0] & 0xf != 0;
    let done_percent = is_running.then_some(u32::from(page[1] & 0x7f));
    let (how, failed) = match newest[0] & 0xf {
        0x0 => ("found nothing wrong", Some(false)),
        0x1 => ("was stopped by a command", None),
        0x2 => ("was stopped by a reset", None),
        0x3 => ("was stopped because a namespace was removed", None),
        0x4 => ("was stopped by a format", None),
        0x5 => ("could not be done: the drive failed", Some(true)),
        0x6 | 0x7 => ("found something wrong", Some(true)),
        0x8 => ("was stopped for a reason that it does not tell", None),
        0x9 => ("was stopped by a sanitize", None),
        _ => return Some(SelfTestFacts { done_percent, last: None }),
    };
    // A log that was never written may be all zeros: no test has the code 0.
    let kind = match newest[0] >> 4 {
        0 => return Some(SelfTestFacts { done_percent, last: None }),
        1 => Some("short".to_owned()),
        2 => Some("long".to_owned()),
        _ => None,
    };
    let power_on_hours = Some(little(newest, 4, 8));
    let last = SelfTestEnd { kind, how: how.to_owned(), failed, power_on_hours };
    Some(SelfTestFacts { done_percent, last: Some(last) })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A page of NVMe: what goes on, how far it is, and the newest result with its hours.
    pub fn nvme(running: u8, percent: u8, newest: u8, hours: u64) -> Vec<u8> {
        let mut page = vec![0; NVME_BYTES];
        (page[0], page[1], page[4]) = (running, percent, newest);
        page[8..16].copy_from_slice(&hours.to_le_bytes());
        page
    }

    #[test]
    fn a_test_that_goes_on_says_how_far_it_is() {
        let facts = of_nvme(&nvme(2, 37, 0xf, 0)).unwrap();
        assert_eq!(facts, SelfTestFacts { done_percent: Some(37), last: None });
        assert_eq!(of_nvme(&nvme(0, 37, 0xf, 0)).unwrap(), SelfTestFacts::default());
        assert_eq!(of_nvme(&[0; 32]).unwrap(), SelfTestFacts::default(), "never written");
        assert_eq!(of_nvme(&[0; 31]), None);
    }

    #[test]
    fn the_newest_result_is_told_in_words() {
        let last = |code| of_nvme(&nvme(0, 0, code, 99)).unwrap().last.unwrap();
        let (kind, hours) = (Some("short".to_owned()), Some(99));
        let how = "found nothing wrong".to_owned();
        let fine = SelfTestEnd { kind, how, failed: Some(false), power_on_hours: hours };
        assert_eq!(last(0x10), fine);
        assert_eq!((last(0x27).kind.as_deref(), last(0x27).failed), (Some("long"), Some(true)));
        assert_eq!((last(0xe1).kind, last(0xe1).failed), (None, None));
    }
}
