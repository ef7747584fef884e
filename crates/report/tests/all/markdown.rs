//! A run as Markdown. `UPDATE_EXPECT=1 cargo test` rewrites the snapshots.

use crate::sample;
use crate::sample::study;
use drivelab_core::findings::{Findings, Remark};
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_report::{markdown, units};
use expect_test::expect_file;

fn written(run: &Run) -> String {
    let text = markdown(run, &summarise(run));
    sound(&text);
    text
}

/// The entries of a row, split where GitHub splits them.
fn entries(line: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut is_escaped = false;
    for c in line.trim().strip_prefix("| ").unwrap().chars() {
        match (c, is_escaped) {
            ('|', false) => entries.push(String::new()),
            ('\\', false) => {
                is_escaped = true;
                continue;
            }
            (c, _) => entries.last_mut().unwrap().push(c),
        }
        is_escaped = false;
    }
    assert_eq!(entries.pop().unwrap(), "", "{line}");
    entries.iter().map(|entry| entry.trim().to_owned()).collect()
}

/// All tables, row by row, heads first.
fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    let lines: Vec<&str> = text.lines().collect();
    let groups = lines.chunk_by(|one, next| one.starts_with('|') == next.starts_with('|'));
    let tables = groups.filter(|group| group[0].starts_with('|'));
    tables.map(|group| group.iter().map(|line| entries(line)).collect()).collect()
}

/// The text without what stands between fences.
fn outside(text: &str) -> String {
    let mut fence = None;
    let mut kept = String::new();
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => {
                kept += "(code)\n";
                fence = Some(ticks);
            }
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            None => kept += &format!("{line}\n"),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "a fence without its end");
    kept
}

/// What holds of every text: tables whose rows are as wide as their heads, fences and folds that
/// end, and nothing that steers.
fn sound(text: &str) {
    let text = &outside(text);
    for table in tables(text) {
        assert!(table[1].iter().all(|rule| ["---", "---:"].contains(&rule.as_str())), "{table:?}");
        assert!(table.iter().all(|row| row.len() == table[0].len()), "{table:?}");
    }
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    assert!(!text.contains("NaN") && !text.contains("\n\n\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1);
}

/// What comes before the numbers of all cells.
fn upper(text: &str) -> &str {
    text.split_once("## Can these").unwrap().0
}

#[test]
fn the_markdown_of_a_study() {
    let text = written(&study::run(study::findings()));
    expect_file!["../markdown/study.md"].assert_eq(upper(&text));
}

#[test]
fn the_markdown_of_a_run() {
    let text = written(&sample::single_run());
    expect_file!["../markdown/run.md"]
        .assert_eq(text.split_once("<details>\n<summary>Facts").unwrap().0);
    for folded in ["Facts", "plan 1 of 1, 1 step", "What the words mean"] {
        assert!(text.contains(&format!("<summary>{folded}</summary>")), "{folded}");
    }
    assert!(text.contains("| target | path | /home/ann/data |"), "{text}");
    assert!(text.contains("\n```toml\n"), "{text}");
    assert!(text.contains("\n```sh\ndrivelab "), "{text}");
}

#[test]
fn the_entries_are_the_numbers_of_the_json() {
    let run = sample::check_run();
    let json = serde_json::to_value(summarise(&run)).unwrap();
    let tables = tables(&written(&run));
    let cells = tables.iter().find(|table| table[0][0] == "cell").unwrap();
    let place = |head: &str| cells[0].iter().position(|name| name == head).unwrap();
    let mut found = 0;
    for cell in json["cells"].as_array().unwrap() {
        let stream = &cell["streams"][0];
        let mut kinds = ["read", "write", "flush"].iter().filter_map(|kind| stream.get(kind));
        let (Some(kind), None) = (kinds.next(), kinds.next()) else { continue };
        let row = cells.iter().find(|row| row[0] == cell["name"].as_str().unwrap()).unwrap();
        let value = |name: &str| kind[name]["value"].as_f64();
        let rates = [
            value("iops").map(units::operations),
            value("bandwidth_bytes_per_s").map(units::bandwidth),
        ];
        assert!(rates.contains(&Some(row[place("rate")].clone())), "{row:?} {rates:?}");
        let latency =
            |name: &str| units::time(kind["merged"]["service_ns"][name].as_f64().unwrap());
        assert_eq!(row[place("p50")], latency("p50"));
        assert_eq!(row[place("p99")], latency("p99"));
        assert_eq!(row[place("max")], latency("max"));
        assert_eq!(row[place("n")], kind["iops"]["n"].to_string());
        found += 1;
    }
    assert!(found > 4, "{found} cells");
}

#[test]
fn what_others_wrote_stays_where_it_stands() {
    let evil = "x | y\\| `z` <img src=a onerror=b>\u{1b}[31m\u{202e}\r\n\n# big\n- [c](d) **e**";
    let mut run = study::run(study::findings());
    run.begin.target = evil.to_owned();
    run.begin.facts.target.path = evil.to_owned();
    run.begin.arguments.push("```\n# out".to_owned());
    run.plans[0].title = evil.to_owned();
    run.plans[0].steps[0].name = evil.to_owned();
    let findings = run.findings.as_mut().unwrap();
    findings.verdict = vec![evil.to_owned()];
    findings.tables[0].title = evil.to_owned();
    findings.tables[0].heads[0].name = evil.to_owned();
    findings.remarks = vec![Remark { cell: "random write".into(), text: evil.to_owned() }];
    let text = written(&run);
    let outside = outside(&text);
    let mut bare = String::new();
    let mut characters = outside.chars();
    while let Some(c) = characters.next() {
        // What follows a backslash is no markup.
        match c {
            '\\' => drop(characters.next()),
            c => bare.push(c),
        }
    }
    for markup in ["<img", "\n# big", "\u{1b}", "\u{202e}", "[c](d)", "**e**"] {
        assert_eq!(bare.matches(markup).count(), 0, "{markup}\n{outside}");
    }
    let shown =
        "x | y\\| `z` <img src=a onerror=b>\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}# big";
    let all = tables(&outside);
    let path = all.iter().flatten().find(|row| row[1] == "path").unwrap();
    assert!(path[2].starts_with(shown), "{path:?}");
}

#[test]
fn a_run_of_nothing_and_one_that_was_killed_say_so() {
    let nothing = written(&Run::default());
    assert!(nothing.contains("\nNo cell was measured.\n"), "{nothing}");
    assert!(nothing.contains("**INCOMPLETE** this run is incomplete"), "{nothing}");
    assert!(written(&sample::killed_run()).contains("**INCOMPLETE** this run is incomplete"));
    written(&study::run(study::odd_findings()));
    written(&study::run(Findings::default()));
}
