//! Metadata through io_uring: many names in flight, one ring a worker.
//!
//! An action of several requests is one chain: create is OPENAT and CLOSE, fsync is OPENAT, FSYNC
//! and CLOSE, on a slot of the ring instead of a descriptor. Its latency is that of the whole
//! chain. Setting times has no request: it stays a call. Actions do not overtake each other: what
//! one does to the last names is over before the next begins. Source: io_uring_enter(2).

use super::{NAME_BYTES, Name, Names};
use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::{Calls, Engine, kernel_wait_ns, sleep_until};
use crate::uring::{enter, is_passing, ring};
use drivelab_core::defect::defect;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, Done, Errno, NameOp, Op, Tag, Time};
use drivelab_core::plan::{self, Pattern, Stream};
use drivelab_core::queue::{Queue, Trouble};
use io_uring::{IoUring, Probe, opcode, squeue, types};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::os::fd::AsRawFd;

/// Most requests of one action.
const CHAIN_MAX: u32 = 3;
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// What the kernel reads and writes while an action is in flight.
struct Memory {
    name: Name,
    other: Name,
    statx: libc::statx,
}

/// An action under way.
#[derive(Debug, Clone, Copy, Default)]
struct Flight {
    issued: Time,
    submitted: Time,
    /// Requests that have not come back.
    left: u32,
    error: Option<Errno>,
}

/// A ring that works on names.
pub struct NamesRing {
    ring: IoUring,
    clock: Clock,
    buffers: Buffers,
    names: Names,
    /// Taken and not issued yet.
    waiting: VecDeque<(Tag, NameOp)>,
    flights: Vec<Flight>,
    /// In cells: the kernel has pointers into some while others are filled in.
    memory: Vec<UnsafeCell<Memory>>,
    /// Actions whose requests stand in the ring: the kernel may have some of them.
    in_flight: u32,
    /// The latest action that was issued, and its name.
    latest: Option<NameOp>,
    batch: usize,
}

impl std::fmt::Debug for NamesRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamesRing").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

/// The requests of an action, with their names; none: it is done by a call.
fn requests(action: Action) -> &'static [(u8, &'static str)] {
    const OPEN: (u8, &str) = (opcode::OpenAt::CODE, "OPENAT");
    const CLOSE: (u8, &str) = (opcode::Close::CODE, "CLOSE");
    match action {
        Action::Create | Action::Open => &[OPEN, CLOSE],
        Action::Flush => &[OPEN, (opcode::Fsync::CODE, "FSYNC"), CLOSE],
        Action::Stat => &[(opcode::Statx::CODE, "STATX")],
        Action::Rename => &[(opcode::RenameAt::CODE, "RENAMEAT")],
        Action::Unlink => &[(opcode::UnlinkAt::CODE, "UNLINKAT")],
        Action::Mkdir => &[(opcode::MkDirAt::CODE, "MKDIRAT")],
        _ => &[],
    }
}

/// Whether the kernel lets us have a ring that takes every action on names but setting times.
pub fn is_offered() -> bool {
    let stream = Stream {
        pattern: Pattern::Names(plan::Names {
            actions: Action::ALL.to_vec(),
            ..plan::Names::default()
        }),
        ..Stream::default()
    };
    let is_whole = |ring: &IoUring| {
        probe(ring, &stream).is_ok() && ring.submitter().register_files_sparse(1).is_ok()
    };
    ring(&stream, 4).is_ok_and(|ring| is_whole(&ring))
}

fn actions(stream: &Stream) -> &[Action] {
    stream.names().map_or(&[], |names| &names.actions)
}

/// Refuses actions that this kernel's ring does not offer.
fn probe(ring: &IoUring, stream: &Stream) -> Result<(), Trouble> {
    let mut probe = Probe::new();
    let asked = ring.submitter().register_probe(&mut probe);
    for action in actions(stream) {
        let missing = requests(*action).iter().find(|(code, _)| !probe.is_supported(*code));
        if let Some((_, name)) = missing.or(requests(*action).first().filter(|_| asked.is_err())) {
            return Err(Trouble::usage(format!(
                "this kernel's io_uring does not offer {name}, which {} needs; use engine psync",
                action.word()
            )));
        }
    }
    Ok(())
}

impl NamesRing {
    /// A ring for the names of `stream`. Called on the thread that will use it.
    ///
    /// # Errors
    /// The kernel has no io_uring, or it does not offer what the actions need.
    pub fn new(
        stream: &Stream,
        names: Names,
        clock: Clock,
        buffers: Buffers,
    ) -> Result<Self, Trouble> {
        let depth = stream.depth.max(1);
        let ring = ring(stream, depth.saturating_mul(CHAIN_MAX).next_power_of_two())?;
        probe(&ring, stream)?;
        let is_chained = actions(stream).iter().any(|action| requests(*action).len() > 1);
        if is_chained {
            ring.submitter().register_files_sparse(depth).map_err(|error| {
                Trouble::usage(format!(
                    "this kernel's io_uring has no slots to open files in ({error}); use engine \
                     psync"
                ))
            })?;
        }
        let blank = || Memory {
            name: Name { text: [0; NAME_BYTES] },
            other: Name { text: [0; NAME_BYTES] },
            // SAFETY: statx is plain numbers, of which zero is a valid value.
            statx: unsafe { std::mem::zeroed() },
        };
        Ok(NamesRing {
            ring,
            clock,
            buffers,
            names,
            waiting: VecDeque::with_capacity(depth as usize),
            flights: vec![Flight::default(); depth as usize],
            memory: (0..depth).map(|_| UnsafeCell::new(blank())).collect(),
            in_flight: 0,
            latest: None,
            batch: stream.batch_submit.unwrap_or(depth).clamp(1, depth) as usize,
        })
    }

    /// Whether an action has to wait for all that is in flight: another one, or the same on names
    /// that it was done to before.
    fn is_barrier(&self, op: &NameOp) -> bool {
        self.latest.is_some_and(|latest| {
            latest.action != op.action || (op.action.changes_data() && op.name() <= latest.name())
        })
    }

    /// The chain of one action.
    fn chain(&mut self, tag: Tag, op: &NameOp) -> ([Option<squeue::Entry>; 3], u32) {
        let (name, other) = self.names.names_of(op);
        let memory = self.memory[tag as usize].get();
        // SAFETY: the tag is not in flight, so that nobody else reads or writes its memory; only
        // pointers into it are made.
        let (path, old, statx) = unsafe {
            ((*memory).name, (*memory).other) = (name, other);
            let text = |name: *mut Name| name.cast_const().cast();
            (
                text(&raw mut (*memory).name),
                text(&raw mut (*memory).other),
                &raw mut (*memory).statx,
            )
        };
        let directory = types::Fd(self.names.directory.as_raw_fd());
        let open = |flags: i32| {
            let slot = types::DestinationSlot::try_from_slot_target(tag).ok();
            opcode::OpenAt::new(directory, path)
                .flags(flags)
                .mode(FILE_MODE)
                .file_index(slot)
                .build()
        };
        let close = || opcode::Close::new(types::Fixed(tag)).build();
        let all = match op.action {
            Action::Create => {
                let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY;
                [Some(open(flags)), Some(close()), None]
            }
            Action::Open => [Some(open(libc::O_RDONLY)), Some(close()), None],
            Action::Flush => {
                let fsync = opcode::Fsync::new(types::Fixed(tag)).build();
                [Some(open(libc::O_RDONLY)), Some(fsync), Some(close())]
            }
            Action::Stat => {
                let request = opcode::Statx::new(directory, path, statx.cast());
                [Some(request.mask(libc::STATX_BASIC_STATS).build()), None, None]
            }
            Action::Rename => {
                let request = opcode::RenameAt::new(directory, old, directory, path);
                [Some(request.build()), None, None]
            }
            Action::Mkdir => {
                let request = opcode::MkDirAt::new(directory, path).mode(DIRECTORY_MODE);
                [Some(request.build()), None, None]
            }
            Action::Unlink => [Some(opcode::UnlinkAt::new(directory, path).build()), None, None],
            Action::Utime
            | Action::Read
            | Action::Write
            | Action::Trim
            | Action::Reset
            | Action::Finish => {
                defect(format!("a {} was to go through the ring of names", op.action.word()))
            }
        };
        let count = all.iter().flatten().count() as u32;
        (all, count)
    }

    fn push(&mut self, tag: Tag, op: &NameOp) -> Result<(), Trouble> {
        let (all, count) = self.chain(tag, op);
        // Before the first request stands in the ring: whatever fails from here on, its memory
        // may be the kernel's.
        debug_assert!((1..=CHAIN_MAX).contains(&count), "{op:?} is {count} requests");
        debug_assert!(self.flights[tag as usize].left == 0, "slot {tag} is submitted twice");
        self.in_flight += 1;
        debug_assert!(self.in_flight as usize <= self.flights.len(), "more than there are slots");
        self.flights[tag as usize] = Flight { left: count, ..Flight::default() };
        for (at, entry) in (1..).zip(all.into_iter().flatten()) {
            let flags = if at < count { squeue::Flags::IO_LINK } else { squeue::Flags::empty() };
            let entry = entry.user_data(u64::from(tag)).flags(flags);
            // SAFETY: the tag's memory lives as long as the ring, stays where it is and is not
            // touched until the last request of the chain has come back.
            if unsafe { self.ring.submission().push(&entry) }.is_err() {
                return Err(Trouble::defect("the submission ring is full"));
            }
        }
        Ok(())
    }

    /// Issues what may be issued now; each call has a clock reading of its own.
    fn flush(&mut self, done: &mut Vec<Done>) -> Result<u64, Trouble> {
        let mut calls = 0;
        let mut batch: [Tag; 64] = [0; 64];
        loop {
            let mut count = 0;
            while count < self.batch.min(batch.len()) {
                let Some((tag, op)) = self.waiting.front().copied() else { break };
                if self.is_barrier(&op) && self.in_flight > 0 {
                    break;
                }
                self.waiting.pop_front();
                self.latest = Some(op);
                if requests(op.action).is_empty() {
                    done.push(self.call(tag, &op));
                    calls += 1;
                    continue;
                }
                self.push(tag, &op)?;
                batch[count] = tag;
                count += 1;
            }
            if count == 0 {
                return Ok(calls);
            }
            calls += self.carry(&batch[..count])?;
        }
    }

    /// One submitting call for these, or as many as it takes.
    fn carry(&mut self, tags: &[Tag]) -> Result<u64, Trouble> {
        let mut calls = 0;
        let issued = self.clock.now();
        while !self.ring.submission().is_empty() {
            match self.ring.submit() {
                Ok(0) => return Err(Trouble::failed("io_uring takes no more; lower the depth")),
                Ok(_) => {}
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Trouble::failed(format!("io_uring_enter: {error}"))),
            }
            calls += 1;
        }
        let submitted = self.clock.now();
        for tag in tags {
            let flight = &mut self.flights[*tag as usize];
            (flight.issued, flight.submitted) = (issued, submitted);
        }
        Ok(calls)
    }

    /// What has no request: a call, with stamps of its own.
    fn call(&mut self, tag: Tag, op: &NameOp) -> Done {
        let issued = self.clock.now();
        let result = self.names.perform(op);
        let completed = self.clock.now();
        Done { tag, issued, submitted: completed, completed, result, cause: Cause::Unknown }
    }

    /// Takes what is there; an action is done with the last of its requests.
    fn reap(&mut self, done: &mut Vec<Done>) {
        let mut queue = self.ring.completion();
        queue.sync();
        let ready = queue.len();
        if ready == 0 {
            return;
        }
        let completed = self.clock.now();
        for entry in queue.by_ref().take(ready) {
            let tag = entry.user_data() as Tag;
            let flight = &mut self.flights[tag as usize];
            match flight.left.checked_sub(1) {
                Some(left) => flight.left = left,
                None => defect("a request came back of an action that is over"),
            }
            let result = entry.result();
            // What follows a request that failed is cancelled: the first reason counts.
            if result < 0 && flight.error.is_none_or(|known| known.0 == libc::ECANCELED) {
                flight.error = Some(Errno(-result));
            }
            if flight.left == 0 {
                debug_assert!(flight.issued <= completed, "{tag} completed before it was issued");
                self.in_flight -= 1;
                done.push(Done {
                    tag,
                    issued: flight.issued,
                    submitted: flight.submitted,
                    completed,
                    result: flight.error.map_or(Ok(0), Err),
                    cause: Cause::Unknown,
                });
            }
        }
    }
}

impl Queue for NamesRing {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.buffers.slice(tag)
    }

    #[inline]
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), Trouble> {
        self.waiting.push_back((tag, NameOp::try_from(op)?));
        Ok(())
    }
}

impl Engine for NamesRing {
    fn wait(
        &mut self,
        least: u32,
        until: Option<Time>,
        done: &mut Vec<Done>,
    ) -> Result<Calls, Trouble> {
        let mut calls = Calls { submit: self.flush(done)?, reap: 0 };
        if self.in_flight == 0 {
            if let Some(until) = until
                && done.is_empty()
            {
                sleep_until(&self.clock, until);
            }
            return Ok(calls);
        }
        self.reap(done);
        while (done.len() as u32) < least.max(1) && self.in_flight > 0 {
            let before = done.len();
            let now = if until.is_some() { self.clock.now() } else { 0 };
            let missing = least.max(1) - done.len() as u32;
            let wait_ns = kernel_wait_ns(now, until);
            enter(&self.ring, missing.min(self.in_flight), wait_ns)?;
            calls.reap += 1;
            self.reap(done);
            let over = until.is_none_or(|until| self.clock.now() >= until);
            if done.len() == before && over {
                break;
            }
        }
        Ok(calls)
    }
}

impl Drop for NamesRing {
    fn drop(&mut self) {
        // The kernel may still read names and write there: better lost than handed on.
        if self.in_flight > 0 {
            std::mem::forget(std::mem::take(&mut self.memory));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Owner;
    use drivelab_core::defect::ended_by_defects;
    use drivelab_core::plan::{self, Pattern};

    /// Three actions are pushed, one of them is taken by the kernel, then submitting fails.
    #[test]
    fn what_the_kernel_took_before_an_error_is_still_in_flight() {
        let directory = tempfile::tempdir().expect("a directory");
        let opened = std::fs::File::open(directory.path()).expect("the directory");
        let stream = Stream {
            depth: 3,
            pattern: Pattern::Names(plan::Names {
                actions: vec![Action::Stat],
                names: Some(3),
                ..plan::Names::default()
            }),
            ..Stream::default()
        };
        let (clock, _) = Clock::calibrate();
        let buffers = Buffers::new(1, 1).expect("memory");
        let names = Names::new(&stream, Owner::new(0, 0, 0), opened.into()).expect("names");
        let mut ring = NamesRing::new(&stream, names, clock, buffers).expect("a ring");
        let stat = |name| NameOp::new(Action::Stat, name);
        ring.push(0, &stat(0)).expect("room");
        assert_eq!(ring.ring.submit().expect("one is taken"), 1);
        ring.push(1, &stat(1)).expect("room");
        ring.push(2, &stat(2)).expect("room");
        let null = std::fs::File::open("/dev/null").expect("nothing");
        // SAFETY: puts something else in the place of the ring's own descriptor.
        let broken = unsafe { libc::dup2(null.as_raw_fd(), ring.ring.as_raw_fd()) };
        assert!(broken >= 0);
        assert!(ring.carry(&[0, 1, 2]).is_err(), "what is no ring takes nothing");
        // None may be freed: the kernel says of none that it is done.
        assert_eq!(ring.in_flight, 3);
    }

    /// An action that is none on names was once an unlink here.
    #[test]
    fn what_is_no_action_on_names_is_a_defect() {
        let directory = tempfile::tempdir().expect("a directory");
        let opened = std::fs::File::open(directory.path()).expect("the directory");
        let stream = Stream {
            pattern: Pattern::Names(plan::Names {
                actions: vec![Action::Stat],
                names: Some(0),
                ..plan::Names::default()
            }),
            ..Stream::default()
        };
        let (clock, _) = Clock::calibrate();
        let buffers = Buffers::new(1, 1).expect("memory");
        let names = Names::new(&stream, Owner::new(0, 0, 0), opened.into()).expect("names");
        let mut ring = NamesRing::new(&stream, names, clock, buffers).expect("a ring");
        let op = NameOp::new(Action::Write, 0);
        let trouble = ended_by_defects(|| Ok(ring.chain(0, &op).1)).expect_err("a defect");
        assert!(trouble.text.starts_with("a write was to go through the ring"), "{trouble}");
    }
}
