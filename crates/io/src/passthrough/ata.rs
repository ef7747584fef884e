//! ATA commands inside SCSI ones: ATA PASS-THROUGH (16) of SCSI / ATA Translation, and what came
//! of them.

use super::line::{Line, Reply, Transfer};
use super::not_sent;
use drivelab_core::queue::Trouble;

const ATA_PASS_THROUGH_16: u8 = 0x85;

/// Protocols, bits 4:1 of byte 1.
const NON_DATA: u8 = 3 << 1;
const PIO_IN: u8 = 4 << 1;
const PIO_OUT: u8 = 5 << 1;
/// Byte 2: the count field holds the length (T_LENGTH 10b), in blocks (BYT_BLOK) of 512 bytes.
const COUNTED_BLOCKS: u8 = 0b10 | 1 << 2;
/// Byte 2: from the drive (T_DIR).
const FROM_DRIVE: u8 = 1 << 3;
/// Byte 2: the registers are wanted even after success (CK_COND).
const WITH_REGISTERS: u8 = 1 << 5;
/// Byte 1: a command with registers of 48 bits (EXTEND).
const EXTENDED: u8 = 1;

/// What the count field of a command counts, and one block of its data.
pub const BLOCK_BYTES: usize = 512;

/// SCSI status CHECK CONDITION: there is sense data.
pub(crate) const CHECK_CONDITION: u8 = 0x02;
/// `DRIVER_SENSE` of the kernel's SCSI layer: older kernels add it where there is sense data.
const DRIVER_SENSE: u16 = 0x08;
/// `DID_TIME_OUT` of the kernel's SCSI layer.
const HOST_TIMEOUT: u16 = 0x03;

const RECOVERED_ERROR: u8 = 0x01;
const ILLEGAL_REQUEST: u8 = 0x05;
/// Bits of the ATA status: error, device fault.
const ATA_FAILED: u8 = 0x01 | 0x20;

/// An ATA command.
#[derive(Debug, Clone, Copy)]
pub struct AtaCommand {
    /// As the specification calls it.
    pub name: &'static str,
    /// Command code.
    pub code: u8,
    /// When the kernel gives it up.
    pub timeout_ms: u32,
    /// What the command is to do, for those that do several things.
    pub feature: u8,
    /// The LBA field, of 28 bits, or of 48 where `is_extended`.
    pub lba: u64,
    /// A command of the 48-bit feature set.
    pub is_extended: bool,
}

impl AtaCommand {
    /// One without address or feature.
    pub const fn plain(name: &'static str, code: u8, timeout_ms: u32) -> Self {
        AtaCommand { name, code, timeout_ms, feature: 0, lba: 0, is_extended: false }
    }
}

/// The SCSI command that carries an ATA command, with its blocks of data or without.
fn carried(command: AtaCommand, transfer: &Transfer<'_>) -> [u8; 16] {
    let blocks = |data: &[u8]| (data.len() / BLOCK_BYTES) as u8;
    let (protocol, flags, blocks) = match transfer {
        Transfer::Nothing => (NON_DATA, 0, 0),
        Transfer::In(data) => (PIO_IN, FROM_DRIVE | COUNTED_BLOCKS, blocks(data)),
        Transfer::Out(data) => (PIO_OUT, COUNTED_BLOCKS, blocks(data)),
    };
    let lba = command.lba.to_le_bytes();
    let mut carrier = [0; 16];
    carrier[0] = ATA_PASS_THROUGH_16;
    carrier[1] = protocol | if command.is_extended { EXTENDED } else { 0 };
    carrier[2] = flags;
    carrier[4] = command.feature;
    carrier[6] = blocks;
    // Each register of 8 bits behind that of its upper half.
    (carrier[7], carrier[8]) = (lba[3], lba[0]);
    (carrier[9], carrier[10]) = (lba[4], lba[1]);
    (carrier[11], carrier[12]) = (lba[5], lba[2]);
    carrier[14] = command.code;
    carrier
}

/// Sends a command that must succeed.
pub fn send(
    line: &mut dyn Line,
    command: AtaCommand,
    transfer: Transfer<'_>,
) -> Result<(), Trouble> {
    let carried = carried(command, &transfer);
    match line.scsi(carried, transfer, command.timeout_ms) {
        Ok(reply) => judge(command.name, &reply),
        Err(error) => Err(not_sent(command.name, error)),
    }
}

/// Sends a command without data that answers in its LBA field; gives bits 23:8 of it, or `None`
/// where the command succeeded and whoever translates it did not hand its registers on.
pub fn ask(line: &mut dyn Line, command: AtaCommand) -> Result<Option<u16>, Trouble> {
    let mut carried = carried(command, &Transfer::Nothing);
    carried[2] |= WITH_REGISTERS;
    let reply = line
        .scsi(carried, Transfer::Nothing, command.timeout_ms)
        .map_err(|error| not_sent(command.name, error))?;
    judge(command.name, &reply)?;
    Ok(Sense::read(&reply.sense).ata.map(|registers| registers.lba))
}

/// What sense data says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sense {
    key: u8,
    /// Additional sense code and its qualifier.
    code: (u8, u8),
    /// What stood in the ATA registers.
    ata: Option<Registers>,
}

/// Some of the ATA registers after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Registers {
    error: u8,
    status: u8,
    /// Bits 23:8 of the LBA field.
    lba: u16,
}

impl Sense {
    /// Reads both formats; the ATA registers stand in a descriptor of type 09h, or in the
    /// information field of the fixed format where the code is 00h/1Dh.
    fn read(data: &[u8]) -> Self {
        let byte = |index: usize| data.get(index).copied().unwrap_or(0);
        match byte(0) & 0x7f {
            0x72 | 0x73 => {
                let has_registers = byte(8) == 0x09 && byte(9) == 0x0c;
                Sense {
                    key: byte(1) & 0xf,
                    code: (byte(2), byte(3)),
                    ata: has_registers.then(|| Registers {
                        error: byte(8 + 3),
                        status: byte(8 + 13),
                        lba: u16::from_le_bytes([byte(8 + 9), byte(8 + 11)]),
                    }),
                }
            }
            0x70 | 0x71 => {
                let code = (byte(12), byte(13));
                let ata = (code == (0x00, 0x1d)).then(|| Registers {
                    error: byte(3),
                    status: byte(4),
                    lba: u16::from_le_bytes([byte(10), byte(11)]),
                });
                Sense { key: byte(2) & 0xf, code, ata }
            }
            _ => Sense::default(),
        }
    }

    /// A translator that reports registers although nobody asked for them.
    fn is_success(&self) -> bool {
        let ended_well = self.ata.is_some_and(|ata| ata.status & ATA_FAILED == 0);
        self.key <= RECOVERED_ERROR && self.code == (0x00, 0x1d) && ended_well
    }
}

/// Whether a command ended well; in words where not.
pub(crate) fn judge(name: &str, reply: &Reply) -> Result<(), Trouble> {
    if reply.host_status == HOST_TIMEOUT {
        return Err(Trouble::stuck(format!(
            "{name} did not end in time and the kernel gave up; see the kernel log"
        )));
    }
    if reply.host_status != 0 || reply.driver_status & !DRIVER_SENSE != 0 {
        return Err(Trouble::failed(format!(
            "{name} was lost on its way (host status {:#x}, driver status {:#x}); see the kernel \
             log",
            reply.host_status, reply.driver_status
        )));
    }
    match reply.status {
        0 => Ok(()),
        CHECK_CONDITION => sensed(name, &Sense::read(&reply.sense)),
        status => {
            Err(Trouble::failed(format!("{name} ended with SCSI status {status:02x}h; try again")))
        }
    }
}

fn sensed(name: &str, sense: &Sense) -> Result<(), Trouble> {
    if sense.is_success() {
        return Ok(());
    }
    let (code, qualifier) = sense.code;
    let key = sense.key;
    // Invalid operation code, invalid field: nobody here translates ATA.
    if key == ILLEGAL_REQUEST && matches!(code, 0x20 | 0x24) {
        return Err(Trouble::usage(format!(
            "this device does not take ATA commands such as {name} (sense \
             {key:x}h/{code:02x}h/{qualifier:02x}h)"
        )));
    }
    let registers = sense.ata.map_or(String::new(), |Registers { error, status, .. }| {
        format!(", ATA status {status:02x}h, error {error:02x}h")
    });
    Err(Trouble::failed(format!(
        "the drive did not carry out {name} (sense \
         {key:x}h/{code:02x}h/{qualifier:02x}h{registers}); see the kernel log"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::queue::TroubleKind;

    fn check_condition(sense: &[u8]) -> Reply {
        Reply { status: 2, driver_status: 8, sense: sense.to_vec(), ..Reply::default() }
    }

    /// Descriptor format with the ATA registers.
    fn descriptor(key: u8, code: u8, qualifier: u8, error: u8, status: u8) -> Vec<u8> {
        let mut sense = vec![0; 22];
        sense[..4].copy_from_slice(&[0x72, key, code, qualifier]);
        sense[7..10].copy_from_slice(&[14, 0x09, 0x0c]);
        (sense[11], sense[21]) = (error, status);
        sense
    }

    fn carried(code: u8, transfer: &Transfer<'_>) -> [u8; 16] {
        super::carried(AtaCommand::plain("X", code, 1), transfer)
    }

    #[test]
    fn each_part_of_an_address_has_its_place() {
        let mut pages = [0; 1024];
        let command = AtaCommand {
            feature: 0xd5,
            lba: 0x0605_0403_0201,
            is_extended: true,
            ..AtaCommand::plain("X", 0x2f, 1)
        };
        let carried = super::carried(command, &Transfer::In(&mut pages));
        assert_eq!(carried, [0x85, 0x09, 0x0e, 0, 0xd5, 0, 2, 4, 1, 5, 2, 6, 3, 0, 0x2f, 0]);
    }

    #[test]
    fn commands_are_those_of_the_specification() {
        let mut block = [0; 512];
        assert_eq!(
            carried(0xf3, &Transfer::Nothing),
            [0x85, 0x06, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf3, 0]
        );
        assert_eq!(
            carried(0xec, &Transfer::In(&mut block)),
            [0x85, 0x08, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0]
        );
        assert_eq!(
            carried(0xf4, &Transfer::Out(&block)),
            [0x85, 0x0a, 0x06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xf4, 0]
        );
    }

    #[test]
    fn success_has_no_sense_or_says_so() {
        assert!(judge("X", &Reply::default()).is_ok());
        assert!(judge("X", &check_condition(&descriptor(1, 0, 0x1d, 0, 0x50))).is_ok());
        let mut fixed = [0; 18];
        (fixed[0], fixed[2], fixed[4], fixed[13]) = (0x70, 1, 0x50, 0x1d);
        assert!(judge("X", &check_condition(&fixed)).is_ok());
        fixed[4] = 0x51;
        assert!(judge("X", &check_condition(&fixed)).is_err());
        assert!(judge("X", &check_condition(&descriptor(1, 0, 0x1d, 0, 0x70))).is_err());
    }

    #[test]
    fn an_aborted_command_is_a_failure_with_its_registers() {
        let sense = descriptor(0xb, 0, 0, 0x04, 0x51);
        let trouble = judge("SECURITY SET PASSWORD", &check_condition(&sense)).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Failed);
        assert!(trouble.text.contains("ATA status 51h, error 04h"), "{trouble}");
        assert!(judge("X", &check_condition(&[])).is_err());
    }

    #[test]
    fn a_device_that_translates_no_ata_is_refused() {
        let mut fixed = [0; 18];
        (fixed[0], fixed[2], fixed[12]) = (0x70, 5, 0x20);
        let trouble = judge("IDENTIFY DEVICE", &check_condition(&fixed)).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.ends_with("(sense 5h/20h/00h)"), "{trouble}");
    }

    #[test]
    fn what_is_lost_on_the_way_is_told() {
        let lost = |host_status, driver_status, status| {
            let reply = Reply { status, host_status, driver_status, sense: Vec::new() };
            judge("X", &reply).unwrap_err().kind
        };
        assert_eq!(lost(3, 0, 0), TroubleKind::Stuck);
        assert_eq!(lost(7, 0, 0), TroubleKind::Failed);
        assert_eq!(lost(0, 6, 0), TroubleKind::Failed);
        assert_eq!(lost(0, 0, 8), TroubleKind::Failed);
    }
}
