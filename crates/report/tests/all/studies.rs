//! What terminal and page show of a study. `UPDATE_EXPECT=1 cargo test` rewrites the snapshots.

use crate::sample;
use crate::sample::page::{sound, written};
use crate::sample::study;
use drivelab_core::findings::{BarGroup, Findings, Line, LineKind, Unit};
use drivelab_core::summary::{Reason, summarise};
use drivelab_report::chart::{self, Body, Hue, Stroke};
use drivelab_report::html::page;
use drivelab_report::svg;
use drivelab_report::terminal::study_table;
use expect_test::expect;

fn in_words(findings: Findings) -> String {
    let run = study::run(findings);
    let summary = summarise(&run);
    study_table(&summary, summary.findings.as_ref().unwrap(), &run.begin.facts)
}

#[test]
fn the_text_of_a_study() {
    expect![[r#"
        drivelab 0.1.0  ·  /home/ann/data (ext4 on /dev/nvme0n1p2, Samsung SSD 990 PRO 2TB, 2.00 TB, firmware 4B2QJXD7)
        run 20261120-150312-7f3a  ·  seed 7391  ·  state unknown

          sustained random writes  61.3k IOPS  ± 1.5 %         rounds 21 to 25
          cache                       98.4 GB
          fresh by sustained           × 14.9  ± 2.0 %         the fall when the cache
                                                               is full
          share of slow writes          1.3 %  1.20 to 1.40 %  slower than 10 ms
          p99 while sustained         38.2 ms  ± 5.5 %
          sustained bandwidth        251 MB/s  ± 1.6 %
          rounds until steady              21                  of 25; the method asks
                                                               for 5 alike

          random read   4 KiB  qd32  820k IOPS  ± 2.1 %  p99  323 µs  max  596 µs
          random write  4 KiB  qd32  643k IOPS  ± 2.6 %  p99  411 µs  max  700 µs
              ▏sustained

        IOPS by size and share of reads
             size  100 % reads  65 % reads   0 % reads
            512 B            –           –           –
            4 KiB    912k IOPS   240k IOPS  61.3k IOPS
          128 KiB   48.0k IOPS  9.10k IOPS  1.90k IOPS
          Means of the steady rounds.

        Phases
                                               of
          phase      written  bandwidth  capacity  what ended it
          fresh      98.4 GB  3.74 GB/s     4.9 %  the rate fell by half within a minute
          sustained   502 GB   251 MB/s      25 %  the budget

        before TRIM → after TRIM
        2 cells, 5 against 5 repetitions, band -5 to +5.3 %, Holm-adjusted

                                     change  95 % interval   ← worse      ┊     better →
          faster      random write  +42.0 %  [+37.7, +46.3]               ┊          ├●┤
          equivalent  random read    +0.3 %  [-2.7, +3.3]                ├●┤

        1 faster · 1 equivalent

        not applicable  trim: the target takes no discards

        Verdict  After 98 GB of random writes the drive falls from 912k IOPS to 61.3k
                 IOPS, and stays there: that is what it sustains.
        Suspect  random write: the drive was at its own warning temperature.
        Beware   A write takes up to 41 ms once the cache is full.
        Unknown  How it recovers. `drivelab study trim` would tell.

        Deviations from the method
          - The method writes twice the capacity; this run wrote 600 GB, which is 30 %
            of it.
          - The drive was emptied with a discard, not with a purge.
    "#]].assert_eq(&in_words(study::findings()));
}

#[test]
fn a_study_without_cells_has_no_table_of_cells() {
    let mut run = study::run(study::findings());
    run.steps.clear();
    let summary = summarise(&run);
    let text = study_table(&summary, &study::findings(), &run.begin.facts);
    assert!(!text.contains("no cell was measured"), "{text}");
    assert!(text.contains("sustained random writes"));
}

#[test]
fn a_table_that_is_too_wide_is_written_row_by_row() {
    let mut findings = study::findings();
    findings.tables[1].heads[4].name = "what_ended_it".repeat(5);
    let text = in_words(findings);
    assert!(
        text.contains("\n  - phase fresh · written 98.4 GB · bandwidth 3.74 GB/s · "),
        "{text}"
    );
    let table = text.split_once("Phases\n").unwrap().1.split_once("\n\n").unwrap().0;
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

#[test]
fn a_study_is_one_sound_page_with_its_parts_in_order() {
    let page = written("study.html", &study::run(study::findings()));
    sound(&page);
    let mut at = 0;
    for text in [
        "<h2 class=\"good\">Verdict</h2>",
        "<span>sustained random writes</span><strong>61.3k IOPS</strong>\
         <small>± 1.5 %, n 5</small><small>rounds 21 to 25</small>",
        "<h2>Random writes over time</h2>",
        "class=\"wide\"",
        ">cache full</text>",
        "Further pictures",
        "IOPS of each size, round by round",
        "All figures",
        "rounds until steady",
        "<h2>IOPS by size and share of reads</h2>",
        "<td class=\"r\">4 KiB<td class=\"r\">912k IOPS",
        "<h2>before TRIM → after TRIM</h2>",
        "class=\"forest\"",
        "<h2>Not applicable</h2><ul><li><b>trim</b>: the target takes no discards",
        "<h2>Deviations from the method</h2>",
        "<h2>All cells</h2>",
    ] {
        at += page[at..].find(text).unwrap_or_else(|| panic!("{text} is not there, or too early"));
    }
    let first = &page[page.find("class=\"numbers\"").unwrap()..at];
    assert!(!first.contains("<strong>21</strong>"), "six numbers, not seven");
}

#[test]
fn a_picture_keeps_kinds_and_meanings_apart() {
    let pictures = study::findings().pictures;
    let [over_time, rounds, depths, tails] = &pictures[..] else { panic!("four pictures") };
    let drawn = chart::picture(over_time).unwrap();
    let Body::Lines { x, panels, spans, seams, .. } = &drawn.body else { panic!("no lines") };
    assert_eq!((x.unit, x.from, x.to), (chart::Unit::Seconds, 0.0, 1800.0));
    let kinds: Vec<(Hue, Stroke)> =
        panels[0].lines.iter().map(|line| (line.hue, line.stroke)).collect();
    let expected = [
        (Hue::Write, Stroke::Solid),
        (Hue::Series(0), Stroke::Dashed),
        (Hue::Other, Stroke::Dotted),
    ];
    assert_eq!(kinds, expected);
    assert!(panels[0].points.is_empty(), "1,800 points are no dots");
    assert!(panels[0].lines[0].pieces[0].len() <= 640);
    assert_eq!((panels[0].y.is_log, panels[0].y.from), (false, 0.0));
    assert_eq!((seams[0], spans[0].word.as_str()), (108.0, "cache full"));
    assert!(
        drawn.alt.contains("random write 59.") && drawn.alt.contains("k IOPS"),
        "{}",
        drawn.alt
    );

    let Body::Lines { panels, .. } = chart::picture(rounds).unwrap().body else { panic!() };
    let hues: Vec<Hue> = panels[0].lines[..7].iter().map(|line| line.hue).collect();
    assert_eq!(hues, (0..7).map(Hue::Series).collect::<Vec<Hue>>());
    assert_eq!(panels[0].points.len(), 7 * 12);
    assert_eq!(panels[0].lines.len(), 8, "a corridor is one line");
    assert_eq!(panels[0].lines[7].pieces.len(), 2);

    let Body::Lines { x, panels, .. } = chart::picture(depths).unwrap().body else { panic!() };
    assert!(x.is_log);
    let hues: Vec<Hue> = panels[0].lines.iter().map(|line| line.hue).collect();
    assert_eq!(hues, [Hue::Read, Hue::Write]);

    let Body::Lines { x, panels, .. } = chart::picture(tails).unwrap().body else { panic!() };
    assert!(x.is_log && panels[0].y.is_log, "sizes that double, times over decades");
}

#[test]
fn two_fits_of_one_curve_are_told_apart() {
    let line = |label: &str, kind| Line {
        label: label.to_owned(),
        kind,
        points: vec![(1.0, 2.0), (2.0, 3.0)],
    };
    let mut shown = study::findings().pictures[0].clone();
    shown.lines = vec![
        line("rounds", LineKind::Measured),
        line("mean of the window", LineKind::Fit),
        line("best line", LineKind::Fit),
    ];
    let chart = chart::picture(&shown).unwrap();
    let Body::Lines { panels, .. } = chart.body else { panic!("lines") };
    let looks: Vec<_> = panels[0].lines.iter().map(|line| (line.hue, line.stroke)).collect();
    assert!(looks[0] != looks[1] && looks[1].0 != looks[2].0 && looks[1].1 != looks[2].1);
}

#[test]
fn why_a_cell_is_suspect_is_said_once() {
    let why = "0 B of 102 MiB read through loop0 reached vda";
    let mut findings = study::findings();
    findings.suspect = vec![format!("random read, raw: {why}.")];
    let cell = &mut findings.comparison.as_mut().unwrap().cells[0];
    (cell.verdict, cell.ratio, cell.suspect) = (None, None, Some(why.to_owned()));
    assert_eq!(in_words(findings.clone()).replace('\n', " ").matches("reached vda").count(), 1);
    let mut run = sample::check_run();
    run.findings = Some(findings);
    let mut summary = summarise(&run);
    summary.cells[2].valid = Some(false);
    summary.cells[2].reasons = vec![Reason { code: "not_on_disk".into(), text: why.into() }];
    assert_eq!(page(&run, &summary).matches("reached vda").count(), 1);
}

#[test]
fn a_curve_breaks_where_a_number_is_none() {
    let mut picture = study::findings().pictures.swap_remove(2);
    picture.lines[0].points[3].1 = f64::NAN;
    let Body::Lines { panels, .. } = chart::picture(&picture).unwrap().body else { panic!() };
    let lengths: Vec<usize> = panels[0].lines[0].pieces.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 4]);
    picture.lines.iter_mut().for_each(|line| line.points.clear());
    assert_eq!(chart::picture(&picture), None);
    picture.lines.clear();
    assert_eq!(chart::picture(&picture), None);
}

#[test]
fn bars_stand_beside_each_other_with_their_deviation() {
    let bars = study::bars("after", Unit::Iops, &[Some((200.0, 10.0)), Some((100.0, 0.0)), None]);
    let chart = chart::groups(&bars).unwrap();
    assert_eq!(chart.table.heads, ["", "before", "after"]);
    assert_eq!(chart.table.rows[0], ["1 after", "200 IOPS", "none"]);
    assert_eq!(chart.table.rows[1], ["2 after", "200 IOPS", "100 IOPS"]);
    let Body::Groups { axis, groups, .. } = &chart.body else { panic!() };
    assert_eq!((axis.from, axis.to), (0.0, 210.0));
    let intervals: Vec<_> = groups[1].1.iter().map(|bar| bar.as_ref().unwrap().interval).collect();
    assert_eq!(intervals, [Some((190.0, 210.0)), None]);
    assert_eq!(groups[2].1.len(), 2, "more values than sides are not drawn");
    let drawn = svg(&chart, 360);
    assert_eq!(drawn.matches("class=\"error\"").count(), 3, "{drawn}");
    let widths = |class: &str| {
        let rect = drawn
            .split("<rect")
            .find(|rect| rect.contains(&format!("{class} bar\"")) && rect.contains("height=\"11\""))
            .unwrap();
        let width = rect.split("width=\"").nth(1).unwrap().split('"').next().unwrap();
        width.parse::<f64>().unwrap()
    };
    assert!((widths("s0") / widths("s1") - 2.0).abs() < 0.01, "{drawn}");
    assert_eq!(chart::groups(&study::bars("none", Unit::Iops, &[None])), None);
}

#[test]
fn the_tests_of_a_suite_are_panels_of_one_picture() {
    let of = |title: &str, suite: &str, mean: f64| {
        let mut bars = study::bars(title, Unit::Iops, &[Some((mean, 10.0)), None]);
        bars.benchmark = suite.to_owned();
        bars.sides[1] = "after".to_owned();
        bars
    };
    let all = [
        of("write", "IOzone", 200.0),
        of("stat", "Metarates", 80.0),
        of("read", "IOzone", 400.0),
        of("alone", "", 100.0),
        of("nothing", "IOzone", 0.0),
    ];
    let charts = chart::suites(&all);
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(titles, ["IOzone", "stat", "alone"]);
    let Body::Columns { tests, .. } = &charts[0].body else { panic!() };
    let tops: Vec<(&str, f64)> =
        tests.iter().map(|test| (test.title.as_str(), test.axis.to)).collect();
    assert_eq!(tops[..2], [("write", 210.0), ("read", 410.0)], "each has an axis of its own");
    assert_eq!(charts[0].table.heads, ["test", "", "before", "after"]);
    assert_eq!(charts[0].table.rows[0], ["write", "1 write", "200 IOPS", "none"]);
    let drawn = svg(&charts[0], 720);
    let height = |title: &str| {
        let (_, rest) = drawn.split_once(&format!("<title>1 {title}, before")).unwrap();
        let (_, rest) = rest.split_once("height=\"").unwrap();
        rest.split('"').next().unwrap().parse::<f64>().unwrap()
    };
    let share = height("write") / height("read");
    assert!((share - (200.0 / 210.0) / (400.0 / 410.0)).abs() < 0.01, "{share}");
    assert!(svg(&charts[0], 360).contains(">read, IOPS</text>"));
}

#[test]
fn names_below_upright_bars_leave_each_other_room() {
    let mut tests = [1, 2, 3, 4].map(|at| {
        let mut bars = study::bars("write", Unit::BytesPerS, &[Some((2e8, 1e7))]);
        bars.title = format!("test {at}");
        bars.benchmark = "IOzone".into();
        bars.groups = ["1 MiB", "4 MiB", "8 MiB", "16 MiB"]
            .map(|label| BarGroup { label: label.into(), values: vec![Some((2e8, 1e7)); 2] })
            .to_vec();
        bars
    });
    tests[1].groups = ["1 worker", "2 workers", "4 workers"]
        .map(|label| BarGroup { label: label.into(), values: vec![Some((2e8, 1e7)); 2] })
        .to_vec();
    let chart = &chart::suites(&tests)[0];
    for width in [360, 720] {
        let drawn = svg(chart, width);
        // Middle and half the width of each name below a bar, row by row.
        let mut names: Vec<(f64, f64, f64)> = Vec::new();
        for text in drawn.split("<text x=\"").skip(1).filter(|text| text.contains("\"mid\">")) {
            let number = |text: &str| text.split('"').next().unwrap().parse::<f64>().unwrap();
            let (_, label) = text.split_once("\"mid\">").unwrap();
            let letters = label.split('<').next().unwrap().chars().count();
            let y = number(text.split_once(" y=\"").unwrap().1);
            names.push((y, number(text), letters as f64 * 3.1));
        }
        assert_eq!(names.len(), 15, "{width}");
        for two in names.windows(2).filter(|two| two[0].0 == two[1].0) {
            assert!(two[0].1 + two[0].2 < two[1].1 - two[1].2, "{width}: {two:?}");
        }
    }
}

#[test]
fn odd_findings_neither_panic_nor_print_what_is_no_number() {
    for picture in study::odd_findings().pictures {
        for width in [360, 720] {
            let Some(chart) = chart::picture(&picture) else { continue };
            let drawn = svg(&chart, width);
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{picture:?}\n{drawn}");
        }
    }
    for bars in study::odd_findings().bars {
        let Some(chart) = chart::groups(&bars) else { continue };
        let drawn = svg(&chart, 360);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{bars:?}\n{drawn}");
    }
    let text = in_words(study::odd_findings());
    assert!(!text.contains(['\u{1b}', '\u{7}']) && !text.contains("NaN"));
    assert!(!text.contains("inf ") && !text.contains("+inf"), "{text}");
    assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
    let page = written("odd.html", &study::run(study::odd_findings()));
    assert!(!page.contains("alert(1)</script>") && !page.contains('\u{1b}'));
    for banned in ["NaN", "inf ", "-inf"] {
        assert!(!page.contains(banned), "{banned}");
    }
}

#[test]
fn nothing_is_lost_between_findings_and_their_json() {
    let json = serde_json::to_value(study::findings()).unwrap();
    assert_eq!(json["figures"][5]["unit"], "bytes_per_s");
    assert_eq!(json["pictures"][0]["y"]["unit"], "iops");
    assert_eq!(json["pictures"][0]["lines"][1]["kind"], "fit");
    assert_eq!(json["pictures"][0]["lines"][2]["points"][0], serde_json::json!([0.0, 1e6]));
    assert_eq!(json["tables"][0]["heads"][0]["unit"], "bytes");
    assert!(json["tables"][0]["rows"][0][1].is_null(), "nothing was measured");
    assert_eq!(json["tables"][1]["rows"][0][0], "fresh");
    assert_eq!(serde_json::from_value::<Findings>(json).unwrap(), study::findings());
    for (unit, word) in [
        (Unit::Iops, "iops"),
        (Unit::Bytes, "bytes"),
        (Unit::Ns, "ns"),
        (Unit::Share, "share"),
        (Unit::Factor, "factor"),
        (Unit::Count, "count"),
    ] {
        assert_eq!(serde_json::to_value(unit).unwrap(), word);
    }
    assert_eq!(serde_json::to_value(LineKind::Measured).unwrap(), "measured");
}
