//! Files and names that a plan spells in somebody's directory: ours are written and removed, what
//! is not ours is neither.

use crate::guard_support::*;
use drivelab_core::plan::{Names, Pattern, Stream};
use drivelab_io::facts::System;
use drivelab_io::guard::Intent;
use drivelab_io::opening::{
    Mode, NamedFile, OpenRequest, Part, SpeltNames, open_names, open_target,
};
use std::fs::File;
use std::os::unix::fs::FileExt;

const WRITING: Mode =
    Mode { write: true, direct: false, dsync: false, nonblock: false, advice: None };

fn request(room: &Room, named: &[(&str, u64, bool)]) -> OpenRequest {
    let named = named.iter().map(|(path, bytes, destroys)| NamedFile {
        path: path.into(),
        bytes: *bytes,
        destroys: *destroys,
        grows_to: None,
        part: Part::Opens,
    });
    let named = named.collect();
    OpenRequest { named, ..room.request(room.directory.path(), Intent::Write) }
}

#[test]
fn named_files_are_made_kept_and_found_again() {
    let room = Room::new();
    let system = System::live();
    std::fs::create_dir(room.path("b")).unwrap();
    let mut wanted = request(&room, &[("a.0.0", MIB, true), ("b/c", 2 * MIB, true)]);
    wanted.keep = true;
    let target = open_target(&system, &wanted).unwrap();
    assert_eq!(target.bytes, 2 * MIB, "the largest");
    assert_eq!(target.files().iter().map(|file| file.bytes).collect::<Vec<_>>(), [MIB, 2 * MIB]);
    File::from(target.descriptor(0, WRITING).unwrap()).write_all_at(b"ours", 0).unwrap();
    target.close().unwrap();
    assert_eq!(std::fs::read(room.path("a.0.0")).unwrap()[..4], *b"ours");
    // The same line again, and one that wants more of a file.
    wanted.named[0].bytes = 3 * MIB;
    wanted.keep = false;
    let target = open_target(&system, &wanted).unwrap();
    assert!(!target.files()[0].created);
    assert_eq!(std::fs::metadata(room.path("a.0.0")).unwrap().len(), 3 * MIB);
    target.close().unwrap();
    assert!(room.path("a.0.0").exists(), "it was to be kept");
}

/// A file that begins empty is this run's, whoever of drivelab made it: it stays or goes as asked.
#[test]
fn what_begins_empty_stays_or_goes_as_one_that_is_made() {
    let room = Room::new();
    let system = System::live();
    let mut wanted = request(&room, &[("a", MIB, true), ("whole", MIB, true)]);
    wanted.named[0].grows_to = Some(MIB);
    for (keep, stays) in [(true, true), (true, true), (false, false)] {
        wanted.keep = keep;
        let target = open_target(&system, &wanted).unwrap();
        assert_eq!(std::fs::metadata(room.path("a")).unwrap().len(), 0);
        File::from(target.descriptor(0, WRITING).unwrap()).write_all_at(b"ours", 0).unwrap();
        target.close().unwrap();
        assert_eq!((room.path("a").exists(), room.path("whole").exists()), (stays, true));
    }
    wanted.keep = true;
    open_target(&system, &wanted).unwrap().close().unwrap();
    std::fs::write(room.path("a"), b"precious").unwrap();
    wanted.keep = false;
    refused(open_target(&system, &wanted), "changed_since");
    assert_eq!(std::fs::read(room.path("a")).unwrap(), b"precious");
}

#[test]
fn what_begins_empty_through_a_link_stays_and_stays_ours() {
    let room = Room::new();
    let system = System::live();
    let mut wanted = request(&room, &[("a", MIB, true)]);
    wanted.keep = true;
    open_target(&system, &wanted).unwrap().close().unwrap();
    std::os::unix::fs::symlink("a", room.path("link")).unwrap();
    let mut linked = request(&room, &[("link", MIB, true)]);
    linked.named[0].grows_to = Some(MIB);
    for _ in 0..2 {
        let target = open_target(&system, &linked).unwrap();
        File::from(target.descriptor(0, WRITING).unwrap()).write_all_at(b"ours", 0).unwrap();
        target.close().unwrap();
        assert_eq!(std::fs::read(room.path("a")).unwrap(), b"ours");
    }
    std::fs::write(room.path("a"), b"precious").unwrap();
    refused(open_target(&system, &linked), "changed_since");
}

#[test]
fn what_was_made_is_removed_and_what_is_foreign_stays() {
    let room = Room::new();
    let system = System::live();
    std::fs::write(room.path("foreign"), vec![7; 8192]).unwrap();
    let both = [("new", MIB, true), ("foreign", 4096, true)];
    refused(open_target(&system, &request(&room, &both)), "foreign_file");
    assert_eq!(std::fs::read(room.path("foreign")).unwrap(), vec![7; 8192]);
    assert!(!room.path("new").exists(), "what was made before the refusal is gone");
    // To be read it may be foreign.
    let reading = [("new", MIB, true), ("foreign", 4096, false)];
    let target = open_target(&system, &request(&room, &reading)).unwrap();
    assert!(target.descriptor(1, Mode::default()).is_ok());
    assert!(target.descriptor(1, WRITING).is_err(), "never for writing");
    assert!(target.descriptor(0, WRITING).is_ok());
    target.close().unwrap();
    assert_eq!(room.names(), ["foreign"]);
    let too_long = [("foreign", 16_384, false)];
    let Err(refusal) = open_target(&system, &request(&room, &too_long)) else { panic!("opened") };
    assert_eq!(refusal.code, "too_small");
    let below_nothing = [("no/where", MIB, true)];
    assert!(open_target(&system, &request(&room, &below_nothing)).is_err());
}

fn spelt(form: &str, workers: u32, names: u32) -> SpeltNames {
    let stream = Stream {
        workers,
        pattern: Pattern::Names(Names {
            form: Some(form.into()),
            names: Some(names),
            ..Names::default()
        }),
        ..Stream::default()
    };
    SpeltNames::of(&stream).unwrap()
}

#[test]
fn names_that_are_there_already_are_not_ours() {
    let room = Room::new();
    let system = System::live();
    let open = |spelt: Vec<SpeltNames>| {
        open_names(&system, &room.request(room.directory.path(), Intent::Write), spelt, None)
    };
    for other in ["n0f10", "n2f0", "n0f01", "n0f", "xn0f1"] {
        std::fs::write(room.path(other), b"").unwrap();
    }
    let directory = open(vec![spelt("n{worker}f{name}", 2, 10)]).unwrap();
    std::fs::write(room.path("n0f3"), b"made by the run").unwrap();
    directory.close().unwrap();
    assert!(!room.path("n0f3").exists(), "what the run left behind is removed");
    assert_eq!(room.names().len(), 5, "what only looks alike stays");
    std::fs::write(room.path("n1f9"), b"foreign").unwrap();
    let Err(refusal) = open(vec![spelt("n{worker}f{name}", 2, 10)]) else { panic!("opened") };
    assert_eq!(refusal.code, "foreign_names");
    assert_eq!(std::fs::read(room.path("n1f9")).unwrap(), b"foreign");
}

#[test]
fn names_below_directories_go_before_them() {
    let room = Room::new();
    let system = System::live();
    let request = room.request(room.directory.path(), Intent::Write);
    let directories = SpeltNames { of_directories: true, ..spelt("{worker}", 2, 1) };
    let all = vec![directories, spelt("{worker}/n{worker}f{name}", 2, 3)];
    let directory = open_names(&system, &request, all.clone(), None).unwrap();
    for worker in ["0", "1"] {
        std::fs::create_dir(room.path(worker)).unwrap();
        std::fs::write(room.path(worker).join(format!("n{worker}f2")), b"").unwrap();
    }
    drop(directory);
    assert!(room.names().is_empty(), "{:?}", room.names());
    // Somebody's directory of that name.
    std::fs::create_dir(room.path("1")).unwrap();
    assert!(open_names(&system, &request, all, None).is_err());
    assert!(room.path("1").exists());
}

#[test]
fn others_of_a_team_join_the_very_directory_and_leave_it_as_it_is() {
    let (room, other) = (Room::new(), Room::new());
    let system = System::live();
    let of = |room: &Room| room.request(room.directory.path(), Intent::Write);
    let all = vec![spelt("n{worker}f{name}", 2, 3)];
    let first = open_names(&system, &of(&room), all.clone(), None).unwrap();
    std::fs::write(room.path("n0f1"), b"").unwrap();
    let joined = open_names(&system, &of(&room), all.clone(), Some(first.mark())).unwrap();
    joined.close().unwrap();
    assert_eq!(room.names(), ["n0f1"], "who joined removes nothing");
    std::fs::write(other.path("n1f2"), b"").unwrap();
    let refusal = open_names(&system, &of(&other), all, Some(first.mark())).unwrap_err();
    assert_eq!(refusal.code, "changed");
    first.close().unwrap();
    assert!(room.names().is_empty());
    assert_eq!(other.names(), ["n1f2"], "nobody has looked whose it is");
}

#[test]
fn others_of_a_team_join_the_very_file() {
    let room = Room::new();
    let system = System::live();
    let wanted = request(&room, &[("a", MIB, true), ("b", MIB, true)]);
    let with = |parts: [Part; 2]| {
        let mut own = wanted.clone();
        own.named.iter_mut().zip(parts).for_each(|(named, part)| named.part = part);
        own
    };
    let mut first = open_target(&system, &with([Part::Opens, Part::None])).unwrap();
    let second_request = with([Part::Joins, Part::Opens]);
    let mut second = open_target(&system, &second_request).unwrap();
    let seen: Vec<_> = [first.seen().unwrap(), second.seen().unwrap()].concat();
    assert_eq!(seen.iter().map(|seen| seen.index).collect::<Vec<_>>(), [0, 1]);
    second.join(&second_request, &seen).unwrap();
    first.join(&with([Part::Opens, Part::None]), &seen).unwrap();
    assert!(first.descriptor(1, WRITING).is_err(), "it has nothing to do with it");
    File::from(second.descriptor(0, WRITING).unwrap()).write_all_at(b"joined", 0).unwrap();
    assert!(second.file(0).unwrap().joined && !second.file(1).unwrap().joined);
    second.close().unwrap();
    assert_eq!(room.names(), ["a"], "who joined removes nothing");
    // Another file of that name is not the same.
    std::fs::rename(room.path("a"), room.path("old")).unwrap();
    std::fs::write(room.path("a"), vec![0; 1 << 20]).unwrap();
    let mut third = open_target(&system, &second_request).unwrap();
    let refusal = third.join(&second_request, &seen).unwrap_err();
    assert_eq!(refusal.code, "changed");
}

#[test]
fn names_of_an_earlier_run_are_removed_only_where_they_are_as_it_left_them() {
    let room = Room::new();
    let system = System::live();
    let request = room.request(room.directory.path(), Intent::Write);
    let of = |existing, removes| {
        let as_said = |spelt| SpeltNames { existing, removes, ..spelt };
        let directories = SpeltNames { of_directories: true, ..spelt("{worker}", 2, 1) };
        vec![as_said(directories), as_said(spelt("{worker}/n{worker}f{name}", 2, 3))]
    };
    let open =
        |spelt, keep| open_names(&system, &OpenRequest { keep, ..request.clone() }, spelt, None);
    let make = || {
        let directory = open(of(false, false), true).unwrap();
        for worker in ["0", "1"] {
            std::fs::create_dir(room.path(worker)).unwrap();
            std::fs::write(room.path(worker).join(format!("n{worker}f2")), b"").unwrap();
        }
        directory.close().unwrap();
    };
    make();
    // Names next to each other in a directory that is not ours are nobody's but who made them.
    std::fs::write(room.path("n0f0"), b"somebody's").unwrap();
    let next_to =
        || vec![SpeltNames { existing: true, removes: true, ..spelt("n{worker}f{name}", 2, 3) }];
    let Err(refusal) = open(next_to(), false) else { panic!("opened") };
    assert_eq!(refusal.code, "foreign_file");
    std::fs::remove_file(room.path("n0f0")).unwrap();
    std::fs::create_dir(room.path("n0f0")).unwrap();
    let directories =
        next_to().into_iter().map(|spelt| SpeltNames { of_directories: true, ..spelt }).collect();
    let Err(refusal) = open(directories, false) else { panic!("opened") };
    assert_eq!(refusal.code, "foreign_file");
    std::fs::remove_dir(room.path("n0f0")).unwrap();
    open(of(true, false), false).unwrap().close().unwrap();
    assert!(room.path("0").join("n0f2").exists(), "what was only looked up stays");
    open(of(true, true), false).unwrap().close().unwrap();
    std::fs::write(room.path("1").join("n1f0"), b"put there by someone").unwrap();
    let Err(refusal) = open(of(true, true), false) else { panic!("opened") };
    assert_eq!(refusal.code, "changed_since");
    std::fs::remove_dir_all(room.path("1")).unwrap();
    std::fs::create_dir(room.path("1")).unwrap();
    let Err(refusal) = open(of(true, true), false) else { panic!("opened") };
    assert_eq!(refusal.code, "foreign_file");
}

/// Three files side by side, of one worker, which a stream makes there.
fn side_by_side(existing: bool, removes: bool) -> Vec<SpeltNames> {
    vec![SpeltNames { existing, removes, ..spelt("a.{worker}.{name}", 1, 3) }]
}

#[test]
fn names_that_stay_in_a_foreign_directory_are_ours_one_by_one() {
    let room = Room::new();
    let system = System::live();
    let request = room.request(room.directory.path(), Intent::Write);
    let open = |spelt, keep| {
        let request = OpenRequest { keep, ..request.clone() };
        open_names(&system, &request, spelt, None)
    };
    let make = || {
        let directory = open(side_by_side(false, true), true).unwrap();
        for name in 0..3 {
            std::fs::write(room.path(&format!("a.0.{name}")), b"").unwrap();
        }
        directory.close().unwrap();
    };
    let code = |spelt| open(spelt, false).map(drop).map_err(|refusal| refusal.code);
    make();
    std::fs::write(room.path("a.0.3"), b"no name of the run").unwrap();
    assert_eq!(code(side_by_side(true, true)), Ok(()), "as they were left");
    assert_eq!(code(side_by_side(false, true)), Err("foreign_names"), "none is made twice");
    std::fs::write(room.path("a.0.1"), b"written since").unwrap();
    assert_eq!(code(side_by_side(true, true)), Err("changed_since"));
    assert_eq!(code(side_by_side(true, false)), Ok(()), "they may be looked at");
    std::fs::remove_file(room.path("a.0.1")).unwrap();
    std::fs::write(room.path("a.0.1"), b"somebody's").unwrap();
    assert_eq!(code(side_by_side(true, true)), Err("foreign_file"));
    std::fs::remove_file(room.path("a.0.1")).unwrap();
    std::os::unix::fs::symlink("a.0.0", room.path("a.0.1")).unwrap();
    let Err(refusal) = open(side_by_side(true, true), false) else { panic!("opened") };
    assert_eq!(refusal.code, "foreign_file", "{}", refusal.message);
    std::fs::remove_file(room.path("a.0.1")).unwrap();
    std::fs::create_dir(room.path("a.0.1")).unwrap();
    assert_eq!(code(side_by_side(true, true)), Err("foreign_file"));
    assert_eq!(room.names(), ["a.0.0", "a.0.1", "a.0.2", "a.0.3"]);
}

#[test]
fn of_names_that_came_up_meanwhile_only_those_of_the_workers_are_removed_or_ours() {
    let system = System::live();
    for keep in [false, true] {
        let room = Room::new();
        let request = room.request(room.directory.path(), Intent::Write);
        let open = |spelt, keep| {
            let request = OpenRequest { keep, ..request.clone() };
            open_names(&system, &request, spelt, None)
        };
        let directory = open(side_by_side(false, true), keep).unwrap().alone();
        // No worker has told that it made it.
        std::fs::write(room.path("a.0.0"), b"somebody's").unwrap();
        directory.close().unwrap();
        assert_eq!(room.names(), ["a.0.0"]);
        let Err(refusal) = open(side_by_side(true, true), false) else { panic!("opened") };
        assert_eq!(refusal.code, "foreign_file");
    }
}

#[test]
fn files_that_have_no_room_are_not_begun() {
    let room = Room::new();
    let request = room.request(room.directory.path(), Intent::Write);
    let large = SpeltNames { bytes: u64::MAX / 4, ..spelt("a.{name}", 1, 3) };
    let refusal = open_names(&System::live(), &request, vec![large], None).unwrap_err();
    assert_eq!(refusal.code, "no_space");
}
