//! Snapshots of small pictures, and what holds of all of them.

mod sample;

use drivelab_core::summary::summarise;
use drivelab_report::chart::{
    Axis, Bar, Body, Chart, Hue, Line, Span, Table, Unit, bars, latency_distribution, over_time,
};
use drivelab_report::svg;
use expect_test::expect;

fn axis(unit: Unit, is_log: bool, from: f64, to: f64) -> Axis {
    Axis { quantity: "quantity".to_owned(), unit, is_log, from, to }
}

fn chart(body: Body) -> Chart {
    Chart { title: "A <title>".to_owned(), note: String::new(), body, table: Table::default() }
}

/// One element a line, so that a changed snapshot can be read.
fn lines_of(svg: &str) -> String {
    svg.replace("><", ">\n<") + "\n"
}

#[test]
fn a_small_line_chart() {
    let line = Line {
        label: "reads".to_owned(),
        hue: Hue::Read,
        is_dashed: false,
        pieces: vec![vec![(0.0, 0.0), (1.0, 50.0), (2.0, 25.0)], vec![(4.0, 100.0)]],
    };
    let gap = Span { from: 2.0, to: 4.0, word: "gap".to_owned(), hue: Hue::Warning };
    let body = Body::Lines {
        x: axis(Unit::Seconds, false, 0.0, 4.0),
        y: axis(Unit::Operations, false, 0.0, 100.0),
        lines: vec![line],
        points: Vec::new(),
        spans: vec![gap],
    };
    expect![[r#"
        <svg role="img" viewBox="0 0 360 230">
        <title>A &lt;title&gt;</title>
        <rect x="203" y="26" width="145" height="168" class="warning span"/>
        <text x="205" y="23" class="warning word">gap</text>
        <path d="M58 194H348M58 160.4H348M58 126.8H348M58 93.2H348M58 59.6H348M58 26H348" class="grid"/>
        <path d="M58 194H348M58 194v4M130.5 194v4M203 194v4M275.5 194v4M348 194v4" class="axis"/>
        <text x="53" y="197.5" class="end">0</text>
        <text x="53" y="163.9" class="end">20 /s</text>
        <text x="53" y="130.3" class="end">40 /s</text>
        <text x="53" y="96.7" class="end">60 /s</text>
        <text x="53" y="63.1" class="end">80 /s</text>
        <text x="53" y="29.5" class="end">100 /s</text>
        <text x="58" y="210" class="mid">0 s</text>
        <text x="130.5" y="210" class="mid">1 s</text>
        <text x="203" y="210" class="mid">2 s</text>
        <text x="275.5" y="210" class="mid">3 s</text>
        <text x="354" y="210" class="end">4 s</text>
        <text x="2" y="12" class="name">quantity</text>
        <text x="348" y="226" class="name end">quantity</text>
        <path d="M58 194l72.5-84l72.5 42M348 26h0.1" class="read line"/>
        </svg>
    "#]]
    .assert_eq(&lines_of(&svg(&chart(body), 360)));
}

#[test]
fn bars_begin_at_zero_and_carry_their_interval() {
    let bar = |value: f64, interval| Bar {
        label: "random read".to_owned(),
        value,
        interval,
        text: format!("{value} k/s"),
        hue: Hue::Read,
    };
    let body = Body::Bars {
        axis: axis(Unit::Operations, false, 0.0, 200.0),
        bars: vec![bar(100.0, Some((90.0, 110.0))), bar(200.0, None)],
    };
    expect![[r#"
        <svg role="img" viewBox="0 0 360 94">
        <title>A &lt;title&gt;</title>
        <path d="M2 0V74M91 0V74M180 0V74M269 0V74M358 0V74" class="grid"/>
        <rect x="2" y="17" width="178" height="12" class="read bar">
        <title>random read: 100 k/s</title>
        </rect>
        <path d="M162.2 23H197.8M162.2 23m0 -4v8M197.8 23m0 -4v8" class="error"/>
        <text x="2" y="13" class="on">random read</text>
        <text x="358" y="13" class="on end number">100 k/s</text>
        <rect x="2" y="51" width="356" height="12" class="read bar">
        <title>random read: 200 k/s</title>
        </rect>
        <text x="2" y="47" class="on">random read</text>
        <text x="358" y="47" class="on end number">200 k/s</text>
        <text x="2" y="88" class="">0</text>
        <text x="91" y="88" class="mid">50 /s</text>
        <text x="180" y="88" class="mid">100 /s</text>
        <text x="269" y="88" class="mid">150 /s</text>
        <text x="358" y="88" class="end">200 /s</text>
        </svg>
    "#]]
    .assert_eq(&lines_of(&svg(&chart(body), 360)));
}

#[test]
fn values_that_are_none_stay_inside_the_frame() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 0.0] {
        let line = Line {
            label: "x".to_owned(),
            hue: Hue::Other,
            is_dashed: true,
            pieces: vec![vec![(value, value), (1.0, value)]],
        };
        for is_log in [false, true] {
            let body = Body::Lines {
                x: axis(Unit::Nanoseconds, is_log, 1.0, 10.0),
                y: axis(Unit::Share, is_log, 0.001, 1.0),
                lines: vec![line.clone()],
                points: Vec::new(),
                spans: Vec::new(),
            };
            let svg = svg(&chart(body), 360);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{value}: {svg}");
        }
    }
}

#[test]
fn a_distribution_falls_from_one_and_ends_at_the_slowest() {
    let run = sample::check_run();
    let summary = summarise(&run);
    for cell in &summary.cells {
        let chart = latency_distribution(&run, cell, 0, 100).unwrap();
        let Body::Lines { lines, points, y, .. } = chart.body else { panic!("no lines") };
        for line in &lines {
            let curve = &line.pieces[0];
            assert!(curve.is_sorted_by(|a, b| a.0 <= b.0 && a.1 >= b.1), "{}", cell.name);
            assert_eq!(curve[0].1, 1.0);
            assert!(curve.len() <= 105 && curve.iter().all(|(_, share)| *share >= y.from));
        }
        assert_eq!(points.len(), lines.len());
        assert_eq!(chart.table.rows.len(), lines.len());
    }
}

#[test]
fn a_small_sample_ends_at_the_last_percentile_that_it_supports() {
    let mut run = sample::run_of(&sample::check_loads()[2..3], 1, 1);
    let service = &mut run.steps[0].tallies[0].kinds[0].service;
    service.clear();
    (1..=1_000).for_each(|latency_ns| service.record(latency_ns * 1_000));
    let summary = summarise(&run);
    let chart = latency_distribution(&run, &summary.cells[0], 0, 10_000).unwrap();
    let Body::Lines { lines, .. } = chart.body else { panic!("no lines") };
    // 1,000 I/Os support p99.7, not p99.8: 0.3 % is the last share on the curve.
    let last = lines[0].pieces[0].last().unwrap();
    assert!((0.0029..0.0041).contains(&last.1), "{last:?}");
    assert_eq!(chart.table.rows[0][5], "too few I/Os");
}

#[test]
fn time_runs_on_over_repetitions_and_leaves_the_pause_out() {
    let run = sample::check_run();
    let summary = summarise(&run);
    let chart = over_time(&run, &summary.cells[8], 0, 300).unwrap();
    let Body::Lines { x, lines, spans, .. } = chart.body else { panic!("no lines") };
    assert!((x.to - 10.0).abs() < 0.01, "{}", x.to);
    assert_eq!(lines[0].pieces.len(), 5);
    let gaps: Vec<&Span> = spans.iter().filter(|span| span.hue == Hue::Warning).collect();
    assert_eq!((gaps.len(), gaps[0].word.as_str()), (5, "gap"));
    assert!((gaps[0].to - gaps[0].from - 0.142).abs() < 1e-6);
}

#[test]
fn bars_are_split_by_unit_and_every_row_is_in_the_table() {
    let summary = summarise(&sample::check_run());
    let charts = bars(&summary);
    let rows: Vec<usize> = charts.iter().map(|chart| chart.table.rows.len()).collect();
    assert_eq!(rows, [2, 9]);
    assert!(bars(&summarise(&drivelab_core::run::Run::default())).is_empty());
}
