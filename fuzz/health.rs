//! What must hold for whatever a drive answers when it is asked for its health. The fuzzers run
//! these for as long as asked; a test runs them on the seeds and on some thousand mutations.
#![allow(dead_code, reason = "each fuzzer uses one of them")]

use drivelab_core::facts::{FarmFacts, WearFacts};
use drivelab_io::facts::namespace;
use drivelab_io::health::log_pages::{self, Logs};
use drivelab_io::health::smart::{BYTES, Smart};
use drivelab_io::health::statistics::{self, PAGE_BYTES, Statistics};
use drivelab_io::health::{error_log, events, farm, ocp, sct, self_test, smartctl};

/// SMART data and the thresholds behind it: as they come, and with sums that are right.
pub fn smart(data: &[u8]) {
    Smart::read(data, data);
    let mut whole = data.to_vec();
    whole.resize(2 * BYTES, 0);
    for half in whole.chunks_exact_mut(BYTES) {
        let sum = half[..BYTES - 1].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        half[BYTES - 1] = sum.wrapping_neg();
    }
    let (data, thresholds) = whole.split_at(BYTES);
    let Some(smart) = Smart::read(data, thresholds) else {
        return assert!(data.iter().all(|byte| *byte == 0), "its sum is right");
    };
    assert!(smart.attributes.len() <= 30 && smart.failing().len() <= smart.attributes.len());
    for attribute in &smart.attributes {
        assert_eq!(smart.attribute(attribute.number), Some(attribute), "each number once");
        assert!(attribute.raw >> 48 == 0 && attribute.count().is_none_or(|count| count >> 32 == 0));
    }
}

/// The log of device statistics, page by page; the last may be cut off.
pub fn statistics(data: &[u8]) {
    let mut found = Statistics::default();
    for page in data.chunks(PAGE_BYTES) {
        let before = found.clone();
        found.take(page);
        assert!(page.len() == PAGE_BYTES || found == before, "a page that was cut off");
        let listed = statistics::listed(page);
        assert!(listed.iter().all(|page| statistics::PAGES.contains(page)));
    }
    assert!(found.used_percent.is_none_or(|percent| percent <= 255));
    assert!(found.temperature_c.is_none_or(|degrees| (-128..=127).contains(&degrees)));
}

/// What a drive of Seagate's counts besides: as it comes, and with a header and numbers of pages
/// that are right, as a log of pages and as a page of parameters.
pub fn farm(data: &[u8]) {
    let pieces: Vec<&[u8]> = data.chunks(data.len().div_ceil(farm::PAGES).max(1)).collect();
    let mut log = vec![0; farm::PAGES * farm::PAGE_BYTES];
    for (index, page) in log.chunks_exact_mut(farm::PAGE_BYTES).enumerate() {
        let piece = pieces.get(index).copied().unwrap_or_default();
        let bytes = piece.len().min(page.len());
        page[..bytes].copy_from_slice(&piece[..bytes]);
        page[..8].copy_from_slice(&(index as u64).to_le_bytes());
    }
    log[..8].copy_from_slice(b"REMRAF\0\xc0");
    log[47] = 0;
    assert!(farm::is_header(&log[..farm::PAGE_BYTES]));
    let mut page = data.to_vec();
    let letters = b"\xc0\0FARMER".iter();
    page.splice(
        ..page.len().min(16),
        [0x7d, 3, 0xff, 0xff, 0, 0, 3, 8].iter().chain(letters).copied(),
    );
    for found in [farm::read(data), farm::read(&log)].into_iter().flatten() {
        plausible(&found);
    }
    for found in [farm::read_scsi(data), farm::read_scsi(&page)].into_iter().flatten() {
        plausible(&found);
        assert_eq!((found.spindle_hours, found.head_flight_hours), (None, None));
    }
}

fn plausible(found: &FarmFacts) {
    assert_ne!(*found, FarmFacts::default(), "what tells nothing is none");
    let hours = [found.power_on_hours, found.spindle_hours, found.head_flight_hours];
    assert!(hours.into_iter().flatten().all(|hours| hours <= 250_000));
    let degrees = [found.temperature_c, found.lifetime_min_c, found.lifetime_max_c];
    assert!(degrees.into_iter().flatten().all(|degrees| (-60..=150).contains(&degrees)));
    assert_eq!(found.assembled_year.is_some(), found.assembled_week.is_some());
    assert!(found.assembled_week.is_none_or(|week| (1..=53).contains(&week)));
    let wear = WearFacts { power_on_hours: Some(0), ..WearFacts::default() };
    let told = WearFacts { farm: Some(found.clone()), ..wear }.cautions();
    assert!(told.len() <= 2 && told.iter().all(|words| !words.is_empty()));
}

/// A log page, taken for each that is known.
pub fn log_pages(data: &[u8]) {
    let listed = log_pages::listed(data);
    assert!(listed.iter().all(|page| log_pages::PAGES.contains(page)));
    for number in log_pages::PAGES {
        let mut logs = Logs::default();
        logs.take(number, data);
        let is_other = data.first().is_none_or(|first| first & 0x7f != number);
        assert!(!is_other || logs == Logs::default(), "a page of another number");
        let mut page = data.to_vec();
        page.splice(..page.len().min(2), [number, 0]);
        logs.take(number, &page);
        assert!(logs.used_percent.is_none_or(|percent| percent <= 255));
        assert!(logs.is_failing().is_none() || logs.reports().is_none());
    }
}

/// What another program printed, which may be anything.
pub fn smartctl(data: &[u8]) {
    if let Some(told) = smartctl::read(data) {
        assert!(told.source.starts_with("smartctl "));
        assert_ne!(told.wear, WearFacts::default());
    }
}

/// Logs of self-tests, taken for each kind of drive, the log of datacenter drives, that of errors,
/// the SCT status of an ATA drive, and Identify.
pub fn nvme_logs(data: &[u8]) {
    if let Some(found) = self_test::of_nvme(data) {
        assert!(data.len() >= 32);
        assert!(found.done_percent.is_none_or(|percent| found.is_running && percent < 128));
    }
    let mut log = data.to_vec();
    log.resize(512, 0);
    let sum = log[..511].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    log[511] = sum.wrapping_neg();
    for log in [data, &log] {
        let found = self_test::of_ata(data.first().copied().unwrap_or(0), log);
        assert!(found.done_percent.is_none_or(|percent| found.is_running && percent <= 100));
    }
    self_test::of_scsi(data.chunks(16));
    let errors = error_log::read(data);
    assert!(errors.len() <= error_log::ENTRIES_MAX.min(data.len() / error_log::ENTRY_BYTES));
    assert!(errors.is_sorted_by(|newer, older| newer.number >= older.number));
    assert!(errors.iter().all(|entry| entry.number > 0 && entry.status_type < 8));
    assert!(errors.iter().all(|entry| !entry.words().is_empty()));
    let mut wear = WearFacts::default();
    if let Some(found) = sct::read(data) {
        assert!(data.len() >= sct::BYTES);
        assert!(found.current_c.is_none_or(|degrees| (-127..=127).contains(&degrees)));
    }
    happened(data);
    let nvme = namespace::of_identify(data, data);
    let in_use = nvme.block_formats.iter().filter(|format| format.is_in_use).count();
    assert!(nvme.block_formats.len() <= 64 && in_use <= 1);
    assert_eq!(nvme.atomic_writes.is_some(), in_use == 1);
    let is_ocp = ocp::add(data, &mut wear);
    assert!(is_ocp || wear == WearFacts::default(), "a page of somebody else");
}

/// The log of events: as it comes, and as one that has any number of them.
fn happened(data: &[u8]) {
    let mut whole = data.to_vec();
    whole.resize(whole.len().max(512), 0);
    (whole[0], whole[4]) = (0x0d, 0xff);
    whole[18..20].copy_from_slice(&492u16.to_le_bytes());
    for log in [data, &whole] {
        let Some(found) = events::read(log) else { continue };
        let told: u64 = found.counts.iter().map(|it| it.count).sum();
        assert!(told <= found.kept && told <= log.len() as u64 / 24);
        assert!(found.newest.len() <= 8 && found.newest.len() as u64 <= told);
        assert!(found.newest.iter().all(|event| event.at_ms.is_none_or(|ms| ms >> 48 == 0)));
    }
}
