//! Execution on a virtual testbed: every time is exact, no drive is needed.

use super::*;
use crate::descriptors::Descriptors;
use crate::store::reader;
use crate::store::writer::RunDirectory;
use drivelab_core::defect::defect;
use drivelab_core::driver::Driver;
use drivelab_core::facts::{DeviceFacts, Facts};
use drivelab_core::plan::{Arrival, Engine, Mix, Pattern, Role, Stream, Until};
use drivelab_core::queue::Sink;
use drivelab_core::record::{Begin, End, FORMAT};
use drivelab_core::run::Run;
use drivelab_core::units::Span;
use drivelab_core::virtual_bed::VirtualTestbed;
use drivelab_io::facts::{DeviceNumber, System};
use drivelab_io::ranks::Ranks;

const FILE_BYTES: u64 = 1 << 20;

fn execute(plan: &Plan) -> (Run, Result<(), Stop>) {
    execute_on(&mut VirtualTestbed::new(100_000, 1), plan)
}

fn execute_on(testbed: &mut dyn Testbed, plan: &Plan) -> (Run, Result<(), Stop>) {
    execute_below(System::live(), Vec::new(), testbed, plan)
}

/// Executes `plan` on a target that lies on these devices.
fn execute_below(
    system: System,
    devices: Vec<DeviceNumber>,
    testbed: &mut dyn Testbed,
    plan: &Plan,
) -> (Run, Result<(), Stop>) {
    let directory = tempfile::tempdir().unwrap();
    let runs = RunDirectory {
        path: directory.path().into(),
        shares_drive: false,
        measuring_cpus: Vec::new(),
    };
    let begin = Begin { format: FORMAT, run: "20260101-000000-0000".into(), ..Begin::default() };
    let mut recorder = Recorder::begin(&runs, begin);
    let mut target_actions = TargetActions::new(
        system,
        devices,
        Descriptors::default(),
        directory.path().join("write-caches"),
    );
    let mut progress = Progress::new("run");
    let result = Execution::new(
        Ranks::ALONE,
        testbed,
        &mut recorder,
        &mut progress,
        &mut target_actions,
        FILE_BYTES,
    )
    .run_plan(plan);
    let end = End { complete: result.is_ok(), status: 0, reason: None };
    let (run, path, trouble) = recorder.end(end);
    assert_eq!(trouble, None);
    assert_eq!(reader::read(&path).unwrap(), run, "the file tells the same as the run");
    (run, result)
}

fn step(name: &str, mix: Mix, pattern: Pattern, until: Until) -> Step {
    let streams = vec![Stream { mix, pattern, ..Stream::default() }];
    Step { name: name.into(), until, repeat: 1, streams, ..Step::default() }
}

fn operations(count: u64) -> Until {
    Until { operations: Some(count), ..Until::default() }
}

#[test]
fn steps_and_repetitions_become_records_in_order() {
    let fill = Step {
        role: Role::Prepare,
        ..step(
            "fill",
            Mix::WRITE,
            Pattern::SEQUENTIAL,
            Until { passes: Some(1), ..Until::default() },
        )
    };
    let reads = step("read", Mix::READ, Pattern::Uniform, operations(50));
    let reads = Step { repeat: 3, ..reads };
    let idle = Step {
        name: "idle".into(),
        act: Some(Act::Idle(Span(1_000_000))),
        role: Role::Idle,
        ..Step::default()
    };
    let (run, result) =
        execute(&Plan { seed: 1, steps: vec![fill, idle, reads], ..Plan::default() });
    assert_eq!(result, Ok(()));
    let said: Vec<(&str, u32, &str)> = run
        .steps
        .iter()
        .map(|step| (step.begin.name.as_str(), step.begin.repetition, step.begin.state.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("fill", 1, "unknown"),
            ("idle", 1, "filled"),
            ("read", 1, "filled"),
            ("read", 2, "filled"),
            ("read", 3, "filled"),
        ]
    );
    let ops: Vec<u64> =
        run.steps.iter().map(|step| step.tallies.iter().map(|tally| tally.ops()).sum()).collect();
    assert_eq!(ops, [FILE_BYTES / 4096, 0, 50, 50, 50]);
    for step in &run.steps {
        let end = step.end.as_ref().unwrap();
        assert_eq!(end.incomplete, None);
        assert_eq!(end.phases.len(), step.plan.streams.len());
    }
    let slowest = &run.steps[2].end.as_ref().unwrap().slowest;
    assert!(slowest.iter().all(|slow| slow.latency_ns == 100_000) && slowest.len() == 50);
    assert_eq!(run.warnings, []);
}

#[test]
fn what_time_ended_is_read_back_as_far_as_each_worker_came() {
    let until = |elapsed| Until { elapsed: Some(Span(elapsed)), ..Until::default() };
    let mut written = step("write", Mix::WRITE, Pattern::Uniform, until(5_000_000));
    written.streams[0].workers = 2;
    let mut back = step("back", Mix::READ, Pattern::Uniform, until(1_000_000_000));
    back.streams[0].workers = 2;
    back.until.issued_by = Some(0);
    let (run, result) = execute(&Plan { seed: 1, steps: vec![written, back], ..Plan::default() });
    assert_eq!(result, Ok(()));
    let issued = |step: usize| -> Vec<(u32, u64)> {
        let phases = &run.steps[step].end.as_ref().unwrap().phases;
        phases.iter().map(|phase| (phase.worker, phase.issued)).collect()
    };
    assert_eq!(issued(0), issued(1));
    assert!(issued(0).iter().all(|(_, count)| (20..=30).contains(count)), "{:?}", issued(0));
}

#[test]
fn a_rate_that_cannot_be_kept_is_a_warning() {
    let until = Until { elapsed: Some(Span(100_000_000)), ..Until::default() };
    let mut hurried = step("hurried", Mix::READ, Pattern::Uniform, until);
    hurried.streams[0].arrival = Arrival::paced(100_000.0);
    let (run, result) = execute(&Plan { seed: 1, steps: vec![hurried], ..Plan::default() });
    assert_eq!(result, Ok(()));
    assert_eq!(run.warnings.len(), 1);
    assert_eq!(run.warnings[0].code, "rate_not_kept");
    assert_eq!(run.warnings[0].step, Some(0));
}

#[test]
fn trims_beside_other_operations_are_a_warning() {
    let mix = |read, trim| Mix { read, write: 0, trim };
    let codes = |mix: Mix, depth: u32| {
        let mut mixed = step("mixed", mix, Pattern::Uniform, operations(50));
        mixed.streams[0].engine = Engine::IoUring;
        mixed.streams[0].depth = depth;
        let (run, _) = execute(&Plan { seed: 1, steps: vec![mixed], ..Plan::default() });
        run.warnings.into_iter().map(|warning| warning.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(mix(90, 10), 4), ["trims_hold_up"]);
    assert_eq!(codes(mix(90, 10), 1), [""; 0]);
    assert_eq!(codes(mix(0, 100), 4), [""; 0]);
}

#[test]
fn a_step_that_does_not_fit_ends_the_run_and_says_why() {
    let mut huge = step("huge", Mix::READ, Pattern::Uniform, operations(1));
    huge.streams[0].size.0 = 2 * FILE_BYTES;
    let after = step("after", Mix::READ, Pattern::Uniform, operations(1));
    let (run, result) = execute(&Plan { seed: 1, steps: vec![huge, after], ..Plan::default() });
    assert!(matches!(result, Err(Stop::Trouble(_))));
    assert_eq!(run.steps.len(), 1);
    let incomplete = run.steps[0].end.as_ref().unwrap().incomplete.as_ref().unwrap();
    assert!(incomplete.contains("too small"), "{incomplete}");
    assert!(!run.complete());
}

/// A drive that contradicts itself when it is to do something else than I/O.
struct Contradictory(VirtualTestbed);

impl Testbed for Contradictory {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn run(&mut self, drivers: Vec<Driver>, sink: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        self.0.run(drivers, sink)
    }

    fn act(&mut self, _: &Act) -> Option<Result<Option<SettingChange>, Trouble>> {
        defect("the clock goes back")
    }
}

#[test]
fn a_drive_that_contradicts_itself_ends_its_step_and_the_run() {
    let idle = Step { name: "idle".into(), act: Some(Act::Idle(Span(1000))), ..Step::default() };
    let reads = step("read", Mix::READ, Pattern::Uniform, operations(50));
    let mut testbed = Contradictory(VirtualTestbed::new(100_000, 1));
    let plan = Plan { seed: 1, steps: vec![reads.clone(), idle, reads], ..Plan::default() };
    let (run, result) = execute_on(&mut testbed, &plan);
    let Err(Stop::Trouble(trouble)) = result else { panic!("{result:?}") };
    assert_eq!(trouble.kind, TroubleKind::Defect);
    assert_eq!(trouble.text, "the clock goes back (a defect of drivelab)");
    assert_eq!(run.steps.len(), 2, "what comes after it is not begun");
    let of_idle = run.steps[1].end.as_ref().unwrap();
    assert_eq!(of_idle.incomplete.as_deref(), Some(trouble.text.as_str()));
    assert_eq!(run.steps[0].tallies.iter().map(|tally| tally.ops()).sum::<u64>(), 50);
}

/// A machine with the drive 8:0: its files, those of the drive, and the machine.
pub fn one_drive() -> (tempfile::TempDir, std::path::PathBuf, System) {
    let root = tempfile::tempdir().unwrap();
    let block = root.path().join("sys/dev/block/8:0");
    std::fs::create_dir_all(&block).unwrap();
    std::fs::write(block.join("size"), "1000\n").unwrap();
    let system = System::captured(root.path());
    (root, block, system)
}

/// A drive that is pulled out before its workers have opened it: what then happens to what the
/// kernel shows of it.
struct PulledOut(VirtualTestbed, fn(&std::path::Path), std::path::PathBuf);

impl Testbed for PulledOut {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn run(&mut self, _: Vec<Driver>, _: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        // The kernel takes its name away only after it has refused to open it.
        let (taken_away, block) = (self.1, self.2.clone());
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(60));
            taken_away(&block);
        });
        Err(Trouble::failed("/dev/sda cannot be opened: No such device or address"))
    }
}

#[test]
fn a_drive_that_went_away_before_it_was_opened_is_called_that() {
    let text = |taken_away: fn(&std::path::Path)| {
        let (_root, block, system) = one_drive();
        let mut testbed = PulledOut(VirtualTestbed::new(100_000, 1), taken_away, block);
        let reads = step("read", Mix::READ, Pattern::Uniform, operations(50));
        let plan = Plan { seed: 1, steps: vec![reads], ..Plan::default() };
        let devices = vec![DeviceNumber { major: 8, minor: 0 }];
        let (_, result) = execute_below(system, devices, &mut testbed, &plan);
        let Err(Stop::Trouble(trouble)) = result else { panic!("{result:?}") };
        trouble.text
    };
    fn state(block: &std::path::Path, state: &str) {
        std::fs::create_dir_all(block.join("device")).unwrap();
        std::fs::write(block.join("device/state"), state).unwrap();
    }
    let words = "the drive 8:0 went away while it was used: /dev/sda cannot be opened: No such \
                 device or address; see the kernel log";
    let ways: [fn(&std::path::Path); 3] = [
        |block| std::fs::remove_dir_all(block).unwrap(),
        |block| state(block, "cancel\n"),
        |block| state(block, "deleting (no IO)\n"),
    ];
    for taken_away in ways {
        let text = text(taken_away);
        assert!(text.starts_with(words), "{text}");
    }
    let text = text(|block| state(block, "running\n"));
    assert_eq!(text, "/dev/sda cannot be opened: No such device or address");
}

#[test]
fn a_drive_that_went_away_before_it_was_watched_is_gone() {
    let (_root, block, system) = one_drive();
    let list = block.with_file_name("scratch");
    let actions =
        || TargetActions::new(system.clone(), Vec::new(), Descriptors::default(), list.clone());
    let seen = DeviceFacts {
        name: "sda".into(),
        number: "8:0".into(),
        bytes: Some(512_000),
        ..DeviceFacts::default()
    };
    let mut watching = actions();
    watching.watch(&seen);
    assert_eq!(watching.gone(), None);
    std::fs::remove_dir_all(&block).unwrap();
    assert_eq!(watching.gone(), Some("sda".into()));
    let mut too_late = actions();
    too_late.watch(&seen);
    assert_eq!(too_late.gone_since(), Some("sda".into()));
    assert_eq!(actions().gone_since(), None, "nothing was known of it");
}

/// A drive that is pulled out while memory serves all that is read.
struct Unnoticed(VirtualTestbed, std::path::PathBuf);

impl Testbed for Unnoticed {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn run(&mut self, drivers: Vec<Driver>, sink: &mut dyn Sink) -> Result<Vec<Finished>, Trouble> {
        std::fs::remove_dir_all(&self.1).unwrap();
        self.0.run(drivers, sink)
    }
}

#[test]
fn a_drive_that_went_away_unnoticed_has_no_result() {
    let (_root, block, system) = one_drive();
    let mut testbed = Unnoticed(VirtualTestbed::new(100_000, 1), block);
    let reads = step("read", Mix::READ, Pattern::Uniform, operations(50));
    let plan = Plan { seed: 1, steps: vec![reads], ..Plan::default() };
    let devices = vec![DeviceNumber { major: 8, minor: 0 }];
    let (run, result) = execute_below(system, devices, &mut testbed, &plan);
    let Err(Stop::Trouble(trouble)) = result else { panic!("{result:?}") };
    let words = "the drive 8:0 went away while it was used: no operation failed, since it went";
    assert!(trouble.text.starts_with(words), "{}", trouble.text);
    assert_eq!(run.steps[0].tallies.iter().map(|tally| tally.ops()).sum::<u64>(), 50);
}
