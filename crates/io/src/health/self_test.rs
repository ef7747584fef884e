//! Tests that a drive makes of itself, as its logs tell: log page 06h of NVMe (base specification
//! 2.0, 5.16.1.7), byte 363 of an ATA drive's SMART data and its self-test log (ACS-4, log 06h of
//! SMART), log page 10h of a SCSI drive (SPC-5).

use super::little;
use drivelab_core::facts::{SelfTestEnd, SelfTestFacts};

/// The log of NVMe drives, and how many of its bytes are read: the state and the newest result.
pub(super) const NVME_PAGE: u8 = 0x06;
pub(super) const NVME_BYTES: usize = 32;
/// The log of ATA drives, and its length.
pub(super) const ATA_LOG: u8 = 0x06;
const ATA_BYTES: usize = 512;
const ATA_RESULT_BYTES: usize = 24;
const ATA_RESULTS: usize = 21;
/// What stands for a test that goes on, in all of them.
const RUNNING: u8 = 0xf;

const NOTHING_WRONG: (&str, Option<bool>) = ("found nothing wrong", Some(false));
const SOMETHING_WRONG: (&str, Option<bool>) = ("found something wrong", Some(true));
const NOT_DONE: (&str, Option<bool>) = ("could not be done: the drive failed", Some(true));
const BY_COMMAND: (&str, Option<bool>) = ("was stopped by a command", None);
const BY_RESET: (&str, Option<bool>) = ("was stopped by a reset", None);
const UNTOLD: (&str, Option<bool>) = ("was stopped for a reason that it does not tell", None);

fn end(
    kind: Option<&str>,
    (how, failed): (&str, Option<bool>),
    power_on_hours: Option<u64>,
) -> SelfTestEnd {
    SelfTestEnd { kind: kind.map(str::to_owned), how: how.to_owned(), failed, power_on_hours }
}

/// What NVMe drives say; `None` where the page is too short.
pub fn of_nvme(page: &[u8]) -> Option<SelfTestFacts> {
    let newest = page.get(4..NVME_BYTES)?;
    let is_running = page[0] & 0xf != 0;
    let done_percent = is_running.then_some(u32::from(page[1] & 0x7f));
    let kind = match newest[0] >> 4 {
        1 => Some("short"),
        2 => Some("long"),
        _ => None,
    };
    let how = match newest[0] & 0xf {
        // A log that was never written may be all zeros: no test has the code 0.
        0x0 if newest[0] == 0 => None,
        0x0 => Some(NOTHING_WRONG),
        0x1 => Some(BY_COMMAND),
        0x2 => Some(BY_RESET),
        0x3 => Some(("was stopped because a namespace was removed", None)),
        0x4 => Some(("was stopped by a format", None)),
        0x5 => Some(NOT_DONE),
        0x6 | 0x7 => Some(SOMETHING_WRONG),
        0x8 => Some(UNTOLD),
        0x9 => Some(("was stopped by a sanitize", None)),
        _ => None,
    };
    let last = how.map(|how| end(kind, how, Some(little(newest, 4, 8))));
    Some(SelfTestFacts { is_running, done_percent, last })
}

/// What an ATA drive says in byte 363 of its SMART data, and in its log of tests where it has one.
pub fn of_ata(status: u8, log: &[u8]) -> SelfTestFacts {
    let is_running = status >> 4 == RUNNING;
    // Tens of percent that remain.
    let done_percent = is_running.then(|| 100 - 10 * u32::from(status & 0xf).min(10));
    SelfTestFacts { is_running, done_percent, last: newest_of_ata(log) }
}

fn newest_of_ata(log: &[u8]) -> Option<SelfTestEnd> {
    let sum = log.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    let newest = usize::from(*log.get(508)?);
    if log.len() != ATA_BYTES || sum != 0 || !(1..=ATA_RESULTS).contains(&newest) {
        return None;
    }
    let result = log.get(2 + ATA_RESULT_BYTES * (newest - 1)..)?;
    // Bit 7: while the drive answers nothing else.
    let kind = match result[0] & 0x7f {
        1 => Some("short"),
        2 => Some("long"),
        3 => Some("conveyance"),
        4 => Some("selective"),
        _ => None,
    };
    let how = match result[1] >> 4 {
        0x0 => NOTHING_WRONG,
        0x1 => BY_COMMAND,
        0x2 => BY_RESET,
        0x3 => NOT_DONE,
        0x4..=0x8 => SOMETHING_WRONG,
        RUNNING => return None,
        _ => UNTOLD,
    };
    Some(end(kind, how, Some(little(result, 2, 2))))
}

/// What a SCSI drive says: the data of the parameters of page 10h, the newest test first.
pub fn of_scsi<'page>(tests: impl IntoIterator<Item = &'page [u8]>) -> Option<SelfTestFacts> {
    let mut tests = tests.into_iter().filter(|data| data.len() >= 4).peekable();
    let is_running = tests.next_if(|newest| newest[0] & 0xf == RUNNING).is_some();
    // A place without a test is all zeros.
    let last = tests.next().filter(|data| data.iter().any(|byte| *byte != 0)).map(|data| {
        let kind = match data[0] >> 5 {
            1 | 5 => Some("short"),
            2 | 6 => Some("long"),
            _ => None,
        };
        let how = match data[0] & 0xf {
            0x0 => NOTHING_WRONG,
            0x1 => BY_COMMAND,
            0x2 => BY_RESET,
            0x3 => NOT_DONE,
            0x4..=0x7 => SOMETHING_WRONG,
            _ => UNTOLD,
        };
        end(kind, how, Some(u64::from(u16::from_be_bytes([data[2], data[3]]))))
    });
    Some(SelfTestFacts { is_running, done_percent: None, last })
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

    /// An ATA log: what the first results are, and which of them is the newest.
    pub fn ata(results: &[(u8, u8, u16)], newest: u8) -> Vec<u8> {
        let mut log = vec![0; ATA_BYTES];
        log[0] = 1;
        for (index, (kind, status, hours)) in results.iter().enumerate() {
            let result = &mut log[2 + ATA_RESULT_BYTES * index..][..4];
            (result[0], result[1]) = (*kind, *status);
            result[2..].copy_from_slice(&hours.to_le_bytes());
        }
        log[508] = newest;
        super::super::smart::tests::sealed(log)
    }

    #[test]
    fn a_test_that_goes_on_says_how_far_it_is() {
        let running =
            |percent| SelfTestFacts { is_running: true, done_percent: percent, last: None };
        assert_eq!(of_nvme(&nvme(2, 37, 0xf, 0)).unwrap(), running(Some(37)));
        assert_eq!(of_nvme(&nvme(0, 37, 0xf, 0)).unwrap(), SelfTestFacts::default());
        assert_eq!(of_nvme(&[0; 32]).unwrap(), SelfTestFacts::default(), "never written");
        assert_eq!(of_nvme(&[0; 31]), None);
        assert_eq!(of_ata(0xf9, &[]), running(Some(10)));
        assert_eq!(of_ata(0xff, &[]), running(Some(0)), "no more than all of it remains");
        assert_eq!(of_scsi([&[0x2f, 1, 0, 9][..]]).unwrap(), running(None));
    }

    #[test]
    fn the_newest_result_is_told_in_words() {
        let last = |code| of_nvme(&nvme(0, 0, code, 99)).unwrap().last.unwrap();
        assert_eq!(last(0x10), end(Some("short"), NOTHING_WRONG, Some(99)));
        assert_eq!(last(0x27), end(Some("long"), SOMETHING_WRONG, Some(99)));
        assert_eq!((last(0xe1).kind, last(0xe1).failed), (None, None));
        let log = ata(&[(1, 0, 10), (0x82, 0x73, 20), (1, 0x10, 5)], 2);
        assert_eq!(of_ata(0, &log).last, Some(end(Some("long"), SOMETHING_WRONG, Some(20))));
        let tests = [&[0x4f, 1, 0, 9][..], &[0x20, 1, 1, 0], &[0x47, 1, 0, 1]];
        let found = of_scsi(tests).unwrap();
        assert!(found.is_running);
        assert_eq!(found.last, Some(end(Some("short"), NOTHING_WRONG, Some(256))));
    }

    #[test]
    fn what_is_damaged_or_empty_tells_of_no_test() {
        let whole = ata(&[(1, 0, 10)], 1);
        for place in [0, 3, 508] {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x40;
            assert_eq!(of_ata(0, &damaged).last, None, "byte {place}");
        }
        assert_eq!(of_ata(0, &ata(&[], 0)), SelfTestFacts::default(), "none was made");
        assert_eq!(of_ata(0, &ata(&[], 22)).last, None);
        assert_eq!(of_ata(0, &ata(&[(1, 0xf3, 10)], 1)).last, None, "it goes on");
        assert_eq!(of_scsi([&[0; 16][..]]).unwrap(), SelfTestFacts::default());
        assert_eq!(of_scsi([&[0x20][..]]).unwrap(), SelfTestFacts::default(), "too short");
    }
}
