//! Verdicts where data are few, equal or large.

use drivelab_stats::{
    Judged, NoAnswer, Open, Pair, Test, Verdict, Welch, hodges_lehmann, judge, permutation_test,
    quantile_interval,
};

fn one(before: &[f64], after: &[f64]) -> Judged {
    judge(&[Pair { before, after, delta: 0.05 }]).unwrap()[0]
}

#[test]
fn few_values_need_an_exact_test_to_agree() {
    // The interval of the ratio is 1.108 to 1.298, the exact p-value 3/45.
    let after = [95.0, 124.0, 124.0, 124.0, 124.0, 124.0, 124.0, 124.0];
    let judged = one(&[100.0, 100.01], &after);
    assert_eq!(judged.verdict, Verdict::Inconclusive);
    // It stays in the family: to leave out what came out large would make the others look rarer.
    assert!((judged.p_adjusted.unwrap() - 3.0 / 45.0).abs() < 1e-12);
    // Three against three can never tell, four against four can.
    let (slow, fast) = ([50.0, 50.1, 49.9, 50.05], [100.0, 100.2, 99.9, 100.1]);
    let three = one(&fast[..3], &slow[..3]);
    assert_eq!((three.verdict, three.open), (Verdict::Inconclusive, Some(Open::TooFew)));
    let judged = one(&fast, &slow);
    assert_eq!(judged.verdict, Verdict::Changed);
    assert!((judged.p_adjusted.unwrap() - 2.0 / 70.0).abs() < 1e-12);
    // In a family of two four against four can tell no more, and that is said.
    let pair = Pair { before: &fast, after: &slow, delta: 0.05 };
    for judged in judge(&[pair, pair]).unwrap() {
        assert_eq!(judged.verdict, Verdict::Inconclusive);
        assert_eq!(
            (judged.test, judged.open),
            (Some(Test::Permutation), Some(Open::TooFewForFamily))
        );
    }
}

/// The whole interval lies outside of the band, and in a family of 37 chance brings that about.
#[test]
fn slower_needs_more_than_its_own_interval() {
    let before = [1.0, 1.3, 1.1, 0.9, 1.2];
    let after = [0.65, 0.9, 0.6, 0.75, 0.8];
    let alone = one(&before, &after);
    assert_eq!(alone.verdict, Verdict::Changed);
    let same = [1.0, 1.3, 1.1, 0.9, 1.25];
    let mut family = vec![Pair { before: &before, after: &same, delta: 0.05 }; 37];
    family[0].after = &after;
    let judged = judge(&family).unwrap()[0];
    assert!(judged.ratio.high.unwrap() < 0.95 && judged.p_adjusted.unwrap() > 0.05);
    assert_eq!(judged.verdict, Verdict::Inconclusive);
}

#[test]
fn constants_are_told_apart_from_rounding() {
    assert_eq!(one(&[5.0; 6], &[5.0; 6]).verdict, Verdict::Identical);
    assert_eq!(one(&[5.0; 6], &[6.0; 6]).verdict, Verdict::Degenerate);
    // Equal numbers, each with a rounding of its own.
    let rounded: Vec<f64> = (0..6).map(|i| 250_000.0 * (1.0 + f64::from(i) * 3e-15)).collect();
    assert_eq!(one(&rounded, &rounded).verdict, Verdict::Identical);
    let judged = one(&[0.1; 5], &[0.1, 0.1, 0.1, 0.1, 0.2]);
    assert!(judged.p_adjusted.unwrap() > 0.0);
}

#[test]
fn extreme_numbers_give_no_nan_and_no_zero() {
    let far: Vec<f64> = (0..9).map(|i| 1e-300 * f64::from(i + 1)).collect();
    let near: Vec<f64> = (0..9).map(|i| 1e300 * f64::from(i + 1)).collect();
    let judged = one(&far, &near);
    assert_eq!(judged.verdict, Verdict::Changed);
    assert!(judged.p_adjusted.unwrap() > 0.0);
    assert_eq!(Welch::of(&near, &far), Err(NoAnswer::NotFinite));
    assert_eq!(
        judge(&[Pair { before: &[0.0, 1.0], after: &[1.0, 2.0], delta: 0.05 }]),
        Err(NoAnswer::NotPositive)
    );
}

#[test]
fn a_few_values_against_very_many_are_soon_compared() {
    let many: Vec<f64> = (0..100_000).map(|i| 100.0 + f64::from(i % 7)).collect();
    let few = [103.0, 104.0, 102.0, 103.5];
    let test = permutation_test(&many, &few, 1).unwrap();
    assert!(!test.is_exact && test.p() > 0.05, "{test:?}");
    let swapped = permutation_test(&few, &many, 1).unwrap();
    assert!(swapped.p() > 0.05);
    let shift = hodges_lehmann(&few, &many, 0.95).unwrap();
    let (low, high) = shift.interval.unwrap();
    assert!(low < 0.0 && 0.0 < high);
}

#[test]
fn a_quantile_says_how_many_values_it_needs() {
    let values: Vec<f64> = (0..300).map(f64::from).collect();
    assert_eq!(
        quantile_interval(&values, 0.99, 0.95),
        Err(NoAnswer::TooFew { needed: 368, got: 300 })
    );
    let values: Vec<f64> = (0..368).map(f64::from).collect();
    assert!(quantile_interval(&values, 0.99, 0.95).is_ok());
}
