//! The file system of a host in front of a drive: what it costs each operation, and what it
//! writes besides. It counts only while it is mounted.
//!
//! One worker prepares one operation at a time, as one CPU does; so the cost bounds the rate of a
//! worker, however deep its queue is.

use crate::drive::{Drive, Ends, Route, Ticket, Way, handed_on};
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Time};

/// What it does to each operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FileSystemParameters {
    /// Time that a worker needs for each operation.
    pub operation_ns: u64,
    /// Writes of its own for each write of the host, which must be through before that ends.
    pub journal: f64,
}

impl FileSystemParameters {
    /// Most time that an operation may cost.
    const OPERATION_NS_MAX: u64 = 1_000_000_000;

    /// Understands `file_system_ns=` and `journal=` of a target's name.
    ///
    /// # Errors
    /// What is wrong and what would be right.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        if key == "journal" {
            let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            self.journal = share.ok_or_else(|| {
                format!(
                    "journal={text} must be the journal writes per write, from 0 to 1, such as \
                         journal=0.5"
                )
            })?;
            return Ok(());
        }
        let most = Self::OPERATION_NS_MAX;
        let cost = text.parse().ok().filter(|cost| *cost <= most);
        self.operation_ns = cost.ok_or_else(|| {
            format!("file_system_ns={text} must be the time per operation in ns, from 0 to {most}")
        })?;
        Ok(())
    }
}

/// Bytes of one write of the journal.
const JOURNAL_WRITE_BYTES: u64 = 4096;
/// The journal is this part of the drive, at its end.
const JOURNAL_PART: u64 = 64;

/// A drive behind a file system.
#[derive(Debug)]
pub struct FileSystem<D> {
    parameters: FileSystemParameters,
    drive: D,
    is_mounted: bool,
    /// Operations that a worker is still busy with.
    under_way: Ends,
    /// Ends on the side of the drive: of the operation, and of its write in the journal.
    far_ends: Ends,
    tasks: Vec<Task>,
    /// When each worker is free again.
    free_at: Vec<Time>,
    /// Writes of the journal that are due, a part of one included.
    owed: f64,
    /// Bytes of the journal written so far.
    journaled_bytes: u64,
}

/// An operation in flight, by ticket.
#[derive(Debug, Clone, Copy, Default)]
struct Task {
    op: DataOp,
    way: Way,
    waiting: u32,
}

impl<D: Drive> FileSystem<D> {
    /// A file system on `drive`, not mounted.
    pub fn new(parameters: FileSystemParameters, drive: D) -> Self {
        FileSystem {
            parameters,
            drive,
            is_mounted: false,
            under_way: Ends::default(),
            far_ends: Ends::default(),
            tasks: Vec::new(),
            free_at: Vec::new(),
            owed: 0.0,
            journaled_bytes: 0,
        }
    }

    /// When the worker has prepared an operation that it was given now.
    fn prepared_at(&mut self, now: Time, op: &DataOp, way: Way) -> Time {
        let costs = matches!(op.action, Action::Read | Action::Write) && way.route != Route::Below;
        if !self.is_mounted || !costs {
            return now;
        }
        let worker = way.reader as usize;
        if self.free_at.len() <= worker {
            self.free_at.resize(worker + 1, 0);
        }
        let at = self.free_at[worker].max(now) + self.parameters.operation_ns;
        self.free_at[worker] = at;
        at
    }

    /// The operation goes to the drive, and what the journal owes next to it.
    fn deliver(&mut self, now: Time, ticket: Ticket) {
        let Task { op, way, .. } = self.tasks[ticket as usize];
        self.tasks[ticket as usize].waiting = 1;
        self.drive.submit_by(now, 2 * ticket, &op, way, &mut self.far_ends);
        if !self.is_mounted || op.action != Action::Write || way.route == Route::Below {
            return;
        }
        self.owed += self.parameters.journal;
        if self.owed >= 1.0 {
            self.owed -= 1.0;
            let bytes = self.drive.bytes();
            let room = bytes / JOURNAL_PART / JOURNAL_WRITE_BYTES * JOURNAL_WRITE_BYTES;
            let offset = bytes - room + self.journaled_bytes % room.max(JOURNAL_WRITE_BYTES);
            self.journaled_bytes += JOURNAL_WRITE_BYTES;
            let len = JOURNAL_WRITE_BYTES as u32;
            let write = DataOp { action: Action::Write, offset, len, ..DataOp::default() };
            self.tasks[ticket as usize].waiting = 2;
            self.drive.submit_by(now, 2 * ticket + 1, &write, way, &mut self.far_ends);
        }
    }

    fn ended(&mut self, at: Time, ticket: Ticket, cause: Cause, ends: &mut Ends) {
        let task = &mut self.tasks[ticket as usize / 2];
        task.waiting -= 1;
        if task.waiting == 0 {
            ends.push(at, ticket / 2, cause);
        }
    }
}

impl<D: Drive> Drive for FileSystem<D> {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        if self.tasks.len() <= ticket as usize {
            self.tasks.resize(ticket as usize + 1, Task::default());
        }
        self.tasks[ticket as usize] = Task { op: *op, way, waiting: 0 };
        let at = self.prepared_at(now, op, way);
        self.under_way.push(at, ticket, Cause::Unknown);
        self.advance(now, ends);
    }

    fn next_event(&self) -> Time {
        self.under_way.next_at().min(self.far_ends.next_at()).min(self.drive.next_event())
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        loop {
            let at = self.next_event();
            if at > now {
                return;
            }
            if self.drive.next_event() <= at {
                self.drive.advance(at, &mut self.far_ends);
            }
            while let Some(end) = self.far_ends.pop(at) {
                self.ended(at, end.ticket, end.cause, ends);
            }
            while let Some(prepared) = self.under_way.pop(at) {
                self.deliver(at, prepared.ticket);
            }
        }
    }

    handed_on!();

    fn purge(&mut self, now: Time) -> bool {
        self.drive.purge(now)
    }

    fn mount(&mut self, is_mounted: bool) {
        self.is_mounted = is_mounted;
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.drive.inside(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves each operation in a microsecond, all at once.
    #[derive(Debug, Default)]
    struct Swift {
        written_bytes: u64,
    }

    impl Drive for Swift {
        fn bytes(&self) -> u64 {
            1 << 30
        }

        fn submit_by(
            &mut self,
            now: Time,
            ticket: Ticket,
            op: &DataOp,
            _way: Way,
            ends: &mut Ends,
        ) {
            self.written_bytes += u64::from(op.len) * u64::from(op.action == Action::Write);
            ends.push(now + 1000, ticket, Cause::Unknown);
        }

        fn inside(&mut self, _now: Time) -> Inside {
            Inside::default()
        }
    }

    /// When each of eight writes at depth eight ends, and the bytes that reached the drive.
    fn eight(parameters: FileSystemParameters, is_mounted: bool) -> (Vec<Time>, u64) {
        let mut drive = FileSystem::new(parameters, Swift::default());
        drive.mount(is_mounted);
        let mut ends = Ends::default();
        let op = DataOp { action: Action::Write, len: 4096, ..DataOp::default() };
        (0..8).for_each(|ticket| drive.submit(0, ticket, &op, &mut ends));
        let mut found = Vec::new();
        while found.len() < 8 {
            let next = drive.next_event().min(ends.next_at());
            drive.advance(next, &mut ends);
            while let Some(end) = ends.pop(next) {
                found.push(end.at);
            }
        }
        (found, drive.drive.written_bytes)
    }

    #[test]
    fn a_worker_prepares_one_operation_at_a_time_and_only_while_mounted() {
        let parameters = FileSystemParameters { operation_ns: 500, journal: 0.0 };
        let expected: Vec<Time> = (1..=8).map(|number| number * 500 + 1000).collect();
        assert_eq!(eight(parameters, true), (expected, 8 * 4096));
        assert_eq!(eight(parameters, false), (vec![1000; 8], 8 * 4096));
        assert_eq!(eight(FileSystemParameters::default(), true), (vec![1000; 8], 8 * 4096));
    }

    #[test]
    fn the_journal_writes_its_share() {
        let parameters = FileSystemParameters { operation_ns: 0, journal: 0.25 };
        assert_eq!(eight(parameters, true), (vec![1000; 8], 10 * 4096));
        assert_eq!(eight(parameters, false), (vec![1000; 8], 8 * 4096));
    }
}
