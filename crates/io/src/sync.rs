//! Synchronous engines: psync (pread, pwrite) and stdio (fread, fwrite), one I/O at a time.

use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::{Calls, Engine, Opened, WHOLE, sleep_until};
use crate::errno::{errno, last_errno};
use crate::watch::Pulse;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, Done, Errno, Op, Tag, Time};
use drivelab_core::queue::{Queue, Trouble};
use rustix::io::{ReadWriteFlags, pread, pwrite, pwritev2};
use std::io::IoSlice;
use std::sync::Arc;

/// How a synchronous engine moves data.
pub trait Mover {
    /// What it can be asked for: operations on data, or on names.
    type Op: Copy + Into<Op> + TryFrom<Op, Error = Trouble>;
    /// Whether it looks at `data` at all.
    const MOVES_DATA: bool = true;
    /// Moves what `op` says between `data` and the target; returns how many bytes.
    fn transfer(&mut self, op: &Self::Op, data: &mut [u8]) -> Result<u32, Errno>;
    /// See [`Queue::drop_cached`].
    fn drop_cached(&mut self) -> Result<(), Trouble> {
        Ok(())
    }
}

/// A queue that does each operation when it waits, one after the other.
pub struct SyncQueue<M: Mover> {
    mover: M,
    clock: Clock,
    buffers: Buffers,
    pending: Vec<(Tag, M::Op)>,
    pulse: Arc<Pulse>,
}

impl<M: Mover> std::fmt::Debug for SyncQueue<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SyncQueue").field("pending", &self.pending.len()).finish_non_exhaustive()
    }
}

impl<M: Mover> SyncQueue<M> {
    /// A queue over `mover` with a buffer for each tag.
    pub fn new(mover: M, clock: Clock, buffers: Buffers, pulse: Arc<Pulse>) -> Self {
        let pending = Vec::with_capacity(buffers.count());
        SyncQueue { mover, clock, buffers, pending, pulse }
    }
}

impl<M: Mover> Queue for SyncQueue<M> {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slice(tag)
    }

    #[inline]
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        debug_assert!(
            self.pending.iter().all(|(other, _)| *other != tag),
            "{tag} is submitted twice"
        );
        self.pending.push((tag, op.try_into()?));
        Ok(())
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        self.mover.drop_cached()
    }

    #[inline]
    fn keeps_content(&self) -> bool {
        M::MOVES_DATA
    }
}

impl<M: Mover> Engine for SyncQueue<M> {
    #[inline]
    fn wait(
        &mut self,
        _least: u32,
        until: Option<Time>,
        done: &mut Vec<Done>,
    ) -> Result<Calls, Trouble> {
        let count = self.pending.len() as u64;
        if count == 0
            && let Some(until) = until
        {
            sleep_until(&self.clock, until);
        }
        for (tag, op) in self.pending.drain(..) {
            let asked: Op = op.into();
            self.pulse.begin(&asked);
            let data = &mut self.buffers.slice(tag)[..asked.bytes() as usize];
            let issued = self.clock.now();
            let result = self.mover.transfer(&op, data);
            let completed = self.clock.now();
            debug_assert!(issued <= completed, "the clock went back");
            debug_assert!(
                !result.is_ok_and(|moved| moved > asked.bytes()),
                "{asked:?}: {result:?}"
            );
            done.push(Done {
                tag,
                issued,
                submitted: completed,
                completed,
                result,
                cause: Cause::Unknown,
            });
        }
        Ok(Calls { submit: count, reap: count })
    }
}

/// pread and pwrite.
#[derive(Debug)]
pub struct Psync {
    opened: Opened,
    /// A write is whole on the drive, or not there at all.
    atomic: bool,
}

impl Psync {
    /// On an open file.
    pub fn new(opened: Opened, atomic: bool) -> Self {
        Psync { opened, atomic }
    }
}

impl Mover for Psync {
    type Op = DataOp;

    #[inline]
    fn transfer(&mut self, op: &DataOp, data: &mut [u8]) -> Result<u32, Errno> {
        let moved = match op.action {
            Action::Read => pread(self.opened.file(op.file), data, op.offset),
            Action::Write if self.atomic => {
                let flags = ReadWriteFlags::from_bits_retain(WHOLE);
                pwritev2(self.opened.file(op.file), &[IoSlice::new(data)], op.offset, flags)
            }
            Action::Write => pwrite(self.opened.file(op.file), data, op.offset),
            _ => return self.opened.perform(op),
        };
        moved.map(|bytes| bytes as u32).map_err(errno)
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        self.opened.drop_cached()
    }
}

/// fread and fwrite with a buffer of one record, as IOzone uses them.
#[derive(Debug)]
pub struct Stdio {
    stream: *mut libc::FILE,
    opened: Opened,
    position: u64,
    last: Option<Action>,
    record: Vec<u8>,
}

// SAFETY: the FILE belongs to this value alone and moves to one worker thread with it.
unsafe impl Send for Stdio {}

impl Stdio {
    /// On an open file; `record_bytes` is the size of the stream's own buffer.
    ///
    /// # Errors
    /// The C library refuses the stream.
    pub fn new(opened: Opened, record_bytes: usize, writes: bool) -> Result<Self, Trouble> {
        let mode = if writes { c"r+" } else { c"r" };
        let refused =
            |what: &str| Trouble::failed(format!("{what}: {}", std::io::Error::last_os_error()));
        // SAFETY: dup only needs an open descriptor.
        let duplicate = unsafe { libc::dup(opened.raw()) };
        if duplicate < 0 {
            return Err(refused("cannot duplicate the file for stdio"));
        }
        // SAFETY: the descriptor is open and owned by the stream from here on; mode is NUL-ended.
        let stream = unsafe { libc::fdopen(duplicate, mode.as_ptr()) };
        if stream.is_null() {
            return Err(refused("fdopen failed"));
        }
        let mut record = vec![0; record_bytes.max(1)];
        // SAFETY: `record` outlives the stream: both are fields, and Drop closes the stream first.
        let status = unsafe {
            libc::setvbuf(stream, record.as_mut_ptr().cast(), libc::_IOFBF, record.len())
        };
        if status != 0 {
            return Err(refused("setvbuf failed"));
        }
        Ok(Stdio { stream, opened, position: 0, last: None, record })
    }

    /// Positions only where it must: seeking throws the buffer away.
    fn seek(&mut self, op: &DataOp) -> Result<(), Errno> {
        let turned = self.last.is_some_and(|last| last != op.action);
        if self.position == op.offset && !turned && self.last.is_some() {
            return Ok(());
        }
        // SAFETY: the stream is open until Drop.
        let status = unsafe { libc::fseeko(self.stream, op.offset as libc::off_t, libc::SEEK_SET) };
        if status == 0 { Ok(()) } else { Err(last_errno()) }
    }

    fn flush(&mut self) -> Result<(), Errno> {
        // SAFETY: the stream is open until Drop.
        if unsafe { libc::fflush(self.stream) } == 0 { Ok(()) } else { Err(last_errno()) }
    }
}

impl Mover for Stdio {
    type Op = DataOp;

    fn transfer(&mut self, op: &DataOp, data: &mut [u8]) -> Result<u32, Errno> {
        if !matches!(op.action, Action::Read | Action::Write) {
            self.flush()?;
            self.last = None;
            return self.opened.perform(op);
        }
        self.seek(op)?;
        let (pointer, length) = (data.as_mut_ptr(), data.len());
        // SAFETY: `data` is valid for `length` bytes and the stream is open until Drop.
        let moved = unsafe {
            if op.action == Action::Read {
                libc::fread(pointer.cast(), 1, length, self.stream)
            } else {
                libc::fwrite(pointer.cast(), 1, length, self.stream)
            }
        };
        // SAFETY: the stream is open until Drop.
        if moved < length && unsafe { libc::ferror(self.stream) } != 0 {
            return Err(last_errno());
        }
        debug_assert!(moved <= data.len(), "a record has more bytes than were asked for");
        self.position = op.offset + moved as u64;
        self.last = Some(op.action);
        Ok(moved as u32)
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        self.opened.drop_cached()
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // SAFETY: closed only here; `record` is freed after this body.
        unsafe { libc::fclose(self.stream) };
        self.record.clear();
    }
}
