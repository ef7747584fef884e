//! Commands that make a drive forget all it holds.

use drivelab_core::plan::Purge;
use drivelab_core::queue::Trouble;
use std::os::fd::BorrowedFd;

/// Sends the command to the drive behind `device` and waits for its end.
///
/// # Errors
/// The drive does not know the command, or it failed.
pub fn purge(_device: BorrowedFd<'_>, purge: Purge) -> Result<(), Trouble> {
    Err(Trouble::usage(format!("{} is not there yet", purge.word())))
}
