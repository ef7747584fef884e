//! The log of datacenter NVMe drives: log page C0h of the OCP Datacenter NVMe SSD Specification
//! (2.0, "SMART / Health Information Extended").

use super::{little, wide};
use drivelab_core::facts::WearFacts;

/// Identifier of the page.
pub(super) const PAGE: u8 = 0xc0;
/// Its length.
pub(super) const BYTES: usize = 512;
/// What makes the page this one and no other maker's: its last sixteen bytes.
const GUID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;

/// Adds what it says to `wear`; whether it is that page.
pub fn add(page: &[u8], wear: &mut WearFacts) -> bool {
    if page.len() != BYTES || wide(page, 496) != GUID {
        return false;
    }
    wear.flash_written_bytes = Some(u64::try_from(wide(page, 0)).unwrap_or(u64::MAX));
    wear.flash_written_from = Some("OCP log C0h".to_owned());
    wear.flash_written_unit_bytes = Some(1);
    wear.bad_blocks = Some(little(page, 32, 6));
    true
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn page(flash_bytes: u64, bad_blocks: u64) -> Vec<u8> {
        let mut page = vec![0; BYTES];
        page[..8].copy_from_slice(&flash_bytes.to_le_bytes());
        page[32..40].copy_from_slice(&bad_blocks.to_le_bytes());
        // The normalized value stands above the count.
        page[38] = 100;
        page[496..].copy_from_slice(&GUID.to_le_bytes());
        page
    }

    #[test]
    fn bytes_of_flash_stand_in_front() {
        let mut wear = WearFacts::default();
        assert!(add(&page(5 << 40, 3), &mut wear));
        assert_eq!((wear.flash_written_bytes, wear.bad_blocks), (Some(5 << 40), Some(3)));
        assert_eq!(wear.flash_written_unit_bytes, Some(1));
        let mut page = page(0, 0);
        page[8] = 1;
        assert!(add(&page, &mut wear));
        assert_eq!(wear.flash_written_bytes, Some(u64::MAX), "more than eight bytes hold");
    }

    /// The last bytes as they stand in the specification's table, in the order of the page.
    #[test]
    fn another_makers_page_is_not_taken_for_it() {
        let tail = [0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4];
        assert_eq!(page(0, 0)[496..504], tail);
        let mut wear = WearFacts::default();
        for place in [496, 511] {
            let mut page = page(7, 7);
            page[place] ^= 1;
            assert!(!add(&page, &mut wear));
        }
        assert!(!add(&page(7, 7)[..511], &mut wear));
        assert_eq!(wear, WearFacts::default());
    }
}
