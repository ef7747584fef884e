//! What an NVMe drive says of itself, and its answers in words. Offsets are those of the Identify
//! data structures of the NVM Express base specification.

use super::line::{AdminCommand, Line};
use super::not_sent;
use drivelab_core::queue::Trouble;

const IDENTIFY: u8 = 0x06;
const IDENTIFY_BYTES: usize = 4096;
/// Identify's second argument (CNS).
pub const CNS_NAMESPACE: u32 = 0x00;
const CNS_CONTROLLER: u32 = 0x01;
const CNS_ACTIVE: u32 = 0x02;
const CNS_ALLOCATED: u32 = 0x10;

/// For commands that only ask.
pub const QUICK_MS: u32 = 60_000;

/// Status type and code, without the bits that say how often to try again.
const STATUS_MASK: u16 = 0x7ff;

/// What the controller can do.
pub struct Controller(Vec<u8>);

impl Controller {
    /// Asks for it.
    pub fn read(line: &mut dyn Line) -> Result<Self, Trouble> {
        identify(line, 0, CNS_CONTROLLER).map(Controller)
    }

    /// OACS bit 1.
    pub fn knows_format(&self) -> bool {
        self.0[256] & 0b10 != 0
    }

    /// FNA bit 0 (a format) or bit 1 (the erase in it) reaches all namespaces.
    pub fn format_reaches_all(&self) -> bool {
        self.0[524] & 0b11 != 0
    }

    /// SANICAP bit 1.
    pub fn knows_block_erase(&self) -> bool {
        self.0[328] & 0b10 != 0
    }

    /// VWC bit 0.
    pub fn has_write_cache(&self) -> bool {
        self.0[525] & 1 == 1
    }

    /// How long it may take to go to sleep and to wake up, in microseconds, for each state in which
    /// it serves nothing; empty if it does not sleep by itself. APSTA bit 0, NPSS, and the power
    /// state descriptors: NOPS, ENLAT, EXLAT.
    pub fn sleeps_us(&self) -> Vec<u32> {
        if !self.knows_apst() {
            return Vec::new();
        }
        let states = (0..=usize::from(self.0[263]).min(31)).map(|state| 2048 + 32 * state);
        let asleep = states.filter(|place| self.0[place + 3] & 0b10 != 0);
        asleep
            .map(|place| number(&self.0, place + 4).saturating_add(number(&self.0, place + 8)))
            .collect()
    }

    /// APSTA bit 0: it can change its power state by itself.
    pub fn knows_apst(&self) -> bool {
        self.0[265] & 1 == 1
    }

    /// The whole data structure.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// OACS bit 4.
    pub fn tests_itself(&self) -> bool {
        self.0[256] & 0b1_0000 != 0
    }

    /// VER: major version in the upper half, then minor and tertiary.
    pub fn version(&self) -> u32 {
        number(&self.0, 80)
    }

    /// LPA bit 4: it has a persistent event log.
    pub fn keeps_events(&self) -> bool {
        self.0[261] & 0b1_0000 != 0
    }

    /// MDTS: the most bytes that a command may move, if pages of memory have 4 KiB (none are
    /// smaller); 0: there is no limit.
    pub fn transfer_max(&self) -> usize {
        match self.0[77] {
            0 => usize::MAX,
            power => 4096usize.checked_shl(power.into()).unwrap_or(usize::MAX),
        }
    }

    /// LPA bit 1: it says which commands it knows (log page 05h).
    pub fn lists_commands(&self) -> bool {
        self.0[261] & 0b10 != 0
    }

    /// ELPE, less one: how many entries its error log has.
    pub fn error_entries(&self) -> usize {
        usize::from(self.0[262]) + 1
    }

    /// OACS bit 3.
    fn manages_namespaces(&self) -> bool {
        self.0[256] & 0b1000 != 0
    }

    /// NN, the largest identifier that a namespace can have.
    fn namespaces_max(&self) -> u32 {
        number(&self.0, 516)
    }

    /// Refuses where `command` would empty other namespaces than `own` too. With namespace
    /// management the list holds those that are attached to other controllers as well.
    pub fn refuse_others(
        &self,
        line: &mut dyn Line,
        own: u32,
        command: &str,
    ) -> Result<(), Trouble> {
        if self.namespaces_max() == 1 {
            return Ok(());
        }
        let cns = if self.manages_namespaces() { CNS_ALLOCATED } else { CNS_ACTIVE };
        let list = identify(line, 0, cns)?;
        let identifiers = (0..list.len() / 4).map(|index| number(&list, 4 * index));
        let others = identifiers.filter(|identifier| ![0, own].contains(identifier)).count();
        if others == 0 {
            return Ok(());
        }
        Err(Trouble::usage(format!(
            "on this drive {command} empties all namespaces, and besides namespace {own} it has \
             {others} more; delete those first"
        )))
    }
}

/// A little-endian number of four bytes.
pub fn number(data: &[u8], offset: usize) -> u32 {
    let bytes = data.iter().skip(offset).take(4).rev();
    bytes.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The identifier of the namespace that this device is.
pub fn own_namespace(line: &mut dyn Line) -> Result<u32, Trouble> {
    line.namespace().map_err(|error| not_sent("NVME_IOCTL_ID", error))
}

/// One Identify data structure.
pub fn identify(line: &mut dyn Line, namespace: u32, cns: u32) -> Result<Vec<u8>, Trouble> {
    let mut data = vec![0; IDENTIFY_BYTES];
    let command = AdminCommand { opcode: IDENTIFY, namespace, dword_10: cns, timeout_ms: QUICK_MS };
    send(line, "Identify", command, &mut data)?;
    Ok(data)
}

/// Sends a command that must succeed.
pub fn send(
    line: &mut dyn Line,
    name: &str,
    command: AdminCommand,
    data: &mut [u8],
) -> Result<(), Trouble> {
    match line.admin(command, data) {
        Ok(0) => Ok(()),
        Ok(status) => Err(answered(name, status & STATUS_MASK)),
        Err(error) => Err(not_sent(name, error)),
    }
}

/// A status in words. Codes are those of the base specification; 371h is the kernel's own.
fn answered(name: &str, status: u16) -> Trouble {
    let said = |words: &str| format!("{name} ended with NVMe status {status:03x}h: {words}");
    match status {
        0x001 => Trouble::usage(said("the drive does not know it")),
        0x002 => Trouble::usage(said("the drive refuses a field of it")),
        0x00b => Trouble::failed(said("the drive refuses it for this namespace or its format")),
        0x015 | 0x286 => Trouble::failed(said(
            "the drive denies it; look whether a lock (TCG Opal, reservations) is set on it",
        )),
        0x01c => Trouble::failed(said(
            "an earlier sanitize failed; only another one brings the drive back: \
             --purge nvme-sanitize",
        )),
        0x01d => Trouble::failed(said("a sanitize is still going on; wait until it has ended")),
        0x020 => Trouble::failed(said("the namespace is write protected; take that off first")),
        0x084 => Trouble::failed(said("a format is still going on; wait until it has ended")),
        0x10a => Trouble::failed(said("the drive does not take the format it has now")),
        0x11d => Trouble::failed(said("a self-test is going on already")),
        0x123 => Trouble::failed(said("its persistent memory region is on; turn that off first")),
        0x371 => Trouble::stuck(said(
            "it did not end in time and the kernel gave up; see the kernel log, and power-cycle \
             the drive before it is used again",
        )),
        _ => Trouble::failed(said(
            "look it up in the NVMe specification, and look into the drive's error log (nvme \
             error-log)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
    use drivelab_core::queue::TroubleKind;

    fn refused(fake: &mut Fake) -> Result<(), Trouble> {
        let controller = Controller::read(fake).unwrap();
        controller.refuse_others(fake, 1, "Sanitize")
    }

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(number(&[0, 0x78, 0x56, 0x34, 0x12], 1), 0x1234_5678);
    }

    #[test]
    fn a_drive_for_one_namespace_is_not_asked_for_a_list() {
        let mut fake = Fake::nvme(1);
        refused(&mut fake).unwrap();
        assert_eq!(fake.admin.len(), 1);
        let asked = AdminCommand { opcode: 6, namespace: 0, dword_10: 1, timeout_ms: 60_000 };
        assert_eq!(fake.admin[0], asked);
    }

    #[test]
    fn a_drive_sleeps_by_itself_only_where_it_says_so() {
        let mut fake = Fake::nvme(1);
        fake.controller[263] = 2;
        for (state, flags) in [(0, 0), (1, 0b10), (2, 0b10)] {
            let place = 2048 + 32 * state;
            fake.controller[place + 3] = flags;
            fake.controller[place + 4] = 10 * state as u8;
            fake.controller[place + 8] = 100;
        }
        assert_eq!(Controller::read(&mut fake).unwrap().sleeps_us(), [0; 0]);
        fake.controller[265] = 1;
        assert_eq!(Controller::read(&mut fake).unwrap().sleeps_us(), [110, 120]);
    }

    #[test]
    fn further_namespaces_are_refused() {
        let mut fake = Fake::nvme(32);
        refused(&mut fake).unwrap();
        assert_eq!((fake.admin[1].namespace, fake.admin[1].dword_10), (0, 0x02));
        fake.list = vec![1, 2, 9];
        let trouble = refused(&mut fake).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.contains("2 more"), "{trouble}");
    }

    #[test]
    fn with_namespace_management_namespaces_of_other_controllers_count() {
        let mut fake = Fake::nvme(32);
        fake.controller[256] |= 0b1000;
        fake.list = vec![1, 5];
        refused(&mut fake).unwrap_err();
        assert_eq!((fake.admin[1].namespace, fake.admin[1].dword_10), (0, 0x10));
    }

    #[test]
    fn a_list_that_cannot_be_had_is_no_leave() {
        let mut fake = Fake::nvme(32);
        fake.list_status = 0x4002;
        let trouble = refused(&mut fake).unwrap_err();
        assert!(trouble.text.contains("002h"), "{trouble}");
    }

    #[test]
    fn statuses_have_words() {
        assert_eq!(answered("Format NVM", 0x001).kind, TroubleKind::Usage);
        assert_eq!(answered("Format NVM", 0x371).kind, TroubleKind::Stuck);
        for status in [0x00b, 0x015, 0x01c, 0x01d, 0x020, 0x084, 0x10a, 0x123, 0x286, 0x006] {
            let trouble = answered("Format NVM", status);
            assert_eq!(trouble.kind, TroubleKind::Failed);
            assert!(
                trouble
                    .text
                    .starts_with(&format!("Format NVM ended with NVMe status {status:03x}h: "))
            );
        }
    }
}
