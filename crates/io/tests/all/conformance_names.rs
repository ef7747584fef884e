//! The metadata engine on tmpfs and ext4.

use crate::conformance_support::*;
use drivelab_core::driver::Setup;
use drivelab_core::facts::Facts;
use drivelab_core::op::Action::{self, Create, Flush, Mkdir, Open, Rename, Stat, Unlink, Utime};
use drivelab_core::plan::{Engine, Names, Pattern, Stream};
use drivelab_core::queue::{Finished, Testbed};
use drivelab_core::units::Span;
use drivelab_io::testbed::{Handle, Opener, RealTestbed};
use std::path::PathBuf;

fn names(actions: &[Action], count: u32) -> Stream {
    Stream {
        engine: Engine::Psync,
        workers: 2,
        depth: 1,
        pattern: Pattern::Names(Names {
            actions: actions.to_vec(),
            names: Some(count),
            ..Names::default()
        }),
        ..Stream::default()
    }
}

/// The same by io_uring, 32 names in flight.
fn by_ring(actions: &[Action], count: u32) -> Stream {
    Stream { engine: Engine::IoUring, depth: 32, ..names(actions, count) }
}

fn run_names(directory: PathBuf, stream: Stream, count: u64) -> (Sum, Vec<Finished>) {
    let opener: Opener = Box::new(move |_: &Setup| {
        let opened = std::fs::File::open(&directory).unwrap();
        Ok(Handle::Directory(opened.into()))
    });
    let mut testbed = RealTestbed::new(Facts::default(), clock(), opener);
    let mut sum = Sum::default();
    let drivers = drivers(stream, passes(count), Span(100_000_000), 0);
    let finished = testbed.run(drivers, &mut sum).unwrap();
    (sum, finished)
}

fn suite(test: &str, place: fn() -> Place, names: fn(&[Action], u32) -> Stream) {
    if is_unavailable(test) {
        return;
    }
    let place = place();
    let directory = place.directory.clone().unwrap().join("names");
    std::fs::create_dir(&directory).unwrap();
    let count = || std::fs::read_dir(&directory).unwrap().count();

    let all = [Create, Open, Stat, Utime, Rename, Rename, Unlink];
    let (sum, finished) = run_names(directory.clone(), names(&all, 50), 3);
    for (action, times) in [(Create, 1), (Open, 1), (Stat, 1), (Utime, 1), (Rename, 2), (Unlink, 1)]
    {
        assert_eq!(sum.ops(action), times * 50 * 3 * 2, "{action:?}");
    }
    assert!(finished.iter().all(|one| one.driver.failure().is_none()));
    assert_eq!(sum.total().error_count(), 0);
    assert_eq!(count(), 0, "everything was removed");
    for kind in &sum.total().kinds {
        assert_eq!(kind.service.count(), kind.ops, "a latency each: {:?}", kind.kind);
        assert!(kind.service.min() > 0, "{:?}", kind.kind);
    }

    let (sum, _) = run_names(directory.clone(), names(&[Create], 20), 2);
    assert_eq!((sum.ops(Create), count()), (80, 80), "each pass has names of its own");

    let (_, finished) = run_names(directory.clone(), names(&[Create], 20), 1);
    let errno = finished[0].driver.failure().and_then(|failure| failure.errno);
    assert_eq!(errno.map(|errno| errno.0), Some(libc::EEXIST), "never an existing name");
    assert_eq!(count(), 80);

    std::fs::remove_dir_all(&directory).unwrap();
    std::fs::create_dir(&directory).unwrap();
    let (sum, _) = run_names(directory.clone(), names(&[Stat, Open], 10), 4);
    assert_eq!((sum.ops(Stat), sum.ops(Open)), (80, 80));
    assert_eq!(count(), 20, "names that stand over all passes are made beforehand");

    let (sum, _) = run_names(directory.clone(), names(&[Mkdir], 5), 2);
    assert_eq!((sum.ops(Mkdir), count()), (20, 40));

    std::fs::remove_dir_all(&directory).unwrap();
    std::fs::create_dir(&directory).unwrap();
    let (sum, _) = run_names(directory.clone(), names(&[Create, Flush, Unlink], 70), 2);
    assert_eq!((sum.ops(Flush), sum.ops(Unlink)), (280, 280), "fsync of each");
    assert_eq!((sum.total().error_count(), count()), (0, 0));
}

/// A name that is not there: its own error, not that of what it called off.
fn missing(test: &str, place: fn() -> Place, names: fn(&[Action], u32) -> Stream) {
    if is_unavailable(test) {
        return;
    }
    let place = place();
    let directory = place.directory.clone().unwrap().join("names");
    for (action, expected) in
        [(Open, libc::ENOENT), (Stat, libc::ENOENT), (Flush, libc::ENOENT), (Unlink, libc::ENOENT)]
    {
        std::fs::create_dir(&directory).unwrap();
        let actions = [Create, Unlink, action];
        let (_, finished) = run_names(directory.clone(), names(&actions, 40), 1);
        // The first worker that fails ends the step of both.
        let failed = finished.iter().find_map(|one| one.driver.failure());
        let errno = failed.and_then(|failure| failure.errno);
        assert_eq!(errno.map(|errno| errno.0), Some(expected), "{action:?}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

#[test]
fn names_on_tmpfs() {
    suite("names_on_tmpfs", tmpfs, names);
}

#[test]
fn names_on_tmpfs_by_ring() {
    suite("names_on_tmpfs_by_ring", tmpfs, by_ring);
}

#[test]
fn names_on_ext4() {
    suite("names_on_ext4", ext4, names);
}

#[test]
fn names_on_ext4_by_ring() {
    suite("names_on_ext4_by_ring", ext4, by_ring);
}

#[test]
fn names_that_are_missing() {
    missing("names_that_are_missing", tmpfs, names);
}

#[test]
fn names_that_are_missing_by_ring() {
    missing("names_that_are_missing_by_ring", tmpfs, by_ring);
}

#[test]
fn spelt_names_stand_in_the_directory_itself() {
    let place = tmpfs();
    let directory = place.directory.clone().unwrap().join("spelt");
    std::fs::create_dir(&directory).unwrap();
    let spelt = |actions: &[Action], form: &str| {
        names(actions, 5).with_names(|names| {
            names.form = Some(form.into());
            names.name_bytes = drivelab_core::units::Size(100);
        })
    };
    let form = "n{worker}f{name}";
    let run = |stream| run_names(directory.clone(), stream, 1);
    let (sum, _) = run(spelt(&[Create], form));
    assert_eq!(sum.ops(Create), 10);
    let mut found: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let expected: Vec<String> =
        (0..2).flat_map(|worker| (0..5).map(move |name| format!("n{worker}f{name}"))).collect();
    assert_eq!(found, expected);
    assert_eq!(std::fs::metadata(directory.join("n1f4")).unwrap().len(), 100);
    // The steps that follow find them; a neighbour's are as good.
    let other = Stream { neighbour: 1, ..spelt(&[Stat, Open, Utime], form) };
    let (sum, finished) = run(other);
    assert_eq!((sum.ops(Stat), sum.ops(Open), sum.ops(Utime)), (10, 10, 10));
    assert!(finished.iter().all(|one| one.driver.failure().is_none()));
    // What is there is not made again, and what is not there fails.
    let (_, finished) = run(spelt(&[Create], form));
    assert!(finished.iter().any(|one| one.driver.failure().is_some()), "it exists");
    let (sum, _) = run(spelt(&[Unlink], form));
    assert_eq!(sum.ops(Unlink), 10);
    // Directories.
    let deep = |action| {
        names(&[action], 5).with_names(|names| {
            names.of_directories = true;
            names.form = Some("d{worker}.{name}".into());
        })
    };
    run(deep(Mkdir));
    assert!(directory.join("d1.4").is_dir());
    let (sum, _) = run(deep(Unlink));
    assert_eq!(sum.ops(Unlink), 10);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}
