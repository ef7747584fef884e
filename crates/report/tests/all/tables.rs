//! CSV, workbook, and runs without names.

use crate::sample;
use drivelab_core::record::ProcessFacts;
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_report::html::page;
use drivelab_report::{CSV_BEGIN, XLSX_CREATOR, csv, redacted, xlsx};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

/// The rows of a CSV without quotes, as maps from column to value.
fn rows(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = text.split_terminator("\r\n");
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            assert_eq!(values.len(), heads.len(), "{line}");
            heads.iter().copied().zip(values).collect()
        })
        .collect()
}

#[test]
fn a_csv_has_every_kind_of_every_cell_with_units_and_intervals() {
    let summary = summarise(&sample::check_run());
    let text = csv(&summary);
    assert!(text.starts_with(CSV_BEGIN));
    let rows = rows(&text);
    let kinds: usize =
        summary.cells.iter().flat_map(|cell| &cell.streams).map(|stream| stream.kinds.len()).sum();
    assert_eq!(rows.len(), kinds);
    assert!(kinds > summary.cells.len(), "a mix and a flush have rows of their own");
    let row = rows.iter().find(|row| row["cell"] == "random read").unwrap();
    let kind = summary.cells[2].streams[0].kinds.values().next().unwrap();
    let iops = kind.rates.iops.unwrap();
    assert_eq!(row["iops_per_s"].parse::<f64>().unwrap(), iops.value);
    assert_eq!(row["iops_low95_per_s"].parse::<f64>().unwrap(), iops.low.unwrap());
    assert_eq!(row["iops_high95_per_s"].parse::<f64>().unwrap(), iops.high.unwrap());
    assert_eq!((row["iops_n"], row["kind"], row["truth"]), ("5", "read", "not checked"));
    let p99 = kind.merged.service_ns.unwrap().p99.unwrap();
    assert_eq!(row["service_p99_ns"].parse::<u64>().unwrap(), p99);
    assert_eq!(row["size_max_bytes"], "4096");
    assert_eq!(row["pattern"], "uniform");
    assert_eq!(row["response_p99_ns"], "", "a closed loop has no response time");
    assert_eq!(row["rate_asked_per_s"], "");
    let flush = rows.iter().find(|row| row["kind"] == "flush").unwrap();
    assert_eq!(flush["bandwidth_bytes_per_s"], "", "a flush moves no bytes");
}

#[test]
fn a_run_of_nothing_has_the_same_columns() {
    let whole = csv(&summarise(&sample::check_run()));
    let nothing = csv(&summarise(&Run::default()));
    assert_eq!(nothing.trim_end(), whole.lines().next().unwrap());
}

/// The files inside a workbook.
fn parts(book: &[u8]) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut parts = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        parts.insert(file.name().unwrap().into_owned(), text);
    }
    parts
}

#[test]
fn a_workbook_has_its_sheets_and_bars_with_error_bars() {
    let run = sample::check_run();
    let book = xlsx(&run, &summarise(&run)).unwrap();
    assert_eq!(book, xlsx(&run, &summarise(&run)).unwrap(), "equal runs give equal bytes");
    let parts = parts(&book);
    let names = &parts["xl/workbook.xml"];
    for sheet in ["cells", "steps", "facts", "chart data"] {
        assert!(names.contains(&format!("name=\"{sheet}\"")), "{sheet}: {names}");
    }
    let creator = format!("<dc:creator>{XLSX_CREATOR}</dc:creator>");
    assert!(parts["docProps/core.xml"].contains(&creator));
    assert!(parts["docProps/core.xml"].contains("2026-11-20T15:03:12Z"));
    let chart = &parts["xl/charts/chart1.xml"];
    for mark in
        ["<c:barDir val=\"bar\"/>", "<c:errValType val=\"cust\"/>", "'chart data'!$C$2:$C$12"]
    {
        assert!(chart.contains(mark), "{mark}: {chart}");
    }
    let (names, values) = chart.split_once("<c:valAx>").unwrap();
    assert!(values.contains("<c:min val=\"0\"/>"), "bars begin at zero");
    assert!(names.contains("<c:orientation val=\"maxMin\"/>"), "the first bar is on top");
    assert!(parts.contains_key("xl/charts/chart2.xml"));
    assert!(parts["xl/sharedStrings.xml"].contains("S7KHNJ0W123456"));
    // Nine cells, one of them with two kinds and one with two more: every row is there.
    let rows = parts["xl/worksheets/sheet1.xml"].matches("<row ").count();
    assert_eq!(rows, csv(&summarise(&run)).lines().count());
}

#[test]
fn a_workbook_of_nothing_opens_too() {
    let run = Run::default();
    let parts = parts(&xlsx(&run, &summarise(&run)).unwrap());
    assert!(parts.contains_key("xl/worksheets/sheet4.xml"));
}

/// A run with names in every place where one was ever seen.
fn named_run() -> Run {
    let mut run = sample::check_run();
    let begin = &mut run.begin;
    begin.facts.host.hostname = Some("Annabel.example.org".to_owned());
    begin.facts.target.devices[1].serial = Some("WD WC4E/77".to_owned());
    let line = [
        "/usr/bin/drivelab",
        "check",
        "/dev/disk/by-id/nvme-Samsung_WD_WC4E/77",
        "--erase",
        "WD_WC4E_77:ext4",
        "--erase=other-token",
    ];
    begin.arguments = line.map(str::to_owned).to_vec();
    begin.target = "/dev/disk/by-id/nvme-Samsung_QQ7".to_owned();
    run.plans[0].title = "on annabel".to_owned();
    run.warnings[0].text = "the drive WD WC4E/77 of ANNABEL is hot".to_owned();
    run.warnings[0].advice = "ask annabel.example.org for WD_WC4E_77".to_owned();
    run.findings.as_mut().unwrap().verdict.push("WD WC4E/77 is fast".to_owned());
    run.steps[0].end.as_mut().unwrap().incomplete = Some("WD_WC4E_77 went away".to_owned());
    run
}

#[test]
fn names_are_left_out_of_every_output() {
    let run = named_run();
    let clean = redacted(&run).unwrap();
    let (summary, clean_summary) = (summarise(&run), summarise(&clean));
    let text = |run: &Run, summary| {
        let book = parts(&xlsx(run, summary).unwrap()).into_values().collect::<String>();
        let json = serde_json::to_string(summary).unwrap();
        [page(run, summary), csv(summary), book, json].map(|text| text.to_lowercase())
    };
    let (named, hidden) = (text(&run, &summary), text(&clean, &clean_summary));
    let names = ["annabel", "wc4e", "other-token", "samsung_qq7"];
    for name in names {
        assert!(named.iter().any(|text| text.contains(name)), "{name} was never there");
        for text in &hidden {
            let at = text.find(name).map(|at| &text[at.saturating_sub(60)..]);
            assert!(at.is_none(), "{name} is still there: {:.120}", at.unwrap_or_default());
        }
    }
    assert!(hidden[0].contains("--erase &#39;[token]&#39;"), "the command line is still there");
    assert!(hidden[2].contains("[serial]") && hidden[2].contains("[host]"));
}

#[test]
fn machines_that_shared_the_work_have_no_names_and_stay_apart() {
    let mut run = named_run();
    let hosts = ["Annabel.example.org", "berta", "berta", "clara.example.org"];
    let process = |(rank, host): (u32, &&str)| ProcessFacts {
        rank,
        host: (*host).to_owned(),
        ..ProcessFacts::default()
    };
    run.begin.processes = (0..).zip(&hosts).map(process).collect();
    run.warnings[0].text = "the work was done on annabel, berta and clara".to_owned();
    let clean = redacted(&run).unwrap();
    let page = page(&clean, &summarise(&clean)).to_lowercase();
    assert!(["annabel", "berta", "clara"].iter().all(|name| !page.contains(name)));
    assert!(page.contains("4 processes on 3 machines"));
    assert!(page.contains("the work was done on [host], [host 2] and [host 3]"));
}

#[test]
fn nothing_else_changes() {
    let run = sample::check_run();
    let mut clean = redacted(&run).unwrap();
    assert_eq!(clean.begin.facts.target.devices[1].serial.as_deref(), Some("[serial]"));
    clean.begin.facts.target.devices[1].serial = run.begin.facts.target.devices[1].serial.clone();
    assert!(clean == run, "more than the serial number has changed");
}

#[test]
fn a_host_named_like_a_word_of_the_format_is_refused_or_hidden() {
    for host in ["directory", "measure", "tsc", "psync"] {
        let mut run = sample::check_run();
        run.begin.facts.host.hostname = Some(host.to_owned());
        match redacted(&run) {
            Ok(clean) => {
                assert_eq!(clean.begin.facts.host.hostname.as_deref(), Some("[host]"), "{host}");
            }
            Err(error) => assert!(error.contains("cannot be hidden"), "{error}"),
        }
    }
}
