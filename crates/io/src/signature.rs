//! What a device holds: file systems, volume managers and partition tables by their magic bytes.
//!
//! Pure over [`Media`], so that it can be tested and fuzzed on memory. It errs on the side of
//! finding something: a signature only asks for a longer token, a missed one could cost data.
//! Offsets are those of libblkid and of each format's own document.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

mod firmware;
mod magic;
mod old;

/// Bytes looked at from the start: covers the last copy of the LUKS2 header below 1 MiB, the
/// labels of VMFS at 1 and 2 MiB and the first two ZFS labels.
const HEAD_BYTES: u64 = (2 << 20) + (1 << 16);
/// Bytes looked at before the end: covers the last two ZFS labels, md 0.90 and 1.0, GPT, DRBD, and
/// the firmware RAID that keeps its copy 3087 sectors before the end.
const TAIL_BYTES: u64 = 2 << 20;

/// Something that can be read by offset.
pub trait Media {
    /// Size in bytes.
    fn bytes(&self) -> u64;
    /// Fills `buffer` from `offset`; returns how much there was before the end.
    ///
    /// # Errors
    /// As reading says: an unreadable place must not count as blank.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

impl Media for [u8] {
    fn bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let length = buffer.len().min(self.len() - start);
        buffer[..length].copy_from_slice(&self[start..start + length]);
        Ok(length)
    }
}

/// An open file or device.
struct Open<'a> {
    descriptor: BorrowedFd<'a>,
    bytes: u64,
}

impl Media for Open<'_> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match rustix::io::pread(self.descriptor, &mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(done)
    }
}

/// The signatures on an open descriptor of `bytes` size, sorted, each once.
///
/// # Errors
/// When a place where a signature may stand cannot be read.
pub fn on_descriptor(descriptor: &impl AsFd, bytes: u64) -> io::Result<Vec<String>> {
    // A device's own cache does not see what was written below it (to the backing file of a loop
    // device, through a partition): drop it first. Advice may fail, as on a FUSE file.
    let _ = rustix::fs::fadvise(descriptor, 0, None, rustix::fs::Advice::DontNeed);
    signatures(&Open { descriptor: descriptor.as_fd(), bytes })
}

/// The signatures on `media`, sorted, each once: `ext4`, `xfs`, `gpt`, `lvm2` …; empty for blank
/// or unknown content.
///
/// # Errors
/// When a place where a signature may stand cannot be read.
pub fn signatures(media: &(impl Media + ?Sized)) -> io::Result<Vec<String>> {
    let view = View::read(media)?;
    let mut found = view.filesystems();
    found.extend(view.volumes());
    found.extend(view.members_at_end());
    found.extend(view.firmware_raids());
    let boots = ["vfat", "ntfs", "exfat", "bitlocker"];
    let is_boot_sector = found.iter().any(|name| boots.contains(name));
    found.extend(view.partition_table(is_boot_sector));
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().map(str::to_owned).collect())
}

/// A signature in words, with its article: "an ext4 file system", "a GPT partition table".
pub fn in_words(signature: &str) -> String {
    let fixed = match signature {
        "gpt" => "a GPT partition table",
        "dos" => "a DOS (MBR) partition table",
        "mac" | "sun" | "bsd" | "aix" | "sgi" | "ultrix" => "a partition table of another system",
        "swap" => "swap space",
        "swsuspend" => "a hibernated system",
        "lvm2" => "an LVM physical volume",
        "md" => "a member of an md array",
        name if firmware::NAMES.contains(&name) => "a member of a firmware RAID",
        "lvm1" => "an LVM physical volume",
        "ceph_bluestore" => "a Ceph BlueStore device",
        "stratis" => "a member of a Stratis pool",
        "vdo" => "a VDO volume",
        "verity" => "the hashes of dm-verity",
        "integrity" => "a dm-integrity volume",
        "dm_snapshot" => "the changes of an LVM snapshot",
        "oracleasm" => "an Oracle ASM disk",
        "ubi" => "a UBI volume",
        "vmfs_volume" => "a VMFS volume",
        "filevault" => "a FileVault volume",
        "drbdmanage" => "the control volume of DRBD",
        "drbdproxy" => "the data log of DRBD Proxy",
        "xfs_log" => "the external log of an xfs file system",
        "luks" => "a LUKS volume",
        "bitlocker" => "a BitLocker volume",
        "zfs" => "a member of a ZFS pool",
        "bcache" => "a bcache device",
        "drbd" => "a DRBD device",
        "jbd" => "an external ext journal",
        _ => "",
    };
    if !fixed.is_empty() {
        return fixed.to_owned();
    }
    let article = if signature.starts_with(['a', 'e', 'i', 'o', 'u', 'f', 'x', 'n']) {
        match signature {
            "udf" | "ufs" | "ubifs" => "a",
            _ => "an",
        }
    } else {
        "a"
    };
    format!("{article} {signature} file system")
}

/// The bytes at both ends.
struct View {
    head: Vec<u8>,
    tail: Vec<u8>,
    tail_start: u64,
    bytes: u64,
}

impl View {
    fn read(media: &(impl Media + ?Sized)) -> io::Result<View> {
        let bytes = media.bytes();
        let fill = |start: u64, length: u64| {
            let mut buffer = vec![0; usize::try_from(length).unwrap_or(0)];
            match media.read_at(start, &mut buffer)? {
                count if count == buffer.len() => Ok(buffer),
                // It shrank meanwhile: what cannot be read is not blank.
                count => Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    format!("it ends {count} bytes after byte {start}"),
                )),
            }
        };
        let tail_start = bytes.saturating_sub(TAIL_BYTES);
        let head = fill(0, bytes.min(HEAD_BYTES))?;
        let tail = fill(tail_start, bytes.min(TAIL_BYTES))?;
        Ok(View { head, tail, tail_start, bytes })
    }

    /// `length` bytes at `offset`, from whichever end covers them.
    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let within = |part: &'_ [u8], start: u64| {
            let first = usize::try_from(offset.checked_sub(start)?).ok()?;
            let last = first.checked_add(length)?;
            (last <= part.len()).then_some((first, last))
        };
        if let Some((first, last)) = within(&self.head, 0) {
            return Some(&self.head[first..last]);
        }
        let (first, last) = within(&self.tail, self.tail_start)?;
        Some(&self.tail[first..last])
    }

    fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()) == Some(magic)
    }

    fn u16_le(&self, offset: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.at(offset, 2)?.try_into().ok()?))
    }

    fn u16_be(&self, offset: u64) -> Option<u16> {
        Some(u16::from_be_bytes(self.at(offset, 2)?.try_into().ok()?))
    }

    fn u32_be(&self, offset: u64) -> Option<u32> {
        Some(u32::from_be_bytes(self.at(offset, 4)?.try_into().ok()?))
    }

    fn u32_le(&self, offset: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.at(offset, 4)?.try_into().ok()?))
    }

    /// Formats with a magic at a fixed place.
    fn filesystems(&self) -> Vec<&'static str> {
        let fixed = magic::FIXED.iter().filter(|(offset, magic, _)| self.has(*offset, magic));
        let mut found: Vec<_> = fixed.map(|(_, _, name)| *name).collect();
        found.extend(self.ext());
        found.extend(self.of_other_systems());
        if !found.iter().any(|name| ["ntfs", "exfat", "bitlocker", "refs"].contains(name)) {
            found.extend(self.fat());
        }
        found
    }

    /// ext2, ext3 or ext4 by feature bits (kernel document `filesystems/ext4/super.rst`).
    fn ext(&self) -> Option<&'static str> {
        const SUPER: u64 = 1024;
        // ext4 alone knows any incompatible feature but these four …
        const INCOMPATIBLE_OLD: u32 = 0x02 | 0x04 | 0x08 | 0x10;
        // … and any read-only compatible one but sparse_super, large_file, btree_dir.
        const READ_ONLY_OLD: u32 = 0x01 | 0x02 | 0x04;
        if self.u16_le(SUPER + 56)? != 0xef53 {
            return None;
        }
        let compatible = self.u32_le(SUPER + 92)?;
        let incompatible = self.u32_le(SUPER + 96)?;
        // An external journal has blocks and no inodes.
        let things = self.u32_le(SUPER)?.max(self.u32_le(SUPER + 4)?);
        if self.u32_le(SUPER + 24)? > 6 || things == 0 {
            return None;
        }
        let read_only = self.u32_le(SUPER + 100)?;
        Some(if incompatible & 0x08 != 0 {
            "jbd"
        } else if incompatible & !INCOMPATIBLE_OLD != 0 || read_only & !READ_ONLY_OLD != 0 {
            "ext4"
        } else if compatible & 0x04 != 0 {
            "ext3"
        } else {
            "ext2"
        })
    }

    /// FAT by its parameter block, for some formatters leave the type strings out.
    fn fat(&self) -> Option<&'static str> {
        let jump = self.at(0, 3)?;
        let jumps = (jump[0] == 0xeb && jump[2] == 0x90) || jump[0] == 0xe9;
        let sector = self.u16_le(11)?;
        let cluster = self.at(13, 1)?[0];
        let copies = self.at(16, 1)?[0];
        let media = self.at(21, 1)?[0];
        let named = self.has(82, b"FAT32   ")
            || [b"FAT12   ", b"FAT16   ", b"FAT     "].iter().any(|name| self.has(54, *name));
        let plausible = sector.is_power_of_two()
            && (512..=4096).contains(&sector)
            && cluster.is_power_of_two()
            && self.u16_le(14)? > 0
            && (1..=2).contains(&copies)
            && (media == 0xf0 || media >= 0xf8);
        (plausible && (named || (jumps && self.has(510, &[0x55, 0xaa])))).then_some("vfat")
    }

    /// Volume managers, encryption, caches and swap at the start.
    fn volumes(&self) -> Vec<&'static str> {
        const BCACHE: [u8; 16] = [
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ];
        const BCACHEFS: [u8; 16] = [
            0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d,
            0xf7, 0xef,
        ];
        let mut found = Vec::new();
        let lvm = |sector: u64| {
            self.has(sector * 512, b"LABELONE") && self.has(sector * 512 + 24, b"LVM2 001")
        };
        if (0..4).any(lvm) {
            found.push("lvm2");
        }
        // The second header of LUKS2 lies at 16 KiB or a power of two above it.
        if self.has(0, b"LUKS\xba\xbe")
            || (14..20).any(|power| self.has(1 << power, b"SKUL\xba\xbe"))
        {
            found.push("luks");
        }
        if self.has(4096 + 24, &BCACHE) {
            found.push("bcache");
        }
        if self.has(4096 + 24, &BCACHEFS) {
            found.push("bcachefs");
        }
        for page in [4096, 8192, 16384, 32768, 65536] {
            let magic = self.at(page - 10, 10).unwrap_or_default();
            match magic {
                b"SWAPSPACE2" | b"SWAP-SPACE" => found.push("swap"),
                _ if magic.starts_with(b"S1SUSPEND")
                    || magic.starts_with(b"S2SUSPEND")
                    || magic.starts_with(b"ULSUSPEND")
                    || magic.starts_with(b"LINHIB0001") =>
                {
                    found.push("swsuspend");
                }
                _ => {}
            }
        }
        if self.zfs() {
            found.push("zfs");
        }
        found
    }

    /// An uberblock in any of the four labels (ZFS On-Disk Specification, 1.3).
    fn zfs(&self) -> bool {
        const LABEL: u64 = 256 << 10;
        let end = self.bytes / LABEL * LABEL;
        let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
        labels.into_iter().flatten().any(|label| {
            (0..128).any(|index| {
                let magic = self.at(label + (128 << 10) + index * 1024, 8).unwrap_or_default();
                magic == 0x00ba_b10c_u64.to_le_bytes() || magic == 0x00ba_b10c_u64.to_be_bytes()
            })
        })
    }

    /// RAID and replication metadata, most of it at the end.
    fn members_at_end(&self) -> Vec<&'static str> {
        const MD: u32 = 0xa92b_4efc;
        let mut found = Vec::new();
        let md = |offset: Option<u64>| {
            let word = offset.and_then(|offset| self.at(offset, 4));
            word.is_some_and(|word| word == MD.to_le_bytes() || word == MD.to_be_bytes())
        };
        let sectors = self.bytes / 512;
        // md(4): 0.90 in the last full 64 KiB, 1.0 8 to 12 KiB before the end, 1.1 at the start,
        // 1.2 at 4 KiB.
        let version_0 = (self.bytes & !0xffff).checked_sub(0x1_0000);
        let version_1 = sectors.checked_sub(16).map(|sector| (sector & !7) * 512);
        if md(version_0) || md(version_1) || md(Some(0)) || md(Some(4096)) {
            found.push("md");
        }
        // The second super block of NILFS2 outlives a new format at the start.
        let nilfs = (self.bytes >> 12).checked_sub(1).map(|block| block << 12);
        if nilfs.is_some_and(|at| self.is_nilfs(at)) {
            found.push("nilfs2");
        }
        // DRBD internal metadata: last 4 KiB block, magic 8.x, 8.4 (unclean) or 9.
        let drbd = (self.bytes & !0xfff).checked_sub(4096).and_then(|o| self.at(o + 60, 4));
        if let Some([0x83, 0x74, 0x02, 0x6b..=0x6d]) = drbd {
            found.push("drbd");
        }
        found
    }

    /// A GPT (either copy) or a DOS table; the protective entry of a GPT counts as `gpt` alone.
    fn partition_table(&self, is_boot_sector: bool) -> Vec<&'static str> {
        let mut found = Vec::new();
        let places = [Some(512), Some(4096)];
        let ends = [self.bytes.checked_sub(512), self.bytes.checked_sub(4096)];
        if places.into_iter().chain(ends).flatten().any(|offset| self.has(offset, b"EFI PART")) {
            found.push("gpt");
        } else if !is_boot_sector && self.has(510, &[0x55, 0xaa]) && self.entries_plausible() {
            found.push("dos");
        }
        if self.has(512, b"PM\0\0") {
            found.push("mac");
        }
        if self.has(508, &[0xda, 0xbe]) {
            found.push("sun");
        }
        if self.has(0, &[0xc9, 0xc2, 0xd4, 0xc1]) {
            found.push("aix");
        }
        if self.has(0, &[0x0b, 0xe5, 0xa9, 0x41]) {
            found.push("sgi");
        }
        // The table of Ultrix fills the last 72 bytes of the first 16 KiB.
        if self.u32_le(16384 - 72) == Some(0x0003_2957) {
            found.push("ultrix");
        }
        let bsd = 0x8256_4557_u32.to_le_bytes();
        if self.has(512, &bsd) || self.has(64, &bsd) {
            found.push("bsd");
        }
        found
    }

    /// Each of the four entries is inactive or active, nothing else; random data rarely is.
    fn entries_plausible(&self) -> bool {
        (0..4).all(|index| {
            let status = self.at(446 + index * 16, 1).map(|byte| byte[0]);
            matches!(status, Some(0 | 0x80))
        })
    }
}
