use super::iozone::{LARGE, SMALL, Test};
use super::*;
use crate::experiment::Setting;
use drivelab_core::facts::{Facts, SimulatedFacts};
use drivelab_core::plan::Files;
use drivelab_core::study::{Emptying, Scale, StudyOptions};

fn options() -> StudyOptions {
    StudyOptions {
        name: "files".into(),
        scale: Scale::Full,
        seed: 3,
        budget: Size(1 << 50),
        time: Span(1 << 60),
        delta: 0.05,
        emptying: Emptying::Discard,
        cpus: String::new(),
        torture: drivelab_core::study::TortureOptions::default(),
        bytes: 64 << 30,
        ..StudyOptions::default()
    }
}

fn simulated(page_cache_bytes: Option<u64>) -> Facts {
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Simulated;
    facts.target.simulated = Some(SimulatedFacts { page_cache_bytes, ..SimulatedFacts::default() });
    facts
}

fn all(setting: &Setting<'_>, file_bytes: u64) -> Vec<Group> {
    let shape = Shape::of(setting, file_bytes);
    let large = LARGE.map(|record| iozone::throughput(setting, &shape, record, &Test::ALL));
    let small = SMALL.map(|record| iozone::operations(&shape, record, &Test::OPERATIONS));
    large.into_iter().chain(small).collect()
}

#[test]
fn the_data_cells_are_68_and_write_what_the_suite_writes() {
    let (options, facts) = (options(), simulated(Some(8 << 30)));
    let setting = Setting { options: &options, facts: &facts };
    let groups = all(&setting, 16 << 30);
    assert_eq!(cells(&groups).len(), 68);
    assert_eq!(written_bytes(&groups), 32 * (16 << 30), "6 of 13 and 2 of 4 write, by 4 sizes");
    let facts = simulated(None);
    let setting = Setting { options: &options, facts: &facts };
    assert_eq!(cells(&all(&setting, 16 << 30)).len(), 52, "the C library needs a page cache");
}

#[test]
fn a_test_keeps_its_place_in_its_group_and_groups_change_theirs() {
    let (options, facts) = (options(), simulated(Some(8 << 30)));
    let setting = Setting { options: &options, facts: &facts };
    let groups = all(&setting, 1 << 30);
    let names = |number| -> Vec<String> {
        let steps = round(&setting, &groups, number, ", before");
        steps.into_iter().filter(|step| step.act.is_none()).map(|step| step.name).collect()
    };
    let (first, second) = (names(0), names(1));
    assert_ne!(first, second);
    let mut sorted = [first.clone(), second];
    sorted.iter_mut().for_each(|names| names.sort());
    assert_eq!(sorted[0], sorted[1]);
    let at = |name: &str| first.iter().position(|known| known == name).unwrap();
    assert_eq!(at("reread 4 MiB, before"), at("read 4 MiB, before") + 1);
    assert_eq!(at("freread 16 MiB, before"), at("write 16 MiB, before") + 12);
}

#[test]
fn parallel_files_have_the_bytes_that_were_asked_for() {
    let (options, facts) = (options(), simulated(None));
    let setting = Setting { options: &options, facts: &facts };
    let shape = Shape::of(&setting, 0);
    let bytes = 4 * ior::SMALL.segments * ior::SMALL.block;
    for owner in ior::Owner::BOTH {
        let group = ior::group(&setting, &shape, &ior::SMALL, owner, bytes);
        assert_eq!(group.loads[0].written_bytes(), bytes, "{}", owner.words());
        assert_eq!(group.loads[1].written_bytes(), 0);
    }
    let mut facts = Facts::default();
    facts.target.kind = TargetKind::Directory;
    let setting = Setting { options: &options, facts: &facts };
    let group = ior::group(&setting, &shape, &ior::LARGE, ior::Owner::Each, 1 << 30);
    assert_eq!(group.loads[0].stream.files, Files::Each);
    assert_eq!(group.loads[0].written_bytes(), 1 << 30);
}

#[test]
fn names_are_shared_out() {
    let names = names::Names { count: 1000, workers: 4, directories: Files::Each };
    let actions = [Action::Create, Action::Stat, Action::Unlink];
    let group = names::group(names, "names", &actions, &actions[..2]);
    assert_eq!(group.loads[0].stream.names().unwrap().names, Some(250));
    let told: Vec<&str> = group.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(
        told,
        ["create/close, 4 workers, a directory each", "stat, 4 workers, a directory each"]
    );
    assert_eq!(group.loads[0].written_bytes(), 0);
}
