//! What is kept of I/Os: one tally per worker and interval, and what adds up to it.

mod slowest;

pub use slowest::{Slow, Slowest};

use crate::op::{Action, Done, Errno, Op, Time};
use crate::plan::BelowRate;
use crate::units::is_default;
use drivelab_stats::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many different error numbers a tally tells apart; later ones count under errno 0.
const ERRNOS_MAX: usize = 15;
/// How many gaps one interval can list; later ones only count.
const GAPS_MAX: usize = 4096;
/// Levels of depth that are counted apart.
pub const DEPTH_LEVELS: usize = 7;

/// One kind of I/O in one interval of one worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindTally {
    /// Read, write …
    pub kind: Action,
    /// Completions without error.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Completions with error, by errno.
    pub errors: Vec<(Errno, u64)>,
    /// Issued → submitting call returned; absent where the call is the I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<Histogram>,
    /// Submitting call returned → completed; only where a stream keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Histogram>,
    /// Issued → completed.
    pub service: Histogram,
    /// Due → completed; open loops only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Histogram>,
    /// Time of the worker that this kind had, in nanoseconds: from each completion to the next,
    /// whatever the worker waited for. Absent where kinds do not take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_ns: Option<u64>,
    /// Of flushes: issue of the first write since the last flush → completed. Absent where a
    /// worker has more than one operation in flight, or flushes only at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Histogram>,
    /// The same by priority, where requests have their own: first that of the thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityTally>,
}

/// What I/Os of one kind and one priority came to; their sum is the kind's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorityTally {
    /// The kernel's number of it; 0: the thread has none.
    pub number: u16,
    /// Issued → completed.
    pub service: Histogram,
    /// Submitting call returned → completed; only where a stream keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Histogram>,
}

/// A time without a completion while I/O was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The last completion before it (or the first submission).
    pub from: Time,
    /// The completion that ended it.
    pub to: Time,
}

/// One worker's interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of the executed step, from 0.
    pub step: u32,
    /// Stream within the step.
    pub stream: u32,
    /// Worker within the stream.
    pub worker: u32,
    /// Beginning of the interval.
    pub from: Time,
    /// End of the interval.
    pub to: Time,
    /// During the ramp: recorded, and left out of results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ramp: bool,
    /// The kinds this stream issues, in index order.
    pub kinds: Vec<KindTally>,
    /// Sum over completions of the operations in flight when each was submitted.
    pub in_flight_sum: u64,
    /// Submitted operations by how many were in flight after those that went with them: 1, 2 to 3,
    /// 4 to 7, and so on to 64 and more. Runs of old do not have them.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub depth_levels: [u64; DEPTH_LEVELS],
    /// Submitting calls whose I/Os completed here.
    pub submit_calls: u64,
    /// Reaping calls.
    pub reap_calls: u64,
    /// Open loop: sum of issue − due in nanoseconds.
    #[serde(default)]
    pub late_ns_sum: u64,
    /// Open loop: largest issue − due in nanoseconds.
    #[serde(default)]
    pub late_ns_max: u64,
    /// Open loop: most operations that were due and could not be issued.
    #[serde(default)]
    pub backlog_max: u64,
    /// Gaps that ended in this interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Gaps beyond what `gaps` can hold.
    #[serde(default)]
    pub gaps_unlisted: u64,
    /// Longest time without a completion that ended in this interval.
    #[serde(default)]
    pub gap_ns_max: u64,
    /// Stamps checked.
    #[serde(default)]
    pub verified: u64,
    /// Stamps that were wrong.
    #[serde(default)]
    pub mismatched: u64,
    /// Of these, units without any stamp.
    #[serde(default)]
    pub unstamped: u64,
}

fn is_empty(levels: &[u64; DEPTH_LEVELS]) -> bool {
    levels.iter().all(|count| *count == 0)
}

/// Which histograms a stream keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keep {
    /// Keep submit latencies (asynchronous engines).
    pub submit: bool,
    /// Keep the latencies that are left after submission (asynchronous engines).
    pub completion: bool,
    /// Keep response latencies (open loops).
    pub response: bool,
    /// Keep the time that each kind had (kinds that take turns).
    pub held: bool,
    /// Keep the latencies of commits (a flush after each write or several, one at a time).
    pub commit: bool,
}

impl KindTally {
    /// An empty tally.
    pub fn new(kind: Action, keep: Keep) -> Self {
        KindTally {
            kind,
            ops: 0,
            bytes: 0,
            errors: Vec::with_capacity(ERRNOS_MAX + 1),
            submit: keep.submit.then(Histogram::new),
            completion: keep.completion.then(Histogram::new),
            service: Histogram::new(),
            response: keep.response.then(Histogram::new),
            held_ns: keep.held.then_some(0),
            commit: (keep.commit && kind == Action::Flush).then(Histogram::new),
            priorities: Vec::new(),
        }
    }

    /// Counts by these priorities too.
    pub fn keep_priorities(&mut self, numbers: &[u16], keep: Keep) {
        let of = |number: &u16| PriorityTally {
            number: *number,
            service: Histogram::new(),
            completion: keep.completion.then(Histogram::new),
        };
        self.priorities = numbers.iter().map(of).collect();
    }

    /// Accounts what [`KindTally::account`] did, of a request with this priority.
    pub fn account_priority(&mut self, done: &Done, number: u32) {
        let of = self.priorities.iter_mut().find(|it| u32::from(it.number) == number);
        if let (Some(of), Ok(_)) = (of, done.result) {
            of.service.record(done.completed.saturating_sub(done.issued));
            if let Some(completion) = &mut of.completion {
                completion.record(done.completed.saturating_sub(done.submitted));
            }
        }
    }

    /// Accounts one completion that was due at `due`.
    #[inline]
    pub fn account(&mut self, done: &Done, due: Time) {
        match done.result {
            Ok(bytes) => {
                self.ops += 1;
                self.bytes += u64::from(bytes);
            }
            Err(errno) => return self.fail(errno, 1),
        }
        debug_assert!(due <= done.issued, "issued before it was due: {done:?}, {due}");
        self.service.record(done.completed.saturating_sub(done.issued));
        if let Some(submit) = &mut self.submit {
            submit.record(done.submitted.saturating_sub(done.issued));
        }
        if let Some(completion) = &mut self.completion {
            // What completed while the call was still on its way has waited for nothing else.
            completion.record(done.completed.saturating_sub(done.submitted));
        }
        if let Some(response) = &mut self.response {
            response.record(done.completed.saturating_sub(due));
        }
    }

    #[cold]
    fn fail(&mut self, errno: Errno, count: u64) {
        if let Some(entry) = self.errors.iter_mut().find(|entry| entry.0 == errno) {
            entry.1 += count;
        } else if self.errors.len() < ERRNOS_MAX || errno == Errno(0) {
            self.errors.push((errno, count));
        } else {
            self.fail(Errno(0), count);
        }
    }

    /// Completions with error.
    pub fn error_count(&self) -> u64 {
        self.errors.iter().map(|entry| entry.1).sum()
    }

    /// Adds `other`, as if its I/Os had been accounted here.
    pub fn merge(&mut self, other: &KindTally) {
        debug_assert!(self.kind == other.kind, "{:?} is added to {:?}", other.kind, self.kind);
        self.ops += other.ops;
        self.bytes += other.bytes;
        for (errno, count) in &other.errors {
            self.fail(*errno, *count);
        }
        self.service.merge(&other.service);
        merge_optional(&mut self.submit, &other.submit);
        merge_optional(&mut self.completion, &other.completion);
        merge_optional(&mut self.response, &other.response);
        merge_optional(&mut self.commit, &other.commit);
        PriorityTally::add_all(&mut self.priorities, &other.priorities);
        if let Some(held_ns) = other.held_ns {
            *self.held_ns.get_or_insert(0) += held_ns;
        }
        debug_assert!(self.service.count() == self.ops, "a completion has no time, or two");
    }

    fn clear(&mut self) {
        self.ops = 0;
        self.bytes = 0;
        self.errors.clear();
        self.service.clear();
        let optional = self.submit.iter_mut().chain(&mut self.completion);
        let optional = optional.chain(&mut self.response).chain(&mut self.commit);
        optional.for_each(Histogram::clear);
        self.priorities.iter_mut().flat_map(PriorityTally::histograms).for_each(Histogram::clear);
        self.held_ns = self.held_ns.map(|_| 0);
    }
}

impl PriorityTally {
    /// Adds each of `more` to the one of its priority.
    pub fn add_all(all: &mut Vec<PriorityTally>, more: &[PriorityTally]) {
        for theirs in more {
            match all.iter_mut().find(|mine| mine.number == theirs.number) {
                Some(mine) => {
                    mine.service.merge(&theirs.service);
                    merge_optional(&mut mine.completion, &theirs.completion);
                }
                None => all.push(theirs.clone()),
            }
        }
    }

    fn histograms(&mut self) -> impl Iterator<Item = &mut Histogram> {
        [&mut self.service].into_iter().chain(&mut self.completion)
    }
}

fn merge_optional(mine: &mut Option<Histogram>, other: &Option<Histogram>) {
    if let Some(other) = other {
        mine.get_or_insert_with(Histogram::new).merge(other);
    }
}

impl Tally {
    /// An empty tally for the kinds a stream can issue.
    pub fn new(step: u32, stream: u32, worker: u32, kinds: &[Action], keep: Keep) -> Self {
        Tally {
            step,
            stream,
            worker,
            from: 0,
            to: 0,
            ramp: false,
            kinds: kinds.iter().map(|kind| KindTally::new(*kind, keep)).collect(),
            in_flight_sum: 0,
            depth_levels: [0; DEPTH_LEVELS],
            submit_calls: 0,
            reap_calls: 0,
            late_ns_sum: 0,
            late_ns_max: 0,
            backlog_max: 0,
            gaps: Vec::with_capacity(GAPS_MAX),
            gaps_unlisted: 0,
            gap_ns_max: 0,
            verified: 0,
            mismatched: 0,
            unstamped: 0,
        }
    }

    /// Touches all memory once, so that no first use of a page falls into a measurement.
    pub fn prefault(&mut self) {
        for kind in &mut self.kinds {
            let optional = kind.submit.iter_mut().chain(&mut kind.completion);
            let optional = optional.chain(&mut kind.response).chain(&mut kind.commit);
            optional.chain([&mut kind.service]).for_each(Histogram::prefault);
            let by_priority = kind.priorities.iter_mut().flat_map(PriorityTally::histograms);
            by_priority.for_each(Histogram::prefault);
        }
    }

    /// Empties it for reuse without giving memory back.
    pub fn clear(&mut self, from: Time) {
        self.from = from;
        self.to = from;
        self.kinds.iter_mut().for_each(KindTally::clear);
        self.in_flight_sum = 0;
        self.depth_levels = [0; DEPTH_LEVELS];
        self.submit_calls = 0;
        self.reap_calls = 0;
        self.late_ns_sum = 0;
        self.late_ns_max = 0;
        self.backlog_max = 0;
        self.gaps.clear();
        self.gaps_unlisted = 0;
        self.gap_ns_max = 0;
        self.verified = 0;
        self.mismatched = 0;
        self.unstamped = 0;
    }

    /// Lists a gap without allocating.
    pub fn list_gap(&mut self, gap: Gap) {
        debug_assert!(gap.from <= gap.to, "{gap:?} ends before it begins");
        if self.gaps.len() < GAPS_MAX {
            self.gaps.push(gap);
        } else {
            self.gaps_unlisted += 1;
        }
    }

    /// Adds `other`, as if its I/Os had been accounted here; the span covers both.
    pub fn merge(&mut self, other: &Tally) {
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
        for theirs in &other.kinds {
            match self.kinds.iter_mut().find(|mine| mine.kind == theirs.kind) {
                Some(mine) => mine.merge(theirs),
                None => self.kinds.push(theirs.clone()),
            }
        }
        self.kinds.sort_by_key(|tally| tally.kind);
        self.in_flight_sum += other.in_flight_sum;
        for (mine, theirs) in self.depth_levels.iter_mut().zip(other.depth_levels) {
            *mine += theirs;
        }
        self.submit_calls += other.submit_calls;
        self.reap_calls += other.reap_calls;
        self.late_ns_sum += other.late_ns_sum;
        self.late_ns_max = self.late_ns_max.max(other.late_ns_max);
        self.backlog_max = self.backlog_max.max(other.backlog_max);
        self.gaps.extend_from_slice(&other.gaps);
        self.gaps_unlisted += other.gaps_unlisted;
        self.gap_ns_max = self.gap_ns_max.max(other.gap_ns_max);
        self.verified += other.verified;
        self.mismatched += other.mismatched;
        self.unstamped += other.unstamped;
        debug_assert!(self.mismatched <= self.verified, "more wrong than were checked");
    }

    /// Completions without error, all kinds.
    pub fn ops(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.ops).sum()
    }

    /// Bytes moved, all kinds.
    pub fn bytes(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.bytes).sum()
    }

    /// Completions with error, all kinds.
    pub fn error_count(&self) -> u64 {
        self.kinds.iter().map(KindTally::error_count).sum()
    }
}

/// When a worker ran and what it cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Stream within the step.
    pub stream: u32,
    /// Worker within the stream.
    pub worker: u32,
    /// The step began.
    pub opened: Time,
    /// The measured window began (end of the ramp).
    pub measured_from: Time,
    /// First I/O issued.
    pub first: Time,
    /// Last data I/O completed.
    pub last: Time,
    /// The window closed: `last`, or the final fsync if its time counts.
    pub closed: Time,
    /// Taken out of the window: fsync whose time does not count.
    pub excluded_ns: u64,
    /// CPU time of the worker in the whole step, user and kernel; absent where unknown.
    pub cpu_ns: Option<u64>,
    /// The part of `cpu_ns` that the kernel spent on its behalf; absent where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_cpu_ns: Option<u64>,
    /// Context switches of the worker, voluntary and not; absent where unknown.
    pub context_switches: Option<u64>,
    /// Page faults that waited for a drive, and those that did not; absent where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<(u64, u64)>,
    /// Time it waited for others of its group with less than their share, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waited_ns: u64,
    /// I/Os the worker issued in the whole step, ramp included.
    pub issued: u64,
    /// Where its time was over while there was more to do: what it had done, and when it stood
    /// still to wait for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<Stonewalled>,
    /// Rates of its last window that ended it, as `rate_min` asks for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<BelowRate>,
}

/// What a worker had come to when its time was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stonewalled {
    /// I/Os issued until then.
    pub operations: u64,
    /// When the last of them had completed.
    pub at: Time,
}

/// A stamp that was not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// Byte offset of the block on the target.
    pub offset: u64,
    /// Which file of the stream.
    pub file: u32,
    /// What is wrong, in words.
    pub what: String,
}

/// What a slot in flight remembers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flight {
    /// The operation.
    pub op: Op,
    /// Which pass of the pattern it belongs to; a reply belongs to that of its cause.
    pub pass: u64,
    /// When it should have been issued (open loop).
    pub due: Time,
    /// A reply is not answered again.
    pub is_reply: bool,
}
