//! Reads, writes and flushes as io_uring has them itself.

use super::{Freight, Registered, Ring, setup_failed};
use crate::buffer::Buffers;
use crate::engine::{Opened, WHOLE};
use drivelab_core::defect::defect;
use drivelab_core::op::{Action, DataOp, Errno, Tag};
use drivelab_core::plan::Stream;
use drivelab_core::queue::Trouble;
use io_uring::{cqueue, opcode, squeue, types};
use std::os::fd::{AsRawFd, RawFd};

/// Requests to the kernel. Trims have no portable one.
#[derive(Debug)]
pub struct Requests {
    registered: Registered,
    /// What writes ask for besides.
    write_flags: i32,
}

impl Freight for Requests {
    type Entry = squeue::Entry;
    type Completion = cqueue::Entry;

    fn files(opened: &Opened) -> Vec<RawFd> {
        opened.all_raw()
    }

    fn refused(error: &std::io::Error) -> Trouble {
        setup_failed(error)
    }

    fn load(
        _: &mut Ring<Self>,
        stream: &Stream,
        _: &Opened,
        _: &mut Buffers,
        registered: Registered,
    ) -> Result<Self, Trouble> {
        let write_flags = if stream.atomic { WHOLE as i32 } else { 0 };
        Ok(Requests { registered, write_flags })
    }

    #[inline]
    fn carries(action: Action) -> bool {
        !action.is_a_call_of_its_own()
    }

    #[inline]
    fn entry(&mut self, opened: &Opened, _: Tag, op: &DataOp, pointer: *mut u8) -> squeue::Entry {
        macro_rules! on {
            ($file:expr) => {
                match op.action {
                    Action::Read if self.registered.buffers => {
                        opcode::ReadFixed::new($file, pointer, op.len, 0)
                            .offset(op.offset)
                            .ioprio(op.priority as u16)
                            .build()
                    }
                    Action::Read => opcode::Read::new($file, pointer, op.len)
                        .offset(op.offset)
                        .ioprio(op.priority as u16)
                        .build(),
                    Action::Write if self.registered.buffers => {
                        opcode::WriteFixed::new($file, pointer, op.len, 0)
                            .offset(op.offset)
                            .rw_flags(self.write_flags)
                            .ioprio(op.priority as u16)
                            .build()
                    }
                    Action::Write => opcode::Write::new($file, pointer, op.len)
                        .offset(op.offset)
                        .rw_flags(self.write_flags)
                        .ioprio(op.priority as u16)
                        .build(),
                    Action::Flush if opened.data_only => {
                        opcode::Fsync::new($file).flags(types::FsyncFlags::DATASYNC).build()
                    }
                    Action::Flush => opcode::Fsync::new($file).build(),
                    other => defect(format!("a {} was to go through the ring", other.word())),
                }
            };
        }
        match self.registered.files {
            true => on!(types::Fixed(op.file)),
            false => on!(types::Fd(opened.file(op.file).as_raw_fd())),
        }
    }

    #[inline]
    fn outcome(completion: &cqueue::Entry, _: &DataOp) -> Result<u32, Errno> {
        match completion.result() {
            bytes if bytes >= 0 => Ok(bytes as u32),
            error => Err(Errno(-error)),
        }
    }
}
