//! The HTML page of whole runs. The pages are left in the target directory, to be looked at.

use crate::sample;
use crate::sample::page::{sound, written};
use crate::sample::{check_loads, run_of};
use drivelab_core::op::Action;
use drivelab_core::plan::{Mix, Pattern};
use drivelab_core::record::{ProcessFacts, Warning};
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_core::tally::Phase;
use drivelab_report::html::page;

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
        .map(|name| sample::load(name, both, Pattern::Uniform, 4096, 32, 47_000.0))
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

/// A step with a stream that reads and one that writes.
fn reader_and_writer() -> Run {
    let mut run = run_of(&check_loads()[2..3], 1, 20);
    run.begin.command = "run".to_owned();
    let step = &mut run.steps[0];
    let mut writer = step.plan.streams[0].clone();
    writer.mix = Mix::WRITE;
    step.plan.streams[0].name = "random read".to_owned();
    writer.name = "writer".to_owned();
    step.plan.streams.push(writer);
    let mut tallies = step.tallies.clone();
    for tally in &mut tallies {
        tally.stream = 1;
        tally.kinds[0].kind = Action::Write;
    }
    step.tallies.extend(tallies);
    let end = step.end.as_mut().unwrap();
    end.phases.push(Phase { stream: 1, ..end.phases[0] });
    run
}

/// The tiles of the first screen: label, value, small print.
fn tiles(page: &str) -> Vec<String> {
    let numbers = page.split_once("<div class=\"numbers\">").unwrap().1;
    let numbers = numbers.split_once("</section>").unwrap().0;
    let plain = |tile: &str| {
        let mut words = tile.replace("</span>", " | ").replace("</strong>", " | ");
        while let Some((from, to)) = words.find('<').zip(words.find('>')) {
            words.replace_range(from..=to, "");
        }
        words
    };
    numbers.split("<div>").skip(1).map(plain).collect()
}

#[test]
fn of_two_streams_both_are_on_the_first_screen_and_no_name_is_doubled() {
    let page = written("streams.html", &reader_and_writer());
    sound(&page);
    let tiles = tiles(&page);
    let of = |what: &str| tiles.iter().filter(|tile| tile.starts_with(what)).count();
    assert_eq!((of("random read: "), of("random read, writer: ")), (3, 3), "{tiles:?}");
    assert!(tiles[0].contains("k read IOPS |"), "{tiles:?}");
    assert!(tiles[3].contains("k write IOPS |"), "{tiles:?}");
    assert!(!page.contains("random read, random read"));
    assert!(page.contains(">random read, writer 4 KiB qd32<"), "a bar for the second stream");
    let page = page_of(&run_of(&check_loads()[..1], 1, 20));
    assert!(page.contains(" GB/s</strong>"), "bytes need no other noun");
}

#[test]
fn a_size_in_a_name_is_not_said_again() {
    let mut loads = vec![check_loads()[2].clone(), check_loads()[3].clone()];
    loads[0].name = "read 4 KiB";
    loads[1].name = "write 14 KiB";
    let page = page_of(&run_of(&loads, 1, 10));
    assert!(page.contains(">read 4 KiB qd32<") && !page.contains("read 4 KiB 4 KiB"));
    assert!(page.contains(">write 14 KiB 4 KiB qd32<"), "another size is said");
}

fn page_of(run: &Run) -> String {
    page(run, &summarise(run))
}

#[test]
fn names_of_bars_are_whole() {
    let mut loads = vec![check_loads()[2].clone(), check_loads()[3].clone()];
    loads[0].name = "names, 4 workers, one directory: open what was created a moment ago";
    loads[1].name = "names, 4 workers, one directory: stat what was created a moment ago";
    let page = written("names.html", &run_of(&loads, 5, 10));
    sound(&page);
    let bars = page.split_once("<h2>All cells</h2>").unwrap().1.split_once("</section>").unwrap().0;
    assert!(!bars.contains('…'), "nothing is cut");
    assert!(bars.contains("class=\"wide\""), "one picture alone is as wide as the page");
}

#[test]
fn a_suspect_single_cell_says_so_in_its_tiles() {
    let run = sample::single_run();
    let mut summary = summarise(&run);
    summary.cells[0].valid = Some(false);
    let page = page(&run, &summary);
    assert!(page.contains("<span><b class=\"warn\">SUSPECT</b> mix: rate</span>"));
    assert!(page.contains("<p>The one cell is suspect.</p>"));
}

#[test]
fn remarks_on_a_line_are_calm_and_warnings_are_not() {
    let mut run = sample::check_run();
    run.warnings.push(Warning {
        code: "cut".to_owned(),
        text: "Values are cut off to whole numbers.".to_owned(),
        advice: String::new(),
        step: None,
    });
    let page = page_of(&run);
    sound(&page);
    let section = |class: &str| {
        let text = page.split_once(&format!("<section class=\"{class}\">")).unwrap().1;
        text.split_once("</section>").unwrap().0.to_owned()
    };
    assert!(section("remarks").contains("<li>Values are cut off to whole numbers.</li>"));
    assert!(!section("warnings").contains("Values are cut off"));
    assert!(section("warnings").contains("The cell ended after 1.2 s"));
    assert!(!page_of(&sample::check_run()).contains("class=\"remarks\""));
}

#[test]
fn several_processes_are_in_the_facts_and_one_is_not() {
    let mut run = sample::check_run();
    let one = |rank, clock_ahead_ns, clock_skew_ns| {
        let host = if rank < 2 { "ann-1" } else { "ann-2" }.to_owned();
        ProcessFacts { rank, host, clock_ahead_ns, clock_skew_ns }
    };
    run.begin.processes = vec![one(0, 0, 0), one(1, -340, 1_200), one(2, 48_000, 9_100)];
    let page = written("processes.html", &run);
    sound(&page);
    assert!(page.contains("3 processes on 2 machines; clocks agree within 9.10 µs."));
    assert!(page.contains("<td class=\"r\">1<td>ann-1<td class=\"r\">-340 ns"));
    assert!(page.contains("<td class=\"r\">48.0 µs<td class=\"r\">9.10 µs"));
    assert!(page.contains("mpirun -np 3 drivelab check"));
    assert!(!page_of(&sample::check_run()).contains("<h3>Processes</h3>"));
}

#[test]
fn what_is_not_known_of_opened_files_has_no_row() {
    let mut run = sample::check_run();
    for step in &mut run.steps {
        step.begin.opened = vec![String::new()];
    }
    assert!(!page_of(&run).contains("<td>opened"));
    assert!(page_of(&sample::check_run()).contains("<td>opened<td>O_RDWR|O_DIRECT|O_EXCL"));
}

#[test]
fn cells_that_were_found_valid_need_no_further_evidence() {
    let run = sample::single_run();
    let mut summary = summarise(&run);
    summary.cells[0].valid = Some(true);
    let cell = &mut summary.cells[0];
    [&mut cell.reasons, &mut cell.notes, &mut cell.unchecked].into_iter().for_each(Vec::clear);
    let page = page(&run, &summary);
    assert!(page.contains("<p>The one cell is valid.</p>"));
    assert!(!page.contains("holds no evidence"));
}

#[test]
fn flushes_outside_of_the_measured_time_say_so() {
    let run = run_of(&check_loads()[6..7], 1, 20);
    let mut summary = summarise(&run);
    let step = summary.steps[0].streams[0].kinds.get_mut(&Action::Flush).unwrap();
    step.rates.iops = None;
    let cell = summary.cells[0].streams[0].kinds.get_mut(&Action::Flush).unwrap();
    cell.rates.iops = None;
    let page = page(&run, &summary);
    assert!(page.contains("<strong class=\"words\">outside of the measured time</strong>"));
    assert_eq!(page.matches("<b>outside of the measured time</b>").count(), 1, "all numbers");
    assert_eq!(page.matches("<td class=\"r\">outside of the measured time").count(), 1, "steps");
}
