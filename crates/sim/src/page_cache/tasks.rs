//! Operations of the host on their way through the page cache, each a little machine that waits for
//! requests and goes on.

use super::pages::{PAGE_BYTES, PageState, RequestNumber};
use super::read_ahead::{ReadAhead, WINDOW_PAGES_MAX, Window};
use super::{NO_WAIT, PageCache, RequestKind};
use crate::drive::{Drive, Ends, Route, Ticket, Way};
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, Time};

/// A system call and looking up its pages.
const CALL_NS: u64 = 1_000;
/// Rate at which one processor copies between a page and a program.
const COPY_BYTES_PER_S: u64 = 8_000_000_000;

/// What an operation does next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Looks for the pages from `next` on.
    #[default]
    Reading,
    /// Looks for the pages that it overwrites in part.
    Merging,
    /// Waits until fewer pages are dirty, then writes.
    Writing,
    /// Its pages are on the drive, which is then told to keep them.
    Flushing,
    /// Goes past the cache.
    Passing,
    /// All is done.
    Ending,
}

/// An operation of the host.
#[derive(Debug, Clone, Default)]
pub(super) struct Task {
    op: DataOp,
    way: Way,
    stage: Stage,
    began: Time,
    /// Next page that it looks at.
    next: u64,
    /// A page that it waited for, which counts as had even when it was driven out again.
    awaited: Option<u64>,
    /// Requests that it waits for.
    pub(super) waiting: u32,
    /// What it waited for.
    pub(super) cause: Cause,
}

impl Task {
    fn first(&self) -> u64 {
        self.op.offset / PAGE_BYTES
    }

    fn end(&self) -> u64 {
        (self.op.offset + u64::from(self.op.len)).div_ceil(PAGE_BYTES)
    }
}

impl<D: Drive> PageCache<D> {
    /// Takes an operation of the host.
    pub(super) fn begin(
        &mut self,
        now: Time,
        ticket: Ticket,
        op: &DataOp,
        way: Way,
        ends: &mut Ends,
    ) {
        if self.tasks.len() <= ticket as usize {
            self.tasks.resize(ticket as usize + 1, Task::default());
        }
        if self.readers.len() <= way.reader as usize {
            self.readers.resize(way.reader as usize + 1, ReadAhead::default());
        }
        let stage = match (op.action, way.route) {
            (_, Route::Below) => Stage::Passing,
            (Action::Flush, _) => Stage::Flushing,
            (Action::Read, Route::Buffered | Route::Mapped) => Stage::Reading,
            (Action::Write, Route::Buffered | Route::Mapped) => Stage::Merging,
            _ => Stage::Passing,
        };
        let mut task = Task { op: *op, way, stage, began: now, cause: NO_WAIT, ..Task::default() };
        task.next = task.first();
        let (first, end) = (task.first(), task.end());
        self.tasks[ticket as usize] = task;
        match stage {
            Stage::Flushing => self.write_out(now, ticket, 0, u64::MAX),
            // Blocks of a file system's own are no pages of files.
            Stage::Passing if way.route == Route::Below => {}
            // What is trimmed need not be written, but must not be on its way.
            Stage::Passing if op.action == Action::Trim => {
                let numbers = self.pages.writes_in(first, end, Time::MAX);
                numbers.into_iter().for_each(|number| self.wait_for(ticket, number));
            }
            Stage::Passing => self.write_out(now, ticket, first, end),
            _ => {}
        }
        if self.tasks[ticket as usize].waiting == 0 {
            self.proceed(now, ticket, ends);
        }
    }

    /// Lets an operation wait for a request.
    fn wait_for(&mut self, ticket: Ticket, number: RequestNumber) {
        self.requests[number as usize].waiters.push(ticket);
        self.tasks[ticket as usize].waiting += 1;
    }

    /// Lets an operation wait until pages `first..end` are on the drive.
    fn write_out(&mut self, now: Time, ticket: Ticket, first: u64, end: u64) {
        if self.pages.is_empty() {
            return;
        }
        let mut numbers = self.pages.writes_in(first, end, now);
        numbers.extend(self.write_behind(first, end));
        numbers.into_iter().for_each(|number| self.wait_for(ticket, number));
        self.go_on_writing(now);
    }

    /// Goes on with an operation that waits for nothing.
    pub(super) fn proceed(&mut self, now: Time, ticket: Ticket, ends: &mut Ends) {
        match self.tasks[ticket as usize].stage {
            Stage::Reading => self.read(now, ticket, ends),
            Stage::Merging => self.merge(now, ticket, ends),
            Stage::Writing => self.write(now, ticket, ends),
            Stage::Flushing => self.flush(now, ticket),
            Stage::Passing => self.go_past(now, ticket),
            Stage::Ending => {
                let task = &self.tasks[ticket as usize];
                ends.push(now, ticket, task.cause);
            }
        }
    }

    /// Waits once more where pages `first..end` had been written to while they were on their way
    /// when the operation began.
    fn write_rest(&mut self, now: Time, ticket: Ticket, first: u64, end: u64) {
        let began = self.tasks[ticket as usize].began;
        let numbers = self.pages.writes_in(first, end, began);
        numbers.into_iter().for_each(|number| self.wait_for(ticket, number));
        for (first, end) in self.pages.dirty_since(began, first, end) {
            let numbers = self.write_behind(first, end);
            numbers.into_iter().for_each(|number| self.wait_for(ticket, number));
        }
        self.go_on_writing(now);
    }

    /// All that was dirty when it began is on the drive, which is then told to keep it.
    fn flush(&mut self, now: Time, ticket: Ticket) {
        let op = self.tasks[ticket as usize].op;
        let (first, end) = match op.action {
            Action::Flush => (0, u64::MAX),
            _ => (self.tasks[ticket as usize].first(), self.tasks[ticket as usize].end()),
        };
        self.write_rest(now, ticket, first, end);
        if self.tasks[ticket as usize].waiting == 0 {
            let flush = DataOp { action: Action::Flush, offset: 0, len: 0, ..op };
            self.pass(now, ticket, flush, Way::default());
        }
    }

    /// Goes to the drive as it came.
    fn go_past(&mut self, now: Time, ticket: Ticket) {
        let task = &self.tasks[ticket as usize];
        let (op, way, first, end) = (task.op, task.way, task.first(), task.end());
        if way.route == Route::Below {
            return self.pass(now, ticket, op, way);
        }
        match op.action {
            // Pages that are trimmed in part stay.
            Action::Trim => {
                let whole_end = (op.offset + u64::from(op.len)) / PAGE_BYTES;
                let whole = op.offset.div_ceil(PAGE_BYTES);
                self.pages.forget(whole, whole_end.max(whole));
            }
            _ => self.write_rest(now, ticket, first, end),
        }
        if self.tasks[ticket as usize].waiting > 0 {
            return;
        }
        if op.action == Action::Write {
            self.pages.forget(first, end);
        }
        self.pass(now, ticket, op, way);
    }

    fn pass(&mut self, now: Time, ticket: Ticket, op: DataOp, way: Way) {
        let number = self.request(RequestKind::Pass, op, 0, 0);
        self.tasks[ticket as usize].stage = Stage::Ending;
        self.wait_for(ticket, number);
        self.send(now, number, way);
    }

    /// An operation has all its pages and ends when they are copied.
    fn end_copied(&mut self, now: Time, ticket: Ticket, ends: &mut Ends) {
        let task = &self.tasks[ticket as usize];
        let copy_ns = (u64::from(task.op.len) * 1_000_000_000).div_ceil(COPY_BYTES_PER_S);
        ends.push(now + CALL_NS + copy_ns, ticket, task.cause);
    }

    /// Whether `page` can be used now; else waits for it.
    fn have(&mut self, ticket: Ticket, page: u64) -> bool {
        if let Some(PageState::Reading(number)) = self.pages.state(page) {
            self.tasks[ticket as usize].awaited = Some(page);
            self.wait_for(ticket, number);
            return false;
        }
        self.tasks[ticket as usize].awaited = None;
        true
    }

    fn read(&mut self, now: Time, ticket: Ticket, ends: &mut Ends) {
        let (end, way) = (self.tasks[ticket as usize].end(), self.tasks[ticket as usize].way);
        let reader = way.reader as usize;
        let is_mapped = way.route == Route::Mapped;
        while self.tasks[ticket as usize].next < end {
            let page = self.tasks[ticket as usize].next;
            let was_awaited = self.tasks[ticket as usize].awaited == Some(page);
            match self.pages.state(page) {
                None if was_awaited => {}
                None => {
                    let window = match is_mapped {
                        true => self.readers[reader].miss_mapped(page),
                        false => self.readers[reader].miss(page, end - page),
                    };
                    self.fill(now, window);
                    // A window can begin behind the page that brought it on.
                    self.fill(now, Window { first: page, pages: 1, mark: None });
                }
                Some(_) if is_mapped && !was_awaited => self.readers[reader].hit_mapped(),
                Some(_) => {}
            }
            // Before the wait: the window behind this one is asked for while it is on its way.
            if self.pages.touch(page) {
                let absent_from = self.pages.absent_from(page, 2 * WINDOW_PAGES_MAX);
                let next = self.readers[reader].marked(page, end - page, absent_from);
                self.fill(now, next);
            }
            if !self.have(ticket, page) {
                return;
            }
            self.tasks[ticket as usize].next += 1;
        }
        self.readers[reader].has_read(end);
        self.end_copied(now, ticket, ends);
    }

    /// What is overwritten in part must be there; on a mapping, whatever is overwritten.
    fn merge(&mut self, now: Time, ticket: Ticket, ends: &mut Ends) {
        let (first, end) = (self.tasks[ticket as usize].first(), self.tasks[ticket as usize].end());
        let Task { op, way, .. } = self.tasks[ticket as usize];
        let is_mapped = way.route == Route::Mapped;
        let behind = op.offset + u64::from(op.len);
        while self.tasks[ticket as usize].next < end {
            let page = self.tasks[ticket as usize].next;
            let is_part = (page == first && !op.offset.is_multiple_of(PAGE_BYTES))
                || (page + 1 == end && !behind.is_multiple_of(PAGE_BYTES));
            if is_part || is_mapped {
                let was_awaited = self.tasks[ticket as usize].awaited == Some(page);
                if self.pages.state(page).is_none() && !was_awaited {
                    let window = match is_mapped {
                        true => self.readers[way.reader as usize].miss_mapped(page),
                        false => Window { first: page, pages: 1, mark: None },
                    };
                    self.fill(now, window);
                }
                if !self.have(ticket, page) {
                    return;
                }
            }
            self.tasks[ticket as usize].next += 1;
        }
        self.tasks[ticket as usize].stage = Stage::Writing;
        if self.must_wait_to_write() {
            self.tasks[ticket as usize].cause = Cause::PageCache;
            self.throttled.push_back(ticket);
            return self.go_on_writing(now);
        }
        self.write(now, ticket, ends);
    }

    fn write(&mut self, now: Time, ticket: Ticket, ends: &mut Ends) {
        let (first, end) = (self.tasks[ticket as usize].first(), self.tasks[ticket as usize].end());
        // What it makes durable is what it writes now.
        self.tasks[ticket as usize].began = now;
        (first..end).for_each(|page| self.pages.write(page, now));
        if !self.tasks[ticket as usize].way.is_durable {
            self.go_on_writing(now);
            return self.end_copied(now, ticket, ends);
        }
        self.tasks[ticket as usize].stage = Stage::Flushing;
        self.write_out(now, ticket, first, end);
        if self.tasks[ticket as usize].waiting == 0 {
            self.proceed(now, ticket, ends);
        }
    }
}
