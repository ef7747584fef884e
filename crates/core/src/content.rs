//! What written blocks hold, and what a stamp proves.
//!
//! A stamped unit is 4 KiB, or the request if that is smaller. It begins with magic, byte address,
//! seed, pass and a checksum (XXH3) over everything else in it.

use crate::plan::{Content, Stream};
use drivelab_stats::Random;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// First eight bytes of every stamped unit.
pub const MAGIC: [u8; 8] = *b"drivelab";
/// Largest stamped unit in bytes.
pub const UNIT_BYTES: usize = 4096;
const HEADER_BYTES: usize = 40;

/// The stamped unit of a stream in bytes: 4 KiB, or less if requests or the grid are smaller.
pub fn unit_bytes(stream: &Stream) -> usize {
    let step = stream
        .weighted_sizes()
        .iter()
        .fold(stream.alignment(), |all, entry| greatest_common_divisor(all, entry.size.0));
    let step =
        if stream.shift.0 > 0 { greatest_common_divisor(step, stream.shift.0) } else { step };
    usize::try_from(greatest_common_divisor(step, UNIT_BYTES as u64)).unwrap_or(UNIT_BYTES)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// What a stamp says of the unit that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Byte offset of the unit in its file.
    pub address: u64,
    /// Seed of the plan that wrote it.
    pub seed: u64,
    /// Which pass wrote it.
    pub pass: u64,
}

/// Why a unit is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No stamp: never written by drivelab, or destroyed.
    NoStamp,
    /// All bytes are zero: a hole, a trimmed or a never-written block.
    Zeros,
    /// The stamp belongs to another address.
    Address(u64),
    /// Written under another seed.
    Seed(u64),
    /// Written in another pass: a lost or a too early overwrite.
    Pass(u64),
    /// The stamp is right and the rest is not: flipped bits.
    Checksum,
}

impl Fault {
    /// The fault in words, for a unit that should carry `expected`.
    pub fn describe(self, expected: &Stamp) -> String {
        match self {
            Fault::NoStamp => "no stamp of drivelab".into(),
            Fault::Zeros => "zeros instead of a stamp: never written, or trimmed".into(),
            Fault::Address(found) => {
                format!("holds the block of offset {found}, not of {}", expected.address)
            }
            Fault::Seed(found) => {
                format!("written under seed {found}, not {}", expected.seed)
            }
            Fault::Pass(found) if found < expected.pass => {
                format!("lost overwrite: pass {found} instead of {}", expected.pass)
            }
            Fault::Pass(found) => format!("pass {found} instead of {}", expected.pass),
            Fault::Checksum => "stamp right, content changed (checksum)".into(),
        }
    }
}

/// Prepares the buffer of a tag once; writes then only change what must differ.
pub fn prefill(content: Content, unit: usize, buffer: &mut [u8], random: &mut Random) {
    let zeros = match content {
        Content::Zero => unit,
        Content::Random => 0,
        Content::Compressible(percent) => unit * percent.min(100) as usize / 100,
    };
    for chunk in buffer.chunks_mut(unit.max(1)) {
        let zeros = zeros.min(chunk.len());
        chunk[..zeros].fill(0);
        for bytes in chunk[zeros..].chunks_mut(8) {
            bytes.copy_from_slice(&random.next_u64().to_le_bytes()[..bytes.len()]);
        }
    }
}

/// Makes a prefilled buffer unlike any earlier one, at the end of each unit.
#[inline]
pub fn make_unique(unit: usize, buffer: &mut [u8], address: u64, count: u64) {
    if unit < 16 {
        return;
    }
    for (index, chunk) in buffer.chunks_exact_mut(unit).enumerate() {
        let end = chunk.len();
        let address = address + (index * unit) as u64;
        chunk[end - 16..end - 8].copy_from_slice(&address.to_le_bytes());
        chunk[end - 8..].copy_from_slice(&count.to_le_bytes());
    }
}

/// Stamps every unit of a prefilled buffer that will be written at `stamp.address`.
pub fn stamp(unit: usize, buffer: &mut [u8], stamp: Stamp) {
    for (index, chunk) in buffer.chunks_exact_mut(unit).enumerate() {
        let address = stamp.address + (index * unit) as u64;
        chunk[..8].copy_from_slice(&MAGIC);
        chunk[8..16].copy_from_slice(&address.to_le_bytes());
        chunk[16..24].copy_from_slice(&stamp.seed.to_le_bytes());
        chunk[24..32].copy_from_slice(&stamp.pass.to_le_bytes());
        let checksum = checksum(chunk);
        chunk[32..40].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn checksum(unit: &[u8]) -> u64 {
    xxh3_64_with_seed(&unit[HEADER_BYTES..], xxh3_64(&unit[..32]))
}

fn word(unit: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&unit[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// The stamp of a unit, if it carries one, whatever it says.
pub fn read_stamp(unit: &[u8]) -> Option<Stamp> {
    (unit.len() >= HEADER_BYTES && unit[..8] == MAGIC).then(|| Stamp {
        address: word(unit, 8),
        seed: word(unit, 16),
        pass: word(unit, 24),
    })
}

/// Checks one unit; `pass` only where the caller knows it.
///
/// # Errors
/// The first thing that is wrong, most telling first.
pub fn check(unit: &[u8], expected: &Stamp, pass_known: bool) -> Result<(), Fault> {
    let Some(found) = read_stamp(unit) else {
        let zeros = unit.iter().all(|byte| *byte == 0);
        return Err(if zeros { Fault::Zeros } else { Fault::NoStamp });
    };
    if checksum(unit) != word(unit, 32) {
        return Err(Fault::Checksum);
    }
    if found.address != expected.address {
        return Err(Fault::Address(found.address));
    }
    if found.seed != expected.seed {
        return Err(Fault::Seed(found.seed));
    }
    if pass_known && found.pass != expected.pass {
        return Err(Fault::Pass(found.pass));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(address: u64, pass: u64) -> Vec<u8> {
        let mut buffer = vec![0; 2 * UNIT_BYTES];
        prefill(Content::Random, UNIT_BYTES, &mut buffer, &mut Random::new(1));
        stamp(UNIT_BYTES, &mut buffer, Stamp { address, seed: 7, pass });
        buffer
    }

    #[test]
    fn each_fault_is_told_apart() {
        let expected = Stamp { address: 8192, seed: 7, pass: 2 };
        let good = written(8192, 2);
        assert_eq!(check(&good[..4096], &expected, true), Ok(()));
        for bit in [0, 70, 200, 4096 * 8 - 1] {
            let mut flipped = good[..4096].to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let fault = check(&flipped, &expected, true).unwrap_err();
            assert_eq!(fault, if bit < 64 { Fault::NoStamp } else { Fault::Checksum }, "bit {bit}");
        }
        assert_eq!(check(&good[4096..], &expected, true), Err(Fault::Address(12288)));
        assert_eq!(check(&written(8192, 1)[..4096], &expected, true), Err(Fault::Pass(1)));
        assert_eq!(check(&written(8192, 1)[..4096], &expected, false), Ok(()));
        assert_eq!(check(&[0; 4096], &expected, true), Err(Fault::Zeros));
        let other = Stamp { seed: 8, ..expected };
        assert_eq!(check(&good[..4096], &other, true), Err(Fault::Seed(7)));
    }

    #[test]
    fn compressible_content_has_the_promised_share_of_zeros() {
        let mut buffer = vec![1; 64 * 4096];
        prefill(Content::Compressible(50), 4096, &mut buffer, &mut Random::new(3));
        let zeros = buffer.iter().filter(|byte| **byte == 0).count() as f64;
        assert!((zeros / buffer.len() as f64 - 0.502).abs() < 0.002);
        prefill(Content::Zero, 4096, &mut buffer, &mut Random::new(3));
        assert!(buffer.iter().all(|byte| *byte == 0));
    }
}
