use super::iozone::{LARGE, SMALL, Test};
use super::*;
use crate::experiment::Setting;
use crate::experiment::sample::play;
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

/// Bytes of the records of a test, by its name.
fn record_bytes(name: &str) -> f64 {
    let words: Vec<&str> = name.split(' ').collect();
    let mebibyte = 1024.0 * 1024.0;
    // What prepares has no record in its name.
    let [.., number, unit] = words[..] else { return mebibyte };
    number
        .parse()
        .map_or(mebibyte, |number: f64| number * if unit == "KiB" { 1024.0 } else { mebibyte })
}

#[test]
fn tests_of_a_minute_or_less_are_told_where_the_method_is_followed_to_the_letter() {
    let (mut options, facts) = (options(), simulated(Some(8 << 30)));
    let mut told = |scale: Scale, seconds: f64, of_one: f64| {
        options.scale = scale;
        let setting = Setting { options: &options, facts: &facts };
        let rate = |name: &str, _| {
            let seconds = if name == "backward read 4 MiB" { of_one } else { seconds };
            f64::from(1 << 30) * 16.0 / record_bytes(name) / seconds
        };
        let run = play(&crate::files::STUDY, &setting, "fresh", &rate);
        brief(&setting, &run).map(|warning| {
            assert!(!warning.advice.is_empty());
            warning.text
        })
    };
    assert_eq!(told(Scale::Full, 100.0, 100.0), None);
    let text = told(Scale::Full, 100.0, 30.0).unwrap();
    assert!(text.starts_with("1 of 68 valid tests did not take longer than 60 s"), "{text}");
    assert!(text.ends_with("the shortest was `backward read 4 MiB`, 30.0 s."), "{text}");
    let text = told(Scale::Full, 20.0, 20.0).unwrap();
    assert!(text.starts_with("68 of 68 valid tests"), "{text}");
    // Nobody asked for it.
    assert_eq!(told(Scale::Default, 20.0, 20.0), None);
}
