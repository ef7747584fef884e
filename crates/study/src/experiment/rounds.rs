//! Random writes in rounds, until the drive has settled, and how what came of it is shown.

use super::budget::{Left, whole, written};
use super::order::{is_broken, is_complete, since_break, unbroken};
use super::{Setting, loads};
use drivelab_core::findings::{Axis, Entry, Head, Line, LineKind, Mark, Picture, Table, Unit};
use drivelab_core::plan::{Mix, Role, Step, Until};
use drivelab_core::quantity::percent;
use drivelab_core::rounds;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::sound::stands;
use drivelab_core::study::Established;
use drivelab_core::units::Span;
use drivelab_core::uses;
use drivelab_stats::steady::{
    Holder, Past, Settled, TURN_ROUNDS, Unsettled, WINDOW_ROUNDS, Window,
};

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

/// Random writes of this many bytes, and no longer than is left.
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

/// What the drive had been through before the first round.
fn past(setting: &Setting<'_>, run: &Run) -> Past {
    if is_broken(run) {
        return past(setting, &unbroken(run));
    }
    let first = run.steps.iter().position(|step| step.begin.name == ROUND);
    let first = first.unwrap_or(run.steps.len());
    let bytes = setting.facts.target.bytes.filter(|_| setting.is_drive());
    let turn_bytes = round_bytes(setting).saturating_mul(TURN_ROUNDS as u64);
    let bytes = bytes.unwrap_or(setting.bytes());
    let past = rounds::past(run, first, bytes, turn_bytes, turn_bytes);
    Past { holder: holder(setting), ..past }
}

/// What may hold the rate of this target.
pub fn holder(setting: &Setting<'_>) -> Holder {
    rounds::holder(setting.facts)
}

/// Whether the rounds prove a steady state; what is suspect among them proves nothing.
///
/// # Errors
/// What keeps them from it.
pub fn settled(setting: &Setting<'_>, run: &Run) -> Result<Settled, Unsettled> {
    let past = past(setting, run);
    let all = Settled::of(&rates(setting, since_break(run), ROUND), &past)?;
    // Asked only now, for it takes all intervals of every round.
    let is_suspect = |step: &StepRun| step.begin.name == ROUND && !stands(run, step);
    let steps = since_break(run);
    if !steps.iter().any(is_suspect) {
        return Ok(all);
    }
    let sound: Vec<StepRun> = steps.iter().filter(|step| !is_suspect(step)).cloned().collect();
    Settled::of(&rates(setting, &sound, ROUND), &past)
}

/// The steady state, where the round that was just done proves it.
pub fn established(setting: &Setting<'_>, run: &Run) -> Option<Established> {
    let is_last = run.steps.last().is_some_and(|step| step.begin.name == ROUND);
    if !is_last || !is_whole(setting) || run.ledger().state == "random-steady" {
        return None;
    }
    let settled = settled(setting, run).ok()?;
    let known = rates(setting, since_break(run), ROUND);
    Some(Established { state: "random-steady".into(), because: evidence(&settled, known.len()) })
}

/// What a state that was proved rests on, in words.
pub fn evidence(settled: &Settled, rounds: usize) -> String {
    format!(
        "settled after {rounds} rounds of an eighth of the drive: the halves of the last {} agree \
         within 1 %, without a drift of 3 %, at ± {}",
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
    // No rate is below nothing: a steep line ends where it comes down to it.
    let positive = |x: f64| match on_line(x) < 0.0 {
        true => (-window.intercept / window.slope, 0.0),
        false => (x, on_line(x)),
    };
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
                points: vec![positive(from), positive(to)],
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
            "Rounds {} to {}; the best line {} by {} a round, {correlation}.",
            (window.last_round + 1).saturating_sub(WINDOW_ROUNDS),
            window.last_round,
            if window.slope < 0.0 { "falls" } else { "rises" },
            uses::written(window.slope.abs(), unit)
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
