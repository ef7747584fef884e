//! Files that stay: ours for the next run, unless somebody has written to them meanwhile.

use std::fs::{File, FileTimes};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use crate::guard_support::*;
use drivelab_io::facts::System;
use drivelab_io::guard::{Intent, Refusal};
use drivelab_io::opening::{Mode, NamedFile, OpenRequest, Part, Target, open_target};
use drivelab_io::scratch::{Entry, ScratchList, remove_leftovers};

const WRITING: Mode =
    Mode { write: true, direct: false, dsync: false, nonblock: false, advice: None };
const BYTES: u64 = MIB;

fn keeping(room: &Room, name: &str) -> OpenRequest {
    let mut request = room.request(room.path(name), Intent::Write);
    (request.size, request.keep) = (Some(BYTES), true);
    request
}

fn open(request: &OpenRequest) -> Result<Target, Refusal> {
    open_target(&System::live(), request)
}

fn write(target: &Target, index: usize, byte: u8) {
    let file = File::from(target.descriptor(index, WRITING).unwrap());
    file.write_all_at(&[byte; 8192], 4096).unwrap();
}

/// One line that writes to a file and keeps it.
#[track_caller]
fn use_once(request: &OpenRequest, byte: u8) {
    let target = open(request).unwrap();
    write(&target, 0, byte);
    target.close().unwrap();
}

fn entry(room: &Room) -> Entry {
    let entries = ScratchList::at(room.ledger()).entries().unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

/// Writes into what is there, as `cp` and many editors do.
fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    File::options().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

#[track_caller]
fn not_ours(request: &OpenRequest, says: &str) {
    let before = hash(&request.path);
    let refusal = refused(open(request), "changed_since");
    assert!(refusal.message.contains("was made by drivelab and was "), "{refusal}");
    assert!(refusal.message.contains(says), "{refusal}");
    assert!(refusal.to_string().contains("Move or remove the file"), "{refusal}");
    assert_eq!(hash(&request.path), before);
}

#[test]
fn a_line_can_be_run_again_and_again() {
    let room = Room::new();
    let mut request = keeping(&room, "kept");
    for byte in 1..4 {
        use_once(&request, byte);
    }
    // Larger; through a link; to be read only, by two at a time; and in a set.
    request.size = Some(2 * BYTES);
    use_once(&request, 4);
    std::os::unix::fs::symlink(room.path("kept"), room.path("link")).unwrap();
    use_once(&OpenRequest { path: room.path("link"), ..request.clone() }, 5);
    let reading = OpenRequest { intent: Intent::Read, ..request.clone() };
    let [first, second] = [open(&reading).unwrap(), open(&reading).unwrap()];
    refused(open(&request), "locked");
    drop((first, second));
    use_once(&request, 6);
    assert_eq!(std::fs::read(&request.path).unwrap()[4096..4100], [6; 4]);
    let set = OpenRequest { files: 3, ..keeping(&room, "set") };
    for byte in 1..4 {
        let target = open(&set).unwrap();
        (0..3).for_each(|index| write(&target, index, byte));
        target.close().unwrap();
    }
    assert!(remove_leftovers(&ScratchList::at(room.ledger())).unwrap().removed.is_empty());
    assert_eq!(room.names(), ["kept", "link", "set", "set.1", "set.2"]);
}

#[test]
fn what_was_written_into_it_is_not_ours() {
    let room = Room::new();
    let request = keeping(&room, "kept");
    let path = &request.path;
    let renewed = || {
        let _ = std::fs::remove_file(path);
        use_once(&request, 1);
    };
    renewed();
    std::fs::write(path, "precious").unwrap();
    not_ours(&request, "its content is no longer drivelab's");
    // As long as it was, at once after the run and at the same place.
    for bytes in [&vec![9; BYTES as usize][..], b"x"] {
        renewed();
        overwrite(path, 0, bytes);
        not_ours(&request, "its content is no longer drivelab's");
    }
    // With its time set back, as `cp -p`, `touch -r` and tar do.
    renewed();
    let modified = std::fs::metadata(path).unwrap().modified().unwrap();
    overwrite(path, 0, b"precious");
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
    drop(file);
    assert_eq!(std::fs::metadata(path).unwrap().modified().unwrap(), modified);
    not_ours(&request, "with its time set back");
    // To be read it may be anybody's.
    let reading = OpenRequest { intent: Intent::Read, size: None, ..request.clone() };
    let target = open(&reading).unwrap();
    assert!(target.descriptor(0, WRITING).is_err());
    drop(target);
    not_ours(&request, "with its time set back");
}

#[test]
fn who_renames_links_or_protects_it_has_taken_it() {
    let room = Room::new();
    let request = keeping(&room, "kept");
    let renewed = || {
        let _ = std::fs::remove_file(&request.path);
        use_once(&request, 1);
    };
    renewed();
    std::fs::hard_link(&request.path, room.path("backup")).unwrap();
    not_ours(&request, "renamed, linked");
    not_ours(&OpenRequest { path: room.path("backup"), ..request.clone() }, "renamed, linked");
    renewed();
    std::fs::set_permissions(&request.path, std::fs::Permissions::from_mode(0o444)).unwrap();
    not_ours(&request, "given other rights");
    renewed();
    std::fs::rename(&request.path, room.path("mine")).unwrap();
    not_ours(&OpenRequest { path: room.path("mine"), ..request.clone() }, "renamed, linked");
    // The name is free again, as the refusal says.
    use_once(&request, 2);
}

#[test]
fn one_changed_file_of_a_set_is_enough() {
    let room = Room::new();
    let named = |path: &str| NamedFile {
        path: path.into(),
        bytes: BYTES,
        destroys: true,
        grows_to: None,
        part: Part::Opens,
    };
    let mut wanted = room.request(room.directory.path(), Intent::Write);
    (wanted.named, wanted.keep) = (vec![named("a"), named("b")], true);
    for byte in 1..4 {
        let target = open(&wanted).unwrap();
        (0..2).for_each(|index| write(&target, index, byte));
        target.close().unwrap();
    }
    overwrite(&room.path("b"), 0, b"precious");
    refused(open(&wanted), "changed_since");
    assert_eq!(std::fs::read(room.path("b")).unwrap()[..8], *b"precious");
    assert_eq!(std::fs::read(room.path("a")).unwrap()[4096], 3, "nothing was written");
    // The other is still as it was left: a refusal takes nothing back.
    wanted.named.truncate(1);
    open(&wanted).unwrap().close().unwrap();
    overwrite(&room.path("a"), 0, b"precious");
    refused(open(&wanted), "changed_since");
}

#[test]
fn a_file_of_a_killed_run_is_ours_until_somebody_changes_it() {
    let room = Room::new();
    let request = keeping(&room, "kept");
    use_once(&request, 1);
    assert!(entry(&room).left.is_some());
    let (ledger, path) = (room.ledger(), &request.path);
    let variables =
        [("KEPT_LEDGER", ledger.to_str().unwrap()), ("KEPT_PATH", path.to_str().unwrap())];
    ChildProcess::start("kept::child_writes_to_a_kept_file", &variables).kill();
    assert_eq!(entry(&room).left, None, "nobody has said how it was left");
    assert!(remove_leftovers(&ScratchList::at(&ledger)).unwrap().removed.is_empty());
    use_once(&request, 2);
    assert!(entry(&room).left.is_some());
    // Later than the last sign of life it was somebody else.
    ChildProcess::start("kept::child_writes_to_a_kept_file", &variables).kill();
    std::thread::sleep(std::time::Duration::from_millis(3200));
    overwrite(path, 0, b"precious");
    not_ours(&request, "it was changed after its run was killed");
    ScratchList::at(&ledger).forget(entry(&room).identity).unwrap();
    std::fs::remove_file(path).unwrap();
    use_once(&request, 1);
    // Likewise a run that never got to its end: what it has on its way may still be written.
    open(&request).unwrap().abandon().unwrap();
    assert_eq!(entry(&room).left, None);
    overwrite(path, 0, b"of the run that did not end");
    use_once(&request, 3);
    overwrite(path, 0, b"precious");
    not_ours(&request, "its content is no longer drivelab's");
}

/// No test by itself: what a helper process runs.
#[test]
fn child_writes_to_a_kept_file() {
    let (Ok(ledger), Ok(path)) = (std::env::var("KEPT_LEDGER"), std::env::var("KEPT_PATH")) else {
        return;
    };
    let mut request = OpenRequest::new(path, Intent::Write, ledger);
    (request.size, request.keep) = (Some(BYTES), true);
    let target = open(&request).unwrap();
    write(&target, 0, 7);
    ready_and_wait();
}

#[test]
fn what_an_earlier_drivelab_did_not_note_is_not_overwritten() {
    let room = Room::new();
    let request = keeping(&room, "kept");
    use_once(&request, 1);
    let known = entry(&room);
    let (device, inode) = (known.identity.device, known.identity.inode);
    let (seconds, nanoseconds) = known.identity.birth.unwrap();
    let path = known.path.as_str();
    let text = format!(
        "{{\"event\":\"made\",\"kind\":\"file\",\"path\":\"{path}\",\"device\":{device},\
         \"inode\":{inode},\"birth\":[{seconds},{nanoseconds}],\"keep\":true}}\n"
    );
    std::fs::write(room.ledger(), text).unwrap();
    assert_eq!(entry(&room), Entry { left: None, machine: None, ..known });
    not_ours(&request, "nothing says when its run was last alive");
}

#[test]
fn the_opener_of_a_team_notes_what_the_others_wrote() {
    let room = Room::new();
    let with = |part| {
        let named =
            NamedFile { path: "a".into(), bytes: BYTES, destroys: true, grows_to: None, part };
        let mut request = room.request(room.directory.path(), Intent::Write);
        (request.named, request.keep) = (vec![named], true);
        request
    };
    for byte in 1..4 {
        let first = open(&with(Part::Opens)).unwrap();
        let mut second = open(&with(Part::Joins)).unwrap();
        second.join(&with(Part::Joins), &first.seen().unwrap()).unwrap();
        write(&second, 0, byte);
        second.close().unwrap();
        assert_eq!(entry(&room).left, None, "who joins says nothing");
        first.close().unwrap();
        assert!(entry(&room).left.is_some());
    }
}

#[test]
fn a_mapping_and_direct_writes_are_over_by_then() {
    let room = Room::new();
    let request = keeping(&room, "kept");
    for byte in 1..4_u8 {
        let target = open(&request).unwrap();
        let mapped = target.descriptor(0, WRITING).unwrap();
        // SAFETY: a new mapping of a file that is that long, unmapped below.
        let base = unsafe {
            let (flags, length) = (libc::MAP_SHARED, BYTES as usize);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(&mapped);
            libc::mmap(std::ptr::null_mut(), length, access, flags, descriptor, 0)
        };
        assert_ne!(base, libc::MAP_FAILED);
        // SAFETY: both bytes lie in the mapping.
        unsafe {
            base.cast::<u8>().write(byte);
            base.cast::<u8>().add(BYTES as usize - 1).write(byte);
            libc::munmap(base, BYTES as usize);
        }
        drop(mapped);
        target.close().unwrap();
        // What was still dirty is written back, and that is no change.
        File::open(&request.path).unwrap().sync_all().unwrap();
    }
}

#[test]
fn a_ledger_of_what_is_past_is_written_anew() {
    let room = Room::new();
    let request = keeping(&room, "kept");
    let mut longest = 0;
    for _ in 0..150 {
        use_once(&request, 1);
        longest = longest.max(std::fs::metadata(room.ledger()).unwrap().len());
    }
    // Two lines a run are more than that.
    assert!(longest < 70_000, "{longest}");
    assert!(entry(&room).left.is_some());
    // While others wait for it nothing is lost.
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let room = &room;
            scope.spawn(move || {
                let request = keeping(room, &format!("t{thread}"));
                for byte in 0..60 {
                    use_once(&request, byte);
                }
            });
        }
    });
    let ledger = ScratchList::at(room.ledger());
    assert_eq!(ledger.entries().unwrap().len(), 5);
    assert!(std::fs::metadata(room.ledger()).unwrap().len() < 70_000);
    assert!(ledger.entries().unwrap().iter().all(|entry| entry.left.is_some()));
    assert_eq!(std::fs::read_dir(room.path("data/drivelab")).unwrap().count(), 1);
}

#[test]
fn what_was_removed_meanwhile_is_forgotten() {
    let room = Room::new();
    let target = open(&keeping(&room, "kept")).unwrap();
    std::fs::remove_file(room.path("kept")).unwrap();
    target.close().unwrap();
    assert!(ScratchList::at(room.ledger()).entries().unwrap().is_empty());
}

/// Of files that were kept only those go that are as they were left, and that are meant.
#[test]
fn kept_files_go_only_as_they_were_left() {
    let place = tempfile::tempdir().expect("a directory");
    let list = drivelab_io::scratch::ScratchList::at(place.path().join("results.jsonl"));
    let at = |name: &str| place.path().join(name);
    for name in ["ours", "edited", "other"] {
        drivelab_io::results::write(&at(name), b"numbers\n", Some(&list)).expect("it is written");
    }
    std::fs::write(at("edited"), "somebody's own\n").expect("it is edited");
    std::fs::write(at("foreign"), "nobody knows it\n").expect("a file");
    let meant = |path: &std::path::Path| !path.ends_with("other");
    let removed = drivelab_io::scratch::remove_kept(&list, meant).expect("the list is read");
    assert_eq!(removed, [at("ours")]);
    for name in ["edited", "other", "foreign"] {
        assert!(at(name).exists(), "{name}");
    }
}
