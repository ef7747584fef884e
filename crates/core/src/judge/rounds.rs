//! A step that lasts until its rate is steady, as the rounds that it is done in.
//!
//! A round is one eighth of a pass: of a sequential stream the next eighth of the region, of a
//! random one as many bytes anywhere. Two turns of rounds prove a steady state
//! ([`Settled`]), or another bound of the step gives up. Each round is a plan of its own with one
//! step, so a run file says exactly what was done; what was asked stands before it.

mod past;

pub use past::{holder, is_filled, past};

use crate::facts::TargetKind;
use crate::plan::{Files, IoMode, Mix, PatternName, Plan, Step, Stream, Until};
use crate::quantity::percent;
use crate::run::{Run, StepRun};
use crate::sound::stands;
use crate::study::Established;
use crate::units::{Size, Span};
use drivelab_stats::steady::{Holder, Past, Settled, TURN_ROUNDS, Unsettled};

/// The step before rounds at random on a drive that may have blocks that were never written: in
/// order, for chance alone takes eight capacities to find nearly all of them.
pub const FILL: &str = "fill before";
/// Requests of that step.
const FILL_BYTES: u64 = 128 << 10;
const FILL_DEPTH: u32 = 8;

/// The rounds of one step, those that were done and what is left.
#[derive(Debug, Clone)]
pub struct Rounds {
    step: Step,
    file_bytes: u64,
    /// Bytes of the region of one file, in whole requests.
    region_bytes: u64,
    bytes_max: u64,
    bytes: u64,
    operations: u64,
    elapsed_ns: u64,
    rates: Vec<f64>,
    /// The same without rounds that are suspect, which prove nothing.
    sound_rates: Vec<f64>,
    is_cut: bool,
    /// Before the first round.
    past: Past,
    fill: Fill,
}

/// Whether the region is written in order before it is written at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    Needless,
    Missing,
    Done,
}

/// A plan as it is executed.
#[derive(Debug, Clone)]
pub enum Part {
    /// Steps as they stand.
    Plain(Plan),
    /// A step in rounds; the plan has no steps and lends them its title, seed and interval.
    Rounds(Plan, Box<Rounds>),
}

/// Takes a plan apart where a step of it lasts until it is steady.
pub fn parts(plan: &Plan, file_bytes: u64) -> Vec<Part> {
    let with = |steps: &[Step]| Plan { steps: steps.to_vec(), ..plan.clone() };
    let mut parts = Vec::new();
    for steps in plan.steps.chunk_by(|one, next| !one.until.steady && !next.until.steady) {
        match steps {
            [step] if step.until.steady => {
                parts.push(Part::Rounds(with(&[]), Box::new(Rounds::of(step, file_bytes))));
            }
            steps => parts.push(Part::Plain(with(steps))),
        }
    }
    parts
}

impl Rounds {
    /// The rounds of a step of one stream that [`crate::validate`] has let through.
    pub fn of(step: &Step, file_bytes: u64) -> Self {
        let mut rounds = Rounds {
            step: step.clone(),
            file_bytes,
            region_bytes: 0,
            bytes_max: 0,
            bytes: 0,
            operations: 0,
            elapsed_ns: 0,
            rates: Vec::new(),
            sound_rates: Vec::new(),
            is_cut: false,
            past: Past::OPEN,
            fill: Fill::Needless,
        };
        let Some(stream) = step.streams.first() else { return rounds };
        let size = stream.size_max().max(1);
        let rest = file_bytes.saturating_sub(stream.offset.0);
        let region = stream.length.map_or(rest, |length| length.0.min(rest));
        rounds.region_bytes = region / size * size;
        let by_passes = step.until.passes.map(|n| rounds.pass_bytes().saturating_mul(n));
        let by_bytes = step.until.bytes.map(|bytes| bytes.0);
        rounds.bytes_max = by_passes.into_iter().chain(by_bytes).min().unwrap_or(u64::MAX);
        rounds
    }

    /// The same on the target of a run: what happened to it so far decides what a proof takes.
    #[must_use]
    pub fn on(self, run: &Run) -> Self {
        self.behind(run, run.steps.len())
    }

    /// The same as if it began with step `first` of a run.
    fn behind(mut self, run: &Run, first: usize) -> Self {
        let Some(stream) = self.step.streams.first() else { return self };
        let all = stream.mix.total().max(1);
        let writes = u64::from(stream.mix.write);
        if writes == 0 && stream.reply.is_none() {
            return self;
        }
        let is_one_file = stream.files == Files::One;
        let written = share(self.pass_bytes(), writes.max(1), all);
        let bytes = self.file_bytes.saturating_mul(self.files());
        self.past = past(run, first, bytes, self.pass_bytes(), written);
        if stream.is_sequential() && writes == all {
            self.past.is_filled = true;
        } else if self.past.holder == Holder::Spare
            && !self.past.is_filled
            && is_one_file
            && self.pass_bytes() < self.bytes_max
        {
            self.fill = Fill::Missing;
        }
        self
    }

    /// Writes the region in order.
    fn fill(&self) -> Option<Step> {
        let stream = self.step.streams.first()?;
        let size = 1 << self.region_bytes.trailing_zeros().min(FILL_BYTES.trailing_zeros());
        let is_deep = stream.engine.is_asynchronous();
        let is_direct = stream.io == IoMode::Direct;
        let filling = Stream {
            engine: stream.engine,
            io: stream.io,
            mix: Mix::WRITE,
            size: Size(size.max(stream.size_max().min(FILL_BYTES))),
            depth: if is_deep && is_direct { FILL_DEPTH } else { 1 },
            offset: stream.offset,
            length: Some(Size(self.region_bytes)),
            content: stream.content,
            ..Stream::default()
        };
        let elapsed = self.step.until.elapsed.map(|all| Span(all.0 - self.elapsed_ns.min(all.0)));
        let until = Until { passes: Some(1), elapsed, ..Until::default() };
        let step = self.step.clone();
        Some(Step { name: FILL.into(), until, repeat: 1, streams: vec![filling], ..step })
    }

    fn files(&self) -> u64 {
        let of = |stream: &Stream| match stream.files {
            Files::One => 1,
            Files::Each => u64::from(stream.workers.max(1)),
        };
        self.step.streams.first().map_or(1, of)
    }

    fn pass_bytes(&self) -> u64 {
        self.region_bytes.saturating_mul(self.files())
    }

    /// The next round; `None` where the rate is steady or another bound is reached.
    pub fn next(&self) -> Option<Step> {
        let mut step = self.step.clone();
        let stream = step.streams.first_mut()?;
        let size = stream.size_max().max(1);
        if self.is_cut || self.settled().is_ok() || self.region_bytes == 0 {
            return None;
        }
        if self.fill == Fill::Missing {
            return self.fill();
        }
        let eighth = self.region_bytes / TURN_ROUNDS as u64 / size * size;
        let eighth = eighth.max(size);
        let mut length = eighth;
        if stream.is_sequential() {
            let turn = self.region_bytes.div_ceil(eighth).min(TURN_ROUNDS as u64);
            let place = self.rates.len() as u64 % turn;
            if place + 1 == turn {
                length = self.region_bytes - place * eighth;
            }
            stream.offset.0 += place * eighth;
            stream.length = Some(Size(length));
        }
        let bytes = length.saturating_mul(self.files());
        let bytes = bytes.min(self.bytes_max.saturating_sub(self.bytes)) / size * size;
        let operations = self.step.until.operations.map(|n| n.saturating_sub(self.operations));
        let elapsed = self.step.until.elapsed.map(|all| all.0.saturating_sub(self.elapsed_ns));
        if bytes == 0 || operations == Some(0) || elapsed == Some(0) {
            return None;
        }
        step.until = Until {
            bytes: Some(Size(bytes)),
            operations,
            elapsed: elapsed.map(Span),
            ..self.step.until.clone()
        };
        step.until.passes = None;
        step.repeat = 1;
        Some(step)
    }

    /// Takes in a round that was done; `is_sound`: nothing speaks against its numbers.
    pub fn done(&mut self, round: &StepRun, is_sound: bool) {
        let kinds = || round.tallies.iter().flat_map(|tally| &tally.kinds);
        let bytes: u64 = kinds().map(|kind| kind.bytes).sum();
        let ns = round.duration_ns();
        self.bytes += bytes;
        self.operations += kinds().map(|kind| kind.ops).sum::<u64>();
        self.elapsed_ns += ns.max(1);
        if self.fill == Fill::Missing {
            self.fill = Fill::Done;
            self.past.turns += self.past.turn * bytes as f64 / self.pass_bytes().max(1) as f64;
            self.is_cut = bytes as f64 <= 0.99 * self.region_bytes as f64;
            self.past.is_filled = !self.is_cut;
            return;
        }
        let asked = round.plan.until.bytes.map_or(0, |asked| asked.0);
        // One that another bound cut short is no round like the others.
        self.is_cut = bytes < asked;
        if !self.is_cut && ns > 0 {
            let rate = bytes as f64 / ns as f64;
            self.rates.push(rate);
            self.sound_rates.extend(is_sound.then_some(rate));
        }
    }

    /// Whether the rounds prove a steady state.
    ///
    /// # Errors
    /// What keeps them from it.
    pub fn settled(&self) -> Result<Settled, Unsettled> {
        Settled::of(&self.sound_rates, &self.past)
    }

    /// The state that settled rounds leave the target in, where that is a known one.
    pub fn established(&self) -> Option<Established> {
        self.settled().ok()?;
        let stream = self.step.streams.first()?;
        let size = stream.size_max().max(1);
        let is_whole = stream.offset.0 == 0
            && stream.shift.0 == 0
            && self.region_bytes == self.file_bytes / size * size;
        let is_plain = stream.mix.write > 0 && stream.mix.trim == 0 && stream.sizes.is_empty();
        let only_writes = stream.mix.read == 0;
        let state = match stream.pattern.name() {
            PatternName::Uniform if is_whole && is_plain => "random-steady",
            PatternName::Sequential if is_whole && is_plain && only_writes => "filled",
            _ => return None,
        };
        Some(Established { state: state.into(), because: self.in_words() })
    }

    /// What became of it, in a sentence.
    pub fn in_words(&self) -> String {
        let count = self.rates.len();
        match self.settled() {
            Ok(settled) => format!(
                "settled after {count} rounds of an eighth of the region: the halves of the last \
                 {} agree within 1 %, without a drift of 3 %, at ± {}",
                settled.rounds,
                percent(settled.relative_half_width())
            ),
            Err(unsettled) => {
                format!(
                    "not steady when its other bound was reached: {}",
                    why_not(unsettled, count)
                )
            }
        }
    }
}

/// Why rounds are not settled, in words.
pub fn why_not(unsettled: Unsettled, rounds: usize) -> String {
    match unsettled {
        Unsettled::TooShort => format!(
            "only {} done, and two full overwrites of the drive are {}",
            if rounds == 1 { "1 round was".into() } else { format!("{rounds} rounds were") },
            2 * TURN_ROUNDS
        ),
        Unsettled::Window => {
            "SNIA's window of five rounds is not met: their range or their slope is too large"
                .into()
        }
        Unsettled::Halves(apart) => {
            format!(
                "the two halves of the last rounds differ by {}; 1 % is allowed",
                percent(apart)
            )
        }
        Unsettled::Spare(turns, needed) => format!(
            "{turns:.1} capacities were written since it was empty, as far as that is known, and \
             before {needed:.0} it may still have spare flash to write to"
        ),
        Unsettled::Credits => {
            "burst credits that have not run out may hold up the rounds it rests on, or some".into()
        }
        Unsettled::Drift(drift) => {
            format!("the last rounds do not rule out a drift of {}; 3 % is allowed", percent(drift))
        }
    }
}

/// What became of the rounds that end with step `index` of a run; `None` where none do.
pub fn outcome(run: &Run, index: usize) -> Option<String> {
    let is_round = |step: &StepRun| step.plan.until.steady;
    let last = run.steps.get(index).filter(|step| is_round(step))?;
    let is_same = |step: &StepRun| is_round(step) && step.begin.name == last.begin.name;
    if run.steps.get(index + 1).is_some_and(is_same) {
        return None;
    }
    if last.end.as_ref().is_none_or(|end| end.incomplete.is_some()) {
        return None;
    }
    let before = run.steps[..=index].iter().rev().take_while(|step| is_same(step)).count();
    let first = index + 1 - before;
    let mut rounds = Rounds::of(&last.plan, 0);
    rounds.past = past_of(run, first)?;
    run.steps[first..=index].iter().for_each(|step| rounds.done(step, stands(run, step)));
    Some(rounds.in_words())
}

/// `part` of `all` parts of these bytes.
fn share(bytes: u64, part: u64, all: u64) -> u64 {
    (u128::from(bytes) * u128::from(part) / u128::from(all)) as u64
}

/// The past of the rounds that began with step `first`, by what they wrote.
fn past_of(run: &Run, first: usize) -> Option<Past> {
    let step = run.steps.get(first)?;
    let stream = step.plan.streams.first()?;
    let turn_bytes = step.plan.until.bytes?.0.saturating_mul(TURN_ROUNDS as u64);
    let is_drive =
        matches!(run.begin.facts.target.kind, TargetKind::BlockDevice | TargetKind::Simulated);
    let bytes = run.begin.facts.target.bytes.filter(|_| is_drive).unwrap_or(turn_bytes);
    let writes = u64::from(stream.mix.write);
    if writes == 0 && stream.reply.is_none() {
        return Some(Past::OPEN);
    }
    let all = stream.mix.total().max(1);
    let mut past = past(run, first, bytes, turn_bytes, share(turn_bytes, writes.max(1), all));
    past.is_filled |= stream.is_sequential() && writes == all;
    Some(past)
}

#[cfg(test)]
mod tests;
