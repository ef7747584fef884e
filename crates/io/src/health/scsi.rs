//! Asks a SCSI drive for its health: LOG SENSE (SPC-5, 6.8), first for what pages it has.

use super::farm;
use super::log_pages::{ALL_SUBPAGES, Logs, PAGES, listed, lists_subpage};
use crate::passthrough::ata::{CHECK_CONDITION, judge};
use crate::passthrough::line::{Line, Transfer};
use crate::passthrough::not_sent;
use drivelab_core::facts::{FarmFacts, WearFacts};
use drivelab_core::queue::Trouble;

const LOG_SENSE: u8 = 0x4d;
const SEND_DIAGNOSTIC: u8 = 0x1d;
/// Page control, bits 7:6 of byte 2: cumulative values.
const CUMULATIVE: u8 = 0b01 << 6;
const SUPPORTED_PAGES: u8 = 0x00;
/// All pages that are read here fit but the scan's, of which the beginning is wanted.
const PAGE_BYTES: usize = 512;
/// What one command can ask for, in whole words: FARM has parameters for each head.
const LONG_PAGE_BYTES: usize = 0xfffc;
const TIMEOUT_MS: u32 = 20_000;

/// Asks a SCSI drive.
pub(super) fn of_scsi(line: &mut dyn Line) -> Result<WearFacts, Trouble> {
    told(&short(line)?, farm(line))
}

/// Asks again: without FARM, which is up to 64 KiB that a drive may keep on its media.
pub(super) fn again(line: &mut dyn Line) -> Result<WearFacts, Trouble> {
    told(&short(line)?, None)
}

/// The pages that `PAGES` names, as far as the drive has them.
fn short(line: &mut dyn Line) -> Result<Logs, Trouble> {
    let pages = listed(&page(line, (SUPPORTED_PAGES, 0), PAGE_BYTES)?);
    let mut logs = Logs::default();
    for number in pages {
        // One page that fails is no reason to leave out the others.
        if let Ok(page) = page(line, (number, 0), PAGE_BYTES) {
            logs.take(number, &page);
        }
    }
    Ok(logs)
}

fn told(logs: &Logs, farm: Option<FarmFacts>) -> Result<WearFacts, Trouble> {
    if *logs == Logs::default() && farm.is_none() {
        let wanted = PAGES.map(|page| format!("{page:02X}h")).join(", ");
        return Err(Trouble::failed(format!("the drive has none of the log pages {wanted}")));
    }
    Ok(WearFacts { farm, ..read(logs) })
}

/// What Seagate's drives count besides, where the drive lists that page.
fn farm(line: &mut dyn Line) -> Option<FarmFacts> {
    let list = page(line, (SUPPORTED_PAGES, ALL_SUBPAGES), PAGE_BYTES).ok()?;
    let is_listed = lists_subpage(&list, farm::SCSI_PAGE);
    let told = is_listed.then(|| page(line, farm::SCSI_PAGE, LONG_PAGE_BYTES))?;
    farm::read_scsi(&told.ok()?)
}

/// Has the drive test itself while it goes on serving (SEND DIAGNOSTIC of SPC-5: self-test code
/// 001b, background short, or 010b, background extended).
pub(super) fn start_self_test(line: &mut dyn Line, number: u8) -> Result<(), Trouble> {
    let mut command = [0; 16];
    (command[0], command[1]) = (SEND_DIAGNOSTIC, number << 5);
    let name = "SEND DIAGNOSTIC";
    let reply =
        line.scsi(command, Transfer::Nothing, TIMEOUT_MS).map_err(|error| not_sent(name, error))?;
    if reply.status == CHECK_CONDITION {
        return Err(Trouble::failed("the drive does not take this self-test".to_owned()));
    }
    judge(name, &reply)
}

fn read(logs: &Logs) -> WearFacts {
    let sense = |(code, qualifier): (u8, u8)| format!("sense {code:02X}h/{qualifier:02X}h");
    let failing = logs.is_failing();
    let because = logs.exception.filter(|_| failing == Some(true)).map(sense);
    let errors = [logs.read_errors, logs.write_errors];
    let media_errors = errors.into_iter().flatten().reduce(u64::saturating_add);
    let from = |page: &str| format!("log page {page}");
    WearFacts {
        used_percent: logs.used_percent,
        used_from: logs.used_percent.map(|_| from("11h")),
        written_bytes: logs.written_bytes,
        written_from: logs.written_bytes.map(|_| from("02h")),
        media_errors,
        failing,
        failing_because: because.into_iter().collect(),
        reports: logs.reports().map(sense),
        power_on_hours: logs.power_on_minutes.map(|minutes| minutes / 60),
        read_bytes: logs.read_bytes,
        temperature_c: logs.temperature_c,
        self_test_failed: logs.self_test.as_ref().and_then(|test| test.last.as_ref()?.failed),
        self_test: logs.self_test.clone(),
        ..WearFacts::default()
    }
}

/// One log page, as far as it fits.
fn page(
    line: &mut dyn Line,
    (number, subpage): (u8, u8),
    bytes: usize,
) -> Result<Vec<u8>, Trouble> {
    let name = format!("LOG SENSE {number:02X}h");
    let mut data = vec![0; bytes];
    let mut command = [0; 16];
    command[0] = LOG_SENSE;
    (command[2], command[3]) = (CUMULATIVE | number, subpage);
    command[7..9].copy_from_slice(&(bytes as u16).to_be_bytes());
    let reply = line
        .scsi(command, Transfer::In(&mut data), TIMEOUT_MS)
        .map_err(|error| not_sent(&name, error))?;
    if reply.status == CHECK_CONDITION {
        return Err(Trouble::failed(format!("the drive does not answer {name}")));
    }
    judge(&name, &reply)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::super::log_pages::tests::{list, page};
    use super::*;
    use crate::passthrough::fake::Fake;

    fn fake(pages: Vec<Vec<u8>>) -> Fake {
        let mut fake = Fake::default();
        fake.pages = pages;
        fake
    }

    #[test]
    fn the_pages_that_it_lists_are_asked_for() {
        let mut fake = fake(vec![
            list(&[0, 0x02, 0x03, 0x0d, 0x11, 0x19, 0x2f]),
            page(0x02, &[(5, &[0, 0, 0, 9]), (6, &[1])]),
            page(0x03, &[(6, &[2])]),
            page(0x0d, &[(0, &[0, 38])]),
            page(0x11, &[(1, &[0, 0, 0, 104])]),
            page(0x2f, &[(0, &[0x5d, 0x32, 38])]),
        ]);
        let wear = of_scsi(&mut fake).unwrap();
        assert_eq!(
            (wear.used_percent, wear.used_from.as_deref()),
            (Some(104), Some("log page 11h"))
        );
        assert_eq!((wear.written_bytes, wear.media_errors), (Some(9), Some(3)));
        assert_eq!((wear.temperature_c, wear.failing), (Some(38), Some(true)));
        assert_eq!(wear.warnings(), ["it says of itself that it fails: sense 5Dh/32h"]);
        let asked: Vec<u8> = fake.sent.iter().map(|(command, ..)| command[2]).collect();
        assert_eq!(asked, [0x40, 0x42, 0x43, 0x4d, 0x51, 0x6f, 0x40], "19h is not read");
        let (command, _, timeout_ms) = &fake.sent[1];
        assert_eq!(command, &[0x4d, 0, 0x42, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(*timeout_ms, 20_000);
    }

    #[test]
    fn farm_is_asked_where_it_is_listed() {
        let told = farm::planted_page(&[(1, 152, 40_000)]);
        let pages = |pairs: &[u8]| {
            let subpages = [&[0x40, 0xff, 0, pairs.len() as u8], pairs].concat();
            vec![list(&[0x0d]), page(0x0d, &[(0, &[0, 38])]), subpages, told.clone()]
        };
        let mut drive = fake(pages(&[0x0d, 0, 0x3d, 0x03]));
        let wear = of_scsi(&mut drive).unwrap();
        assert_eq!(wear.farm.as_ref().unwrap().power_on_hours, Some(40_000));
        let (command, ..) = drive.sent.last().unwrap();
        assert_eq!(command, &[0x4d, 0, 0x7d, 3, 0, 0, 0, 0xff, 0xfc, 0, 0, 0, 0, 0, 0, 0]);
        drive.sent.clear();
        assert_eq!(again(&mut drive).unwrap(), WearFacts { farm: None, ..wear });
        assert!(drive.sent.iter().all(|(command, ..)| command[2] != 0x7d), "once a run is enough");
        for pairs in [&[0x0d, 0, 0x3d, 0x04][..], &[0x3d, 0, 0x03, 0x3d], &[0x0d, 0, 0x3d]] {
            let mut drive = fake(pages(pairs));
            assert_eq!(of_scsi(&mut drive).unwrap().farm, None, "{pairs:?}");
            assert!(drive.sent.iter().all(|(command, ..)| command[2] != 0x7d), "{pairs:?}");
        }
    }

    #[test]
    fn a_page_that_fails_takes_no_other_with_it() {
        let pages = vec![list(&[0x03, 0x0d]), page(0x0d, &[(0, &[0, 38])])];
        let wear = of_scsi(&mut fake(pages)).unwrap();
        assert_eq!((wear.temperature_c, wear.media_errors, wear.failing), (Some(38), None, None));
    }

    #[test]
    fn a_warning_that_is_no_prediction_is_told_as_it_is() {
        let pages = vec![list(&[0x2f]), page(0x2f, &[(0, &[0x0b, 0x01, 70])])];
        let wear = of_scsi(&mut fake(pages)).unwrap();
        assert_eq!(wear.warnings(), ["it reports sense 0Bh/01h"]);
    }

    #[test]
    fn a_drive_without_logs_says_so() {
        let trouble = of_scsi(&mut fake(Vec::new())).unwrap_err();
        assert_eq!(trouble.text, "the drive does not answer LOG SENSE 00h");
        let trouble = of_scsi(&mut fake(vec![list(&[0, 0x19])])).unwrap_err();
        assert!(trouble.text.contains("none of the log pages 02h, 03h"), "{trouble}");
    }
}
