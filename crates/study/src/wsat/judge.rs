//! What a run of `wsat` shows.

use super::cause::{self, Cause};
use super::falling::{FIRST, RESTED, STEADY, TO_CLIFF};
use super::falling::{early, falls_of, is_early, is_refilled, may_be_cliff};
use super::shown::Shown;
use crate::experiment::falls::{FALLEN, Fall, Written, history, smoothed};
use crate::experiment::order::{since_break, unbroken};
use crate::experiment::rounds::{self, ROUND};
use crate::experiment::{Setting, budget::written, loads};
use drivelab_core::findings::{
    Axis, Figure, Findings, Line, LineKind, Mark, Picture, Remark, Unit,
};
use drivelab_core::op::Action;
use drivelab_core::quantity::{capacity, operations, percent, time};
use drivelab_core::rounds::why_not;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::Sound;
use drivelab_core::summary::{CellKind, Summary};
use drivelab_stats::Estimate;
use drivelab_stats::steady::{Holder, Settled, Unsettled, WINDOW_ROUNDS, Window};

/// The rate until the drive falls over its cliff, or falls for another reason.
const BEFORE_CLIFF: &str = "before the cliff";
const BEFORE_FALL: &str = "before the fall";
/// Points of the picture in each round.
const POINTS_A_ROUND: f64 = 5.0;
/// First writes that are faster than the later ones by this factor went into a buffer.
const BUFFERED: f64 = 1.25;
/// The steady rate may leave what was proved by this share before it is worth a word.
const STRAYED: f64 = 0.02;

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let run = &run.part(unbroken);
    let summary = run.summary();
    let mut findings = Findings { order: vec![FIRST.into(), STEADY.into()], ..Findings::default() };
    let seen = Seen::of(setting, run, summary);
    findings.no_answer = run.kept_out().next().is_some() || seen.history.is_empty();
    match findings.no_answer {
        false => {
            seen.cliff(&mut findings);
            seen.level(&mut findings);
            seen.pictures(&mut findings);
        }
        true => findings.unknown.push(
            "When the write cliff comes and what is left: some of the writes have no valid \
             numbers, and the history has gaps."
                .into(),
        ),
    }
    deviations(setting, run, &mut findings);
    findings
}

/// What was seen.
struct Seen<'a> {
    setting: &'a Setting<'a>,
    summary: &'a Summary,
    steps: &'a [StepRun],
    history: Vec<Written>,
    rounds: Vec<f64>,
    falls: Vec<Fall>,
    settled: Result<Settled, Unsettled>,
    start: Start,
    /// What rest, reads and sizes showed of an early fall.
    shown: Option<Shown>,
}

/// What the drive held when the writes began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Nothing: made so, or purged by a command of its own.
    Empty,
    /// It was discarded; whether it took that is not known.
    Discarded,
    /// Whatever it held, or a file.
    AsFound,
}

impl Start {
    fn of(setting: &Setting<'_>, run: &Run) -> Self {
        match loads::not_purged(setting, run) {
            None if setting.is_drive() => Start::Empty,
            Some(_) if run.steps.iter().any(|it| it.begin.name == loads::EMPTY) => Start::Discarded,
            _ => Start::AsFound,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Start::Empty => "from an empty drive on",
            Start::Discarded => "after all of the drive was discarded",
            Start::AsFound => "from the state that was found",
        }
    }
}

impl<'a> Seen<'a> {
    fn of(setting: &'a Setting<'a>, run: &'a Run, summary: &'a Summary) -> Self {
        let steps = since_break(run);
        let names = [FIRST, TO_CLIFF, RESTED, ROUND, STEADY];
        let writes = |step: &&StepRun| names.contains(&step.begin.name.as_str());
        let all: Vec<&StepRun> = steps.iter().filter(writes).collect();
        let mut falls = falls_of(setting, steps);
        falls.retain(|fall| fall.bytes > 0.0);
        // A cache that is full leaves a level behind it, from which the drive may fall over its
        // cliff. What falls on and on has no second place where it begins.
        let is_second = |fall: &Fall| fall.is_sharp && !is_early(setting, fall);
        let kept = if falls.len() == 2 && is_second(&falls[1]) { 2 } else { 1 };
        falls.truncate(kept);
        let rounds = rounds::rates(setting, steps, ROUND);
        let settled = rounds::settled(setting, run);
        let start = Start::of(setting, run);
        let shown = early(setting, run, steps).and_then(|low| Shown::of(run, low));
        let history = history(&all);
        Seen { setting, summary, steps, history, rounds, falls, settled, start, shown }
    }

    fn cell(&self, name: &str) -> Option<&CellKind> {
        let cell = self.summary.cells.iter().find(|cell| cell.name == name)?;
        cell.streams.first()?.kinds.get(&Action::Write)
    }

    fn rate(&self, name: &str) -> Option<Estimate> {
        self.cell(name)?.rates.iops
    }

    /// Bytes as a share of the drive.
    fn of_drive(&self, bytes: f64) -> String {
        format!("{:.2} × its capacity", bytes / self.setting.bytes() as f64)
    }

    /// Random writes until the drive was written in order, if it was.
    fn before_fill_bytes(&self) -> f64 {
        let names: &[&str] = match is_refilled(self.steps) {
            true => &[FIRST, TO_CLIFF, RESTED],
            false => &[FIRST, TO_CLIFF, RESTED, ROUND, STEADY],
        };
        let is_one = |step: &&StepRun| names.contains(&step.begin.name.as_str());
        let each = self.steps.iter().filter(is_one);
        each.map(|step| written(std::slice::from_ref(step)) as f64).sum()
    }

    /// What the last round of random writes did, as a share of what was done before the drive was
    /// written in order: at first, or after an early fall.
    fn later_share(&self) -> Option<f64> {
        let before = match self.falls.is_empty() {
            true => self.rate(FIRST)?.value,
            false => self.shown.as_ref()?.low.after,
        };
        self.rounds.last().map(|last| last / before)
    }

    fn cliff(&self, findings: &mut Findings) {
        self.falls.iter().for_each(|fall| self.fall(fall, findings));
        let is_found = self.falls.iter().any(|fall| !is_early(self.setting, fall));
        // Without spare flash there is nothing to use up.
        if self.history.is_empty() || is_found || rounds::holder(self.setting) == Holder::Nothing {
            return;
        }
        let total = self.before_fill_bytes();
        let further = match self.falls.is_empty() {
            true => "the rate never fell by 10 % for long",
            false => "the rate did not fall again",
        };
        let is_bound = is_refilled(self.steps);
        let has_fallen = self.later_share().is_some_and(|share| share < FALLEN);
        let advice = match (is_bound, has_fallen) {
            (true, true) => {
                "It fell later, in the random writes after the drive had been written in order: \
                 there the rate sank without a place where it was seen to begin"
            }
            (true, false) => {
                "Something before the flash may bound it, such as the host or the link"
            }
            (false, _) => "A larger --budget or --time goes further",
        };
        findings.wants_more |= !is_bound;
        findings.unknown.push(format!(
            "Where the write cliff is: in {} of random writes, {}, {further}. {advice}.",
            capacity(total as u64),
            self.of_drive(total)
        ));
    }

    /// A lasting fall: of an empty drive the cliff, if it comes neither too early for that nor
    /// little by little.
    fn fall(&self, fall: &Fall, findings: &mut Findings) {
        let (after, of_drive) = (capacity(fall.bytes as u64), self.of_drive(fall.bytes));
        let until = operations(fall.before);
        let is_other = !may_be_cliff(self.setting, fall);
        let is_cliff = self.start == Start::Empty && !is_other && fall.is_sharp;
        findings.figures.push(Figure {
            name: if is_cliff { BEFORE_CLIFF } else { BEFORE_FALL }.into(),
            estimate: Estimate::point(fall.before, 1),
            unit: Unit::Iops,
            note: "random, 4 KiB, median".into(),
        });
        findings.figures.push(Figure {
            name: if is_cliff { "cliff after" } else { "falls after" }.into(),
            estimate: Estimate::point(fall.bytes, 1),
            unit: Unit::Bytes,
            note: of_drive.clone(),
        });
        match self.start {
            Start::Empty if is_other => {
                findings.verdict.push(format!(
                    "The rate falls after {after} of random writes, {of_drive}; until then {until}."
                ));
                self.why(fall, findings);
            }
            Start::Empty if is_cliff => findings.verdict.push(format!(
                "The write cliff comes after {after} of random writes, {of_drive}: until then \
                 {until}."
            )),
            Start::Empty => {
                findings.verdict.push(format!(
                    "The rate begins to fall after {after} of random writes, {of_drive}, little by \
                     little; until then {until}."
                ));
                findings.unknown.push(
                    "Where the drive began to collect: before the rate fell. Something before the \
                     flash bounded it, such as the host, the link or the controller, and hid what \
                     collection took."
                        .into(),
                );
            }
            start => {
                findings.verdict.push(format!(
                    "The rate falls after {after} of random writes {}, {of_drive}; until then \
                     {until}.",
                    start.words()
                ));
                findings.unknown.push(
                    "Where the cliff of an empty drive is: nothing proves that this one was empty. \
                     A drive that ignores TRIM, or was not emptied, falls too early; `drivelab \
                     study trim` checks that, and --purge NAME empties it for certain."
                        .into(),
                );
                if start == Start::Discarded && is_other {
                    self.why(fall, findings);
                }
            }
        }
    }

    /// Why the drive fell early, as far as that was measured.
    fn why(&self, fall: &Fall, findings: &mut Findings) {
        let shown = self.shown.as_ref();
        let cause = shown.and_then(|shown| Some((Cause::of(self.setting, shown)?, shown)));
        match cause {
            Some((cause, shown)) => findings.verdict.push(cause.words(shown)),
            None => {
                findings.wants_more |= shown.is_some_and(|shown| shown.sizes.is_empty());
                let is_early = is_early(self.setting, fall);
                findings.unknown.push(cause::candidates(shown, is_early));
            }
        }
        findings.tables.extend(shown.and_then(cause::table));
    }

    fn level(&self, findings: &mut Findings) {
        match (&self.settled, rounds::is_whole(self.setting)) {
            (Ok(settled), true) => match self.strayed(settled) {
                None => self.steady(findings, settled),
                Some(apart) => self.revoked(settled, apart, findings),
            },
            (_, false) => {
                not_settled(findings);
                findings.want_more(format!(
                    "What is left in the steady state: {} of writes are less than two full \
                     overwrites of this drive, which a proof takes. Give a larger --budget and \
                     --time.",
                    capacity(written(self.steps))
                ));
            }
            (Err(why), true) => {
                not_settled(findings);
                findings.want_more(format!(
                    "What is left in the steady state: it was not reached; {}. Give a larger \
                     --budget or --time.",
                    why_not(*why, self.rounds.len())
                ));
            }
        }
        let last = self.rounds.len();
        let title = "Steady state by SNIA's window of five rounds";
        if let Some(from) = last.checked_sub(WINDOW_ROUNDS)
            && let Ok(window) = Window::of(&self.rounds[from..], from + 1)
        {
            findings.tables.push(rounds::window_table(title, &window, Unit::Iops));
        }
    }

    /// How far the rounds that were watched went from where it had settled, if they left the band.
    fn strayed(&self, settled: &Settled) -> Option<f64> {
        let band = self.setting.options.delta;
        let watched = rounds::rates(self.setting, self.steps, STEADY);
        let apart = |rate: f64| rate / settled.mean - 1.0;
        let outside = watched.iter().filter(|rate| apart(**rate).abs() > band).count();
        let mean = watched.iter().sum::<f64>() / watched.len().max(1) as f64;
        let is_last = watched.last().is_some_and(|rate| apart(*rate).abs() > band);
        let is_mean = !watched.is_empty() && apart(mean).abs() > band;
        (outside > 1 || is_last || is_mean).then(|| apart(mean))
    }

    /// It was called settled too early.
    fn revoked(&self, settled: &Settled, apart: f64, findings: &mut Findings) {
        not_settled(findings);
        findings.want_more(format!(
            "What is left in the steady state: after {} rounds it seemed to be {}, and the rounds \
             that were watched from there on went {} away from it on average. Give a larger \
             --budget or --time.",
            self.rounds.len(),
            operations(settled.mean),
            percent(apart.abs())
        ));
    }

    fn steady(&self, findings: &mut Findings, settled: &Settled) {
        let estimate = Estimate {
            value: settled.mean,
            low: Some(settled.low),
            high: Some(settled.high),
            n: settled.rounds as u64,
        };
        findings.figures.push(Figure {
            name: "steady state".into(),
            estimate,
            unit: Unit::Iops,
            note: format!(
                "{} rounds that prove it; settled after {} of an eighth of the drive",
                settled.rounds,
                self.rounds.len()
            ),
        });
        if self.cell(STEADY).is_some() {
            let text = "rounds of its own, after those that prove the steady state".into();
            findings.remarks.push(Remark { cell: STEADY.into(), text });
        }
        let mut sentence = format!("Settled, it writes {} at random", operations(settled.mean));
        let before = self.falls.first().map(|fall| fall.before);
        let first = self.rate(FIRST).map(|estimate| estimate.value).filter(|_| before.is_none());
        if let Some(rate) = before.or(first) {
            let share = settled.mean / rate;
            let words = if before.is_some() { "it did before" } else { "it did at first" };
            sentence.push_str(&format!(", {} of what {words}", percent(share)));
            let name = if before.is_some() { "left after the fall" } else { "of the first writes" };
            findings.figures.push(Figure {
                name: name.into(),
                estimate: Estimate::point(share, settled.rounds as u64),
                unit: Unit::Share,
                note: String::new(),
            });
        }
        let tails = [FIRST, STEADY].map(|name| {
            let latency = self.cell(name)?.service_ns.as_ref()?;
            latency.p99_9.map(|ns| ns.value)
        });
        if let [Some(before), Some(after)] = tails {
            let bytes = self.cell(FIRST).map_or(0, |kind| kind.rates.bytes);
            let (bytes, before, after) = (capacity(bytes), time(before), time(after));
            sentence.push_str(&format!("; p99.9 is {after}, in its first {bytes} it was {before}"));
        }
        self.faster_at_first(findings, before);
        findings.verdict.push(format!("{sentence}."));
        self.watched(findings, settled);
    }

    /// The first writes may be so few that a buffer takes them all.
    fn faster_at_first(&self, findings: &mut Findings, before: Option<f64>) {
        let Some((kind, then)) = self.cell(FIRST).zip(before) else { return };
        let is_faster = kind.rates.iops.is_some_and(|iops| iops.value > BUFFERED * then);
        if is_faster {
            let (bytes, then) = (capacity(kind.rates.bytes), operations(then));
            let text = format!("its first {bytes} alone, faster than what follows; then {then}");
            findings.remarks.push(Remark { cell: FIRST.into(), text });
        }
    }

    /// Whether the drive stayed where it had settled.
    fn watched(&self, findings: &mut Findings, settled: &Settled) {
        let Some(watched) = self.rate(STEADY) else {
            findings.want_more(
                "Whether it stays there: time or budget did not last to watch it. Give a larger \
                 --time or --budget."
                    .into(),
            );
            return;
        };
        let apart = (watched.value / settled.mean - 1.0).abs();
        let noise = watched.relative_half_width().unwrap_or(0.0) + settled.relative_half_width();
        if apart > STRAYED.max(noise) {
            findings.beware.push(format!(
                "The drive left its steady state again: watched over {} more rounds it was {} off \
                 the mean by which it had been called settled.",
                watched.n,
                percent(apart)
            ));
        }
    }

    fn pictures(&self, findings: &mut Findings) {
        if self.history.len() < 2 {
            return;
        }
        let width = rounds::round_bytes(self.setting) as f64 / POINTS_A_ROUND;
        let points = smoothed(&self.history, width);
        let mut lines =
            vec![Line { label: "random write".into(), kind: LineKind::Measured, points }];
        let end = self.history.last().map_or(0.0, |last| last.bytes);
        if let (Ok(settled), true) = (&self.settled, rounds::is_whole(self.setting)) {
            let points = vec![(0.0, settled.mean), (end, settled.mean)];
            lines.push(Line { label: "steady mean".into(), kind: LineKind::Fit, points });
        }
        let label = |fall: &Fall| match fall.is_sharp && !is_early(self.setting, fall) {
            true if self.start == Start::Empty => "cliff",
            _ => "falls",
        };
        let mark = |fall: &Fall| Mark { x: fall.bytes, label: label(fall).into() };
        let mut marks: Vec<Mark> = self.falls.iter().map(mark).collect();
        if is_refilled(self.steps) {
            marks.push(Mark { x: self.before_fill_bytes(), label: "filled".into() });
        }
        findings.pictures.push(Picture {
            title: "The write cliff".into(),
            note: format!(
                "Random writes of 4 KiB, {}.{}",
                self.start.words(),
                if is_refilled(self.steps) {
                    " At the mark the drive was written once sequentially, which is not shown."
                } else {
                    ""
                }
            ),
            x: Axis { quantity: "written".into(), unit: Unit::Bytes },
            y: Axis { quantity: "rate".into(), unit: Unit::Iops },
            lines,
            marks,
        });
        let title = "Rounds of an eighth of the drive, and SNIA's window";
        let picture = rounds::window_picture(title, &self.rounds, self.rounds.len(), Unit::Iops);
        findings.pictures.extend(picture.filter(|_| rounds::is_whole(self.setting)));
    }
}

/// The question was what is left, and that was not shown.
fn not_settled(findings: &mut Findings) {
    findings.no_answer = true;
    findings.verdict.push("It was not shown to have settled.".into());
}

fn deviations(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let mut all: Vec<String> = vec![
        "The write cache of the drive was left as it was.".into(),
        "One worker with 32 operations in flight; SNIA leaves both to the operator.".into(),
        "It ends when the drive has settled by proof, instead of after four capacities or a time."
            .into(),
    ];
    if !setting.is_drive() {
        all.push(
            "A file, not a drive: it was filled first, and what lies below it was not emptied."
                .into(),
        );
    }
    if is_refilled(since_break(run)) {
        all.push(
            "Before settling, the drive was written once sequentially, so that no block is left \
             that was never written."
                .into(),
        );
    }
    all.extend(loads::not_purged(setting, run));
    findings.deviations = all;
}
