//! The token and the second look: what lets a write through, and what does not.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::guard_support::*;
use drivelab_io::facts::System;
use drivelab_io::guard::{self, Intent, Subject};
use drivelab_io::opening::{Mode, open_target, open_target_observed};
use drivelab_io::scratch::ScratchList;

#[test]
fn a_signature_asks_for_its_token() {
    if !possible("a_signature_asks_for_its_token") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let path = Path::new(&device.node);
    let before = device.hash();
    let token = device.token("ext4");
    let refusal = refused(room.write(path, None), "token_missing");
    assert_eq!(refusal.token.as_deref(), Some(token.as_str()));
    let says = "holds an ext4 file system; ";
    assert!(refusal.message.contains(says), "{refusal}");
    assert!(refusal.message.contains(" sampled blocks hold"), "{refusal}");
    assert!(refusal.to_string().ends_with(&format!("add:  --erase {token}")), "{refusal}");
    let wrong = [
        "",
        "yes",
        &device.token(""),
        &device.token("ext3"),
        &device.token("ext4+gpt"),
        &format!("{token} "),
        &token.to_uppercase(),
        &token[..token.len() - 1],
        "*",
    ];
    for wrong in wrong {
        refused(room.write(path, Some(wrong)), "token_wrong");
    }
    for intent in [Intent::Discard, Intent::Format] {
        let refusal = open_target(&System::live(), &room.request(path, intent)).err().unwrap();
        assert_eq!(refusal.code, "token_missing");
    }
    assert_eq!(device.hash(), before);
}

#[test]
fn a_token_is_bound_to_the_medium_it_was_given_for() {
    if !possible("a_token_is_bound_to_the_medium_it_was_given_for") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let path = Path::new(&device.node);
    let token = refused(room.write(path, None), "token_missing").token.unwrap();
    // Another file system of the same kind and size, behind the same name.
    run("mkfs.ext4", &["-q", "-F", &device.node]);
    let refusal = refused(room.write(path, Some(&token)), "token_wrong");
    assert_ne!(refusal.token.as_deref(), Some(token.as_str()));
    let text = refusal.to_string();
    assert!(text.contains("is valid for what is on it now and for nothing else"), "{text}");
    // Without content to know it by: attached again, it is another medium.
    let blank = Loop::on_new_file(&room, "blank", 8 * MIB);
    let refusal = refused(room.write(&blank.node, None), "token_missing");
    assert!(refusal.to_string().contains("until a medium is attached again"), "{refusal}");
    let (token, name, backing) =
        (refusal.token.unwrap(), blank.node.clone(), blank.backing.clone());
    run("losetup", &["-d", &name]);
    run("losetup", &[&name, backing.to_str().unwrap()]);
    refused(room.write(&name, Some(&token)), "token_wrong");
}

#[test]
fn the_right_token_lets_write_and_nobody_else_in() {
    if !possible("the_right_token_lets_write_and_nobody_else_in") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let token = device.token("ext4");
    let target = room.write(&device.node, Some(&token)).unwrap();
    assert_eq!((target.bytes, target.logical_block_bytes), (16 * MIB, 512));
    for (direct, dsync) in [(false, false), (true, false), (false, true), (true, true)] {
        let mode = Mode { write: true, direct, dsync, nonblock: false, advice: None };
        target.descriptor(0, mode).unwrap();
    }
    let file = File::from(target.descriptor(0, Mode { write: true, ..Mode::default() }).unwrap());
    file.write_all_at(&[7; 8192], 0).unwrap();
    file.sync_all().unwrap();
    let mut back = [0; 8192];
    File::open(&device.node).unwrap().read_exact_at(&mut back, 0).unwrap();
    assert_eq!(back, [7; 8192]);
    // A second run, by the same name: locked. By another node: held by the kernel's claim.
    refused(room.write(&device.node, Some(&device.token(""))), "locked");
    let own = room.path("own-node");
    own_node(&device.node, &own);
    refused(room.write(&own, Some(&device.token(""))), "held");
    let reading = open_target(&System::live(), &room.request(&device.node, Intent::Read));
    refused(reading, "locked");
    let mount = std::process::Command::new("mount").args([&device.node, "/mnt"]).output().unwrap();
    assert!(!mount.status.success(), "mounted while it was held");
    drop((file, target));
    // The file system's head is gone, and with it that part of the token.
    refused(room.write(&device.node, Some(&token)), "token_wrong");
    drop(room.write(&device.node, Some(&device.token(""))).unwrap());
}

#[test]
fn what_changes_between_the_looks_is_noticed() {
    if !possible("what_changes_between_the_looks_is_noticed") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let mut request = room.request(&device.node, Intent::Write);
    request.erase = Some(device.token("ext4"));
    let system = System::live();
    // Another file system appears.
    let outcome = open_target_observed(&system, &request, || {
        run("mkswap", &["-f", &device.node]);
    });
    let refusal = refused(outcome, "token_wrong");
    assert!(refusal.message.contains("swap space"), "{refusal}");
    let token = refusal.token.unwrap();
    // It is mounted, or swapped to.
    request.erase = Some(token);
    let mut swapping = None;
    let outcome = open_target_observed(&system, &request, || {
        run("swapon", &[&device.node]);
        swapping = Some(Swapping(device.node.clone()));
    });
    refused(outcome, "held");
    drop(swapping);
    // A loop device is set on top of it.
    let mut above = None;
    let outcome = open_target_observed(&system, &request, || {
        above = Some(Loop::on(Path::new(&device.node), &[]));
    });
    refused(outcome, "backs_loop");
}

#[test]
fn a_name_that_is_turned_elsewhere_changes_nothing() {
    if !possible("a_name_that_is_turned_elsewhere_changes_nothing") {
        return;
    }
    let room = Room::new();
    let meant = Loop::on_new_file(&room, "meant", 8 * MIB);
    let victim = Loop::ext4(&room, "victim");
    let before = victim.hash();
    let link = room.path("link");
    std::os::unix::fs::symlink(&meant.node, &link).unwrap();
    let mut request = room.request(&link, Intent::Write);
    request.erase = Some(meant.token(""));
    let target = open_target_observed(&System::live(), &request, || {
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&victim.node, &link).unwrap();
    })
    .unwrap();
    let mode = Mode { write: true, ..Mode::default() };
    let file = File::from(target.descriptor(0, mode).unwrap());
    file.write_all_at(b"written", 4096).unwrap();
    file.sync_all().unwrap();
    assert_eq!(victim.hash(), before);
    let mut back = [0; 7];
    File::open(&meant.node).unwrap().read_exact_at(&mut back, 4096).unwrap();
    assert_eq!(&back, b"written");
}

#[test]
fn reading_needs_no_token() {
    if !possible("reading_needs_no_token") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let mounted = device.mount(room.path("mounted"), "ro,noload");
    let request = room.request(&device.node, Intent::Read);
    let target = open_target(&System::live(), &request).unwrap();
    let again = open_target(&System::live(), &request).unwrap();
    target.descriptor(0, Mode { direct: true, ..Mode::default() }).unwrap();
    let write = target.descriptor(0, Mode { write: true, ..Mode::default() });
    assert_eq!(write.unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
    drop(mounted);
    // While it is read nobody may write.
    refused(room.write(&device.node, Some(&device.token("ext4"))), "locked");
    drop((target, again));
    let foreign = room.path("foreign");
    std::fs::write(&foreign, [1; 4096]).unwrap();
    let target = open_target(&System::live(), &room.request(&foreign, Intent::Read)).unwrap();
    assert_eq!(target.bytes, 4096);
    assert!(target.descriptor(0, Mode { write: true, ..Mode::default() }).is_err());
    drop(target);
    assert!(foreign.exists());
}

#[test]
fn what_sysfs_says_is_below_or_above_counts() {
    if !possible("what_sysfs_says_is_below_or_above_counts") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 8 * MIB);
    let number = drivelab_io::facts::device(
        &System::live(),
        drivelab_io::facts::DeviceNumber::parse(
            std::fs::read_to_string(format!("/sys/class/block/{}/dev", device.name()))
                .unwrap()
                .trim(),
        )
        .unwrap(),
    )
    .unwrap()
    .number;
    // A sysfs of our own, in which this device is a disk with a partition held by LVM and md.
    let sysfs = room.path("sys");
    let disk = sysfs.join("devices/pci0000:00/block/sdx");
    let partition = disk.join("sdx1");
    for path in [&disk, &partition] {
        std::fs::create_dir_all(path.join("holders")).unwrap();
        std::fs::create_dir_all(path.join("slaves")).unwrap();
    }
    let write = |path: PathBuf, text: &str| std::fs::write(path, text).unwrap();
    write(disk.join("dev"), &number);
    write(partition.join("dev"), "259:77\n");
    write(partition.join("partition"), "1\n");
    for directory in ["class/block", "dev/block"] {
        std::fs::create_dir_all(sysfs.join(directory)).unwrap();
    }
    let links = [(disk.clone(), "sdx", number.as_str()), (partition.clone(), "sdx1", "259:77")];
    for (path, name, number) in links {
        std::os::unix::fs::symlink(&path, sysfs.join("class/block").join(name)).unwrap();
        std::os::unix::fs::symlink(&path, sysfs.join("dev/block").join(number)).unwrap();
    }
    let system = System { sysfs, ..System::live() };
    let ledger = ScratchList::at(room.ledger());
    let path = Path::new(&device.node);
    let assess =
        |consent: Option<&str>| guard::assess(&system, path, Intent::Write, consent, &ledger);
    let token = format!("sdx:{}", 8 * MIB);
    let approval = assess(Some(&token)).unwrap();
    assert!(matches!(approval.subject, Subject::Device(_)));
    assert_eq!(approval.token, Some(token.clone()));
    write(partition.join("holders/dm-0"), "");
    let refusal = assess(Some(&token)).unwrap_err();
    assert_eq!((refusal.code, refusal.exit_status()), ("holder", 3));
    assert!(refusal.message.contains("sdx1"), "{refusal}");
    std::fs::remove_file(partition.join("holders/dm-0")).unwrap();
    write(disk.join("holders/md127"), "");
    let refusal = assess(Some(&token)).unwrap_err();
    assert_eq!(refusal.code, "holder");
    assert!(refusal.message.contains("md127"), "{refusal}");
    std::fs::remove_file(disk.join("holders/md127")).unwrap();
    // With a serial the token is the serial, cleaned.
    write(disk.join("serial"), "  WD WCC/4E1 \n");
    assert_eq!(assess(None).unwrap_err().token.as_deref(), Some("WD_WCC_4E1"));
    // A device that sysfs does not know is not approved.
    std::fs::remove_file(system.sysfs.join("dev/block").join(&number)).unwrap();
    assert_eq!(assess(Some("WD_WCC_4E1")).unwrap_err().code, "unknown_device");
}

#[test]
fn wrong_requests_are_usage_errors() {
    if !possible("wrong_requests_are_usage_errors") {
        return;
    }
    let room = Room::new();
    misused(room.write("/dev/null", None), "wrong_kind");
    misused(room.write("/dev/drivelab-no-such-device", None), "missing");
    misused(room.write("/proc/drivelab", None), "missing");
    misused(room.write(room.path("no/such/directory/file"), None), "missing");
    misused(room.write(room.path("new-without-size"), None), "no_size");
    let fifo = room.path("fifo");
    run("mkfifo", &[fifo.to_str().unwrap()]);
    misused(room.write(&fifo, None), "wrong_kind");
    let _socket = std::os::unix::net::UnixListener::bind(room.path("socket")).unwrap();
    misused(room.write(room.path("socket"), None), "wrong_kind");
    std::os::unix::fs::symlink("nowhere", room.path("dangling")).unwrap();
    misused(room.write(room.path("dangling"), None), "dangling");
    let format = |path: &Path| open_target(&System::live(), &room.request(path, Intent::Format));
    misused(format(room.directory.path()), "wrong_kind");
    misused(format(&room.path("absent")), "missing");
    let device = Loop::on_new_file(&room, "image", MIB);
    let mut request = room.request(&device.node, Intent::Read);
    request.size = Some(2 * MIB);
    misused(open_target(&System::live(), &request), "too_small");
    (request.size, request.files) = (None, 2);
    misused(open_target(&System::live(), &request), "wrong_kind");
    let node = device.node.clone();
    let fixed = Loop::on(&device.backing, &["--read-only"]);
    misused_or_in_use(room.write(&fixed.node, None));
    drop(device);
    misused(room.write(&fixed.node, None), "read_only");
    drop(fixed);
    let _ = node;
    assert_eq!(room.names(), ["dangling", "fifo", "image", "socket"]);
}

/// Two devices on one file: refused for that before anything else.
#[track_caller]
fn misused_or_in_use(outcome: Result<drivelab_io::opening::Target, guard::Refusal>) {
    refused(outcome, "backing_in_use");
}

#[test]
fn signatures_of_real_tools_are_found() {
    if !possible("signatures_of_real_tools_are_found") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 320 * MIB);
    let ledger = ScratchList::at(room.ledger());
    let found = |expected: &str| {
        let path = Path::new(&device.node);
        let outcome = guard::assess(&System::live(), path, Intent::Write, None, &ledger);
        assert_eq!(outcome.unwrap_err().token, Some(device.token(expected)));
        run("wipefs", &["-qa", &device.node]);
    };
    found("");
    for kind in ["ext2", "ext3", "ext4", "xfs", "btrfs"] {
        let forced: &[&str] = if kind.starts_with("ext") { &["-q", "-F"] } else { &["-q", "-f"] };
        run(&format!("mkfs.{kind}"), &[forced, &[device.node.as_str()]].concat());
        found(kind);
    }
    run("mkswap", &[&device.node]);
    found("swap");
    for (label, expected) in [("gpt", "gpt"), ("dos", "dos")] {
        let script = format!("echo 'label: {label}\n,100M' | sfdisk -q {}", device.node);
        run("sh", &["-c", &script]);
        found(expected);
    }
    // Two at once: sorted and joined.
    // (The table overwrites what an ext4 begins with, but not a btrfs.)
    run("mkfs.btrfs", &["-q", "-f", &device.node]);
    run(
        "sh",
        &["-c", &format!("echo 'label: gpt\n' | sfdisk -q -W never -w never {}", device.node)],
    );
    found("btrfs+gpt");
}

#[test]
fn a_signature_below_the_cache_is_seen() {
    if !possible("a_signature_below_the_cache_is_seen") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 16 * MIB);
    // Someone keeps the device open, so that its cache of blank blocks stays.
    let reader = File::open(&device.node).unwrap();
    device.hash();
    run("mkfs.ext4", &["-q", "-F", device.backing.to_str().unwrap()]);
    let refusal = refused(room.write(&device.node, Some(&device.token(""))), "token_wrong");
    assert_eq!(refusal.token, Some(device.token("ext4")));
    drop(reader);
}

#[test]
fn the_same_drive_under_another_name_is_refused() {
    if !possible("the_same_drive_under_another_name_is_refused") {
        return;
    }
    let room = Room::new();
    let first = Loop::ext4(&room, "first");
    let second = Loop::ext4(&room, "second");
    let mounted = second.mount(room.path("mounted"), "ro,noload");
    // A sysfs in which both are paths to one drive.
    let sysfs = room.path("sys");
    for directory in ["class/block", "dev/block"] {
        std::fs::create_dir_all(sysfs.join(directory)).unwrap();
    }
    for device in [&first, &second] {
        let name = device.name();
        let directory = sysfs.join("devices").join(name);
        std::fs::create_dir_all(directory.join("device")).unwrap();
        let number = std::fs::read_to_string(format!("/sys/class/block/{name}/dev")).unwrap();
        std::fs::write(directory.join("dev"), &number).unwrap();
        std::fs::write(directory.join("size"), "32768\n").unwrap();
        std::fs::write(directory.join("device/wwid"), "naa.600508b1001c79ad\n").unwrap();
        for place in [format!("class/block/{name}"), format!("dev/block/{}", number.trim())] {
            std::os::unix::fs::symlink(&directory, sysfs.join(place)).unwrap();
        }
    }
    let system = System { sysfs: sysfs.clone(), ..System::live() };
    let ledger = ScratchList::at(room.ledger());
    let path = Path::new(&first.node);
    let refusal = guard::assess(&system, path, Intent::Write, None, &ledger).unwrap_err();
    assert_eq!(refusal.code, "mounted");
    assert!(refusal.message.contains(&format!("is the drive {} too", second.name())), "{refusal}");
    drop(mounted);
    let refusal = guard::assess(&system, path, Intent::Write, None, &ledger).unwrap_err();
    assert_eq!(refusal.token.as_deref(), Some("naa.600508b1001c79ad:ext4"));
    // Exported to other machines.
    let space = sysfs.join("kernel/config/nvmet/subsystems/one/namespaces/1");
    std::fs::create_dir_all(&space).unwrap();
    std::fs::write(space.join("device_path"), format!("{}\n", first.node)).unwrap();
    std::fs::write(space.join("enable"), "1\n").unwrap();
    let refusal = guard::assess(&system, path, Intent::Write, None, &ledger).unwrap_err();
    assert_eq!(refusal.code, "exported");
}
