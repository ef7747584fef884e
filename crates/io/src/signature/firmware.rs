//! RAID of BIOSes and cheap controllers: their metadata stand in the last sectors of each member.
//!
//! Layouts: DDF by SNIA's specification, the others as the drivers of dmraid and mdadm read them.

use super::View;

/// What members are called here.
pub(super) const NAMES: [&str; 10] = [
    "imsm",
    "ddf",
    "lsi_raid",
    "via_raid",
    "silicon_raid",
    "nvidia_raid",
    "promise_raid",
    "highpoint_raid",
    "adaptec_raid",
    "jmicron_raid",
];

/// Sectors before the end where Promise keeps its metadata, by controller and drive.
const PROMISE: [u64; 13] = [16, 63, 255, 256, 399, 591, 675, 735, 911, 951, 974, 991, 3087];

impl View {
    /// The formats of firmware RAID whose signatures were found.
    pub(super) fn firmware_raids(&self) -> Vec<&'static str> {
        // Sectors count from the end of the last whole one.
        let end = self.bytes / 512 * 512;
        let at_end = |sectors: u64, magic: &[u8]| {
            end.checked_sub(sectors * 512).is_some_and(|o| self.has(o, magic))
        };
        let mut found = Vec::new();
        let mut add = |is_there: bool, name: &'static str| found.extend(is_there.then_some(name));
        // Two sectors before the end, of 512 or 4096 bytes.
        add([2, 16].iter().any(|s| at_end(*s, b"Intel Raid ISM Cfg Sig. ")), "imsm");
        // The anchor is in the last sector; some controllers keep it 256 sectors before.
        add([1, 257].iter().any(|s| at_end(*s, &[0xde, 0x11, 0xde, 0x11])), "ddf");
        add(at_end(1, b"$XIDE$"), "lsi_raid");
        add(at_end(2, b"NVIDIA"), "nvidia_raid");
        add(PROMISE.iter().any(|s| at_end(*s, b"Promise Technology, Inc.")), "promise_raid");
        add(at_end(1, &[0x37, 0xfc, 0x4d, 0x1e]), "adaptec_raid");
        // HPT 37x: sector 9, 32 bytes in; HPT 45x: 11 sectors before the end.
        let is_37x = matches!(self.u32_le(9 * 512 + 32), Some(0x5a78_16f0 | 0x5a78_16fd));
        let is_45x = end
            .checked_sub(11 * 512)
            .is_some_and(|o| matches!(self.u32_le(o), Some(0x5a78_16f3 | 0x5a78_16fd)));
        add(is_37x || is_45x, "highpoint_raid");
        if let Some(last) = end.checked_sub(512).and_then(|offset| self.at(offset, 512)) {
            add(is_via(last), "via_raid");
            add(is_silicon(last), "silicon_raid");
            add(is_jmicron(last), "jmicron_raid");
        }
        found
    }
}

fn word(bytes: &[u8], index: usize) -> u16 {
    u16::from_le_bytes([bytes[index * 2], bytes[index * 2 + 1]])
}

/// Magic 0xAA55, version 0 to 2, and the sum of the first 50 bytes behind them.
fn is_via(last: &[u8]) -> bool {
    let sum = last[..50].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    word(last, 0) == 0xaa55 && last[2] <= 2 && last[50] == sum
}

/// Magic 0x2F000000 at byte 0x60.
fn is_silicon(last: &[u8]) -> bool {
    last[0x60..0x64] == [0, 0, 0, 0x2f]
}

/// `JM`, and the sum of the first 64 words is 0 or 1.
fn is_jmicron(last: &[u8]) -> bool {
    let sum = (0..64).fold(0, |sum: u16, index| sum.wrapping_add(word(last, index)));
    last.starts_with(b"JM") && sum <= 1
}
