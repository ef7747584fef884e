//! An ATA drive's SMART data and thresholds.
//!
//! ACS-4 (INCITS 529), 7.45, has the commands, the status of the last self-test and the checksum
//! (SMART READ DATA, table "Device SMART data structure"). What it calls vendor specific in bytes 0
//! to 361 is filled as SFF-8035i, revision 2, has it: 30 attributes of 12 bytes from byte 2.

use super::little;

/// Bytes of either answer.
pub const BYTES: usize = 512;
const ATTRIBUTES: usize = 30;
const ATTRIBUTE_BYTES: usize = 12;
const FIRST: usize = 2;
/// Byte 363: self-test execution status, whose upper half says how the last one ended.
const SELF_TEST: usize = 363;
/// Byte 367: what it can do while it is not asked for anything; bit 4: self-tests.
const CAPABILITIES: usize = 367;
/// Bit 0 of the flags: below its threshold it tells of a failure, not of age.
const PRE_FAILURE: u64 = 1;

/// One attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute {
    /// Its number, 1 to 255.
    pub number: u8,
    /// Whether it tells of a failure once it is at its threshold.
    pub is_pre_failure: bool,
    /// Its normalised value; it sinks. 0, 254 and 255 mean nothing.
    pub value: u8,
    /// The raw value of 48 bits, whose meaning is the maker's.
    pub raw: u64,
    /// At or below which it tells; 0 where it never does.
    pub threshold: u8,
}

impl Attribute {
    /// Whether it has reached its threshold.
    pub fn is_at_threshold(&self) -> bool {
        (1..=253).contains(&self.value) && self.threshold > 0 && self.value <= self.threshold
    }

    /// Its raw value as a count: `None` where the upper bytes hold something else as well.
    pub fn count(&self) -> Option<u64> {
        (self.raw >> 32 == 0).then_some(self.raw)
    }
}

/// What SMART READ DATA and SMART READ THRESHOLDS answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Smart {
    /// In the drive's order, each number once.
    pub attributes: Vec<Attribute>,
    /// Whether it has self-tests.
    pub tests_itself: bool,
    /// Self-test execution status; `None` where it was not told.
    pub self_test: Option<u8>,
}

impl Smart {
    /// Reads both answers; `None` where the data is damaged. Damaged thresholds count as none.
    pub fn read(data: &[u8], thresholds: &[u8]) -> Option<Smart> {
        if !is_whole(data) {
            return None;
        }
        let threshold_of = |number: u8| {
            let mut all = entries(thresholds).filter(|_| is_whole(thresholds));
            all.find(|entry| entry[0] == number).map_or(0, |entry| entry[1])
        };
        let mut attributes: Vec<Attribute> = Vec::new();
        for entry in entries(data).filter(|entry| entry[0] != 0) {
            let number = entry[0];
            if attributes.iter().any(|known| known.number == number) {
                continue;
            }
            attributes.push(Attribute {
                number,
                is_pre_failure: little(entry, 1, 2) & PRE_FAILURE != 0,
                value: entry[3],
                raw: little(entry, 5, 6),
                threshold: threshold_of(number),
            });
        }
        let tests_itself = data[CAPABILITIES] & 1 << 4 != 0;
        Some(Smart { attributes, tests_itself, self_test: Some(data[SELF_TEST]) })
    }

    /// Whether the last self-test ended with a failure of some part of the drive: 3 to 8 in the
    /// upper half of its status. `None` while one goes on.
    pub fn self_test_failed(&self) -> Option<bool> {
        let ended = self.self_test.map(|status| status >> 4).filter(|ended| *ended != 0xf);
        ended.map(|ended| (3..=8).contains(&ended))
    }

    /// The attribute of this number.
    pub fn attribute(&self, number: u8) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.number == number)
    }

    /// Those that tell of a failure now, in words.
    pub fn failing(&self) -> Vec<String> {
        let failing =
            |attribute: &&Attribute| attribute.is_pre_failure && attribute.is_at_threshold();
        let words = |attribute: &Attribute| {
            let Attribute { number, value, threshold, .. } = attribute;
            format!("SMART attribute {number} is {value}, its threshold {threshold}")
        };
        self.attributes.iter().filter(failing).map(words).collect()
    }
}

/// All bytes add up to 0 in eight bits, and not all of them are 0.
fn is_whole(data: &[u8]) -> bool {
    let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    data.len() == BYTES && sum == 0 && data.iter().any(|byte| *byte != 0)
}

fn entries(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.get(FIRST..).unwrap_or_default().chunks_exact(ATTRIBUTE_BYTES).take(ATTRIBUTES)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Number, flags, value, raw.
    pub type Planted = (u8, u16, u8, u64);

    pub fn sealed(mut data: Vec<u8>) -> Vec<u8> {
        data[BYTES - 1] = 0;
        let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        data[BYTES - 1] = sum.wrapping_neg();
        data
    }

    pub fn data(attributes: &[Planted]) -> Vec<u8> {
        let mut data = vec![0; BYTES];
        data[0] = 16;
        for (index, (number, flags, value, raw)) in attributes.iter().enumerate() {
            let entry = &mut data[2 + 12 * index..][..12];
            entry[0] = *number;
            entry[1..3].copy_from_slice(&flags.to_le_bytes());
            entry[3] = *value;
            entry[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
        }
        sealed(data)
    }

    pub fn thresholds(all: &[(u8, u8)]) -> Vec<u8> {
        let mut data = vec![0; BYTES];
        data[0] = 16;
        for (index, (number, threshold)) in all.iter().enumerate() {
            (data[2 + 12 * index], data[3 + 12 * index]) = (*number, *threshold);
        }
        sealed(data)
    }

    #[test]
    fn attributes_have_their_places() {
        let data = data(&[(5, 0x33, 100, 3), (9, 0x32, 99, 0x0102_0304_0506)]);
        let smart = Smart::read(&data, &thresholds(&[(9, 0), (5, 10)])).unwrap();
        let first =
            Attribute { number: 5, is_pre_failure: true, value: 100, raw: 3, threshold: 10 };
        assert_eq!(smart.attribute(5), Some(&first));
        assert_eq!(smart.attribute(5).unwrap().count(), Some(3));
        assert_eq!(smart.attribute(9).unwrap().raw, 0x0102_0304_0506);
        assert_eq!(smart.attribute(9).unwrap().count(), None, "its maker packs more into it");
        assert_eq!((smart.failing().len(), smart.self_test_failed()), (0, Some(false)));
    }

    #[test]
    fn only_pre_failure_attributes_at_their_threshold_tell_of_a_failure() {
        let data = data(&[(5, 1, 10, 9), (9, 0, 1, 9), (7, 1, 255, 0), (8, 1, 11, 0)]);
        let thresholds = thresholds(&[(5, 10), (9, 10), (7, 255), (8, 10)]);
        let smart = Smart::read(&data, &thresholds).unwrap();
        assert_eq!(smart.failing(), ["SMART attribute 5 is 10, its threshold 10"]);
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let mut damaged = data(&[(5, 1, 10, 9)]);
        damaged[100] ^= 1;
        assert_eq!(Smart::read(&damaged, &[]), None);
        assert_eq!(Smart::read(&[0; BYTES], &[0; BYTES]), None);
        assert_eq!(Smart::read(&[], &[]), None);
        let whole = data(&[(5, 1, 10, 9)]);
        let mut thresholds = thresholds(&[(5, 10)]);
        thresholds[100] ^= 1;
        assert_eq!(Smart::read(&whole, &thresholds).unwrap().failing(), [""; 0]);
    }

    #[test]
    fn a_failed_self_test_is_told() {
        let ended = [(0x00, Some(false)), (0x10, Some(false)), (0x70, Some(true)), (0xf5, None)];
        for (status, failed) in ended {
            let mut data = data(&[(5, 1, 100, 0)]);
            data[SELF_TEST] = status;
            let smart = Smart::read(&sealed(data), &[]).unwrap();
            assert_eq!(smart.self_test_failed(), failed, "{status:02x}");
        }
    }
}
