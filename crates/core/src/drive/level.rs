//! When a rate has become level: the bound [`Level`] of a step, watched from outside of the
//! measured loop, and found again in a run.
//!
//! The intervals that workers hand over are counted into seconds. A second is judged when nobody
//! who still runs can add to it, so the judgement rests on the same figures live and afterwards.

use crate::op::{SECOND, Time};
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
}

impl WorkerInterval {
    /// What an interval says of it.
    pub fn of(tally: &Tally) -> Self {
        let sum = |of: fn(&KindTally) -> u64| tally.kinds.iter().map(of).sum();
        WorkerInterval {
            worker: (tally.stream, tally.worker),
            ramp: tally.ramp,
            from: tally.from,
            to: tally.to,
            ops: sum(|kind| kind.ops),
            bytes: sum(|kind| kind.bytes),
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
    /// Operations and bytes of each second.
    seconds: Vec<[u64; 2]>,
    judged: usize,
    attained: bool,
}

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
    /// The seconds of the last window that was judged, or as many as there were: operations and
    /// bytes.
    pub seconds: Vec<[u64; 2]>,
    /// What they say; all zero where there was no whole window.
    pub judgement: Judgement,
}

impl Level {
    /// Seconds of a window.
    pub fn window_seconds(&self) -> usize {
        usize::try_from(self.window.0 / SECOND).unwrap_or(usize::MAX).max(1)
    }

    /// Judges the seconds of one window.
    pub fn judge(&self, seconds: &[[u64; 2]]) -> Judgement {
        let place = if self.of == Rate::Operations { 0 } else { 1 };
        let count = seconds.len().max(1) as f64;
        let values = || seconds.iter().map(|second| second[place] as f64);
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
                [interval.ops, interval.bytes],
            );
        }
    }

    /// Divides what was done in a span over the seconds it lies in.
    fn spread(&mut self, begin: Time, end: Time, from: Time, all: [u64; 2]) {
        debug_assert!(begin < end, "nothing can be spread over no time");
        let span = u128::from(end - begin);
        // What was done until a time, so that parts add up.
        let until =
            |time: Time, amount: u64| (u128::from(amount) * u128::from(time - begin) / span) as u64;
        let mut time = begin.max(from);
        while time < end {
            let second = (time - from) / SECOND;
            let next = end.min(from + (second + 1) * SECOND);
            let place = second as usize;
            if self.seconds.len() <= place {
                self.seconds.resize(place + 1, [0; 2]);
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
        let window = self.level.window_seconds();
        while !self.attained && known >= from + (self.judged as u64 + 1) * SECOND {
            self.judged += 1;
            if self.seconds.len() < self.judged {
                self.seconds.resize(self.judged, [0; 2]);
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
        let seconds = [970, 975, 916].map(|ops| [ops, ops * 4096]);
        let judged = level(Unevenness::Deviation, 20.0).judge(&seconds);
        assert!((judged.criterion - 3.949_668).abs() < 1e-4, "{judged:?}");
        assert!((judged.deviation_max - 37.666_667).abs() < 1e-4 && judged.is_level);
        let seconds = [[320, 1_313_485], [352, 1_443_235], [394, 1_613_824], [375, 1_537_537]];
        let bytes = Level { of: Rate::Bytes, ..level(Unevenness::Slope, 10.0) };
        let judged = bytes.judge(&seconds);
        assert!((judged.criterion - 5.705_711).abs() < 1e-4 && judged.is_level, "{judged:?}");
        assert!((judged.slope - 84_274.5).abs() < 1e-6);
        assert!(!Level { limit: 5.7, ..bytes }.judge(&seconds).is_level);
    }

    #[test]
    fn falling_is_as_uneven_as_rising_and_nothing_is_not_level() {
        let slope = level(Unevenness::Slope, 5.0);
        assert!(!slope.judge(&[[300, 0], [200, 0], [100, 0]]).is_level);
        assert!(slope.judge(&[[200, 0], [300, 0], [200, 0]]).is_level);
        assert!(!slope.judge(&[[0, 0]; 3]).is_level);
        // The limit itself is not below the limit.
        let absolute = Level { percent: false, limit: 0.0, ..level(Unevenness::Deviation, 0.0) };
        assert!(!absolute.judge(&[[100, 0]; 3]).is_level);
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
        assert_eq!(outcome.seconds, [[110, 110 * 4096]; 3]);
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
        assert_eq!(watch.outcome().seconds, [[100, 409_600]; 3]);
    }
}
