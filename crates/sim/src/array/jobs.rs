//! The parts of an operation on an array, and their way over the members.

use super::layout::{MemberOp, WritePlan};
use super::{Array, Level};
use crate::drive::{Drive, End, Ends, Ticket};
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::stages::Stage;

/// A drive of the array.
#[derive(Debug)]
pub(super) struct Member<D> {
    pub(super) drive: D,
    ends: Ends,
    pub(super) in_flight: u64,
    /// Where its last operation ended.
    pub(super) last_end: u64,
}

impl<D: Drive> Member<D> {
    pub(super) fn new(drive: D) -> Self {
        Self { drive, ends: Ends::default(), in_flight: 0, last_end: 0 }
    }

    pub(super) fn next_event(&self) -> Time {
        self.drive.next_event().min(self.ends.next_at())
    }

    /// Brings the drive to `now` and takes the first operation that has ended.
    pub(super) fn pop(&mut self, now: Time) -> Option<End> {
        if self.drive.next_event() <= now {
            self.drive.advance(now, &mut self.ends);
        }
        let end = self.ends.pop(now)?;
        self.in_flight -= 1;
        Some(end)
    }
}

/// An operation of the host.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) op: DataOp,
    /// A write that must be durable when it ends.
    pub(super) is_durable: bool,
    pub(super) arrived: Time,
    /// When it had come through the controller.
    pub(super) ready_at: Time,
    pub(super) jobs_left: usize,
    /// The longest wait of its jobs.
    pub(super) longest: (u64, Cause),
}

/// What must be done in one row, or to read: first the reads, then the writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Job {
    /// For which request; `None`: for the write cache.
    request: Option<u32>,
    /// The row whose parity it changes.
    row: Option<u64>,
    action: Action,
    plan: WritePlan,
    /// Bytes that leave the cache with it.
    pub(super) cache_bytes: u64,
    left: usize,
    began_at: Time,
    reads_ended_at: Time,
    /// What the last of its operations waited for.
    cause: Cause,
}

impl Job {
    /// Reads for a request.
    pub(super) fn reads(request: u32, reads: Vec<MemberOp>) -> Self {
        let plan = WritePlan { reads, writes: Vec::new() };
        Self { request: Some(request), plan, ..Job::default() }
    }

    /// A write to a row.
    pub(super) fn writes(request: Option<u32>, row: u64, plan: WritePlan) -> Self {
        Self { request, row: Some(row), plan, action: Action::Write, ..Job::default() }
    }
}

impl<D: Drive> Array<D> {
    /// Starts a job, or has it wait for its row.
    pub(super) fn start_job(&mut self, now: Time, mut job: Job) {
        job.began_at = now;
        let row = job.row.filter(|_| self.parameters.level == Level::Parity);
        job.row = row;
        let number = self.jobs.put(job);
        if let Some(row) = row {
            if let Some(waiting) = self.locked.get_mut(&row) {
                waiting.push_back(number);
                return;
            }
            self.locked.insert(row, Default::default());
        }
        self.begin(now, number);
    }

    /// Sends every member a flush.
    pub(super) fn flush_members(&mut self, now: Time, request: u32) {
        let writes =
            (0..self.members.len()).map(|member| MemberOp { member, offset: 0, len: 0 }).collect();
        let plan = WritePlan { reads: Vec::new(), writes };
        let job = Job { request: Some(request), action: Action::Flush, plan, ..Job::default() };
        self.start_job(now, job);
    }

    fn begin(&mut self, now: Time, number: u32) {
        let Some(job) = self.jobs.get_mut(number) else {
            return;
        };
        job.reads_ended_at = now;
        let reads = std::mem::take(&mut job.plan.reads);
        let is_for_parity = !job.plan.writes.is_empty();
        if reads.is_empty() {
            self.write(now, number);
            return;
        }
        if is_for_parity {
            self.member_ops.parity_reads += reads.len() as u64;
        }
        self.send(now, number, Action::Read, &reads);
    }

    fn write(&mut self, now: Time, number: u32) {
        if let Some(job) = self.jobs.get_mut(number) {
            let writes = std::mem::take(&mut job.plan.writes);
            let action = job.action;
            self.send(now, number, action, &writes);
        }
    }

    fn send(&mut self, now: Time, number: u32, action: Action, ops: &[MemberOp]) {
        if let Some(job) = self.jobs.get_mut(number) {
            job.left = ops.len();
        }
        match action {
            Action::Read => self.member_ops.reads += ops.len() as u64,
            Action::Write => self.member_ops.writes += ops.len() as u64,
            _ => {}
        }
        for op in ops {
            let call = self.calls.put(number);
            let member = &mut self.members[op.member];
            member.in_flight += 1;
            member.last_end = op.offset + op.len;
            let member_op =
                DataOp { action, offset: op.offset, len: op.len as u32, ..DataOp::default() };
            member.drive.submit(now, call, &member_op, &mut member.ends);
        }
    }

    /// An operation on a member has ended.
    pub(super) fn member_ended(&mut self, now: Time, call: Ticket, cause: Cause, ends: &mut Ends) {
        let Some(number) = self.calls.take(call) else {
            return;
        };
        let Some(job) = self.jobs.get_mut(number) else {
            return;
        };
        job.left -= 1;
        job.cause = cause;
        if job.left > 0 {
            return;
        }
        if job.plan.writes.is_empty() {
            self.end_job(now, number, ends);
        } else {
            job.reads_ended_at = now;
            self.write(now, number);
        }
    }

    fn end_job(&mut self, now: Time, number: u32, ends: &mut Ends) {
        let Some(job) = self.jobs.take(number) else {
            return;
        };
        if let Some(row) = job.row {
            self.unlock(now, row);
        }
        let Some(request_number) = job.request else {
            self.destaging -= 1;
            self.cache.written(job.cache_bytes);
            self.after_drain(now);
            self.fill_cache(now, ends);
            return;
        };
        let Some(request) = self.requests.get_mut(request_number) else {
            return;
        };
        let reads_ns = job.reads_ended_at - job.began_at;
        let rest_ns = now - job.reads_ended_at;
        let wait = match reads_ns > rest_ns {
            true => (reads_ns, Cause::Parity),
            false => (rest_ns, job.cause),
        };
        if wait.0 >= request.longest.0 {
            request.longest = wait;
        }
        request.jobs_left -= 1;
        if request.jobs_left == 0 {
            let cause = request.longest.1;
            self.end_request(now, request_number, cause, ends);
        }
    }

    fn unlock(&mut self, now: Time, row: u64) {
        let next = self.locked.get_mut(&row).and_then(|waiting| waiting.pop_front());
        match next {
            Some(number) => self.begin(now, number),
            None => {
                self.locked.remove(&row);
            }
        }
    }

    /// Answers the host. A write that must be durable is followed by a flush first, as a kernel
    /// does for drives without FUA.
    pub(super) fn end_request(&mut self, now: Time, number: u32, cause: Cause, ends: &mut Ends) {
        if let Some(request) = self.requests.get_mut(number)
            && std::mem::take(&mut request.is_durable)
        {
            (request.op.action, request.jobs_left) = (Action::Flush, 1);
            return self.start(now, number, ends);
        }
        let Some(request) = self.requests.take(number) else {
            return;
        };
        let mut end = now;
        if request.op.action == Action::Read {
            end = self.link_out_free_at.max(now) + self.carry_ns(request.op.len);
            self.link_out_free_at = end;
        }
        let total_ns = end - request.arrived;
        ends.tell(request.ticket, total_ns, &[(Stage::Array, total_ns)]);
        ends.push(end, request.ticket, cause);
    }
}
