//! Several targets on one page and in one text.

use drivelab_core::findings::{
    Axis, Entry, Findings, Head, HeatMap, HeatRow, Line, LineKind, Picture, Table, Unit,
};
use drivelab_core::gathering::{Gathered, Gathering, Sweep};
use drivelab_report::html::gathering;
use drivelab_report::terminal::gathering_table;
use expect_test::expect;

const TARGETS: [&str; 4] = ["ocz-core", "samsung-slc", "x25-m", "momentus-7200"];

fn gathered(findings: Findings) -> Gathering {
    let run = |target: &&str| Gathered {
        target: format!("sim:{target}"),
        run: "20261120-150312-7f3a".into(),
        complete: true,
        no_answer: false,
        verdict: Vec::new(),
    };
    Gathering {
        schema: 1,
        study: "stutter".into(),
        question: "Will it freeze?".into(),
        sweep: None,
        runs: TARGETS.iter().map(run).collect(),
        findings,
    }
}

/// A table with a row for each load and target, and a number of its own in every place.
fn writes(columns: &[(&str, Unit)]) -> Table {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let mut rows = Vec::new();
    for (place, load) in ["random write 4 KiB", "random write 4 KiB, depth 64"].iter().enumerate() {
        for (drive, target) in TARGETS.iter().enumerate() {
            let mut row = vec![Entry::Text((*target).into()), Entry::Text((*load).into())];
            let number = |at: usize| Entry::Number((100 * (at + 1) + 10 * drive + place) as f64);
            row.extend((0..columns.len()).map(number));
            rows.push(row);
        }
    }
    let two = [head("target", None), head("load", None)];
    let numbers = columns.iter().map(|(name, unit)| head(name, Some(*unit)));
    Table {
        title: "Writes by depth".into(),
        note: "Said once.".into(),
        heads: two.into_iter().chain(numbers).collect(),
        rows,
    }
}

fn text(table: Table) -> String {
    let text = gathering_table(&gathered(Findings { tables: vec![table], ..Findings::default() }));
    assert!(!text.contains("\n  - "), "no table is a list: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    text.split_once("\n\n").unwrap().1.to_owned()
}

#[test]
fn a_wide_table_of_several_targets_has_a_column_for_each_target() {
    let numbers = ["rate", "mean", "longest", "listed", "felt", "left over"];
    let columns = numbers.map(|name| (name, Unit::Count));
    let text = text(writes(&columns));
    let part = text.split_once("  mean ").unwrap().1.split_once("\n\n").unwrap().0;
    let part = format!("mean {}", part.replace("\n  ", "\n"));
    expect![[r#"
          mean                          ocz-core  samsung-slc  x25-m  momentus-7200
          random write 4 KiB                 200          210    220            230
          random write 4 KiB, depth 64       201          211    221            231"#]]
    .assert_eq(&part);
    for name in numbers {
        assert!(text.contains(&format!("\n  {name} ")), "{name}: {text}");
    }
    assert_eq!(text.matches("Said once.").count(), 1);
}

#[test]
fn a_table_of_several_targets_that_fits_stays_as_it_is() {
    let text = text(writes(&[("mean", Unit::Count)]));
    assert!(text.contains("  target         load                          mean\n"), "{text}");
}

#[test]
fn figures_with_long_names_become_rows() {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let names = ["longest wait of a reader", "freezes a minute", "random write 4 KiB, longest"];
    let number = |name: &&str| head(name, Some(Unit::Count));
    let row = |(drive, target): (usize, &&str)| {
        let entries = (1..4).map(|at| Entry::Number((10 * at + drive) as f64));
        std::iter::once(Entry::Text((*target).into())).chain(entries).collect()
    };
    let table = Table {
        title: "Side by side".into(),
        note: String::new(),
        heads: std::iter::once(head("target", None)).chain(names.iter().map(number)).collect(),
        rows: TARGETS.iter().enumerate().map(row).collect(),
    };
    expect![[r#"
        Side by side
          target                       ocz-core  samsung-slc  x25-m  momentus-7200
          longest wait of a reader           10           11     12             13
          freezes a minute                   20           21     22             23
          random write 4 KiB, longest        30           31     32             33
    "#]]
    .assert_eq(&text(table));
}

#[test]
fn a_heat_map_of_many_targets_is_set_in_parts() {
    let columns: Vec<String> = (0..12).map(|at| format!("nvme-tlc-{at}")).collect();
    let row = |name: usize| HeatRow {
        name: format!("a pattern with a long name, number {name}"),
        against: "none".into(),
        cells: vec![None; 12],
    };
    let map = HeatMap {
        title: "Patterns".into(),
        note: String::new(),
        columns: columns.clone(),
        rows: (0..9).map(row).collect(),
    };
    let findings = Findings { heat_maps: vec![map], ..Findings::default() };
    let text = gathering_table(&gathered(findings));
    assert!(!text.contains("\n  - "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(columns.iter().all(|name| text.matches(&format!("{name} ")).count() <= 1));
    assert_eq!(text.matches("number 3").count(), 4, "{text}");
}

#[test]
fn curves_of_several_targets_are_lines_of_one_chart_with_decades() {
    let line = |(drive, target): (usize, &&str)| Line {
        label: (*target).into(),
        kind: LineKind::Measured,
        points: [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
            .map(|depth| (depth, depth * 1e5 * 10f64.powi(drive as i32)))
            .to_vec(),
    };
    let picture = Picture {
        title: "Latency by queue depth: mean".into(),
        note: String::new(),
        x: Axis { quantity: "queue depth".into(), unit: Unit::Count },
        y: Axis { quantity: "latency".into(), unit: Unit::Ns },
        lines: TARGETS.iter().enumerate().map(line).collect(),
        marks: Vec::new(),
    };
    let findings = Findings { pictures: vec![picture], ..Findings::default() };
    let page = gathering(&gathered(findings));
    assert_eq!(page.matches("<svg role=\"img\"").count(), 2, "for a desk and for a phone");
    for target in TARGETS {
        assert!(page.contains(&format!("data-label=\"{target}\"")), "{target}");
    }
    assert!(page.contains("data-x=\"1 64 log k\"") && page.contains(" log n\""), "{page}");
}

/// A disk next to drives that are a hundred times as fast would lie on the axis of their rates.
#[test]
fn rates_span_decades_only_where_a_whole_curve_would_not_be_seen() {
    let page = |factors: [f64; 2], sinks: f64| {
        let line = |(factor, target): (f64, &&str)| Line {
            label: (*target).into(),
            kind: LineKind::Measured,
            points: vec![(0.0, 1e4 * factor), (0.1, 1e4 * factor / sinks)],
        };
        let picture = Picture {
            title: "Reads and writes together".into(),
            note: String::new(),
            x: Axis { quantity: "share of writes".into(), unit: Unit::Share },
            y: Axis { quantity: "rate".into(), unit: Unit::Iops },
            lines: factors.into_iter().zip(&TARGETS).map(line).collect(),
            marks: Vec::new(),
        };
        gathering(&gathered(Findings { pictures: vec![picture], ..Findings::default() }))
    };
    let is_log = |page: String| page.contains(" log ");
    assert!(is_log(page([1.0, 0.01], 2.0)), "one of a hundredth");
    assert!(!is_log(page([1.0, 0.1], 2.0)), "one of a tenth");
    assert!(!is_log(page([1.0, 0.9], 100.0)), "both sink: from zero");
}

#[test]
fn a_sweep_has_a_bar_for_each_value_and_no_list_of_runs() {
    let head = |name: &str, unit| Head { name: name.into(), unit };
    let row = |value: &str, rate: Option<f64>| {
        vec![Entry::Text(value.into()), rate.map_or(Entry::Nothing, Entry::Number)]
    };
    let table = Table {
        title: "sim:x with spare varied".into(),
        note: String::new(),
        heads: vec![head("spare", None), head("rate", Some(Unit::Count))],
        rows: vec![row("0.07", Some(10.0)), row("0.1", None), row("0.5", Some(40.0))],
    };
    let sweep = Sweep {
        key: "spare".into(),
        values: ["0.07", "0.1", "0.5"].map(String::from).to_vec(),
        steps: "the values as typed".into(),
        drive: "sim:x".into(),
    };
    let all = Gathering {
        sweep: Some(sweep),
        ..gathered(Findings { tables: vec![table], ..Findings::default() })
    };
    let text = gathering_table(&all);
    let bar = |text: &str, value: &str| {
        let rows = text.lines().filter(|line| line.trim_start().starts_with(value));
        rows.map(|line| line.matches('▇').count()).max().unwrap()
    };
    assert_eq!((bar(&text, "0.07"), bar(&text, "0.1 "), bar(&text, "0.5")), (10, 0, 40), "{text}");
    assert!(text.contains("rate by spare\n") && !text.contains("run 2026"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
