//! Asks an ATA drive for its health: SMART RETURN STATUS, SMART READ DATA, SMART READ THRESHOLDS,
//! the device statistics, and Seagate's FARM. Commands and their fields are those of ACS-4 (INCITS
//! 529), clause 7.

use super::known;
use super::little;
use super::smart::{self, Attribute, Smart};
use super::statistics::{PAGE_BYTES, PAGES, Statistics, listed};
use super::{farm, sct, self_test};
use crate::passthrough::ata::{AtaCommand, BLOCK_BYTES, ask, send};
use crate::passthrough::line::{Line, Transfer};
use drivelab_core::facts::{FarmFacts, OwnNames, WearFacts};
use drivelab_core::queue::Trouble;
use std::ops::Range;

/// A drive may have to spin up first.
const TIMEOUT_MS: u32 = 20_000;

const IDENTIFY_DEVICE: AtaCommand = AtaCommand::plain("IDENTIFY DEVICE", 0xec, TIMEOUT_MS);
const SMART: u8 = 0xb0;
/// What all commands of the SMART feature set have in bits 23:8 of the LBA field.
const SMART_KEY: u16 = 0xc24f;
/// What SMART RETURN STATUS has there in its answer where a threshold is exceeded.
const EXCEEDED: u16 = 0x2cf4;
/// The log directory, and the log of the device statistics.
const DIRECTORY: u8 = 0x00;
const DEVICE_STATISTICS: u8 = 0x04;
/// A count that a drive has no hours for: SATA is not as old.
const HOURS_MAX: u64 = 250_000;

const fn smart_command(name: &'static str, feature: u8, low: u8) -> AtaCommand {
    let lba = (SMART_KEY as u64) << 8 | low as u64;
    AtaCommand { feature, lba, ..AtaCommand::plain(name, SMART, TIMEOUT_MS) }
}

/// What the answer to IDENTIFY DEVICE says of its health and logs (ACS-4, 7.13).
struct Identity(Vec<u8>);

impl Identity {
    fn read(line: &mut dyn Line) -> Result<Self, Trouble> {
        let mut data = vec![0; BLOCK_BYTES];
        send(line, IDENTIFY_DEVICE, Transfer::In(&mut data))?;
        Ok(Identity(data))
    }

    fn word(&self, index: usize) -> u16 {
        little(&self.0, 2 * index, 2) as u16
    }

    /// A word of features counts only where its upper two bits are 01b.
    fn features(&self, index: usize) -> u16 {
        let word = self.word(index);
        if word >> 14 == 0b01 { word } else { 0 }
    }

    /// Words 82 and 85, bit 0.
    fn refusal(&self) -> Option<Trouble> {
        let (supported, on) = (self.word(82) & 1, self.word(85) & 1);
        match (supported, on) {
            (0, _) => Some(Trouble::failed("the drive has no SMART".to_owned())),
            (_, 0) => {
                let words = "SMART is turned off in the drive; `smartctl --smart=on` turns it on";
                Some(Trouble::failed(words.to_owned()))
            }
            _ => None,
        }
    }

    /// Word 84, bit 1.
    fn tests_itself(&self) -> bool {
        self.features(84) & 1 << 1 != 0
    }

    /// Word 84, bit 5.
    fn has_general_logs(&self) -> bool {
        self.features(84) & 1 << 5 != 0
    }

    /// Word 206, bit 0: SCT command transport.
    fn has_sct(&self) -> bool {
        let word = self.word(206);
        word != u16::MAX && word & 1 == 1
    }

    /// Words that hold two characters each, the first in the upper half; none where all are blank.
    fn text(&self, words: Range<usize>) -> Option<String> {
        let characters = words.flat_map(|index| self.word(index).to_be_bytes());
        let shown = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
        let text: String = characters.filter(shown).map(char::from).collect();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Words 10 to 19, 23 to 26, 27 to 46.
    fn names(&self) -> OwnNames {
        OwnNames {
            serial: self.text(10..20),
            firmware: self.text(23..27),
            model: self.text(27..47),
        }
    }

    /// Words 106, 117 and 118.
    fn sector_bytes(&self) -> u64 {
        let is_told = self.features(106) & 1 << 12 != 0;
        let bytes = 2 * little(&self.0, 2 * 117, 4);
        if is_told && bytes >= 512 { bytes } else { 512 }
    }
}

/// Asks an ATA drive, or a bridge in front of one.
pub(super) fn of_ata(line: &mut dyn Line) -> Result<WearFacts, Trouble> {
    let (wear, directory) = short(line)?;
    Ok(WearFacts { farm: farm(line, &directory), ..wear })
}

/// Asks again: without FARM, which is 96 KiB that a drive may keep on its media.
pub(super) fn again(line: &mut dyn Line) -> Result<WearFacts, Trouble> {
    short(line).map(|(wear, _)| wear)
}

/// What takes a few pages to tell, and the directory of the other logs.
fn short(line: &mut dyn Line) -> Result<(WearFacts, Vec<u8>), Trouble> {
    let identity = Identity::read(line)?;
    if let Some(refusal) = identity.refusal() {
        return Err(refusal);
    }
    let data = read(line, smart_command("SMART READ DATA", 0xd0, 0), 1);
    // Thresholds are obsolete since ATA/ATAPI-5: a drive without them has none.
    let thresholds = read(line, smart_command("SMART READ THRESHOLDS", 0xd1, 0), 1);
    let status = ask(line, smart_command("SMART RETURN STATUS", 0xda, 0));
    let directory = identity.has_general_logs().then(|| general(line, DIRECTORY, 0, 1));
    let directory = directory.and_then(Result::ok).unwrap_or_default();
    let statistics = statistics(line, &directory);
    let is_told = matches!(status, Ok(Some(SMART_KEY | EXCEEDED)));
    let data = match data {
        Ok(data) => Smart::read(&data, &thresholds.unwrap_or_default()),
        Err(trouble) if !is_told && statistics == Statistics::default() => return Err(trouble),
        Err(_) => None,
    };
    let smart = data.unwrap_or_default();
    if smart == Smart::default() && !is_told && statistics == Statistics::default() {
        return Err(Trouble::failed("what it answered to SMART READ DATA is damaged".to_owned()));
    }
    let mut wear = combined(&identity, &smart, &statistics);
    if let Some(status) = smart.self_test.filter(|_| identity.tests_itself() || smart.tests_itself)
    {
        let log = read(line, smart_command("SMART READ LOG", 0xd5, self_test::ATA_LOG), 1);
        let test = self_test::of_ata(status, &log.unwrap_or_default());
        let told = test.last.as_ref().and_then(|last| last.failed);
        wear.self_test_failed = wear.self_test_failed.or(told);
        wear.self_test = Some(test);
    }
    if identity.has_sct() {
        add_temperatures(line, &mut wear);
    }
    wear.failing_because = smart.failing();
    wear.failing = match status {
        Ok(Some(SMART_KEY)) => Some(false),
        Ok(Some(EXCEEDED)) => Some(true),
        // Who translates hands on no registers: the drive's own rule, applied here.
        _ if !wear.failing_because.is_empty() => Some(true),
        _ => None,
    };
    if wear.failing != Some(true) {
        wear.failing_because.clear();
    }
    Ok((wear, directory))
}

/// Its SCT status, which a drive that has it answers to SMART READ LOG, too (ACS-4, 8.2.4).
fn add_temperatures(line: &mut dyn Line, wear: &mut WearFacts) {
    let status = read(line, smart_command("SMART READ LOG", 0xd5, sct::LOG), 1);
    wear.temperatures = status.ok().and_then(|status| sct::read(&status));
    let current = wear.temperatures.as_ref().and_then(|it| it.current_c);
    wear.temperature_c = wear.temperature_c.or(current);
}

/// Has the drive test itself while it goes on serving; `number` is 1 for the short test, 2 for the
/// long one.
pub(super) fn start_self_test(line: &mut dyn Line, number: u8) -> Result<(), Trouble> {
    send(line, smart_command("SMART EXECUTE OFF-LINE IMMEDIATE", 0xd4, number), Transfer::Nothing)
}

/// What is counted by the standard comes first, attributes of makers where that is missing.
fn combined(identity: &Identity, smart: &Smart, statistics: &Statistics) -> WearFacts {
    let count = |number| smart.attribute(number).and_then(Attribute::count);
    let names = identity.names();
    let model = names.model.clone().unwrap_or_default();
    let sectors = |count: u64| count.saturating_mul(identity.sector_bytes());
    let by_log = || "device statistics".to_owned();
    let used = statistics.used_percent.map(|percent| (percent, by_log()));
    let used = used.or_else(|| known::used_percent(&model, smart)).unzip();
    let written = statistics.sectors_written;
    let written = written.map(|count| ((sectors(count), identity.sector_bytes()), by_log()));
    let written = written.or_else(|| known::written_bytes(&model, smart)).unzip();
    let flash = known::flash_written_bytes(&model, smart).unzip();
    // Some makers keep minutes and less in the upper half of the hours.
    let hours = smart.attribute(9).map(|hours| hours.raw & 0xff_ffff);
    WearFacts {
        used_percent: used.0,
        used_from: used.1,
        written_bytes: written.0.map(|(bytes, _)| bytes),
        written_unit_bytes: written.0.map(|(_, unit)| unit),
        written_from: written.1,
        flash_written_bytes: flash.0.map(|(bytes, _)| bytes),
        flash_written_unit_bytes: flash.0.map(|(_, unit)| unit),
        flash_written_from: flash.1,
        power_cycles: count(12),
        media_errors: statistics.uncorrectable_errors.or_else(|| count(187)),
        power_on_hours: statistics.power_on_hours.or(hours).filter(|hours| *hours <= HOURS_MAX),
        hot_minutes: statistics.hot_minutes.and_then(|minutes| u32::try_from(minutes).ok()),
        read_bytes: statistics.sectors_read.map(sectors),
        temperature_c: statistics.temperature_c.or_else(|| temperature(smart)),
        reallocated_sectors: statistics.reallocated_sectors.or_else(|| count(5)),
        pending_sectors: count(197),
        unreadable_sectors: count(198),
        link_errors: statistics.link_errors.or_else(|| count(199)),
        self_test_failed: smart.self_test_failed(),
        names: Some(names),
        ..WearFacts::default()
    }
}

/// Attribute 194, else 190: the lowest byte of the raw value in degrees Celsius.
fn temperature(smart: &Smart) -> Option<i32> {
    let attribute = smart.attribute(194).or_else(|| smart.attribute(190))?;
    let degrees = i32::from(attribute.raw as u8 as i8);
    (1..=120).contains(&degrees).then_some(degrees)
}

fn read(line: &mut dyn Line, command: AtaCommand, blocks: usize) -> Result<Vec<u8>, Trouble> {
    let mut data = vec![0; blocks * smart::BYTES];
    send(line, command, Transfer::In(&mut data))?;
    Ok(data)
}

/// Where the drive keeps its logs: as general purpose logs, of which each page can be read and
/// `directory` is the list, or as SMART logs, which are read from their first page on.
fn statistics(line: &mut dyn Line, directory: &[u8]) -> Statistics {
    let mut found = Statistics::default();
    if pages_of(directory, DEVICE_STATISTICS) > 0 {
        let Ok(first) = general(line, DEVICE_STATISTICS, 0, 1) else { return found };
        for page in listed(&first) {
            if let Ok(page) = general(line, DEVICE_STATISTICS, page, 1) {
                found.take(&page);
            }
        }
        return found;
    }
    let by_smart = |address| smart_command("SMART READ LOG", 0xd5, address);
    let directory = read(line, by_smart(DIRECTORY), 1).unwrap_or_default();
    let blocks = pages_of(&directory, DEVICE_STATISTICS);
    let blocks = blocks.min(1 + usize::from(PAGES[PAGES.len() - 1]));
    if blocks > 0
        && let Ok(log) = read(line, by_smart(DEVICE_STATISTICS), blocks)
    {
        log.chunks_exact(PAGE_BYTES).for_each(|page| found.take(page));
    }
    found
}

/// What Seagate's drives count besides, where the list has a log of that length at its address. Who
/// made the drive is not asked: some bear another name. Nothing is read behind a header that is
/// another log's, nor behind a page that the drive does not give.
fn farm(line: &mut dyn Line, directory: &[u8]) -> Option<FarmFacts> {
    const BLOCKS: usize = farm::PAGE_BYTES / BLOCK_BYTES;
    if pages_of(directory, farm::LOG) < farm::PAGES * BLOCKS {
        return None;
    }
    let mut log = general(line, farm::LOG, 0, BLOCKS).ok().filter(|it| farm::is_header(it))?;
    for number in 1..farm::PAGES {
        let Ok(page) = general(line, farm::LOG, (number * BLOCKS) as u8, BLOCKS) else { break };
        log.extend(page);
    }
    farm::read(&log)
}

/// Pages of a general purpose log from this one on, by READ LOG EXT.
fn general(line: &mut dyn Line, address: u8, page: u8, pages: usize) -> Result<Vec<u8>, Trouble> {
    let command = AtaCommand {
        lba: u64::from(page) << 8 | u64::from(address),
        is_extended: true,
        ..AtaCommand::plain("READ LOG EXT", 0x2f, TIMEOUT_MS)
    };
    read(line, command, pages)
}

/// How many pages a log has, as a log directory says: a word an address, behind a version that is
/// not 0.
fn pages_of(directory: &[u8], address: u8) -> usize {
    match little(directory, 0, 2) {
        0 => 0,
        _ => little(directory, 2 * usize::from(address), 2) as usize,
    }
}

#[cfg(test)]
pub(super) use tests::{IDENTIFY, STATUS, directory, identity, with_farm};

#[cfg(test)]
mod tests;
