//! NVMe Sanitize, block erase: started by one command, then asked after until it has ended.

use super::{failed_after_begin, refuse_unlisted};
use crate::passthrough::effects::SANITIZE;
use crate::passthrough::line::{AdminCommand, Line, PAUSE_MS};
use crate::passthrough::nvme::{Controller, QUICK_MS, number, own_namespace, send};
use drivelab_core::queue::Trouble;

const NAME: &str = "Sanitize";
/// Sanitize Action in command dword 10: start a block erase.
const BLOCK_ERASE: u32 = 0b010;
/// The command only starts the work, but some drives take their time even so.
const START_MS: u32 = 600_000;

const GET_LOG_PAGE: u8 = 0x02;
const SANITIZE_STATUS: u32 = 0x81;
const LOG_BYTES: usize = 512;
/// The log is one of the whole drive.
const ALL_NAMESPACES: u32 = 0xffff_ffff;

/// Drives estimate seconds to hours; one that still works after two days is stuck.
const POLLS_MAX: u64 = 48 * 3600 * 1000 / PAUSE_MS;
/// What the user must know once it has begun.
const GOES_ON: &str = "the sanitize goes on inside the drive, which serves no reads and writes \
                       until it has ended (see nvme sanitize-log)";

/// Empties the whole drive.
pub fn sanitize(line: &mut dyn Line, tell: &mut dyn FnMut(&str)) -> Result<(), Trouble> {
    is_known(line)?;
    let command = AdminCommand {
        opcode: SANITIZE,
        namespace: 0,
        dword_10: BLOCK_ERASE,
        timeout_ms: START_MS,
    };
    send(line, NAME, command, &mut []).map_err(|trouble| {
        failed_after_begin(trouble, "nvme sanitize-log shows whether it began")
    })?;
    wait(line, tell)
}

/// Whether the drive knows it, and it reaches nothing else; changes nothing.
pub fn is_known(line: &mut dyn Line) -> Result<(), Trouble> {
    let namespace = own_namespace(line)?;
    let controller = Controller::read(line)?;
    if !controller.knows_block_erase() {
        return Err(Trouble::usage(format!(
            "the drive does not know {NAME} with block erase; use --purge nvme-format"
        )));
    }
    refuse_unlisted(line, &controller, SANITIZE, NAME)?;
    controller.refuse_others(line, namespace, NAME)
}

/// Asks until it has ended. The first question comes after a pause: a log from before the start
/// would tell of an older sanitize.
fn wait(line: &mut dyn Line, tell: &mut dyn FnMut(&str)) -> Result<(), Trouble> {
    let mut done_percent = 0;
    for _ in 0..POLLS_MAX {
        if line.pause() {
            return Err(Trouble::interrupted(format!(
                "stopped waiting at {done_percent} %; {GOES_ON}"
            )));
        }
        match status(line).map_err(|trouble| failed_after_begin(trouble, GOES_ON))? {
            Status::Ended => return Ok(()),
            Status::Working(percent) if percent == done_percent => {}
            Status::Working(percent) => {
                done_percent = percent;
                tell(&format!("{percent} % sanitized"));
            }
            Status::Failed => {
                return Err(Trouble::failed(
                    "the drive says that the sanitize failed; it serves no reads and writes until \
                     another one succeeds: try --purge nvme-sanitize again, else replace the drive",
                ));
            }
            Status::Other(code) => {
                return Err(Trouble::failed(format!(
                    "the drive took {NAME}, but its log reports none that began or ended (status \
                     {code}); look at nvme sanitize-log"
                )));
            }
        }
    }
    let hours = POLLS_MAX * PAUSE_MS / 3_600_000;
    Err(Trouble::stuck(format!("after {hours} h still only {done_percent} %; {GOES_ON}")))
}

/// What the log tells.
#[derive(Debug, PartialEq, Eq)]
enum Status {
    /// Percent done.
    Working(u32),
    /// Completed successfully.
    Ended,
    /// Completed unsuccessfully.
    Failed,
    /// Never sanitized, or a code that came after the specification that this was written after.
    Other(u32),
}

fn status(line: &mut dyn Line) -> Result<Status, Trouble> {
    let mut log = [0; LOG_BYTES];
    // Bits 31:16 of dword 10 say how many dwords are wanted, less one.
    let dword_10 = (LOG_BYTES as u32 / 4 - 1) << 16 | SANITIZE_STATUS;
    let command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        dword_10,
        timeout_ms: QUICK_MS,
    };
    send(line, "Get Log Page 81h", command, &mut log)?;
    Ok(read(&log))
}

/// SPROG (a part of 65,536) stands in bytes 1:0, SSTAT in bytes 3:2.
fn read(log: &[u8]) -> Status {
    let both = number(log, 0);
    match both >> 16 & 0b111 {
        1 | 4 => Status::Ended,
        2 => Status::Working((both & 0xffff) * 100 / 65_536),
        3 => Status::Failed,
        other => Status::Other(other),
    }
}

#[cfg(test)]
mod tests;
