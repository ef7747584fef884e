//! What an NVMe namespace is called and how its blocks are: as the kernel shows it, and as the
//! drive tells root.
//!
//! Offsets are those of Identify Namespace (NVM Command Set Specification 1.0c, figure "Identify –
//! Identify Namespace Data Structure, NVM Command Set Specific") and of Identify Controller (NVM
//! Express Base Specification 2.0c, figure "Identify – Identify Controller Data Structure").

use crate::health::little;
use crate::passthrough::effects;
use crate::passthrough::line::{AdminCommand, Line};
use crate::passthrough::nvme::{CNS_NAMESPACE, Controller, QUICK_MS, identify, own_namespace};
use crate::system::read_text;
use crate::write_cache::GET_FEATURES;
use drivelab_core::facts::{Apst, AtomicWrites, BlockFormat, NvmeFacts, Performance};
use drivelab_core::queue::Trouble;
use std::path::Path;

/// Feature identifier: autonomous power state transition; APSTE is bit 0 of its value, and this
/// many bytes of data come with it (Base Specification 2.0c, 5.27.1.9).
const AUTONOMOUS_POWER_STATES: u32 = 0x0c;
const AUTONOMOUS_POWER_STATES_BYTES: usize = 256;
/// Formats that the data structure has room for.
const FORMATS_MAX: usize = 64;
/// More formats than this have an index of six bits.
const SHORT_INDEX_FORMATS: usize = 16;
/// CTRATT: flexible data placement.
const DATA_PLACEMENT: u64 = 1 << 19;
/// NSFEAT: NAWUN, NAWUPF and the boundaries are those of the namespace.
const OWN_ATOMICITY: u64 = 0b10;
/// A block has 2^9 bytes at least; nobody has blocks of more than 2^40.
const SHIFTS: std::ops::RangeInclusive<u64> = 9..=40;

/// What the kernel shows; `None` where it shows nothing. Its file `uuid` holds the NGUID of a
/// namespace without a UUID, its world-wide name does not.
pub(super) fn of_sysfs(disk: &Path, world_wide_name: Option<&str>) -> Option<NvmeFacts> {
    let digits = |file: &str| {
        let text = read_text(&disk.join(file))?;
        let digits = text.chars().filter(char::is_ascii_hexdigit);
        Some(digits.collect::<String>().to_lowercase()).filter(|text| has_digits(text))
    };
    let uuid = world_wide_name.and_then(|name| name.strip_prefix("uuid."));
    let found = NvmeFacts {
        eui64: digits("eui"),
        nguid: digits("nguid"),
        uuid: uuid.map(str::to_owned),
        ..NvmeFacts::default()
    };
    (found != NvmeFacts::default()).then_some(found)
}

fn has_digits(text: &str) -> bool {
    text.bytes().any(|digit| digit != b'0')
}

/// Asks the drive, and adds to what is known.
pub(super) fn ask(
    line: &mut dyn Line,
    controller: &Controller,
    known: &mut NvmeFacts,
) -> Result<(), Trouble> {
    let own = own_namespace(line)?;
    let namespace = identify(line, own, CNS_NAMESPACE)?;
    let told = of_identify(&namespace, controller.bytes());
    *known = NvmeFacts {
        eui64: told.eui64.or(known.eui64.take()),
        nguid: told.nguid.or(known.nguid.take()),
        uuid: known.uuid.take(),
        apst: apst(line, controller),
        purges: Some(effects::purges(line, controller)),
        ..told
    };
    Ok(())
}

/// Feature 0Ch of a drive that has it; another one would count the question as an error.
fn apst(line: &mut dyn Line, controller: &Controller) -> Option<Apst> {
    if !controller.knows_apst() {
        return Some(Apst::Absent);
    }
    let command = AdminCommand {
        opcode: GET_FEATURES,
        namespace: 0,
        dword_10: AUTONOMOUS_POWER_STATES,
        timeout_ms: QUICK_MS,
    };
    match line.feature(command, 0, &mut [0; AUTONOMOUS_POWER_STATES_BYTES]) {
        Ok((0, value)) if value & 1 == 1 => Some(Apst::On),
        Ok((0, _)) => Some(Apst::Off),
        _ => None,
    }
}

/// What Identify Namespace and Identify Controller tell.
pub fn of_identify(namespace: &[u8], controller: &[u8]) -> NvmeFacts {
    let block_formats = block_formats(namespace);
    let in_use = block_formats.iter().find(|format| format.is_in_use);
    NvmeFacts {
        eui64: identifier(namespace, 120, 8),
        nguid: identifier(namespace, 104, 16),
        uuid: None,
        protection_type: Some(little(namespace, 29, 1) as u8 & 0b111),
        atomic_writes: in_use.map(|format| atomic(namespace, controller, format.data_bytes)),
        places_data: Some(little(controller, 96, 4) & DATA_PLACEMENT != 0),
        apst: None,
        purges: None,
        block_formats,
    }
}

/// An identifier of that many bytes, the first digit first; all zeros: the namespace has none.
fn identifier(namespace: &[u8], offset: usize, bytes: usize) -> Option<String> {
    let bytes = namespace.get(offset..offset + bytes)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(digits).filter(|digits| has_digits(digits))
}

/// NLBAF and NULBAF say how many there are, the former less one; FLBAS which of them is in use. One
/// that is not available now has a block size of 0.
fn block_formats(namespace: &[u8]) -> Vec<BlockFormat> {
    let count = 1 + little(namespace, 25, 1) as usize + little(namespace, 82, 1) as usize;
    let flags = little(namespace, 26, 1) as usize;
    let upper = if count > SHORT_INDEX_FORMATS { (flags >> 5 & 0b11) << 4 } else { 0 };
    let in_use = flags & 0xf | upper;
    let one = |index: usize| {
        let format = little(namespace, 128 + 4 * index, 4);
        let shift = format >> 16 & 0xff;
        SHIFTS.contains(&shift).then(|| BlockFormat {
            number: index as u32,
            data_bytes: 1 << shift,
            metadata_bytes: (format & 0xffff) as u32,
            performance: match format >> 24 & 0b11 {
                0 => Performance::Best,
                1 => Performance::Better,
                2 => Performance::Good,
                _ => Performance::Degraded,
            },
            is_in_use: index == in_use,
        })
    };
    (0..count.min(FORMATS_MAX)).filter_map(one).collect()
}

/// AWUN and AWUPF of the controller, and what the namespace has instead; a field of the namespace
/// that is 0 stands for that of the controller, a boundary that is 0 for none. All count in blocks,
/// less one.
fn atomic(namespace: &[u8], controller: &[u8], block_bytes: u64) -> AtomicWrites {
    let is_of_namespace = little(namespace, 24, 1) & OWN_ATOMICITY != 0;
    let own = |offset: usize| match little(namespace, offset, 2) {
        blocks if is_of_namespace && blocks > 0 => Some((blocks + 1) * block_bytes),
        _ => None,
    };
    let of_all = |offset: usize| (little(controller, offset, 2) + 1) * block_bytes;
    AtomicWrites {
        write_bytes: own(34).unwrap_or_else(|| of_all(526)),
        power_fail_write_bytes: own(36).unwrap_or_else(|| of_all(528)),
        boundary_bytes: own(40),
        power_fail_boundary_bytes: own(44),
        is_of_namespace,
    }
}

#[cfg(test)]
mod tests;
