use super::*;
use drivelab_core::facts::{FilesystemFacts, TargetKind};
use drivelab_core::record::{Record, StepBegin, StepEnd};
use drivelab_core::study::Scale;
use drivelab_core::tally::{Keep, Tally};

fn asked() -> StudyOptions {
    let Allowance { time, budget } = (STUDY.allowance)(Scale::Default, 0);
    StudyOptions { name: STUDY.name.into(), time, budget, ..StudyOptions::default() }
}

fn then(options: &StudyOptions, facts: &Facts, bytes: u64, so_far: &Run) -> Option<Plan> {
    next(&Setting { options: &StudyOptions { bytes, ..options.clone() }, facts }, so_far)
}

fn facts(total: u64, free: u64) -> Facts {
    let filesystem = FilesystemFacts {
        total_bytes: Some(total),
        free_bytes: Some(free),
        ..FilesystemFacts::default()
    };
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Directory;
    facts.target.filesystem = Some(filesystem);
    facts
}

fn laid_out(plan: Plan, bytes: u64) -> Run {
    let mut run = Run::default();
    let mut tally = Tally::new(0, 0, 0, &[drivelab_core::op::Action::Write], Keep::default());
    tally.kinds[0].bytes = bytes;
    run.push(Record::Plan { plan }).unwrap();
    run.push(Record::StepBegin(StepBegin {
        step: 0,
        plan_step: 0,
        plan: 0,
        repetition: 1,
        name: "layout".into(),
        role: Role::Prepare,
        state: "unknown".into(),
        opened: Vec::new(),
    }))
    .unwrap();
    run.push(Record::Tally(Box::new(tally))).unwrap();
    run.push(Record::StepEnd(Box::default())).unwrap();
    run
}

/// Bytes that the writes of a plan may issue at most.
fn write_bound(plan: &Plan) -> u64 {
    let writes = plan.steps.iter().filter(|step| step.changes_data());
    writes
        .map(|step| {
            let mix = step.streams[0].mix;
            let bytes = step.until.bytes.map_or(step.streams[0].length.unwrap().0, |b| b.0);
            bytes * u64::from(mix.write) / mix.total()
        })
        .sum()
}

#[test]
fn the_scratch_file_leaves_a_tenth_free() {
    let options = asked();
    assert_eq!(scratch_bytes(&options, &facts(1 << 40, 1 << 39)), Ok(2 << 30));
    let tight = facts(10 << 30, 2 << 30);
    assert_eq!(scratch_bytes(&options, &tight), Ok(1 << 30));
    assert!(scratch_bytes(&options, &facts(10 << 30, 1 << 30)).unwrap_err().contains("Make room"));
    let small = StudyOptions { budget: Size(1 << 20), ..options };
    assert!(scratch_bytes(&small, &facts(1 << 40, 1 << 39)).unwrap_err().contains("budget"));
}

#[test]
fn budget_and_time_are_kept_whatever_is_laid_out() {
    for (budget, laid) in [(8u64 << 30, 2u64 << 30), (1 << 30, 256 << 20), (8 << 30, 128 << 20)] {
        let options = StudyOptions { budget: Size(budget), seed: 3, ..asked() };
        let facts = facts(1 << 40, 1 << 39);
        let layout = then(&options, &facts, budget / 4, &Run::default()).unwrap();
        assert_eq!(layout.steps[0].role, Role::Prepare);
        let run = laid_out(layout, laid);
        let plan = then(&options, &facts, budget / 4, &run).unwrap();
        assert!(laid + write_bound(&plan) <= budget, "{laid} of {budget}");
        let time: u64 = plan.steps.iter().map(|step| step.until.elapsed.unwrap().0).sum();
        let layout_time = (options.time.0 as f64 * LAYOUT_SHARE) as u64;
        let setup = plan.steps.len() as u64 * SECOND_NS / 2;
        assert!(time + setup <= options.time.0, "{time}");
        assert!(layout_time < options.time.0 / 3);
        let ends = plan.steps.iter().map(|step| &step.streams[0]);
        assert!(ends.map(|it| it.offset.0 + it.length.unwrap().0).max() == Some(laid));
    }
}

#[test]
fn every_cell_is_repeated_in_an_order_that_changes() {
    let options = StudyOptions { seed: 1, ..asked() };
    let facts = facts(1 << 40, 1 << 39);
    let run = laid_out(layout(&options, &facts, 1 << 30), 1 << 30);
    let plan = then(&options, &facts, 1 << 30, &run).unwrap();
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    for cell in CELLS {
        assert_eq!(names.iter().filter(|name| **name == cell).count(), REPETITIONS as usize);
    }
    let shuffled = names.len() - REPETITIONS as usize;
    assert!(
        names[shuffled..].iter().all(|name| *name == REWRITTEN_READ),
        "nothing is written there"
    );
    let rounds: Vec<&[&str]> = names[..shuffled].chunks(CELLS.len() - 1).collect();
    assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]));
    let again = then(&options, &facts, 1 << 30, &run).unwrap();
    assert_eq!(plan, again);
    let other = StudyOptions { seed: 2, ..options.clone() };
    assert_ne!(plan.steps, then(&other, &facts, 1 << 30, &run).unwrap().steps);
    // What was measured is not asked for again: all but the last, then nothing.
    let mut over = run.clone();
    over.push(Record::Plan { plan: plan.clone() }).unwrap();
    for (number, step) in (0..).zip(&plan.steps) {
        if number as usize + 1 == plan.steps.len() {
            let rest = then(&options, &facts, 1 << 30, &over).unwrap();
            assert_eq!(rest.steps, std::slice::from_ref(step));
        }
        let begin = StepBegin {
            step: number + 1,
            plan_step: number,
            plan: 1,
            repetition: 1,
            name: step.name.clone(),
            role: Role::Measure,
            state: "unknown".into(),
            opened: Vec::new(),
        };
        over.push(Record::StepBegin(begin)).unwrap();
        over.push(Record::StepEnd(Box::new(StepEnd { step: number + 1, ..StepEnd::default() })))
            .unwrap();
    }
    assert_eq!(then(&options, &facts, 1 << 30, &over), None);
}

#[test]
fn nothing_but_writes_in_order_touches_what_is_read_in_order() {
    let options = StudyOptions { seed: 1, ..asked() };
    let facts = facts(1 << 40, 1 << 39);
    let run = laid_out(layout(&options, &facts, 1 << 30), 1 << 30);
    let plan = then(&options, &facts, 1 << 30, &run).unwrap();
    let streams = |is_there: fn(&str) -> bool| {
        let steps = plan.steps.iter().filter(move |step| is_there(&step.name));
        steps.map(|step| &step.streams[0])
    };
    let ordered = streams(|name| name.starts_with("sequential") && name != REWRITTEN_READ);
    let end = ordered.map(|it| it.offset.0 + it.length.unwrap().0).max().unwrap();
    assert!(end >= 1 << 29);
    let others = streams(|name| !name.starts_with("sequential") || name == REWRITTEN_READ);
    assert!(others.into_iter().all(|it| it.offset.0 >= end));
}

#[test]
fn read_only_writes_nothing() {
    let options = StudyOptions { read_only: true, ..asked() };
    let plan = then(&options, &Facts::default(), 1 << 30, &Run::default()).unwrap();
    assert!(!plan.steps.is_empty() && plan.steps.iter().all(|step| !step.changes_data()));
}

#[test]
fn a_layout_that_failed_ends_the_check() {
    let options = asked();
    let facts = facts(1 << 40, 1 << 39);
    let mut run = laid_out(layout(&options, &facts, 1 << 30), 0);
    run.steps[0].end = Some(StepEnd::default());
    assert_eq!(then(&options, &facts, 1 << 30, &run), None);
}

#[test]
fn a_short_time_is_kept_to() {
    for seconds in [10, 30, 60, 180] {
        let options = StudyOptions { time: Span(seconds * SECOND_NS), ..asked() };
        let facts = facts(1 << 40, 1 << 39);
        let first = then(&options, &facts, 1 << 30, &Run::default()).unwrap();
        assert!(first.steps[0].until.elapsed.unwrap().0 <= options.time.0 / 4);
        // The layout took no time at all.
        let then = then(&options, &facts, 1 << 30, &laid_out(first, 1 << 30)).unwrap();
        let all = then.steps.iter().map(|step| step.until.elapsed.unwrap().0);
        assert!(all.sum::<u64>() <= options.time.0, "{seconds} s");
    }
}
