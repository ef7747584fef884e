//! Random writes in rounds, until the drive has settled: where the rate falls, and what is left.

use super::budget::{Left, whole, written};
use super::order::{is_complete, since_break};
use super::{Setting, loads};
use drivelab_core::findings::{Axis, Entry, Head, Line, LineKind, Mark, Picture, Table, Unit};
use drivelab_core::op::Action;
use drivelab_core::plan::{Mix, Role, Step, Until};
use drivelab_core::quantity::percent;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::study::Established;
use drivelab_core::summary::series;
use drivelab_core::units::Span;
use drivelab_stats::steady::{Settled, TURN_ROUNDS, WINDOW_ROUNDS, Window};

/// The rounds that bring a drive to its steady state.
pub const ROUND: &str = "random write";
/// Bytes of a request.
const REQUEST_BYTES: u64 = 4096;
/// Operations in flight.
const DEPTH: u32 = 32;
/// Intervals of one round.
const INTERVALS: u64 = 25;
/// A budget must hold this many rounds.
const ROUNDS_MIN: u64 = 20;

/// Bytes of one round: an eighth of the drive, less where the budget holds no twenty of those.
pub fn round_bytes(setting: &Setting<'_>) -> u64 {
    let eighth = setting.bytes() / TURN_ROUNDS as u64;
    whole(eighth.min(setting.options.budget.0 / ROUNDS_MIN), REQUEST_BYTES).0
}

/// Whether eight rounds are a turn: the drive is rewritten once.
pub fn is_whole(setting: &Setting<'_>) -> bool {
    let turn = round_bytes(setting).saturating_mul(TURN_ROUNDS as u64);
    // Rounded to whole requests.
    turn as f64 >= 0.99 * setting.bytes() as f64
}

/// Random writes of so many bytes, and no longer than is left.
pub fn write_step(setting: &Setting<'_>, name: &str, role: Role, bytes: u64, left: &Left) -> Step {
    let until = Until {
        bytes: Some(whole(bytes.min(left.bytes), REQUEST_BYTES)),
        elapsed: Some(Span(left.time_ns.max(1))),
        ..Until::default()
    };
    loads::step(setting, name, role, until, loads::random(setting, Mix::WRITE, DEPTH))
}

/// The length of intervals that resolves a round, from how fast the latest writes were.
pub fn interval_ns(setting: &Setting<'_>, steps: &[StepRun]) -> u64 {
    let least = if setting.is_simulated() { 10_000_000 } else { 100_000_000 };
    let speed = |step: &StepRun| {
        let bytes = written(std::slice::from_ref(step));
        let ns = step.duration_ns();
        (bytes > 0 && ns > 0).then(|| bytes as f64 / ns as f64)
    };
    let speed = steps.iter().rev().find_map(speed);
    let round = speed.map_or(0, |speed| (round_bytes(setting) as f64 / speed) as u64);
    (round / INTERVALS).clamp(least, 1_000_000_000)
}

/// The steps of this name that came to their end, in order.
pub fn named<'a>(steps: &'a [StepRun], name: &str) -> Vec<&'a StepRun> {
    steps.iter().filter(|step| step.begin.name == name && is_complete(step)).collect()
}

/// The mean rate of each round in operations a second; a last one that was cut short by the clock
/// is left out.
pub fn rates(setting: &Setting<'_>, steps: &[StepRun], name: &str) -> Vec<f64> {
    let least = round_bytes(setting) / 2;
    let rate = |step: &&StepRun| {
        let bytes = written(std::slice::from_ref(step));
        let ns = step.duration_ns();
        (bytes >= least && ns > 0).then(|| bytes as f64 / REQUEST_BYTES as f64 / ns as f64 * 1e9)
    };
    named(steps, name).iter().filter_map(rate).collect()
}

/// The steady state, where the round that was just done proves it.
pub fn established(setting: &Setting<'_>, run: &Run) -> Option<Established> {
    let is_last = run.steps.last().is_some_and(|step| step.begin.name == ROUND);
    let known = rates(setting, since_break(run), ROUND);
    let settled = Settled::of(&known).ok()?;
    let is_new = is_last && is_whole(setting) && run.ledger().state != "random-steady";
    is_new.then(|| Established {
        state: "random-steady".into(),
        because: evidence(&settled, known.len()),
    })
}

/// One interval of a history of writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// Bytes written until its end.
    pub bytes: f64,
    /// Operations a second in it.
    pub rate: f64,
    /// Its length.
    pub seconds: f64,
    /// It was cut off by the end of a step.
    pub is_partial: bool,
}

/// The writes of these steps one after the other, interval by interval.
pub fn history(steps: &[&StepRun]) -> Vec<Written> {
    let mut bytes = 0.0;
    let mut all = Vec::new();
    for step in steps {
        for point in series(step, 0, Some(Action::Write)) {
            let seconds = (point.to - point.from) as f64 / 1e9;
            bytes += point.bytes_per_s * seconds;
            all.push(Written { bytes, rate: point.ops_per_s, seconds, is_partial: point.partial });
        }
    }
    all
}

/// A history for the eye, a point for each `width` bytes. Between two rounds the queue runs empty
/// for a moment: the last interval of the one is slow, the first of the other fast, and together
/// they are neither, so rounds of a multiple of `width` meet within a point.
pub fn smoothed(history: &[Written], width: f64) -> Vec<(f64, f64)> {
    let bin = |at: &Written| (at.bytes / width + 0.5) as u64;
    let of_bin = |all: &[Written]| {
        let seconds: f64 = all.iter().map(|at| at.seconds).sum();
        let operations: f64 = all.iter().map(|at| at.rate * at.seconds).sum();
        let last = all.last().filter(|_| seconds > 0.0)?;
        Some((last.bytes, operations / seconds))
    };
    history.chunk_by(|a, b| bin(a) == bin(b)).filter_map(of_bin).collect()
}

/// Where a history first falls, and stays below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cliff {
    /// Bytes written until then.
    pub bytes: f64,
    /// The rate before, in operations a second.
    pub before: f64,
}

/// A fall counts from this share of the rate before on …
const FALLEN: f64 = 0.90;
/// … if it lasts this many intervals …
const LASTING: usize = 5;
/// … and begins where the rate was last above this share.
const EDGE: f64 = 0.95;

/// The first lasting fall below the rate of the first `first_bytes`.
pub fn cliff(history: &[Written], first_bytes: f64) -> Option<Cliff> {
    let history: Vec<Written> = history.iter().filter(|at| !at.is_partial).copied().collect();
    let mut first: Vec<f64> =
        history.iter().take_while(|at| at.bytes <= first_bytes).map(|at| at.rate).collect();
    if first.len() < LASTING {
        first = history.iter().take(LASTING).map(|at| at.rate).collect();
    }
    first.sort_by(f64::total_cmp);
    let before = *first.get(first.len() / 2)?;
    let is_low = |at: &Written| at.rate < FALLEN * before;
    let fallen = history.windows(LASTING).position(|all| all.iter().all(is_low))?;
    let edge = history[..fallen].iter().rposition(|at| at.rate >= EDGE * before);
    Some(Cliff { bytes: edge.map_or(0.0, |edge| history[edge].bytes), before })
}

/// What a state that was proved rests on, in words.
pub fn evidence(settled: &Settled, rounds: usize) -> String {
    format!(
        "settled after {rounds} rounds of an eighth of the drive: the halves of the last {} agree \
         within 1 %, without trend, at ± {}",
        settled.rounds,
        percent(settled.relative_half_width())
    )
}

/// The rounds with SNIA's last window drawn into them.
pub fn window_picture(
    title: &str,
    rounds: &[f64],
    last_round: usize,
    unit: Unit,
) -> Option<Picture> {
    let first = last_round.checked_sub(WINDOW_ROUNDS)?;
    let window = Window::of(rounds.get(first..last_round)?, first + 1).ok()?;
    let (from, to) = ((first + 1) as f64, last_round as f64);
    let flat = |label: &str, kind, y: f64| Line {
        label: label.into(),
        kind,
        points: vec![(from, y), (to, y)],
    };
    let on_line = |x: f64| window.intercept + window.slope * x;
    Some(Picture {
        title: title.into(),
        note: format!(
            "The last five rounds are SNIA's measurement window: least and greatest may differ by \
             20 % of their mean, and the fitted line may change by 10 %. It is {}.",
            if window.is_steady() { "met" } else { "not met" }
        ),
        x: Axis { quantity: "round".into(), unit: Unit::Count },
        y: Axis { quantity: quantity(unit).into(), unit },
        lines: vec![
            Line {
                label: "rounds".into(),
                kind: LineKind::Measured,
                points: (1..).map(f64::from).zip(rounds.iter().copied()).collect(),
            },
            flat("mean of the window", LineKind::Fit, window.mean),
            Line {
                label: "best line".into(),
                kind: LineKind::Fit,
                points: vec![(from, on_line(from)), (to, on_line(to))],
            },
            flat("+ 10 %", LineKind::Limit, 1.1 * window.mean),
            flat("− 10 %", LineKind::Limit, 0.9 * window.mean),
        ],
        marks: vec![Mark { x: from, label: "window".into() }],
    })
}

fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerS => "throughput",
        Unit::Ns => "mean latency",
        _ => "rate",
    }
}

/// SNIA's table of a steady state: what is allowed, what was measured.
pub fn window_table(title: &str, window: &Window, unit: Unit) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let row = |name: &str, allowed: Option<f64>, measured: f64, word: &str| {
        let allowed = allowed.map_or(Entry::Nothing, Entry::Number);
        vec![Entry::Text(name.into()), allowed, Entry::Number(measured), Entry::Text(word.into())]
    };
    let word = |is_met| if is_met { "met" } else { "not met" };
    let correlation = window.correlation.map_or_else(
        || "all equal".to_string(),
        |correlation| format!("correlation {correlation:.2}"),
    );
    Table {
        title: title.into(),
        note: format!(
            "Rounds {} to {}; best line {:.4} × round + {:.1}, {correlation}.",
            (window.last_round + 1).saturating_sub(WINDOW_ROUNDS),
            window.last_round,
            window.slope,
            window.intercept
        ),
        heads: vec![
            head("criterion", None),
            head("allowed", Some(unit)),
            head("measured", Some(unit)),
            head("", None),
        ],
        rows: vec![
            row("average", None, window.mean, ""),
            row(
                "greatest less least, 20 %",
                Some(window.range_allowed()),
                window.range,
                word(window.is_range_met()),
            ),
            row(
                "change of the best line, 10 %",
                Some(window.slope_excursion_allowed()),
                window.slope_excursion,
                word(window.is_slope_met()),
            ),
        ],
    }
}
