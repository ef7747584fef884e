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
        why.text.starts_with("a step at 25.0 s: 2.00 k/s before it, 500 /s from"),
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
    assert!(cell.against().unwrap().contains("drifted from 5.42 k/s to 1.58 k/s over 5"));
}
