//! What drives of Seagate's count for themselves: FARM, Field Accessible Reliability Metrics, as
//! Seagate's FARM specification and its openSeaChest libraries lay it out. Log A6h of an ATA drive,
//! in pages of 16 KiB; page 3Dh, subpage 03h of a SCSI drive, with a parameter in place of each
//! page.
//!
//! A field has eight bytes, little-endian on ATA, big-endian on SCSI. Its highest byte holds flags:
//! whether the drive has it, and whether it knows it.
//!
//! Not read: rates of errors, which are the raw numbers of SMART attributes 1 and 7; and for how
//! long each head wrote, which on drives in use is more than a lifetime for some heads.

use super::log_pages::{body_of_subpage, parameters};
use drivelab_core::facts::FarmFacts;
use std::ops::RangeInclusive;

/// Its address among the logs of an ATA drive.
pub const LOG: u8 = 0xa6;
/// Bytes of one page.
pub const PAGE_BYTES: usize = 16 << 10;
/// Pages: header, drive, workload, errors, environment, reliability.
pub const PAGES: usize = 6;
/// Its page and subpage among the logs of a SCSI drive.
pub const SCSI_PAGE: (u8, u8) = (0x3d, 0x03);

/// What the first field of the header holds: the letters FARMER.
const SIGNATURE: u64 = 0x4641_524d_4552;
const FIELD_BYTES: usize = 8;
/// Flags: the drive has the field, and knows its value.
const TOLD: u64 = 0b11 << 62;
/// All below the flags.
const VALUE: u64 = u64::MAX >> 8;

/// What no drive has seen.
const HOURS_MAX: u64 = 250_000;
const DEGREES: RangeInclusive<i64> = -60..=150;
const SECTOR_BYTES: RangeInclusive<u64> = 512..=8192;
const CENTURY: u32 = 2000;
/// FARM is of 2018, drives that learned it by an update are a few years older.
const YEARS: RangeInclusive<u32> = 2010..=2099;
const WEEKS: RangeInclusive<u32> = 1..=53;

/// One page, or one parameter.
#[derive(Clone, Copy)]
struct Page<'a> {
    data: &'a [u8],
    is_little: bool,
    /// What a degree Celsius counts as.
    of_degree: i64,
}

impl Page<'_> {
    fn raw(self, at: usize) -> Option<u64> {
        let bytes = self.data.get(at..)?.first_chunk::<FIELD_BYTES>()?;
        Some(if self.is_little { u64::from_le_bytes(*bytes) } else { u64::from_be_bytes(*bytes) })
    }

    /// Its number, whatever its flags are.
    fn number(self) -> Option<u64> {
        self.raw(0).map(|field| field & VALUE)
    }

    /// A field that the drive has and knows.
    fn value(self, at: usize) -> Option<u64> {
        self.raw(at).filter(|field| field & TOLD == TOLD).map(|field| field & VALUE)
    }

    fn hours(self, at: usize) -> Option<u64> {
        self.value(at).filter(|hours| *hours <= HOURS_MAX)
    }

    /// A number with a sign, to the nearest degree.
    fn degrees(self, at: usize) -> Option<i32> {
        let number = (self.value(at)? << 8).cast_signed() >> 8;
        let degrees = (2 * number + self.of_degree).div_euclid(2 * self.of_degree);
        DEGREES.contains(&degrees).then_some(degrees as i32)
    }

    /// Year and week, each as two digits that begin at this byte of a field.
    fn date(self, at: usize, from: usize) -> Option<(u32, u32)> {
        self.value(at)?;
        let digits = std::str::from_utf8(self.data.get(at + from..at + from + 4)?).ok()?;
        let (year, week) = digits.split_at_checked(2)?;
        let number = |text: &str| {
            text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        let (year, week) = (CENTURY + number(year)?, number(week)?);
        (YEARS.contains(&year) && WEEKS.contains(&week)).then_some((year, week))
    }

    fn is_header(self) -> bool {
        self.value(0) == Some(SIGNATURE)
            && (!self.is_little || self.value(40).is_none_or(|bytes| bytes == PAGE_BYTES as u64))
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    facts: FarmFacts,
    sector_bytes: Option<u64>,
}

impl Found {
    /// What stands in the same place on all drives.
    fn take(&mut self, number: usize, page: Page<'_>) {
        let facts = &mut self.facts;
        match number {
            1 => {
                facts.power_on_hours = page.hours(152);
                facts.power_cycles = page.value(184);
                let bytes = page.value(72).filter(|bytes| SECTOR_BYTES.contains(bytes));
                self.sector_bytes = bytes;
            }
            2 => {
                let bytes = |at| Some(page.value(at)?.saturating_mul(self.sector_bytes?));
                facts.rated_workload_percent = page.value(16);
                facts.read_commands = page.value(24);
                facts.write_commands = page.value(32);
                facts.written_bytes = bytes(64);
                facts.read_bytes = bytes(72);
            }
            3 => {
                facts.unrecoverable_reads = page.value(16);
                facts.unrecoverable_writes = page.value(24);
            }
            4 => {
                facts.temperature_c = page.degrees(16);
                facts.lifetime_max_c = page.degrees(24);
                facts.lifetime_min_c = page.degrees(32);
            }
            _ => {}
        }
    }

    fn take_date(&mut self, date: Option<(u32, u32)>) {
        (self.facts.assembled_year, self.facts.assembled_week) = date.unzip();
    }

    /// Sectors that were replaced and that may be, for one of at most two sets of heads.
    fn add_sectors(&mut self, page: Page<'_>, replaced: usize, candidates: usize) {
        let add = |sum: &mut Option<u64>, at| {
            let all = [*sum, page.value(at)].into_iter().flatten();
            *sum = all.reduce(u64::saturating_add);
        };
        add(&mut self.facts.reallocated_sectors, replaced);
        add(&mut self.facts.candidate_sectors, candidates);
    }

    fn take_alarms(&mut self, page: Page<'_>, unloads: usize, helium: usize) {
        self.facts.emergency_unloads = page.value(unloads);
        self.facts.helium_lost = page.value(helium).map(|tripped| tripped != 0);
    }

    fn end(self) -> Option<FarmFacts> {
        (self.facts != FarmFacts::default()).then_some(self.facts)
    }
}

fn of_ata(data: &[u8]) -> Page<'_> {
    Page { data, is_little: true, of_degree: 1 }
}

/// Whether this is the header of the log of an ATA drive: what lies at its address is the maker's.
pub fn is_header(page: &[u8]) -> bool {
    page.len() == PAGE_BYTES && of_ata(page).is_header()
}

/// The log of an ATA drive; a page that could not be read is zeros. `None` where it is another log,
/// or tells nothing.
pub fn read(log: &[u8]) -> Option<FarmFacts> {
    let mut pages = log.chunks_exact(PAGE_BYTES).map(of_ata).enumerate().take(PAGES);
    pages.next().filter(|(_, header)| header.is_header())?;
    let mut found = Found::default();
    for (index, page) in pages.filter(|(index, page)| page.number() == Some(*index as u64)) {
        found.take(index, page);
        let facts = &mut found.facts;
        match index {
            1 => {
                facts.spindle_hours = page.hours(160);
                facts.head_flight_hours = page.hours(168);
                facts.head_loads = page.value(176);
                found.take_date(page.date(360, 0));
            }
            3 => {
                facts.link_errors = page.value(72);
                facts.command_timeouts = page.value(112);
                found.add_sectors(page, 32, 56);
                found.add_sectors(page, 952, 960);
            }
            4 => facts.hot_minutes = page.value(88),
            5 => found.take_alarms(page, 1520, 5576),
            _ => {}
        }
    }
    found.end()
}

/// The page of a SCSI drive, as far as it came. `None` where it is another page, or tells nothing.
pub fn read_scsi(page: &[u8]) -> Option<FarmFacts> {
    let body = body_of_subpage(page, SCSI_PAGE)?;
    let of_scsi = |data| Page { data, is_little: false, of_degree: 10 };
    let mut all = parameters(body).map(|(code, data)| (code, of_scsi(data)));
    all.next().filter(|(code, header)| *code == 0 && header.is_header())?;
    let mut found = Found::default();
    for (code, page) in all {
        match code {
            1..=4 => found.take(code.into(), page),
            5 => found.take_alarms(page, 176, 200),
            0x50 => found.facts.head_loads = page.value(24),
            0x52 | 0x62 => found.add_sectors(page, 24, 32),
            _ => {}
        }
        if code == 1 {
            found.take_date(page.date(240, 4));
        }
    }
    found.end()
}

#[cfg(test)]
pub(super) use tests::{PLANTED, planted_log, planted_page};

#[cfg(test)]
mod tests;
