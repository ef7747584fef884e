//! What a drive, or the kernel's queue in front of it, is set to, and setting it otherwise for a
//! while.
//!
//! A change is noted in a file before it is made, and undone when the run ends; of a run that was
//! killed the next one finds the note.

pub mod queue;
pub(crate) mod record;
pub mod write_cache;

use crate::passthrough::line::Kernel;
use crate::tunable::put_back;
use crate::write_cache::{Nvme, Scsi};
use drivelab_core::queue::Trouble;
use record::Record;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

pub use record::{Leftover, leftovers, unrestored};

/// How a setting is reached.
#[derive(Debug)]
pub(crate) enum Way {
    /// The write cache of a SCSI or ATA drive, by the kernel's file.
    Scsi(PathBuf),
    /// The write cache of an NVMe drive, by commands on its node.
    Nvme(OwnedFd),
    /// A setting of the kernel's queue.
    Queue(queue::Place),
}

impl Way {
    /// Puts everything back that a note says.
    pub(crate) fn restore(&self, change: &record::Change) -> Result<(), Trouble> {
        match self {
            Way::Scsi(file) => put_back(&mut Scsi(file.clone()), &change.before),
            Way::Nvme(device) => {
                let mut kernel = Kernel::new(device.as_fd());
                put_back(&mut Nvme(&mut kernel), &change.before)
            }
            Way::Queue(place) => {
                put_back(&mut place.clone(), &change.before)?;
                place.put_beside(&change.beside)
            }
        }
    }
}

/// A setting that is not what it was, until it is put back.
#[derive(Debug)]
pub struct Held {
    /// What it is and of which drive, in words.
    pub name: String,
    way: Way,
    record: Record,
}

impl Held {
    pub(crate) fn new(way: Way, record: Record) -> Self {
        Held { name: record.change.words(), way, record }
    }

    /// Puts it back to what it was.
    ///
    /// # Errors
    /// It could not be; the note stays, so that the next run tries again.
    pub fn restore(self) -> Result<(), Trouble> {
        self.way.restore(&self.record.change)?;
        self.record.remove();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
