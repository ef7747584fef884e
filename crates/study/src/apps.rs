//! `apps`: how does this drive serve what programs do?
//!
//! Loads that stand for uses of a machine, each with a source for its mix, its sizes and its
//! pauses as far as there is one, and each with the one figure that its user would feel. They are
//! models, and a trace of the real thing says more. Several drives get a score for each load
//! against one of them, and one for all.

mod judge;
mod loads;
mod models;
mod scores;
mod work;

use crate::experiment::budget::{between_ns, too_short, whole};
use crate::experiment::order::in_rounds;
use crate::experiment::used::{self, BUDGET_MIN, left_then};
use crate::experiment::{
    Allowance, OwnOption, Setting, Study, impossible, loads as shared, too_small,
};
use drivelab_core::plan::{Plan, Role, Step, Stream, Until};
use drivelab_core::run::Run;
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};
use loads::App;

/// The study.
pub const STUDY: Study = Study {
    name: "apps",
    question: "How does a drive serve programs: boot, games, films, scans, a database?",
    allowance,
    objection,
    next,
    judge: judge::judge,
    across: Some(scores::across),
    priced: &["database"],
    options: &[OwnOption::Reference],
    ..Study::PLAIN
};

/// Each load is measured so often, in rounds.
const ROUNDS: u64 = 5;
const SECOND_NS: u64 = 1_000_000_000;

fn allowance(scale: Scale, bytes: u64) -> Allowance {
    let (minutes, budget) = match scale {
        Scale::Quick => (7, 10 << 30),
        Scale::Default => (60, bytes.saturating_mul(4)),
        Scale::Full => (6 * 60, bytes.saturating_mul(8)),
    };
    Allowance { time: Span(minutes * 60 * SECOND_NS), budget: Size(budget) }
}

fn objection(setting: &Setting<'_>) -> Option<String> {
    impossible(setting)
        .or_else(|| too_small(setting, Size(BUDGET_MIN)))
        .or_else(|| too_short(setting, ROUNDS * App::ALL.len() as u64))
}

fn next(setting: &Setting<'_>, run: &Run) -> Option<Plan> {
    used::next(setting, run, schedule)
}

/// Everything that is measured, in its order.
fn schedule(setting: &Setting<'_>, region: u64, run: &Run) -> Vec<Step> {
    let left = left_then(setting, run);
    let count = ROUNDS * App::ALL.len() as u64;
    let wanted = match setting.options.scale {
        Scale::Quick => 5 * SECOND_NS,
        Scale::Default => 30 * SECOND_NS,
        Scale::Full => 300 * SECOND_NS,
    };
    // A load that was settled in for a quarter of its time, and what a step takes next to it.
    let each = (left.time_ns / count).saturating_sub(2 * between_ns(setting)) / 5 * 4;
    let part = left.bytes / count;
    let both = |app| settled(setting, app, region, part, each.min(wanted));
    in_rounds(&App::ALL, ROUNDS, setting.options.seed).flat_map(both).collect()
}

/// The load unwatched for a quarter of the time, because the drive still works on what the one
/// before left it, and then the load.
fn settled(setting: &Setting<'_>, app: App, region: u64, part: u64, ns: u64) -> [Step; 2] {
    let streams = together(app.streams(setting, region));
    let writers = streams.iter().filter(|stream| stream.mix.write > 0).count() as u64;
    let grain = streams.iter().map(|stream| stream.size.0).max().unwrap_or(4096);
    let one = |name: String, role, ns: u64, bytes: u64| {
        let elapsed = Some(Span(ns.max(1)));
        let bytes = (writers > 0).then(|| whole(bytes / writers.max(1), grain));
        let until = Until { elapsed, bytes, ..Until::default() };
        let bounded = |stream: &Stream| {
            let reads_on = stream.background && stream.mix.write == 0;
            let own = reads_on.then(|| Until { elapsed, ..Until::default() });
            Stream { until: own, ..stream.clone() }
        };
        let first = shared::step(setting, &name, role, until, streams[0].clone());
        Step { streams: streams.iter().map(bounded).collect(), ..first }
    };
    let before = format!("{}, settling", app.name());
    [
        one(before, Role::Prepare, ns / 4, part / 5),
        one(app.name().into(), Role::Measure, ns, part / 5 * 4),
    ]
}

/// What may be written bounds the streams that write. One that only reads next to them goes on
/// for as long as they do, so that no part of the step is the load of one stream alone.
fn together(streams: Vec<Stream>) -> Vec<Stream> {
    let is_written_to = streams.iter().any(|stream| stream.mix.write > 0);
    let one = |stream: Stream| Stream {
        background: stream.background || (is_written_to && stream.mix.write == 0),
        ..stream
    };
    streams.into_iter().map(one).collect()
}
