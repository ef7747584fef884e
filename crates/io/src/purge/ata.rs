//! ATA SECURITY ERASE UNIT. It needs a user password, which a successful erase takes off again;
//! whatever else happens, the drive must not stay locked by a password that nobody knows.

use super::WAY_OUT;
use super::failed_after_begin;
use super::security::{BLOCK_BYTES, PASSWORD, Security, password_block};
use crate::passthrough::ata::{AtaCommand, send};
use crate::passthrough::line::{Line, Transfer};
use drivelab_core::queue::Trouble;

/// A drive may have to spin up first.
const QUICK_MS: u32 = 60_000;

const IDENTIFY_DEVICE: AtaCommand = AtaCommand::plain("IDENTIFY DEVICE", 0xec, QUICK_MS);
const SET_PASSWORD: AtaCommand = AtaCommand::plain("SECURITY SET PASSWORD", 0xf1, QUICK_MS);
const ERASE_PREPARE: AtaCommand = AtaCommand::plain("SECURITY ERASE PREPARE", 0xf3, QUICK_MS);
const DISABLE_PASSWORD: AtaCommand = AtaCommand::plain("SECURITY DISABLE PASSWORD", 0xf6, QUICK_MS);

/// SECURITY ERASE UNIT, which takes as long as the drive says.
const fn erase_unit(timeout_ms: u32) -> AtaCommand {
    AtaCommand::plain("SECURITY ERASE UNIT", 0xf4, timeout_ms)
}

/// Whether the drive knows it and is in a state for it; changes nothing.
pub fn is_ready(line: &mut dyn Line) -> Result<(), Trouble> {
    identify(line)?.refusal().map_or(Ok(()), Err)
}

/// Erases the drive.
pub fn secure_erase(line: &mut dyn Line, tell: &mut dyn FnMut(&str)) -> Result<(), Trouble> {
    let security = identify(line)?;
    if let Some(refusal) = security.refusal() {
        return Err(refusal);
    }
    let estimate = security.erase_minutes().map_or(String::new(), |minutes| {
        format!("; the drive says that it takes about {minutes} min")
    });
    tell(&format!(
        "until the erase has ended, the drive has the user password \"{PASSWORD}\"; should the \
         power fail, unlock it with that{estimate}"
    ));
    let begun = send(line, SET_PASSWORD, Transfer::Out(&password_block()));
    let erased = begun.and_then(|()| erase(line, security.erase_timeout_ms()));
    let unlocked = take_password_off(line);
    match (erased, unlocked) {
        (Ok(()), Ok(_)) => Ok(()),
        (Ok(()), Err(locked)) => Err(Trouble::failed(format!("the drive is erased, but {locked}"))),
        (Err(trouble), Ok(how)) => Err(failed_after_begin(
            trouble,
            &format!("what the drive holds now is unknown, {how}; try again. {WAY_OUT}"),
        )),
        (Err(trouble), Err(locked)) => Err(failed_after_begin(trouble, &locked)),
    }
}

fn erase(line: &mut dyn Line, timeout_ms: u32) -> Result<(), Trouble> {
    send(line, ERASE_PREPARE, Transfer::Nothing)?;
    send(line, erase_unit(timeout_ms), Transfer::Out(&password_block()))
}

/// Sees that no password is left; says how it was taken off, or how to take it off by hand.
fn take_password_off(line: &mut dyn Line) -> Result<&'static str, String> {
    // A drive that does not answer may have one: try.
    if identify(line).is_ok_and(|security| !security.is_enabled()) {
        return Ok("no password is set on it");
    }
    let block = password_block();
    match send(line, DISABLE_PASSWORD, Transfer::Out(&block)) {
        Ok(()) => Ok("the password is taken off again"),
        Err(trouble) => Err(format!(
            "the user password \"{PASSWORD}\" may still be set on the drive ({trouble}); \
             power-cycle it, and take the password off: hdparm --security-unlock {PASSWORD} \
             DEVICE, then hdparm --security-disable {PASSWORD} DEVICE"
        )),
    }
}

fn identify(line: &mut dyn Line) -> Result<Security, Trouble> {
    let mut identity = [0; BLOCK_BYTES];
    send(line, IDENTIFY_DEVICE, Transfer::In(&mut identity))?;
    Security::read(&identity)
}

#[cfg(test)]
mod tests;
