use super::{Cell, STUDY, Side, parts};
use crate::experiment::Setting;
use drivelab_core::anatomy::{Anatomy, Piece, Segment, Stamped, dissect};
use drivelab_core::facts::{DeviceFacts, Facts, FilesystemFacts, TargetKind};
use drivelab_core::op::Action;
use drivelab_core::plan::{Plan, Step};
use drivelab_core::record::{Record, StepBegin, StepEnd};
use drivelab_core::run::Run;
use drivelab_core::study::{Emptying, Scale, StudyOptions};
use drivelab_core::summary::summarise;
use drivelab_core::tally::{Keep, Phase, Tally};
use drivelab_core::trace::block::{BlockEvent, Point, Trace};
use drivelab_core::units::{Size, Span};

const CELL: Cell = Cell { kind: Action::Read, depth: 1 };

fn options() -> StudyOptions {
    StudyOptions {
        name: "anatomy".into(),
        scale: Scale::Quick,
        seed: 7,
        budget: Size(10 << 30),
        time: Span(240_000_000_000),
        delta: 0.05,
        emptying: Emptying::None,
        cpus: String::new(),
        bytes: 1 << 30,
        ..StudyOptions::default()
    }
}

fn facts(kind: TargetKind) -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = kind;
    facts.target.path = "/data".into();
    facts.target.devices = vec![DeviceFacts { name: "sda".into(), ..DeviceFacts::default() }];
    facts
}

/// A traced step of 20 reads with these parts each, one after the other.
fn anatomy(segments_ns: [u64; 4], off_ns: u64) -> (Anatomy, Vec<Stamped>) {
    let (mut events, mut ios) = (Vec::new(), Vec::new());
    for number in 0..20 {
        let issued = 1000 + number * 10_000_000;
        let sector = number * 8;
        let points = [Point::Queue, Point::Issue, Point::Complete];
        let mut at = issued;
        for (point, ns) in points.into_iter().zip(segments_ns) {
            at += ns;
            let action = Some(Action::Read);
            events.push(BlockEvent {
                at: at + off_ns,
                point,
                device: 1,
                sector,
                sectors: 8,
                action,
            });
        }
        let completed = at + segments_ns[3];
        let (offset, bytes, action) = (sector * 512, 4096, Action::Read);
        ios.push(Stamped {
            issued,
            submitted: issued,
            completed,
            offset,
            bytes,
            action,
            priority: 0,
        });
    }
    let trace = Trace { events, ..Trace::default() };
    let pieces = [Piece { offset: 0, bytes: 1 << 30, on_disk: 0 }];
    (dissect(&trace, 0, 1, ios.clone(), &pieces), ios)
}

/// A run of one traced step whose tally says that each read took `mean_ns`.
fn run_of(anatomy: Anatomy, mean_ns: u64) -> Run {
    let mut run = Run::default();
    let name = CELL.of(Side::Traced);
    let step = Step {
        name: name.clone(),
        trace: true,
        streams: vec![drivelab_core::plan::Stream::default()],
        ..Step::default()
    };
    let plan = Plan { steps: vec![step], ..Plan::default() };
    let begin = StepBegin {
        step: 0,
        plan_step: 0,
        plan: 0,
        repetition: 1,
        name,
        role: drivelab_core::plan::Role::Measure,
        state: "filled".into(),
        opened: Vec::new(),
    };
    let keep = Keep::default();
    let mut tally = Tally::new(0, 0, 0, &[Action::Read], keep);
    tally.to = 1_000_000_000;
    tally.kinds[0].ops = 20;
    tally.kinds[0].bytes = 20 * 4096;
    tally.kinds[0].service.record_n(mean_ns, 20);
    let phase =
        Phase { last: 1_000_000_000, closed: 1_000_000_000, issued: 20, ..Phase::default() };
    let end = StepEnd { phases: vec![phase], ..StepEnd::default() };
    let records = [
        Record::Plan { plan },
        Record::StepBegin(begin),
        Record::Tally(Box::new(tally)),
        Record::Anatomy(Box::new(anatomy)),
        Record::StepEnd(Box::new(end)),
    ];
    records.into_iter().for_each(|record| run.push(record).expect("in order"));
    run
}

#[test]
fn parts_of_a_sound_step_are_taken() {
    let (anatomy, _) = anatomy([10_000, 20_000, 60_000, 10_000], 0);
    let run = run_of(anatomy, 100_000);
    let mut doubts = Vec::new();
    let found = parts::of(&run, &summarise(&run), CELL, &mut doubts).expect("parts");
    assert_eq!(found.mean_ns(), [10_000.0, 20_000.0, 60_000.0, 10_000.0]);
    assert_eq!(found.slow.len(), 1, "a thousandth of 20, rounded up");
    assert!(doubts.is_empty(), "{doubts:?}");
}

#[test]
fn parts_that_are_not_the_whole_are_kept_out() {
    // The kernel's clock runs 30 µs late: what is back is not yet done.
    let (anatomy, _) = anatomy([10_000, 20_000, 60_000, 10_000], 30_000);
    assert_eq!(anatomy.dissected(), 0, "nothing was done in time: {anatomy:?}");
    let (late, _) = self::anatomy([10_000, 20_000, 60_000, 10_000], 0);
    let mut late = late;
    late.kinds[0].unaccounted_ns = 20 * 1100;
    let run = run_of(late, 100_000);
    let mut doubts = Vec::new();
    assert!(parts::of(&run, &summarise(&run), CELL, &mut doubts).is_none());
    assert!(doubts[0].contains("clocks of program and kernel disagree"), "{doubts:?}");
}

#[test]
fn ios_that_are_not_like_all_are_kept_out() {
    let (anatomy, _) = anatomy([10_000, 20_000, 60_000, 10_000], 0);
    let run = run_of(anatomy, 150_000);
    let mut doubts = Vec::new();
    assert!(parts::of(&run, &summarise(&run), CELL, &mut doubts).is_none());
    assert!(doubts[0].contains("differ by 33 %"), "{doubts:?}");
}

#[test]
fn what_nothing_can_be_followed_to_is_refused_with_the_way_out() {
    let options = options();
    let mut facts = facts(TargetKind::File);
    facts.target.devices.clear();
    let filesystem = FilesystemFacts { kind: "tmpfs".into(), ..FilesystemFacts::default() };
    facts.target.filesystem = Some(filesystem.clone());
    let objection = |facts: &Facts| (STUDY.objection)(&Setting { options: &options, facts });
    let text = objection(&facts).expect("no block device");
    assert!(text.contains("there is none below /data (tmpfs); name a file on a drive"), "{text}");
    facts.target.devices = self::facts(TargetKind::File).target.devices;
    let buffered = FilesystemFacts { direct_io_align: Some((0, 0)), ..filesystem };
    facts.target.filesystem = Some(buffered);
    assert!(objection(&facts).expect("no direct I/O").contains("page cache"));
    facts.target.filesystem = None;
    assert_eq!(objection(&facts), None);
}

#[test]
fn sides_stand_in_blocks_that_turn_around() {
    let (options, facts) = (options(), facts(TargetKind::File));
    let setting = Setting { options: &options, facts: &facts };
    let mut run = Run::default();
    run.begin.state = Some("filled".into());
    let plan = (STUDY.next)(&setting, &run).expect("a first round");
    assert_eq!(plan.steps.len(), 16, "2 kinds, 2 depths, 2 sides, twice");
    for block in plan.steps.chunks(4) {
        let traced: Vec<bool> = block.iter().map(|step| step.trace).collect();
        assert!(traced == [true, false, false, true] || traced == [false, true, true, false]);
        let one = |step: &Step| step.name.trim_end_matches(", traced").to_string();
        assert!(block.iter().all(|step| one(step) == one(&block[0])));
    }
    // Nothing can be traced: only what everyone may see is asked for.
    let refused = run_of(Anatomy::refused(0, "no"), 100_000);
    let run = Run { begin: run.begin, ..refused };
    let plan = (STUDY.next)(&setting, &run).expect("the rest of the round");
    assert!(plan.steps.iter().all(|step| !step.trace), "{plan:?}");
}

#[test]
fn a_simulated_drive_tells_its_stages_in_every_repetition() {
    let (options, facts) = (options(), facts(TargetKind::Simulated));
    let setting = Setting { options: &options, facts: &facts };
    let mut run = Run::default();
    run.begin.state = Some("filled".into());
    let plan = (STUDY.next)(&setting, &run).expect("a first round");
    assert!(plan.steps.iter().all(|step| step.trace && !step.name.contains("traced")));
    let found = STUDY.judged(&setting, &run);
    let parts: Vec<&str> = found.not_applicable.iter().map(|it| it.cell.as_str()).collect();
    let words = [Segment::Submit, Segment::Queue, Segment::WakeUp].map(Segment::word);
    assert_eq!(parts, words);
}
