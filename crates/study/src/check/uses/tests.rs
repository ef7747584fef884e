use super::*;
use drivelab_stats::Random;

/// A figure that is certainly so good that it never decides.
fn splendid(asked: Asked) -> Known {
    match asked {
        Asked::Freeze => Known::None { longest_ns: Some(2_000_000), seconds: 60.0 },
        Asked::Rate(_) | Asked::Sustained => measured_from(1e12, 1e12),
    }
}

fn measured_from(low: f64, high: f64) -> Known {
    let value = (low * high).sqrt();
    let estimate = Estimate { value, low: Some(low), high: Some(high), n: 5 };
    Known::Measured { estimate, is_exact: false }
}

/// The use whose condition `at` is known as `known`, and all else splendid.
fn one(kind: &Kind, at: usize, known: &Known) -> Use {
    let asked = kind.conditions[at].asked;
    let all = judged(&[], |other| if other == asked { known.clone() } else { splendid(other) });
    all.into_iter().find(|it| it.name == kind.name).expect("the use")
}

/// What the truth is worth.
fn grade_of(condition: &Condition, truth: f64) -> Grade {
    let at_most = condition.asked == Asked::Freeze;
    Limit { good: condition.good, enough: condition.enough, at_most }.grade(truth)
}

fn each(mut judge: impl FnMut(&Kind, usize, &Condition)) {
    for kind in &USES {
        for (at, condition) in kind.conditions.iter().enumerate() {
            judge(kind, at, condition);
        }
    }
}

#[test]
fn a_narrow_interval_beside_each_limit_is_graded_and_one_across_it_is_not() {
    each(|kind, at, condition| {
        for limit in [condition.good, condition.enough] {
            for (low, high) in [(1.001, 1.02), (0.98, 0.999)] {
                let told = one(kind, at, &measured_from(limit * low, limit * high));
                let truth = grade_of(condition, limit * (low * high).sqrt());
                assert_eq!(told.grade, truth, "{}: {}", kind.name, told.told());
            }
            let told = one(kind, at, &measured_from(limit * 0.98, limit * 1.02));
            assert_eq!(told.grade, Grade::NotKnown, "{}: {}", kind.name, told.told());
            let covers = told.told().contains("cannot tell") && told.told().contains("covers");
            assert!(covers, "{}", told.told());
        }
    });
}

#[test]
fn no_interval_that_holds_the_truth_is_graded_against_it() {
    let mut random = Random::new(202);
    let (mut right, mut unknown) = (0, 0);
    each(|kind, at, condition| {
        for _ in 0..500 {
            let limit = if random.below(2) == 0 { condition.good } else { condition.enough };
            let truth = limit * (0.5 + random.unit_f64() * 1.5);
            let low = truth * (1.0 - random.unit_f64() * 0.1);
            let high = truth * (1.0 + random.unit_f64() * 0.1);
            let told = one(kind, at, &measured_from(low, high));
            match told.grade {
                Grade::NotKnown => unknown += 1,
                grade => {
                    assert_eq!(grade, grade_of(condition, truth), "{truth}: {}", told.told());
                    right += 1;
                }
            }
        }
    });
    // 15 conditions: the intervals that cover neither limit are all told.
    assert_eq!(right + unknown, 7500);
    assert!(right > 6000, "{right} told, {unknown} not");
}

#[test]
fn a_use_is_as_good_as_its_worst_figure_and_names_it_first() {
    for kind in &USES {
        for (at, condition) in kind.conditions.iter().enumerate() {
            let poor = match condition.asked {
                Asked::Freeze => 2.0 * condition.enough,
                _ => 0.5 * condition.enough,
            };
            let told = one(kind, at, &measured_from(poor, poor));
            assert_eq!(told.grade, Grade::Poor, "{}", told.told());
            assert_eq!(told.grounds[0].name, condition.asked.name(), "{}", told.told());
        }
        let all = judged(&[], splendid);
        assert!(all.iter().all(|it| it.grade == Grade::Good));
    }
}

#[test]
fn what_is_not_known_leaves_a_use_open_unless_it_is_poor_all_the_same() {
    each(|kind, at, condition| {
        let told = one(kind, at, &Known::Nothing("it is SUSPECT".into()));
        assert_eq!(told.grade, Grade::NotKnown, "{}", told.told());
        assert!(told.told().contains("it is SUSPECT"), "{}", told.told());
        let Some(other) = kind.conditions.iter().find(|it| it.asked != condition.asked) else {
            return;
        };
        let poor = match other.asked {
            Asked::Freeze => 2.0 * other.enough,
            _ => 0.5 * other.enough,
        };
        let all = judged(&[], |asked| match asked {
            _ if asked == condition.asked => Known::Nothing("it is SUSPECT".into()),
            _ if asked == other.asked => measured_from(poor, poor),
            _ => splendid(asked),
        });
        let told = all.iter().find(|it| it.name == kind.name).expect("the use");
        assert_eq!(told.grade, Grade::Poor, "{}", told.told());
    });
}

#[test]
fn a_short_look_does_not_show_that_a_drive_never_freezes() {
    let desktop = &USES[0];
    let at = desktop.conditions.iter().position(|it| it.asked == Asked::Freeze).expect("one");
    let look = |seconds| Known::None { longest_ns: Some(20_000_000), seconds };
    assert_eq!(one(desktop, at, &look(STUTTER_SECONDS_MIN)).grade, Grade::Good);
    assert_eq!(one(desktop, at, &look(STUTTER_SECONDS_MIN - 1.0)).grade, Grade::NotKnown);
}

#[test]
fn an_upper_bound_makes_a_use_poor_and_never_good() {
    each(|kind, at, condition| {
        if condition.asked == Asked::Freeze {
            return;
        }
        let bound = |value: f64| {
            let estimate = Estimate { value, low: Some(value), high: Some(value), n: 5 };
            Known::AtMost { estimate, least: 0.0, why: "its cache took the writes".into() }
        };
        let told = one(kind, at, &bound(condition.enough * 0.9));
        assert_eq!(told.grade, Grade::Poor, "{}", told.told());
        let told = one(kind, at, &bound(condition.good * 10.0));
        assert_eq!(told.grade, Grade::NotKnown, "{}", told.told());
        assert!(told.told().contains("its cache took the writes"), "{}", told.told());
    });
}

#[test]
fn names_are_those_of_the_table_and_others_are_refused_with_a_line() {
    for kind in &USES {
        assert_eq!(named(kind.name), Ok(vec![kind.name]));
    }
    assert_eq!(named("database"), Ok(vec!["database-group", "database-each"]));
    let (text, line) = named("gaming").expect_err("no such use");
    assert!(text.contains("gaming") && line.contains("drivelab check --for"), "{text} {line}");
    let asked = judged(&["vm".into()], splendid);
    let asked: Vec<&str> = asked.iter().filter(|it| it.asked).map(|it| it.name.as_str()).collect();
    assert_eq!(asked, ["vm"]);
}
