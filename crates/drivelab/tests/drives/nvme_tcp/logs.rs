//! Log pages of the scripted drive.

use super::{Drive, put};

/// Data units of the log are thousands of blocks of 512 bytes, rounded up.
const UNIT: u64 = 512_000;
const OCP_GUID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;

/// The page of this number, where the drive has it.
pub fn page(drive: &Drive, number: u32) -> Option<Vec<u8>> {
    match number {
        0x01 => Some(errors(drive)),
        0x02 => Some(health(drive)),
        0x05 if drive.script.lists_commands > 0 => Some(commands(drive)),
        0x06 => Some(self_tests(drive)),
        0x81 => Some(sanitize_status(drive)),
        0xc0 if drive.script.flash_percent > 0 => Some(of_flash(drive)),
        _ => None,
    }
}

/// Entries that its error log keeps.
pub const ERRORS: u8 = 12;

/// Page 01h, the newest first: a command of admins that it does not know, a read that failed, and
/// an error that belongs to no command, in turn.
fn errors(drive: &Drive) -> Vec<u8> {
    let mut page = vec![0; 64 * usize::from(ERRORS)];
    let numbers = (1..=drive.errors()).rev();
    for (entry, number) in page.chunks_exact_mut(64).zip(numbers) {
        let (queue, command, status, lba, namespace): (u16, u16, u16, u64, u32) =
            match (number % 3, drive.has_failed()) {
                (0, false) => (0, 0x1f, 0x4001, 0, 0),
                (1, false) => (0xffff, 0xffff, 0x0006, 0, u32::MAX),
                _ => (1, 0x21, 0x4281, 1000 + number, 1),
            };
        put(entry, 0, &number.to_le_bytes());
        put(entry, 8, &queue.to_le_bytes());
        put(entry, 10, &command.to_le_bytes());
        put(entry, 12, &(status << 1).to_le_bytes());
        put(entry, 16, &lba.to_le_bytes());
        put(entry, 24, &namespace.to_le_bytes());
    }
    page
}

/// Page 02h.
fn health(drive: &Drive) -> Vec<u8> {
    let script = &drive.script;
    let mut page = vec![0; 512];
    let byte = |number: u64| u8::try_from(number).expect("a byte");
    page[0] = byte(script.critical_warning);
    put(&mut page, 1, &u16::try_from(script.celsius + 273).unwrap().to_le_bytes());
    page[3] = byte(script.spare_percent);
    page[4] = byte(script.spare_threshold_percent);
    page[5] = byte(script.used_percent);
    put(&mut page, 32, &(1_000_000 + drive.bytes_read.div_ceil(UNIT)).to_le_bytes());
    let counted = drive.bytes_written * script.counted_percent / 100;
    let written = script.units_written + counted.div_ceil(UNIT);
    put(&mut page, 48, &written.to_le_bytes());
    put(&mut page, 128, &1234u64.to_le_bytes());
    put(&mut page, 144, &script.unsafe_shutdowns.to_le_bytes());
    let errors = script.media_errors + if drive.has_failed() { 2 } else { 0 };
    put(&mut page, 160, &errors.to_le_bytes());
    put(&mut page, 176, &drive.errors().to_le_bytes());
    page
}

/// Page 05h: four bytes for each command that it knows, of admins first. Sanitize changes data.
fn commands(drive: &Drive) -> Vec<u8> {
    let mut page = vec![0; 4096];
    for opcode in [0x02, 0x06, 0x09, 0x0a, 0x0c, 0x14, 0x18] {
        page[4 * opcode] = 1;
    }
    if drive.script.lists_commands == 1 {
        page[4 * 0x84] = 0b11;
    }
    for opcode in [0x00, 0x01, 0x02, 0x08, 0x09] {
        page[1024 + 4 * opcode] = if opcode == 0x02 { 1 } else { 0b11 };
    }
    page
}

/// Page 06h: the newest of its tests, and how far it is.
fn self_tests(drive: &Drive) -> Vec<u8> {
    let mut page = vec![0; 564];
    page[4] = 0xf;
    let Some((begin, kind)) = drive.self_test else { return page };
    if drive.is_testing() {
        let span = u128::from(drive.script.self_test_s.max(1)) * 1000;
        page[0] = kind;
        page[1] = u8::try_from(begin.elapsed().as_millis() * 100 / span).unwrap();
        return page;
    }
    page[4] = kind << 4 | if drive.script.self_test_fails == 0 { 0 } else { 7 };
    put(&mut page, 8, &1234u64.to_le_bytes());
    page
}

/// Page C0h of the OCP specification.
fn of_flash(drive: &Drive) -> Vec<u8> {
    let mut page = vec![0; 512];
    let flash = (1 << 40) + drive.bytes_written * drive.script.flash_percent / 100;
    put(&mut page, 0, &flash.to_le_bytes());
    put(&mut page, 496, &OCP_GUID.to_le_bytes());
    page
}

/// Page 81h.
fn sanitize_status(drive: &Drive) -> Vec<u8> {
    let mut page = vec![0; 512];
    let Some(begin) = drive.sanitize else { return page };
    let span = drive.script.sanitize_s.max(1) * 1000;
    let done = u64::try_from(begin.elapsed().as_millis()).unwrap() * 65536 / span;
    let (progress, status) = match (drive.sanitizes(), drive.script.sanitize_fails) {
        (true, _) => (u16::try_from(done.min(65534)).unwrap(), 2),
        (false, 0) => (u16::MAX, 1),
        (false, _) => (u16::MAX, 3),
    };
    put(&mut page, 0, &progress.to_le_bytes());
    put(&mut page, 2, &u16::to_le_bytes(status));
    put(&mut page, 4, &2u32.to_le_bytes());
    page
}
