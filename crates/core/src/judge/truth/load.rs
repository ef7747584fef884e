//! Was the load what the plan says: depth, generator, addresses, time?

use super::Case;
use crate::op::Action;
use crate::plan::{Arrival, Files, IoMode, Sharing, Stream, SyncTiming};
use crate::quantity::{counted, percent, time};
use crate::tally::Phase;

/// Of the depth that was asked for, this much must be reached.
const DEPTH_SHARE: f64 = 0.9;
/// In the device itself; hand-over and collection in batches take a part of the time.
const DEVICE_DEPTH_SHARE: f64 = 0.5;
/// With more operations in one request, depth in the device means nothing.
const OPERATIONS_PER_REQUEST_MAX: f64 = 1.5;
/// A generator that is busy for longer than this may be what limits the rate.
const BUSY_SHARE: f64 = 0.9;
/// Open loop: of the asked rate, this much must be kept.
const RATE_SHARE: f64 = 0.98;

/// An fsync outside of the measured time may take this share of it.
const FLUSH_SHARE: f64 = 0.1;

impl Case<'_> {
    /// Everything about the load.
    pub(super) fn load(&mut self) {
        self.flushed_outside();
        self.same_blocks();
        self.depth();
        self.depth_in_device();
        self.rate();
        self.generator();
        self.io_workers();
        self.clock();
    }

    /// What a page cache took in the measured time, and the drive only afterwards.
    fn flushed_outside(&mut self) {
        let mut found = None;
        for (stream, numbers) in self.plan().streams.iter().zip(self.streams) {
            let outside =
                stream.sync_timing == SyncTiming::Outside && stream.io == IoMode::Buffered;
            let flush = numbers.kinds.get(&Action::Flush).and_then(|kind| kind.service_ns);
            let (Some(flush), Some(seconds), true) = (flush, numbers.seconds, outside) else {
                continue;
            };
            let workers = f64::from(stream.workers.max(1));
            let flush_s = flush.mean * flush.count as f64 / workers / 1e9;
            if flush_s > FLUSH_SHARE * seconds {
                found = Some(format!(
                    "fsync took another {} after the {} that were measured: the writes were in \
                     memory, and not yet on the drive; count the fsync too, or use direct I/O",
                    time(flush_s * 1e9),
                    time(seconds * 1e9)
                ));
            }
        }
        found.into_iter().for_each(|text| self.suspect("flushed_outside", text));
    }

    fn same_blocks(&mut self) {
        let again = |stream: &&Stream| {
            stream.is_sequential()
                && stream.workers > 1
                && stream.sharing() == Sharing::Shared
                && stream.files == Files::One
        };
        let Some(stream) = self.data_streams().find(again) else { return };
        let text = format!(
            "{} sequential workers access the same blocks: all but the first find what a cache has \
             just seen; give each its own part (--regions disjoint)",
            stream.workers
        );
        self.suspect("same_blocks", text);
    }

    /// Little's law on our own stamps.
    fn depth(&mut self) {
        if !self.is_long_enough() {
            return;
        }
        let mut found = Vec::new();
        for (stream, numbers) in self.plan().streams.iter().zip(self.streams) {
            let reached = numbers.depth_reached.unwrap_or(f64::INFINITY);
            if is_deep(stream) && reached < DEPTH_SHARE * depth_of_batches(stream) {
                found.push(format!(
                    "a depth of {} was asked for and {reached:.1} was reached: the load was \
                     lighter than its name",
                    stream.depth
                ));
            }
        }
        found.into_iter().for_each(|text| self.suspect("depth_not_reached", text));
    }

    /// The kernel's own account of requests in the device.
    fn depth_in_device(&mut self) {
        let asked: f64 = self
            .data_streams()
            .filter(|stream| is_deep(stream))
            .map(|stream| f64::from(stream.depth) * f64::from(stream.workers))
            .sum();
        let Some(device) = self.counted_top_device() else { return };
        let all_deep = self.plan().streams.iter().all(is_deep);
        let is_held_back = self.judgement.reasons.iter().any(|one| one.code.ends_with("_quota"));
        let is_told = is_held_back || self.answers_inline() || self.passes_by_block_layer();
        if asked == 0.0 || !all_deep || !self.is_long_enough() || is_told {
            return;
        }
        // Of a request that carries several operations the kernel does not count what each waited.
        if self.operations_per_request(device) > OPERATIONS_PER_REQUEST_MAX {
            return;
        }
        let inside = device.queue_ms as f64 * 1e6 / self.active_ns() as f64;
        if inside < DEVICE_DEPTH_SHARE * asked {
            let text = format!(
                "{asked:.0} operations in flight were asked for, and {} had {inside:.1} at a time \
                 on average: something above it hands them over one after the other or answers \
                 them itself, or this machine is too busy to keep it fed",
                device.name
            );
            self.suspect("depth_not_in_device", text);
        }
    }

    fn rate(&mut self) {
        let mut found = Vec::new();
        for (stream, numbers) in self.plan().streams.iter().zip(self.streams) {
            let (Some(asked), Some(rate)) = (stream.arrival.rate(), numbers.total.iops) else {
                continue;
            };
            // What was due is counted in windows of a second at least.
            let enough = numbers.seconds.is_some_and(|seconds| seconds * asked > 1000.0);
            if enough
                && matches!(stream.arrival, Arrival::Open { poisson: false, .. })
                && rate.value < RATE_SHARE * asked
            {
                found.push(format!(
                    "{asked:.0} operations a second were asked for and {:.0} were done: the \
                     response times include a backlog",
                    rate.value
                ));
            }
        }
        found.into_iter().for_each(|text| self.note("rate_not_kept", text));
    }

    /// A worker that never waits measures itself.
    fn generator(&mut self) {
        if !self.is_long_enough() || self.answers_inline() {
            return;
        }
        let streams = &self.step.plan.streams;
        let busy = |phase: &Phase| {
            let stream = streams.get(phase.stream as usize)?;
            let polls = stream.iopoll || stream.is_open();
            // Who waits for others of its group looks again and again.
            let span = phase.closed.saturating_sub(phase.opened).saturating_sub(phase.waited_ns);
            let spun_ns = stream.flow.map_or(0, |flow| flow.spun_ns(phase.waited_ns));
            // What the kernel does for a name is the file system's work, which is what is measured.
            let theirs_ns = phase.system_cpu_ns.filter(|_| stream.is_metadata()).unwrap_or(0);
            let own_ns = phase.cpu_ns?.saturating_sub(theirs_ns).saturating_sub(spun_ns);
            let share = own_ns as f64 / span.max(1) as f64;
            (!polls && share > BUSY_SHARE).then_some(share)
        };
        let share = self.end.phases.iter().filter_map(busy).fold(0.0, f64::max);
        if share > 0.0 {
            let text = format!(
                "a worker used {} of a CPU: the rate is a lower bound, the drive may do more; use \
                 more --workers",
                percent(share)
            );
            self.suspect("generator_saturated", text);
        }
        if self.end.phases.iter().any(|phase| phase.cpu_ns.is_none()) {
            self.unchecked("generator_saturated", "the CPU time of the workers is not known");
        }
    }

    fn io_workers(&mut self) {
        let Some(count) = self.observed.io_workers.filter(|count| *count > 0) else { return };
        if self.data_streams().any(|stream| stream.io == IoMode::Direct) {
            let text = format!(
                "the kernel gave io_uring requests to {}: each costs a context switch that a \
                 completion by the drive does not",
                counted(u64::from(count), "worker thread")
            );
            self.note("punted", text);
        }
    }

    fn clock(&mut self) {
        let Some(strayed) = self.observed.clock_strayed_ns else {
            return self.unchecked("clock", "the clock of the stamps was not compared");
        };
        let allowed = (self.observed.span_ns / 10_000).max(100_000);
        if strayed.unsigned_abs() > allowed {
            let text = format!(
                "the clock strayed {:.3} ms from CLOCK_MONOTONIC during the step: no time in it \
                 can be trusted",
                strayed as f64 / 1e6
            );
            self.suspect("clock", text);
        }
    }
}

/// The depth on average where whole batches are waited for: between two of them it falls by one.
fn depth_of_batches(stream: &Stream) -> f64 {
    let batch = stream.batch_complete.unwrap_or(1).clamp(1, stream.depth.max(1));
    f64::from(stream.depth) - f64::from(batch - 1) / 2.0
}

/// A closed loop that keeps more than one operation in flight.
fn is_deep(stream: &Stream) -> bool {
    stream.depth > 1
        && !stream.is_open()
        && stream.arrival.burst().is_none()
        && stream.think_time().0 == 0
        && stream.flow.is_none()
        && !stream.is_metadata()
}
