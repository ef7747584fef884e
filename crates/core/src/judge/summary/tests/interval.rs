//! Why a rate has no interval.

use super::*;

#[test]
fn a_run_with_a_step_gives_both_levels_and_no_interval() {
    let mut bench = Bench::new(reads());
    bench.begin();
    for index in 0..40 {
        let count = if index < 25 { 2_000 } else { 500 };
        bench.tally(tally(0, index * SECOND, (index + 1) * SECOND, count));
    }
    bench.end(vec![phase(0, 0, 40 * SECOND)]);
    let rates = bench.summary().cells[0].streams[0].total.clone();
    assert_eq!(rates.iops.unwrap().low, None);
    let why = rates.no_interval.unwrap();
    assert_eq!(why.code, "step");
    assert!(
        why.text.starts_with("a step at 25.0 s: 2.00k IOPS before it, 500 IOPS from"),
        "{}",
        why.text
    );
}

#[test]
fn repetitions_that_differ_too_much_are_not_repeatable() {
    let cell = &repeated(&[5419, 2364, 1690, 1652, 1578]).summary().cells[0];
    let rates = &cell.streams[0].total;
    assert_eq!(rates.iops.unwrap().low, None);
    assert_eq!(rates.no_interval.as_ref().unwrap().code, "not_repeatable");
    assert_eq!(cell.drifts.len(), 1);
    assert!(cell.against().unwrap().contains("drifted from 5.42k IOPS to 1.58k IOPS over 5"));
}

#[test]
fn large_operations_that_are_not_repeatable_are_told_in_bytes() {
    let mut bench = repeated(&[5419, 2364, 1690, 1652, 1578]);
    for tally in bench.run.steps.iter_mut().flat_map(|step| &mut step.tallies) {
        tally.kinds[0].bytes = tally.kinds[0].ops << 20;
    }
    let why = bench.summary().cells[0].streams[0].total.no_interval.clone().unwrap();
    assert_eq!(why.text, "not repeatable: 5 repetitions from 1.65 GB/s to 5.68 GB/s");
}
