//! What an ATA drive says of its passwords and its erase (IDENTIFY DEVICE), and the blocks that
//! carry a password.

use super::WAY_OUT;
use drivelab_core::queue::Trouble;

/// Bytes of an ATA block.
pub const BLOCK_BYTES: usize = 512;

/// The user password of an ATA drive while it is erased. It is no secret: a drive whose erase was
/// cut short must be unlocked by whoever finds it.
pub const PASSWORD: &str = "drivelab";

/// A minute.
const MINUTE_MS: u64 = 60_000;
/// Where the drive does not say how long it takes.
const UNKNOWN_MINUTES: u64 = 24 * 60;
/// Beyond this the kernel reads a timeout as none at all.
const TIMEOUT_MAX_MS: u64 = i32::MAX as u64;

/// Words of the answer to IDENTIFY DEVICE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Security {
    /// Word 128, security status.
    status: u16,
    /// Word 89, time of a normal erase.
    erase_time: u16,
}

impl Security {
    /// Reads the answer.
    pub fn read(identity: &[u8; BLOCK_BYTES]) -> Result<Self, Trouble> {
        let word =
            |index: usize| u16::from_le_bytes([identity[2 * index], identity[2 * index + 1]]);
        let sum = identity.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        // Word 255: a signature, and then a byte that makes the sum of all 0.
        let is_damaged = word(255) & 0xff == 0xa5 && sum != 0;
        if is_damaged || identity.iter().all(|byte| *byte == 0) {
            return Err(Trouble::failed(format!(
                "the answer to IDENTIFY DEVICE is damaged; connect the drive without adapter. \
                 {WAY_OUT}"
            )));
        }
        Ok(Security { status: word(128), erase_time: word(89) })
    }

    fn bit(self, bit: u32) -> bool {
        self.status >> bit & 1 == 1
    }

    /// Whether a user password is set.
    pub fn is_enabled(self) -> bool {
        self.bit(1)
    }

    /// Why it must not be erased now.
    pub fn refusal(self) -> Option<Trouble> {
        let (is_supported, is_locked, is_frozen, is_expired) =
            (self.bit(0) && self.status != u16::MAX, self.bit(2), self.bit(3), self.bit(4));
        let why = if !is_supported {
            "the drive has no ATA security commands".to_owned()
        } else if is_frozen {
            "the drive's security is frozen, as most firmware does at boot; suspend the machine \
             and wake it, or unplug the drive's power and plug it in again, then repeat"
                .to_owned()
        } else if is_locked && is_expired {
            "the drive is locked, and too many wrong passwords were tried; unplug its power, plug \
             it in again, and unlock it: hdparm --security-unlock PASSWORD DEVICE"
                .to_owned()
        } else if is_locked {
            format!(
                "the drive is locked by a password; unlock it, and take the password off: hdparm \
                 --security-unlock PASSWORD DEVICE, then hdparm --security-disable PASSWORD \
                 DEVICE (\"{PASSWORD}\" where an erase by drivelab was cut short)"
            )
        } else if self.is_enabled() {
            format!(
                "a password is set on the drive; take it off: hdparm --security-disable PASSWORD \
                 DEVICE (\"{PASSWORD}\" where an erase by drivelab was cut short)"
            )
        } else {
            return None;
        };
        Some(Trouble::usage(why))
    }

    /// How long the drive says that a normal erase takes. The largest value means "more than".
    pub fn erase_minutes(self) -> Option<u64> {
        let is_extended = self.erase_time >> 15 == 1;
        let mask = if is_extended { 0x7fff } else { 0xff };
        let twos = u64::from(self.erase_time & mask);
        (twos != 0).then_some(2 * twos)
    }

    /// When to give the erase up: far beyond the estimate, because a drive that is interrupted
    /// stays locked.
    pub fn erase_timeout_ms(self) -> u32 {
        let minutes = match self.erase_minutes() {
            None => UNKNOWN_MINUTES,
            Some(510) if self.erase_time >> 15 == 0 => 4 * UNKNOWN_MINUTES,
            Some(minutes) => 3 * minutes + 60,
        };
        u32::try_from((minutes * MINUTE_MS).min(TIMEOUT_MAX_MS)).unwrap_or(i32::MAX as u32)
    }
}

/// The block that goes with a password. Word 0 is 0: the user password, security level high (so
/// that the master password can unlock too), normal erase.
pub fn password_block() -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[2..2 + PASSWORD.len()].copy_from_slice(PASSWORD.as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::queue::TroubleKind;

    fn identity(status: u16, erase_time: u16) -> [u8; BLOCK_BYTES] {
        let mut identity = [0; BLOCK_BYTES];
        identity[0] = 0x40;
        identity[178..180].copy_from_slice(&erase_time.to_le_bytes());
        identity[256..258].copy_from_slice(&status.to_le_bytes());
        identity
    }

    fn read(status: u16, erase_time: u16) -> Security {
        Security::read(&identity(status, erase_time)).unwrap()
    }

    #[test]
    fn each_unsuitable_state_has_its_own_sentence() {
        let states = [
            (0x0000, "no ATA security"),
            (0xffff, "no ATA security"),
            (0x0009, "frozen"),
            (0x000b, "frozen"),
            (0x0007, "is locked by a password"),
            (0x0017, "too many wrong passwords"),
            (0x0003, "a password is set"),
        ];
        for (status, words) in states {
            let trouble = read(status, 2).refusal().unwrap();
            assert_eq!(trouble.kind, TroubleKind::Usage);
            assert!(trouble.text.contains(words), "{status:#06x}: {trouble}");
        }
        assert_eq!(read(0x0001, 2).refusal(), None);
        assert_eq!(read(0x0021, 2).refusal(), None);
    }

    #[test]
    fn times_of_both_formats_are_read() {
        assert_eq!(read(1, 0).erase_minutes(), None);
        assert_eq!(read(1, 1).erase_minutes(), Some(2));
        assert_eq!(read(1, 0x7f01).erase_minutes(), Some(2));
        assert_eq!(read(1, 0x8000).erase_minutes(), None);
        assert_eq!(read(1, 0x8200).erase_minutes(), Some(1024));
    }

    #[test]
    fn the_erase_is_given_far_more_time_than_it_says() {
        assert_eq!(read(1, 1).erase_timeout_ms(), 66 * 60_000);
        assert_eq!(read(1, 0).erase_timeout_ms(), 24 * 3_600_000);
        assert_eq!(read(1, 0xff).erase_timeout_ms(), 96 * 3_600_000);
        assert_eq!(read(1, 0x80ff).erase_timeout_ms(), (3 * 510 + 60) * 60_000);
        assert_eq!(read(1, 0xffff).erase_timeout_ms(), i32::MAX as u32);
    }

    #[test]
    fn a_damaged_answer_is_no_answer() {
        let mut signed = identity(1, 1);
        signed[510] = 0xa5;
        let sum = signed.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        signed[511] = sum.wrapping_neg();
        assert_eq!(Security::read(&signed), Ok(read(1, 1)));
        signed[300] ^= 1;
        Security::read(&signed).unwrap_err();
        Security::read(&[0; BLOCK_BYTES]).unwrap_err();
    }

    #[test]
    fn the_block_of_a_password_is_that_of_the_specification() {
        let block = password_block();
        assert_eq!(block[..2], [0, 0]);
        assert_eq!(&block[2..34], b"drivelab\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert!(block[34..].iter().all(|byte| *byte == 0));
    }
}
