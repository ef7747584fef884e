use super::*;
use drivelab_core::op::Action;
use drivelab_core::plan::{Stream, Until};
use drivelab_core::tally::{Keep, Tally};
use drivelab_core::units::{Size, Span};

fn quiet() -> Progress {
    Progress { is_drawn: false, is_told: false, ..Progress::new("run") }
}

fn beginning<'a>(step: &'a Step, rest: &'a [(u32, &'a Step)]) -> Beginning<'a> {
    Beginning {
        position: (4, 9),
        step,
        rest,
        file_bytes: 1 << 30,
        allowance: None,
        is_virtual: false,
    }
}

/// One worker's tenth of a second with so many operations of 4 KiB.
fn tally(at: u64, ops: u64) -> Tally {
    let keep = Keep::default();
    let mut tally = Tally::new(0, 0, 0, &[Action::Write], keep);
    (tally.from, tally.to) = (at * 100_000_000, (at + 1) * 100_000_000);
    let kind = &mut tally.kinds[0];
    (kind.ops, kind.bytes) = (ops, ops * 4096);
    (0..ops).for_each(|_| kind.service.record(90_000));
    tally
}

#[test]
fn the_line_says_what_how_far_and_how_fast() {
    let until = Until { elapsed: Some(Span(8_000_000_000)), ..Until::default() };
    let step = Step {
        name: "randwrite 4k qd32".into(),
        until,
        streams: vec![Stream::default()],
        ..Step::default()
    };
    let rest = [(0, &step); 5];
    let mut progress = quiet();
    progress.begin(beginning(&step, &rest));
    for at in 0..40 {
        progress.running.tally(&tally(at, 1000 + 10 * (at * 7 % 5)));
    }
    let parts = progress.running.parts(Duration::from_secs(6), Some(Duration::from_secs(72)));
    let line = line::set(&parts, 150);
    assert!(line.starts_with("4/9 randwrite 4k qd32  [▇▇▇▇▇▇▁▁]  75 %  10.2k IOPS ± "), "{line}");
    assert!(line.contains("  p99 90") && line.ends_with("  1:12 left"), "{line}");
    for columns in [79, 60, 40] {
        let line = line::set(&parts, columns);
        assert!(line.chars().count() <= columns, "{line}");
        assert!(line.ends_with("1:12 left"), "{line}");
    }
    // Two seconds of this one, and five that take eight each.
    assert_eq!(progress.left(Duration::from_secs(6)), Some(Duration::from_secs(42)));
}

#[test]
fn work_says_how_long_it_takes_once_some_is_done() {
    let until = Until { bytes: Some(Size(4096 * 10_000)), ..Until::default() };
    let step = Step {
        name: "fill".into(),
        role: Role::Precondition,
        until,
        streams: vec![Stream::default()],
        ..Step::default()
    };
    let mut progress = quiet();
    let allowance = Some(Allowance { written: 1 << 30, budget: 8 << 30 });
    progress.begin(Beginning { allowance, ..beginning(&step, &[]) });
    assert_eq!(progress.left(Duration::from_secs(1)), None, "nothing is done yet");
    for at in 0..4 {
        progress.running.tally(&tally(at, 1000));
    }
    let elapsed = Duration::from_secs(20);
    assert_eq!(progress.left(elapsed), Some(Duration::from_secs(30)), "40 % took 20 s");
    let line = line::set(&progress.running.parts(elapsed, progress.left(elapsed)), 150);
    assert!(line.starts_with("4/9 preparing: fill  [▇▇▇▁▁▁▁▁]  40 %"), "{line}");
    assert!(line.contains("  1.02 GiB of 8 GiB written  0:30 left"), "{line}");
    // Of a step behind it that ends by its work and was never done, nothing can be said.
    let other = Step { name: "other".into(), ..step.clone() };
    progress.begin(beginning(&step, &[(0, &other)]));
    for at in 0..4 {
        progress.running.tally(&tally(at, 1000));
    }
    assert_eq!(progress.left(elapsed), None);
    progress.took.insert("other".into(), Duration::from_secs(7));
    assert_eq!(progress.left(elapsed), Some(Duration::from_secs(37)));
}

#[test]
fn in_virtual_time_the_clock_on_the_wall_says_nothing_of_how_far_it_is() {
    let until = Until { elapsed: Some(Span(1_000_000_000)), ..Until::default() };
    let step =
        Step { name: "x".into(), until, streams: vec![Stream::default()], ..Step::default() };
    let mut progress = quiet();
    progress.begin(Beginning { is_virtual: true, ..beginning(&step, &[]) });
    for at in 0..5 {
        progress.running.tally(&tally(at, 100));
    }
    let elapsed = Duration::from_secs(30);
    assert_eq!(progress.left(elapsed), Some(elapsed), "half of it took 30 s");
}
