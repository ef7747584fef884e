use super::*;
use crate::experiment::sample::play;
use crate::experiment::tests::{options, simulated};
use drivelab_core::anatomy::Piece;
use drivelab_core::facts::{Facts, SimulatedFacts};
use drivelab_core::findings::Findings;
use drivelab_core::plan::Stripe;
use drivelab_core::record::{Resumed, StepEnd};
use drivelab_core::study::{FileSystemOptions, Protocol, StudyOptions};

const MIB: u64 = 1 << 20;

fn device() -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::BlockDevice;
    facts.target.path = "/dev/sdq".into();
    facts
}

/// A simulated drive below a simulated file system.
fn below_a_file_system() -> Facts {
    let mut facts = simulated();
    let known = SimulatedFacts { has_file_system: true, ..SimulatedFacts::default() };
    facts.target.simulated = Some(known);
    facts
}

fn judged(facts: &Facts, options: &StudyOptions, rate: &dyn Fn(&str, u32) -> f64) -> Findings {
    let setting = Setting { options, facts };
    let run = play(&STUDY, &setting, "fresh", rate);
    STUDY.judged(&setting, &run)
}

/// Rates with a little noise, the file at this share of the device.
fn noisy(share: f64) -> impl Fn(&str, u32) -> f64 {
    move |name: &str, repetition: u32| {
        let noise = 1.0 + 0.001 * f64::from((repetition * 7 + name.len() as u32) % 5);
        let is_raw = name.ends_with("raw");
        10_000.0 * noise * if is_raw { 1.0 } else { share }
    }
}

#[test]
fn what_is_planted_is_found_and_what_is_not_is_not() {
    let options = options("fs");
    let found = judged(&below_a_file_system(), &options, &noisy(0.8));
    assert_eq!(found.verdict.len(), 2, "{found:?}");
    for load in ["sequential read", "sequential write", "random read", "random write"] {
        assert!(found.verdict[0].contains(&format!("{load} -20 % [-20 %, -20 %]")), "{found:?}");
    }
    assert!(found.verdict[1].contains("first write equivalent"), "{found:?}");
    let none = judged(&below_a_file_system(), &options, &noisy(1.0));
    assert!(none.verdict[0].starts_with("A file in the file system, against"), "{none:?}");
    assert!(none.verdict[0].contains("random write equivalent"), "{none:?}");
    assert!(none.figures.iter().any(|figure| figure.name == LAYOUT), "{none:?}");
    let compared = none.comparison.unwrap();
    assert!(compared.cells.iter().all(|cell| !cell.name.contains("layout")), "no result");
}

/// The cells of a run that went on count all repetitions, the figures only those of one file
/// system: that is said, or two tables of one run disagree.
#[test]
fn figures_of_a_study_that_was_broken_off_say_what_they_are_of() {
    let (facts, options) = (below_a_file_system(), options("fs"));
    let setting = Setting { options: &options, facts: &facts };
    let mut run = play(&STUDY, &setting, "fresh", &noisy(0.8));
    let says = |run: &Run| {
        let found = STUDY.judged(&setting, run).deviations;
        found.iter().any(|text| text.contains("are of what came after that"))
    };
    assert!(!says(&run));
    let before = run.steps[0].clone();
    run.steps.insert(0, before);
    let because = Some("the machine restarted".into());
    run.resumptions = vec![Resumed { at: None, steps: 1, state: "unknown".into(), because }];
    assert!(says(&run));
}

#[test]
fn sides_take_turns_and_what_is_missing_is_asked_for() {
    let options = options("fs");
    let facts = simulated();
    let setting = Setting { options: &options, facts: &facts };
    let run = play(&STUDY, &setting, "fresh", &noisy(1.0));
    for cell in cells(&setting, &region(&setting, &run.steps)) {
        assert_eq!(done(&run.steps, cell.name), REPETITIONS, "{}", cell.name);
    }
    let begins_raw = |plan: &Plan| plan.steps[0].act.is_none();
    let is_aging = |plan: &Plan| plan.steps.iter().any(|step| step.name == AGE);
    let aging = run.plans.iter().position(is_aging).unwrap();
    for rounds in [&run.plans[1..aging], &run.plans[aging + 1..]] {
        let rounds: Vec<bool> = rounds.iter().map(begins_raw).collect();
        assert_eq!(rounds.len(), REPETITIONS);
        assert!(rounds.windows(2).all(|pair| pair[0] != pair[1]), "{rounds:?}");
    }
    for plan in &run.plans {
        let mut is_mounted = false;
        for step in &plan.steps {
            match step.act {
                Some(Act::Mount(_)) => is_mounted = true,
                Some(Act::Unmount) => is_mounted = false,
                _ if step.name == "settling" => {}
                _ => assert_eq!(step.name.ends_with(", raw"), !is_mounted, "{}", step.name),
            }
        }
        assert!(!is_mounted, "each plan ends on the device itself");
    }
}

#[test]
fn raw_loads_go_to_the_largest_piece_of_the_file() {
    let mut options = options("fs");
    options.file_system = FileSystemOptions { make: Some(FileSystem::Ext4), ..Default::default() };
    (options.bytes, options.budget) = (2040 * MIB, Size(64 << 30));
    let facts = device();
    let setting = Setting { options: &options, facts: &facts };
    let mut run = play(&STUDY, &setting, "unknown", &noisy(1.0));
    assert_eq!(region(&setting, &run.steps).on_device, None, "nobody said where");
    let file = file_bytes(&setting);
    assert_eq!(file, 408 * MIB);
    let piece = |offset: u64, bytes: u64, on_disk: u64| Piece {
        offset: offset * MIB,
        bytes: bytes * MIB,
        on_disk: on_disk * MIB,
    };
    let places = vec![vec![piece(0, 100, 8), piece(100, 250, 300), piece(350, 58, 600)]];
    for step in run.steps.iter_mut().filter(|step| step.begin.name == UNMOUNT) {
        step.end = Some(StepEnd { places: places.clone(), ..StepEnd::default() });
    }
    let found = region(&setting, &run.steps);
    let expected = Region {
        in_file: 100 * MIB,
        on_device: Some(300 * MIB),
        bytes: 206 * MIB,
        has_others: true,
    };
    assert_eq!(found, expected, "without the last quarter");
    for cell in CELLS {
        let stream = stream(&setting, &found, cell);
        let end = stream.offset.0 + stream.length.unwrap().0;
        match cell.way {
            Way::Raw => assert_eq!((stream.offset.0, end), (300 * MIB, 506 * MIB)),
            Way::File if cell.load == Load::First => {
                assert_eq!((stream.offset.0, end), (306 * MIB, 408 * MIB));
            }
            Way::File => assert_eq!((stream.offset.0, end), (100 * MIB, 306 * MIB)),
            Way::FileEach => assert_eq!((stream.offset.0, end), (0, 206 * MIB / 4)),
        }
    }
    options.file_system =
        FileSystemOptions { directory: Some("/mnt".into()), ..Default::default() };
    let setting = Setting { options: &options, facts: &facts };
    let writes_raw = |cell: &Cell| cell.way == Way::Raw && !cell.is_read;
    assert!(!cells(&setting, &expected).iter().any(writes_raw), "a mounted device is not written");
}

#[test]
fn what_cannot_be_is_said_with_the_way_out() {
    let says = |facts: &Facts, make, directory: Option<&str>, bytes: u64| {
        let mut options = options("fs");
        options.bytes = bytes;
        options.file_system =
            FileSystemOptions { make, directory: directory.map(Into::into), stripe: None };
        objection(&Setting { options: &options, facts }).unwrap_or_default()
    };
    let (xfs, ext4) = (Some(FileSystem::Xfs), Some(FileSystem::Ext4));
    assert!(says(&device(), None, None, 1 << 30).contains("add --mkfs xfs or --mkfs ext4"));
    assert!(says(&device(), xfs, Some("/mnt"), 1 << 30).contains("give one of them"));
    assert!(says(&device(), xfs, None, 256 * MIB).contains("give --mkfs ext4"));
    assert_eq!(says(&device(), ext4, None, 256 * MIB), "");
    assert_eq!(says(&simulated(), None, None, 256 * MIB), "");
    assert!(says(&simulated(), None, Some("/mnt"), 256 * MIB).contains("leave it out"));
    let mut directory = device();
    directory.target.kind = TargetKind::Directory;
    directory.target.path = "/mnt".into();
    let text = says(&directory, xfs, None, 1 << 30);
    assert!(text.contains("/mnt is not one") && text.contains("--mount /mnt"), "{text}");
    assert!(says(&directory, None, None, 1 << 30).contains("name the device"));
}

/// `--mkfs ext4 --stripe-width 32 --stride 16`.
fn striped() -> StudyOptions {
    let mut options = options("fs");
    let stripe = Some(Stripe { stride: Some(16), stripe_width: 32 });
    options.file_system =
        FileSystemOptions { make: Some(FileSystem::Ext4), stripe, directory: None };
    options.bytes = 2040 * MIB;
    options
}

#[test]
fn ext4_with_stripes_is_compared_with_ext4_without() {
    let (options, facts) = (striped(), device());
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(objection(&setting), None);
    let rate = |share: f64| {
        move |name: &str, repetition: u32| {
            let noise = 1.0 + 0.001 * f64::from((repetition * 3 + name.len() as u32) % 5);
            10_000.0 * noise * if name == "first write, striped" { share } else { 1.0 }
        }
    };
    let found = judged(&facts, &options, &rate(1.3));
    assert!(found.verdict[0].contains("-E stride=16,stripe_width=32"), "{found:?}");
    assert!(found.verdict[0].contains("first write +30 %"), "{found:?}");
    assert!(found.verdict[0].contains("random read equivalent"), "{found:?}");
    let found = judged(&facts, &options, &rate(1.0));
    assert!(found.verdict[0].contains("first write equivalent"), "{found:?}");
    // Both are made in each round, the other way about in the next.
    let run = play(&STUDY, &setting, "unknown", &rate(1.0));
    let made: Vec<bool> = run
        .steps
        .iter()
        .filter_map(|step| match step.plan.act {
            Some(Act::Mkfs(kind)) => Some(kind == FileSystem::Ext4),
            _ => None,
        })
        .collect();
    assert_eq!(made.len(), 10);
    assert!(made.chunks(2).all(|round| round[0] != round[1]), "{made:?}");
    assert!(made.chunks(2).collect::<Vec<_>>().windows(2).all(|pair| pair[0] != pair[1]));
    assert!(run.plans.iter().map(most_written).sum::<u64>() <= options.budget.0);
}

#[test]
fn stripes_are_refused_where_they_mean_nothing() {
    let says = |facts: &Facts, make, stride, stripe_width| {
        let mut options = striped();
        options.file_system.make = make;
        options.file_system.stripe = Some(Stripe { stride, stripe_width });
        objection(&Setting { options: &options, facts }).unwrap_or_default()
    };
    let (xfs, ext4) = (Some(FileSystem::Xfs), Some(FileSystem::Ext4));
    assert!(says(&device(), xfs, None, 32).contains("su=,sw="));
    assert!(says(&simulated(), ext4, None, 32).contains("needs a block device"));
    assert!(says(&device(), ext4, Some(10), 32).contains("not a multiple of a stride of 10"));
    assert_eq!(says(&device(), ext4, None, 32), "");
    let options = StudyOptions { protocol: Some(Protocol::Pblaze5), ..striped() };
    let said = objection(&Setting { options: &options, facts: &device() }).unwrap();
    assert!(said.contains("give one of them"), "{said}");
}

#[test]
fn the_loads_of_the_review_are_its_own_on_both_sides() {
    let mut options = options("fs");
    options.protocol = Some(Protocol::Pblaze5);
    options.file_system = FileSystemOptions { make: Some(FileSystem::Xfs), ..Default::default() };
    (options.bytes, options.budget) = (9 << 30, Size(64 << 30));
    let facts = device();
    let setting = Setting { options: &options, facts: &facts };
    let run = play(&STUDY, &setting, "unknown", &noisy(0.8));
    let mounts = run.steps.iter().filter_map(|step| match &step.plan.act {
        Some(Act::Mount(mount)) => Some(mount.files),
        _ => None,
    });
    assert!(mounts.clone().count() > 0 && mounts.clone().all(|files| files == 8));
    let streams = |name: &str| {
        let named = run.steps.iter().filter(|step| step.begin.name == name);
        named.flat_map(|step| step.plan.streams.clone()).collect::<Vec<Stream>>()
    };
    for cell in ["sequential read, file", "sequential write, file"] {
        let found = streams(cell);
        let is_its = |it: &Stream| (it.size.0, it.depth, it.workers) == (128 << 10, 256, 1);
        assert!(!found.is_empty() && found.iter().all(is_its), "{cell}: {found:?}");
    }
    for cell in ["random read, file", "random write, file", "random read, a file each"] {
        let found = streams(cell);
        let is_its = |it: &Stream| (it.size.0, it.depth, it.workers) == (4096, 64, 8);
        // Files of their own are there only if all of them were laid out, which nobody did here.
        let is_there = !found.is_empty() || cell.ends_with("each");
        assert!(is_there && found.iter().all(is_its), "{cell}: {found:?}");
    }
    let found = STUDY.judged(&setting, &run);
    assert!(found.deviations.iter().any(|text| text == jobs::DEVIATION), "{found:?}");
}
