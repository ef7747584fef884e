//! Names on a simulated drive: a small file system after ext4, whose blocks are reads and writes
//! of the drive.
//!
//! A call looks up entry and inode in blocks of a directory and of an inode table, which the host
//! keeps or reads; what it changes goes to a journal as jbd2 keeps one, and later to its place. The
//! CPU's part of a call is a parameter. Every mechanism can be switched off.

mod cache;
mod calls;
mod directory;
mod durable;
mod hash;
mod journal;
mod layout;
mod parameters;
mod spelling;
#[cfg(test)]
mod tests;
mod tree;

pub use parameters::{NamesParameters, PREFIX};

use crate::drive::{Drive, End, Ends, Route, Ticket, Way};
use cache::Cache;
use calls::{Call, Locks};
use drivelab_core::driver::Setup;
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Errno, NameOp, Op, Time};
use drivelab_core::plan::QueueSetting;
use durable::Homes;
use journal::Journal;
use layout::{BLOCK_BYTES, Layout};
use spelling::Owner;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use tree::Tree;

/// A request of the file system itself, by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Request {
    /// A block that a call looks at.
    Look(Ticket, u64),
    /// What an fsync writes itself.
    Sync(Ticket, Range<u64>),
    /// The flush behind that.
    SyncFlush(Ticket),
    /// Descriptors and blocks of a commit.
    Commit,
    /// The flush before its last block.
    CommitFlush,
    /// The last block.
    CommitLast,
    /// Blocks on the way to their places.
    Home(Range<u64>),
}

/// A drive with a file system of names on it.
///
/// ```
/// use drivelab_sim::target::SimTarget;
///
/// let mut target = SimTarget::parse("sim:x25-e,names_barrier=off", |_: &str| Err(String::new()))?;
/// // A plan with names asks for it; a drive without them is not built around it.
/// target.has_names = true;
/// assert!(!target.names.has_barrier && target.build().is_ok());
/// # Ok::<(), String>(())
/// ```
pub struct Named {
    parameters: NamesParameters,
    drive: Box<dyn Drive>,
    tree: Tree,
    cache: Cache,
    journal: Journal,
    homes: Homes,
    /// By the number of the worker.
    owners: BTreeMap<u32, Owner>,
    /// When each has a CPU again.
    free_at: BTreeMap<u32, Time>,
    /// By ticket.
    calls: Vec<Call>,
    locks: Locks,
    /// Calls that the CPU is busy with.
    busy: Ends,
    far_ends: Ends,
    requests: Vec<Option<Request>>,
    unused: Vec<u32>,
    /// Calls that wait for a place in the journal.
    short: VecDeque<Ticket>,
    /// Calls that wait for a transaction.
    waiting: Vec<(u64, Ticket)>,
    commit_requests: u32,
    is_commit_wanted: bool,
    failures: BTreeMap<Ticket, Errno>,
    finished: Vec<End>,
    path: Vec<u8>,
    clock: Time,
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Named").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}

impl Named {
    /// A file system as it is made, on `drive`.
    ///
    /// # Errors
    /// The drive is too small.
    pub fn new(parameters: NamesParameters, drive: Box<dyn Drive>) -> Result<Self, String> {
        let layout = Layout::new(drive.bytes())?;
        let cache_blocks = parameters.cache_bytes / BLOCK_BYTES;
        Ok(Named {
            parameters,
            drive,
            cache: Cache::new(usize::try_from(cache_blocks).unwrap_or(usize::MAX)),
            journal: Journal::new(layout.journal()),
            tree: Tree::new(layout, &parameters),
            homes: Homes::default(),
            owners: BTreeMap::new(),
            free_at: BTreeMap::new(),
            calls: Vec::new(),
            locks: Locks::default(),
            busy: Ends::default(),
            far_ends: Ends::default(),
            requests: Vec::new(),
            unused: Vec::new(),
            short: VecDeque::new(),
            waiting: Vec::new(),
            commit_requests: 0,
            is_commit_wanted: false,
            failures: BTreeMap::new(),
            finished: Vec::new(),
            path: Vec::new(),
            clock: 0,
        })
    }

    /// Whether a drive of this many bytes has room for it.
    ///
    /// # Errors
    /// It has none.
    pub fn check(bytes: u64) -> Result<(), String> {
        Layout::new(bytes).map(drop)
    }

    /// Sends a request of the file system itself to the drive.
    fn send(&mut self, now: Time, request: Request, action: Action, blocks: &Range<u64>) {
        let number = self.unused.pop().unwrap_or_else(|| {
            self.requests.push(None);
            self.requests.len() as u32 - 1
        });
        let is_durable = request == Request::CommitLast && self.parameters.has_barrier;
        self.requests[number as usize] = Some(request);
        let len = ((blocks.end - blocks.start) * BLOCK_BYTES) as u32;
        let op = DataOp { action, offset: blocks.start * BLOCK_BYTES, len, ..DataOp::default() };
        let way = Way { route: Route::Below, is_durable, reader: 0 };
        self.drive.submit_by(now, 2 * number + 1, &op, way, &mut self.far_ends);
    }

    fn flush(&mut self, now: Time, request: Request) {
        self.send(now, request, Action::Flush, &(0..0));
    }

    /// A request of its own has ended.
    fn ended(&mut self, at: Time, number: u32, cause: Cause) {
        let Some(request) = self.requests[number as usize].take() else { return };
        self.unused.push(number);
        match request {
            Request::Look(ticket, block) => {
                self.cache.take_in(block);
                self.call(ticket).cause = cause;
                self.look_on(at, ticket);
            }
            Request::Sync(ticket, blocks) => {
                self.at_home(&blocks);
                self.call(ticket).cause = cause;
                self.call(ticket).writes -= 1;
                if self.call(ticket).writes == 0 {
                    self.written(at, ticket);
                }
            }
            Request::SyncFlush(ticket) => {
                self.call(ticket).cause = cause;
                self.finish(at, ticket);
            }
            Request::Commit => {
                self.commit_requests -= 1;
                if self.commit_requests == 0 {
                    self.commit_written(at);
                }
            }
            Request::CommitFlush => self.commit_last(at),
            Request::CommitLast => self.committed(at, cause),
            Request::Home(blocks) => {
                self.homes.in_flight -= 1;
                self.at_home(&blocks);
                self.send_home(at);
            }
        }
        self.relieve(at);
    }

    fn call(&mut self, ticket: Ticket) -> &mut Call {
        &mut self.calls[ticket as usize]
    }

    fn hand_over(&mut self, ends: &mut Ends) {
        for end in self.finished.drain(..) {
            ends.push(end.at, end.ticket, end.cause);
        }
    }
}

impl Drive for Named {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        self.drive.submit_by(now, 2 * ticket, op, way, &mut self.far_ends);
        self.advance(now, ends);
    }

    fn open_names(&mut self, reader: u32, setup: &Setup) -> bool {
        let Some(owner) = Owner::new(setup) else { return false };
        self.open(reader, owner);
        true
    }

    fn submit_name(&mut self, now: Time, ticket: Ticket, op: &NameOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        self.begin(now, ticket, op, way.reader);
        self.hand_over(ends);
    }

    fn failure_of(&mut self, ticket: Ticket) -> Option<Errno> {
        self.failures.remove(&ticket)
    }

    fn next_event(&self) -> Time {
        self.far_ends
            .next_at()
            .min(self.drive.next_event())
            .min(self.busy.next_at())
            .min(self.commit_at())
            .min(self.homes.tick_at())
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        loop {
            // What was due while a commit was under way is due now.
            let at = self.next_event().max(self.clock);
            if at > now {
                break;
            }
            self.clock = at;
            if self.drive.next_event() <= at {
                self.drive.advance(at, &mut self.far_ends);
            }
            while let Some(end) = self.far_ends.pop(at) {
                match end.ticket % 2 {
                    0 => ends.push(end.at, end.ticket / 2, end.cause),
                    _ => self.ended(at, end.ticket / 2, end.cause),
                }
            }
            while let Some(done) = self.busy.pop(at) {
                self.worked(at, done.ticket);
            }
            if self.commit_at() <= at {
                self.commit(at);
            }
            if self.homes.tick_at() <= at {
                self.write_back(at);
            }
        }
        self.hand_over(ends);
    }

    fn forget_pages(&mut self) {
        self.cache.drop_all();
        self.drive.forget_pages();
    }

    fn hint(&mut self, ops: &[Op]) {
        self.drive.hint(ops);
    }

    fn mount(&mut self, is_mounted: bool) {
        self.drive.mount(is_mounted);
    }

    fn purge(&mut self, now: Time) -> bool {
        self.drive.purge(now)
    }

    fn set_queue(&mut self, setting: QueueSetting, value: &str) {
        self.drive.set_queue(setting, value);
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.drive.inside(now)
    }
}
