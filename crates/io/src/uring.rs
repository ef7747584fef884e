//! io_uring: registered memory and file, batched submission, one ring a worker. What its entries
//! carry is [`requests`] to the kernel, or [`commands`] to a drive.
//!
//! The submitting call and the reaping call are two, so that submit latency means something and
//! no clock reading serves two calls. Source: io_uring_enter(2), io_uring_setup(2).

pub mod commands;
pub mod requests;

use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::{Calls, Engine, Opened, kernel_wait_ns, sleep_until};
use crate::refusals::Refusals;
use drivelab_core::defect::defect;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, Done, Errno, Op, Tag, Time};
use drivelab_core::plan::Stream;
use drivelab_core::queue::{Queue, Trouble};
use io_uring::cqueue::{self, EntryMarker as _};
use io_uring::{IoUring, squeue, types};
use std::os::fd::RawFd;

/// Largest single registered buffer that the kernel takes.
const REGISTERED_BYTES_MAX: usize = 1 << 30;

/// What the kernel has taken beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// The files: entries name them by their place.
    pub files: bool,
    /// The memory of all tags.
    pub buffers: bool,
}

/// What the entries of a ring carry.
pub trait Freight: Sized {
    /// Entries on their way to the kernel.
    type Entry: squeue::EntryMarker;
    /// Entries that come back.
    type Completion: cqueue::EntryMarker;

    /// The files that entries name.
    fn files(opened: &Opened) -> Vec<RawFd>;

    /// Why there is no ring for such entries.
    fn refused(error: &std::io::Error) -> Trouble;

    /// Makes ready, and finds out what the kernel carries.
    ///
    /// # Errors
    /// It carries no such thing for us.
    fn load(
        ring: &mut Ring<Self>,
        stream: &Stream,
        opened: &Opened,
        buffers: &mut Buffers,
        registered: Registered,
    ) -> Result<Self, Trouble>;

    /// Whether such an operation has an entry; one that has none is done by a call.
    fn carries(action: Action) -> bool;

    /// The entry of an operation on this memory, which the kernel has from now on.
    fn entry(&mut self, opened: &Opened, tag: Tag, op: &DataOp, memory: *mut u8) -> Self::Entry;

    /// How many bytes an operation has moved, or why it failed.
    fn outcome(completion: &Self::Completion, op: &DataOp) -> Result<u32, Errno>;

    /// Nothing is in flight any more, and nothing follows.
    fn end(&mut self, _: &Opened) {}

    /// Gives no memory back to the system: the kernel may still read there.
    fn leak(&mut self) {}
}

/// The ring that carries such entries.
pub type Ring<F> = IoUring<<F as Freight>::Entry, <F as Freight>::Completion>;

/// A ring with its buffers and file.
pub struct Uring<F: Freight> {
    ring: Ring<F>,
    freight: F,
    clock: Clock,
    buffers: Buffers,
    opened: Opened,
    registered: Registered,
    nonblocking: bool,
    batch: usize,
    pending: Vec<Tag>,
    direct: Vec<(Tag, DataOp)>,
    flights: Vec<InFlight>,
    in_flight: u32,
    /// Submitting calls of full batches since the last wait.
    calls_before: u64,
    sqpoll: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    issued: Time,
    submitted: Time,
    op: DataOp,
}

impl<F: Freight> std::fmt::Debug for Uring<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uring").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

fn setup_failed(error: &std::io::Error) -> Trouble {
    let advice = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "; it may be disabled (kernel.io_uring_disabled) or filtered here: use --engine libaio"
        }
        Some(libc::ENOSYS) => "; this kernel has none: use --engine libaio",
        Some(libc::ENOMEM) => "; raise the limit of locked memory (ulimit -l) or lower the depth",
        Some(libc::EINVAL) => "; lower the depth (32768 at most), or use --engine libaio",
        _ => "; use --engine libaio",
    };
    Trouble::usage(format!("io_uring cannot be set up: {error}{advice}"))
}

/// The ring in the cheapest mode that this kernel and stream allow.
pub(crate) fn ring(stream: &Stream, entries: u32) -> Result<IoUring, Trouble> {
    ring_of(stream, entries).map_err(|error| setup_failed(&error))
}

/// The same, of whatever its entries carry.
fn ring_of<S, C>(stream: &Stream, entries: u32) -> std::io::Result<IoUring<S, C>>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    let build = |modern: bool| {
        let mut builder = IoUring::<S, C>::builder();
        builder.setup_cqsize(entries * 2);
        if stream.iopoll {
            builder.setup_iopoll();
        }
        if stream.sqpoll {
            builder.setup_sqpoll(1000);
        } else if modern {
            builder.setup_single_issuer().setup_defer_taskrun();
        }
        builder.build(entries)
    };
    let old_kernel = |error: &std::io::Error| error.raw_os_error() == Some(libc::EINVAL);
    match build(true) {
        Err(error) if old_kernel(&error) => build(false),
        other => other,
    }
}

impl<F: Freight> Uring<F> {
    /// A ring for `stream` on an open file. Called on the thread that will use it.
    ///
    /// # Errors
    /// The kernel has no io_uring, refuses the memory, or does not carry what is to be carried.
    pub fn new(
        stream: &Stream,
        opened: Opened,
        nonblocking: bool,
        clock: Clock,
        mut buffers: Buffers,
    ) -> Result<Self, Trouble> {
        let depth = stream.depth.max(1);
        // The kernel's thread frees the entries of a batch when it has gone through all of it.
        let entries = if stream.sqpoll { depth.saturating_mul(2) } else { depth };
        let ring = ring_of::<F::Entry, F::Completion>(stream, entries.next_power_of_two());
        let mut ring = ring.map_err(|error| F::refused(&error))?;
        let submitter = ring.submitter();
        let files = !stream.unregistered && submitter.register_files(&F::files(&opened)).is_ok();
        let (base, total) = buffers.whole();
        let whole = libc::iovec { iov_base: base.cast(), iov_len: total };
        // SAFETY: the memory is mapped until the ring is closed (the order of the fields).
        let is_taken = !stream.unregistered
            && total <= REGISTERED_BYTES_MAX
            && unsafe { submitter.register_buffers(&[whole]) }.is_ok();
        let registered = Registered { files, buffers: is_taken };
        let freight = F::load(&mut ring, stream, &opened, &mut buffers, registered)?;
        Ok(Uring {
            ring,
            freight,
            clock,
            opened,
            registered,
            nonblocking,
            batch: stream.batch_submit.unwrap_or(depth).clamp(1, depth) as usize,
            pending: Vec::with_capacity(depth as usize),
            direct: Vec::with_capacity(depth as usize),
            flights: vec![InFlight::default(); depth as usize],
            in_flight: 0,
            calls_before: 0,
            sqpoll: stream.sqpoll,
            buffers,
        })
    }

    #[inline]
    fn entry(&mut self, tag: Tag, op: &DataOp) -> F::Entry {
        let memory = self.buffers.lend(tag);
        let mut entry = self.freight.entry(&self.opened, tag, op, memory);
        squeue::EntryMarker::set_user_data(&mut entry, u64::from(tag));
        entry
    }

    /// Carries everything pending to the kernel; each call has a clock reading of its own.
    fn flush(&mut self) -> Result<u64, Trouble> {
        if self.sqpoll {
            return self.rouse();
        }
        let mut calls = 0;
        let mut from = 0;
        let mut refusals = Refusals::default();
        while from < self.pending.len() {
            let issued = self.clock.now();
            let taken = match self.ring.submit() {
                Ok(taken) => taken,
                Err(error) if refusals.try_again(&error) => {
                    // Completions that found no room are brought in.
                    enter(&self.ring, 0, 0)?;
                    continue;
                }
                Err(error) => return Err(Trouble::failed(format!("io_uring_enter: {error}"))),
            };
            let submitted = self.clock.now();
            calls += 1;
            debug_assert!(submitted >= issued, "the clock went back");
            debug_assert!(
                from + taken <= self.pending.len(),
                "the kernel took more than there was"
            );
            let to = (from + taken).min(self.pending.len());
            for tag in &self.pending[from..to] {
                let flight = &mut self.flights[*tag as usize];
                flight.issued = issued;
                flight.submitted = submitted;
            }
            self.in_flight += (to - from) as u32;
            debug_assert!(
                self.in_flight as usize <= self.flights.len(),
                "more than there are slots"
            );
            if taken == 0 {
                return Err(Trouble::failed("io_uring takes no more operations; lower the depth"));
            }
            from = to;
        }
        self.pending.clear();
        Ok(calls)
    }

    /// The kernel's thread has taken what is pending or will; it is woken if it sleeps.
    fn rouse(&mut self) -> Result<u64, Trouble> {
        if self.pending.is_empty() {
            return Ok(0);
        }
        self.pending.clear();
        loop {
            match self.ring.submit() {
                Ok(_) => return Ok(1),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Trouble::failed(format!("io_uring_enter: {error}"))),
            }
        }
    }

    /// The kernel's thread gives entries back late: an operation may be done before its entry is.
    fn await_room(&mut self) -> Result<(), Trouble> {
        while self.ring.submission().is_full() {
            self.rouse()?;
            std::thread::yield_now();
        }
        Ok(())
    }

    /// What has no entry is done at once, with stamps of its own.
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

    /// Takes what is there. The stamp is read after the count and before any accounting.
    fn reap(&mut self, completed: Option<Time>, done: &mut Vec<Done>) -> u32 {
        let mut queue = self.ring.completion();
        queue.sync();
        let ready = queue.len();
        if ready == 0 {
            return 0;
        }
        let completed = completed.unwrap_or_else(|| self.clock.now());
        for entry in queue.by_ref().take(ready) {
            let tag = entry.user_data() as Tag;
            // SAFETY: the kernel says that it is done with this operation.
            unsafe { self.buffers.take_back(tag) };
            let flight = &self.flights[tag as usize];
            let mut end = completed;
            let result = match F::outcome(&entry, &flight.op) {
                Err(Errno(libc::EAGAIN)) if self.nonblocking => {
                    let again = blocking(&self.opened, &mut self.buffers, tag, &flight.op);
                    end = self.clock.now();
                    again
                }
                other => other,
            };
            let InFlight { issued, submitted, .. } = *flight;
            debug_assert!(issued <= end, "{tag} completed before it was issued");
            debug_assert!(
                !result.is_ok_and(|moved| moved > flight.op.len),
                "{result:?}, {flight:?}"
            );
            done.push(Done {
                tag,
                issued,
                submitted,
                completed: end,
                result,
                cause: Cause::Unknown,
            });
        }
        match self.in_flight.checked_sub(ready as u32) {
            Some(left) => self.in_flight = left,
            None => defect("more completions came than operations are in flight"),
        }
        ready as u32
    }
}

/// One reaping call: waits for `least` completions, or so long.
pub(crate) fn enter<S, C>(ring: &IoUring<S, C>, least: u32, wait_ns: Time) -> Result<(), Trouble>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    let least = least as usize;
    let result = if wait_ns == 0 || least == 0 {
        // SAFETY: no argument is passed; GETEVENTS (1) only runs completions.
        unsafe { ring.submitter().enter::<libc::sigset_t>(0, 0, 1, None) }.map(|_| 0)
    } else {
        let wait = types::Timespec::new()
            .sec(wait_ns / 1_000_000_000)
            .nsec((wait_ns % 1_000_000_000) as u32);
        let arguments = types::SubmitArgs::new().timespec(&wait);
        ring.submitter().submit_with_args(least, &arguments)
    };
    match result {
        Ok(_) => Ok(()),
        Err(error) if is_passing(&error) => Ok(()),
        Err(error) => Err(Trouble::failed(format!("io_uring_enter: {error}"))),
    }
}

/// Interrupted, timed out or busy: the caller simply looks again.
pub(crate) fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN))
}

/// The same operation once more, in a call that may block.
fn blocking(opened: &Opened, buffers: &mut Buffers, tag: Tag, op: &DataOp) -> Result<u32, Errno> {
    let data = &mut buffers.slice(tag)[..op.len as usize];
    let moved = match op.action {
        Action::Read => rustix::io::pread(opened.file(op.file), data, op.offset),
        Action::Write => rustix::io::pwrite(opened.file(op.file), data, op.offset),
        other => defect(format!("a {} was to be done once more", other.word())),
    };
    moved.map(|bytes| bytes as u32).map_err(crate::errno::errno)
}

impl<F: Freight> Queue for Uring<F> {
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
        if !F::carries(op.action) {
            self.direct.push((tag, op));
            return Ok(());
        }
        if self.pending.len() >= self.batch {
            self.calls_before += self.flush()?;
        }
        self.flights[tag as usize].op = op;
        let entry = self.entry(tag, &op);
        if self.sqpoll {
            self.await_room()?;
            // The kernel's thread may take it the moment it stands in the ring: no call is left
            // to read the clock around.
            self.flights[tag as usize].issued = self.clock.now();
        }
        // SAFETY: the buffer of the tag lives as long as the ring and is not touched in flight.
        if unsafe { self.ring.submission().push(&entry) }.is_err() {
            return Err(Trouble::defect("the submission ring is full"));
        }
        if self.sqpoll {
            self.flights[tag as usize].submitted = self.clock.now();
            self.in_flight += 1;
        }
        debug_assert!(!self.pending.contains(&tag), "slot {tag} is submitted twice");
        self.pending.push(tag);
        Ok(())
    }

    fn drop_cached(&mut self) -> Result<(), Trouble> {
        self.opened.drop_cached()
    }
}

impl<F: Freight> Engine for Uring<F> {
    #[inline]
    fn wait(
        &mut self,
        least: u32,
        until: Option<Time>,
        done: &mut Vec<Done>,
    ) -> Result<Calls, Trouble> {
        let before = std::mem::take(&mut self.calls_before);
        let mut calls = Calls { submit: before + self.flush()?, reap: 0 };
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
        let mut got = done.len() as u32 + self.reap(None, done);
        while got < least.max(1) && self.in_flight > 0 {
            let now = if until.is_some() { self.clock.now() } else { 0 };
            let wait_ns = kernel_wait_ns(now, until);
            let missing = least.max(1) - got.min(least);
            enter(&self.ring, missing.min(self.in_flight), wait_ns)?;
            calls.reap += 1;
            let found = self.reap(None, done);
            got += found;
            let over = until.is_none_or(|until| self.clock.now() >= until);
            if found == 0 && over {
                break;
            }
        }
        Ok(calls)
    }
}

impl<F: Freight> Drop for Uring<F> {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still write there: better lost than handed to somebody else.
            self.buffers.leak();
            self.freight.leak();
            return;
        }
        self.freight.end(&self.opened);
        // A ring goes away some time after it is closed. Until then it would hold the target, and
        // unmounting, detaching or opening it O_EXCL would fail.
        if self.registered.files {
            let _ = self.ring.submitter().unregister_files();
        }
    }
}
