//! When a rate has become level: the bound [`Level`] of a step, watched from outside of the
//! measured loop, and found again in a run.
//!
//! The intervals that workers hand over are counted into seconds. A second is judged when nobody
//! who still runs can add to it, so the judgement rests on the same figures live and afterwards.

use crate::op::{Action, SECOND, Time};
use crate::plan::{Level, Rate, Unevenness};
use crate::tally::{KindTally, Tally};
use serde::{Deserialize, Serialize};

/// One worker: stream and number.
pub type Worker = (u32, u32);

/// What a worker did in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerInterval {
    /// Who.
    pub worker: Worker,
    /// It was the ramp.
    pub ramp: bool,
    /// Beginning of the interval.
    pub from: Time,
    /// End of the interval.
    pub to: Time,
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Reads, writes and trims among the operations, and the sum of their latencies.
    #[serde(default)]
    pub data: [u64; 2],
}

impl WorkerInterval {
    /// What an interval says of it.
    pub fn of(tally: &Tally) -> Self {
        let sum = |of: fn(&KindTally) -> u64| tally.kinds.iter().map(of).sum();
        let moves =
            |kind: &&KindTally| matches!(kind.kind, Action::Read | Action::Write | Action::Trim);
        let of_data = tally.kinds.iter().filter(moves);
        let data = of_data.fold([0u64; 2], |[ops, ns], kind| {
            let sum = u64::try_from(kind.service.sum()).unwrap_or(u64::MAX);
            [ops + kind.ops, ns.saturating_add(sum)]
        });
        WorkerInterval {
            worker: (tally.stream, tally.worker),
            ramp: tally.ramp,
            from: tally.from,
            to: tally.to,
            ops: sum(|kind| kind.ops),
            bytes: sum(|kind| kind.bytes),
            data,
        }
    }
}

/// The seconds of workers that are judged together.
#[derive(Debug, Clone)]
pub struct Watch {
    level: Level,
    members: Vec<Member>,
    /// When the first second begins; unknown until a worker has handed something over.
    from: Option<Time>,
    /// What was done in each second.
    seconds: Vec<Second>,
    judged: usize,
    attained: bool,
}

/// What was done in a second, or in whatever the level takes for one: operations, bytes, and of
/// reads, writes and trims the number and the sum of their latencies.
pub type Second = [u64; 4];

#[derive(Debug, Clone, Copy)]
struct Member {
    worker: Worker,
    /// What it did until then is known.
    known: Time,
}

/// What the seconds of a window say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Judgement {
    /// What is compared with the limit: in percent of the mean where the limit is.
    pub criterion: f64,
    /// Largest distance from the mean, where that is what is judged.
    pub deviation_max: f64,
    /// Slope per second, where that is what is judged.
    pub slope: f64,
    /// Whether it is below the limit.
    pub is_level: bool,
}

/// What became of a watch.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether a window was level.
    pub attained: bool,
    /// The seconds of the last window that was judged, or as many as there were.
    pub seconds: Vec<Second>,
    /// What they say; all zero where there was no whole window.
    pub judgement: Judgement,
}

impl Level {
    /// What it takes for a second, in nanoseconds.
    fn second(&self) -> Time {
        self.every.0.max(1)
    }

    /// Values of a window.
    pub fn window_seconds(&self) -> usize {
        let whole = self.window.0 / SECOND * SECOND;
        usize::try_from(whole / self.second()).unwrap_or(usize::MAX).max(1)
    }

    /// What is judged of a second: operations or bytes for each real one, or their mean latency.
    pub fn value(&self, second: &Second) -> f64 {
        let long = self.second() as f64 / SECOND as f64;
        match self.of {
            Rate::Operations => second[0] as f64 / long,
            Rate::Bytes => second[1] as f64 / long,
            Rate::Latency if second[2] == 0 => 0.0,
            Rate::Latency => second[3] as f64 / second[2] as f64,
        }
    }

    /// Judges the seconds of one window.
    pub fn judge(&self, seconds: &[Second]) -> Judgement {
        let count = seconds.len().max(1) as f64;
        let values = || seconds.iter().map(|second| self.value(second));
        let mean = values().sum::<f64>() / count;
        let middle = (count - 1.0) / 2.0;
        let mut judgement = Judgement::default();
        let found = match self.by {
            Unevenness::Deviation => {
                judgement.deviation_max =
                    values().map(|value| (value - mean).abs()).fold(0.0, f64::max);
                judgement.deviation_max
            }
            Unevenness::Slope => {
                let off = |at: usize| at as f64 - middle;
                let across: f64 = (0..seconds.len()).map(|at| off(at) * off(at)).sum();
                let along: f64 = values().enumerate().map(|(at, value)| off(at) * value).sum();
                judgement.slope = if across > 0.0 { along / across } else { 0.0 };
                judgement.slope
            }
        };
        judgement.criterion = match self.percent {
            true if mean > 0.0 => 100.0 * found / mean,
            true => 0.0,
            false => found,
        };
        // Nothing done is no rate that could be level.
        judgement.is_level = mean > 0.0 && judgement.criterion.abs() < self.limit;
        judgement
    }
}

impl Watch {
    /// Over these workers.
    pub fn new(level: Level, workers: Vec<Worker>) -> Self {
        let members = workers.into_iter().map(|worker| Member { worker, known: 0 }).collect();
        Watch { level, members, from: None, seconds: Vec::new(), judged: 0, attained: false }
    }

    /// Takes in an interval, if it is of one of its workers.
    pub fn take(&mut self, interval: WorkerInterval) {
        let its = |member: &&mut Member| member.worker == interval.worker;
        let Some(member) = self.members.iter_mut().find(its) else { return };
        debug_assert!(interval.from <= interval.to, "an interval ends before it began");
        member.known = member.known.max(interval.to);
        let measured = if interval.ramp { interval.to } else { interval.from };
        let from = *self.from.get_or_insert(measured.saturating_add(self.level.after.0));
        if !interval.ramp {
            self.spread(
                interval.from,
                interval.to.max(interval.from + 1),
                from,
                [interval.ops, interval.bytes, interval.data[0], interval.data[1]],
            );
        }
    }

    /// Divides what was done in a span over the seconds it lies in.
    fn spread(&mut self, begin: Time, end: Time, from: Time, all: Second) {
        debug_assert!(begin < end, "nothing can be spread over no time");
        let (span, long) = (u128::from(end - begin), self.level.second());
        // What was done until a time, so that parts add up.
        let until =
            |time: Time, amount: u64| (u128::from(amount) * u128::from(time - begin) / span) as u64;
        let mut time = begin.max(from);
        while time < end {
            let second = (time - from) / long;
            let next = end.min(from + (second + 1) * long);
            let place = second as usize;
            if self.seconds.len() <= place {
                self.seconds.resize(place + 1, Second::default());
            }
            for (sum, amount) in self.seconds[place].iter_mut().zip(all) {
                *sum += until(next, amount) - until(time, amount);
            }
            time = next;
        }
    }

    /// Judges the seconds to which nobody can add any more; `is_over` says which workers have
    /// finished. True once a window was level.
    pub fn is_level(&mut self, is_over: impl Fn(usize) -> bool) -> bool {
        let running = self.members.iter().enumerate().filter(|(index, _)| !is_over(*index));
        let known = running.map(|(_, member)| member.known).min();
        self.judge_until(known.unwrap_or(0));
        self.attained
    }

    fn judge_until(&mut self, known: Time) {
        let Some(from) = self.from else { return };
        let (window, long) = (self.level.window_seconds(), self.level.second());
        while !self.attained && known >= from + (self.judged as u64 + 1) * long {
            self.judged += 1;
            if self.seconds.len() < self.judged {
                self.seconds.resize(self.judged, Second::default());
            }
            if self.judged >= window {
                let seconds = &self.seconds[self.judged - window..self.judged];
                self.attained = self.level.judge(seconds).is_level;
            }
        }
    }

    /// The workers that it is over.
    pub fn workers(&self) -> impl Iterator<Item = Worker> + '_ {
        self.members.iter().map(|member| member.worker)
    }

    /// What became of it.
    pub fn outcome(&self) -> Outcome {
        let window = self.level.window_seconds();
        let first = self.judged.saturating_sub(window);
        let seconds = self.seconds[first..self.judged].to_vec();
        let is_whole = seconds.len() == window;
        let judgement = if is_whole { self.level.judge(&seconds) } else { Judgement::default() };
        Outcome { attained: self.attained, seconds, judgement }
    }
}

/// What became of these workers' bound, by the intervals of the step that was run.
pub fn outcome<'a>(
    tallies: impl IntoIterator<Item = &'a Tally>,
    level: Level,
    workers: Vec<Worker>,
) -> Outcome {
    let mut watch = Watch::new(level, workers);
    tallies.into_iter().for_each(|tally| watch.take(WorkerInterval::of(tally)));
    // Who ended early added nothing afterwards.
    watch.judge_until(watch.members.iter().map(|member| member.known).max().unwrap_or(0));
    watch.outcome()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Action;
    use crate::tally::Keep;
    use crate::units::Span;

    fn level(by: Unevenness, limit: f64) -> Level {
        Level {
            of: Rate::Operations,
            by,
            limit,
            percent: true,
            window: Span(3 * SECOND),
            every: Span(SECOND),
            after: Span(0),
            group: Some(0),
        }
    }

    fn tally(worker: u32, from: Time, to: Time, ops: u64) -> Tally {
        let keep = Keep::default();
        let mut tally = Tally::new(0, 0, worker, &[Action::Read], keep);
        (tally.from, tally.to) = (from, to);
        (tally.kinds[0].ops, tally.kinds[0].bytes) = (ops, ops * 4096);
        tally
    }

    /// Two windows of fio 3.33, and what it printed of them.
    #[test]
    fn a_window_is_judged_as_fio_does() {
        let seconds = [970, 975, 916].map(|ops| [ops, ops * 4096, ops, 0]);
        let judged = level(Unevenness::Deviation, 20.0).judge(&seconds);
        assert!((judged.criterion - 3.949_668).abs() < 1e-4, "{judged:?}");
        assert!((judged.deviation_max - 37.666_667).abs() < 1e-4 && judged.is_level);
        let seconds = [(320, 1_313_485), (352, 1_443_235), (394, 1_613_824), (375, 1_537_537)]
            .map(|(ops, bytes)| [ops, bytes, ops, 0]);
        let bytes = Level { of: Rate::Bytes, ..level(Unevenness::Slope, 10.0) };
        let judged = bytes.judge(&seconds);
        assert!((judged.criterion - 5.705_711).abs() < 1e-4 && judged.is_level, "{judged:?}");
        assert!((judged.slope - 84_274.5).abs() < 1e-6);
        assert!(!Level { limit: 5.7, ..bytes }.judge(&seconds).is_level);
    }

    #[test]
    fn falling_is_as_uneven_as_rising_and_nothing_is_not_level() {
        let ops = |each: [u64; 3]| each.map(|ops| [ops, 0, ops, 0]);
        let slope = level(Unevenness::Slope, 5.0);
        assert!(!slope.judge(&ops([300, 200, 100])).is_level);
        assert!(slope.judge(&ops([200, 300, 200])).is_level);
        assert!(!slope.judge(&ops([0; 3])).is_level);
        // The limit itself is not below the limit.
        let absolute = Level { percent: false, limit: 0.0, ..level(Unevenness::Deviation, 0.0) };
        assert!(!absolute.judge(&ops([100; 3])).is_level);
    }

    #[test]
    fn a_second_is_judged_when_all_who_run_have_told_of_it() {
        let mut watch = Watch::new(level(Unevenness::Deviation, 1.0), vec![(0, 0), (0, 1)]);
        for half in 0..6 {
            watch.take(WorkerInterval::of(&tally(
                0,
                half * SECOND / 2,
                (half + 1) * SECOND / 2,
                50,
            )));
        }
        assert!(!watch.is_level(|_| false), "the other worker has said nothing");
        watch.take(WorkerInterval::of(&tally(1, 0, 2 * SECOND, 20)));
        assert!(!watch.is_level(|_| false));
        assert!(!watch.clone().is_level(|worker| worker == 1), "110, 110, 100");
        watch.take(WorkerInterval::of(&tally(1, 2 * SECOND, 3 * SECOND, 10)));
        assert!(watch.is_level(|_| false));
        let outcome = watch.outcome();
        assert_eq!(outcome.seconds, [[110, 110 * 4096, 110, 0]; 3]);
        assert!(outcome.attained);
    }

    #[test]
    fn the_ramp_and_the_time_after_it_are_left_out() {
        let level = Level { after: Span(SECOND / 2), ..level(Unevenness::Deviation, 1.0) };
        let mut watch = Watch::new(level, vec![(0, 0)]);
        let ramp = Tally { ramp: true, ..tally(0, 0, SECOND, 1000) };
        watch.take(WorkerInterval::of(&ramp));
        for second in 1..5 {
            watch.take(WorkerInterval::of(&tally(0, second * SECOND, (second + 1) * SECOND, 100)));
        }
        assert!(watch.is_level(|_| false));
        assert_eq!(watch.outcome().seconds, [[100, 409_600, 100, 0]; 3]);
    }

    #[test]
    fn latencies_are_means_of_as_long_as_a_value_takes() {
        let level = Level {
            of: Rate::Latency,
            every: Span(2 * SECOND),
            window: Span(6 * SECOND),
            ..level(Unevenness::Deviation, 10.0)
        };
        assert_eq!(level.window_seconds(), 3);
        let mut watch = Watch::new(level, vec![(0, 0)]);
        for (second, ns) in (0..).zip([900, 1100, 1000, 1000, 950, 1050]) {
            let of = WorkerInterval::of(&tally(0, second * SECOND, (second + 1) * SECOND, 100));
            watch.take(WorkerInterval { data: [100, 100 * ns], ..of });
        }
        assert!(watch.is_level(|_| false));
        let outcome = watch.outcome();
        assert_eq!(outcome.seconds, [[200, 819_200, 200, 200_000]; 3]);
        assert_eq!(level.value(&outcome.seconds[0]), 1000.0);
        let ops = Level { of: Rate::Operations, ..level };
        assert_eq!(ops.value(&outcome.seconds[0]), 100.0);
        assert!(!level.judge(&[[1, 0, 1, 900], [1, 0, 1, 1000], [1, 0, 1, 1150]]).is_level);
    }
}
