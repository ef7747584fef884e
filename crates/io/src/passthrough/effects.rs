//! Which admin commands an NVMe drive says it knows: log page 05h, Commands Supported and Effects
//! (NVM Express Base Specification 2.0c, 5.16.1.6).

use super::line::{AdminCommand, Line};
use super::nvme::{Controller, QUICK_MS, number, send};
use drivelab_core::plan::Purge;

const GET_LOG_PAGE: u8 = 0x02;
const PAGE: u32 = 0x05;
const BYTES: usize = 4096;
/// The list is that of the controller.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
/// CSUPP: it knows the command.
const SUPPORTED: u32 = 1;

/// Opcode of the command that formats a namespace.
pub const FORMAT_NVM: u8 = 0x80;
/// Opcode of the command that empties the drive.
pub const SANITIZE: u8 = 0x84;

/// Words of `--purge` for the commands that this drive says it knows.
pub fn purges(line: &mut dyn Line, controller: &Controller) -> Vec<String> {
    let list = Effects::read(line, controller);
    let is_listed = |opcode: u8| list.as_ref().is_none_or(|list| list.has(opcode));
    let known = [
        (controller.knows_format() && is_listed(FORMAT_NVM), Purge::NvmeFormat),
        (controller.knows_block_erase() && is_listed(SANITIZE), Purge::NvmeSanitize),
    ];
    let known = known.into_iter().filter(|(is_known, _)| *is_known);
    known.map(|(_, purge)| purge.word().to_owned()).collect()
}

/// The list.
pub struct Effects(Vec<u8>);

impl Effects {
    /// Asks a drive that has it; `None` where it has none or does not give it.
    pub fn read(line: &mut dyn Line, controller: &Controller) -> Option<Effects> {
        if !controller.lists_commands() {
            return None;
        }
        let mut data = vec![0; BYTES];
        // Bits 31:16 of dword 10 say how many dwords are wanted, less one.
        let dword_10 = (BYTES as u32 / 4 - 1) << 16 | PAGE;
        let command = AdminCommand {
            opcode: GET_LOG_PAGE,
            namespace: ALL_NAMESPACES,
            dword_10,
            timeout_ms: QUICK_MS,
        };
        send(line, "Get Log Page 05h", command, &mut data).ok()?;
        let list = Effects(data);
        // Every drive knows these two: a list without them is none.
        (list.has(GET_LOG_PAGE) && list.has(0x06)).then_some(list)
    }

    /// Whether an admin command is on it: four bytes for each opcode.
    pub fn has(&self, opcode: u8) -> bool {
        number(&self.0, 4 * usize::from(opcode)) & SUPPORTED != 0
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::fake::Fake;
    use super::*;

    /// A list of these commands and of those that all drives know.
    pub fn list(opcodes: &[u8]) -> Vec<u8> {
        let mut page = vec![0; BYTES];
        for opcode in [&[0x02, 0x06], opcodes].concat() {
            page[4 * usize::from(opcode)] = 1;
        }
        page
    }

    #[test]
    fn a_drive_is_asked_only_where_it_has_a_list() {
        let mut fake = Fake::nvme(1);
        fake.log_pages.insert(5, list(&[0x80]));
        let controller = Controller::read(&mut fake).unwrap();
        assert!(Effects::read(&mut fake, &controller).is_none());
        assert_eq!(fake.admin.len(), 1);
        fake.controller[261] = 0b10;
        let controller = Controller::read(&mut fake).unwrap();
        let effects = Effects::read(&mut fake, &controller).unwrap();
        assert!(effects.has(FORMAT_NVM) && !effects.has(SANITIZE));
        assert_eq!(purges(&mut fake, &controller), ["nvme-format"]);
        assert_eq!(fake.admin.last().unwrap().dword_10, 0x03ff_0005);
    }

    #[test]
    fn a_list_without_what_all_drives_know_is_none() {
        let mut fake = Fake::nvme(1);
        fake.controller[261] = 0b10;
        fake.log_pages.insert(5, vec![0; BYTES]);
        let controller = Controller::read(&mut fake).unwrap();
        assert!(Effects::read(&mut fake, &controller).is_none());
    }
}
