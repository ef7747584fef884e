//! Temperatures that an ATA drive keeps: its SCT status, log E0h (ACS-4, INCITS 529, 8.2, table
//! "SCT status response").

use super::little;
use drivelab_core::facts::TemperatureFacts;

/// Where it lies, and how long it is.
pub const LOG: u8 = 0xe0;
/// Bytes of the answer.
pub const BYTES: usize = 512;

/// Format versions that have the fields read here.
const VERSIONS: std::ops::RangeInclusive<u64> = 2..=3;
/// A temperature that is not known.
const UNKNOWN: u8 = 0x80;

/// What it tells; `None` where it is cut off, of another version, or tells no temperature.
pub fn read(page: &[u8]) -> Option<TemperatureFacts> {
    if page.len() < BYTES || !VERSIONS.contains(&little(page, 0, 2)) {
        return None;
    }
    let degrees =
        |at: usize| Some(page[at]).filter(|byte| *byte != UNKNOWN).map(|it| i32::from(it as i8));
    let found = TemperatureFacts {
        current_c: degrees(200),
        power_cycle_min_c: degrees(201),
        power_cycle_max_c: degrees(202),
        lifetime_min_c: degrees(203),
        lifetime_max_c: degrees(204),
        over_limit_count: Some(little(page, 206, 4) as u32),
        under_limit_count: Some(little(page, 210, 4) as u32),
    };
    let temperatures = [
        found.current_c,
        found.power_cycle_min_c,
        found.power_cycle_max_c,
        found.lifetime_min_c,
        found.lifetime_max_c,
    ];
    temperatures.iter().any(Option::is_some).then_some(found)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Now, least and most since power-on, least and most ever; then times over and under limits.
    pub fn page(degrees: [u8; 5], over: u32, under: u32) -> Vec<u8> {
        let mut page = vec![0; BYTES];
        page[0] = 3;
        page[200..205].copy_from_slice(&degrees);
        page[206..210].copy_from_slice(&over.to_le_bytes());
        page[210..214].copy_from_slice(&under.to_le_bytes());
        page
    }

    #[test]
    fn temperatures_have_their_places_and_a_sign() {
        let expected = TemperatureFacts {
            current_c: Some(41),
            power_cycle_min_c: Some(20),
            power_cycle_max_c: Some(44),
            lifetime_min_c: Some(-5),
            lifetime_max_c: Some(61),
            over_limit_count: Some(7),
            under_limit_count: Some(300),
        };
        assert_eq!(read(&page([41, 20, 44, 0xfb, 61], 7, 300)), Some(expected));
        let unknown = read(&page([41, UNKNOWN, UNKNOWN, UNKNOWN, 61], 0, 0)).unwrap();
        assert_eq!((unknown.power_cycle_min_c, unknown.lifetime_min_c), (None, None));
    }

    #[test]
    fn what_is_of_another_version_or_tells_nothing_is_not_read() {
        let mut other = page([41; 5], 0, 0);
        other[0] = 1;
        assert_eq!(read(&other), None);
        other[0] = 4;
        assert_eq!(read(&other), None);
        assert_eq!(read(&page([UNKNOWN; 5], 3, 3)), None);
        assert_eq!(read(&page([41; 5], 0, 0)[..511]), None);
    }
}
