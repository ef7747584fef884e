//! Formats whose magic is short or stands in several places: what is around it is looked at too.

use super::View;

/// The sectors of an external xfs log in which its first record is looked for.
const LOG_SECTORS: u64 = 512;

impl View {
    /// File systems that one fixed magic does not tell.
    pub(super) fn of_other_systems(&self) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut add = |is_there: bool, name: &'static str| found.extend(is_there.then_some(name));
        add(self.is_nilfs(1024), "nilfs2");
        add(self.is_hfs().unwrap_or(false), "hfs");
        add(self.is_minix(true).or(self.is_minix(false)).is_some(), "minix");
        add(self.is_ufs(), "ufs");
        add(self.is_file_vault(), "filevault");
        add((0..LOG_SECTORS).any(|sector| self.is_log_record(sector * 512)), "xfs_log");
        found
    }

    /// A super block of NILFS2 (linux/nilfs2_ondisk.h): revision 2, magic, a size of its own.
    pub(super) fn is_nilfs(&self, at: u64) -> bool {
        self.u16_le(at + 6) == Some(0x3434)
            && self.u32_le(at) == Some(2)
            && self.u16_le(at + 8).is_some_and(|bytes| (16..=1024).contains(&bytes))
    }

    /// `BD`, and allocation blocks of whole sectors (Inside Macintosh: Files, 2-60).
    fn is_hfs(&self) -> Option<bool> {
        let block = self.u32_be(1024 + 20)?;
        Some(self.has(1024, b"BD") && block > 0 && block.is_multiple_of(512))
    }

    /// Minix 1 to 3 in either order of bytes (linux/minix_fs.h), with maps that have room for what
    /// they map; its magic has two bytes only.
    fn is_minix(&self, is_little: bool) -> Option<()> {
        let u16 = |at: u64| if is_little { self.u16_le(1024 + at) } else { self.u16_be(1024 + at) };
        let u32 = |at: u64| if is_little { self.u32_le(1024 + at) } else { self.u32_be(1024 + at) };
        let is_third = u16(24)? == 0x4d5a;
        let is_older = matches!(u16(16)?, 0x137f | 0x138f | 0x2468 | 0x2478);
        let (inodes, maps, block) = match (is_third, is_older) {
            (true, _) => (u32(0)?, (u16(6)?, u16(8)?), u32::from(u16(28)?)),
            (false, true) => (u32::from(u16(0)?), (u16(4)?, u16(6)?), 1024),
            _ => return None,
        };
        let mapped = u64::from(maps.0) * u64::from(block) * 8;
        (inodes > 0 && maps.1 > 0 && block >= 1024 && mapped > u64::from(inodes)).then_some(())
    }

    /// UFS 1 and 2 and its relatives (sys/ufs/ffs/fs.h): the magic is at the end of a super block
    /// that may stand in four places.
    fn is_ufs(&self) -> bool {
        const MAGIC: [u32; 5] = [0x0001_1954, 0x1954_0119, 0x0019_5612, 0x0009_5014, 0x0523_1994];
        [0, 8, 64, 256].iter().any(|kibibytes: &u64| {
            let at = kibibytes * 1024 + 0x55c;
            [self.u32_le(at), self.u32_be(at)].into_iter().flatten().any(|it| MAGIC.contains(&it))
        })
    }

    /// The label of an encrypted CoreStorage volume (Choudary, Gröbert, Metz 2012): version 1,
    /// block type 0x10, `CS`.
    fn is_file_vault(&self) -> bool {
        self.has(88, b"CS") && self.u16_le(8) == Some(1) && self.u16_le(10) == Some(0x10)
    }

    /// A record of an xfs log: magic, a cycle, version 1 or 2.
    fn is_log_record(&self, at: u64) -> bool {
        self.has(at, &[0xfe, 0xed, 0xba, 0xbe])
            && self.u32_be(at + 4).is_some_and(|cycle| cycle > 0)
            && matches!(self.u32_be(at + 8), Some(1 | 2))
    }
}
