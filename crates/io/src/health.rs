//! What a drive says of its own wear and health, read by commands that change nothing.
//!
//! The parsers are pure functions of the bytes that a drive answers with: `smart` and `statistics`
//! of an ATA drive's, `log_pages` of a SCSI drive's, `farm` of both. `ata`, `scsi` and `nvme` ask.

mod ata;
pub mod error_log;
pub mod events;
pub mod farm;
#[cfg(test)]
mod golden;
mod known;
pub mod log_pages;
mod nvme;
pub mod ocp;
mod scsi;
pub mod sct;
pub mod self_test;
pub mod smart;
pub mod smartctl;
pub mod statistics;

pub(crate) use events::of_drive as events_of;
pub(crate) use nvme::{again, of_nvme};

use crate::passthrough::line::Line;
use drivelab_core::facts::WearFacts;
use drivelab_core::queue::Trouble;

/// Who answers behind a device of the kernel's SCSI layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// A drive whose commands the kernel translates.
    Ata,
    /// A drive of SCSI.
    Scsi,
    /// A bridge that may translate ATA commands, or not.
    Bridge,
}

/// Asks a device of the kernel's SCSI layer.
pub(crate) fn of_scsi_layer(line: &mut dyn Line, speaks: Speaks) -> Result<WearFacts, Trouble> {
    by(line, speaks, [ata::of_ata, scsi::of_scsi])
}

/// Asks it again, for what changes while it serves.
pub(crate) fn again_of_scsi_layer(
    line: &mut dyn Line,
    speaks: Speaks,
) -> Result<WearFacts, Trouble> {
    by(line, speaks, [ata::again, scsi::again])
}

type Ask = fn(&mut dyn Line) -> Result<WearFacts, Trouble>;

fn by(line: &mut dyn Line, speaks: Speaks, [ata, scsi]: [Ask; 2]) -> Result<WearFacts, Trouble> {
    match speaks {
        Speaks::Ata => ata(line),
        Speaks::Scsi => scsi(line),
        Speaks::Bridge => ata(line).or_else(|by_ata| {
            scsi(line).map_err(|_| {
                let reason = by_ata.text.split("; ").next().unwrap_or_default().to_owned();
                Trouble::failed(format!("its bridge hands on no question: {reason}"))
            })
        }),
    }
}

/// A test that a drive makes of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelfTest {
    /// A few minutes.
    Short,
    /// Hours on a large drive: all of its media is read.
    Long,
}

/// Has a drive test itself; `speaks` is `None` for NVMe.
pub(crate) fn start_self_test(
    line: &mut dyn Line,
    speaks: Option<Speaks>,
    test: SelfTest,
) -> Result<(), Trouble> {
    let number = match test {
        SelfTest::Short => 1,
        SelfTest::Long => 2,
    };
    match speaks {
        None => nvme::start_self_test(line, number),
        Some(Speaks::Ata | Speaks::Bridge) => ata::start_self_test(line, number),
        Some(Speaks::Scsi) => scsi::start_self_test(line, number),
    }
}

/// The little-endian number of sixteen bytes; what is not there counts as 0.
fn wide(data: &[u8], offset: usize) -> u128 {
    u128::from(little(data, offset + 8, 8)) << 64 | u128::from(little(data, offset, 8))
}

/// The little-endian number in these bytes of an answer; what is not there counts as 0.
pub(crate) fn little(data: &[u8], offset: usize, bytes: usize) -> u64 {
    let bytes = data.iter().skip(offset).take(bytes.min(8)).rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}
