//! What written blocks hold, and what a stamp proves.
//!
//! A stamped unit is 4 KiB, or the request if that is smaller. It begins with magic, its own size,
//! byte address, seed, pass and a checksum (XXH3) over everything else in it.

use crate::plan::{Content, STAMP_UNIT_BYTES};
use drivelab_stats::Random;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// First seven bytes of every stamped unit; the eighth is the binary logarithm of its size.
pub const MAGIC: [u8; 7] = *b"drvlab1";
const HEADER_BYTES: usize = 40;

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
    /// The stamp covers this many bytes, more than were read at once.
    Unit(usize),
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
    /// Not the bytes that the plan names, from this address on.
    Data(u64),
    /// Another number than the one that was counted to.
    Number {
        /// What is there.
        found: u64,
        /// What belongs there.
        expected: u64,
    },
}

impl Fault {
    /// The fault in words, for a unit that should carry `expected`.
    pub fn describe(self, expected: &Stamp) -> String {
        match self {
            Fault::NoStamp => {
                "no stamp of drivelab here: written by something else, in larger requests than it \
                 is read, or destroyed"
                    .into()
            }
            Fault::Unit(bytes) => {
                format!("stamped in units of {bytes} bytes; read it in multiples of that")
            }
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
            Fault::Data(byte) => {
                format!("other bytes than `data` says, the first at offset {byte}")
            }
            Fault::Number { found, expected } => {
                format!("holds {found:#x} where {expected:#x} was to be written")
            }
            Fault::Checksum => "stamp right, content changed (checksum)".into(),
        }
    }
}

/// Prepares the buffer of a tag once; writes then only change what must differ.
pub fn prefill(content: Content, unit: usize, buffer: &mut [u8], random: &mut Random) {
    let zeros = match content {
        Content::Zero => unit,
        Content::Random | Content::Counting(_) => 0,
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

/// The words of a request that count up from `first`, for the part of `worker`; of the last word
/// that is not whole each byte is its own place.
fn counted(first: i32, worker: u32) -> impl FnMut(usize) -> [u8; 8] {
    let (first, upper) = (i64::from(first) as u64, u64::from(worker) << 32);
    move |word| (upper | first.wrapping_add(word as u64)).to_le_bytes()
}

/// Fills a request with words that count up.
pub fn count_up(first: i32, worker: u32, buffer: &mut [u8]) {
    let mut word_at = counted(first, worker);
    for (word, chunk) in buffer.chunks_mut(8).enumerate() {
        match chunk.len() {
            8 => chunk.copy_from_slice(&word_at(word)),
            _ => (0..).zip(chunk).for_each(|(at, byte)| *byte = (word * 8 + at) as u8),
        }
    }
}

/// Checks words that count up, in units of 4 KiB from the beginning of the request on: gives the
/// place of each unit that is not what was written, with the first word in it that is wrong, and
/// returns how many it looked at.
pub fn check_counting(
    (first, worker): (i32, u32),
    data: &[u8],
    mut faulty: impl FnMut(usize, Fault),
) -> u64 {
    let mut word_at = counted(first, worker);
    let units = data.chunks(STAMP_UNIT_BYTES);
    let count = units.len() as u64;
    for (index, unit) in units.enumerate() {
        let begins = index * STAMP_UNIT_BYTES / 8;
        let wrong = unit.chunks(8).enumerate().find_map(|(at, chunk)| {
            let word = begins + at;
            let mut expected = word_at(word);
            if chunk.len() < 8 {
                expected = std::array::from_fn(|byte| (word * 8 + byte) as u8);
                expected[chunk.len()..].fill(0);
            }
            let mut found = [0; 8];
            found[..chunk.len()].copy_from_slice(chunk);
            (found != expected).then(|| Fault::Number {
                found: u64::from_le_bytes(found),
                expected: u64::from_le_bytes(expected),
            })
        });
        if let Some(fault) = wrong {
            faulty(index * STAMP_UNIT_BYTES, fault);
        }
    }
    count
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
        chunk[..7].copy_from_slice(&MAGIC);
        chunk[7] = unit.ilog2() as u8;
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

/// The bytes that the stamp at the beginning of `data` claims to cover, if one is there.
fn claimed_bytes(data: &[u8]) -> Option<usize> {
    let is_stamp = data.len() >= HEADER_BYTES && data[..7] == MAGIC;
    (is_stamp && data[7] <= STAMP_UNIT_BYTES.ilog2() as u8)
        .then(|| 1 << data[7])
        .filter(|bytes| *bytes > HEADER_BYTES)
}

/// Whether `data`, read at byte `address`, begins with a whole stamp of that address; whose seed
/// and pass it is stays open.
pub fn is_stamped(data: &[u8], address: u64) -> bool {
    claimed_bytes(data).and_then(|bytes| data.get(..bytes)).is_some_and(|stamped| {
        word(stamped, 8) == address && checksum(stamped) == word(stamped, 32)
    })
}

/// Checks all units of `data`, which was read at `first.address`, whatever their size; `unit` is
/// the step from one to the next where no stamp says otherwise. Gives each fault with what was
/// expected there to `faulty`, and returns how many units it looked at.
pub fn check_all(
    unit: usize,
    data: &[u8],
    first: Stamp,
    pass_known: bool,
    mut faulty: impl FnMut(Stamp, Fault),
) -> u64 {
    let (mut at, mut count) = (0, 0);
    while at < data.len() {
        let rest = &data[at..];
        let claimed = claimed_bytes(rest);
        let bytes = claimed.unwrap_or(unit).min(rest.len());
        let expected = Stamp { address: first.address + at as u64, ..first };
        let result = match claimed {
            Some(claimed) if claimed > bytes => Err(Fault::Unit(claimed)),
            _ => check(&rest[..bytes], &expected, pass_known),
        };
        if let Err(fault) = result {
            faulty(expected, fault);
        }
        count += 1;
        // A damaged size must not make one fault into many.
        at += if result.is_ok() { bytes } else { bytes.max(unit) };
    }
    count
}

/// Checks one unit; `pass` only where the caller knows it.
///
/// # Errors
/// The first thing that is wrong, most telling first.
fn check(unit: &[u8], expected: &Stamp, pass_known: bool) -> Result<(), Fault> {
    if claimed_bytes(unit).is_none() {
        let zeros = unit.iter().all(|byte| *byte == 0);
        return Err(if zeros { Fault::Zeros } else { Fault::NoStamp });
    }
    let (address, seed, pass) = (word(unit, 8), word(unit, 16), word(unit, 24));
    if checksum(unit) != word(unit, 32) {
        return Err(Fault::Checksum);
    }
    if address != expected.address {
        return Err(Fault::Address(address));
    }
    if seed != expected.seed {
        return Err(Fault::Seed(seed));
    }
    if pass_known && pass != expected.pass {
        return Err(Fault::Pass(pass));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(address: u64, pass: u64) -> Vec<u8> {
        let mut buffer = vec![0; 2 * STAMP_UNIT_BYTES];
        prefill(Content::Random, STAMP_UNIT_BYTES, &mut buffer, &mut Random::new(1));
        stamp(STAMP_UNIT_BYTES, &mut buffer, Stamp { address, seed: 7, pass });
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

    /// The offsets and faults that a reader with units of `unit` bytes finds in `data`.
    fn faults(unit: usize, data: &[u8]) -> (u64, Vec<(u64, Fault)>) {
        let mut found = Vec::new();
        let first = Stamp { address: 8192, seed: 7, pass: 2 };
        let count =
            check_all(unit, data, first, true, |stamp, fault| found.push((stamp.address, fault)));
        (count, found)
    }

    #[test]
    fn units_of_any_size_are_read_with_any_request_that_holds_them() {
        let large = written(8192, 2);
        assert_eq!(faults(512, &large), (2, vec![]), "a reader's smaller unit");
        assert_eq!(faults(512, &large[..512]), (1, vec![(8192, Fault::Unit(4096))]));
        let mut small = vec![0; 4096];
        prefill(Content::Random, 512, &mut small, &mut Random::new(1));
        stamp(512, &mut small, Stamp { address: 8192, seed: 7, pass: 2 });
        assert_eq!(faults(4096, &small), (8, vec![]), "a reader's larger unit");
        small[600] ^= 1;
        assert_eq!(faults(512, &small), (8, vec![(8704, Fault::Checksum)]));
        assert_eq!(faults(4096, &small).1, vec![(8704, Fault::Checksum)]);
    }

    #[test]
    fn a_damaged_size_is_one_fault() {
        let good = written(8192, 2);
        for size in [0, 6, 9, 11, 13, 255] {
            let mut damaged = good.clone();
            damaged[7] = size;
            let (_, found) = faults(4096, &damaged);
            assert_eq!(found.len(), 1, "size byte {size}: {found:?}");
            assert_eq!(found[0].0, 8192);
        }
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
