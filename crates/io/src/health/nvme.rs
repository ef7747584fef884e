//! What an NVMe drive says of its own wear: its SMART log (log page 02h of the base specification).

use super::little;
use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::nvme::{QUICK_MS, number, send};
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

/// The composite temperature, in Kelvin; 0: it has none.
fn celsius(bytes: &[u8]) -> Option<i32> {
    let kelvin = little(bytes, 0, 2) as i32;
    (kelvin > 0).then(|| kelvin - 273)
}

/// Counters have 16 bytes; those that exceed eight are cut at the most that eight hold.
fn read(log: &[u8; LOG_BYTES]) -> WearFacts {
    let counter = |offset: usize| {
        let bytes = log[offset..offset + 16].iter().rev();
        let value = bytes.fold(0u128, |value, byte| value << 8 | u128::from(*byte));
        u64::try_from(value).unwrap_or(u64::MAX)
    };
    WearFacts {
        used_percent: Some(u32::from(log[5])),
        written_bytes: Some(counter(48).saturating_mul(UNIT_BYTES)),
        spare_percent: Some(u32::from(log[3])),
        media_errors: Some(counter(160)),
        critical_warning: log[0],
        spare_threshold_percent: Some(u32::from(log[4])),
        power_on_hours: Some(counter(128)),
        unsafe_shutdowns: Some(counter(144)),
        warm_minutes: Some(number(log, 192)),
        hot_minutes: Some(number(log, 196)),
        read_bytes: Some(counter(32).saturating_mul(UNIT_BYTES)),
        temperature_c: celsius(&log[1..3]),
        ..WearFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passthrough::fake::Fake;

    #[test]
    fn the_log_is_that_of_the_specification() {
        let mut log = vec![0; LOG_BYTES];
        (log[0], log[3], log[4], log[5]) = (0b100, 98, 10, 7);
        log[1..3].copy_from_slice(&314u16.to_le_bytes());
        (log[32], log[128], log[144], log[192], log[196]) = (3, 200, 4, 5, 6);
        log[48..52].copy_from_slice(&2_000_000u32.to_le_bytes());
        log[160] = 3;
        let mut fake = Fake::nvme(1);
        fake.logs = vec![log];
        let wear = of_nvme(&mut fake).unwrap();
        assert_eq!((wear.used_percent, wear.spare_percent), (Some(7), Some(98)));
        assert_eq!((wear.media_errors, wear.temperature_c), (Some(3), Some(41)));
        assert_eq!(wear.written_bytes, Some(1_024_000_000_000));
        assert_eq!(wear.warnings(), ["its reliability is degraded by media or internal errors"]);
        assert_eq!((wear.spare_threshold_percent, wear.power_on_hours), (Some(10), Some(200)));
        assert_eq!((wear.unsafe_shutdowns, wear.read_bytes), (Some(4), Some(1_536_000)));
        assert_eq!((wear.warm_minutes, wear.hot_minutes), (Some(5), Some(6)));
        let asked = AdminCommand {
            opcode: 2,
            namespace: 0xffff_ffff,
            dword_10: 0x007f_0002,
            timeout_ms: 60_000,
        };
        assert_eq!(fake.admin, [asked]);
        let mut log = [0; LOG_BYTES];
        log[63] = 1;
        assert_eq!(read(&log).written_bytes, Some(u64::MAX));
        assert_eq!(read(&log).temperature_c, None);
    }

    #[test]
    fn a_drive_without_it_says_so() {
        let mut fake = Fake::nvme(1);
        fake.statuses.insert(GET_LOG_PAGE, 0x4002);
        assert!(of_nvme(&mut fake).unwrap_err().text.contains("002h"));
    }
}
