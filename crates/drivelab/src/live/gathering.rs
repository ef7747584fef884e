//! Intervals of workers, put together to intervals of streams as they come.
//!
//! An interval is told when all workers of its stream have given theirs, or have gone on to a later
//! one, so that no line has to be taken back.

use crate::documents::{FeedInterval, FeedKind};
use drivelab_core::op::Action;
use drivelab_core::plan::Plan;
use drivelab_core::record::{Record, StepBegin};
use drivelab_core::summary::Latency;
use drivelab_core::tally::{KindTally, Tally};
use drivelab_stats::Histogram;
use std::collections::BTreeMap;

/// A span that differs by more than this share of the interval is another one.
const WHOLE: f64 = 0.01;

/// What is known of a run so far, as far as its intervals need it.
#[derive(Debug, Default)]
pub struct Gathering {
    run: String,
    plans: Vec<Plan>,
    step: Option<Running>,
}

/// The step that runs.
#[derive(Debug)]
struct Running {
    begin: StepBegin,
    interval_ns: u64,
    streams: Vec<Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    workers: usize,
    /// Where its first interval outside of the ramp began.
    origin: Option<u64>,
    /// The latest place of each worker.
    reached: BTreeMap<u32, u64>,
    /// What is not told yet, by its place; the ramp is at 0.
    slots: BTreeMap<u64, Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    from: u64,
    to: u64,
    ramp: bool,
    partial: bool,
    workers: Vec<u32>,
    kinds: BTreeMap<Action, Sum>,
}

#[derive(Debug, Default)]
struct Sum {
    told: FeedKind,
    service: Option<Histogram>,
    response: Option<Histogram>,
}

impl Gathering {
    /// Takes a record; gives the intervals that it completes, in order of time.
    pub fn take(&mut self, record: &Record) -> Vec<FeedInterval> {
        match record {
            Record::Begin(begin) => self.run.clone_from(&begin.run),
            Record::Plan { plan } => self.plans.push(plan.clone()),
            Record::StepBegin(begin) => self.step = Some(self.running(begin)),
            Record::Tally(tally) => return self.tally(tally),
            Record::StepEnd(_) => return self.finish(),
            _ => {}
        }
        Vec::new()
    }

    fn running(&self, begin: &StepBegin) -> Running {
        let plan = self.plans.get(begin.plan as usize);
        let step = plan.and_then(|plan| plan.steps.get(begin.plan_step as usize));
        let streams = step.map_or(&[][..], |step| &step.streams);
        let stream = |workers: u32| Stream { workers: workers as usize, ..Stream::default() };
        Running {
            begin: begin.clone(),
            interval_ns: plan.map_or(0, |plan| plan.interval.0.0),
            streams: streams.iter().map(|it| stream(it.workers)).collect(),
        }
    }

    fn tally(&mut self, tally: &Tally) -> Vec<FeedInterval> {
        let Some(running) = &mut self.step else { return Vec::new() };
        let interval_ns = running.interval_ns;
        let stream = running.streams.get_mut(tally.stream as usize);
        if let Some(stream) = stream.filter(|_| tally.to > tally.from) {
            stream.take(tally, interval_ns);
        }
        self.told(false)
    }

    fn finish(&mut self) -> Vec<FeedInterval> {
        let rest = self.told(true);
        self.step = None;
        rest
    }

    /// Takes out what is complete, or all.
    fn told(&mut self, all: bool) -> Vec<FeedInterval> {
        let Some(running) = &mut self.step else { return Vec::new() };
        let mut told = Vec::new();
        for (number, stream) in (0_u32..).zip(&mut running.streams) {
            while let Some(first) = stream.slots.first_entry() {
                let place = *first.key();
                let is_in = |worker| first.get().workers.contains(worker);
                let is_passed = stream.reached.len() >= stream.workers
                    && stream.reached.iter().all(|(worker, to)| *to > place || is_in(worker));
                if !all && !is_passed && first.get().workers.len() < stream.workers {
                    break;
                }
                let mut slot = first.remove();
                slot.partial |= slot.workers.len() < stream.workers;
                told.push(slot.told(&self.run, &running.begin, number));
            }
        }
        told
    }
}

impl Stream {
    fn take(&mut self, tally: &Tally, interval_ns: u64) {
        let place = self.place(tally, interval_ns);
        let reached = self.reached.entry(tally.worker).or_default();
        *reached = place.max(*reached);
        let slot = self.slots.entry(place).or_default();
        slot.from = if slot.workers.is_empty() { tally.from } else { slot.from.min(tally.from) };
        slot.to = slot.to.max(tally.to);
        slot.ramp |= tally.ramp;
        let span = (tally.to - tally.from) as f64;
        let is_whole = (span - interval_ns as f64).abs() <= interval_ns as f64 * WHOLE;
        let is_new = !slot.workers.contains(&tally.worker);
        slot.partial |= !is_new || !(tally.ramp || is_whole);
        if is_new {
            slot.workers.push(tally.worker);
        }
        for kind in &tally.kinds {
            slot.kinds.entry(kind.kind).or_default().add(kind, span / 1e9);
        }
    }

    /// Which interval it is, from 1; those of the ramp are 0.
    fn place(&mut self, tally: &Tally, interval_ns: u64) -> u64 {
        if tally.ramp {
            return 0;
        }
        let origin = *self.origin.get_or_insert(tally.from);
        let middle = tally.from.saturating_add(interval_ns / 2);
        1 + middle.saturating_sub(origin) / interval_ns.max(1)
    }
}

impl Slot {
    fn told(self, run: &str, begin: &StepBegin, stream: u32) -> FeedInterval {
        let told = |(kind, sum): (Action, Sum)| (kind, sum.told());
        FeedInterval {
            run: run.to_owned(),
            step: begin.step,
            name: begin.name.clone(),
            role: begin.role,
            repetition: begin.repetition,
            stream,
            from_ns: self.from,
            to_ns: self.to,
            ramp: self.ramp,
            partial: self.partial,
            workers: self.workers.len() as u32,
            kinds: self.kinds.into_iter().map(told).collect(),
        }
    }
}

impl Sum {
    fn add(&mut self, kind: &KindTally, seconds: f64) {
        self.told.ops += kind.ops;
        self.told.bytes += kind.bytes;
        self.told.errors += kind.error_count();
        self.told.ops_per_s += kind.ops as f64 / seconds;
        self.told.bytes_per_s += kind.bytes as f64 / seconds;
        self.service.get_or_insert_with(Histogram::new).merge(&kind.service);
        if let Some(response) = &kind.response {
            self.response.get_or_insert_with(Histogram::new).merge(response);
        }
    }

    fn told(self) -> FeedKind {
        let latency = |histogram: Option<Histogram>| histogram.as_ref().and_then(Latency::of);
        FeedKind {
            service_ns: latency(self.service),
            response_ns: latency(self.response),
            ..self.told
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::{Interval, Role, Step, Stream as Planned};
    use drivelab_core::tally::Keep;
    use drivelab_core::units::Span;

    fn begun(workers: u32) -> Gathering {
        let stream = Planned { workers, ..Planned::default() };
        let step = Step { streams: vec![stream], ..Step::default() };
        let plan = Plan { interval: Interval(Span(1000)), steps: vec![step], ..Plan::default() };
        let mut gathering = Gathering::default();
        gathering.take(&Record::Plan { plan });
        gathering.take(&Record::StepBegin(StepBegin {
            step: 3,
            plan_step: 0,
            plan: 0,
            repetition: 1,
            name: "a".into(),
            role: Role::Measure,
            state: "unknown".into(),
            opened: Vec::new(),
        }));
        gathering
    }

    fn tally(worker: u32, from: u64, to: u64, ops: u64) -> Record {
        let kind =
            KindTally { ops, bytes: 10 * ops, ..KindTally::new(Action::Read, Keep::default()) };
        let text = serde_json::json!({
            "step": 3, "stream": 0, "worker": worker, "from": from, "to": to,
            "kinds": [kind], "in_flight_sum": 0, "submit_calls": 0, "reap_calls": 0,
        });
        Record::Tally(Box::new(serde_json::from_value(text).unwrap()))
    }

    #[test]
    fn an_interval_is_told_when_all_workers_are_in_it() {
        let mut gathering = begun(2);
        assert_eq!(gathering.take(&tally(0, 0, 1000, 4)), []);
        // The faster worker is an interval ahead of the other one.
        assert_eq!(gathering.take(&tally(0, 1000, 2000, 5)), []);
        let told = gathering.take(&tally(1, 1, 1001, 6));
        assert_eq!(told.len(), 1);
        let read = &told[0].kinds[&Action::Read];
        assert_eq!((told[0].from_ns, told[0].to_ns, told[0].workers), (0, 1001, 2));
        assert_eq!((read.ops, read.bytes, told[0].partial), (10, 100, false));
        assert_eq!(read.ops_per_s, 10e6);
        // What is left at the end is told, and marked.
        let rest = gathering.take(&Record::StepEnd(Box::default()));
        assert_eq!((rest.len(), rest[0].workers, rest[0].partial), (1, 1, true));
        assert_eq!(rest[0].kinds[&Action::Read].ops, 5);
    }

    #[test]
    fn a_worker_that_stood_still_is_not_waited_for_for_ever() {
        let mut gathering = begun(2);
        gathering.take(&tally(0, 0, 1000, 4));
        gathering.take(&tally(0, 1000, 2000, 4));
        gathering.take(&tally(0, 2000, 3000, 4));
        // One tally over three intervals.
        let told = gathering.take(&tally(1, 0, 3000, 3));
        assert_eq!(told.len(), 1);
        assert!(told[0].partial, "its workers are not of one span");
        let more = gathering.take(&tally(1, 3000, 4000, 1));
        assert_eq!(more.len(), 2, "both that it is past");
        assert!(more.iter().all(|it| it.partial && it.workers == 1), "{more:?}");
        let all: u64 = told.iter().chain(&more).map(|it| it.kinds[&Action::Read].ops).sum();
        assert_eq!(all, 15, "nothing is lost, and nothing counted twice");
    }
}
