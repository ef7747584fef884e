//! Names as numbers: where they stand in a hashed directory, and where they are found here.

use std::hash::{BuildHasherDefault, Hasher};

/// A name in a directory, as 64 bits that are spread evenly; the upper half is its hash there.
pub(super) fn mixed(directory: u32, name: &[u8]) -> u64 {
    let start = 0xCBF2_9CE4_8422_2325 ^ u64::from(directory).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    scrambled(name.iter().fold(start, fold))
}

/// The finaliser of splitmix64.
fn scrambled(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

/// Tables whose keys are numbers, the same in every run.
pub(super) type Keyed = BuildHasherDefault<NumberHasher>;

/// Scrambles one number.
#[derive(Debug, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = scrambled(self.0 ^ number);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }
}
