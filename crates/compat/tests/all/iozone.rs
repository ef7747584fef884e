//! What IOzone's front end prints, compared with transcripts of IOzone 3.489.

use crate::pretended::{Pretended, run_of, words};
use drivelab_compat::biff::BEGINNING;
use drivelab_compat::front::{
    Asked, Existing, Found, Job, Output, Refusal, Scale, Treatment, World,
};
use drivelab_compat::iozone::{Options, entries, markdown, output, parse};
use drivelab_compat::option::Care;
use drivelab_core::run::Run;
use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

fn asked(line: &str) -> (Job, Options) {
    match parse(&words(line), &Pretended::default()) {
        Ok(Asked::Run { job, options }) => (*job, *options),
        other => panic!("{line}: {other:?}"),
    }
}

/// A run in which each byte took a nanosecond, and a tenth of it more for each further worker.
fn run(job: &Job) -> Run {
    let mut run = run_of(&job.plan, |_, _, _| 1);
    for step in &mut run.steps {
        let bytes: Vec<u64> = step.tallies.iter().map(|tally| tally.kinds[0].bytes).collect();
        let phases = step.end.iter_mut().flat_map(|end| &mut end.phases);
        for (phase, bytes) in phases.zip(bytes) {
            phase.closed = phase.first + bytes + bytes / 10 * u64::from(phase.worker);
        }
    }
    run
}

fn printed(line: &str) -> Output {
    let (job, options) = asked(line);
    output(&options, &run(&job), &Pretended::default().host())
}

/// The text with each number, and the blanks that right-align it, replaced by its width; in the
/// report, where nothing is aligned, by a mark.
fn mask(text: &str) -> String {
    let mut masked = String::new();
    for line in text.lines() {
        let aligned = !line.starts_with('"') || line.starts_with("\" ");
        let mut run = String::new();
        for c in line.chars().chain(['\n']) {
            let is_number = c.is_ascii_digit() || c == '.' || (c == ' ' && aligned);
            match (is_number, run.contains(|c: char| c.is_ascii_digit())) {
                (true, true) if c == ' ' => masked.push_str(&take(&mut run, aligned)),
                (true, _) => {}
                (false, true) => masked.push_str(&take(&mut run, aligned)),
                (false, false) => masked.push_str(&std::mem::take(&mut run)),
            }
            if is_number { run.push(c) } else { masked.push(c) }
        }
    }
    masked
}

fn take(run: &mut String, aligned: bool) -> String {
    let width = std::mem::take(run).len();
    if aligned { format!("<{width}>") } else { "<n>".to_owned() }
}

/// What follows the date, without the line about the clock.
fn after_the_date(text: &str) -> String {
    let from = text.find("Run began").unwrap();
    let lines = text[from..].lines().skip(2);
    lines
        .filter(|line| !line.contains("Time Resolution"))
        .fold(String::new(), |all, line| all + line + "\n")
}

#[track_caller]
fn assert_layout(transcript: &str) {
    let command = transcript.lines().find_map(|line| line.split_once("Command line used: "));
    let ours = after_the_date(&printed(command.unwrap().1).text);
    // The grain of IOzone's clock is too coarse for short tests, and it says so.
    let theirs: String = transcript
        .lines()
        .filter(|line| !line.starts_with("Timer res") && !line.starts_with("reported inacc"))
        .fold(String::new(), |all, line| all + line + "\n");
    let (ours_masked, theirs_masked) = (mask(&ours), mask(&theirs));
    for (ours, theirs) in ours_masked.lines().zip(theirs_masked.lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours_masked, theirs_masked, "\nours:\n{ours}\ntheirs:\n{theirs}");
}

#[test]
fn the_table_is_laid_out_as_iozone_s() {
    assert_layout(include_str!("../data/iozone/thirteen.txt"));
    assert_layout(include_str!("../data/iozone/article.txt"));
    assert_layout(include_str!("../data/iozone/extended.txt"));
    assert_layout(include_str!("../data/iozone/mapped.txt"));
    assert_layout(include_str!("../data/iozone/four.txt"));
    assert_layout(include_str!("../data/iozone/cross.txt"));
    assert_layout(include_str!("../data/iozone/fonly.txt"));
    assert_layout(include_str!("../data/iozone/strided.txt"));
}

#[test]
fn the_throughput_mode_is_laid_out_as_iozone_s() {
    assert_layout(include_str!("../data/iozone/range.txt"));
    assert_layout(include_str!("../data/iozone/threads.txt"));
    assert_layout(include_str!("../data/iozone/loads.txt"));
    assert_layout(include_str!("../data/iozone/operations.txt"));
}

fn refused(line: &str) -> Refusal {
    match parse(&words(line), &Pretended::default()) {
        Err(refusal) => refusal,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn every_option_is_done_ignored_or_refused_by_name() {
    for entry in entries() {
        let name = entry.typed.split(' ').next().unwrap();
        let value = match name {
            "-b" | "-f" | "-F" => "out",
            "-U" => "/mnt/a",
            _ => "1",
        };
        let typed = if entry.typed.contains(' ') { format!("{name} {value}") } else { name.into() };
        let line = match name {
            "-F" => format!("iozone -i 0 -s 64 -t 1 {typed}"),
            "-+E" => "iozone -i 1 -s 64 -f /mnt/a/there -+E".to_owned(),
            "-n" | "-g" | "-q" | "-y" => format!("iozone -a -i 0 -n 64 -g 64 {name} 64"),
            "-h" | "-v" => {
                let asked = parse(&[name.to_owned()], &Pretended::default());
                assert!(matches!(asked, Ok(Asked::Text(_))), "{name}");
                continue;
            }
            "-s" => format!("iozone -i 0 {name} 64"),
            _ => format!("iozone -i 0 -s 64 {typed}"),
        };
        match entry.care {
            Care::Unsupported { .. } => assert!(refused(&line).text.starts_with(name), "{line}"),
            Care::Ignored(_) => {
                let (job, _) = asked(&line);
                let is_it = |about: &str| about.starts_with(name);
                let note = job.notes.iter().find(|note| is_it(&note.about));
                assert_eq!(note.unwrap().treatment, Treatment::Ignored, "{line}");
            }
            Care::Same | Care::InPart(_) | Care::Near(_) => drop(asked(&line)),
        }
    }
    assert_eq!(markdown().lines().count(), 2 + entries().count());
}

#[test]
fn absurd_numbers_of_processes_are_refused() {
    for line in ["iozone -t 5000 -i 0", "iozone -l 1 -u 4000000000 -i 0"] {
        assert!(refused(line).text.contains("at most 4096"), "{line}");
    }
}

#[test]
fn ours_are_no_options_of_iozone() {
    for ours in ["--scale-size", "--erase", "--runs", "--dry-run", "--notes", "--era"] {
        let refusal = refused(&format!("iozone {ours}"));
        assert_eq!(refusal.text, "iozone: invalid option -- '-'\nUnsupported option -> (null) <-");
        assert!(entries().all(|entry| !entry.typed.starts_with("--")));
    }
}

#[test]
fn the_head_says_who_ran_it_and_when() {
    let text = printed("iozone -i 0 -s 64").text;
    assert!(text.starts_with("\tIozone: Performance Test of File I/O\n"));
    assert!(text.contains("Version $Revision: 3.489 $ (layout only)"));
    assert!(text.contains("(not IOzone itself)\n\n\tRun began: Fri Nov 20 17:37:17 2026\n\n"));
    assert!(!text.contains("Capps"));
}

/// The row of the table without its sizes.
fn row(text: &str) -> Vec<&str> {
    let mut lines = text.lines().skip_while(|line| !line.contains("kB  reclen"));
    lines.nth(1).unwrap().split_whitespace().skip(2).collect()
}

#[test]
fn values_are_cut_off_in_each_unit() {
    // 16 records of 4 KiB: 65536 ns in all.
    for (unit, value) in [("", "976562"), ("-O", "244140"), ("-N", "4"), ("-O -N", "4")] {
        let text = printed(&format!("iozone -i 0 -s 64 {unit}")).text;
        assert_eq!(row(&text), [value, value], "{unit}");
    }
    let text = printed("iozone -i 0 -i 1 -i 2 -s 64 -+n").text;
    assert_eq!(row(&text), ["976562", "0", "976562", "0", "976562", "976562"]);
}

#[test]
fn think_time_is_not_in_the_values() {
    let (job, options) = asked("iozone -i 0 -s 64 -J 5 -O");
    let mut run = run_of(&job.plan, |_, _, _| 16 * 4096);
    for phase in run.steps.iter_mut().flat_map(|step| &mut step.end).flat_map(|end| &mut end.phases)
    {
        phase.closed += 16 * 5_000_000;
    }
    let text = output(&options, &run, &Pretended::default().host()).text;
    let value: u64 = row(&text)[0].parse().unwrap();
    // As exact as a histogram is.
    assert!((243_000..=245_000).contains(&value), "{value}");
}

#[test]
fn a_run_that_was_broken_off_prints_what_it_has() {
    let (job, options) = asked("iozone -i 0 -i 1 -s 64");
    let mut run = run(&job);
    run.end.as_mut().unwrap().complete = false;
    run.steps.truncate(3);
    run.steps[2].end.as_mut().unwrap().incomplete = Some("interrupted".to_owned());
    let output = output(&options, &run, &Pretended::default().host());
    assert_eq!((row(&output.text), output.status), (vec!["976562"], 1));
    assert!(!output.text.contains("complete"));
}

#[test]
fn sizes_are_scaled_to_whole_records_and_said_to_be() {
    let scale = Scale { numerator: 1, denominator: 1000 };
    let world = Pretended { scale, ..Pretended::default() };
    let Ok(Asked::Run { job, options }) = parse(&words("iozone -i 0 -s 16G -r 1M"), &world) else {
        panic!()
    };
    assert_eq!(job.plan.files[0].size.0, 16 << 20);
    let note = job.notes.iter().find(|note| note.code == "scaled").unwrap();
    assert!(note.text.starts_with("The file has 16 MiB instead of the 16 GiB"), "{}", note.text);
    let text = output(&options, &run(&job), &world.host()).text;
    assert!(text.contains("           16384    1024   976562   976562 "), "{text}");
}

#[test]
fn memory_is_compared_with_the_file() {
    let line = "iozone -i 0 -i 1 -s 16G -r 1M";
    for (memory_bytes, text) in [
        (62 << 30, "all of it stays in the page cache"),
        (12 << 30, "a good part of what is read comes from memory"),
        (8 << 30, "most of what is read comes from the drive"),
        (0, "not known"),
    ] {
        let world = Pretended { memory_bytes, ..Pretended::default() };
        let Ok(Asked::Run { job, .. }) = parse(&words(line), &world) else { panic!() };
        let note = job.notes.iter().find(|note| note.code == "page_cache").unwrap();
        assert!(note.text.starts_with("The file has 16 GiB") && note.text.contains(text), "{note}");
    }
}

#[test]
fn the_processes_of_the_mix_have_their_numbers() {
    for (percent, reads) in [("", [true, false, true]), ("-+p 40", [true, false, false])] {
        let (job, options) = asked(&format!("iozone -t 3 -C -i 0 -i 8 -s 64 -x {percent}"));
        let world = Pretended::default();
        // Readers take 1 µs a byte, writers 2.
        let slow = |step: &str, stream, _| {
            if step.starts_with("mixed") { 65_536_000 * (1 + u64::from(stream)) } else { 1 }
        };
        let text = output(&options, &run_of(&job.plan, slow), &world.host()).text;
        let rates: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.contains("mixed workload"))
            .filter(|line| line.contains("Child["))
            .map(|line| line.split_whitespace().nth_back(1).unwrap())
            .collect();
        assert_eq!(rates, reads.map(|reads| if reads { "976.56" } else { "488.28" }), "{percent}");
    }
}

/// Cells of a worksheet: row, column and what is in it.
fn cells(bytes: &[u8]) -> Vec<(u16, u16, String)> {
    assert_eq!(bytes[..8], BEGINNING);
    let mut cells = Vec::new();
    let mut at = 8;
    loop {
        let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (kind, length) = (number(at), usize::from(number(at + 2)));
        let payload = &bytes[at + 4..at + 4 + length];
        match (kind, length) {
            (4, 264) => {
                let text = &payload[8..8 + usize::from(payload[7])];
                cells.push((number(at + 4), number(at + 6), String::from_utf8_lossy(text).into()));
            }
            (3, 15) => {
                let value = f64::from_le_bytes(payload[7..].try_into().unwrap());
                cells.push((number(at + 4), number(at + 6), value.to_string()));
            }
            (10, 0) => {
                assert_eq!(at + 4, bytes.len());
                return cells;
            }
            other => panic!("{other:?}"),
        }
        at += 4 + length;
    }
}

#[test]
fn the_worksheet_has_iozone_s_rows() {
    let output = printed("iozone -Rb out.wks -s 8M -r 1M -i 0 -i 5");
    assert_eq!(output.files.len(), 1);
    let file = &output.files[0];
    assert_eq!(file.place.path, "out.wks");
    assert_eq!(file.place.existing, Existing::ReplaceOwn);
    let text: Vec<String> = cells(&file.bytes)
        .into_iter()
        .map(|(row, column, text)| format!("{row} {column} {text}"))
        .collect();
    let expected = [
        "0 0 iozone -Rb out.wks -s 8M -r 1M -i 0 -i 5 ",
        "1 0  ",
        "2 0 The top row is records sizes, the left column is file sizes",
        "3 0 Writer Report",
        "4 1 1024",
        "5 0 8192",
        "5 1 976562",
        "6 0 Re-writer Report",
        "7 1 1024",
        "8 0 8192",
        "8 1 976562",
        "9 0 Stride Read Report",
        "10 1 1024",
        "11 0 8192",
        "11 1 976562",
    ];
    assert_eq!(text, expected);
    let output = printed("iozone -l 1 -u 2 -b t.wks -s 64 -i 0 -+n -x -r 64");
    let text = cells(&output.files[0].bytes);
    assert_eq!(text[1].2, "Throughput report Y-axis is type of test X-axis is number of processes");
    assert_eq!(text[4], (4, 0, "  Initial write ".to_owned()));
    assert_eq!((text[5].0, text[5].1, text[5].2.as_str()), (4, 2, "976562.5"));
    assert_eq!((text[6].0, text[6].1), (4, 3));
}

#[test]
fn a_file_that_is_only_read_stays() {
    let (job, _) = asked("iozone -i 1 -s 1g -r 1m -f /mnt/a/there");
    assert!(job.keeps && job.notes.iter().any(|note| note.code == "file_stays"));
    assert!(!asked("iozone -i 0 -s 1g").0.keeps);
    assert!(asked("iozone -i 0 -s 1g -w").0.keeps);
}

#[test]
fn the_same_order_is_in_every_random_test() {
    let (job, _) = asked("iozone -i 0 -i 2 -s 64");
    let orders: Vec<_> = job
        .plan
        .steps
        .iter()
        .flat_map(|step| &step.streams)
        .filter_map(|stream| stream.order)
        .collect();
    assert_eq!(orders, [0, 0]);
    assert_ne!(job.plan.seed, 0);
}

fn word() -> impl Strategy<Value = String> {
    let known: Vec<String> =
        entries().map(|entry| entry.typed.split(' ').next().unwrap().to_owned()).collect();
    let values = [
        "0",
        "1",
        "4k",
        "16G",
        "-5",
        "99999999999999999999g",
        "300",
        "out",
        "/dev/nvme1n1",
        "",
        "-",
        "--",
        "–s",
        "-+",
        "-t",
        "4",
        "-F",
        "é",
    ];
    prop_oneof![
        select(known),
        select(values.map(str::to_owned).to_vec()),
        any::<String>(),
        "-[a-zA-Z+]{1,6}[0-9a-z]{0,4}",
    ]
}

proptest! {
    #[test]
    fn any_words_are_answered(line in proptest::collection::vec(word(), 0..12)) {
        let mut world = Pretended::default();
        world.found.insert("out".to_owned(), Found::Directory);
        if let Ok(Asked::Run { job, options }) = parse(&line, &world) {
            proptest::prop_assert!(!job.plan.steps.is_empty());
            let empty = Run::default();
            drop(output(&options, &empty, &world.host()));
        }
    }
}
