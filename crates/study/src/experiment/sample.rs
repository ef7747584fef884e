//! Tests: a study played against a drive that is nothing but a rate.

use super::{Setting, Study};
use drivelab_core::ledger::{Ledger, Moved};
use drivelab_core::op::Action;
use drivelab_core::plan::{Files, Step};
use drivelab_core::record::{Record, StepBegin, StepEnd};
use drivelab_core::run::Run;
use drivelab_core::tally::{Keep, Tally};

/// Operations behind one histogram: its mean is what counts.
const SAMPLES: u64 = 4;
/// Resets or finishes of zones in a step.
const ZONES: u64 = 16;

/// Plays `study` to its end; `rate` gives operations a second by name of the step and repetition.
pub fn play(
    study: &Study,
    setting: &Setting<'_>,
    state: &str,
    rate: &dyn Fn(&str, u32) -> f64,
) -> Run {
    let mut run = Run::default();
    run.begin.state = Some(state.into());
    let mut ledger = Ledger::of(state);
    while let Some(plan) = (study.next)(setting, &run) {
        let number = run.plans.len() as u32;
        run.push(Record::Plan { plan: plan.clone() }).unwrap();
        for (plan_step, step) in plan.steps.iter().enumerate() {
            let at = run.steps.len() as u32;
            let named = run.steps.iter().filter(|known| known.begin.name == step.name);
            let repetition = named.count() as u32 + 1;
            run.push(Record::StepBegin(StepBegin {
                step: at,
                plan_step: plan_step as u32,
                plan: number,
                repetition,
                name: step.name.clone(),
                role: step.role,
                state: ledger.state.clone(),
                opened: Vec::new(),
            }))
            .unwrap();
            let of = |name: &str| rate(name, repetition);
            let tally = tally(setting, step, at, &of);
            let moved = Moved::of(tally.as_slice());
            ledger.after(step, setting.bytes(), moved, true);
            tally.into_iter().for_each(|it| run.push(Record::Tally(Box::new(it))).unwrap());
            let end = StepEnd { step: at, ledger: Some(ledger.clone()), ..StepEnd::default() };
            run.push(Record::StepEnd(Box::new(end))).unwrap();
        }
        if let Some(found) = (study.established)(setting, &run) {
            ledger.state.clone_from(&found.state);
            run.push(Record::Established(found)).unwrap();
        }
        assert!(run.plans.len() < 1000, "{} asks for ever", study.name);
    }
    run
}

/// What a step leaves behind at the operations a second that its name has; resets and finishes of
/// zones have them by a name with their word.
fn tally(
    setting: &Setting<'_>,
    step: &Step,
    number: u32,
    of: &dyn Fn(&str) -> f64,
) -> Option<Tally> {
    let stream = step.streams.first()?;
    let rate = of(&step.name);
    let length = stream.length.map_or(setting.bytes(), |length| length.0);
    let bytes = step.until.bytes.map(|bytes| bytes.0);
    let files = if stream.files == Files::Each { u64::from(stream.workers) } else { 1 };
    let length = stream.zoned.map_or(length, |it| length / it.size.0.max(1) * it.used());
    let bytes = bytes.or(step.until.passes.map(|passes| passes * length * files));
    let by_time = step.until.elapsed.map(|span| rate * span.seconds());
    let by_bytes = bytes.map(|bytes| bytes as f64 / stream.size.0 as f64);
    let operations = by_time.into_iter().chain(by_bytes).fold(f64::INFINITY, f64::min);
    let mix = [
        (Action::Read, stream.mix.read),
        (Action::Write, stream.mix.write),
        (Action::Trim, stream.mix.trim),
    ];
    let mixed = mix.iter().filter(|(_, weight)| *weight > 0).map(|it| it.0);
    let kinds: Vec<Action> = match stream.names() {
        None if stream.zoned.is_some() => stream.kinds(),
        None => mixed.collect(),
        Some(names) => names.actions.clone(),
    };
    let keep = Keep::default();
    let mut tally = Tally::new(number, 0, 0, &kinds, keep);
    tally.to = (operations / rate * 1e9) as u64;
    let depth = f64::from(stream.depth * stream.workers);
    for entry in &mut tally.kinds {
        if entry.kind.goes_along() {
            let each = of(&format!("{}, {}", step.name, entry.kind.word()));
            (0..ZONES).for_each(|_| entry.service.record((1e9 / each) as u64));
            entry.ops = ZONES;
            continue;
        }
        let weight = mix.iter().find(|(kind, _)| *kind == entry.kind).map_or(0, |it| it.1);
        let share = match stream.names() {
            None => f64::from(weight) / stream.mix.total() as f64,
            Some(names) => 1.0 / names.actions.len() as f64,
        };
        (0..SAMPLES).for_each(|_| entry.service.record((depth / rate * 1e9) as u64));
        entry.ops = (operations * share) as u64;
        entry.bytes = entry.ops * stream.size.0;
    }
    Some(tally)
}
