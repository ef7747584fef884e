use super::budget::Left;
use super::falls::{Written, fall, falls, smoothed};
use super::order::{done, missing, shuffle, since_break};
use super::*;
use crate::STUDIES;
use crate::registry::named;
use drivelab_core::findings::Unit;
use drivelab_core::inside::Inside;
use drivelab_core::op::Action;
use drivelab_core::plan::{Step, Stream, Until};
use drivelab_core::record::{Record, Resumed, StepBegin, StepEnd};
use drivelab_core::study::Emptying;
use drivelab_core::tally::{Keep, Tally};

const MIB: u64 = 1 << 20;

pub fn options(name: &str) -> StudyOptions {
    StudyOptions {
        name: name.into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(300_000_000_000),
        delta: 0.05,
        emptying: Emptying::Discard,
        bytes: 256 * MIB,
        ..StudyOptions::default()
    }
}

pub fn simulated() -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    facts
}

/// Does the steps of a plan, each of which writes this many bytes; the last may be broken off.
fn did(run: &mut Run, plan: &Plan, written: u64, is_last_whole: bool) {
    let number = run.plans.len() as u32;
    run.push(Record::Plan { plan: plan.clone() }).unwrap();
    for (index, step) in plan.steps.iter().enumerate() {
        let step_number = run.steps.len() as u32;
        run.push(Record::StepBegin(StepBegin {
            step: step_number,
            plan_step: index as u32,
            plan: number,
            repetition: 1,
            name: step.name.clone(),
            role: step.role,
            state: String::new(),
            opened: Vec::new(),
        }))
        .unwrap();
        let keep = Keep::default();
        let mut tally = Tally::new(step_number, 0, 0, &[Action::Write], keep);
        tally.kinds[0].bytes = written;
        (tally.from, tally.to) = (0, 1_000_000_000);
        run.push(Record::Tally(Box::new(tally))).unwrap();
        let is_whole = is_last_whole || index + 1 < plan.steps.len();
        let incomplete = (!is_whole).then(|| "killed".to_string());
        let end = StepEnd { step: step_number, incomplete, ..StepEnd::default() };
        run.push(Record::StepEnd(Box::new(end))).unwrap();
    }
}

fn named_steps(names: &[&str]) -> Vec<Step> {
    names.iter().map(|name| Step { name: (*name).into(), ..Step::default() }).collect()
}

#[test]
fn what_was_done_is_not_asked_again() {
    let schedule = || named_steps(&["a", "b", "a", "b", "a"]);
    let mut run = Run::default();
    let plan = Plan { steps: schedule()[..3].to_vec(), ..Plan::default() };
    did(&mut run, &plan, 0, false);
    assert_eq!((done(&run.steps, "a"), done(&run.steps, "b")), (1, 1));
    let rest: Vec<String> = missing(schedule(), &run).into_iter().map(|step| step.name).collect();
    assert_eq!(rest, ["a", "b", "a"]);
}

#[test]
fn what_came_before_a_break_is_no_beginning() {
    let mut run = Run::default();
    did(&mut run, &Plan { steps: named_steps(&["a", "a"]), ..Plan::default() }, 0, true);
    let resumed = |because: Option<&str>| Resumed {
        at: None,
        steps: 2,
        state: "unknown".into(),
        because: because.map(String::from),
    };
    run.resumptions.push(resumed(None));
    assert_eq!(since_break(&run).len(), 2, "nothing was lost");
    run.resumptions.push(resumed(Some("another day")));
    assert_eq!(since_break(&run).len(), 0);
    did(&mut run, &Plan { steps: named_steps(&["b"]), ..Plan::default() }, 0, true);
    assert_eq!(since_break(&run).len(), 1);
}

#[test]
fn equal_seeds_shuffle_alike() {
    let shuffled = |seed, number| {
        let mut items: Vec<u32> = (0..20).collect();
        shuffle(&mut items, seed, number);
        items
    };
    assert_eq!(shuffled(1, 2), shuffled(1, 2));
    assert_ne!(shuffled(1, 2), shuffled(1, 3));
    assert_ne!(shuffled(1, 2), shuffled(2, 2));
}

#[test]
fn no_study_asks_for_ever_or_for_more_than_it_may() {
    for study in STUDIES.iter().copied() {
        for (scale, bytes) in [(Scale::Quick, 256 * MIB), (Scale::Quick, 4 << 40)] {
            let mut facts = simulated();
            if study.name == "meta" {
                facts.target.kind = TargetKind::Directory;
            }
            if study.name == "zones" {
                facts = crate::zones::tests::zoned(bytes, 8);
            }
            let mut options = StudyOptions { scale, bytes, ..options(study.name) };
            let allowance = (study.allowance)(scale, bytes);
            (options.time, options.budget) = (allowance.time, allowance.budget);
            let setting = Setting { options: &options, facts: &facts };
            if (study.objection)(&setting).is_some() {
                assert!(bytes > 1 << 40, "{} refuses {bytes} bytes", study.name);
                continue;
            }
            let mut run = Run::default();
            let mut asked = 0;
            while let Some(plan) = (study.next)(&setting, &run) {
                asked += 1;
                assert!(asked < 500, "{} asks for ever", study.name);
                assert!(!plan.steps.is_empty(), "{} asks for nothing", study.name);
                let left = budget::Left::of(&setting, &run);
                let mut planned = 0;
                let each = |step: &'_ Step| -> Vec<(Until, Stream)> {
                    let writers = step.streams.iter().filter(|stream| stream.mix.write > 0);
                    writers.map(|it| (step.until_of(it).clone(), it.clone())).collect()
                };
                for (until, stream) in plan.steps.iter().flat_map(each) {
                    let bytes = until.bytes.map(|bytes| bytes.0);
                    let passes = until.passes.map(|passes| {
                        passes * stream.length.map_or(options.bytes, |length| length.0)
                    });
                    let mix = stream.mix;
                    let most = bytes.or(passes).unwrap_or_else(|| {
                        panic!("{}: no bound of what {} writes", study.name, stream.name)
                    });
                    planned += most / mix.total() * u64::from(mix.write);
                }
                assert!(planned <= left.bytes, "{}: {planned} of {}", study.name, left.bytes);
                // What is written by each is at most what it was allowed, divided evenly.
                did(&mut run, &plan, planned / plan.steps.len() as u64, true);
            }
            let findings = study.judged(&setting, &run);
            let said = [findings.verdict, findings.unknown, findings.beware].concat();
            assert!(!said.is_empty(), "{}", study.name);
        }
    }
}

#[test]
fn a_cliff_is_a_fall_that_lasts() {
    let history = |rates: &[f64]| -> Vec<Written> {
        let each = (1..).map(f64::from).zip(rates);
        each.map(|(bytes, rate)| Written { bytes, rate: *rate, seconds: 1.0, is_partial: false })
            .collect()
    };
    let mut rates = vec![100.0; 40];
    rates[7] = 20.0;
    assert_eq!(fall(&history(&rates), 5.0, 50.0), None, "one slow interval is none");
    rates.extend([50.0; 20]);
    let found = fall(&history(&rates), 5.0, 50.0).unwrap();
    assert_eq!((found.bytes, found.before, found.is_sharp), (40.0, 100.0, true));
    assert_eq!(fall(&history(&[100.0; 60]), 5.0, 50.0), None);
    assert_eq!(fall(&[], 5.0, 50.0), None);
    // A stall, however long, is no lower rate; a low rate with stalls in it is.
    let mut stalled = vec![100.0; 40];
    stalled.extend([40.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 60.0]);
    stalled.extend([100.0; 20]);
    assert_eq!(fall(&history(&stalled), 5.0, 50.0), None);
    stalled.extend([40.0, 0.0, 0.0, 50.0, 0.0, 45.0, 0.0, 0.0, 41.0, 0.0, 44.0, 46.0, 45.0]);
    assert_eq!(fall(&history(&stalled), 5.0, 50.0).unwrap().bytes, 72.0);
    // A drive that begins to collect is fast again in between.
    let mut uneven = vec![100.0; 40];
    uneven.extend([91.0, 55.0, 74.0, 76.0, 92.0, 53.0, 81.0, 103.0, 99.0, 99.0, 98.0, 97.0]);
    uneven.extend([60.0; 10]);
    assert_eq!(fall(&history(&uneven), 5.0, 50.0).unwrap().bytes, 40.0);
    // The next one is compared with what is left.
    rates.extend([20.0; 20]);
    let both = falls(&history(&rates), 5.0, 50.0, 50.0);
    assert_eq!(
        both.iter().map(|it| (it.bytes, it.before)).collect::<Vec<_>>(),
        [(40.0, 100.0), (60.0, 50.0)]
    );
    assert_eq!(falls(&history(&rates), 5.0, 50.0, 30.0).len(), 1, "the first is late enough");
    // A bound before the drive lets it fall little by little.
    let slowly: Vec<f64> = (0..100).map(|at| 100.0_f64.min(140.0 - f64::from(at))).collect();
    let found = fall(&history(&slowly), 5.0, 50.0).unwrap();
    assert_eq!((found.bytes, found.is_sharp), (46.0, false));
    let drawn = smoothed(&history(&[100.0, 200.0, 100.0, 200.0]), 2.0);
    assert_eq!(drawn, [(2.0, 150.0), (4.0, 150.0)]);
    let mut drained = history(&[100.0; 4]);
    drained.push(Written { bytes: 4.9, rate: 100.0, seconds: 1.0, is_partial: false });
    drained.push(Written { bytes: 5.01, rate: 0.1, seconds: 1.0, is_partial: true });
    assert_eq!(smoothed(&drained, 2.0), [(2.0, 100.0), (4.9, 100.0)]);
}

#[test]
fn impossible_bounds_are_named() {
    let facts = simulated();
    let says = |change: fn(&mut StudyOptions)| {
        let mut options = options("wsat");
        change(&mut options);
        impossible(&Setting { options: &options, facts: &facts }).unwrap_or_default()
    };
    assert_eq!(says(|_| ()), "");
    assert!(says(|options| options.bytes = MIB).contains("is too small for"));
    assert!(says(|options| options.delta = 0.0).contains("band"));
    assert!(says(|options| options.delta = 0.7).contains("band"));
    assert!(says(|options| options.time = Span(1)).contains("too short"));
    assert!(named("wsatt").unwrap_err().contains("aa, wsat, trim, pts-iops"));
}

#[test]
fn a_region_is_written_once_and_then_at_random() {
    let (options, facts) = (options("mix"), simulated());
    let setting = Setting { options: &options, facts: &facts };
    let plan = |step: Step| Plan { steps: vec![step], ..Plan::default() };
    let next = |run: &Run| region::preparation(&setting, run, &Left::of(&setting, run));
    let begun = |state: &str| {
        let mut run = Run::default();
        run.begin.state = Some(state.into());
        run
    };
    let mut run = begun("fresh");
    assert_eq!(region::bytes(&setting, &run), None);
    let fill = next(&run).unwrap();
    assert_eq!((fill.name.as_str(), fill.streams[0].length), (loads::FILL, Some(Size(256 * MIB))));
    did(&mut run, &plan(fill.clone()), 256 * MIB, true);
    assert_eq!(region::bytes(&setting, &run), Some(256 * MIB));
    let warm_up = next(&run).unwrap();
    assert_eq!(warm_up.name, region::WARM_UP);
    did(&mut run, &plan(warm_up), 256 * MIB, true);
    assert_eq!(next(&run), None);
    // What the clock left unwritten is not measured, and what it left too small is not either.
    for (written, expected) in [(100 * MIB + 5, Some(100 * MIB)), (MIB, None)] {
        let mut run = begun("fresh");
        did(&mut run, &plan(fill.clone()), written, true);
        assert_eq!(region::bytes(&setting, &run), expected);
        assert_eq!(next(&run).is_some(), expected.is_some(), "a fill is not tried twice");
    }
    let filled = begun("filled");
    assert_eq!(region::bytes(&setting, &filled), Some(256 * MIB));
    assert_eq!(next(&filled).unwrap().name, region::WARM_UP);
    assert_eq!(next(&begun("fragmented")), None);
}

#[test]
fn suspect_rounds_prove_no_steady_state() {
    let asked =
        StudyOptions { budget: Size(40 << 30), time: Span(3_000_000_000_000), ..options("wsat") };
    let facts = simulated();
    let setting = Setting { options: &asked, facts: &facts };
    let mut run = sample::play(&crate::wsat::STUDY, &setting, "fresh", &|_, _| 10_000.0);
    assert!(rounds::settled(&setting, &run).is_ok());
    let judged = |run: &Run| crate::wsat::STUDY.judged(&setting, run);
    assert!(!judged(&run).no_answer, "{:?}", judged(&run));
    let is_round = |step: &&mut drivelab_core::run::StepRun| step.begin.name == rounds::ROUND;
    for step in run.steps.iter_mut().filter(is_round) {
        let end = step.end.as_mut().unwrap();
        end.inside = Some(Inside { unmapped_read_units: 1000, ..Inside::default() });
    }
    assert!(rounds::settled(&setting, &run).is_err());
    assert!(judged(&run).no_answer, "{:?}", judged(&run));
}

#[test]
fn a_steep_best_line_ends_at_nothing() {
    let fallen = [1000.0, 30.0, 20.0, 10.0, 10.0];
    let picture = rounds::window_picture("", &fallen, 5, Unit::Iops).unwrap();
    let points = picture.lines.iter().flat_map(|line| &line.points);
    assert!(points.clone().all(|(_, y)| *y >= 0.0), "{picture:?}");
    let best = picture.lines.iter().find(|line| line.label == "best line").unwrap();
    assert!(best.points[1].1 == 0.0 && best.points[1].0 < 5.0, "{best:?}");
    let risen = [10.0, 10.0, 20.0, 30.0, 1000.0];
    let picture = rounds::window_picture("", &risen, 5, Unit::Iops).unwrap();
    assert!(picture.lines.iter().flat_map(|line| &line.points).all(|(_, y)| *y >= 0.0));
}
