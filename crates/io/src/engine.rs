//! What every real queue can do besides [`Queue`]: wait; and what they share.

use crate::clock::{Clock, pause};
use crate::errno::errno;
use drivelab_core::op::{Action, DataOp, Done, Errno, SPIN_NS, Time};
use drivelab_core::queue::{Queue, Trouble};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// The longest time a waiting call stays in the kernel before the worker looks around.
pub const LOOK_AROUND_NS: Time = 500_000_000;

/// System calls that a wait made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calls {
    /// Calls that carried I/O to the kernel.
    pub submit: u64,
    /// Calls that asked for completions.
    pub reap: u64,
}

/// A queue on a real kernel.
pub trait Engine: Queue {
    /// Issues what was submitted, then waits until `least` completions are there or `until` has
    /// come (half a second at most where it is absent); appends what completed.
    ///
    /// # Errors
    /// The kernel refuses the call itself; failures of single I/Os are completions.
    fn wait(
        &mut self,
        least: u32,
        until: Option<Time>,
        done: &mut Vec<Done>,
    ) -> Result<Calls, Trouble>;
}

/// What an engine needs to know of its file.
#[derive(Debug)]
pub struct Opened {
    /// The open file.
    pub descriptor: OwnedFd,
    /// Discard by ioctl rather than by punching holes.
    pub is_device: bool,
    /// fdatasync instead of fsync.
    pub data_only: bool,
    /// Bytes of a zone of the device, where the stream is of zones.
    pub zone_bytes: u64,
    /// Bytes of the file, or of the smallest where there are others.
    pub bytes: u64,
    /// The worker's further files, used in turn with the first.
    pub others: Vec<OwnedFd>,
    /// Where NVMe commands go, for the engine that sends them.
    pub commands: Option<CommandDevice>,
}

/// `RWF_ATOMIC` of linux/fs.h: a write is whole on the drive, or not there at all.
pub(crate) const WHOLE: u32 = 0x40;

/// The character device of a namespace, which takes commands.
#[derive(Debug)]
pub struct CommandDevice {
    /// Open for reading, and for writing where that was approved.
    pub descriptor: OwnedFd,
    /// Its node.
    pub node: PathBuf,
    /// The namespace's identifier on its drive.
    pub identifier: u32,
    /// Bytes of its logical blocks.
    pub block_bytes: u32,
}

impl Opened {
    /// The raw descriptor.
    #[inline]
    pub fn raw(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    /// The file of that number among the worker's own.
    #[inline]
    pub fn file(&self, number: u32) -> &OwnedFd {
        match number {
            0 => &self.descriptor,
            number => &self.others[number as usize - 1],
        }
    }

    /// The raw descriptors of all files, in order.
    pub fn all_raw(&self) -> Vec<RawFd> {
        [&self.descriptor].into_iter().chain(&self.others).map(AsRawFd::as_raw_fd).collect()
    }

    /// Lets go of the clean pages that the page cache holds of the worker's files.
    ///
    /// # Errors
    /// As `posix_fadvise(2)` says.
    pub fn drop_cached(&self) -> Result<(), Trouble> {
        for file in [&self.descriptor].into_iter().chain(&self.others) {
            crate::cache::drop_clean(file).map_err(|error| {
                Trouble::failed(format!("cached pages cannot be dropped between passes: {error}"))
            })?;
        }
        Ok(())
    }

    /// Does what has no asynchronous form in the engine: trim, flush, reset and finish of zones.
    pub fn perform(&self, op: &DataOp) -> Result<u32, Errno> {
        match op.action {
            Action::Trim => {
                let bytes = u64::from(op.len);
                let discarded =
                    crate::trim::discard(self.file(op.file), self.is_device, op.offset, bytes);
                discarded.map(|()| op.len)
            }
            Action::Reset => {
                crate::zones::reset(self.file(op.file), op.offset, self.zone_bytes).map(|()| 0)
            }
            Action::Finish => {
                crate::zones::finish(self.file(op.file), op.offset, self.zone_bytes).map(|()| 0)
            }
            Action::Flush if self.data_only => {
                rustix::fs::fdatasync(self.file(op.file)).map(|()| 0).map_err(errno)
            }
            Action::Flush => rustix::fs::fsync(self.file(op.file)).map(|()| 0).map_err(errno),
            _ => Err(Errno(libc::EINVAL)),
        }
    }
}

/// Sleeps, then spins, until `until`; for queues with nothing in flight.
pub fn sleep_until(clock: &Clock, until: Time) {
    let now = clock.now();
    if until > now + SPIN_NS {
        pause((until - now - SPIN_NS).min(LOOK_AROUND_NS));
        if until > clock.now() + SPIN_NS {
            return;
        }
    }
    while clock.now() < until {
        std::hint::spin_loop();
    }
}

/// How long a call may stay in the kernel before the spinning part of a wait begins.
pub fn kernel_wait_ns(now: Time, until: Option<Time>) -> Time {
    match until {
        None => LOOK_AROUND_NS,
        Some(until) => until.saturating_sub(now).saturating_sub(SPIN_NS).min(LOOK_AROUND_NS),
    }
}
