//! Snapshots of small pictures, and what holds of all of them.

use crate::sample;
use drivelab_core::summary::summarise;
use drivelab_report::chart::{
    Axis, Bar, Body, Chart, Hue, Line, Panel, Span, Stop, Stroke, Table, Unit, bars,
    latency_distribution, over_time,
};
use drivelab_report::svg;
use expect_test::expect;

fn axis(unit: Unit, is_log: bool, from: f64, to: f64) -> Axis {
    Axis { quantity: "quantity".to_owned(), unit, is_log, from, to }
}

fn chart(body: Body) -> Chart {
    let (note, alt, table) = (String::new(), String::new(), Table::default());
    Chart { title: "A <title>".to_owned(), note, alt, body, table }
}

/// One element a line, so that a changed snapshot can be read.
fn lines_of(svg: &str) -> String {
    svg.replace("><", ">\n<").replace(" preserve", "\n preserve").replace(" d=", "\n d=") + "\n"
}

#[test]
fn a_small_line_chart() {
    let line = Line {
        label: "reads".to_owned(),
        hue: Hue::Read,
        stroke: Stroke::Solid,
        pieces: vec![vec![(0.0, 0.0), (1.0, 50.0), (2.0, 25.0)], vec![(4.0, 100.0)]],
        is_measured: false,
    };
    let (word, tip) = ("gap".to_owned(), String::new());
    let gap = Span { from: 2.0, to: 4.0, word, tip, hue: Hue::Warning };
    let y = axis(Unit::Operations, false, 0.0, 100.0);
    let body = Body::Lines {
        x: axis(Unit::Seconds, false, 0.0, 4.0),
        panels: vec![Panel { y, lines: vec![line], points: Vec::new(), fields: Vec::new() }],
        spans: vec![gap],
        seams: vec![2.0],
        stops: vec![Stop { from: 0.0, to: 2.0, tip: "0 to 2 s: 50 /s".to_owned() }],
    };
    expect![[r#"
        <svg role="img" aria-label="A &lt;title&gt;" viewBox="0 0 360 249" class="lines" data-x="0 4 lin s">
        <text x="53" y="216.5" class="end">0</text>
        <text x="53" y="128.5" class="end">50</text>
        <text x="53" y="40.5" class="end">100</text>
        <path
         d="M58 213H348M58 125H348M58 37H348" class="grid"/>
        <path
         d="M58 213H348" class="axis"/>
        <text x="2" y="12" class="name">quantity, IOPS</text>
        <svg class="plot" x="58" y="37" width="290" height="176" viewBox="0 0 290 176"
         preserveAspectRatio="none" data-y="0 100 lin o">
        <rect x="145" y="0" width="145" height="176" class="warning span"/>
        <path
         d="M145 0V176" class="seam"/>
        <path
         d="M0 176l72.5-88l72.5 44M290 0h0" class="read line" data-label="reads"/>
        </svg>
        <g>
        <title>gap</title>
        <text x="205" y="34" class="warning word">gap</text>
        </g>
        <g class="ticks">
        <path
         d="M58 213v4" class="axis"/>
        <text x="58" y="229" class="mid">0 s</text>
        <path
         d="M130.5 213v4" class="axis"/>
        <text x="130.5" y="229" class="mid">1 s</text>
        <path
         d="M203 213v4" class="axis"/>
        <text x="203" y="229" class="mid">2 s</text>
        <path
         d="M275.5 213v4" class="axis"/>
        <text x="275.5" y="229" class="mid">3 s</text>
        <path
         d="M348 213v4" class="axis"/>
        <text x="354" y="229" class="end">4 s</text>
        </g>
        <text x="348" y="245" class="name end">quantity</text>
        <g class="stops">
        <rect x="58" y="37" width="145" height="176">
        <title>0 to 2 s: 50 /s</title>
        </rect>
        </g>
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
        is_suspect: interval.is_none(),
        hue: Hue::Read,
    };
    let body = Body::Bars {
        axis: axis(Unit::Operations, false, 0.0, 200.0),
        bars: vec![bar(100.0, Some((90.0, 110.0))), bar(200.0, None)],
    };
    expect![[r#"
        <svg role="img" aria-label="A &lt;title&gt;" viewBox="0 0 360 94">
        <path
         d="M2 0V74M91 0V74M180 0V74M269 0V74M358 0V74" class="grid"/>
        <g>
        <title>random read: 100 k/s</title>
        <rect x="2" y="17" width="178" height="12" class="read bar"/>
        <path
         d="M162.2 23H197.8M162.2 23m0 -4v8M197.8 23m0 -4v8" class="error"/>
        <text x="2" y="13" class="on">random read</text>
        <text x="358" y="13" class="on end number">100 k/s</text>
        </g>
        <g>
        <title>random read: 200 k/s</title>
        <rect x="2" y="51" width="356" height="12" class="read doubt"/>
        <text x="2" y="47" class="on">random read</text>
        <text x="358" y="47" class="on end number">200 k/s</text>
        </g>
        <text x="2" y="88">0</text>
        <text x="91" y="88" class="mid">50 IOPS</text>
        <text x="180" y="88" class="mid">100 IOPS</text>
        <text x="269" y="88" class="mid">150 IOPS</text>
        <text x="358" y="88" class="end">200 IOPS</text>
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
            stroke: Stroke::Dashed,
            pieces: vec![vec![(value, value), (1.0, value)]],
            is_measured: false,
        };
        for is_log in [false, true] {
            let body = Body::Lines {
                x: axis(Unit::Nanoseconds, is_log, 1.0, 10.0),
                panels: vec![Panel {
                    y: axis(Unit::Share, is_log, 0.001, 1.0),
                    lines: vec![line.clone()],
                    points: Vec::new(),
                    fields: Vec::new(),
                }],
                spans: Vec::new(),
                seams: Vec::new(),
                stops: Vec::new(),
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
        let Body::Lines { panels, .. } = chart.body else { panic!("no lines") };
        let Panel { y, lines, points, .. } = &panels[0];
        for line in lines {
            let curve = &line.pieces[0];
            assert!(curve.is_sorted_by(|a, b| a.0 <= b.0 && a.1 >= b.1), "{}", cell.name);
            assert_eq!(curve[0].1, 1.0);
            assert!(curve.len() <= 105 && curve.iter().all(|(_, share)| *share >= y.from));
        }
        for point in points {
            let is_low = point.at.1 >= y.from && point.at.1 <= 0.5 + 1e-9;
            assert!(is_low, "{}: {}", cell.name, point.label);
        }
        let slowest = points.iter().filter(|point| point.label.contains(" max: "));
        assert_eq!(slowest.count(), lines.len());
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
    let Body::Lines { panels, .. } = chart.body else { panic!("no lines") };
    let lines = &panels[0].lines;
    // 1,000 I/Os support p99.7, not p99.8: 0.3 % is the last share on the curve.
    let last = lines[0].pieces[0].last().unwrap();
    assert!((0.0029..0.0041).contains(&last.1), "{last:?}");
    assert_eq!(chart.table.rows[0][5], "too few I/Os");
}

#[test]
fn time_runs_on_over_repetitions_and_leaves_the_pause_out() {
    let run = sample::check_run();
    let summary = summarise(&run);
    let chart = over_time(&run, &summary, &summary.cells[8], 0, 300).unwrap();
    let Body::Lines { x, panels, spans, seams, stops } = chart.body else { panic!("no lines") };
    assert!((x.to - 10.0).abs() < 0.01, "{}", x.to);
    assert_eq!(panels.len(), 2, "throughput and latency");
    assert_eq!(panels[0].lines[0].pieces.len(), 5);
    let labels: Vec<&str> = panels[1].lines.iter().map(|line| line.label.as_str()).collect();
    assert_eq!(labels, ["max", "p99", "p50"]);
    let at = |index: usize| panels[1].lines[index].pieces[0][5].1;
    assert!(at(0) >= at(1) && at(1) >= at(2), "max above p99 above p50");
    assert_eq!(seams.len(), 4);
    assert!(stops.windows(2).all(|pair| pair[0].to <= pair[1].from + 1e-9));
    let gaps: Vec<&Span> = spans.iter().filter(|span| span.hue == Hue::Warning).collect();
    assert_eq!((gaps.len(), gaps[0].word.as_str()), (5, "gap"));
    assert!((gaps[0].to - gaps[0].from - 0.142).abs() < 1e-6);
}

#[test]
fn trouble_and_heat_are_drawn_on_the_axis_of_time_with_a_word() {
    let mut run = sample::check_run();
    let mut summary = summarise(&run);
    let of_cell = |name: &str| name == "random read";
    let suspect = summary.steps.iter_mut().filter(|step| of_cell(&step.name)).nth(1).unwrap();
    suspect.valid = Some(false);
    let text = "our control group allows 100 reads a second".to_owned();
    suspect.reasons.push(drivelab_core::summary::Reason { code: "io_quota".to_owned(), text });
    let steps = run.steps.iter_mut().filter(|step| of_cell(&step.begin.name));
    for (index, step) in steps.enumerate() {
        let origin = step.tallies[0].from;
        let end = step.end.as_mut().unwrap();
        let observed = end.observed.get_or_insert_default();
        observed.temperatures = (0..2)
            .map(|second| drivelab_core::observed::Temperature {
                device: "nvme0n1".to_owned(),
                at: origin + second * 1_000_000_000,
                celsius: 40.0 + index as f64,
                celsius_max: Some(50.0),
            })
            .collect();
        if index == 4 {
            end.incomplete = Some("the drive was taken away".to_owned());
        }
    }
    let chart = over_time(&run, &summary, &summary.cells[2], 0, 300).unwrap();
    let Body::Lines { panels, spans, .. } = chart.body else { panic!("no lines") };
    let words: Vec<&str> =
        spans.iter().map(|span| span.word.as_str()).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["suspect: throttled", "ramp", "interrupted"]);
    let suspect = &spans[0];
    assert!((suspect.from - 2.0).abs() < 0.01 && (suspect.to - 4.0).abs() < 0.01);
    assert!(suspect.tip.contains("100 reads a second"));
    assert!(spans.last().unwrap().tip.contains("the drive was taken away"));
    let heat = &panels[2];
    assert_eq!((heat.y.from, heat.y.to), (35.0, 55.0));
    assert_eq!(heat.lines[0].label, "nvme0n1 °C");
    assert_eq!(heat.lines[0].pieces.len(), 5);
    assert!((heat.lines[0].pieces[1][0].0 - 2.0).abs() < 0.01, "on the same axis");
    assert_eq!(heat.lines[1].label, "warning limit");
}

#[test]
fn bars_are_split_by_unit_and_every_row_is_in_the_table() {
    let summary = summarise(&sample::check_run());
    let charts = bars(&summary);
    let rows: Vec<usize> = charts.iter().map(|chart| chart.table.rows.len()).collect();
    assert_eq!(rows, [2, 9]);
    assert!(bars(&summarise(&drivelab_core::run::Run::default())).is_empty());
}
