use super::spec::Of;
use super::*;
use drivelab_core::claims::{Answer, JudgedClaim, Metric};
use drivelab_core::facts::{FilesystemFacts, TargetKind};
use drivelab_core::op::Action;
use drivelab_core::plan::Sync;
use drivelab_core::run::{Run, StepRun};
use drivelab_core::summary::{
    CellKind, CellStream, CellSummary, Drifting, Latency, LatencyEstimates, Load, MergedLatency,
    Rates, Reason, Summary, summarise,
};
use drivelab_stats::Estimate;
use std::collections::BTreeMap;

mod percentiles;

const CLAIM: &str = "[[claim]]\nname = \"4K random read\"\nmetric = \"iops\"\nrw = \"randread\"\n";

fn one(rest: &str) -> Claim {
    parse(&format!("{CLAIM}{rest}"), "spec.toml").expect("a claim").claims.remove(0)
}

fn refused(text: &str) -> String {
    parse(text, "spec.toml").expect_err("must be refused").to_string()
}

#[test]
fn the_example_of_the_contract_is_read() {
    let text = "[[claim]]\nname=\"4K random read\"\nmetric=\"iops\"\nat_least=900000\n\
        rw=\"randread\"\nbs=\"4k\"\ndepth=32\nworkers=4\nstate=\"random-steady\"\nseconds=60\n";
    let spec = parse(text, "spec.toml").expect("the example");
    let claim = Claim {
        name: "4K random read".into(),
        metric: Metric::Iops,
        at_least: Some(900_000.0),
        at_most: None,
        rw: Kind::RandRead,
        bs: Size(4096),
        depth: 32,
        workers: 4,
        sync: Sync::None,
        of: Of::Write,
        state: Some(State::RandomSteady),
        seconds: Span(60_000_000_000),
    };
    assert_eq!(spec.claims, [claim]);
    assert_eq!(spec.claims[0].cell(), "randread 4k qd32 x4");
    assert_eq!(one("at_least = 1\nstate = \"steady\"").state, Some(State::RandomSteady));
}

#[test]
fn what_makes_no_sense_is_refused_where_it_stands() {
    for (rest, said) in [
        ("at_least = 1\nqdepth = 3\n", "line 6, column 1: unknown key `qdepth` in [[claim]]"),
        ("at_least = 1\nqdepth = 3\n", "did you mean `depth`?"),
        ("at_least = 1\nat_most = 2\n", "line 6, column 11: a claim has either at_least or"),
        ("", "line 1, column 1: a claim needs a limit; add at_least or at_most"),
        ("at_least = -1\n", "line 5, column 12: a limit is a number above 0"),
        ("at_least = \"7 GB/s\"\n", "line 5, column 12: \"7 GB/s\" is not a limit of IOPS; write"),
        ("at_least = true\n", "line 5, column 12: invalid type: boolean `true`, expected a number"),
        ("at_most = nan\n", "line 5, column 11: a limit is a number above 0"),
        ("at_least = 1\ndepth = 0\n", "line 6, column 9: depth 0 does nothing"),
        ("at_least = 1\nworkers = 0\n", "line 6, column 11: workers 0 does nothing"),
        ("at_least = 1\nbs = 0\n", "line 6, column 6: requests of 0 bytes"),
        ("at_least = 1\nseconds = 0\n", "line 6, column 11: each repetition takes"),
        ("at_least = 1\nstate = \"stable\"\n", "line 6, column 9: unknown word `stable`"),
        ("at_least = 1\nrw = \"read\"\n", "line 6, column 1: duplicate key"),
        ("at_least = 1\nsync = \"fsync:1\"\n", "line 6, column 8: sync is for writes"),
        ("at_least = 1\nsync = \"fsync\"\n", "line 6, column 8: `fsync` is not a sync mode"),
    ] {
        let found = refused(&format!("{CLAIM}{rest}"));
        assert!(found.contains(said), "{rest}\nwanted {said}\n{found}");
        assert_eq!(found.lines().count(), 3, "{found}");
    }
    let metric = CLAIM.replace("iops", "p99_n");
    assert!(refused(&metric).contains("unknown word `p99_n`"), "{}", refused(&metric));
    assert!(refused(&metric).contains("did you mean `p99_ns`?"), "{}", refused(&metric));
    assert!(refused("").contains("there are no claims; add a [[claim]] section"));
    assert!(refused("claims = 1").contains("unknown key `claims` in the claims"));
    let twice = format!("{CLAIM}at_least = 1\n{CLAIM}at_most = 1\n");
    assert!(refused(&twice).contains("line 7, column 8: a second claim is called"));
    let nameless = CLAIM.replace("name = \"4K random read\"\n", "");
    assert!(refused(&nameless).contains("missing field `name`"), "{}", refused(&nameless));
}

#[test]
fn every_metric_has_the_name_that_people_type() {
    for name in [
        "iops",
        "bandwidth_bytes_per_s",
        "mean_ns",
        "p50_ns",
        "p90_ns",
        "p99_ns",
        "p99_9_ns",
        "p99_99_ns",
        "max_ns",
    ] {
        let text = CLAIM.replace("iops", name) + "at_most = 1\n";
        assert!(parse(&text, "spec.toml").is_ok(), "{name}");
    }
    for (short, metric) in [
        ("bandwidth", Metric::BandwidthBytesPerS),
        ("mean", Metric::MeanNs),
        ("p99", Metric::P99Ns),
        ("p99.9", Metric::P999Ns),
        ("p99.99", Metric::P9999Ns),
        ("max", Metric::MaxNs),
    ] {
        let text = CLAIM.replace("iops", short) + "at_most = 1\n";
        let claim = parse(&text, "spec.toml").expect("a claim").claims.remove(0);
        assert_eq!(claim.metric, metric, "{short}");
    }
}

#[test]
fn a_commit_is_claimed_by_its_flush() {
    let commit = |rest: &str| {
        let text = CLAIM.replace("iops", "p99").replace("randread", "write");
        parse(&format!("{text}at_most = \"10 ms\"\n{rest}"), "spec.toml")
    };
    let claim = commit("sync = \"fdatasync:1\"\nof = \"flush\"\n").unwrap().claims.remove(0);
    assert_eq!((claim.sync, claim.action()), (Sync::Fdatasync(1), Action::Flush));
    assert_eq!(claim.cell(), "write 4k qd1 fdatasync:1");
    let whole = commit("sync = \"fdatasync:1\"\nof = \"commit\"\n").unwrap().claims.remove(0);
    assert_eq!((whole.of, whole.action(), whole.cell()), (Of::Commit, Action::Flush, claim.cell()));
    let of_write = commit("sync = \"fdatasync:1\"\n").unwrap().claims.remove(0);
    assert_eq!((of_write.action(), of_write.cell()), (Action::Write, claim.cell()));
    for (rest, said) in [
        ("of = \"flush\"\n", "there is no flush; add sync"),
        ("sync = \"dsync\"\nof = \"flush\"\n", "there is no flush; add sync"),
        ("sync = \"end\"\n", "sync is for writes, and is dsync"),
        ("of = \"commit\"\n", "there is no flush; add sync"),
        ("sync = \"fsync:1\"\nof = \"commit\"\ndepth = 2\n", "use depth = 1"),
    ] {
        let error = commit(rest).expect_err("must be refused").to_string();
        assert!(error.contains(said), "{error}");
    }
    let rate = CLAIM.replace("randread", "write") + "at_least = 1\nsync = \"fsync:1\"\n";
    let error = refused(&(rate + "of = \"flush\"\n"));
    assert!(error.contains("flushes have no rate of their own"), "{error}");
}

fn options(budget: u64) -> StudyOptions {
    StudyOptions { seed: 7, budget: Size(budget), ..StudyOptions::default() }
}

fn spec_of(kinds: &[&str]) -> Spec {
    let claim = |(number, kind): (usize, &&str)| {
        format!(
            "[[claim]]\nname = \"{number}\"\nmetric = \"iops\"\nat_least = 1\nrw = \"{kind}\"\n\
             seconds = 2\n"
        )
    };
    let text: String = kinds.iter().enumerate().map(claim).collect();
    parse(&text, "spec.toml").expect("claims")
}

#[test]
fn loads_that_change_the_drive_come_last_and_each_has_its_repetitions() {
    let spec = spec_of(&["randwrite", "write", "read", "randread", "read"]);
    let plan = plan(&options(1 << 30), &spec, &Facts::default(), Some(1 << 28)).expect("a plan");
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names[0], "lay out");
    assert_eq!(names.len(), 1 + 4 * REPETITIONS as usize, "two claims share a load: {names:?}");
    assert!(names[1..11].iter().all(|name| name.contains("read")), "{names:?}");
    assert!(names[11..16].iter().all(|name| *name == "write 4k qd1"), "{names:?}");
    assert!(names[16..].iter().all(|name| *name == "randwrite 4k qd1"), "{names:?}");
    for round in names[1..11].chunks(2) {
        assert_ne!(round[0], round[1], "each round has every load once");
    }
    let written: u64 =
        plan.steps[11..].iter().filter_map(|step| step.until.bytes).map(|b| b.0).sum();
    assert!(written <= (1 << 30) - (1 << 28), "{written} bytes of writes exceed the budget");
}

#[test]
fn a_layout_larger_than_the_budget_is_refused() {
    let refused = plan(&options(1 << 20), &spec_of(&["read"]), &Facts::default(), Some(1 << 28));
    assert!(refused.is_err_and(|text| text.contains("larger --budget")));
    let none = plan(&options(0), &spec_of(&["read"]), &Facts::default(), None).expect("a plan");
    assert!(none.steps.iter().all(|step| step.until.bytes.is_none() && step.name != "lay out"));
}

fn interval(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low: Some(low), high: Some(high), n: u64::from(REPETITIONS) }
}

/// The cell of a claim with these figures; 5 repetitions of its full time, valid.
fn cell(claim: &Claim, iops: Estimate, p99: Option<Estimate>, max: u64) -> CellSummary {
    let latency = Latency {
        count: 100_000,
        min: 1,
        mean: 100.0,
        max,
        p50: None,
        p90: None,
        p99: None,
        p99_9: None,
        p99_99: None,
    };
    let maxima = interval(max as f64 * 0.8, max as f64 * 0.7, max as f64 * 0.9);
    let estimates = LatencyEstimates { p99, max: Some(maxima), ..LatencyEstimates::default() };
    let kind = CellKind {
        rates: Rates { ops: 100_000, iops: Some(iops), ..Rates::default() },
        service_ns: Some(estimates),
        merged: MergedLatency { service_ns: Some(latency), ..MergedLatency::default() },
        ..CellKind::default()
    };
    let plan = plan(
        &options(1 << 30),
        &Spec { title: None, claims: vec![claim.clone()] },
        &Facts::default(),
        None,
    );
    let stream = CellStream {
        load: Load::of(&plan.expect("a plan").steps[0].streams[0]),
        seconds: claim.seconds.seconds() * f64::from(REPETITIONS),
        kinds: BTreeMap::from([(Action::Read, kind)]),
        total: Rates::default(),
        engine_cpu_ns_per_op: None,
        depth_reached: None,
        gap_count: None,
        gap_ns_longest: None,
        gap_over_ns: 0,
    };
    CellSummary {
        name: claim.cell(),
        repetitions: REPETITIONS,
        incomplete: 0,
        suspect: 0,
        steps: Vec::new(),
        state: "unknown".into(),
        valid: Some(true),
        reasons: Vec::new(),
        drifts: Vec::new(),
        notes: Vec::new(),
        unchecked: Vec::new(),
        streams: vec![stream],
    }
}

fn answer_to(claim: &Claim, cell: CellSummary, facts: &Facts) -> JudgedClaim {
    let summary = Summary { cells: vec![cell], ..summarise(&Run::default()) };
    judged(std::slice::from_ref(claim), facts, &summary).remove(0)
}

fn answer_for(rest: &str, low: f64, high: f64) -> Answer {
    let claim = one(rest);
    let figures = cell(&claim, interval((low + high) / 2.0, low, high), None, 0);
    answer_to(&claim, figures, &Facts::default()).answer
}

#[test]
fn only_an_interval_wholly_on_one_side_is_an_answer() {
    assert_eq!(answer_for("at_least = 100", 101.0, 110.0), Answer::Met);
    assert_eq!(answer_for("at_least = 100", 100.0, 110.0), Answer::Met, "the limit itself is good");
    assert_eq!(answer_for("at_least = 100", 99.0, 110.0), Answer::CannotTell);
    assert_eq!(answer_for("at_least = 100", 90.0, 100.0), Answer::CannotTell);
    assert_eq!(answer_for("at_least = 100", 90.0, 99.0), Answer::NotMet);
    assert_eq!(answer_for("at_most = 100", 90.0, 100.0), Answer::Met);
    assert_eq!(answer_for("at_most = 100", 99.0, 101.0), Answer::CannotTell);
    assert_eq!(answer_for("at_most = 100", 100.0, 101.0), Answer::CannotTell);
    assert_eq!(answer_for("at_most = 100", 101.0, 110.0), Answer::NotMet);
}

#[test]
fn a_depth_that_was_not_reached_leaves_what_it_cannot_change() {
    let (least, most) = (one("at_least = 100"), one("at_most = 100"));
    let why = "0.9 of depth 32 were reached";
    let answer = |claim: &Claim, why, side| judge::at_its_depth(claim, why, side);
    let [good, bad, open] = [[true, false], [false, true], [false, false]];
    let although = format!("although {why}");
    assert_eq!(answer(&least, Some(why), good), (Answer::Met, although.clone()));
    assert_eq!(answer(&most, Some(why), bad), (Answer::NotMet, although));
    for (claim, side) in [(&least, bad), (&least, open), (&most, good), (&most, open)] {
        let said = answer(claim, Some(why), side);
        assert_eq!(said, (Answer::CannotTell, format!("suspect: {why}")));
    }
    assert_eq!(answer(&least, None, bad).0, Answer::NotMet);
    assert_eq!(answer(&most, None, good).0, Answer::Met);
}

#[test]
fn what_speaks_against_a_load_is_said_once() {
    let claims = [one("at_least = 100"), Claim { name: "again".into(), ..one("at_least = 90") }];
    let reasons = vec![Reason { code: "hot".into(), text: "it was hot".into() }];
    let figures = cell(&claims[0], interval(200.0, 190.0, 210.0), None, 0);
    let suspect = CellSummary { valid: Some(false), reasons, ..figures };
    let summary = Summary { cells: vec![suspect], ..summarise(&Run::default()) };
    let said = judged(&claims, &Facts::default(), &summary);
    assert_eq!(said[0].why, "suspect: it was hot");
    assert_eq!(said[1].why, "as for 4K random read");
}

#[test]
fn what_cannot_be_believed_is_no_answer_and_says_why() {
    let claim = one("at_least = 100");
    let good = || cell(&claim, interval(200.0, 190.0, 210.0), None, 0);
    let facts = Facts::default();
    let said = |cell: CellSummary, facts: &Facts| {
        let judged = answer_to(&claim, cell, facts);
        assert_eq!(judged.answer, Answer::CannotTell, "{judged:?}");
        judged.why
    };
    assert_eq!(answer_to(&claim, good(), &facts).answer, Answer::Met);
    let reasons = vec![Reason { code: "hot".into(), text: "it was hot".into() }];
    let suspect = CellSummary { valid: Some(false), reasons, ..good() };
    assert_eq!(said(suspect, &facts), "suspect: it was hot");
    let text = "the read rate drifted from 300 IOPS to 100 IOPS";
    let drift = Drifting {
        stream: 0,
        kind: Action::Read,
        metric: drivelab_core::comparison::Metric::Iops,
        ratio: 0.3,
        p: 0.01,
        text: text.into(),
    };
    let drifting = CellSummary { valid: Some(false), drifts: vec![drift], ..good() };
    let bring = format!("{text}; bring the drive to its steady state first");
    assert_eq!(said(drifting, &facts), bring);
    let few = CellSummary { repetitions: 4, ..good() };
    assert!(said(few, &facts).contains("only 4 of 5 repetitions"));
    let mut short = good();
    short.streams[0].seconds *= 0.5;
    assert!(said(short, &facts).contains("25.0 s together instead of 50.0 s"));
    let mut point = good();
    let kind = point.streams[0].kinds.get_mut(&Action::Read).expect("reads");
    kind.rates.iops = Some(Estimate::point(200.0, 5));
    assert!(said(point.clone(), &facts).contains("5 equal repetitions give no interval"));
    let mut simulated = facts.clone();
    simulated.target.kind = TargetKind::Simulated;
    let met = answer_to(&claim, point, &simulated);
    assert_eq!(
        (met.answer, met.why.as_str()),
        (Answer::Met, "each of its 5 repetitions gave this figure")
    );
    let mut errors = good();
    errors.streams[0].kinds.get_mut(&Action::Read).expect("reads").rates.errors = 3;
    assert!(said(errors, &facts).contains("3 reads failed"));
    let mut memory = Facts::default();
    let tmpfs =
        FilesystemFacts { kind: "tmpfs".into(), memory_backed: true, ..FilesystemFacts::default() };
    memory.target.filesystem = Some(tmpfs);
    assert!(said(good(), &memory).contains("tmpfs is in memory"));
    let mut buffered = CellSummary { valid: None, ..good() };
    buffered.streams[0].load.io = drivelab_core::plan::IoMode::Buffered;
    assert!(said(buffered, &facts).contains("memory may have answered"));
    let none = judged(std::slice::from_ref(&claim), &facts, &summarise(&Run::default())).remove(0);
    assert_eq!((none.answer, none.estimate), (Answer::CannotTell, None));
}

#[test]
fn another_state_than_claimed_is_no_answer() {
    let claim = one("at_least = 100\nstate = \"filled\"");
    let summary = |state: &str| {
        let mut run = Run::default();
        let begin = drivelab_core::record::StepBegin {
            step: 0,
            plan_step: 0,
            plan: 0,
            repetition: 1,
            name: claim.cell(),
            role: Role::Measure,
            state: state.into(),
            opened: Vec::new(),
        };
        let plan = Step { name: claim.cell(), ..Step::default() };
        let (tallies, insides) = (Vec::new(), Vec::new());
        let anatomy = None;
        let end = None;
        let requests = Vec::new();
        let step = StepRun { begin, plan, tallies, insides, anatomy, requests, end };
        run.steps.push(step);
        let figures = cell(&claim, interval(200.0, 190.0, 210.0), None, 0);
        Summary { cells: vec![figures], ..summarise(&run) }
    };
    let answer =
        |state| judged(std::slice::from_ref(&claim), &Facts::default(), &summary(state)).remove(0);
    assert_eq!(answer("filled").answer, Answer::Met);
    let other = answer("unknown");
    assert_eq!(other.answer, Answer::CannotTell);
    assert!(other.why.contains("that is filled, and the state found was unknown"), "{}", other.why);
}

#[test]
fn latencies_need_their_samples_and_one_slow_io_refutes_a_maximum() {
    let text = CLAIM.replace("iops", "p99_ns");
    let claim = parse(&format!("{text}at_most = 500"), "s").expect("a claim").claims.remove(0);
    let rate = || interval(1.0, 0.9, 1.1);
    let with = |p99| answer_to(&claim, cell(&claim, rate(), p99, 0), &Facts::default());
    assert_eq!(with(Some(interval(400.0, 390.0, 410.0))).answer, Answer::Met);
    let without = with(None);
    assert_eq!(without.answer, Answer::CannotTell);
    assert!(without.why.contains("too few I/Os for the p99 latency: 100,000"), "{}", without.why);
    let text = CLAIM.replace("iops", "max_ns");
    let claim = parse(&format!("{text}at_most = 950"), "s").expect("a claim").claims.remove(0);
    let slowest = |max| answer_to(&claim, cell(&claim, rate(), None, max), &Facts::default());
    assert_eq!(slowest(950).answer, Answer::Met);
    let over = slowest(1000);
    assert_eq!((over.answer, over.why.as_str()), (Answer::NotMet, "one took 1.00 µs"));
}

#[test]
fn the_exit_status_follows_from_the_findings() {
    let spec = |limits: [f64; 2]| {
        let [first, second] = limits;
        let other = CLAIM.replace("4K", "8K").replace("iops", "p99_ns");
        let text = format!("{CLAIM}at_least = {first}\n{other}at_least = {second}\n");
        parse(&text, "s").expect("claims").claims
    };
    let findings = |limits| {
        let claims = spec(limits);
        let p99 = Some(interval(400.0, 390.0, 410.0));
        let figures = cell(&claims[0], interval(200.0, 190.0, 210.0), p99, 0);
        let run = Run::default();
        judge::answers(&claims, &run, &Summary { cells: vec![figures], ..summarise(&run) })
    };
    let all = findings([100.0, 100.0]);
    assert!(all.beware.is_empty() && !all.no_answer, "{all:?}");
    assert_eq!(all.verdict[0], "2 of 2 claims met, 0 not met, 0 inconclusive.");
    let open = findings([200.0, 100.0]);
    assert!(open.no_answer && open.beware.is_empty(), "{open:?}");
    let broken = findings([200.0, 1000.0]);
    assert!(!broken.no_answer && broken.beware.len() == 1, "{broken:?}");
    assert_eq!(
        broken.beware[0],
        "8K random read: p99 latency at least 1.00 µs, measured 400 ns: not met."
    );
}
