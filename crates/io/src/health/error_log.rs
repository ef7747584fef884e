//! What an NVMe drive noted of commands that failed: log page 01h (NVM Express Base Specification
//! 2.0c, 5.16.1.2, figure "Error Information Log Entry Data Structure").

use super::little;
use drivelab_core::facts::ErrorEntry;

/// Its number.
pub const PAGE: u8 = 0x01;
/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 64;
/// Entries that are asked for at most.
pub const ENTRIES_ASKED_MAX: usize = 64;
/// Entries that are kept.
pub const ENTRIES_MAX: usize = 8;

/// What belongs to no command has this for its queue and its command.
const NO_COMMAND: u64 = 0xffff;
const ADMIN_QUEUE: u64 = 0;
const ALL_NAMESPACES: u64 = 0xffff_ffff;
/// From this version of an entry on it tells the opcode.
const TELLS_OPCODE: u8 = 1;

/// The newest entries, the newest first. A place without an entry has the number 0.
pub fn read(page: &[u8]) -> Vec<ErrorEntry> {
    let mut entries: Vec<ErrorEntry> =
        page.chunks_exact(ENTRY_BYTES).filter(|data| little(data, 0, 8) != 0).map(entry).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.number));
    entries.truncate(ENTRIES_MAX);
    entries
}

fn entry(data: &[u8]) -> ErrorEntry {
    let (queue, command) = (little(data, 8, 2), little(data, 10, 2));
    // Bit 0 may be the phase of the completion; bits 15:12 say how often to try again and more.
    let status = little(data, 12, 2) >> 1;
    let (status_code, status_type) = (status as u8, (status >> 8) as u8 & 0b111);
    let of_command = |number: u64| (number != NO_COMMAND).then_some(number as u16);
    let has_blocks = queue != ADMIN_QUEUE && queue != NO_COMMAND;
    let lba = little(data, 16, 8);
    let namespace = little(data, 24, 4);
    ErrorEntry {
        number: little(data, 0, 8),
        queue: of_command(queue),
        command_id: of_command(command),
        opcode: (data[63] >= TELLS_OPCODE && queue != NO_COMMAND).then_some(data[31]),
        status_type,
        status_code,
        status: words(status_type, status_code).to_owned(),
        lba: Some(lba).filter(|lba| has_blocks && *lba != u64::MAX),
        namespace: Some(namespace)
            .filter(|it| *it != 0 && *it != ALL_NAMESPACES)
            .map(|namespace| namespace as u32),
    }
}

/// A status in words (figures "Generic Command Status Values", "Command Specific Status Values",
/// "Media and Data Integrity Error Values" and "Path Related Status Values", and those of the NVM
/// Command Set Specification 1.0c).
fn words(status_type: u8, status_code: u8) -> &'static str {
    match (status_type, status_code) {
        (0, code) => generic(code),
        (1, 0x09) => "no such log page",
        (1, 0x0a) => "no such format",
        (1, 0x0d) => "the feature cannot be saved",
        (1, 0x0e) => "the feature cannot be changed",
        (1, 0x0f) => "the feature is not that of a namespace",
        (1, 0x1d) => "a self-test is going on",
        (1, 0x80) => "attributes that contradict each other",
        (1, 0x81) => "protection information that makes no sense",
        (1, 0x82) => "a write to what is read-only",
        (1, 0xb8) => "an error at the boundary of a zone",
        (1, 0xb9) => "a zone that is full",
        (1, 0xba) => "a zone that is read-only",
        (1, 0xbb) => "a zone that is offline",
        (1, 0xbc) => "a write that does not continue its zone",
        (1, 0xbd) => "too many active zones",
        (1, 0xbe) => "too many open zones",
        (1, _) => "a status of this command",
        (2, 0x80) => "a write fault",
        (2, 0x81) => "data that could not be read",
        (2, 0x82) => "a wrong guard in the protection information",
        (2, 0x83) => "a wrong application tag in the protection information",
        (2, 0x84) => "a wrong reference tag in the protection information",
        (2, 0x85) => "a compare of data that differ",
        (2, 0x86) => "access denied",
        (2, 0x87) => "blocks that were never written, or trimmed",
        (2, _) => "an error of media or data",
        (3, _) => "an error of the path",
        (7, _) => "a status of its maker",
        _ => "a status of no known type",
    }
}

fn generic(code: u8) -> &'static str {
    match code {
        0x00 => "no error",
        0x01 => "a command that it does not know",
        0x02 => "a field that it does not take",
        0x03 => "a command identifier in use",
        0x04 => "an error while data was transferred",
        0x05 => "a command stopped because power was lost",
        0x06 => "an internal error",
        0x07 => "a command stopped because that was asked for",
        0x08 => "a command stopped because its queue was deleted",
        0x0b => "a namespace or format that it does not have",
        0x0c => "commands in the wrong order",
        0x15 => "an operation that is denied",
        0x1c => "a sanitize that failed",
        0x1d => "a sanitize that goes on",
        0x20 => "a namespace that is write protected",
        0x80 => "blocks beyond its end",
        0x81 => "no room left",
        0x82 => "a namespace that is not ready",
        0x83 => "a reservation of another host",
        0x84 => "a format that goes on",
        _ => "a generic status",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An entry of the NVM command set: its number, queue, status, block and namespace.
    pub fn entry(number: u64, queue: u16, status: u16, lba: u64, namespace: u32) -> Vec<u8> {
        let mut data = vec![0; ENTRY_BYTES];
        data[..8].copy_from_slice(&number.to_le_bytes());
        data[8..10].copy_from_slice(&queue.to_le_bytes());
        data[10..12].copy_from_slice(&0x0123u16.to_le_bytes());
        data[12..14].copy_from_slice(&(status << 1 | 1).to_le_bytes());
        data[16..24].copy_from_slice(&lba.to_le_bytes());
        data[24..28].copy_from_slice(&namespace.to_le_bytes());
        (data[31], data[63]) = (2, 1);
        data
    }

    #[test]
    fn an_entry_has_its_fields() {
        let found = read(&entry(9, 3, 0x4281, 77, 1));
        let expected = ErrorEntry {
            number: 9,
            queue: Some(3),
            command_id: Some(0x123),
            opcode: Some(2),
            status_type: 2,
            status_code: 0x81,
            status: "data that could not be read".into(),
            lba: Some(77),
            namespace: Some(1),
        };
        assert_eq!(found, [expected]);
        let words = "data that could not be read (281h) at block 77 of namespace 1";
        assert_eq!(found[0].words(), words);
    }

    #[test]
    fn what_does_not_apply_is_left_out() {
        let of_admin = read(&entry(1, 0, 0x002, 5, 0)).remove(0);
        assert_eq!((of_admin.lba, of_admin.namespace), (None, None), "no blocks");
        assert_eq!(of_admin.words(), "a field that it does not take (002h)");
        let mut of_nothing = entry(1, 0xffff, 0x006, u64::MAX, u32::MAX);
        (of_nothing[10], of_nothing[11]) = (0xff, 0xff);
        let of_nothing = read(&of_nothing).remove(0);
        assert_eq!((of_nothing.queue, of_nothing.command_id), (None, None));
        assert_eq!((of_nothing.opcode, of_nothing.lba), (None, None));
        let mut old = entry(1, 1, 0x280, 5, 1);
        old[63] = 0;
        assert_eq!(read(&old)[0].opcode, None, "an older entry has no opcode");
        assert_eq!(read(&entry(1, 1, 0x280, u64::MAX, 1))[0].lba, None);
    }

    #[test]
    fn the_newest_come_first_and_only_some_are_kept() {
        let numbers = [3u64, 0, 5, 4].into_iter().chain(6..20);
        let page: Vec<u8> = numbers.flat_map(|number| entry(number, 1, 0x281, 0, 1)).collect();
        let kept: Vec<u64> = read(&page).iter().map(|entry| entry.number).collect();
        assert_eq!(kept, (12..20).rev().collect::<Vec<u64>>());
        assert_eq!(read(&[1; 63]), [], "cut off");
    }

    #[test]
    fn each_status_has_words_and_no_other_type_takes_them() {
        let mut told = std::collections::BTreeMap::new();
        for status_type in 0..8 {
            for status_code in 0..=255 {
                let words = words(status_type, status_code);
                assert!(!words.is_empty());
                let types = told.entry(words).or_insert(status_type);
                let is_shared = words == "a status of no known type";
                assert!(*types == status_type || is_shared, "{words}");
            }
        }
        assert_eq!(words(7, 0x81), "a status of its maker");
        assert_eq!(words(3, 0x00), "an error of the path");
        assert_eq!(words(5, 0x81), "a status of no known type");
    }
}
