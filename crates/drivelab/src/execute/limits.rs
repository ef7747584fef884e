//! What a line may take in all, in time and bytes: held here whatever a study plans.
//!
//! A step that must write more than is left does not begin. One that has no end of its own within
//! what is left ends there; then it is incomplete, and the run is over and judged as it is.

use crate::forecast;
use crate::progress::Allowance;
use drivelab_core::plan::{Act, IoMode, Step, Stream, Until};
use drivelab_core::run::StepRun;
use drivelab_core::units::{Size, Span};
use drivelab_study::experiment::budget;
use std::collections::BTreeMap;
use std::slice;

/// Part of the time by which a real machine may exceed it: nobody knows what it does between steps.
const GRACE_PART: u64 = 50;

/// What got this part of its bytes stands for all of them.
const LEAST_PART: f64 = 0.5;
/// Draws go beyond this many standard deviations once in three million times.
const DEVIATIONS: f64 = 5.0;

/// What is left of what was allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    time: Span,
    budget: Size,
    /// Between two steps, in nanoseconds.
    between_ns: u64,
    left_ns: u64,
    left_bytes: u64,
    /// The longest that operations in flight took behind the end of a step's time, by kind of load:
    /// a step near the end of the line is ended so much earlier.
    tails: BTreeMap<Kind, u64>,
}

/// What decides how long operations in flight still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_of_names: bool,
    writes: bool,
    is_buffered: bool,
    in_flight: u32,
}

impl Kind {
    fn of(step: &Step) -> Kind {
        let any = |is: fn(&Stream) -> bool| step.streams.iter().any(is);
        Kind {
            is_of_names: any(|stream| stream.is_metadata()),
            writes: any(|stream| stream.mix.write > 0),
            is_buffered: any(|stream| stream.io == IoMode::Buffered),
            in_flight: step.streams.iter().map(|it| it.depth.saturating_mul(it.workers)).sum(),
        }
    }

    /// As [`Kind::of`], of any depth.
    fn is_like(self, other: Kind) -> bool {
        Kind { in_flight: 0, ..self } == Kind { in_flight: 0, ..other }
    }
}

impl Limits {
    /// All of what was allowed; of real time, where `between_ns` is a guess, a little more.
    pub fn of(time: Span, budget: Size, between_ns: u64) -> Self {
        let grace_ns = if between_ns > 0 { time.0 / GRACE_PART } else { 0 };
        Limits {
            time,
            budget,
            between_ns,
            left_ns: time.0.saturating_add(grace_ns),
            left_bytes: budget.0,
            tails: BTreeMap::new(),
        }
    }

    /// What may be written, and was written so far.
    pub fn allowance(&self) -> Allowance {
        let written = self.budget.0.saturating_sub(self.left_bytes);
        Allowance { written, budget: self.budget.0 }
    }

    /// The step with its ends within what is left, on files of `file_bytes`.
    ///
    /// # Errors
    /// It cannot begin; what was allowed and is used up, in words.
    pub fn within(&self, step: &Step, file_bytes: u64) -> Result<Step, String> {
        let mut step = step.clone();
        match step.act {
            Some(Act::Idle(span)) if span.0 > self.left_ns => return Err(self.time_is_over()),
            Some(_) => return Ok(step),
            None => {}
        }
        let left_ns = self.left_ns.saturating_sub(self.between_ns + self.tail_ns(&step));
        let left_ns = left_ns.saturating_sub(step.ramp.0);
        if left_ns == 0 {
            return Err(self.time_is_over());
        }
        self.within_bytes(&mut step, file_bytes)?;
        let common = step.until.clone();
        for stream in &mut step.streams {
            let until = stream.until.as_ref().unwrap_or(&common);
            if until.elapsed.is_none_or(|elapsed| elapsed.0 > left_ns) {
                let elapsed = Some(Span(left_ns));
                stream.until = Some(Until { elapsed, ..until.clone() });
            }
        }
        Ok(step)
    }

    /// Bounds what the streams write by what is left. What is bounded by its bytes may get half of
    /// them or more; what is bounded by its work has to fit.
    fn within_bytes(&self, step: &mut Step, file_bytes: u64) -> Result<(), String> {
        let bounds: Vec<Option<u64>> =
            step.streams.iter().map(|it| written(step, it, file_bytes)).collect();
        let unbounded = bounds.iter().filter(|bytes| bytes.is_none()).count() as u64;
        let planned = bounds.iter().flatten().fold(0, |sum: u64, it| sum.saturating_add(*it));
        let is_cut = planned > self.left_bytes;
        let part = self.left_bytes as f64 / planned.max(1) as f64;
        if is_cut && (part < LEAST_PART || unbounded > 0) {
            return Err(self.bytes_are_over());
        }
        let each = self.left_bytes.saturating_sub(planned) / unbounded.max(1);
        let common = step.until.clone();
        for (stream, bytes) in step.streams.iter_mut().zip(bounds) {
            let share = forecast::written_share(stream);
            let mut until = stream.until.clone().unwrap_or_else(|| common.clone());
            let size = stream.size_max().max(1);
            let most = match (bytes, until.bytes) {
                (Some(0), _) => continue,
                (Some(_), _) if !is_cut => continue,
                (Some(bytes), Some(_)) => {
                    issued_within((bytes as f64 * part) as u64 / size, share) * size
                }
                (Some(_), None) => return Err(self.bytes_are_over()),
                (None, _) => issued_within(each / size, share) * size,
            };
            if most < size {
                return Err(self.bytes_are_over());
            }
            until.bytes = Some(Size(most / size * size));
            stream.until = Some(until);
        }
        Ok(())
    }

    /// Takes what a step used off what is left.
    pub fn spend(&mut self, step: &StepRun) {
        let ns = step.duration_ns();
        self.left_ns = self.left_ns.saturating_sub(ns + self.between_ns);
        self.left_bytes = self.left_bytes.saturating_sub(budget::written(slice::from_ref(step)));
        if let Some(elapsed) = step.plan.elapsed().filter(|_| step.plan.act.is_none()) {
            let tail = ns.saturating_sub(elapsed.0.saturating_add(step.plan.ramp.0));
            let known = self.tails.entry(Kind::of(&step.plan)).or_insert(0);
            *known = tail.max(*known);
        }
    }

    /// How long this step may go on behind its end: as what was like it did, or nothing is known.
    fn tail_ns(&self, step: &Step) -> u64 {
        let kind = Kind::of(step);
        let alike = || self.tails.iter().filter(|(known, _)| known.is_like(kind));
        let own = self.tails.get(&kind).copied();
        own.or_else(|| alike().map(|(_, tail)| *tail).max()).unwrap_or(0)
    }

    /// Whether a step that was `asked` for was ended by the line's time rather than by itself;
    /// `done` is what it was made, and took `ns`. What got half of its time or more stands for it.
    pub fn cut(&self, asked: &Step, done: &Step, ns: u64) -> Option<String> {
        let end = done.elapsed()?.0;
        let is_short = asked.elapsed().is_none_or(|asked| end < asked.0 / 2);
        (is_short && ns >= end.saturating_add(done.ramp.0))
            .then(|| format!("its part of the time budget, {}, was used up", self.time))
    }

    fn time_is_over(&self) -> String {
        format!("the time budget of the whole command, {}, was used up", self.time)
    }

    fn bytes_are_over(&self) -> String {
        format!("the write budget, {}, would have been exceeded", self.budget)
    }
}

/// Most bytes that a stream writes; `None`: nothing but time bounds them. Of operations of which a
/// share drawn at random writes, their mean and five standard deviations.
fn written(step: &Step, stream: &Stream, file_bytes: u64) -> Option<u64> {
    let share = forecast::written_share(stream);
    if share <= 0.0 {
        return Some(0);
    }
    let issued = forecast::issued_bytes(step, stream, file_bytes)? as f64;
    let size = stream.size_max().max(1) as f64;
    let operations = issued / size;
    let draws = DEVIATIONS * (operations * share * (1.0 - share)).max(0.0).sqrt();
    Some((issued * share + draws * size).min(issued) as u64)
}

/// How many operations, of which a `share` drawn at random writes, write no more than `writes`.
fn issued_within(writes: u64, share: f64) -> u64 {
    let deviation = DEVIATIONS * (1.0 - share).max(0.0).sqrt();
    let root = ((deviation * deviation + 4.0 * writes as f64).sqrt() - deviation) / 2.0;
    // A whole number comes out a little less than itself.
    (root * root / share + 1e-4) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::{Mix, Role};
    use drivelab_core::record::StepBegin;

    const GIB: u64 = 1 << 30;
    const SECOND_NS: u64 = 1_000_000_000;

    fn limits(seconds: u64, budget: u64) -> Limits {
        Limits::of(Span(seconds * SECOND_NS), Size(budget), 0)
    }

    fn writes(until: Until) -> Step {
        let stream = Stream { mix: Mix::WRITE, ..Stream::default() };
        Step { name: "writes".into(), until, streams: vec![stream], ..Step::default() }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let until = Until {
            elapsed: Some(Span(SECOND_NS)),
            bytes: Some(Size(1 << 20)),
            ..Until::default()
        };
        let step = writes(until);
        assert_eq!(limits(10, GIB).within(&step, GIB), Ok(step));
    }

    #[test]
    fn a_step_that_must_write_more_than_is_left_does_not_begin() {
        let step = writes(Until { passes: Some(2), ..Until::default() });
        assert!(limits(10, 2 * GIB).within(&step, GIB).is_ok());
        let why = limits(10, 2 * GIB - 1).within(&step, GIB).unwrap_err();
        assert!(why.starts_with("the write budget, 2147483647,"), "{why}");
    }

    #[test]
    fn a_step_of_so_many_bytes_is_shortened_to_half_at_most() {
        let until = || Until { bytes: Some(Size(GIB)), ..Until::default() };
        let bytes = |left: u64, step: &Step| {
            let done = limits(10, left).within(step, 4 * GIB).ok()?;
            done.until_of(&done.streams[0]).bytes.map(|bytes| bytes.0)
        };
        let writes = writes(until());
        assert_eq!(bytes(GIB, &writes), Some(GIB));
        assert_eq!(bytes(3 * GIB / 4, &writes), Some(3 * GIB / 4));
        assert_eq!(bytes(GIB / 3, &writes), None);
        let mut mixed = writes.clone();
        mixed.streams[0].mix = Mix { read: 70, write: 30, trim: 0 };
        // By chance it is more than 30 %: 1.5 % more at five standard deviations of 262,144 draws.
        let most = (0.3 * GIB as f64) as u64;
        assert_eq!(bytes(most + most / 50, &mixed), Some(GIB));
        let cut = bytes(most, &mixed).unwrap();
        assert!(cut < GIB && cut > GIB / 100 * 97, "{cut}");
        let stream = &mixed.streams[0];
        let mut done = mixed.clone();
        done.until.bytes = Some(Size(cut));
        assert!(written(&done, stream, 4 * GIB).unwrap() <= most + 4096);
    }

    #[test]
    fn a_step_without_an_end_of_its_own_gets_what_is_left() {
        let step = writes(Until { elapsed: Some(Span(60 * SECOND_NS)), ..Until::default() });
        let done = limits(10, GIB).within(&step, 4 * GIB).unwrap();
        assert_eq!(done.elapsed(), Some(Span(10 * SECOND_NS)));
        assert_eq!(done.until_of(&done.streams[0]).bytes, Some(Size(GIB)));
        assert!(limits(10, GIB).cut(&step, &done, 10 * SECOND_NS).is_some());
        assert_eq!(limits(10, GIB).cut(&step, &done, 9 * SECOND_NS), None, "its bytes ended it");
    }

    #[test]
    fn operations_in_flight_at_the_end_are_counted_in() {
        let mut limits = limits(10, GIB);
        let until = Until { elapsed: Some(Span(SECOND_NS)), ..Until::default() };
        let step = Step { act: Some(Act::Idle(Span(3 * SECOND_NS))), ..Step::default() };
        let done = StepRun {
            begin: StepBegin {
                step: 0,
                plan_step: 0,
                plan: 0,
                repetition: 1,
                name: "rest".into(),
                role: Role::Idle,
                state: "unknown".into(),
                opened: Vec::new(),
            },
            plan: step.clone(),
            tallies: Vec::new(),
            insides: Vec::new(),
            anatomy: None,
            requests: Vec::new(),
            end: None,
        };
        limits.spend(&done);
        assert_eq!(limits.left_ns, 7 * SECOND_NS);
        // Of a step that was killed nobody knows how far it came.
        let killed = writes(Until { bytes: Some(Size(GIB / 4)), ..Until::default() });
        limits.spend(&StepRun { plan: killed, ..done });
        assert_eq!(limits.left_bytes, GIB / 4 * 3);
        let long = writes(Until { elapsed: Some(Span(60 * SECOND_NS)), ..until });
        limits.tails.insert(Kind::of(&long), 2 * SECOND_NS);
        let cut = limits.within(&long, GIB).unwrap();
        assert_eq!(cut.elapsed(), Some(Span(5 * SECOND_NS)));
        limits.left_ns = 2 * SECOND_NS;
        assert!(
            limits
                .within(&step, GIB)
                .unwrap_err()
                .starts_with("the time budget of the whole command")
        );
        assert!(limits.within(&writes(Until::default()), GIB).is_err());
    }
}
