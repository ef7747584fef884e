//! Scratch: what drivelab makes it removes, after panics and kills too, and nothing else.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::guard_support::*;
use drivelab_io::facts::System;
use drivelab_io::guard::Intent;
use drivelab_io::opening::{Mode, OpenRequest, open_directory, open_target};
use drivelab_io::scratch::{ScratchKind, ScratchList, life, remove_leftovers};

fn scratch(room: &Room, path: impl Into<PathBuf>) -> OpenRequest {
    let mut request = room.request(path, Intent::Write);
    request.size = Some(MIB);
    request
}

#[test]
fn a_scratch_file_is_made_sized_and_removed() {
    let room = Room::new();
    let system = System::live();
    let target = open_target(&system, &scratch(&room, room.path("new"))).unwrap();
    let metadata = std::fs::metadata(room.path("new")).unwrap();
    assert_eq!((metadata.len(), metadata.blocks()), (MIB, 0), "sized, not written");
    assert!(target.files()[0].created && target.writable);
    assert_eq!(target.bytes, MIB);
    assert!(target.logical_block_bytes.is_power_of_two());
    assert_eq!(ScratchList::at(room.ledger()).entries().unwrap().len(), 1);
    // A second run on it is refused while the first lives.
    refused(open_target(&system, &scratch(&room, room.path("new"))), "locked");
    let file = File::from(target.descriptor(0, Mode { write: true, ..Mode::default() }).unwrap());
    file.write_all_at(b"x", 0).unwrap();
    target.close().unwrap();
    assert!(room.names().is_empty());
    assert_eq!(std::fs::metadata(room.ledger()).unwrap().len(), 0);
}

#[test]
fn a_directory_gets_files_of_its_own() {
    let room = Room::new();
    let mut request = scratch(&room, room.directory.path());
    request.files = 3;
    let target = open_target(&System::live(), &request).unwrap();
    assert_eq!(target.files().len(), 3);
    assert_eq!(room.names().len(), 3);
    assert!(target.descriptor(2, Mode::default()).is_ok());
    assert!(target.descriptor(3, Mode::default()).is_err());
    drop(target);
    assert!(room.names().is_empty());
    // For reading too: something must be there to be read.
    request.intent = Intent::Read;
    let target = open_target(&System::live(), &request).unwrap();
    assert!(target.writable, "it must be laid out first");
    drop(target);
    assert!(room.names().is_empty());
}

#[test]
fn a_panic_leaves_nothing() {
    let room = Room::new();
    let request = scratch(&room, room.path("new"));
    let directory = room.directory.path().to_owned();
    let names = room.request(&directory, Intent::Write);
    let outcome = std::panic::catch_unwind(move || {
        let _target = open_target(&System::live(), &request).unwrap();
        let made = open_directory(&System::live(), &names).unwrap();
        std::fs::create_dir_all(made.path().join("a/b")).unwrap();
        std::fs::write(made.path().join("a/b/c"), "x").unwrap();
        panic!("as planned");
    });
    assert!(outcome.is_err());
    assert!(room.names().is_empty(), "{:?}", room.names());
}

#[test]
fn kept_scratch_stays_ours_and_stays() {
    let room = Room::new();
    let system = System::live();
    let mut request = scratch(&room, room.path("kept"));
    request.keep = true;
    drop(open_target(&system, &request).unwrap());
    assert_eq!(room.names(), ["kept"]);
    // The same line again, then without --keep: it was promised to stay.
    drop(open_target(&system, &request).unwrap());
    request.keep = false;
    request.size = Some(2 * MIB);
    let target = open_target(&system, &request).unwrap();
    assert!(!target.files()[0].created);
    assert_eq!(target.bytes, 2 * MIB);
    drop(target);
    assert_eq!(room.names(), ["kept"]);
    let ledger = ScratchList::at(room.ledger());
    assert!(remove_leftovers(&ledger).unwrap().removed.is_empty());
    // Replaced by a copy, it is not ours.
    std::fs::copy(room.path("kept"), room.path("copy")).unwrap();
    std::fs::rename(room.path("copy"), room.path("kept")).unwrap();
    refused(open_target(&system, &request), "foreign_file");
}

#[test]
fn a_foreign_file_is_never_written() {
    let room = Room::new();
    let system = System::live();
    let path = room.path("letters");
    std::fs::write(&path, vec![42; 4096]).unwrap();
    std::os::unix::fs::symlink(&path, room.path("link")).unwrap();
    std::fs::hard_link(&path, room.path("hard")).unwrap();
    let before = hash(&path);
    for name in ["letters", "link", "hard"] {
        for intent in [Intent::Write, Intent::Discard] {
            let mut request = scratch(&room, room.path(name));
            (request.intent, request.erase) = (intent, Some("letters:4096".to_owned()));
            (request.keep, request.files) = (true, 2);
            refused(open_target(&system, &request), "foreign_file");
        }
    }
    // Nor as a later member of a set.
    std::fs::write(room.path("set.1"), "mine").unwrap();
    let mut request = scratch(&room, room.path("set"));
    request.files = 3;
    refused(open_target(&system, &request), "foreign_file");
    assert_eq!(std::fs::read(room.path("set.1")).unwrap(), b"mine");
    assert_eq!(hash(&path), before);
    assert_eq!(room.names(), ["hard", "letters", "link", "set.1"]);
    assert!(ScratchList::at(room.ledger()).entries().unwrap().is_empty());
}

#[test]
fn a_used_inode_number_is_not_ours() {
    let room = Room::new();
    let request = scratch(&room, room.path("first"));
    let mut request = OpenRequest { keep: true, ..request };
    drop(open_target(&System::live(), &request).unwrap());
    let inode = std::fs::metadata(room.path("first")).unwrap().ino();
    std::fs::remove_file(room.path("first")).unwrap();
    // ext4 gives the number to the next file at once; elsewhere this shows nothing, harmlessly.
    std::fs::write(room.path("second"), vec![1; 4096]).unwrap();
    let again = std::fs::metadata(room.path("second")).unwrap().ino() == inode;
    request.path = room.path("second");
    refused(open_target(&System::live(), &request), "foreign_file");
    eprintln!("inode number used again: {again}");
}

#[test]
fn what_someone_put_there_instead_stays() {
    let room = Room::new();
    let target = open_target(&System::live(), &scratch(&room, room.path("new"))).unwrap();
    std::fs::rename(room.path("new"), room.path("moved-away")).unwrap();
    std::fs::write(room.path("new"), "precious").unwrap();
    // Descriptors lead to the inode that was approved, not to the name.
    let file = File::from(target.descriptor(0, Mode { write: true, ..Mode::default() }).unwrap());
    file.write_all_at(b"xxxxxxxx", 0).unwrap();
    target.close().unwrap();
    assert_eq!(std::fs::read(room.path("new")).unwrap(), b"precious");
    // Ours was moved by hand: still in the ledger, reported, not searched for.
    let leftovers = remove_leftovers(&ScratchList::at(room.ledger())).unwrap();
    assert!(leftovers.removed.is_empty());
    assert_eq!(room.names(), ["moved-away", "new"]);
}

#[test]
fn a_killed_run_leaves_scratch_that_is_found() {
    let room = Room::new();
    let place = room.path("place");
    std::fs::create_dir(&place).unwrap();
    let (ledger_path, place_text) = (room.ledger(), place.to_str().unwrap().to_owned());
    let variables = [("LEDGER", ledger_path.to_str().unwrap()), ("PLACE", &place_text)];
    let helper = ChildProcess::start("scratch::child_makes_scratch", &variables);
    let ledger = ScratchList::at(room.ledger());
    let made = std::fs::read_dir(&place).unwrap().count();
    assert_eq!(made, 3);
    // While it lives nothing of it is touched.
    let leftovers = remove_leftovers(&ledger).unwrap();
    assert_eq!((leftovers.removed.len(), leftovers.in_use.len()), (0, 3));
    helper.kill();
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 3);
    std::fs::write(place.join("bystander"), "x").unwrap();
    let leftovers = remove_leftovers(&ledger).unwrap();
    assert_eq!(leftovers.removed.len(), 3, "{leftovers:?}");
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["bystander"]);
    assert!(ledger.entries().unwrap().is_empty());
}

/// No test by itself: what a helper process runs.
#[test]
fn child_makes_scratch() {
    let (Ok(ledger), Ok(place)) = (std::env::var("LEDGER"), std::env::var("PLACE")) else { return };
    let mut request = OpenRequest::new(&place, Intent::Write, ledger);
    (request.size, request.files) = (Some(MIB), 2);
    let _target = open_target(&System::live(), &request).unwrap();
    let directory = open_directory(&System::live(), &request).unwrap();
    std::fs::create_dir_all(directory.path().join("deep/er")).unwrap();
    std::fs::write(directory.path().join("deep/old"), "x").unwrap();
    ready_and_wait();
}

#[test]
fn a_directory_is_emptied_without_leaving_it() {
    if !possible("a_directory_is_emptied_without_leaving_it") {
        return;
    }
    let room = Room::new();
    std::fs::create_dir(room.path("outside")).unwrap();
    std::fs::write(room.path("outside/precious"), "x").unwrap();
    std::fs::create_dir(room.path("place")).unwrap();
    let request = room.request(room.path("place"), Intent::Write);
    let made = open_directory(&System::live(), &request).unwrap();
    let path = made.path().to_owned();
    std::os::unix::fs::symlink(room.path("outside"), path.join("link")).unwrap();
    for index in 0..300 {
        std::fs::write(path.join(format!("file{index}")), "x").unwrap();
    }
    std::fs::create_dir_all(path.join("mounted")).unwrap();
    run("mount", &["-t", "tmpfs", "none", path.join("mounted").to_str().unwrap()]);
    let mounted = Mounted { at: path.join("mounted") };
    std::fs::write(path.join("mounted/precious"), "x").unwrap();
    let error = made.close().unwrap_err();
    assert!(error.to_string().contains("is mounted in the scratch directory"), "{error}");
    assert!(path.join("mounted/precious").exists());
    drop(mounted);
    // Another part of the same file system has the same device number.
    run(
        "mount",
        &["--bind", room.path("outside").to_str().unwrap(), path.join("mounted").to_str().unwrap()],
    );
    let mounted = Mounted { at: path.join("mounted") };
    let ledger = ScratchList::at(room.ledger());
    let leftovers = remove_leftovers(&ledger).unwrap();
    assert!(leftovers.removed.is_empty(), "{leftovers:?}");
    assert!(leftovers.left[0].1.contains("is mounted in the scratch directory"), "{leftovers:?}");
    assert!(room.path("outside/precious").exists());
    drop(mounted);
    assert_eq!(remove_leftovers(&ledger).unwrap().removed, vec![path.clone()]);
    assert!(!path.exists());
    assert!(room.path("outside/precious").exists());
}

#[test]
fn a_bind_mount_in_a_scratch_directory_is_not_emptied() {
    if !possible("a_bind_mount_in_a_scratch_directory_is_not_emptied") {
        return;
    }
    let room = Room::new();
    std::fs::create_dir(room.path("outside")).unwrap();
    std::fs::write(room.path("outside/precious"), "x").unwrap();
    let request = room.request(room.directory.path(), Intent::Write);
    let made = open_directory(&System::live(), &request).unwrap();
    let at = made.path().join("a");
    std::fs::create_dir(&at).unwrap();
    run("mount", &["--bind", room.path("outside").to_str().unwrap(), at.to_str().unwrap()]);
    let mounted = Mounted { at };
    let error = made.close().unwrap_err();
    assert!(error.to_string().contains("is mounted in the scratch directory"), "{error}");
    assert!(room.path("outside/precious").exists());
    drop(mounted);
}

#[test]
fn what_somebody_put_into_a_scratch_directory_stays() {
    for change in ["new/letter", "deep/old", "deep/er/letter"] {
        let room = Room::new();
        let place = room.path("place");
        std::fs::create_dir(&place).unwrap();
        let (ledger_path, place_text) = (room.ledger(), place.to_str().unwrap().to_owned());
        let variables = [("LEDGER", ledger_path.to_str().unwrap()), ("PLACE", &place_text)];
        ChildProcess::start("scratch::child_makes_scratch", &variables).kill();
        let entries = ScratchList::at(room.ledger()).entries().unwrap();
        let directory = entries.iter().find(|entry| entry.kind == ScratchKind::Directory).unwrap();
        let directory = directory.path();
        std::thread::sleep(std::time::Duration::from_millis(3200));
        let changed = directory.join(change);
        std::fs::create_dir_all(changed.parent().unwrap()).unwrap();
        std::fs::write(&changed, "precious").unwrap();
        let leftovers = remove_leftovers(&ScratchList::at(room.ledger())).unwrap();
        assert_eq!(leftovers.removed.len(), 2, "{change}: {leftovers:?}");
        assert_eq!(leftovers.left.len(), 1, "{change}: {leftovers:?}");
        assert!(leftovers.left[0].1.contains("was changed after"), "{leftovers:?}");
        assert_eq!(std::fs::read(&changed).unwrap(), b"precious");
    }
}

#[test]
fn a_ledger_that_is_removed_meanwhile_is_made_again_and_said() {
    let room = Room::new();
    let target = open_target(&System::live(), &scratch(&room, room.path("new"))).unwrap();
    std::fs::remove_file(room.ledger()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(life::lost().is_some_and(|text| text.contains("was removed while the run lasted")));
    let entries = ScratchList::at(room.ledger()).entries().unwrap();
    assert_eq!(entries.iter().map(|it| it.path()).collect::<Vec<_>>(), [room.path("new")]);
    std::fs::remove_dir_all(room.ledger().parent().unwrap()).unwrap();
    target.close().unwrap();
    assert!(!room.path("new").exists());
}

#[test]
fn the_ledger_survives_torn_lines_and_many_writers() {
    let room = Room::new();
    let ledger = ScratchList::at(room.ledger());
    let mut request = scratch(&room, room.path("kept"));
    request.keep = true;
    drop(open_target(&System::live(), &request).unwrap());
    let append = |text: &str| {
        let mut file = File::options().append(true).open(room.ledger()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append("{\"event\":\"made\",\"kind\":\"fi");
    assert_eq!(ledger.entries().unwrap().len(), 1);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let room = &room;
            scope.spawn(move || {
                for round in 0..5 {
                    let path = room.path(&format!("t{thread}-{round}"));
                    drop(open_target(&System::live(), &scratch(room, path)).unwrap());
                }
            });
        }
    });
    assert_eq!(room.names(), ["kept"]);
    assert_eq!(ledger.entries().unwrap().len(), 1, "the torn line took nothing with it");
    drop(open_target(&System::live(), &request).unwrap());
}

#[test]
fn no_space_is_said_before_anything_is_made() {
    if !possible("no_space_is_said_before_anything_is_made") {
        return;
    }
    let room = Room::new();
    let place = room.path("place");
    std::fs::create_dir(&place).unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=4m", "none", place.to_str().unwrap()]);
    let _mounted = Mounted { at: place.clone() };
    let mut request = scratch(&room, &place);
    for (size, files, reserve) in [(5 * MIB, 1, 0), (MIB, 5, 0), (2 * MIB, 1, 3 * MIB)] {
        (request.size, request.files, request.reserve_bytes) = (Some(size), files, reserve);
        let refusal = misused(open_target(&System::live(), &request), "no_space");
        assert!(refusal.message.contains("4.2 MB") || reserve > 0, "{refusal}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    }
    (request.size, request.files, request.reserve_bytes) = (Some(MIB), 1, 3 * MIB);
    drop(open_target(&System::live(), &request).unwrap());
}

#[test]
fn missing_direct_io_is_named() {
    if !possible("missing_direct_io_is_named") {
        return;
    }
    let room = Room::new();
    let place = room.path("place");
    std::fs::create_dir(&place).unwrap();
    run("mount", &["-t", "ramfs", "none", place.to_str().unwrap()]);
    let _mounted = Mounted { at: place.clone() };
    // ramfs tells no free space: nothing but a reserve of none may be asked of it.
    let file = place.join("file");
    std::fs::write(&file, [1; 4096]).unwrap();
    let target = open_target(&System::live(), &room.request(&file, Intent::Read)).unwrap();
    let mode = Mode { direct: true, ..Mode::default() };
    let error = target.descriptor(0, mode).unwrap_err();
    assert!(error.to_string().contains("ramfs does not support direct I/O"), "{error}");
    assert!(error.to_string().contains("--io buffered"), "{error}");
}

#[test]
fn without_a_ledger_nothing_is_made() {
    let room = Room::new();
    let mut request = scratch(&room, room.path("new"));
    request.scratch_list = Path::new("/proc/self/status/scratch.jsonl").to_owned();
    misused(open_target(&System::live(), &request), "no_ledger");
    request.path = room.directory.path().to_owned();
    let outcome = open_directory(&System::live(), &request).map(|made| made.path().to_owned());
    assert_eq!(outcome.unwrap_err().code, "no_ledger");
    assert!(room.names().is_empty());
}
