//! An ATA drive's device statistics: log 04h of ACS-4 (INCITS 529), 9.5, one page of 512 bytes for
//! each subject. A statistic has eight bytes: flags in the last, its value in those before.

use super::little;

/// Bytes of one page.
pub const PAGE_BYTES: usize = 512;
/// The pages that are read here (tables of 9.5.4, 9.5.6 to 9.5.9, 9.5.10).
pub const PAGES: [u8; 6] = [1, 3, 4, 5, 6, 7];
const STATISTIC_BYTES: usize = 8;

/// Bits of the flags.
const SUPPORTED: u8 = 1 << 7;
const VALID: u8 = 1 << 6;

/// What the drive counts; `None` where it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// General statistics: hours under power.
    pub power_on_hours: Option<u64>,
    /// General statistics: logical sectors that hosts wrote.
    pub sectors_written: Option<u64>,
    /// General statistics: logical sectors that hosts read.
    pub sectors_read: Option<u64>,
    /// Rotating media statistics: logical sectors that were replaced.
    pub reallocated_sectors: Option<u64>,
    /// General errors: errors that the drive could not correct, as reported to hosts.
    pub uncorrectable_errors: Option<u64>,
    /// Temperature statistics: now, in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Temperature statistics: minutes above the most that is allowed.
    pub hot_minutes: Option<u64>,
    /// Transport statistics: interface CRC errors.
    pub link_errors: Option<u64>,
    /// Solid state device statistics: percent of the rated endurance that is used.
    pub used_percent: Option<u32>,
}

/// The pages that the first page of the log lists, as far as they are read here. Byte 8 counts the
/// numbers that follow it.
pub fn listed(first: &[u8]) -> Vec<u8> {
    if page_of(first) != Some(0) {
        return Vec::new();
    }
    let count = first.get(8).copied().unwrap_or(0).into();
    let numbers = first.iter().skip(9).take(count);
    PAGES.into_iter().filter(|page| numbers.clone().any(|number| number == page)).collect()
}

impl Statistics {
    /// Takes what one page of the log tells; a page that names another one tells nothing.
    pub fn take(&mut self, page: &[u8]) {
        let whole = |offset, bytes| value(page, offset, bytes);
        match page_of(page) {
            Some(1) => {
                self.power_on_hours = whole(16, 4);
                self.sectors_written = whole(24, 6);
                self.sectors_read = whole(40, 6);
            }
            Some(3) => self.reallocated_sectors = whole(32, 4),
            Some(4) => self.uncorrectable_errors = whole(8, 4),
            Some(5) => {
                self.temperature_c = whole(8, 1).map(|byte| i32::from(byte as u8 as i8));
                self.hot_minutes = whole(80, 4);
            }
            Some(6) => self.link_errors = whole(24, 4),
            Some(7) => self.used_percent = whole(8, 1).map(|byte| byte as u32),
            _ => {}
        }
    }
}

/// The number of a page, from its header: bits 23:16 of it, behind a revision that is not 0.
fn page_of(page: &[u8]) -> Option<u8> {
    (page.len() == PAGE_BYTES && little(page, 0, 2) != 0).then(|| page[2])
}

/// The value of a statistic that the drive has and knows.
fn value(page: &[u8], offset: usize, bytes: usize) -> Option<u64> {
    let flags = page.get(offset + STATISTIC_BYTES - 1)?;
    (flags & (SUPPORTED | VALID) == SUPPORTED | VALID).then(|| little(page, offset, bytes))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A page with valid statistics: offset and value of each.
    pub fn page(number: u8, statistics: &[(usize, u64)]) -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES];
        (page[0], page[2]) = (1, number);
        for (offset, value) in statistics {
            page[*offset..offset + 7].copy_from_slice(&value.to_le_bytes()[..7]);
            page[offset + 7] = 0xc0;
        }
        page
    }

    pub fn list(numbers: &[u8]) -> Vec<u8> {
        let mut page = page(0, &[]);
        page[8] = numbers.len() as u8;
        page[9..9 + numbers.len()].copy_from_slice(numbers);
        page
    }

    #[test]
    fn each_statistic_has_its_place() {
        let mut found = Statistics::default();
        found.take(&page(1, &[(8, 7), (16, 1000), (24, 1 << 40), (40, 3)]));
        found.take(&page(3, &[(32, 4)]));
        found.take(&page(4, &[(8, 5)]));
        found.take(&page(5, &[(8, 0xf6), (80, 6)]));
        found.take(&page(6, &[(24, 8)]));
        found.take(&page(7, &[(8, 101)]));
        let expected = Statistics {
            power_on_hours: Some(1000),
            sectors_written: Some(1 << 40),
            sectors_read: Some(3),
            reallocated_sectors: Some(4),
            uncorrectable_errors: Some(5),
            temperature_c: Some(-10),
            hot_minutes: Some(6),
            link_errors: Some(8),
            used_percent: Some(101),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_statistic_that_is_not_valid_is_not_told() {
        for flags in [0x00, 0x80, 0x40] {
            let mut page = page(7, &[(8, 5)]);
            page[15] = flags;
            let mut found = Statistics::default();
            found.take(&page);
            assert_eq!(found, Statistics::default(), "{flags:02x}");
        }
    }

    #[test]
    fn only_pages_that_are_listed_and_known_are_asked_for() {
        assert_eq!(listed(&list(&[0, 1, 2, 5, 7, 0xff])), [1, 5, 7]);
        assert_eq!(listed(&page(1, &[])), [0; 0]);
        assert_eq!(listed(&[0; PAGE_BYTES]), [0; 0], "what is not there is zeros");
        let mut endless = list(&[7]);
        endless[8] = 255;
        assert_eq!(listed(&endless), [7]);
    }
}
