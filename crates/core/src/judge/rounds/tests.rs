use super::*;
use crate::facts::{Bound, SimulatedFacts};
use crate::op::Action;

use crate::plan::{Mix, Pattern, Role};
use crate::record::{Record, StepBegin, StepEnd};
use crate::tally::{Keep, Tally};

const MIB: u64 = 1 << 20;

fn steady(stream: Stream, until: Until) -> Step {
    let until = Until { steady: true, ..until };
    let role = Role::Precondition;
    Step { name: "s".into(), role, until, streams: vec![stream], ..Step::default() }
}

fn random(mix: Mix) -> Stream {
    Stream { pattern: Pattern::Uniform, mix, ..Stream::default() }
}

fn within(seconds: u64) -> Until {
    Until { elapsed: Some(Span(seconds * 1_000_000_000)), ..Until::default() }
}

/// A step of which a run holds that it wrote so much in so long.
fn ran(step: &Step, bytes: u64, ns: u64) -> StepRun {
    let mut tally = Tally::new(0, 0, 0, &[Action::Write], Keep::default());
    (tally.from, tally.to, tally.kinds[0].bytes) = (0, ns, bytes);
    tally.kinds[0].ops = bytes / 4096;
    StepRun {
        begin: StepBegin {
            step: 0,
            plan_step: 0,
            plan: 0,
            repetition: 1,
            name: step.name.clone(),
            role: step.role,
            state: String::new(),
            opened: Vec::new(),
        },
        plan: step.clone(),
        tallies: vec![tally],
        insides: Vec::new(),
        anatomy: None,
        requests: Vec::new(),
        end: Some(StepEnd::default()),
    }
}

/// Does rounds of what was asked, at these bytes a second, until there is no next one.
fn play(step: &Step, file_bytes: u64, rate: impl Fn(usize) -> f64) -> (Rounds, Vec<Step>) {
    let mut rounds = Rounds::of(step, file_bytes);
    let mut all = Vec::new();
    while let Some(round) = rounds.next() {
        assert!(all.len() < 500, "it goes on for ever");
        let bytes = round.until.bytes.unwrap().0;
        let ns = (bytes as f64 / rate(all.len()) * 1e9) as u64;
        let ns_max = round.until.elapsed.map_or(u64::MAX, |elapsed| elapsed.0);
        let done = (bytes as f64 * (ns_max as f64 / ns as f64).min(1.0)) as u64;
        rounds.done(&ran(&round, done, ns.min(ns_max)), true);
        all.push(round);
    }
    (rounds, all)
}

#[test]
fn an_even_rate_is_steady_after_two_turns() {
    let step = steady(random(Mix::WRITE), within(3600));
    let (rounds, all) = play(&step, 64 * MIB, |_| 1e6);
    assert_eq!(all.len(), 16);
    assert!(all.iter().all(|round| round.until.bytes == Some(Size(8 * MIB))));
    let found = rounds.established().unwrap();
    assert_eq!(found.state, "random-steady");
    assert!(found.because.starts_with("settled after 16 rounds"), "{}", found.because);
}

#[test]
fn a_suspect_round_proves_nothing() {
    let step = steady(random(Mix::WRITE), within(3600));
    let mut rounds = Rounds::of(&step, 64 * MIB);
    let mut all = 0;
    while let Some(round) = rounds.next() {
        let bytes = round.until.bytes.unwrap().0;
        // The first four are suspect: of those that stand two turns are needed still.
        rounds.done(&ran(&round, bytes, bytes * 1000), all >= 4);
        all += 1;
    }
    assert_eq!((all, rounds.settled().is_ok()), (20, true));
}

fn disk() -> Option<SimulatedFacts> {
    Some(SimulatedFacts { bound: Bound::Disk, ..SimulatedFacts::default() })
}

/// A level rate on a drive of this state, after the rounds that were done first.
fn level_on(state: &str, simulated: Option<SimulatedFacts>, stream: Stream) -> Vec<Step> {
    let mut run = Run::default();
    run.begin.state = Some(state.into());
    run.begin.facts.target.kind = TargetKind::Simulated;
    run.begin.facts.target.simulated = simulated;
    let mut rounds = Rounds::of(&steady(stream, within(36_000)), 64 * MIB).on(&run);
    let mut all = Vec::new();
    while let Some(round) = rounds.next() {
        assert!(all.len() < 500, "it goes on for ever");
        let bytes = round.until.bytes.map_or(64 * MIB, |bytes| bytes.0);
        rounds.done(&ran(&round, bytes, bytes * 1000), true);
        all.push(round);
    }
    assert!(rounds.settled().is_ok());
    all
}

#[test]
fn a_level_rate_is_no_proof_before_the_spare_flash_is_used_up() {
    let writes = || random(Mix::WRITE);
    // In order first, then three times at random.
    let all = level_on("fresh", None, writes());
    assert_eq!((all[0].name.as_str(), all[0].until.passes, all.len()), (FILL, Some(1), 25));
    assert_eq!(all[0].streams[0].pattern, Pattern::SEQUENTIAL);
    assert!(!all[0].until.steady && all[1].until.steady);
    assert_eq!(level_on("filled", None, writes()).len(), 24);
    assert_eq!(level_on("fresh", disk(), writes()).len(), 16, "a disk has no spare");
    assert_eq!(level_on("fresh", None, random(Mix::READ)).len(), 16, "nothing is written");
    let in_order = Stream { mix: Mix::WRITE, ..Stream::default() };
    assert_eq!(level_on("fresh", None, in_order).len(), 32, "it fills the drive itself");
    // Half of each round is read, and of a small region the rest is spare.
    let half = random(Mix { read: 50, write: 50, trim: 0 });
    assert_eq!(level_on("filled", None, half).len(), 48);
    let part = Stream { length: Some(Size(16 * MIB)), ..writes() };
    assert_eq!(level_on("filled", None, part).len(), 16, "a quarter of it, twice");
    let part = Stream { length: Some(Size(8 * MIB)), ..writes() };
    assert_eq!(level_on("filled", None, part).len(), 32, "half of the drive may be spare");
}

#[test]
fn a_falling_rate_is_not_and_the_bound_ends_it() {
    let step = steady(random(Mix::WRITE), within(3600));
    let falls = |round: usize| 1e6 * 0.95f64.powi(round as i32);
    let (rounds, all) = play(&step, 64 * MIB, falls);
    assert!(rounds.settled().is_err());
    assert_eq!(rounds.established(), None);
    assert!(rounds.in_words().starts_with("not steady when its other bound was reached"));
    let ns: u64 = rounds.elapsed_ns;
    assert!((3_600_000_000_000..3_600_000_001_000).contains(&ns), "{ns} in {}", all.len());
}

#[test]
fn a_rate_that_falls_and_stays_settles_there() {
    let step = steady(random(Mix::WRITE), within(36_000));
    let cliff = |round: usize| if round < 9 { 4e6 } else { 1e6 };
    let (rounds, all) = play(&step, 64 * MIB, cliff);
    let settled = rounds.settled().unwrap();
    assert!((settled.mean * 1e9 / 1e6 - 1.0).abs() < 1e-9, "{}", settled.mean);
    assert_eq!(all.len(), 9 + 16);
}

#[test]
fn sequential_rounds_walk_the_region_and_begin_again() {
    let stream = Stream { mix: Mix::WRITE, size: Size(MIB), ..Stream::default() };
    let step = steady(stream.clone(), Until { passes: Some(3), ..Until::default() });
    let file = 17 * MIB + 4096;
    let (rounds, all) = play(&step, file, |round| 1e6 + round as f64 * 1e5);
    let places: Vec<(u64, u64)> = all
        .iter()
        .map(|round| (round.streams[0].offset.0 / MIB, round.until.bytes.unwrap().0 / MIB))
        .collect();
    let turn: Vec<(u64, u64)> = (0..7).map(|at| (2 * at, 2)).chain([(14, 3)]).collect();
    assert_eq!(places, [turn.clone(), turn.clone(), turn].concat(), "whole requests, thrice");
    assert_eq!(rounds.bytes, 3 * 17 * MIB);
    let short = Stream { length: Some(Size(3 * MIB)), ..stream };
    let step = steady(short, Until { passes: Some(2), ..Until::default() });
    let (_, all) = play(&step, file, |_| 1e6);
    let places: Vec<u64> = all.iter().map(|round| round.streams[0].offset.0 / MIB).collect();
    assert_eq!(places, [0, 1, 2, 0, 1, 2], "a region of three requests has three parts");
}

#[test]
fn only_what_covers_the_target_makes_a_state_known() {
    let state = |stream: Stream| {
        let (rounds, _) = play(&steady(stream, within(3600)), 64 * MIB, |_| 1e6);
        assert!(rounds.settled().is_ok());
        rounds.established().map(|found| found.state)
    };
    assert_eq!(state(random(Mix::WRITE)).as_deref(), Some("random-steady"));
    assert_eq!(state(Stream { mix: Mix::WRITE, ..Stream::default() }).as_deref(), Some("filled"));
    assert_eq!(state(random(Mix::READ)), None);
    assert_eq!(state(Stream { length: Some(Size(8 * MIB)), ..random(Mix::WRITE) }), None);
    let trims = Mix { read: 0, write: 50, trim: 50 };
    assert_eq!(state(random(trims)), None);
}

#[test]
fn other_bounds_hold_over_all_rounds() {
    let until = Until { bytes: Some(Size(20 * MIB)), ..within(3600) };
    let (rounds, all) = play(&steady(random(Mix::WRITE), until), 64 * MIB, |_| 1e6);
    assert_eq!((rounds.bytes, all.len()), (20 * MIB, 3));
    let until = Until { operations: Some(5000), ..Until::default() };
    let mut rounds = Rounds::of(&steady(random(Mix::WRITE), until), 64 * MIB);
    let first = rounds.next().unwrap();
    assert_eq!(first.until.operations, Some(5000));
    rounds.done(&ran(&first, 2048 * 4096, 1_000_000), true);
    assert_eq!(rounds.next().unwrap().until.operations, Some(5000 - 2048));
}

#[test]
fn a_plan_is_taken_apart_around_such_a_step() {
    let plain = |name: &str| Step { name: name.into(), ..Step::default() };
    let steps = vec![
        plain("a"),
        plain("b"),
        steady(random(Mix::WRITE), within(1)),
        steady(random(Mix::READ), within(1)),
        plain("c"),
    ];
    let parts = parts(&Plan { seed: 5, steps, ..Plan::default() }, MIB);
    let names: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Plain(plan) => plan.steps.iter().map(|step| step.name.as_str()).collect(),
            Part::Rounds(frame, _) => {
                assert_eq!((frame.seed, frame.steps.len()), (5, 0));
                "rounds".to_string()
            }
        })
        .collect();
    assert_eq!(names, ["ab", "rounds", "rounds", "c"]);
}

#[test]
fn the_outcome_stands_at_the_last_round() {
    let step = steady(random(Mix::WRITE), within(3600));
    let (_, all) = play(&step, 64 * MIB, |_| 1e6);
    let mut run = Run::default();
    run.begin.facts.target.simulated = disk();
    run.push(Record::Plan { plan: Plan::default() }).unwrap();
    run.steps = all.iter().map(|round| ran(round, 8 * MIB, 8_000_000)).collect();
    run.steps.push(ran(&Step::default(), 0, 1));
    let said: Vec<usize> = (0..17).filter(|at| outcome(&run, *at).is_some()).collect();
    assert_eq!(said, [15]);
    assert!(outcome(&run, 15).unwrap().starts_with("settled after 16 rounds"));
    let known = run.begin.facts.target.simulated.take();
    run.begin.state = Some("filled".into());
    assert!(outcome(&run, 15).unwrap().contains("3.0 capacities were written"), "flash");
    run.begin.facts.target.simulated = known;
    run.steps.truncate(10);
    assert!(outcome(&run, 9).unwrap().contains("only 10 rounds were done"));
    run.steps[9].end = None;
    assert_eq!(outcome(&run, 9), None, "a run that was killed says nothing");
}
