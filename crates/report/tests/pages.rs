//! The HTML page of whole runs. The pages are left in the target directory, to be looked at.

#![allow(clippy::unwrap_used)]

mod sample;

use drivelab_core::plan::Mix;
use drivelab_core::plan::PatternName;
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_report::html::page;
use sample::page::{sound, written};

#[test]
fn a_check_is_one_sound_page() {
    let page = written("check.html", &sample::check_run());
    sound(&page);
    for text in [
        "Samsung SSD 990 PRO 2TB",
        ">measured<",
        "Each durable commit costs 0.8 ms",
        "Give it more bytes with --budget.",
        "in the SLC cache: no knee seen",
        "drivelab check &#39;my data&#39; --seed 7391",
        "[[steps]]",
        "<code>drivelab study wsat</code>",
        "5 gaps over 100 ms, longest 142 ms",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("This run is incomplete"));
}

#[test]
fn a_page_of_thirty_cells_stays_small() {
    let names: Vec<&'static str> =
        (0..30).map(|index| &*Box::leak(format!("cell {index}").into_boxed_str())).collect();
    let both = Mix { read: 70, write: 30, trim: 0 };
    let loads: Vec<sample::Load> = names
        .into_iter()
        .map(|name| sample::load(name, both, PatternName::Uniform, 4096, 32, 47_000.0))
        .collect();
    sound(&written("thirty.html", &sample::run_of(&loads, 3, 100)));
}

#[test]
fn a_killed_run_is_marked_loudly() {
    let page = written("killed.html", &sample::killed_run());
    sound(&page);
    assert!(page.contains("<b class=\"badge bad\">incomplete</b>"));
    assert!(page.contains("<b>This run is incomplete:</b>"));
    assert!(page.contains("3 × EIO; 1 × ENOSPC"));
    assert!(page.contains("the run ended inside this step"));
}

#[test]
fn a_single_run_has_wide_pictures_with_its_gap() {
    let page = written("single.html", &sample::single_run());
    sound(&page);
    assert!(page.contains("class=\"wide\"") && page.contains("class=\"narrow\""));
    assert!(page.contains("class=\"warning word\">gap<"));
    assert!(page.contains(">read response<") && page.contains(">write service<"));
}

#[test]
fn a_suspect_cell_is_marked_with_its_reasons() {
    let run = sample::check_run();
    let mut summary = summarise(&run);
    summary.cells[3].valid = Some(false);
    let text = "the page cache served half of it".to_owned();
    let code = "cache".to_owned();
    summary.cells[3].reasons.push(drivelab_core::summary::Reason { code, text });
    let page = page(&run, &summary);
    assert!(page.contains("<b class=\"badge bad\">suspect</b>"));
    assert!(page.contains("<b class=\"warn\">SUSPECT</b>"));
    assert!(page.contains("<li>random write: the page cache served half of it"));
    assert!(page.contains(">SUSPECT random write"), "the bar says so too");
    assert!(page.contains("class=\"write doubt\""));
}

#[test]
fn a_run_of_nothing_is_a_page_too() {
    let page = written("nothing.html", &Run::default());
    sound(&page);
    assert!(page.contains("No cell was measured."));
    assert!(page.contains("This run is incomplete"));
}

#[test]
fn simulated_time_is_never_shown_as_measured() {
    let mut run = sample::single_run();
    run.begin.clock.source = "virtual".to_owned();
    let page = page(&run, &summarise(&run));
    assert!(page.contains(">simulated<") && !page.contains(">measured<"));
}

#[test]
fn hostile_texts_stay_texts() {
    let evil = "</title><script>alert(1)</script>\"'\u{1b}[31m&<b>";
    let mut run = sample::check_run();
    run.begin.target = evil.to_owned();
    run.begin.run = evil.to_owned();
    run.begin.version = evil.to_owned();
    run.begin.arguments = vec![evil.to_owned()];
    run.begin.clock.reason = evil.to_owned();
    run.begin.facts.target.path = evil.to_owned();
    run.begin.facts.target.devices[1].model = Some(evil.to_owned());
    run.begin.facts.host.hostname = Some(evil.to_owned());
    run.plans[0].title = evil.to_owned();
    run.warnings[0].text = evil.to_owned();
    run.warnings[0].advice = evil.to_owned();
    for step in &mut run.steps {
        step.begin.name = evil.to_owned();
        step.begin.state = evil.to_owned();
        step.begin.opened = vec![evil.to_owned()];
        step.plan.streams[0].name = evil.to_owned();
    }
    let findings = run.findings.as_mut().unwrap();
    findings.verdict.push(evil.to_owned());
    findings.remarks[0].cell = evil.to_owned();
    findings.remarks[0].text = evil.to_owned();
    let page = page(&run, &summarise(&run));
    sound(&page);
    assert!(!page.contains("alert(1)</script>") && !page.contains('\u{1b}'));
    assert!(!page.contains("&<b>") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn numbers_that_are_none_are_unknown() {
    let run = sample::check_run();
    let mut summary = summarise(&run);
    for cell in &mut summary.cells {
        for stream in &mut cell.streams {
            for kind in stream.kinds.values_mut() {
                let rates = [&mut kind.rates.iops, &mut kind.rates.bandwidth_bytes_per_s];
                for rate in rates.into_iter().flatten() {
                    rate.value = f64::NAN;
                    rate.high = Some(f64::INFINITY);
                }
            }
            stream.total.iops = None;
        }
    }
    let page = page(&run, &summary);
    sound(&page);
    assert!(page.contains("unknown"));
}
