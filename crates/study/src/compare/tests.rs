use super::*;
use drivelab_stats::Verdict;

fn side(name: &str, cells: &[(&str, &[f64])]) -> Side {
    let sample = |(name, values): &(&str, &[f64])| Sample {
        name: (*name).into(),
        metric: Metric::Iops,
        values: values.to_vec(),
        is_ordered: false,
        suspect: None,
    };
    Side {
        name: name.into(),
        samples: cells.iter().map(sample).collect(),
        facts: vec![("kernel", "6.1".into())],
        is_by_run: false,
    }
}

const BEFORE: [f64; 6] = [100.0, 101.0, 99.5, 100.4, 99.9, 100.2];

fn times(factor: f64) -> Vec<f64> {
    BEFORE.iter().map(|value| value * factor).collect()
}

#[test]
fn cells_are_sorted_from_the_largest_loss_to_the_largest_gain() {
    let (slow, fast, same) = (times(0.8), times(1.3), times(1.001));
    let before = side("before", &[("same", &BEFORE), ("fast", &BEFORE), ("slow", &BEFORE)]);
    let after = side("after", &[("fast", &fast), ("slow", &slow), ("same", &same)]);
    let found = compare(&before, &after, None).unwrap();
    let words: Vec<(&str, &str)> =
        found.cells.iter().map(|cell| (cell.name.as_str(), cell.word())).collect();
    assert_eq!(words, [("slow", "slower"), ("same", "equivalent"), ("fast", "faster")]);
    assert!(found.cells[0].is_slower() && !found.cells[2].is_slower());
}

#[test]
fn a_longer_latency_is_slower() {
    let longer = times(1.5);
    let mut before = side("before", &[("read", &BEFORE)]);
    let mut after = side("after", &[("read", &longer)]);
    for side in [&mut before, &mut after] {
        side.samples[0].metric = Metric::P99Ns;
    }
    assert_eq!(compare(&before, &after, None).unwrap().cells[0].word(), "slower");
    assert_eq!(compare(&after, &before, None).unwrap().cells[0].word(), "faster");
}

#[test]
fn a_suspect_cell_is_listed_and_not_judged() {
    let slow = times(0.8);
    let before = side("before", &[("a", &BEFORE), ("b", &BEFORE)]);
    let mut after = side("after", &[("a", &slow), ("b", &BEFORE)]);
    after.samples[0].suspect = Some("the page cache answered".into());
    let found = compare(&before, &after, None).unwrap();
    assert_eq!(found.cells.len(), 2);
    let last = &found.cells[1];
    assert_eq!((last.word(), last.verdict, last.p_adjusted), ("suspect", None, None));
    // It takes no part in the family: the other p-value is not doubled.
    let alone = compare(&side("x", &[("b", &BEFORE)]), &side("y", &[("b", &BEFORE)]), None);
    assert_eq!(found.cells[0].p_adjusted, alone.unwrap().cells[0].p_adjusted);
}

#[test]
fn sides_without_a_common_cell_say_what_they_have() {
    let error = compare(&side("x", &[("a", &BEFORE)]), &side("y", &[("b", &BEFORE)]), None);
    let error = error.unwrap_err();
    let (what, way_out) = error.split_once('\n').unwrap();
    assert_eq!(what, "x and y have no cell in common, so there is nothing to compare: a against b");
    assert!(way_out.contains("type the same for both"), "{way_out}");
}

#[test]
fn values_without_a_ratio_are_named() {
    let zero = [0.0, 1.0, 2.0, 3.0, 4.0];
    let error = compare(&side("x", &[("a", &zero)]), &side("y", &[("a", &BEFORE)]), None);
    let text = error.unwrap_err();
    assert!(text.starts_with("a cannot be compared: a value is not above zero"), "{text}");
}

#[test]
fn facts_that_differ_are_named() {
    let before = side("x", &[("a", &BEFORE)]);
    let mut after = side("y", &[("a", &BEFORE)]);
    after.facts[0].1 = "6.18".into();
    let found = compare(&before, &after, None).unwrap();
    assert_eq!(found.differences, ["kernel: 6.1 before, 6.18 after"]);
}

#[test]
fn a_gate_passes_what_is_shown_and_fails_what_is_shown() {
    let noisy = [60.0, 140.0, 100.0, 75.0, 125.0, 95.0];
    for (after, expected) in
        [(times(0.99), Passed::Yes), (times(0.9), Passed::No), (noisy.to_vec(), Passed::CannotTell)]
    {
        let before = side("x", &[("a", &BEFORE)]);
        let found = compare(&before, &side("y", &[("a", &after)]), None).unwrap();
        assert_eq!(Gate { slowdown_max: 0.05 }.judge(&found), expected);
    }
    let constant = [5.0; 5];
    let found =
        compare(&side("x", &[("a", &constant)]), &side("y", &[("a", &constant)]), None).unwrap();
    assert_eq!(found.cells[0].verdict, Some(Verdict::Identical));
    assert_eq!(Gate { slowdown_max: 0.05 }.judge(&found), Passed::Yes);
}

#[test]
fn columns_are_read_with_and_without_names() {
    let found = columns("# IOPS\nbefore, after\n100, 90\n101, 91\n99,\n", "x.csv").unwrap();
    let shape: Vec<(&str, usize)> =
        found.iter().map(|sample| (sample.name.as_str(), sample.values.len())).collect();
    assert_eq!(shape, [("before", 3), ("after", 2)]);
    let found = columns("1 2\n3 4\n", "x").unwrap();
    assert_eq!((found[0].name.as_str(), &found[1].values[..]), ("column 1", &[2.0, 4.0][..]));
    for (text, error) in [
        ("", "x holds no numbers"),
        ("a b\n", "x holds no numbers"),
        ("1 2\n3 four\n", "x line 2: \"four\" is not a finite number"),
        ("1\nNaN\n", "x line 2: \"NaN\" is not a finite number"),
        ("1\ninf\n", "x line 2: \"inf\" is not a finite number"),
    ] {
        assert_eq!(columns(text, "x").unwrap_err(), error);
    }
}
