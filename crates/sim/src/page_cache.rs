//! The page cache of a host in front of a drive: pages that are kept, read ahead and written
//! behind. Without it buffered I/O has no meaning on a simulated drive.
//!
//! What it does is what Linux does: read-ahead windows of up to 128 KiB (`read_ahead.rs`), requests
//! of up to 1280 KiB, writing behind from 10 % of dirty pages on, writers that wait from 20 % on,
//! and what has been dirty for 30 s is written every 5 s (Documentation/admin-guide/sysctl/vm.rst).

mod pages;
mod read_ahead;
mod table;
mod tasks;
#[cfg(test)]
mod tests;

use crate::drive::{Drive, End, Ends, Ticket, Way};
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Op, Time};
use drivelab_core::plan::QueueSetting;
use pages::{PAGE_BYTES, Pages, RequestNumber};
use read_ahead::{REQUEST_PAGES_MAX, ReadAhead, Window};
use std::collections::VecDeque;
use tasks::Task;

/// The smallest one: with less, a single window would drive out what it brought.
pub const BYTES_MIN: u64 = 16 << 20;

/// Share of the pages that may be dirty before they are written behind.
const BACKGROUND_PERCENT: usize = 10;
/// Share of the pages that may be dirty before writers wait.
const THROTTLE_PERCENT: usize = 20;
/// How often old dirty pages are looked for.
const TICK_NS: u64 = 5_000_000_000;
/// How long a page may stay dirty.
const DIRTY_NS_MAX: u64 = 30_000_000_000;
/// Requests of writing behind that the drive has at a time.
const WRITES_IN_FLIGHT_MAX: u32 = 32;

/// A request to the drive.
#[derive(Debug)]
struct Request {
    kind: RequestKind,
    op: DataOp,
    sent: Time,
    /// Its pages, and the first behind them.
    first: u64,
    end: u64,
    /// Operations that go on when it has ended.
    waiters: Vec<Ticket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    /// Pages are filled.
    Fill,
    /// Dirty pages are written.
    WriteBehind,
    /// An operation as it came, past the cache.
    Pass,
}

/// A drive behind the page cache of its host.
#[derive(Debug)]
pub struct PageCache<D> {
    drive: D,
    pages: Pages,
    /// Ends on the side of the drive, by request.
    far_ends: Ends,
    requests: Vec<Request>,
    free_requests: Vec<RequestNumber>,
    /// Requests to write that wait for their turn.
    queued: VecDeque<RequestNumber>,
    writes_in_flight: u32,
    /// Operations of the host, by ticket.
    tasks: Vec<Task>,
    readers: Vec<ReadAhead>,
    /// Writers that wait until fewer pages are dirty.
    throttled: VecDeque<Ticket>,
    /// Where writing behind goes on.
    cursor: u64,
    tick_at: Time,
    drive_read_bytes: u64,
    drive_written_bytes: u64,
    drive_read_ns: u64,
}

impl<D: Drive> PageCache<D> {
    /// A cache of `bytes`, at least [`BYTES_MIN`], in front of `drive`.
    pub fn new(drive: D, bytes: u64) -> Self {
        PageCache {
            drive,
            pages: Pages::new(bytes.max(BYTES_MIN)),
            far_ends: Ends::default(),
            requests: Vec::new(),
            free_requests: Vec::new(),
            queued: VecDeque::new(),
            writes_in_flight: 0,
            tasks: Vec::new(),
            readers: Vec::new(),
            throttled: VecDeque::new(),
            cursor: 0,
            tick_at: Time::MAX,
            drive_read_bytes: 0,
            drive_written_bytes: 0,
            drive_read_ns: 0,
        }
    }

    /// The drive behind it.
    pub fn drive(&self) -> &D {
        &self.drive
    }

    fn dirty_max(&self, percent: usize) -> usize {
        (self.pages.room() * percent / 100).max(1)
    }

    fn must_wait_to_write(&self) -> bool {
        self.pages.unwritten() >= self.dirty_max(THROTTLE_PERCENT)
    }

    /// Asks the drive.
    fn send(&mut self, now: Time, number: RequestNumber, way: Way) {
        self.requests[number as usize].sent = now;
        let op = self.requests[number as usize].op;
        match op.action {
            Action::Read => self.drive_read_bytes += u64::from(op.len),
            Action::Write => self.drive_written_bytes += u64::from(op.len),
            _ => {}
        }
        self.drive.submit_by(now, number, &op, way, &mut self.far_ends);
    }

    fn request(&mut self, kind: RequestKind, op: DataOp, first: u64, end: u64) -> RequestNumber {
        let request = Request { kind, op, sent: 0, first, end, waiters: Vec::new() };
        match self.free_requests.pop() {
            Some(number) => {
                self.requests[number as usize] = request;
                number
            }
            None => {
                self.requests.push(request);
                self.requests.len() as RequestNumber - 1
            }
        }
    }

    /// A request for whole pages, as far as the drive goes.
    fn request_pages(&mut self, kind: RequestKind, first: u64, end: u64) -> RequestNumber {
        let action = match kind {
            RequestKind::WriteBehind => Action::Write,
            _ => Action::Read,
        };
        let offset = first * PAGE_BYTES;
        let len = (end * PAGE_BYTES).min(self.drive.bytes()) - offset;
        let op = DataOp { action, offset, len: len as u32, ..DataOp::default() };
        self.request(kind, op, first, end)
    }

    /// Asks for the absent pages of a window.
    fn fill(&mut self, now: Time, window: Window) {
        let end = (window.first + window.pages).min(self.drive.bytes().div_ceil(PAGE_BYTES));
        let mut page = window.first;
        while page < end {
            if self.pages.state(page).is_some() {
                page += 1;
                continue;
            }
            let first = page;
            while page < end && page - first < REQUEST_PAGES_MAX && self.pages.state(page).is_none()
            {
                page += 1;
            }
            let number = self.request_pages(RequestKind::Fill, first, page);
            for filled in first..page {
                self.pages.begin_read(filled, number, window.mark == Some(filled));
            }
            self.send(now, number, Way::default());
        }
    }

    /// Queues the dirty pages of `first..end`; returns the requests that they are in.
    fn write_behind(&mut self, first: u64, end: u64) -> Vec<RequestNumber> {
        let mut numbers = Vec::new();
        while let Some((run, count)) = self.pages.dirty_run(first, end, REQUEST_PAGES_MAX) {
            let number = self.request_pages(RequestKind::WriteBehind, run, run + count);
            (run..run + count).for_each(|page| self.pages.begin_write(page, number));
            self.queued.push_back(number);
            numbers.push(number);
        }
        numbers
    }

    /// Sends what is queued, and what must be written behind, as far as the drive takes it.
    fn go_on_writing(&mut self, now: Time) {
        while self.writes_in_flight < WRITES_IN_FLIGHT_MAX {
            let Some(number) = self.queued.pop_front() else {
                if !self.queue_behind() {
                    return;
                }
                continue;
            };
            self.writes_in_flight += 1;
            self.send(now, number, Way::default());
        }
    }

    /// Queues the next dirty pages, in the order of their places, while there are too many.
    fn queue_behind(&mut self) -> bool {
        if self.pages.dirty() <= self.dirty_max(BACKGROUND_PERCENT) {
            return false;
        }
        let run = self.pages.dirty_run(self.cursor, u64::MAX, REQUEST_PAGES_MAX);
        let run = run.or_else(|| self.pages.dirty_run(0, u64::MAX, REQUEST_PAGES_MAX));
        let Some((first, count)) = run else { return false };
        self.cursor = first + count;
        self.write_behind(first, first + count);
        true
    }

    /// Sees to it that dirty pages are looked at.
    fn watch(&mut self, now: Time) {
        if self.tick_at == Time::MAX && self.pages.dirty() > 0 {
            self.tick_at = now + TICK_NS;
        }
    }

    /// Writes what has been dirty for long.
    fn tick(&mut self, now: Time) {
        let expired = now.checked_sub(DIRTY_NS_MAX);
        let expired = expired.map(|since| self.pages.dirty_since(since, 0, u64::MAX));
        // Where something is too old, everything goes, in the order of places.
        if expired.is_some_and(|runs| !runs.is_empty()) {
            self.write_behind(0, u64::MAX);
        }
        self.go_on_writing(now);
        self.tick_at = if self.pages.dirty() > 0 { now + TICK_NS } else { Time::MAX };
    }

    /// A request has ended.
    fn ended(&mut self, now: Time, end: End, ends: &mut Ends) {
        let request = &mut self.requests[end.ticket as usize];
        let (kind, pages) = (request.kind, request.first..request.end);
        if request.op.action == Action::Read {
            self.drive_read_ns += now - request.sent;
        }
        let waiters = std::mem::take(&mut request.waiters);
        match kind {
            RequestKind::Fill => pages.for_each(|page| self.pages.end_read(page, end.ticket)),
            RequestKind::WriteBehind => {
                pages.for_each(|page| self.pages.end_write(page, end.ticket));
                self.writes_in_flight -= 1;
            }
            RequestKind::Pass => {}
        }
        self.free_requests.push(end.ticket);
        for ticket in waiters {
            let task = &mut self.tasks[ticket as usize];
            task.waiting -= 1;
            task.cause = end.cause;
            if task.waiting == 0 {
                self.proceed(now, ticket, ends);
            }
        }
        if kind == RequestKind::WriteBehind {
            self.go_on_writing(now);
            while !self.must_wait_to_write()
                && let Some(ticket) = self.throttled.pop_front()
            {
                self.proceed(now, ticket, ends);
            }
        }
    }
}

impl<D: Drive> Drive for PageCache<D> {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        self.begin(now, ticket, op, way, ends);
        self.watch(now);
    }

    fn next_event(&self) -> Time {
        self.far_ends.next_at().min(self.drive.next_event()).min(self.tick_at)
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
                self.ended(at, end, ends);
            }
            if self.tick_at <= at {
                self.tick(at);
            }
            self.watch(at);
        }
    }

    fn hint(&mut self, ops: &[Op]) {
        self.drive.hint(ops);
    }

    fn set_queue(&mut self, setting: QueueSetting, value: &str) {
        self.drive.set_queue(setting, value);
    }

    fn forget_pages(&mut self) {
        self.pages.forget_clean();
    }

    fn inside(&mut self, now: Time) -> Inside {
        Inside {
            drive_read_bytes: self.drive_read_bytes,
            drive_written_bytes: self.drive_written_bytes,
            drive_read_ns: self.drive_read_ns,
            dirty_bytes: self.pages.unwritten() as u64 * PAGE_BYTES,
            ..self.drive.inside(now)
        }
    }
}

/// What a task ends with when it waited for nothing.
const NO_WAIT: Cause = Cause::PageCache;
