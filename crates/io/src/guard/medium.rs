//! What tells a medium, or what is on it, where the drive tells no serial number: the UUID of its
//! content, or the kernel's sequence number of the disk.

use std::os::fd::OwnedFd;

use crate::facts::Tree;
use crate::system::{DeviceNumber, read_number};

/// Where a UUID of 16 bytes stands: magic bytes, where they are, where it is. Offsets are those of
/// libblkid's superblocks.
const BINARY: [(&[u8], u64, u64); 6] = [
    (b"XFSB", 0, 32),
    (b"_BHRfS_M", 0x1_0040, 0x1_0020),
    (b"\x53\xef", 0x438, 0x468),
    (b"\x10\x20\xf5\xf2", 0x400, 0x46c),
    (b"SWAPSPACE2", 4086, 1036),
    (b"SWAPSPACE2", 65_526, 1036),
];
/// The same where it is text of this many letters.
const TEXT: [(&[u8], u64, u64, usize); 2] =
    [(b"LUKS\xba\xbe", 0, 168, 36), (b"LABELONE", 512, 544, 32)];
/// The same where it is a shorter serial number of the file system.
const SHORT: [(&[u8], u64, u64, usize); 4] = [
    (b"NTFS    ", 3, 0x48, 8),
    (b"EXFAT   ", 3, 0x64, 4),
    (b"FAT32   ", 0x52, 0x43, 4),
    (b"FAT1", 0x36, 0x27, 4),
];

/// How a token says which medium it is of, and how long that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Medium {
    /// The UUID of what is on it.
    Content(String),
    /// The kernel's number of the disk: another one each time that a medium is attached.
    Sequence(u64),
}

impl Medium {
    /// Of an open device that belongs to a disk.
    pub(super) fn of(tree: &Tree, disk: DeviceNumber, open: &OwnedFd) -> Option<Self> {
        let sequence = || read_number(&tree.directory(disk)?.join("diskseq")).map(Medium::Sequence);
        uuid(open).map(Medium::Content).or_else(sequence)
    }

    /// As it stands in a token.
    pub(super) fn word(&self) -> String {
        match self {
            Medium::Content(uuid) => format!("uuid-{uuid}"),
            Medium::Sequence(number) => format!("seq-{number}"),
        }
    }

    /// How long a token with it holds.
    pub(super) fn holds(&self) -> &'static str {
        match self {
            Medium::Content(_) => {
                "The token below is valid for what is on it now and for nothing else."
            }
            Medium::Sequence(_) => {
                "The token below is valid until a medium is attached again or the machine \
                 restarts."
            }
        }
    }
}

fn uuid(open: &OwnedFd) -> Option<String> {
    let at = |offset: u64, length: usize| {
        let mut bytes = vec![0; length];
        let read = rustix::io::pread(open, &mut bytes, offset).ok()?;
        (read == length).then_some(bytes)
    };
    let has = |magic: &[u8], offset: u64| at(offset, magic.len()).as_deref() == Some(magic);
    let is_set = |bytes: &Vec<u8>| bytes.iter().any(|byte| *byte != 0);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let binary = BINARY.iter().filter(|(magic, offset, _)| has(magic, *offset));
    let binary = binary.filter_map(|(.., place)| at(*place, 16)).find(is_set).map(|bytes| {
        let text = hex(&bytes);
        let cuts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
        cuts.map(|(from, to)| text[from..to].to_owned()).join("-")
    });
    let text = || {
        let found = TEXT.iter().find(|(magic, offset, ..)| has(magic, *offset))?;
        let text = String::from_utf8(at(found.2, found.3)?).ok()?;
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-').then_some(text)
    };
    let short = || {
        let found = SHORT.iter().find(|(magic, offset, ..)| has(magic, *offset))?;
        at(found.2, found.3).filter(is_set).map(|mut bytes| {
            bytes.reverse();
            hex(&bytes)
        })
    };
    binary.or_else(text).or_else(short)
}
