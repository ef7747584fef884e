//! Percentiles of repetitions that have no interval: equal ones are known, others are not.

use super::*;
use drivelab_core::summary::{Gaps, KindSummary, StepSummary, StreamSummary};

#[test]
fn equal_percentiles_are_known_as_well_as_the_histogram_resolves_them() {
    let answer = |limit: f64| {
        let text = CLAIM.replace("\"iops\"", "\"p99_ns\"");
        let claim = parse(&format!("{text}at_most = {limit}"), "spec.toml");
        let claim = claim.expect("a claim").claims.remove(0);
        let p99 = Some(Estimate::point(200_000.0, 5));
        let cell = cell(&claim, interval(5000.0, 4900.0, 5100.0), p99, 300_000);
        answer_to(&claim, cell, &Facts::default()).answer
    };
    assert_eq!(answer(100_000.0), Answer::NotMet);
    assert_eq!(answer(200_100.0), Answer::CannotTell);
    assert_eq!(answer(201_000.0), Answer::Met);
}

#[test]
fn far_apart_percentiles_without_an_interval_are_not_taken_for_equal() {
    let text = CLAIM.replace("\"iops\"", "\"p99_ns\"");
    let claim = parse(&format!("{text}at_most = 900_000"), "spec.toml");
    let claim = claim.expect("a claim").claims.remove(0);
    let answer = |each: [u64; 5]| {
        let p99 = Some(Estimate::point(200_000.0, 5));
        let figures = cell(&claim, interval(5000.0, 4900.0, 5100.0), p99, 300_000);
        let steps: Vec<StepSummary> =
            each.iter().enumerate().map(|(at, p99)| repetition(&claim, at as u32, *p99)).collect();
        let figures = CellSummary { steps: (0..5).collect(), ..figures };
        let summary = Summary { cells: vec![figures], steps, ..summarise(&Run::default()) };
        judged(std::slice::from_ref(&claim), &Facts::default(), &summary).remove(0)
    };
    assert_eq!(answer([200_000; 5]).answer, Answer::Met);
    let far = answer([20_000, 200_000, 200_000, 200_000, 2_000_000]);
    assert_eq!(far.answer, Answer::CannotTell);
    assert!(far.why.contains("differ too much for an interval"), "{}", far.why);
}

/// One repetition of the load of a claim with this p99.
fn repetition(claim: &Claim, step: u32, p99: u64) -> StepSummary {
    let figures = cell(claim, interval(5000.0, 4900.0, 5100.0), None, 0);
    let merged = figures.streams[0].kinds[&Action::Read].merged.service_ns;
    let latency = merged.map(|latency| Latency { p99: Some(p99), ..latency });
    let kind = KindSummary { service_ns: latency, ..KindSummary::default() };
    StepSummary {
        step,
        name: claim.cell(),
        role: Role::Measure,
        repetition: step + 1,
        state: "unknown".into(),
        valid: Some(true),
        reasons: Vec::new(),
        notes: Vec::new(),
        unchecked: Vec::new(),
        incomplete: None,
        streams: vec![StreamSummary {
            load: figures.streams[0].load.clone(),
            measured_from_ns: None,
            seconds: None,
            kinds: BTreeMap::from([(Action::Read, kind)]),
            total: Rates::default(),
            engine_cpu_ns_per_op: None,
            depth_reached: None,
            waited_share: None,
            gaps: Gaps::default(),
            slowest: Vec::new(),
            backlog: None,
            lateness: None,
            verified: 0,
            mismatched: 0,
            unstamped: 0,
            ops_per_submit_call: None,
        }],
        devices: Vec::new(),
        mismatches: Vec::new(),
        drive: None,
    }
}
