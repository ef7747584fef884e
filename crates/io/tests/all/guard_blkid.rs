//! The signatures against libblkid's: what `blkid -p` finds on an image is found here too, under
//! our own name. That more is found here is allowed: it only asks for a longer token.

use drivelab_io::signature::{in_words, on_descriptor};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// libblkid's name of a type, where ours is another.
fn ours(theirs: &str) -> &str {
    match theirs {
        "linux_raid_member" => "md",
        "LVM2_member" => "lvm2",
        "LVM1_member" => "lvm1",
        "crypto_LUKS" => "luks",
        "zfs_member" => "zfs",
        "isw_raid_member" => "imsm",
        "ddf_raid_member" => "ddf",
        "lsi_mega_raid_member" => "lsi_raid",
        "via_raid_member" => "via_raid",
        "silicon_medley_raid_member" => "silicon_raid",
        "nvidia_raid_member" => "nvidia_raid",
        "promise_fasttrack_raid_member" => "promise_raid",
        "hpt37x_raid_member" | "hpt45x_raid_member" => "highpoint_raid",
        "adaptec_raid_member" => "adaptec_raid",
        "jmicron_raid_member" => "jmicron_raid",
        "VMFS_volume_member" => "vmfs_volume",
        "VMFS" => "vmfs",
        "DM_verity_hash" => "verity",
        "DM_integrity" => "integrity",
        "DM_snapshot_cow" => "dm_snapshot",
        "BitLocker" => "bitlocker",
        "ReFS" => "refs",
        "squashfs3" => "squashfs",
        "xfs_external_log" => "xfs_log",
        "cs_fvault2" => "filevault",
        "drbdproxy_datalog" => "drbdproxy",
        "gfs" => "gfs2",
        "PMBR" => "gpt",
        other => other,
    }
}

/// TYPE and PTTYPE that `blkid -p` prints of an image.
fn blkid(image: &Path) -> Vec<String> {
    let output = Command::new("blkid").args(["-p", "-o", "export"]).arg(image).output();
    let output = output.expect("blkid (Debian package util-linux)");
    // 2: nothing was found; 8: several contradict each other, and none is named.
    assert!(matches!(output.status.code(), Some(0 | 2 | 8)), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let values = text.lines().filter_map(|line| {
        line.strip_prefix("TYPE=").or_else(|| line.strip_prefix("PTTYPE=")).map(str::to_owned)
    });
    values.collect()
}

fn found(image: &Path) -> Vec<String> {
    let file = File::open(image).expect("the image");
    let bytes = file.metadata().expect("its size").len();
    on_descriptor(&file, bytes).expect("signatures")
}

struct Images {
    directory: TempDir,
    /// What libblkid has named so far.
    known: Vec<String>,
}

impl Images {
    fn new() -> Images {
        Images { directory: tempfile::tempdir().expect("a directory"), known: Vec::new() }
    }

    fn blank(&self, bytes: u64) -> PathBuf {
        let path = self.directory.path().join("image");
        File::create(&path).and_then(|file| file.set_len(bytes)).expect("an image");
        path
    }

    /// Everything that libblkid says of an image must be said here too.
    fn compare(&mut self, what: &str, image: &Path) -> Vec<String> {
        let (theirs, here) = (blkid(image), found(image));
        // A boot sector ends as a partition table does; libblkid takes some for both.
        let is_boot = |name: &String| ["vfat", "ntfs", "exfat"].contains(&name.as_str());
        let boots = here.iter().any(is_boot);
        for name in theirs.iter().filter(|name| !(boots && *name == "dos")) {
            assert!(here.iter().any(|one| one == ours(name)), "{what}: {theirs:?}, here {here:?}");
        }
        self.known.extend(theirs);
        here
    }
}

/// Makers of what they make, from Debian's packages; `IMAGE` is where, `DIR` a directory with a
/// file in it. Those that are not installed are named and left out.
const MAKERS: [(&str, u64, &str); 26] = [
    ("ext2", 64, "mkfs.ext4 -q -F -t ext2 IMAGE"),
    ("ext4", 64, "mkfs.ext4 -q -F IMAGE"),
    ("jbd", 64, "mkfs.ext4 -q -F -O journal_dev IMAGE"),
    ("xfs", 400, "mkfs.xfs -q -f IMAGE"),
    ("btrfs", 128, "mkfs.btrfs -q -f IMAGE"),
    ("swap", 64, "mkswap IMAGE"),
    ("minix", 16, "mkfs.minix IMAGE"),
    ("minix", 16, "mkfs.minix -2 IMAGE"),
    ("minix", 16, "mkfs.minix -3 IMAGE"),
    ("bfs", 16, "mkfs.bfs IMAGE"),
    ("cramfs", 16, "mkfs.cramfs DIR IMAGE"),
    ("vfat", 64, "mkfs.vfat IMAGE"),
    ("vfat", 64, "mkfs.vfat -F 32 IMAGE"),
    ("nilfs2", 256, "mkfs.nilfs2 -q -f IMAGE"),
    ("f2fs", 128, "mkfs.f2fs -q -f IMAGE"),
    ("jfs", 64, "mkfs.jfs -q IMAGE"),
    ("reiserfs", 128, "mkreiserfs -q -f -f IMAGE"),
    ("exfat", 64, "mkfs.exfat IMAGE"),
    ("ntfs", 64, "mkfs.ntfs -F -Q -q IMAGE"),
    ("udf", 64, "mkudffs -b 512 IMAGE"),
    ("udf", 64, "mkudffs -b 2048 --media-type=hd IMAGE"),
    ("luks", 64, "cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000 IMAGE KEY"),
    (
        "luks",
        64,
        "cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
         IMAGE KEY",
    ),
    ("verity", 16, "veritysetup format DIR/data IMAGE"),
    ("squashfs", 1, "mksquashfs DIR IMAGE -noappend -quiet"),
    ("erofs", 1, "mkfs.erofs IMAGE DIR"),
];

#[test]
fn what_their_makers_make_is_found_as_libblkid_finds_it() {
    let mut images = Images::new();
    let data = tempfile::tempdir().expect("a directory");
    File::create(data.path().join("data")).unwrap().write_all(&[7; 1 << 20]).unwrap();
    let key = images.directory.path().join("key");
    std::fs::write(&key, "a key").unwrap();
    let (mut left_out, mut made) = (Vec::new(), 0);
    for (name, mebibytes, line) in MAKERS {
        let image = images.blank(mebibytes * MIB);
        let put = |word: &str| {
            let word = word.replace("IMAGE", image.to_str().unwrap());
            let word = word.replace("DIR", data.path().to_str().unwrap());
            word.replace("KEY", key.to_str().unwrap())
        };
        let words: Vec<String> = line.split_whitespace().map(put).collect();
        let path = format!("{}:/usr/local/sbin:/usr/sbin:/sbin", std::env::var("PATH").unwrap());
        let output = Command::new(&words[0]).args(&words[1..]).env("PATH", path).output();
        match output {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                left_out.push(words[0].clone());
                continue;
            }
            other => {
                let output = other.expect("it starts");
                assert!(output.status.success(), "{line}: {output:?}");
            }
        }
        made += 1;
        let here = images.compare(line, &image);
        assert!(here.iter().any(|one| one == name), "{line}: {here:?}");
    }
    left_out.sort();
    left_out.dedup();
    // Past the capture of the tests.
    if !left_out.is_empty() {
        writeln!(std::io::stderr(), "not judged: signatures of {}", left_out.join(", ")).ok();
    }
    assert!(made >= 11, "{made} of {}: the others are not installed", MAKERS.len());
}

/// Headers as their documents describe them, at their places: name, size, what stands where (from
/// the end where negative), and whether libblkid knows them by so little.
type Header = (&'static str, u64, Vec<(i64, Vec<u8>)>);

fn text(at: i64, text: &str) -> (i64, Vec<u8>) {
    (at, text.as_bytes().to_vec())
}

fn via() -> Vec<u8> {
    let mut sector = vec![0; 51];
    sector[..3].copy_from_slice(&[0x55, 0xaa, 1]);
    sector[20] = 9;
    sector[50] = sector[..50].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    sector
}

fn jmicron() -> Vec<u8> {
    let mut sector = vec![0; 128];
    sector[..2].copy_from_slice(b"JM");
    let rest = 0_u16.wrapping_sub(u16::from_le_bytes(*b"JM"));
    sector[4..6].copy_from_slice(&rest.to_le_bytes());
    sector
}

fn nilfs() -> Vec<u8> {
    let mut block = vec![0; 280];
    block[..4].copy_from_slice(&2_u32.to_le_bytes());
    block[6..8].copy_from_slice(&0x3434_u16.to_le_bytes());
    block[8..10].copy_from_slice(&280_u16.to_le_bytes());
    block
}

fn minix(little: bool) -> Vec<u8> {
    let of = |value: u16| if little { value.to_le_bytes() } else { value.to_be_bytes() };
    let mut block = vec![0; 32];
    for (at, value) in [(0, 64), (2, 1000), (4, 1), (6, 1), (8, 8), (16, 0x138f), (18, 1)] {
        block[at..at + 2].copy_from_slice(&of(value));
    }
    block
}

fn words(of: &[u32]) -> Vec<u8> {
    of.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Volumes and firmware RAIDs.
fn volumes() -> Vec<Header> {
    let stratis = b"!Stra0tis\x86\xff\x02^\x41rh".to_vec();
    vec![
        ("ceph_bluestore", 8, vec![text(0, "bluestore block device\n")]),
        ("stratis", 8, vec![(516, stratis.clone())]),
        ("stratis", 8, vec![(9 * 512 + 4, stratis)]),
        ("vdo", 8, vec![text(0, "dmvdo001")]),
        ("verity", 8, vec![text(0, "verity\0\0\x01\0\0\0")]),
        ("integrity", 8, vec![text(0, "integrt\0\x01")]),
        ("dm_snapshot", 8, vec![text(0, "SnAp\x01\0\0\0\x01\0\0\0")]),
        ("oracleasm", 8, vec![text(32, "ORCLDISK")]),
        ("refs", 8, vec![text(0, "\0\0\0ReFS\0\0\0\0")]),
        ("ubi", 8, vec![text(0, "UBI#\x01")]),
        ("ubifs", 8, vec![(0, vec![0x31, 0x18, 0x10, 0x06])]),
        ("lvm1", 8, vec![(0, b"HM\x01\0".to_vec())]),
        ("drbdmanage", 8, vec![text(0, "$DRBDmgr=q"), text(10, "0123456789abcdef0123")]),
        ("drbdproxy", 8, vec![text(0, "DRBDdlh*")]),
        ("lsi_raid", 8, vec![text(-512, "$XIDE$")]),
        ("via_raid", 8, vec![(-512, via())]),
        ("silicon_raid", 8, vec![(-512 + 0x60, vec![0, 0, 0, 0x2f])]),
        ("nvidia_raid", 8, vec![text(-1024, "NVIDIA"), (-1014, vec![100, 0, 0, 0])]),
        ("promise_raid", 8, vec![text(-63 * 512, "Promise Technology, Inc.")]),
        ("promise_raid", 8, vec![text(-3087 * 512, "Promise Technology, Inc.")]),
        ("highpoint_raid", 8, vec![(9 * 512 + 32, vec![0xf0, 0x16, 0x78, 0x5a])]),
        ("highpoint_raid", 8, vec![(-11 * 512, vec![0xf3, 0x16, 0x78, 0x5a])]),
        (
            "adaptec_raid",
            8,
            vec![(-512, vec![0x37, 0xfc, 0x4d, 0x1e]), text(-256, "DPTM"), (-509, vec![0x1e])],
        ),
        ("jmicron_raid", 8, vec![(-512, jmicron())]),
        ("imsm", 8, vec![text(-1024, "Intel Raid ISM Cfg Sig. 1.0.00")]),
        ("imsm", 8, vec![text(-8192, "Intel Raid ISM Cfg Sig. 1.0.00")]),
        ("ddf", 8, vec![(-512, vec![0xde, 0x11, 0xde, 0x11]), text(-408, "01.00.00")]),
        ("ddf", 8, vec![(-257 * 512, vec![0xde, 0x11, 0xde, 0x11])]),
    ]
}

/// File systems and partition tables.
fn file_systems() -> Vec<Header> {
    vec![
        ("vmfs_volume", 8, vec![(MIB as i64, vec![0x0d, 0xd0, 0x01, 0xc0])]),
        ("vmfs", 8, vec![(2 * MIB as i64, vec![0x5e, 0xf1, 0xab, 0x2f])]),
        ("nilfs2", 8, vec![(1024, nilfs())]),
        ("nilfs2", 8, vec![(-4096, nilfs())]),
        ("reiserfs", 8, vec![text(0x2034, "ReIsErFs")]),
        ("reiser4", 8, vec![text(0x10000, "ReIsEr4")]),
        ("gfs2", 8, vec![(0x10000, vec![1, 0x16, 0x19, 0x70]), (0x10018, words(&[1801]))]),
        ("gfs2", 8, vec![(0x10000, vec![1, 0x16, 0x19, 0x70]), (0x10018, words(&[1309]))]),
        ("ocfs2", 8, vec![text(4096, "OCFSV2")]),
        ("ocfs2", 8, vec![text(8192, "OCFSV2")]),
        ("ocfs", 8, vec![text(8, "OracleCFS")]),
        ("zonefs", 8, vec![text(0, "SFOZ")]),
        ("mpool", 8, vec![text(0, "mpoolDev")]),
        ("exfs", 8, vec![text(0, "EXFS")]),
        ("romfs", 8, vec![text(0, "-rom1fs-")]),
        ("iso9660", 8, vec![text(0x8000, "\x01CD001")]),
        ("apfs", 8, vec![text(32, "NXSB")]),
        ("hfs", 8, vec![text(1024, "BD"), (1044, words(&[4096]))]),
        ("hfsplus", 8, vec![(1024, b"H+\0\x04".to_vec())]),
        (
            "hpfs",
            8,
            vec![(0x2000, vec![0x49, 0xe8, 0x95, 0xf9]), (0x2200, vec![0x49, 0x18, 0x91, 0xf9])],
        ),
        ("vxfs", 8, vec![(1024, vec![0xf5, 0xfc, 0x01, 0xa5])]),
        ("vxfs", 8, vec![(8192, vec![0xa5, 0x01, 0xfc, 0xf5])]),
        ("nss", 8, vec![text(0x1000, "SPB5")]),
        ("befs", 8, vec![text(0x220, "1SFB")]),
        ("befs", 8, vec![text(0x20, "BFS1")]),
        ("sysv", 8, vec![(512 + 0x1f8, vec![0x20, 0x7e, 0x18, 0xfd])]),
        ("xenix", 8, vec![(1024 + 0x3f8, vec![0x44, 0x55, 0x2b, 0])]),
        ("ufs", 8, vec![(0x2000 + 0x55c, vec![0x54, 0x19, 0x01, 0])]),
        ("ufs", 8, vec![(0x10000 + 0x55c, vec![0x19, 0x01, 0x54, 0x19])]),
        ("ufs", 8, vec![(0x40000 + 0x55c, vec![0x19, 0x54, 0x01, 0x19])]),
        ("minix", 8, vec![(1024, minix(true))]),
        ("minix", 8, vec![(1024, minix(false))]),
        ("xfs_log", 8, vec![(512, words(&[0xfeed_babe, 1, 2, 512]))]),
        ("filevault", 8, vec![(8, vec![1, 0, 0x10, 0]), (88, b"CS\x01\0\0\0".to_vec())]),
        ("bitlocker", 8, vec![text(3, "-FVE-FS-")]),
        ("lvm2", 8, vec![text(512, "LABELONE"), text(536, "LVM2 001")]),
        ("md", 8, vec![(4096, 0xa92b_4efc_u32.to_le_bytes().to_vec())]),
        ("aix", 8, vec![(0, vec![0xc9, 0xc2, 0xd4, 0xc1])]),
        ("sgi", 8, vec![(0, vec![0x0b, 0xe5, 0xa9, 0x41])]),
        ("ultrix", 8, vec![(16384 - 72, vec![0x57, 0x29, 0x03, 0, 1])]),
    ]
}

#[test]
fn headers_written_by_hand_are_found_as_libblkid_finds_them() {
    let mut images = Images::new();
    let mut by_us_alone = Vec::new();
    for (name, mebibytes, parts) in volumes().into_iter().chain(file_systems()) {
        let image = images.blank(mebibytes * MIB);
        let file = File::options().write(true).open(&image).unwrap();
        for (at, bytes) in parts {
            let place = if at < 0 { mebibytes * MIB - at.unsigned_abs() } else { at as u64 };
            file.write_all_at(&bytes, place).unwrap();
        }
        let before = images.known.len();
        let here = images.compare(name, &image);
        assert!(here.iter().any(|one| one == name), "{name}: {here:?}");
        let says = in_words(name);
        assert!(says.starts_with("a ") || says.starts_with("an ") || says.starts_with("the "));
        if images.known.len() == before {
            by_us_alone.push(name);
        }
    }
    let mut known = images.known.clone();
    known.sort();
    known.dedup();
    println!("libblkid named {}: {}", known.len(), known.join(" "));
    println!("it wants more (checksums) of: {}", by_us_alone.join(" "));
    // An oracle that says nothing proves nothing.
    assert!(known.len() >= 35, "{known:?}");
}

#[test]
fn partition_tables_are_found_as_libblkid_finds_them() {
    let mut images = Images::new();
    for table in ["gpt", "dos", "sun", "sgi"] {
        let image = images.blank(64 * MIB);
        let line = format!("echo 'label: {table}' | PATH=$PATH:/sbin:/usr/sbin sfdisk -q \"$0\"");
        let status = Command::new("sh").args(["-c", &line]).arg(&image).status();
        assert!(status.expect("sfdisk (Debian package fdisk)").success(), "{table}");
        let here = images.compare(table, &image);
        assert!(here.iter().any(|one| one == table), "{table}: {here:?}");
    }
}
