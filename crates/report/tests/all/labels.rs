//! Labels say what was done and on what, and no more.

use crate::sample;
use drivelab_core::facts::{DeviceFacts, FilesystemFacts, TargetKind};
use drivelab_core::findings::Findings;
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, Place};
use drivelab_core::plan::{Names, Pattern};
use drivelab_core::record::Begin;
use drivelab_core::run::Run;
use drivelab_core::summary::{Reason, summarise};
use drivelab_core::tally::Slow;
use drivelab_report::html;
use drivelab_report::terminal::{check_table, run_summary};

/// What the terminal and the page say.
fn both(run: &Run) -> [String; 2] {
    let summary = summarise(run);
    [run_summary(&summary, &run.begin), html::page(run, &summary)]
}

#[test]
fn names_at_depth_1_are_calls_and_lie_at_no_offset() {
    let mut run = sample::single_run();
    let step = &mut run.steps[0];
    let stream = &mut step.plan.streams[0];
    let actions = vec![Action::Create];
    (stream.pattern, stream.depth) = (Pattern::Names(Names { actions, ..Names::default() }), 1);
    let end = step.end.as_mut().expect("it came to its end");
    end.slowest = vec![Slow {
        latency_ns: 16_000_000,
        issued: 20_000_000_000,
        kind: Action::Create,
        place: Place::Name { name: 7, pass: 2 },
        stream: 0,
        worker: 0,
        cause: Cause::default(),
    }];
    let [text, page] = both(&run);
    assert!(text.contains("one call after the other, qd1"), "{text}");
    assert!(text.contains("slowest: create of 16.0 ms on name 7 in pass 3"), "{text}");
    assert!(!text.contains("at offset"), "{text}");
    for said in [text, page] {
        assert!(!said.contains("io_uring, direct"), "{said}");
    }
}

/// In an open loop the time of an operation begins when it is due: what waited to be issued is not
/// called slow in the flash.
#[test]
fn what_waited_to_be_issued_is_not_blamed_on_the_drive() {
    let mut run = sample::single_run();
    let longest = summarise(&run).steps[0].streams[0].kinds[&Action::Read].service_ns.unwrap().max;
    let mut said = |latency_ns: u64| {
        let end = run.steps[0].end.as_mut().expect("it came to its end");
        end.slowest = vec![Slow {
            latency_ns,
            issued: 20_000_000_000,
            kind: Action::Read,
            place: Place::Data { offset: 0 },
            stream: 0,
            worker: 0,
            cause: Cause::Flash,
        }];
        both(&run)[0].clone()
    };
    let text = said(longest);
    assert!(text.contains(", longest in: flash"), "{text}");
    let text = said(longest + 9_000_000_000);
    assert!(text.contains(", of which at least 9.00 s before it was issued"), "{text}");
    assert!(!text.contains("longest in"), "{text}");
}

#[test]
fn what_was_held_up_is_not_called_undisturbed() {
    let mut run = sample::single_run();
    run.begin = Begin::default();
    let mut summary = summarise(&run);
    summary.steps[0].valid = Some(true);
    let undisturbed = "nothing disturbed it";
    assert!(run_summary(&summary, &run.begin).contains(undisturbed));
    for code in ["pressure", "steal", "rate_not_kept"] {
        let text = "programs waited for a CPU 61 % of the time".to_string();
        summary.steps[0].notes = vec![Reason { code: code.into(), text }];
        let said = run_summary(&summary, &run.begin);
        assert!(said.contains("valid  "), "{said}");
        assert!(!said.contains(undisturbed), "{code}: {said}");
    }
}

#[test]
fn a_file_system_on_a_loop_device_has_the_size_of_that() {
    let mut run = sample::single_run();
    let target = &mut run.begin.facts.target;
    target.kind = TargetKind::Directory;
    target.filesystem = Some(FilesystemFacts { kind: "ext4".into(), ..FilesystemFacts::default() });
    let device = |name: &str, layer: &str, bytes: u64| DeviceFacts {
        name: name.into(),
        layer: layer.into(),
        bytes: Some(bytes),
        ..DeviceFacts::default()
    };
    let disk = device("vda", "disk", 275_000_000_000);
    target.devices = vec![device("loop0", "loop", 3 << 30), disk.clone()];
    let heading = |run: &Run| {
        let table = check_table(&summarise(run), &Findings::default(), &run.begin.facts);
        table.lines().next().unwrap_or_default().to_string()
    };
    assert!(heading(&run).ends_with("(ext4 on /dev/loop0, 3.22 GB)"), "{}", heading(&run));
    run.begin.facts.target.devices = vec![disk];
    assert!(heading(&run).ends_with("(ext4 on /dev/vda, 275 GB)"), "{}", heading(&run));
}
