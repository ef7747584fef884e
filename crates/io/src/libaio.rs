//! Kernel AIO: io_submit and io_getevents by raw system call; no library needed.
//!
//! Source: io_submit(2), io_getevents(2), linux/aio_abi.h.

mod blocks;

use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::{Calls, Engine, Opened, WHOLE, kernel_wait_ns, sleep_until};
use crate::errno::last_errno;
use blocks::{Blocks, Iocb};
use drivelab_core::defect::defect;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, Done, Errno, Op, Tag, Time};
use drivelab_core::plan::Stream;
use drivelab_core::queue::{Queue, Trouble};
use std::os::fd::AsRawFd;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;
/// A control block has a priority of its own (IOCB_FLAG_IOPRIO).
const HAS_PRIORITY: u32 = 2;

/// How often the kernel may say "again" to one submission, and the pause after each time.
const REFUSALS_MAX: u32 = 10_000;
const REFUSAL_PAUSE_NS: u64 = 100_000;

/// `struct io_event` of linux/aio_abi.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct IoEvent {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

const _: () = assert!(size_of::<IoEvent>() == 32);

/// An AIO context with its buffers and file.
#[derive(Debug)]
pub struct Libaio {
    context: libc::c_ulong,
    clock: Clock,
    buffers: Buffers,
    opened: Opened,
    /// A write is whole on the drive, or not there at all.
    atomic: bool,
    batch: usize,
    pending: Blocks,
    direct: Vec<(Tag, DataOp)>,
    /// What the kernel did not take: it has failed.
    refused: Vec<Done>,
    stamps: Vec<(Time, Time)>,
    events: Vec<IoEvent>,
    in_flight: u32,
    /// Submitting calls of full batches since the last wait.
    calls_before: u64,
}

impl Libaio {
    /// A context for `stream` on an open file.
    ///
    /// # Errors
    /// The kernel refuses a context of that depth.
    pub fn new(
        stream: &Stream,
        opened: Opened,
        clock: Clock,
        buffers: Buffers,
    ) -> Result<Self, Trouble> {
        let depth = stream.depth.max(1) as usize;
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one context number to the pointer.
        let status = unsafe { libc::syscall(libc::SYS_io_setup, depth, &mut context) };
        if status != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Trouble::usage(format!(
                "kernel AIO cannot be set up at depth {depth}: {error}; lower the depth, raise \
                 fs.aio-max-nr, or use --engine io_uring"
            )));
        }
        Ok(Libaio {
            context,
            clock,
            buffers,
            opened,
            atomic: stream.atomic,
            batch: stream.batch_submit.unwrap_or(depth as u32).clamp(1, depth as u32) as usize,
            pending: Blocks::new(depth),
            direct: Vec::with_capacity(depth),
            refused: Vec::with_capacity(depth),
            stamps: vec![(0, 0); depth],
            events: vec![IoEvent::default(); depth],
            in_flight: 0,
            calls_before: 0,
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        let mut calls = 0;
        let mut from = 0;
        let mut refusals = 0;
        while from < self.pending.len() {
            let (count, list) = self.pending.list(from);
            let issued = self.clock.now();
            // SAFETY: the list holds this many pointers, each to a block that lives as long as the
            // context, with memory that is lent to the kernel.
            let taken = unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, list) };
            let submitted = self.clock.now();
            calls += 1;
            if taken <= 0 {
                let error = std::io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::EINTR) => continue,
                    // Short of memory for the moment; the next try has a reading of its own.
                    Some(libc::EAGAIN) if refusals < REFUSALS_MAX => {
                        refusals += 1;
                        crate::clock::pause(REFUSAL_PAUSE_NS);
                        continue;
                    }
                    Some(libc::EOPNOTSUPP) if self.atomic => {
                        return Err(Trouble::failed(format!(
                            "the kernel or the drive does not write atomically: {error}; leave \
                             `atomic` out"
                        )));
                    }
                    _ => {}
                }
                self.refuse(from, (issued, submitted), &error)?;
                from += 1;
                continue;
            }
            let to = (from + taken as usize).min(self.pending.len());
            for tag in &self.pending.tags()[from..to] {
                self.stamps[*tag as usize] = (issued, submitted);
            }
            from = to;
            self.in_flight += taken as u32;
            debug_assert!(
                self.in_flight as usize <= self.stamps.len(),
                "more than there are slots"
            );
        }
        self.pending.clear();
        Ok(calls)
    }

    /// The kernel did not take the first of those that it was given: that one has failed.
    #[cold]
    fn refuse(
        &mut self,
        place: usize,
        (issued, submitted): (Time, Time),
        error: &std::io::Error,
    ) -> Result<(), Trouble> {
        let (Some(tag), Some(number)) = (self.pending.tags().get(place), error.raw_os_error())
        else {
            return Err(Trouble::failed(format!("io_submit: {error}")));
        };
        // SAFETY: the kernel did not take it, and has no claim on its memory.
        unsafe { self.buffers.take_back(*tag) };
        self.refused.push(Done {
            tag: *tag,
            issued,
            submitted,
            completed: submitted,
            result: Err(Errno(number)),
            cause: Cause::Unknown,
        });
        Ok(())
    }

    fn perform_direct(&mut self, done: &mut Vec<Done>) {
        for (tag, op) in self.direct.drain(..) {
            let issued = self.clock.now();
            let result = self.opened.perform(&op);
            let completed = self.clock.now();
            done.push(Done {
                tag,
                issued,
                submitted: completed,
                completed,
                result,
                cause: Cause::Unknown,
            });
        }
    }

    fn get(&mut self, least: u32, wait_ns: Time, done: &mut Vec<Done>) -> Result<u32, Trouble> {
        let mut timeout = libc::timespec {
            tv_sec: (wait_ns / 1_000_000_000) as _,
            tv_nsec: (wait_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: `events` has room for its length, `timeout` lives through the call.
        let found = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least.min(self.in_flight) as libc::c_long,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                &mut timeout,
            )
        };
        let completed = self.clock.now();
        if found < 0 {
            return match last_errno() {
                Errno(libc::EINTR) => Ok(0),
                Errno(number) => Err(Trouble::failed(format!(
                    "io_getevents: {}",
                    std::io::Error::from_raw_os_error(number)
                ))),
            };
        }
        for event in &self.events[..found as usize] {
            let tag = event.data as Tag;
            // SAFETY: the kernel says that it is done with this operation.
            unsafe { self.buffers.take_back(tag) };
            let (issued, submitted) = self.stamps[tag as usize];
            debug_assert!(issued <= submitted, "{tag} was submitted before it was issued");
            debug_assert!(issued <= completed, "{tag} completed before it was issued");
            let result = match event.result {
                bytes if bytes >= 0 => Ok(bytes as u32),
                error => Err(Errno(-error as i32)),
            };
            done.push(Done { tag, issued, submitted, completed, result, cause: Cause::Unknown });
        }
        match self.in_flight.checked_sub(found as u32) {
            Some(left) => self.in_flight = left,
            None => defect("more completions came than operations are in flight"),
        }
        Ok(found as u32)
    }
}

impl Queue for Libaio {
    fn now(&self) -> Time {
        self.clock.now()
    }

    #[inline]
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slice(tag)
    }

    #[inline]
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        let op = DataOp::try_from(op)?;
        if op.action.is_a_call_of_its_own() {
            self.direct.push((tag, op));
            return Ok(());
        }
        if self.pending.len() >= self.batch {
            self.calls_before += self.flush()?;
        }
        let opcode = match op.action {
            Action::Read => IOCB_CMD_PREAD,
            Action::Write => IOCB_CMD_PWRITE,
            Action::Flush if self.opened.data_only => IOCB_CMD_FDSYNC,
            Action::Flush => IOCB_CMD_FSYNC,
            other => defect(format!("a {} was to go through AIO", other.word())),
        };
        let moves = matches!(op.action, Action::Read | Action::Write);
        let is_whole = self.atomic && op.action == Action::Write;
        let buffer = self.buffers.lend(tag);
        let block = Iocb {
            data: u64::from(tag),
            opcode,
            rw_flags: if is_whole { WHOLE as i32 } else { 0 },
            descriptor: self.opened.file(op.file).as_raw_fd() as u32,
            buffer: if moves { buffer as u64 } else { 0 },
            bytes: u64::from(op.len),
            offset: op.offset as i64,
            flags: if op.priority > 0 { HAS_PRIORITY } else { 0 },
            priority: op.priority as i16,
            ..Iocb::default()
        };
        self.pending.push(tag, block);
        Ok(())
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        self.opened.drop_cached()
    }
}

impl Engine for Libaio {
    #[inline]
    fn wait(
        &mut self,
        least: u32,
        until: Option<Time>,
        done: &mut Vec<Done>,
    ) -> Result<Calls, Trouble> {
        let before = std::mem::take(&mut self.calls_before);
        let mut calls = Calls { submit: before + self.flush()?, reap: 0 };
        done.append(&mut self.refused);
        if !self.direct.is_empty() {
            self.perform_direct(done);
        }
        if self.in_flight == 0 {
            if let Some(until) = until
                && done.is_empty()
            {
                sleep_until(&self.clock, until);
            }
            return Ok(calls);
        }
        let mut got = done.len() as u32;
        while got < least.max(1) && self.in_flight > 0 {
            let now = if until.is_some() { self.clock.now() } else { 0 };
            let wait_ns = kernel_wait_ns(now, until);
            let wanted = if wait_ns == 0 { 0 } else { least.max(1) - got };
            let found = self.get(wanted, wait_ns, done)?;
            calls.reap += 1;
            got += found;
            let over = until.is_none_or(|until| self.clock.now() >= until);
            if found == 0 && over {
                break;
            }
        }
        Ok(calls)
    }
}

impl Drop for Libaio {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // io_destroy would wait for ever; the kernel may still write to the buffers.
            self.buffers.leak();
            return;
        }
        // SAFETY: the context was made in `new` and is destroyed only here.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
