use super::*;
use crate::experiment::sample::play;
use crate::experiment::tests::{options, simulated};
use drivelab_core::study::{Neighbour, UnderOptions};

#[test]
fn the_other_load_is_there_exactly_where_it_is_named() {
    let (options, facts) = (options("under"), simulated());
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(objection(&setting), None);
    let run = play(&STUDY, &setting, "fresh", &|_, _| 3000.0);
    for step in run.steps.iter().filter(|step| step.begin.role == Role::Measure) {
        let names: Vec<&str> = step.plan.streams.iter().map(|it| it.name.as_str()).collect();
        let expected: &[&str] = match &step.begin.name {
            name if name == "oltp alone" => &["pages", "log"],
            name if name.ends_with(" alone") => &["measured"],
            _ => &["measured", "pages", "log"],
        };
        assert_eq!(names, expected, "{}", step.begin.name);
        let rates = step.plan.streams.iter().filter_map(|stream| stream.arrival.rate());
        let asked: f64 = rates.sum();
        assert!(asked == 0.0 || (asked - 500.0).abs() < 1e-6, "{asked}");
        // Neither reads what the other writes.
        let end = |it: &Stream| it.offset.0 + it.length.unwrap().0;
        for pair in step.plan.streams.windows(2) {
            assert!(end(&pair[0]) <= pair[1].offset.0, "{}", step.begin.name);
        }
    }
    let each = |name: &str| run.steps.iter().filter(|it| it.begin.name == name).count();
    assert_eq!(each("random 70/30 qd64 with oltp"), 5);
    assert_eq!(each("random read qd1 alone"), 5);
}

#[test]
fn what_a_neighbour_costs_is_said_where_it_is_seen() {
    let mut options = options("under");
    options.under = UnderOptions { load: Neighbour::Import, rate: Some(1000) };
    let facts = simulated();
    let setting = Setting { options: &options, facts: &facts };
    let about = |value: f64, at: u32| value * (1.0 + f64::from(at % 3) * 0.002);
    let judged = |beside: f64| {
        let rate = |name: &str, at: u32| match name.contains("with import") {
            true => about(beside, at),
            false => about(3000.0, at),
        };
        STUDY.judged(&setting, &play(&STUDY, &setting, "fresh", &rate))
    };
    let verdict = judged(2000.0).verdict.join(" ");
    assert!(verdict.contains("random 70/30 qd64 does 2.00k IOPS, alone 3.01k IOPS"), "{verdict}");
    assert!(verdict.contains("is left (slower)"), "{verdict}");
    let verdict = judged(3000.0).verdict.join(" ");
    assert!(!verdict.contains("slower") && verdict.contains("equivalent"), "{verdict}");
}
