//! Heat maps in the terminal and on the page. `UPDATE_EXPECT=1 cargo test` rewrites the snapshot.

use crate::sample::page::{sound, written};
use crate::sample::study;
use drivelab_core::comparison::{Cell, Metric};
use drivelab_core::findings::{Findings, HeatMap, HeatRow};
use drivelab_core::summary::summarise;
use drivelab_report::terminal::study_table;
use drivelab_stats::{Ratio, Verdict};
use expect_test::expect;

fn cell(name: &str, value: f64, half: f64, verdict: Verdict) -> Option<Cell> {
    let ratio = Ratio { value, low: Some(value - half), high: Some(value + half) };
    Some(Cell {
        name: name.into(),
        metric: Metric::Iops,
        verdict: Some(verdict),
        ratio: Some(ratio),
        p_adjusted: Some(0.01),
        needs_n: None,
        open: None,
        values: None,
        n: (5, 5),
        suspect: None,
    })
}

fn map(columns: &[&str]) -> HeatMap {
    use Verdict::{Changed, Equivalent, Inconclusive};
    let row = |name: &str, against: &str, all: [(f64, Verdict); 2]| {
        let cells = all.map(|(value, verdict)| cell(name, value, 0.02, verdict));
        let cells = cells.into_iter().chain(std::iter::repeat(None)).take(columns.len());
        HeatRow { name: name.into(), against: against.into(), cells: cells.collect() }
    };
    HeatMap {
        title: "What each pattern does to the rate".into(),
        note: "Ratios of rates, for requests of 512 B.".into(),
        columns: columns.iter().map(|name| (*name).to_string()).collect(),
        rows: vec![
            row("aligned on 4 KiB", "grid of 512 B", [(1.0, Equivalent), (0.31, Changed)]),
            row("bursts of 5", "one at a time", [(4.6, Changed), (0.92, Inconclusive)]),
        ],
    }
}

fn findings(columns: &[&str]) -> Findings {
    let verdict = vec!["Bursts are served together.".into()];
    Findings { verdict, heat_maps: vec![map(columns)], ..Findings::default() }
}

const COLUMNS: [&str; 3] = ["random read", "random write", "sequential write"];

#[test]
fn the_text_of_a_heat_map_needs_no_colour() {
    let in_words = |columns: &[&str]| {
        let run = study::run(findings(columns));
        let summary = summarise(&run);
        study_table(&summary, summary.findings.as_ref().unwrap(), &run.begin.facts)
    };
    let text = in_words(&COLUMNS);
    let from = text.find("What each").unwrap();
    let to = text.find("\nVerdict").unwrap();
    expect![[r#"
        What each pattern does to the rate
                            random  random  sequential
                              read   write       write
          aligned on 4 KiB  1.00 =  0.31 ▼           ·
          bursts of 5       4.60 ▲  0.92 ?           ·
          ▼ slower, ▲ faster, = the same within the band, ? the noise allows both.
          Ratios of rates, for requests of 512 B.
    "#]]
    .assert_eq(&text[from..to]);
    let many: Vec<&str> = COLUMNS.into_iter().cycle().take(9).collect();
    let text = in_words(&many);
    assert!(
        text.contains("  - aligned on 4 KiB · random read 1.00 = · random write 0.31 ▼"),
        "{text}"
    );
    assert!(text.lines().skip(3).all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_page_has_the_map_for_desk_and_phone_with_its_numbers() {
    let page = written("heat.html", &study::run(findings(&COLUMNS)));
    sound(&page);
    assert_eq!(page.matches("class=\"heat\"").count(), 2);
    for text in [
        "<h2>What each pattern does to the rate</h2>",
        "class=\"warning level\" fill-opacity=\"0.33\"",
        ">4.60 ▲</text>",
        "class=\"other unsure\"",
        "<title>random write, aligned on 4 KiB: slower -69.0 %</title>",
        "<td>aligned on 4 KiB<td>random write<td>grid of 512 B<td>0.31<td>0.29 to 0.33<td>slower",
        "▼ slower, ▲ faster",
    ] {
        assert!(page.contains(text), "{text} is not there");
    }
}
