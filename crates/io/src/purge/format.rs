//! NVMe Format NVM with user data erase; the format of the blocks stays what it is.

use super::WAY_OUT;
use super::{failed_after_begin, refuse_unlisted};
use crate::passthrough::effects::FORMAT_NVM;
use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::nvme::{CNS_NAMESPACE, Controller, identify, own_namespace, send};
use drivelab_core::queue::Trouble;

const NAME: &str = "Format NVM";
/// Secure Erase Settings in command dword 10: user data erase.
const USER_DATA_ERASE: u32 = 0b001 << 9;
/// No field says how long a format takes; those that overwrite a large drive take hours.
const FORMAT_MS: u32 = 6 * 3600 * 1000;

/// Formats the namespace that this device is.
pub fn format(line: &mut dyn Line) -> Result<(), Trouble> {
    let namespace = own_namespace(line)?;
    refuse_unknown(line, namespace)?;
    let dword_10 = same_format(&identify(line, namespace, CNS_NAMESPACE)?)? | USER_DATA_ERASE;
    let command = AdminCommand { opcode: FORMAT_NVM, namespace, dword_10, timeout_ms: FORMAT_MS };
    send(line, NAME, command, &mut [])
        .map_err(|trouble| failed_after_begin(trouble, "what the drive holds now is unknown"))
}

/// Whether the drive knows it, and it reaches nothing else; changes nothing.
pub fn is_known(line: &mut dyn Line) -> Result<(), Trouble> {
    let namespace = own_namespace(line)?;
    refuse_unknown(line, namespace)
}

fn refuse_unknown(line: &mut dyn Line, namespace: u32) -> Result<(), Trouble> {
    let controller = Controller::read(line)?;
    if !controller.knows_format() {
        return Err(Trouble::usage(format!("the drive does not know {NAME}")));
    }
    refuse_unlisted(line, &controller, FORMAT_NVM, NAME)?;
    match controller.format_reaches_all() {
        true => controller.refuse_others(line, namespace, NAME),
        false => Ok(()),
    }
}

/// The fields of command dword 10 that keep the format that Identify Namespace tells of.
fn same_format(namespace: &[u8]) -> Result<u32, Trouble> {
    if namespace[..8].iter().all(|byte| *byte == 0) {
        return Err(Trouble::failed(format!(
            "the drive says nothing of this namespace, so its format cannot be kept. {WAY_OUT}"
        )));
    }
    let (formats, current, protection) =
        (u32::from(namespace[25]) + 1, u32::from(namespace[26]), u32::from(namespace[29]));
    // Bits 6:5 have a meaning only where four bits cannot name all formats.
    let upper = if formats > 16 { current >> 5 & 0b11 } else { 0 };
    let lower = current & 0b1111;
    let metadata_in_block = current >> 4 & 1;
    let protection_kind = protection & 0b111;
    let protection_first = protection >> 3 & 1;
    Ok(upper << 12 | protection_first << 8 | protection_kind << 5 | metadata_in_block << 4 | lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passthrough::fake::Fake;
    use drivelab_core::op::Errno;
    use drivelab_core::queue::TroubleKind;

    fn sent(fake: &Fake) -> Option<AdminCommand> {
        fake.admin.iter().copied().find(|command| command.opcode == FORMAT_NVM)
    }

    fn refused(mut fake: Fake) -> Trouble {
        let trouble = format(&mut fake).unwrap_err();
        assert_eq!(sent(&fake), None);
        trouble
    }

    #[test]
    fn the_commands_are_those_of_the_specification() {
        let mut fake = Fake::nvme(1);
        fake.own = 7;
        format(&mut fake).unwrap();
        let identify = |namespace, dword_10| AdminCommand {
            opcode: 0x06,
            namespace,
            dword_10,
            timeout_ms: 60_000,
        };
        let erase =
            AdminCommand { opcode: 0x80, namespace: 7, dword_10: 0x200, timeout_ms: 21_600_000 };
        assert_eq!(fake.admin, [identify(0, 1), identify(7, 0), erase]);
    }

    #[test]
    fn the_format_is_kept() {
        let with = |formats_less_one: u8, current: u8, protection: u8| {
            let mut namespace = vec![0; 4096];
            (namespace[0], namespace[25]) = (1, formats_less_one);
            (namespace[26], namespace[29]) = (current, protection);
            same_format(&namespace).unwrap()
        };
        assert_eq!(with(0, 0, 0), 0);
        assert_eq!(with(3, 0b0000_0011, 0), 0x0003);
        // Metadata in the block, protection of type 1 in its first bytes.
        assert_eq!(with(3, 0b0001_0010, 0b1001), 0x0132);
        // Protection of type 3 in the last bytes.
        assert_eq!(with(3, 0b0000_0010, 0b0011), 0x0062);
        // Format 0x25 of 64, and the same bits where they mean nothing.
        assert_eq!(with(63, 0b0100_0101, 0), 0x2005);
        assert_eq!(with(15, 0b0100_0101, 0), 0x0005);
    }

    #[test]
    fn a_drive_without_format_is_refused() {
        let mut fake = Fake::nvme(1);
        fake.controller[256] = 0xfd;
        let trouble = refused(fake);
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.contains("does not know Format NVM"), "{trouble}");
    }

    #[test]
    fn a_drive_whose_list_of_commands_has_no_format_is_refused() {
        let with = |opcodes: &[u8]| {
            let mut fake = Fake::nvme(1);
            fake.controller[261] = 0b10;
            fake.log_pages.insert(5, crate::passthrough::effects::tests::list(opcodes));
            fake
        };
        let trouble = refused(with(&[0x84]));
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.contains("log 05h"), "{trouble}");
        format(&mut with(&[0x80])).unwrap();
    }

    #[test]
    fn a_format_of_all_namespaces_is_refused_where_there_are_more() {
        for bit in [0b01, 0b10] {
            let mut fake = Fake::nvme(8);
            (fake.controller[524], fake.list) = (bit, vec![1, 2]);
            assert!(refused(fake).text.contains("all namespaces"));
            let mut fake = Fake::nvme(8);
            fake.controller[524] = bit;
            format(&mut fake).unwrap();
        }
        // Each for itself: the others are none of our business. Bit 2 is about cryptography.
        let mut fake = Fake::nvme(8);
        (fake.controller[524], fake.list) = (0b100, vec![1, 2]);
        format(&mut fake).unwrap();
    }

    #[test]
    fn a_namespace_that_is_not_described_is_refused() {
        let mut fake = Fake::nvme(1);
        fake.described = vec![0; 4096];
        assert!(refused(fake).text.contains("cannot be kept"));
    }

    #[test]
    fn a_device_without_nvme_is_refused() {
        let mut fake = Fake::nvme(1);
        fake.error = Some(Errno(libc::ENOTTY));
        let trouble = refused(fake);
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.contains("NVME_IOCTL_ID"), "{trouble}");
    }

    #[test]
    fn a_format_that_fails_is_a_failure() {
        let mut fake = Fake::nvme(1);
        fake.statuses.insert(FORMAT_NVM, 0x4002);
        let trouble = format(&mut fake).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Failed);
        assert!(trouble.text.contains("002h") && trouble.text.contains("unknown"), "{trouble}");
        fake.statuses.insert(FORMAT_NVM, 0x371);
        assert_eq!(format(&mut fake).unwrap_err().kind, TroubleKind::Stuck);
    }
}
