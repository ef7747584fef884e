//! Engines that change a file and move no data: falloc sets its ranges aside and punches holes,
//! ftruncate moves its end. The file was opened for writing by the guard's leave, whatever the
//! operation is called.

use crate::engine::Opened;
use crate::errno::errno;
use crate::sync::Mover;
use drivelab_core::op::{Action, DataOp, Errno};
use rustix::fs::{FallocateFlags, fallocate, ftruncate};

/// Room of a file, by fallocate.
#[derive(Debug)]
pub struct Falloc {
    opened: Opened,
}

impl Falloc {
    /// On an open file.
    pub fn new(opened: Opened) -> Self {
        Falloc { opened }
    }
}

impl Mover for Falloc {
    type Op = DataOp;
    const MOVES_DATA: bool = false;

    #[inline]
    fn transfer(&mut self, op: &DataOp, _: &mut [u8]) -> Result<u32, Errno> {
        let flags = match op.action {
            Action::Read => FallocateFlags::KEEP_SIZE,
            Action::Write => FallocateFlags::empty(),
            _ => return self.opened.perform(op),
        };
        let set_aside = fallocate(self.opened.file(op.file), flags, op.offset, u64::from(op.len));
        set_aside.map(|()| op.len).map_err(errno)
    }
}

/// The end of a file, by ftruncate.
#[derive(Debug)]
pub struct Ftruncate {
    opened: Opened,
}

impl Ftruncate {
    /// On an open file.
    pub fn new(opened: Opened) -> Self {
        Ftruncate { opened }
    }
}

impl Mover for Ftruncate {
    type Op = DataOp;
    const MOVES_DATA: bool = false;

    #[inline]
    fn transfer(&mut self, op: &DataOp, _: &mut [u8]) -> Result<u32, Errno> {
        match op.action {
            Action::Write => {
                let ended = ftruncate(self.opened.file(op.file), op.offset);
                ended.map(|()| op.len).map_err(errno)
            }
            Action::Flush => self.opened.perform(op),
            _ => Err(Errno(libc::EINVAL)),
        }
    }
}
