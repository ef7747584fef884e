//! Runs on a drive in virtual time, as fio would print them.

use super::{files, notes, output};
use crate::fio::settings::LogLines;
use crate::fio::{Format, Line, Log, Logged, Section, Unified, Without};
use crate::fio_json::{is_fio, samples};
use crate::front::{Host, LOOKED_AT_BYTES, Output};
use drivelab_core::comparison::Metric;
use drivelab_core::driver::drivers_of;
use drivelab_core::op::{Errno, Time};
use drivelab_core::plan::{
    Arrival, Engine, Interval, Mix, Pattern, Plan, Role, Step, Stream, Sync, Until,
};
use drivelab_core::queue::{Finished, Sink, Testbed};
use drivelab_core::record::{DeviceCounters, Record, StepBegin, StepEnd};
use drivelab_core::run::Run;
use drivelab_core::tally::Tally;
use drivelab_core::units::Span;
use drivelab_core::virtual_bed::VirtualTestbed;
use expect_test::{ExpectFile, expect_file};
use std::path::Path;

const MILLISECOND: Time = 1_000_000;
const FILE_BYTES: u64 = 64 << 20;

#[derive(Default)]
struct Kept(Vec<Tally>);

impl Sink for Kept {
    fn tally(&mut self, tally: &Tally) {
        self.0.push(tally.clone());
    }
}

fn stream(engine: Engine, mix: Mix, depth: u32, workers: u32) -> Stream {
    Stream { engine, mix, depth, workers, pattern: Pattern::Uniform, ..Stream::default() }
}

fn step(name: &str, elapsed: Time, streams: Vec<Stream>) -> Step {
    let until = Until { elapsed: Some(Span(elapsed)), ..Until::default() };
    Step { name: name.into(), until, streams, ..Step::default() }
}

/// Runs `steps` on four servers that need 100 µs each.
fn run(steps: Vec<Step>) -> Run {
    let plan = Plan {
        interval: Interval(Span(500 * MILLISECOND)),
        steps: steps.clone(),
        ..Plan::default()
    };
    let mut run = Run::default();
    run.push(Record::Plan { plan }).unwrap();
    let mut bed = VirtualTestbed::new(100_000, 4);
    for (number, step) in (0..).zip(&steps) {
        let begin = StepBegin {
            step: number,
            plan_step: number,
            plan: 0,
            repetition: 1,
            name: step.name.clone(),
            role: Role::Measure,
            state: String::new(),
            opened: Vec::new(),
        };
        run.push(Record::StepBegin(begin)).unwrap();
        let interval = Span(500 * MILLISECOND);
        let drivers = drivers_of(step, number, 7, interval, FILE_BYTES).unwrap();
        let mut kept = Kept::default();
        let finished: Vec<Finished> = bed.run(drivers, &mut kept).unwrap();
        for tally in kept.0 {
            run.push(Record::Tally(Box::new(tally))).unwrap();
        }
        let phases = finished.iter().map(|finished| finished.phase).collect();
        let end = StepEnd { step: number, phases, ..StepEnd::default() };
        run.push(Record::StepEnd(Box::new(end))).unwrap();
    }
    run
}

fn section(name: &str, engine: &str, rw: &str, step: usize) -> Section {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Section {
        name: name.into(),
        given: vec![pair("name", name), pair("readwrite", rw), pair("time_based", "")],
        step,
        clones: 1,
        rw: rw.into(),
        sizes: [(4096, 4096); 3],
        ioengine: engine.into(),
        iodepth: 1,
        percentiles: vec![50.0, 99.0],
        clat_percentiles: true,
        ..Section::default()
    }
}

fn line(formats: &[Format], sections: Vec<Section>) -> Line {
    Line {
        formats: formats.to_vec(),
        terse_version: 3,
        output: None,
        shows_orders: false,
        global: vec![("direct".into(), "1".into())],
        sections,
    }
}

fn host() -> Host {
    Host { now_ms: 1_795_326_694_168, process: 4711, ..Host::default() }
}

fn check(line: &Line, run: &Run, expected: &ExpectFile) -> Output {
    let found = output(line, run, &host());
    expected.assert_eq(&found.text);
    found
}

fn two_readers() -> (Run, Section) {
    let streams = vec![stream(Engine::Libaio, Mix::READ, 8, 2)];
    let mut run = run(vec![step("a", 2300 * MILLISECOND, streams)]);
    let end = run.steps[0].end.as_mut().unwrap();
    end.devices.push(DeviceCounters {
        name: "sda".into(),
        reads: 92_000,
        merges: 7,
        queue_ms: 3000,
        write_ms: 1000,
        busy_ms: 1150,
        ..DeviceCounters::default()
    });
    for phase in &mut end.phases {
        phase.cpu_ns = Some(460 * MILLISECOND);
        phase.system_cpu_ns = Some(230 * MILLISECOND);
        phase.context_switches = Some(12);
        phase.page_faults = Some((1, 2));
    }
    let section = Section { clones: 2, iodepth: 8, ..section("job", "libaio", "randread", 0) };
    (run, section)
}

#[test]
fn clones_have_a_block_each() {
    let (run, mut section) = two_readers();
    section.laid_out = Some((2, 1, 64 << 20));
    let found = check(
        &line(&[], vec![section]),
        &run,
        &expect_file!["../../../tests/data/fio/runs/clones.txt"],
    );
    assert_eq!(found.status, 0);
    assert!(found.files.is_empty());
}

#[test]
fn clones_of_a_reporting_group_have_one() {
    let (run, mut section) = two_readers();
    section.group_reporting = true;
    section.description = Some("two readers".into());
    let formats = [Format::Normal, Format::Terse];
    check(
        &line(&formats, vec![section]),
        &run,
        &expect_file!["../../../tests/data/fio/runs/group.txt"],
    );
}

#[test]
fn the_head_is_that_of_fio() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fio/groups.out");
    let real = std::fs::read_to_string(data).unwrap();
    let job = |name: &str, engine: &str, rw: &str, bytes: u64| Section {
        sizes: [(bytes, bytes); 3],
        ..section(name, engine, rw, 0)
    };
    let third = Section { group: 2, clones: 2, ..job("third", "psync", "randread", 12 << 10) };
    let second = Section { group: 1, iodepth: 128, ..job("second", "libaio", "write", 64 << 10) };
    let third = Section { laid_out: Some((2, 1, 4 << 20)), ..third };
    let first = job("first", "psync", "read", 4 << 10);
    let line = line(&[], vec![first, second, third]);
    let mine = output(&line, &Run::default(), &host()).text;
    let head = |text: &str| text.split("\n3;").next().unwrap().trim_end().to_owned();
    let mine = mine.split("\n\n").next().unwrap();
    assert_eq!(mine, head(&real));
}

#[test]
fn the_head_counts_threads_files_and_queues_that_cannot_be() {
    let one = Section {
        thread: true,
        laid_out: Some((1, 4, 10 << 20)),
        ..section("a", "psync", "read", 0)
    };
    let two = Section { clones: 2, iodepth: 4, ..section("b", "psync", "write", 0) };
    let mine = output(&line(&[], vec![one, two]), &Run::default(), &host()).text;
    let note = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will \
                be capped at 1\n";
    let expected = format!(
        "...\nfio-3.33\nStarting 1 thread and 2 processes\na: Laying out IO files (4 files / total \
         10MiB)\n{note}{note}\na: (groupid=0"
    );
    assert!(mine.contains(&expected), "{mine}");
}

#[test]
fn a_job_that_is_not_reported_with_its_group_begins_a_block() {
    let (run, section) = two_readers();
    let job = |name: &str, group, group_reporting| Section {
        name: name.into(),
        group,
        group_reporting,
        ..section.clone()
    };
    let sections =
        vec![job("a", 0, true), job("b", 0, false), job("c", 0, true), job("d", 1, true)];
    let found = output(&line(&[], sections), &run, &host()).text;
    let heads = found.lines().filter(|line| line.contains("(groupid="));
    let heads: Vec<&str> = heads.map(|line| line.split(": err").next().unwrap()).collect();
    assert_eq!(
        heads,
        [
            "a: (groupid=0, jobs=2)",
            "b: (groupid=0, jobs=1)",
            "b: (groupid=0, jobs=3)",
            "d: (groupid=1, jobs=2)"
        ]
    );
}

#[test]
fn our_own_reader_of_json_reads_it() {
    let (run, mut section) = two_readers();
    section.group_reporting = true;
    let text = output(&line(&[Format::JsonPlus], vec![section]), &run, &host()).text;
    assert!(is_fio(&text));
    let found = samples(&text, "x", &[Metric::Iops, Metric::P99Ns]).unwrap();
    let shape: Vec<(&str, Metric, &[f64])> =
        found.iter().map(|it| (it.name.as_str(), it.metric, &it.values[..])).collect();
    assert_eq!(
        shape,
        [
            ("job, read", Metric::Iops, &[40_005.217_391][..]),
            ("job, read", Metric::P99Ns, &[399_360.0])
        ]
    );
}

/// A job that writes with fsync and reads back, and after it one that mixes at a rate, two clones.
fn writer_and_mixer() -> (Run, Vec<Section>) {
    let written = Stream { sync: Sync::Fsync(4), ..stream(Engine::Psync, Mix::WRITE, 1, 1) };
    let read_back = stream(Engine::Psync, Mix::READ, 1, 1);
    let mix = Mix { read: 70, write: 20, trim: 10 };
    let mixed = Stream { arrival: Arrival::paced(3000.0), ..stream(Engine::IoUring, mix, 16, 2) };
    let mut mix_step = step("mixed", 1600 * MILLISECOND, vec![mixed]);
    mix_step.ramp = Span(300 * MILLISECOND);
    let run = run(vec![
        step("written", 30 * MILLISECOND, vec![written]),
        step("read back", 25 * MILLISECOND, vec![read_back]),
        mix_step,
    ]);
    let writer = Section { verify: Some((1, 0)), ..section("writer", "psync", "randwrite", 0) };
    let mixer = Section {
        group: 1,
        clones: 2,
        iodepth: 16,
        lat_percentiles: true,
        thread: true,
        sizes: [(4096, 4096), (4096, 16384), (512, 512)],
        ..section("mixer", "io_uring", "randrw", 2)
    };
    (run, vec![writer, mixer])
}

#[test]
fn jobs_of_two_groups_with_what_follows_a_write() {
    let (run, sections) = writer_and_mixer();
    let file = expect_file!["../../../tests/data/fio/runs/groups.txt"];
    check(&line(&[Format::Normal], sections), &run, &file);
}

#[test]
fn directions_together() {
    let (run, mut sections) = writer_and_mixer();
    sections[0].unified = Unified::Both;
    sections[1].unified = Unified::Mixed;
    let mut line = line(&[Format::Normal, Format::Terse], sections);
    line.terse_version = 5;
    check(&line, &run, &expect_file!["../../../tests/data/fio/runs/together.txt"]);
}

#[test]
fn what_is_left_out_is_not_printed() {
    let (run, mut sections) = writer_and_mixer();
    sections[0].without = Without { submission: true, completion: true, total: true };
    sections[1].without = Without { total: true, ..Without::default() };
    let found = output(&line(&[], sections), &run, &host()).text;
    let (writer, mixer) = found.split_once("\nmixer: (groupid").unwrap();
    assert!(!writer.contains("lat (") && !writer.contains("lat percentiles"), "{writer}");
    assert!(mixer.contains("clat (") && !mixer.contains("     lat (") && !mixer.contains(" lat p"));
}

/// Keys in order, each with the path to it; buckets count as one.
fn keys(value: &str, with_bins: bool) -> Vec<String> {
    let begin = value.find("{\n").unwrap();
    let mut path: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for line in value[begin..].lines().take_while(|line| *line != "}") {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / 2;
        let Some((key, rest)) = text.split_once("\" : ") else { continue };
        let key = key.trim_start_matches('"');
        path.truncate(depth.saturating_sub(1));
        path.resize(depth.saturating_sub(1), String::new());
        path.push(key.to_owned());
        let whole = path.join("/");
        let is_free = ["options/", "bins/"].iter().any(|part| whole.contains(part));
        if !is_free && (with_bins || key != "bins") {
            found.push(format!("{whole} {}", rest.starts_with('{')));
        }
    }
    found
}

#[test]
fn json_has_the_keys_of_fio_in_its_order() {
    let default = [
        1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9,
        99.95, 99.99,
    ];
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fio");
    let mix = Mix { read: 50, write: 50, trim: 0 };
    for (name, engine, word, mix, clones, together) in [
        ("psync_read", Engine::Psync, "read", Mix::READ, 1, false),
        ("psync_randrw", Engine::Psync, "randrw", mix, 1, false),
        ("libaio_read", Engine::Libaio, "randread", Mix::READ, 1, false),
        ("libaio_randrw", Engine::Libaio, "randrw", mix, 1, false),
        ("libaio_clones", Engine::Libaio, "randrw", mix, 2, false),
        ("libaio_group", Engine::Libaio, "randrw", mix, 2, true),
    ] {
        let depth = if engine == Engine::Psync { 1 } else { 8 };
        let streams = vec![stream(engine, mix, depth, clones)];
        let mut run = run(vec![step(name, 100 * MILLISECOND, streams)]);
        let disk = DeviceCounters { name: "vda".into(), ..DeviceCounters::default() };
        run.steps[0].end.as_mut().unwrap().devices.push(disk);
        let mut section = section("job", "libaio", word, 0);
        section.clones = clones;
        section.group_reporting = together;
        section.percentiles = default.to_vec();
        section.description = together.then(|| "two of them".to_owned());
        let real = std::fs::read_to_string(data.join(format!("{name}.out"))).unwrap();
        for format in [Format::Json, Format::JsonPlus] {
            let mut line = line(&[format], vec![section.clone()]);
            line.global.clear();
            let mine = output(&line, &run, &host()).text;
            let plus = format == Format::JsonPlus;
            assert!(mine.starts_with("{\n") && mine.ends_with("\n}\n"));
            // What drivelab has to say stands behind all that fio has.
            let said = ["drivelab true", "drivelab/run false", "drivelab/suspect false"];
            let said = said.into_iter().chain(["drivelab/notes false"]).map(String::from);
            let expected: Vec<String> = keys(&real, plus).into_iter().chain(said).collect();
            assert_eq!(keys(&mine, true), expected, "{name}, {format:?}");
            assert!(serde_json::from_str::<serde_json::Value>(&mine).is_ok());
        }
    }
}

#[test]
fn options_are_listed_under_their_first_names() {
    let (run, section) = two_readers();
    let text = output(&line(&[Format::Json], vec![section]), &run, &host()).text;
    let both = [
        "  \"global options\" : {\n    \"direct\" : \"1\"\n  },\n  \"jobs\" : [\n",
        "      \"job options\" : {\n        \"name\" : \"job\",\n        \"rw\" : \
         \"randread\"\n      },\n",
    ];
    both.iter().for_each(|part| assert!(text.contains(part), "{text}"));
}

#[test]
fn an_error_is_named_and_counted_in_the_status() {
    let (mut run, mut section) = two_readers();
    let first = run.steps[0].tallies.iter_mut().find(|tally| tally.worker == 0).unwrap();
    first.kinds[0].errors.push((Errno(5), 3));
    section.counts_errors = true;
    let found = output(&line(&[], vec![section.clone()]), &run, &host());
    assert_eq!(found.status, 1);
    let place = "file:drivelab:0, func=io_u error, error=Input/output error";
    for part in [
        format!(
            "\nfio: pid=4711, err=5/{place}\n\njob: (groupid=0, jobs=1): err= 5 ({place}): pid="
        ),
        "     errors    : total=3, first_error=5/<Input/output error>\n".to_owned(),
        "     errors    : total=0, first_error=0/<Success>\n".to_owned(),
    ] {
        assert!(found.text.contains(&part), "{part}\n{}", found.text);
    }
    let json = output(&line(&[Format::Json], vec![section]), &run, &host()).text;
    assert!(json.contains("\"total_err\" : 3,\n      \"first_error\" : 5,\n"));
}

#[test]
fn results_go_to_a_file_that_may_only_replace_its_like() {
    let (run, section) = two_readers();
    let mut places = Vec::new();
    for (format, version) in [
        (Format::Normal, 3),
        (Format::Json, 3),
        (Format::JsonPlus, 3),
        (Format::Terse, 2),
        (Format::Terse, 3),
        (Format::Terse, 4),
        (Format::Terse, 5),
    ] {
        let mut line = line(&[format], vec![section.clone()]);
        line.terse_version = version;
        let printed = output(&line, &run, &host()).text;
        line.output = Some("here/result".into());
        let found = output(&line, &run, &host());
        assert_eq!((found.text.as_str(), found.files.len()), ("", 1));
        let place = &found.files[0].place;
        assert_eq!((place.path.as_str(), files(&line)), ("here/result", vec![place.clone()]));
        assert_eq!(found.files[0].bytes, printed.into_bytes());
        places.push((place.clone(), found.files[0].bytes.clone()));
    }
    for (place, _) in &places {
        // Those of any other line and layout, as fio overwrites them: if drivelab wrote them, and
        // never for what they look like.
        for (_, bytes) in &places {
            let begin = &bytes[..bytes.len().min(LOOKED_AT_BYTES)];
            for is_own in [true, false] {
                let said = String::from_utf8_lossy(begin);
                assert_eq!(place.existing.takes(begin, is_own), is_own, "{said}");
            }
        }
        for foreign in ["My thesis", "2;a;b;c\n", "[global]\nrw=read\n", "{\n  \"a\": 1\n}"] {
            assert!(!place.existing.takes(foreign.as_bytes(), false), "{foreign}");
        }
    }
}

#[test]
fn logs_have_a_line_for_each_interval_and_direction() {
    let (run, mut sections) = writer_and_mixer();
    let log = |logged, prefix: &str, every_ms, per_job| Log {
        logged,
        prefix: prefix.into(),
        lines: LogLines { every_ms, ..LogLines::default() },
        per_job,
    };
    sections[0].logs = vec![log(Logged::Latency, "w", 500, true)];
    sections[1].logs = vec![
        log(Logged::Bandwidth, "m", 500, true),
        log(Logged::Iops, "m", 1000, false),
        log(Logged::CompletionLatency, "m", 500, true),
        log(Logged::SubmissionLatency, "m", 500, false),
    ];
    let mut text = String::new();
    let line = line(&[], sections);
    for file in output(&line, &run, &host()).files {
        let bytes = String::from_utf8(file.bytes).unwrap();
        let place = file.place;
        let takes = |is_own| place.existing.takes(bytes.as_bytes(), is_own);
        assert!(!bytes.is_empty() && takes(true) && !takes(false), "{}", place.path);
        assert!(files(&line).contains(&place), "{}", place.path);
        text.push_str(&format!("== {}\n{bytes}", place.path));
    }
    expect_file!["../../../tests/data/fio/runs/logs.txt"].assert_eq(&text);
}

#[test]
fn a_run_that_was_killed_is_printed_as_far_as_it_came() {
    let (mut run, section) = two_readers();
    run.steps[0].end = None;
    let found = output(&line(&[], vec![section.clone()]), &run, &host());
    assert!(found.text.contains("(180MiB/2300msec)"), "{}", found.text);
    run.steps.clear();
    let found = output(&line(&[], vec![section]), &run, &host());
    assert!(found.text.ends_with("Run status group 0 (all jobs):\n"), "{}", found.text);
}

#[test]
fn notes_say_what_the_figures_rest_on() {
    let codes = |line: &Line, run: &Run| -> Vec<&str> {
        notes(line, run).iter().map(|note| note.code).collect()
    };
    let (mut run, section) = two_readers();
    let one = line(&[], vec![section]);
    assert_eq!(codes(&one, &run), ["clat_from_service", "io_depths_mean"]);
    let text = notes(&one, &run)[1].text.clone();
    assert!(text.ends_with("In flight on average, job by job: 8.0, 8.0."), "{text}");
    run.plans[0].interval = Interval(Span(1000 * MILLISECOND));
    run.steps[0].end.as_mut().unwrap().phases[0].system_cpu_ns = None;
    let all = ["clat_from_service", "io_depths_mean", "samples_by_interval", "cpu_not_told_apart"];
    assert_eq!(codes(&one, &run), all);
    let (run, mut sections) = writer_and_mixer();
    sections.truncate(1);
    assert_eq!(codes(&line(&[], sections), &run), ["cpu_unknown"]);
}
