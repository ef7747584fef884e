//! What an NVMe drive says of its own wear: its SMART log (log page 02h of the base specification).

use super::{error_log, little, ocp, self_test, wide};
use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::nvme::{Controller, QUICK_MS, number, send};
use drivelab_core::facts::WearFacts;
use drivelab_core::queue::Trouble;

const GET_LOG_PAGE: u8 = 0x02;
const DEVICE_SELF_TEST: u8 = 0x14;
const SUPPORTED_LOGS: u8 = 0x00;
const SMART: u8 = 0x02;
const LOG_BYTES: usize = 512;
/// The log is one of the whole drive.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
/// Data units are thousands of blocks of 512 bytes, rounded up.
const UNIT_BYTES: u64 = 512_000;

/// From this version on a drive lists the logs that it has.
const LISTS_LOGS: u32 = 0x0002_0000;

/// Asks for it, and for those other logs that the drive says it has: a drive counts each question
/// that it does not know as an error.
pub(crate) fn of_nvme(
    line: &mut dyn Line,
    controller: Option<&Controller>,
) -> Result<WearFacts, Trouble> {
    let mut wear = read(&log(line, SMART, LOG_BYTES)?);
    let Some(controller) = controller else { return Ok(wear) };
    if controller.tests_itself() {
        add_self_test(line, &mut wear);
    }
    if has_ocp(line, controller) {
        add_ocp(line, &mut wear);
    }
    if wear.error_entries != Some(0) {
        add_errors(line, controller, &mut wear);
    }
    Ok(wear)
}

/// Asks again for what it told before.
pub(crate) fn again(line: &mut dyn Line, before: &WearFacts) -> Result<WearFacts, Trouble> {
    let mut wear = read(&log(line, SMART, LOG_BYTES)?);
    if before.self_test.is_some() {
        add_self_test(line, &mut wear);
    }
    if before.flash_written_bytes.is_some() {
        add_ocp(line, &mut wear);
    }
    if wear.error_entries == before.error_entries {
        wear.errors.clone_from(&before.errors);
    } else if let Ok(controller) = Controller::read(line) {
        add_errors(line, &controller, &mut wear);
    }
    Ok(wear)
}

/// Has the drive test itself while it goes on serving (Device Self-test, 5.9): the controller and
/// all namespaces.
pub(super) fn start_self_test(line: &mut dyn Line, number: u8) -> Result<(), Trouble> {
    let command = AdminCommand {
        opcode: DEVICE_SELF_TEST,
        namespace: ALL_NAMESPACES,
        dword_10: u32::from(number),
        timeout_ms: QUICK_MS,
    };
    send(line, "Device Self-test", command, &mut [])
}

fn add_self_test(line: &mut dyn Line, wear: &mut WearFacts) {
    let page = log(line, self_test::NVME_PAGE, self_test::NVME_BYTES);
    wear.self_test = page.ok().and_then(|page| self_test::of_nvme(&page));
    wear.self_test_failed = wear.self_test.as_ref().and_then(|test| test.last.as_ref()?.failed);
}

/// A log that cannot be read leaves its count, which is known.
fn add_errors(line: &mut dyn Line, controller: &Controller, wear: &mut WearFacts) {
    let entries = controller.error_entries().min(error_log::ENTRIES_ASKED_MAX);
    let page = log(line, error_log::PAGE, entries * error_log::ENTRY_BYTES);
    wear.errors = page.map(|page| error_log::read(&page)).unwrap_or_default();
}

fn add_ocp(line: &mut dyn Line, wear: &mut WearFacts) {
    if let Ok(page) = log(line, ocp::PAGE, ocp::BYTES) {
        ocp::add(&page, wear);
    }
}

/// Whether it has the log of datacenter drives: as log page 00h lists it (four bytes a page, bit 0:
/// supported). Older drives are asked where they have the persistent event log, which the OCP
/// specification requires and few other drives have.
fn has_ocp(line: &mut dyn Line, controller: &Controller) -> bool {
    match controller.version() >= LISTS_LOGS {
        true => log(line, SUPPORTED_LOGS, 1024)
            .is_ok_and(|list| little(&list, 4 * usize::from(ocp::PAGE), 4) & 1 == 1),
        false => controller.keeps_events(),
    }
}

/// One log page of the whole drive.
fn log(line: &mut dyn Line, page: u8, bytes: usize) -> Result<Vec<u8>, Trouble> {
    let mut data = vec![0; bytes];
    // Bits 31:16 of dword 10 say how many dwords are wanted, less one.
    let dword_10 = (bytes as u32 / 4 - 1) << 16 | u32::from(page);
    let command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        dword_10,
        timeout_ms: QUICK_MS,
    };
    send(line, &format!("Get Log Page {page:02X}h"), command, &mut data)?;
    Ok(data)
}

/// The composite temperature, in Kelvin; 0: it has none.
fn celsius(bytes: &[u8]) -> Option<i32> {
    let kelvin = little(bytes, 0, 2) as i32;
    (kelvin > 0).then(|| kelvin - 273)
}

/// Counters have 16 bytes; those that exceed eight are cut at the most that eight hold.
fn read(log: &[u8]) -> WearFacts {
    let counter = |offset: usize| u64::try_from(wide(log, offset)).unwrap_or(u64::MAX);
    // Transitions to each of two thermal states, and seconds in each.
    let thermal = |offset: usize| u64::from(number(log, offset));
    WearFacts {
        used_percent: Some(u32::from(log[5])),
        written_bytes: Some(counter(48).saturating_mul(UNIT_BYTES)),
        written_unit_bytes: Some(UNIT_BYTES),
        spare_percent: Some(u32::from(log[3])),
        media_errors: Some(counter(160)),
        critical_warning: log[0],
        spare_threshold_percent: Some(u32::from(log[4])),
        power_on_hours: Some(counter(128)),
        unsafe_shutdowns: Some(counter(144)),
        power_cycles: Some(counter(112)),
        busy_minutes: Some(counter(96)),
        error_entries: Some(counter(176)),
        throttled_times: Some(thermal(216) + thermal(220)),
        throttled_s: Some(thermal(224) + thermal(228)),
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
        let wear = of_nvme(&mut fake, None).unwrap();
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

    /// The log pages that are asked for, in their order.
    fn asked(fake: &Fake) -> Vec<u8> {
        let logs = fake.admin.iter().filter(|command| command.opcode == GET_LOG_PAGE);
        logs.map(|command| command.dword_10 as u8).collect()
    }

    #[test]
    fn a_drive_is_asked_only_for_logs_that_it_says_it_has() {
        let with = |version: u32, has_ocp: bool, keeps_events: bool, tests_itself: bool| {
            let mut fake = Fake::nvme(1);
            fake.controller[80..84].copy_from_slice(&version.to_le_bytes());
            fake.controller[256] |= if tests_itself { 0x10 } else { 0 };
            fake.controller[261] = if keeps_events { 0x10 } else { 0 };
            let mut list = vec![0; 1024];
            list[4 * 0xc0] = u8::from(has_ocp);
            fake.log_pages.insert(0x00, list);
            fake.log_pages.insert(0x06, self_test::tests::nvme(0, 0, 0x27, 9));
            fake.log_pages.insert(0xc0, ocp::tests::page(77, 1));
            let controller = Controller::read(&mut fake).unwrap();
            let wear = of_nvme(&mut fake, Some(&controller)).unwrap();
            let first = asked(&fake);
            fake.admin.clear();
            assert_eq!(again(&mut fake, &wear).unwrap(), wear);
            (wear, first, asked(&fake))
        };
        let (wear, first, later) = with(0x0002_0000, true, false, true);
        assert_eq!((wear.flash_written_bytes, wear.self_test_failed), (Some(77), Some(true)));
        assert_eq!((first, later), (vec![2, 6, 0, 0xc0], vec![2, 6, 0xc0]));
        let (wear, first, later) = with(0x0002_0000, false, true, false);
        assert_eq!((wear.flash_written_bytes, wear.self_test), (None, None));
        assert_eq!((first, later), (vec![2, 0], vec![2]));
        assert_eq!(with(0x0001_0400, true, false, false).1, [2], "it lists nothing");
        assert_eq!(with(0x0001_0400, false, true, false).1, [2, 0xc0]);
    }

    #[test]
    fn its_error_log_is_read_where_it_counts_errors_and_again_where_it_counts_more() {
        let mut fake = Fake::nvme(1);
        let smart = |count: u8| {
            let mut smart = vec![0; LOG_BYTES];
            smart[176] = count;
            smart
        };
        let entries = |numbers: &[u64]| -> Vec<u8> {
            let entry = |number: &u64| error_log::tests::entry(*number, 1, 0x281, 5, 1);
            numbers.iter().flat_map(entry).collect()
        };
        let numbers =
            |wear: &WearFacts| wear.errors.iter().map(|it| it.number).collect::<Vec<u64>>();
        fake.controller[262] = 2;
        fake.log_pages.insert(2, smart(0));
        let controller = Controller::read(&mut fake).unwrap();
        let none = of_nvme(&mut fake, Some(&controller)).unwrap();
        assert_eq!((asked(&fake), none.errors.len()), (vec![2], 0));
        fake.log_pages.insert(2, smart(2));
        fake.log_pages.insert(1, entries(&[2, 1]));
        let two = of_nvme(&mut fake, Some(&controller)).unwrap();
        assert_eq!(numbers(&two), [2, 1]);
        let last = fake.admin.last().unwrap().dword_10;
        assert_eq!(last, (3 * 16 - 1) << 16 | 1, "three entries, in dwords less one");
        fake.admin.clear();
        let same = again(&mut fake, &two).unwrap();
        assert_eq!((asked(&fake), numbers(&same)), (vec![2], vec![2, 1]));
        fake.log_pages.insert(2, smart(3));
        fake.log_pages.insert(1, entries(&[3, 2, 1]));
        assert_eq!(numbers(&again(&mut fake, &two).unwrap()), [3, 2, 1]);
        assert_eq!(asked(&fake), [2, 2, 1]);
    }

    #[test]
    fn a_drive_without_it_says_so() {
        let mut fake = Fake::nvme(1);
        fake.statuses.insert(GET_LOG_PAGE, 0x4002);
        assert!(of_nvme(&mut fake, None).unwrap_err().text.contains("002h"));
    }
}
