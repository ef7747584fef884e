//! What an NVMe drive says of its own wear: its SMART log (log page 02h of the base specification).

use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::nvme::{QUICK_MS, send};
use drivelab_core::facts::WearFacts;
use drivelab_core::queue::Trouble;

const GET_LOG_PAGE: u8 = 0x02;
const SMART: u32 = 0x02;
const LOG_BYTES: usize = 512;
/// The log is one of the whole drive.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
/// Data units are thousands of blocks of 512 bytes, rounded up.
const UNIT_BYTES: u64 = 512_000;

/// Asks for it.
pub(crate) fn of_nvme(line: &mut dyn Line) -> Result<WearFacts, Trouble> {
    let mut log = [0; LOG_BYTES];
    // Bits 31:16 of dword 10 say how many dwords are wanted, less one.
    let dword_10 = (LOG_BYTES as u32 / 4 - 1) << 16 | SMART;
    let command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        dword_10,
        timeout_ms: QUICK_MS,
    };
    send(line, "Get Log Page 02h", command, &mut log)?;
    Ok(read(&log))
}

/// Counters have 16 bytes; those that exceed eight are cut at the most that eight hold.
fn read(log: &[u8; LOG_BYTES]) -> WearFacts {
    let counter = |offset: usize| {
        let bytes = log[offset..offset + 16].iter().rev();
        let value = bytes.fold(0u128, |value, byte| value << 8 | u128::from(*byte));
        u64::try_from(value).unwrap_or(u64::MAX)
    };
    WearFacts {
        used_percent: u32::from(log[5]),
        written_bytes: counter(48).saturating_mul(UNIT_BYTES),
        spare_percent: u32::from(log[3]),
        media_errors: counter(160),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passthrough::fake::Fake;

    #[test]
    fn the_log_is_that_of_the_specification() {
        let mut log = vec![0; LOG_BYTES];
        (log[3], log[5]) = (98, 7);
        log[48..52].copy_from_slice(&2_000_000u32.to_le_bytes());
        log[160] = 3;
        let mut fake = Fake::nvme(1);
        fake.logs = vec![log];
        let wear = of_nvme(&mut fake).unwrap();
        assert_eq!((wear.used_percent, wear.spare_percent, wear.media_errors), (7, 98, 3));
        assert_eq!(wear.written_bytes, 1_024_000_000_000);
        let asked = AdminCommand {
            opcode: 2,
            namespace: 0xffff_ffff,
            dword_10: 0x007f_0002,
            timeout_ms: 60_000,
        };
        assert_eq!(fake.admin, [asked]);
        let mut log = [0; LOG_BYTES];
        log[63] = 1;
        assert_eq!(read(&log).written_bytes, u64::MAX);
    }

    #[test]
    fn a_drive_without_it_says_so() {
        let mut fake = Fake::nvme(1);
        fake.statuses.insert(GET_LOG_PAGE, 0x4002);
        assert!(of_nvme(&mut fake).unwrap_err().text.contains("002h"));
    }
}
