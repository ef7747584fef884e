use super::*;
use drivelab_core::findings::Axis;
use drivelab_core::run::Run;
use drivelab_stats::Estimate;

fn run(figures: &[(&str, f64)], verdict: &str) -> Run {
    let figure = |(name, value): &(&str, f64)| Figure {
        name: (*name).into(),
        estimate: Estimate::point(*value, 1),
        unit: Unit::Iops,
        note: String::new(),
    };
    let line = |label: &str, kind| Line { label: label.into(), kind, points: vec![(1.0, 2.0)] };
    let axis = || Axis { quantity: "written".into(), unit: Unit::Bytes };
    let picture = Picture {
        title: "The cliff".into(),
        note: "one".into(),
        x: axis(),
        y: axis(),
        lines: vec![line("writes", LineKind::Measured), line("mean", LineKind::Fit)],
        marks: Vec::new(),
    };
    let findings = Findings {
        verdict: vec![verdict.into()],
        figures: figures.iter().map(figure).collect(),
        pictures: vec![picture],
        ..Findings::default()
    };
    Run { findings: Some(findings), ..Run::default() }
}

#[test]
fn figures_and_curves_stand_side_by_side() {
    let (a, b) = (run(&[("rate", 10.0), ("own", 1.0)], "fast"), run(&[("rate", 5.0)], "slow"));
    let members = [Member { target: "a", run: &a }, Member { target: "b", run: &b }];
    let found = findings("wsat", &members);
    assert_eq!(found.verdict, ["a: fast", "b: slow"]);
    let [table] = found.tables.as_slice() else { panic!("{:?}", found.tables) };
    assert_eq!(table.heads.len(), 2, "what only one has is not beside anything");
    assert_eq!(table.rows[1], [Entry::Text("b".into()), Entry::Number(5.0)]);
    let labels: Vec<&str> = found.pictures[0].lines.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["a", "b"]);
    assert!(!found.no_answer);
}

#[test]
fn a_run_that_was_broken_off_is_said() {
    let (a, b) = (run(&[("rate", 10.0)], "fast"), Run::default());
    let members = [Member { target: "a", run: &a }, Member { target: "b", run: &b }];
    let found = findings("wsat", &members);
    assert_eq!(found.unknown.len(), 1);
    assert!(found.unknown[0].contains("What b does"));
    assert!(found.tables.is_empty() && found.pictures.is_empty());
    assert!(!found.no_answer, "one of them has an answer");
    let members = [Member { target: "b", run: &b }];
    assert!(findings("wsat", &members).no_answer);
}
