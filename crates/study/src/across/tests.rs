use super::*;
use crate::{patterns, stutter, wsat};
use drivelab_core::comparison::{Cell, Metric};
use drivelab_core::findings::{Axis, BarGroup, Bars, HeatMap, HeatRow, Line, LineKind, Picture};
use drivelab_core::run::Run;
use drivelab_stats::{Estimate, Ratio};

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
    let found = findings(&wsat::STUDY, &members);
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
    let found = findings(&wsat::STUDY, &members);
    assert_eq!(found.unknown.len(), 1);
    assert!(found.unknown[0].contains("What b does"));
    assert!(found.tables.is_empty() && found.pictures.is_empty());
    assert!(!found.no_answer, "one of them has an answer");
    let members = [Member { target: "b", run: &b }];
    assert!(findings(&wsat::STUDY, &members).no_answer);
}

#[test]
fn heat_maps_get_a_column_for_each_target() {
    let ratio = |name: &str, value: f64| {
        let ratio = Ratio { value, low: None, high: None };
        Some(Cell {
            name: name.into(),
            metric: Metric::Iops,
            verdict: None,
            ratio: Some(ratio),
            p_adjusted: None,
            needs_n: None,
            open: None,
            values: None,
            n: (5, 5),
            suspect: None,
        })
    };
    let map = |values: [Option<f64>; 2], row: &str| HeatMap {
        title: "What it does".into(),
        note: "below 1: slower".into(),
        columns: vec!["read".into(), "write".into()],
        rows: vec![HeatRow {
            name: row.into(),
            against: "none".into(),
            cells: values.map(|value| value.and_then(|value| ratio(row, value))).to_vec(),
        }],
    };
    let of = |map: HeatMap| Run {
        findings: Some(Findings { heat_maps: vec![map], ..Findings::default() }),
        ..Run::default()
    };
    let (a, b) = (of(map([Some(0.5), None], "pause")), of(map([Some(0.9), None], "pause")));
    let other = of(map([Some(0.1), Some(0.2)], "burst"));
    let member = |target, run| Member { target, run };
    let targets = [member("sim:a,seed=2", &a), member("/mnt/b", &b), member("c", &other)];
    let found = findings(&patterns::STUDY, &targets);
    let [reads] = found.heat_maps.as_slice() else { panic!("{:?}", found.heat_maps) };
    assert_eq!(reads.title, "What it does: read");
    assert_eq!(reads.columns, ["a", "b", "c"]);
    let value = |cell: &Option<Cell>| cell.as_ref().and_then(|cell| Some(cell.ratio?.value));
    let values: Vec<Option<f64>> = reads.rows[0].cells.iter().map(value).collect();
    assert_eq!(values, [Some(0.5), Some(0.9), None], "another pattern is not beside these");
    assert_eq!(reads.note, "below 1: slower");
    let twins =
        findings(&patterns::STUDY, &[member("sim:a,seed=1", &a), member("sim:a,seed=2", &b)]);
    assert_eq!(twins.heat_maps[0].columns, ["a,seed=1", "a,seed=2"]);
    assert!(findings(&patterns::STUDY, &[member("a", &a)]).heat_maps.is_empty());
}

#[test]
fn tables_of_one_title_are_one_table_with_a_row_for_each_target() {
    let head = |name: &str| Head { name: name.into(), unit: None };
    let text = |word: &str| Entry::Text(word.into());
    let table = |title: &str, rows: &[[&str; 3]]| Table {
        title: title.into(),
        note: "said once".into(),
        heads: ["load", "rate", "longest"].map(head).to_vec(),
        rows: rows.iter().map(|row| row.map(text).to_vec()).collect(),
    };
    let of = |tables: Vec<Table>| Run {
        findings: Some(Findings { tables, ..Findings::default() }),
        ..Run::default()
    };
    let rules = |mine: usize| {
        let mark = |at: usize| if at == mine { "this drive" } else { "" };
        table("The grade", &[["A", "none", mark(0)], ["B", "some", mark(1)]])
    };
    let writes = |rate: &str, longest: &str| {
        table("Writes", &[["4 KiB", rate, longest], ["8 KiB", rate, longest]])
    };
    let a = of(vec![rules(0), writes("10", "1 ms")]);
    let b = of(vec![rules(1), writes("20", "2 ms")]);
    let members = [Member { target: "a", run: &a }, Member { target: "b", run: &b }];
    let found = findings(&stutter::STUDY, &members);
    let [writes] = found.tables.as_slice() else { panic!("rules stay apart: {:?}", found.tables) };
    assert_eq!(writes.heads.len(), 4);
    let said: Vec<(&Entry, &Entry)> = writes.rows.iter().map(|row| (&row[0], &row[1])).collect();
    let (a, b) = (text("a"), text("b"));
    let (four, eight) = (text("4 KiB"), text("8 KiB"));
    assert_eq!(said, [(&a, &four), (&b, &four), (&a, &eight), (&b, &eight)]);
    assert_eq!(writes.rows[1][3], text("2 ms"));
}

#[test]
fn each_curve_that_targets_share_is_a_picture_with_a_line_for_each() {
    let axis = |unit| Axis { quantity: "depth".into(), unit };
    let of = |curves: &[(&str, f64)]| {
        let line = |(label, y): &(&str, f64)| Line {
            label: (*label).into(),
            kind: LineKind::Measured,
            points: vec![(1.0, *y), (64.0, 2.0 * y)],
        };
        let picture = Picture {
            title: "By depth".into(),
            note: "of one drive".into(),
            x: axis(Unit::Count),
            y: axis(Unit::Ns),
            lines: curves.iter().map(line).collect(),
            marks: Vec::new(),
        };
        Run {
            findings: Some(Findings { pictures: vec![picture], ..Findings::default() }),
            ..Run::default()
        }
    };
    let a = of(&[("mean", 1.0), ("maximum", 10.0)]);
    let b = of(&[("mean", 2.0), ("maximum", 20.0), ("own", 5.0)]);
    let members =
        [Member { target: "sim:a,seed=1", run: &a }, Member { target: "/mnt/b/", run: &b }];
    let found = findings(&stutter::STUDY, &members);
    let said: Vec<(&str, Vec<(&str, f64)>)> = found
        .pictures
        .iter()
        .map(|it| {
            let line = |line: &'_ Line| line.points[1].1;
            let lines = it.lines.iter().map(|it| (it.label.as_str(), line(it))).collect();
            (it.title.as_str(), lines)
        })
        .collect();
    let expected = [
        ("By depth: mean", vec![("a", 2.0), ("b", 4.0)]),
        ("By depth: maximum", vec![("a", 20.0), ("b", 40.0)]),
        ("By depth", vec![("b, own", 10.0)]),
    ];
    assert_eq!(said, expected);
}

/// What one target says of a table, and of bars that draw its second column.
fn drawn(value: f64, of_table: &str) -> Run {
    let head = |name: &str| Head { name: name.into(), unit: Some(Unit::Iops) };
    let row = |name: &str, by: f64| {
        let entries = [value * by, value].map(Entry::Number);
        std::iter::once(Entry::Text(name.into())).chain(entries).collect()
    };
    let table = Table {
        title: "Delay".into(),
        note: String::new(),
        heads: ["", "read", "write"].map(head).to_vec(),
        rows: vec![row("none", 1.0), row("1 ms", 0.5)],
    };
    let group = |label: &str| BarGroup { label: label.into(), values: vec![Some((value, 1.0))] };
    let bars = Bars {
        title: "Delay: write".into(),
        benchmark: String::new(),
        table: of_table.into(),
        note: String::new(),
        quantity: "operations per second".into(),
        unit: Unit::Iops,
        sides: vec!["IOPS".into()],
        groups: ["none", "1 ms"].map(group).to_vec(),
    };
    let findings = Findings { tables: vec![table], bars: vec![bars], ..Findings::default() };
    Run { findings: Some(findings), ..Run::default() }
}

#[test]
fn tables_that_are_drawn_have_a_column_for_each_target_and_their_bars_a_side() {
    let (a, b) = (drawn(10.0, "Delay"), drawn(30.0, "Delay"));
    let members = [Member { target: "a", run: &a }, Member { target: "b", run: &b }];
    let found = findings(&wsat::STUDY, &members);
    let [table] = found.tables.as_slice() else { panic!("{:?}", found.tables) };
    let names: Vec<&str> = table.heads.iter().map(|head| head.name.as_str()).collect();
    assert_eq!(names, ["", "a", "b"]);
    let row = |name: &str, a, b| vec![Entry::Text(name.into()), Entry::Number(a), Entry::Number(b)];
    let rows = [
        row("read, none", 10.0, 30.0),
        row("read, 1 ms", 5.0, 15.0),
        row("write, none", 10.0, 30.0),
        row("write, 1 ms", 10.0, 30.0),
    ];
    assert_eq!(table.rows, rows);
    let [bars] = found.bars.as_slice() else { panic!("{:?}", found.bars) };
    assert_eq!(bars.sides, ["a", "b"]);
    assert_eq!(bars.groups[1].values, [Some((10.0, 1.0)), Some((30.0, 1.0))]);
    // A title that begins alike is no mark.
    let (a, b) = (drawn(10.0, ""), drawn(30.0, ""));
    let members = [Member { target: "a", run: &a }, Member { target: "b", run: &b }];
    assert_eq!(findings(&wsat::STUDY, &members).tables[0].heads.len(), 4);
}

#[test]
fn drives_of_one_profile_are_named_by_what_they_differ_in() {
    let names = |targets: &[&str]| super::short(targets);
    let given = ["sim:a,size=1,bits=1", "sim:a,size=1,bits=2"];
    assert_eq!(names(&given), ["a,bits=1", "a,bits=2"]);
    assert_eq!(names(&["sim:a,size=1", "sim:b,size=1"]), ["a", "b"]);
    // Where one is given nothing of its own, it has the plain name.
    assert_eq!(names(&["sim:a,size=1", "sim:a,size=1,bits=2"]), ["a", "a,bits=2"]);
    let both = ["sim:a,size=1", "/dev/a"];
    assert_eq!(names(&both), both, "of a drive and a device nothing is shared");
}

#[test]
fn what_all_notes_end_with_is_said_once() {
    let of = |note: &str| {
        let text = |word: &str| Entry::Text(word.into());
        let table = Table {
            title: "Published".into(),
            note: note.into(),
            heads: ["figure", "here"].map(|name| Head { name: name.into(), unit: None }).to_vec(),
            rows: vec![vec![text("rate"), text("1")]],
        };
        let findings = Findings { tables: vec![table], ..Findings::default() };
        Run { findings: Some(findings), ..Run::default() }
    };
    let note = |notes: [&str; 2]| {
        let [a, b] = notes.map(of);
        let member = |target, run| Member { target, run };
        let found = findings(&patterns::STUDY, &[member("a", &a), member("b", &b)]);
        found.tables.iter().find(|it| it.title == "Published").unwrap().note.clone()
    };
    let rule = "within 5 %. Source: a slide.";
    let [one, two] = [format!("1 of 2 hit: {rule}"), format!("2 of 2 hit: {rule}")];
    assert_eq!(note([&one, &two]), format!("a: 1 of 2 hit; b: 2 of 2 hit: {rule}"));
    assert_eq!(note([&one, &one]), one);
    assert_eq!(note([&one, ""]), format!("a: {one}"));
    assert_eq!(note(["x: y.", "x: z."]), "a: x: y. b: x: z.");
}
