//! How pages are spread over groups of dies, and which of them were written.

/// Logical blocks go round the groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Pages of the whole drive.
    pub pages: u64,
    /// Pages of a logical block.
    pub block_pages: u32,
    pub groups: u32,
}

impl Layout {
    /// The group of a page, and its number in the group.
    pub fn place(self, page: u32) -> (usize, u32) {
        let (block, slot) = (page / self.block_pages, page % self.block_pages);
        ((block % self.groups) as usize, block / self.groups * self.block_pages + slot)
    }

    /// Logical blocks of each group.
    pub fn group_blocks(self) -> u32 {
        let blocks = self.pages.div_ceil(u64::from(self.block_pages));
        blocks.div_ceil(u64::from(self.groups)) as u32
    }

    /// Pages of a group that a host can address.
    pub fn group_pages(self, index: u32) -> u32 {
        let block_pages = u64::from(self.block_pages);
        let round = block_pages * u64::from(self.groups);
        let rest = (self.pages % round).saturating_sub(u64::from(index) * block_pages);
        (self.pages / round * block_pages + rest.min(block_pages)) as u32
    }
}

/// One bit a page.
#[derive(Debug, Clone)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// No page is set.
    pub fn new(pages: u64) -> Self {
        Bits { words: vec![0; pages.div_ceil(64) as usize] }
    }

    pub fn get(&self, page: u32) -> bool {
        self.words[page as usize / 64] >> (page % 64) & 1 == 1
    }

    pub fn set(&mut self, page: u32, is_set: bool) {
        let bit = 1 << (page % 64);
        let word = &mut self.words[page as usize / 64];
        *word = if is_set { *word | bit } else { *word & !bit };
    }
}

/// A part of an operation: a page and the sectors of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub page: u32,
    pub mask: u64,
    pub bytes: u32,
}

/// All sectors of a page of `page_bytes`.
pub(crate) fn all_sectors(page_bytes: u32) -> u64 {
    u64::MAX >> (64 - page_bytes / 512)
}

/// The pages that `len` bytes at `offset` touch; sectors that are touched in part count whole.
pub(crate) fn pieces(offset: u64, len: u32, page_bytes: u32) -> impl Iterator<Item = Piece> {
    let page_sectors = u64::from(page_bytes / 512);
    let first = offset / 512;
    let end = (offset + u64::from(len)).div_ceil(512);
    (first / page_sectors..end.div_ceil(page_sectors)).map(move |page| {
        let low = first.max(page * page_sectors) - page * page_sectors;
        let high = end.min((page + 1) * page_sectors) - page * page_sectors;
        let bytes = ((high - low) * 512) as u32;
        Piece { page: page as u32, mask: all_sectors(bytes) << low, bytes }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_exactly_what_an_operation_touches() {
        let all: Vec<_> =
            pieces(3 * 512, 4_096, 4_096).map(|p| (p.page, p.mask, p.bytes)).collect();
        assert_eq!(all, [(0, 0b1111_1000, 5 * 512), (1, 0b111, 3 * 512)]);
        let whole: Vec<_> = pieces(32_768, 32_768, 32_768).map(|p| (p.page, p.mask)).collect();
        assert_eq!(whole, [(1, u64::MAX)]);
        assert_eq!(pieces(0, 0, 4_096).count(), 0);
    }

    #[test]
    fn every_page_has_one_place_and_groups_hold_all_pages() {
        let layout = Layout { pages: 1_003, block_pages: 16, groups: 3 };
        let mut seen = std::collections::BTreeSet::new();
        for page in 0..1_003 {
            let (group, local) = layout.place(page);
            assert!(local < layout.group_pages(group as u32), "page {page}");
            assert!(local < layout.group_blocks() * 16);
            assert!(seen.insert((group, local)));
        }
        let sum: u32 = (0..3).map(|group| layout.group_pages(group)).sum();
        assert_eq!(sum, 1_003);
    }
}
