//! Where the blocks of the file system lie on the drive: as mke2fs lays out ext4.

use std::ops::Range;

/// Bytes of a block.
pub const BLOCK_BYTES: u64 = 4096;
/// Inodes in a block: 256 bytes each.
pub const INODES_OF_BLOCK: u32 = 16;
/// Blocks that one bitmap counts.
const GROUP_BLOCKS: u64 = 32_768;
/// One inode for this many blocks.
const BLOCKS_OF_INODE: u64 = 4;
/// Groups whose bitmaps and tables lie together (flex_bg).
const FLEX_GROUPS: u64 = 16;
/// Descriptors of groups in a block: 64 bytes each.
const DESCRIPTORS_OF_BLOCK: u64 = 64;
/// A smaller drive has no room for a journal.
pub const BLOCKS_MIN: u64 = 4096;

/// Blocks of the journal, by blocks of the drive: the table of mke2fs.
fn journal_blocks(blocks: u64) -> u64 {
    match blocks / 1024 {
        0..32 => 1024,
        32..256 => 4096,
        256..512 => 8192,
        512..4096 => 16_384,
        4096..8192 => 32_768,
        8192..16_384 => 65_536,
        16_384..32_768 => 131_072,
        _ => 262_144,
    }
}

/// The layout of a drive.
#[derive(Debug, Clone)]
pub struct Layout {
    blocks: u64,
    groups: u32,
    inodes_of_group: u32,
    journal: Range<u64>,
}

impl Layout {
    /// Of a drive of this many bytes.
    ///
    /// # Errors
    /// It is too small.
    pub fn new(bytes: u64) -> Result<Self, String> {
        let blocks = bytes / BLOCK_BYTES;
        if blocks < BLOCKS_MIN {
            return Err(format!(
                "a drive of {bytes} bytes has no room for a file system of names; give it 16 MiB \
                 or more"
            ));
        }
        let groups = (blocks / GROUP_BLOCKS).clamp(1, u64::from(u32::MAX)) as u32;
        let of_group = blocks.min(GROUP_BLOCKS) / BLOCKS_OF_INODE;
        let inodes_of_group = of_group as u32 / INODES_OF_BLOCK * INODES_OF_BLOCK;
        let mut layout = Layout { blocks, groups, inodes_of_group, journal: 0..0 };
        // In the middle, in one stretch between two tables.
        let middle = match u64::from(groups) {
            ..FLEX_GROUPS => groups / 2,
            _ => groups / 2 / FLEX_GROUPS as u32 * FLEX_GROUPS as u32,
        };
        let first = layout.data_of(middle).start;
        layout.journal = first..first + journal_blocks(blocks);
        Ok(layout)
    }

    /// Groups of blocks.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Inodes of a group.
    pub fn inodes_of_group(&self) -> u32 {
        self.inodes_of_group
    }

    /// The blocks of the journal, in the middle of the drive.
    pub fn journal(&self) -> Range<u64> {
        self.journal.clone()
    }

    /// The first block of all.
    pub fn superblock(&self) -> u64 {
        0
    }

    /// The block with the descriptor of a group.
    pub fn descriptor(&self, group: u32) -> u64 {
        1 + u64::from(group) / DESCRIPTORS_OF_BLOCK
    }

    /// The bitmap of a group's blocks.
    pub fn block_bitmap(&self, group: u32) -> u64 {
        self.flex_start(group) + u64::from(group) % FLEX_GROUPS
    }

    /// The bitmap of a group's inodes.
    pub fn inode_bitmap(&self, group: u32) -> u64 {
        self.block_bitmap(group) + FLEX_GROUPS
    }

    /// The block of the table in which an inode stands.
    pub fn inode_block(&self, inode: u64) -> u64 {
        let (group, index) = self.place(inode);
        let within = u64::from(group) % FLEX_GROUPS * self.table_blocks();
        let first = self.flex_start(group) + 2 * FLEX_GROUPS + within;
        first + u64::from(index / INODES_OF_BLOCK)
    }

    /// Group and place in the group of an inode.
    pub fn place(&self, inode: u64) -> (u32, u32) {
        let of_group = u64::from(self.inodes_of_group);
        ((inode / of_group) as u32, (inode % of_group) as u32)
    }

    /// Blocks of a group in which directories and files may lie.
    pub fn data_of(&self, group: u32) -> Range<u64> {
        let start = u64::from(group) * GROUP_BLOCKS;
        let end = (start + GROUP_BLOCKS).min(self.blocks);
        // Of one small group there is one table, and no room for more.
        let tables = if self.groups == 1 { 1 } else { FLEX_GROUPS };
        let head = match u64::from(group) % FLEX_GROUPS {
            0 => self.flex_start(group) + 2 * FLEX_GROUPS + tables * self.table_blocks(),
            _ => start,
        };
        let first = match self.journal.contains(&head.min(end - 1)) {
            true => self.journal.end,
            false => head,
        };
        first.min(end)..end
    }

    /// The group of a block of data.
    pub fn group_of(&self, block: u64) -> u32 {
        ((block / GROUP_BLOCKS) as u32).min(self.groups - 1)
    }

    fn table_blocks(&self) -> u64 {
        u64::from(self.inodes_of_group / INODES_OF_BLOCK)
    }

    /// Where bitmaps and tables of a group and its neighbours begin.
    fn flex_start(&self, group: u32) -> u64 {
        let first = u64::from(group) / FLEX_GROUPS * FLEX_GROUPS;
        let descriptors = u64::from(self.groups).div_ceil(DESCRIPTORS_OF_BLOCK);
        first * GROUP_BLOCKS + if first == 0 { 1 + descriptors } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Everything lies on the drive, and no block has two uses.
    #[test]
    fn blocks_do_not_overlap() {
        for bytes in [16 << 20, 100 << 20, 1 << 30, 64 << 30, (1u64 << 40) + 12_345] {
            let layout = Layout::new(bytes).unwrap();
            let mut used = BTreeSet::new();
            let mut take = |block: u64, what: &str| {
                assert!(block < bytes / BLOCK_BYTES, "{bytes}: {what} {block} is beyond the end");
                assert!(used.insert(block), "{bytes}: {what} {block} has another use");
            };
            take(layout.superblock(), "superblock");
            let groups = layout.groups();
            let descriptors: BTreeSet<u64> = (0..groups).map(|it| layout.descriptor(it)).collect();
            descriptors.into_iter().for_each(|block| take(block, "descriptor"));
            layout.journal().for_each(|block| take(block, "journal"));
            for group in (0..groups).filter(|group| *group < 40 || group + 2 > groups) {
                take(layout.block_bitmap(group), "block bitmap");
                take(layout.inode_bitmap(group), "inode bitmap");
                let of_group = u64::from(layout.inodes_of_group());
                let first = u64::from(group) * of_group;
                let inodes = (first..first + of_group).step_by(INODES_OF_BLOCK as usize);
                inodes.for_each(|inode| take(layout.inode_block(inode), "inode table"));
                layout.data_of(group).for_each(|block| take(block, "data"));
            }
        }
        assert!(Layout::new(1 << 20).unwrap_err().contains("16 MiB or more"));
    }

    #[test]
    fn the_journal_of_64_gigabytes_has_256_mebibytes() {
        assert_eq!(Layout::new(64_000_000_000).unwrap().journal().count(), 65_536);
        assert_eq!(Layout::new(1 << 30).unwrap().journal().count(), 8192);
    }
}
