//! `wsat`: when does the write cliff come, and what is left after it?
//!
//! The drive is emptied and then written at random without a pause: the write saturation test of
//! SNIA's specification. It ends when the drive has settled by proof, not after four capacities:
//! a drive with much spare flash is still slowing down there.

use crate::experiment::budget::{Left, written};
use crate::experiment::order::{done, since_break, unbroken};
use crate::experiment::rounds::{self, Cliff, ROUND, Written};
use crate::experiment::{Allowance, Setting, Study, impossible, loads, too_small};
use drivelab_core::findings::{Axis, Figure, Findings, Line, LineKind, Mark, Picture, Unit};
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Plan, Role, Step};
use drivelab_core::quantity::{operations, percent, size, time};
use drivelab_core::rounds::why_not;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::{Rules, Sound};
use drivelab_core::study::Scale;
use drivelab_core::summary::{CellKind, Summary};
use drivelab_core::units::{Size, Span};
use drivelab_stats::Estimate;
use drivelab_stats::steady::{Settled, WINDOW_ROUNDS, Window};

/// The study.
pub const STUDY: Study = Study {
    name: "wsat",
    question: "When does the write cliff come, and what is left after it?",
    allowance,
    objection,
    next,
    established: rounds::established,
    rules: Rules::SERIES,
    judge,
};

/// The first writes, by which the drive is known as it was.
const FIRST: &str = "first random write";
/// What is measured once the drive has settled.
const STEADY: &str = "steady random write";
const WATCHED: usize = 5;
const SECOND_NS: u64 = 1_000_000_000;
/// A drive that was emptied is left alone for so long: it erases.
const REST_NS: u64 = 10 * SECOND_NS;
/// Part of the drive that the first writes cover.
const FIRST_PART: u64 = 16;
/// Points of the picture in each round.
const POINTS_A_ROUND: f64 = 5.0;
/// Before this share of its capacity no empty flash drive has to collect.
const CACHE_END: f64 = 0.9;
/// The steady rate may leave what was proved by this share before it is worth a word.
const STRAYED: f64 = 0.02;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (5, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(16)),
        Scale::Full => (24 * 60, bytes.saturating_mul(24)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    let least = if setting.is_drive() { 0 } else { setting.bytes() } + (64 << 20);
    impossible(setting).or_else(|| too_small(setting, Size(least)))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    let left = Left::of(setting, run);
    let steps = since_break(run);
    let interval = rounds::interval_ns(setting, steps);
    if !setting.is_drive() && run.ledger().state != "filled" && done(steps, FIRST) == 0 {
        // Blocks of a file that were never written are found on the way, which is slow.
        let is_tried = steps.iter().any(|step| step.begin.name == loads::FILL);
        let fill = loads::fill(setting, 1, &left);
        return (!is_tried && left.bytes >= setting.bytes())
            .then(|| loads::plan(setting, interval, vec![fill]));
    }
    if done(steps, FIRST) == 0 {
        let is_tried = steps.iter().any(|step| step.begin.name == FIRST);
        let first = first_steps(setting, run, &left);
        return (!is_tried && has_room(setting, &left))
            .then(|| loads::plan(setting, interval, first));
    }
    let known = rounds::rates(setting, steps, ROUND);
    let watched = done(steps, STEADY);
    let is_settled = rounds::is_whole(setting) && settled(setting, steps).is_ok();
    if !has_room(setting, &left) || watched >= WATCHED {
        return None;
    }
    // A round that the clock cut short is the last one.
    let is_short = done(steps, ROUND) > known.len();
    match (is_settled || watched > 0, is_short) {
        (true, _) => {
            let share = Left { time_ns: left.time_ns / (WATCHED - watched) as u64, ..left };
            let bytes = rounds::round_bytes(setting);
            let watch = rounds::write_step(setting, STEADY, Role::Measure, bytes, &share);
            let rest = vec![watch; WATCHED - watched];
            Some(loads::plan(setting, interval, within(rest, &left)))
        }
        (false, true) => None,
        (false, false) => {
            let bytes = rounds::round_bytes(setting);
            let round = rounds::write_step(setting, ROUND, Role::Precondition, bytes, &left);
            Some(loads::plan(setting, interval, vec![round]))
        }
    }
}

/// As many steps as the bytes that are left allow.
fn within(steps: Vec<Step>, left: &Left) -> Vec<Step> {
    let mut bytes = left.bytes;
    let fits = |step: &Step| {
        let needed = step.until.bytes.map_or(0, |bytes| bytes.0);
        let fits = needed <= bytes;
        bytes = bytes.saturating_sub(needed);
        fits
    };
    steps.into_iter().take_while(fits).collect()
}

fn has_room(setting: &Setting<'_>, left: &Left) -> bool {
    left.bytes >= rounds::round_bytes(setting) && left.time_ns >= SECOND_NS
}

/// Empties a drive, fills a file, and writes the first random blocks.
fn first_steps(setting: &Setting<'_>, run: &Run, left: &Left) -> Vec<Step> {
    let mut steps = Vec::new();
    match setting.is_drive() {
        true if loads::is_empty(setting, run) => {}
        true => {
            steps.extend(loads::empty(setting));
            if !steps.is_empty() && !setting.is_simulated() {
                let rest = Act::Idle(Span(REST_NS.min(left.time_ns / 10).max(1)));
                let act = Some(rest);
                let name = "rest".into();
                steps.push(Step { name, role: Role::Idle, act, ..Step::default() });
            }
        }
        false => {}
    }
    let bytes = (setting.bytes() / FIRST_PART).min(rounds::round_bytes(setting));
    steps.push(rounds::write_step(setting, FIRST, Role::Measure, bytes, left));
    steps
}

fn settled(
    setting: &Setting<'_>,
    steps: &[StepRun],
) -> Result<Settled, drivelab_stats::steady::Unsettled> {
    Settled::of(&rounds::rates(setting, steps, ROUND))
}

fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
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
            "When the write cliff comes and what is left: some of the writes have no numbers that \
             can be believed, and the history has holes."
                .into(),
        ),
    }
    deviations(setting, run, &mut findings);
    findings.no_answer |= findings.verdict.is_empty();
    findings
}

/// What a run of `wsat` shows.
struct Seen<'a> {
    setting: &'a Setting<'a>,
    summary: &'a Summary,
    steps: &'a [StepRun],
    history: Vec<Written>,
    rounds: Vec<f64>,
    cliff: Option<Cliff>,
    settled: Result<Settled, drivelab_stats::steady::Unsettled>,
    start: Start,
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
        let writes = |step: &&StepRun| [FIRST, ROUND, STEADY].contains(&step.begin.name.as_str());
        let all: Vec<&StepRun> = steps.iter().filter(writes).collect();
        let history = rounds::history(&all);
        let first = (setting.bytes() / FIRST_PART).min(rounds::round_bytes(setting)) as f64;
        let cliff = rounds::cliff(&history, first).filter(|cliff| cliff.bytes > 0.0);
        let rates = rounds::rates(setting, steps, ROUND);
        let settled = Settled::of(&rates);
        let start = Start::of(setting, run);
        Seen { setting, summary, steps, history, rounds: rates, cliff, settled, start }
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

    fn cliff(&self, findings: &mut Findings) {
        let total = self.history.last().map_or(0.0, |last| last.bytes);
        match self.cliff {
            Some(cliff) => self.fall(cliff, findings),
            None if self.history.is_empty() => {}
            None => findings.unknown.push(format!(
                "Where the write cliff is: in {} of random writes, {}, the rate never fell by 10 % \
                 for good. A larger --budget or --time goes further.",
                size(total as u64),
                self.of_drive(total)
            )),
        }
    }

    /// A lasting fall: of an empty drive the cliff, if it does not come too early for that.
    fn fall(&self, cliff: Cliff, findings: &mut Findings) {
        findings.figures.push(Figure {
            name: "before the cliff".into(),
            estimate: Estimate::point(cliff.before, 1),
            unit: Unit::Iops,
            note: "random, 4 KiB, median".into(),
        });
        findings.figures.push(Figure {
            name: "cliff after".into(),
            estimate: Estimate::point(cliff.bytes, 1),
            unit: Unit::Bytes,
            note: self.of_drive(cliff.bytes),
        });
        let (after, of_drive) = (size(cliff.bytes as u64), self.of_drive(cliff.bytes));
        let until = operations(cliff.before);
        let is_early = cliff.bytes < CACHE_END * self.setting.bytes() as f64;
        match self.start {
            Start::Empty if is_early => findings.verdict.push(format!(
                "The rate falls for good after {after} of random writes, {of_drive}; until then \
                 {until}. An empty flash drive need not collect so early: a cache was full."
            )),
            Start::Empty => findings.verdict.push(format!(
                "The write cliff comes after {after} of random writes, {of_drive}: until then \
                 {until}."
            )),
            start => {
                findings.verdict.push(format!(
                    "The rate falls for good after {after} of random writes {}, {of_drive}; until \
                     then {until}.",
                    start.words()
                ));
                findings.unknown.push(
                    "Where the cliff of an empty drive is: nothing proves that this one was \
                     empty. A drive that ignores TRIM, or was not emptied, falls too early; \
                     `drivelab study trim` tells, and --purge NAME empties it for certain."
                        .into(),
                );
            }
        }
    }

    fn level(&self, findings: &mut Findings) {
        match (&self.settled, rounds::is_whole(self.setting)) {
            (Ok(settled), true) => self.steady(findings, settled),
            (_, false) => findings.unknown.push(format!(
                "What is left in the steady state: {} of random writes are no two turns of this \
                 drive, which is what a proof takes. Give a larger --budget and --time.",
                size(written(self.steps))
            )),
            (Err(why), true) => findings.unknown.push(format!(
                "What is left in the steady state: it was not reached; {}. Give a larger --budget \
                 or --time.",
                why_not(*why, self.rounds.len())
            )),
        }
        let last = self.rounds.len();
        let title = "Steady state by SNIA's window of five rounds";
        if let Some(from) = last.checked_sub(WINDOW_ROUNDS)
            && let Ok(window) = Window::of(&self.rounds[from..], from + 1)
        {
            findings.tables.push(rounds::window_table(title, &window, Unit::Iops));
        }
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
            note: format!("settled after {} rounds of an eighth of the drive", self.rounds.len()),
        });
        let mut words = format!("Settled, it writes {} at random", operations(settled.mean));
        if let Some(cliff) = self.cliff {
            let share = settled.mean / cliff.before;
            words.push_str(&format!(", {} of what it did before", percent(share)));
            findings.figures.push(Figure {
                name: "left after the cliff".into(),
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
            words.push_str(&format!("; p99.9 goes from {} to {}", time(before), time(after)));
        }
        findings.verdict.push(format!("{words}."));
        self.watched(findings, settled);
    }

    /// Whether the drive stayed where it had settled.
    fn watched(&self, findings: &mut Findings, settled: &Settled) {
        let Some(watched) = self.rate(STEADY) else {
            findings.unknown.push(
                "Whether it stays there: time or bytes did not last to watch it. Give a larger \
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
        let points = rounds::smoothed(&self.history, width);
        let mut lines =
            vec![Line { label: "random write".into(), kind: LineKind::Measured, points }];
        let end = self.history.last().map_or(0.0, |last| last.bytes);
        if let (Ok(settled), true) = (&self.settled, rounds::is_whole(self.setting)) {
            let points = vec![(0.0, settled.mean), (end, settled.mean)];
            lines.push(Line { label: "steady mean".into(), kind: LineKind::Fit, points });
        }
        let marks = self.cliff.map(|cliff| Mark { x: cliff.bytes, label: "cliff".into() });
        findings.pictures.push(Picture {
            title: "The write cliff".into(),
            note: format!("Random writes of 4 KiB without a pause, {}.", self.start.words()),
            x: Axis { quantity: "written".into(), unit: Unit::Bytes },
            y: Axis { quantity: "rate".into(), unit: Unit::Iops },
            lines,
            marks: marks.into_iter().collect(),
        });
        let title = "Rounds of an eighth of the drive, and SNIA's window";
        let picture = rounds::window_picture(title, &self.rounds, self.rounds.len(), Unit::Iops);
        findings.pictures.extend(picture.filter(|_| rounds::is_whole(self.setting)));
    }
}

fn deviations(setting: &Setting<'_>, run: &Run, findings: &mut Findings) {
    let mut all: Vec<String> = vec![
        "The write cache of the drive was left as it was.".into(),
        "One worker with 32 operations in flight; SNIA leaves both to the operator.".into(),
        "It ends when the drive has settled by two turns, instead of after four capacities or a \
         time."
            .into(),
    ];
    if !setting.is_drive() {
        all.push(
            "A file, not a drive: it was filled first, and what lies below it was not emptied."
                .into(),
        );
    }
    all.extend(loads::not_purged(setting, run));
    findings.deviations = all;
}
