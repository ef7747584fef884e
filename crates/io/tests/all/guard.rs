//! The guard on real loop devices: what must be refused, and that no byte changes.

use std::fs::File;
use std::path::Path;

use crate::guard_support::*;
use drivelab_io::facts::System;
use drivelab_io::guard::{self, Intent};
use drivelab_io::opening::open_target;
use drivelab_io::scratch::ScratchList;

/// Refused with no token and with the token that would name it, and nothing changed.
#[track_caller]
fn refused_anyway(room: &Room, path: &Path, token: &str, code: &str, bytes_of: &str) -> String {
    let before = hash(Path::new(bytes_of));
    let refusal = refused(room.write(path, None), code);
    refused(room.write(path, Some(token)), code);
    assert_eq!(refusal.token, None, "no token may be offered: {refusal}");
    assert!(!refusal.to_string().contains("--erase"), "{refusal}");
    assert_eq!(hash(Path::new(bytes_of)), before, "bytes changed");
    refusal.to_string()
}

#[test]
fn a_mounted_device_is_refused_by_any_name() {
    if !possible("a_mounted_device_is_refused_by_any_name") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let token = device.token("ext4");
    let mounted = device.mount(room.path("mounted here"), "ro,noload");
    let own = room.path("own-node");
    own_node(&device.node, &own);
    let link = room.path("link");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    let link_to_own = room.path("link-to-own");
    std::os::unix::fs::symlink(&own, &link_to_own).unwrap();
    for path in [Path::new(&device.node), &own, &link, &link_to_own] {
        let text = refused_anyway(&room, path, &token, "mounted", &device.node);
        assert!(text.contains(mounted.at.to_str().unwrap()), "{text}");
    }
    // Only a bind mount of a directory is left of it.
    std::fs::create_dir(room.path("bound")).unwrap();
    let inside = mounted.at.join("lost+found");
    run("mount", &["--bind", inside.to_str().unwrap(), room.path("bound").to_str().unwrap()]);
    let _bound = Mounted { at: room.path("bound") };
    drop(mounted);
    refused_anyway(&room, &own, &token, "mounted", &device.node);
}

#[test]
fn a_device_mounted_in_another_namespace_is_refused() {
    if !possible("a_device_mounted_in_another_namespace_is_refused") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let point = room.path("point");
    std::fs::create_dir(&point).unwrap();
    let script = format!(
        "mount -o ro,noload {} {} && echo READY && read line",
        device.node,
        point.display()
    );
    let mut child = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    use std::io::BufRead;
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "READY");
    let helper = ChildProcess(child);
    let path = Path::new(&device.node);
    let text = refused_anyway(&room, path, &device.token("ext4"), "held", &device.node);
    assert!(text.contains("mount namespace of sh"), "{text}");
    drop(helper);
}

#[test]
fn the_parent_of_a_mounted_partition_is_refused() {
    if !possible("the_parent_of_a_mounted_partition_is_refused") {
        return;
    }
    let room = Room::new();
    let backing = room.path("image");
    File::create(&backing).unwrap().set_len(64 * MIB).unwrap();
    let device = Loop::on(&backing, &["--partscan"]);
    run("addpart", &[&device.node, "1", "2048", "32768"]);
    run("addpart", &[&device.node, "2", "65536", "32768"]);
    let first = format!("{}p1", device.node);
    let second = format!("{}p2", device.node);
    run("mkfs.ext4", &["-q", &first]);
    let at = room.path("mounted");
    std::fs::create_dir(&at).unwrap();
    run("mount", &["-o", "ro,noload", &first, at.to_str().unwrap()]);
    let mounted = Mounted { at };
    let parent = Path::new(&device.node);
    let text = refused_anyway(&room, parent, &device.token(""), "mounted", &device.node);
    assert!(text.contains("p1"), "{text}");
    let bytes = 32768 * 512;
    let first_token = format!("{}p1:{bytes}:ext4", device.name());
    refused_anyway(&room, Path::new(&first), &first_token, "mounted", &device.node);
    // Its neighbour is free.
    let refusal = refused(room.write(&second, None), "token_missing");
    let second_token = format!("{}p2:{bytes}:{}", device.name(), device.medium());
    assert_eq!(refusal.token, Some(second_token));
    let target = room.write(&second, refusal.token.as_deref()).unwrap();
    assert_eq!(target.bytes, bytes);
    drop((target, mounted));
    // Held whole, no partition is free.
    let helper =
        ChildProcess::start("guard::child_holds", &[("HOLD", &device.node), ("EXCLUSIVELY", "1")]);
    refused_anyway(&room, Path::new(&second), &second, "held", &device.node);
    helper.kill();
    run("delpart", &[&device.node, "1"]);
    run("delpart", &[&device.node, "2"]);
}

#[test]
fn swap_is_refused() {
    if !possible("swap_is_refused") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 8 * MIB);
    run("mkswap", &[&device.node]);
    refused(room.write(&device.node, None), "token_missing");
    run("swapon", &[&device.node]);
    let swapping = Swapping(device.node.clone());
    let own = room.path("own-node");
    own_node(&device.node, &own);
    let path = Path::new(&device.node);
    refused_anyway(&room, path, &device.token("swap"), "swap", &device.node);
    refused_anyway(&room, &own, &device.token("swap"), "swap", &device.node);
    drop(swapping);
    drop(room.write(&device.node, Some(&device.token("swap"))).unwrap());
}

#[test]
fn a_swap_file_is_refused_though_it_is_ours() {
    if !possible("a_swap_file_is_refused_though_it_is_ours") {
        return;
    }
    let room = Room::new();
    let path = room.path("swapfile");
    let mut request = room.request(&path, Intent::Write);
    (request.size, request.keep) = (Some(4 * MIB), true);
    drop(open_target(&System::live(), &request).unwrap());
    let text = path.to_str().unwrap();
    run("dd", &["if=/dev/zero", &format!("of={text}"), "bs=1M", "count=4", "conv=notrunc"]);
    run("mkswap", &[text]);
    run("swapon", &[text]);
    let swapping = Swapping(text.to_owned());
    let before = hash(&path);
    refused(open_target(&System::live(), &request), "swap");
    assert_eq!(hash(&path), before);
    drop(swapping);
    // What swapon wanted to find there is not what drivelab left there.
    refused(open_target(&System::live(), &request), "changed_since");
}

#[test]
fn a_device_that_another_process_holds_is_refused() {
    if !possible("a_device_that_another_process_holds_is_refused") {
        return;
    }
    let room = Room::new();
    let device = Loop::ext4(&room, "image");
    let path = Path::new(&device.node);
    let helper =
        ChildProcess::start("guard::child_holds", &[("HOLD", &device.node), ("EXCLUSIVELY", "1")]);
    let text = refused_anyway(&room, path, &device.token("ext4"), "held", &device.node);
    assert!(text.contains(&format!("process {}", helper.0.id())), "{text}");
    helper.kill();
    let helper = ChildProcess::start("guard::child_holds", &[("HOLD", &device.node)]);
    refused_anyway(&room, path, &device.token("ext4"), "written_elsewhere", &device.node);
    helper.kill();
    drop(room.write(path, Some(&device.token("ext4"))).unwrap());
}

/// No test by itself: what a helper process runs.
#[test]
fn child_holds() {
    let Ok(node) = std::env::var("HOLD") else { return };
    let _held = grab(&node, std::env::var("EXCLUSIVELY").is_ok());
    ready_and_wait();
}

#[test]
fn what_a_loop_device_stands_on_is_refused() {
    if !possible("what_a_loop_device_stands_on_is_refused") {
        return;
    }
    let room = Room::new();
    let below = Loop::on_new_file(&room, "image", 16 * MIB);
    let above = Loop::on(Path::new(&below.node), &[]);
    let own = room.path("own-node");
    own_node(&below.node, &own);
    for path in [Path::new(&below.node), &own] {
        let text = refused_anyway(&room, path, &below.token(""), "backs_loop", &below.node);
        assert!(text.contains(&above.node), "{text}");
    }
    // The upper one may be written as long as only it uses the lower one …
    let target = room.write(&above.node, Some(&above.token(""))).unwrap();
    // … which it then holds.
    refused(room.write(&below.node, Some(&below.token(""))), "backs_loop");
    drop(target);
    let other = Loop::on(Path::new(&below.node), &[]);
    let token = above.token("");
    refused_anyway(&room, Path::new(&above.node), &token, "backing_in_use", &below.node);
    drop(other);
    below.mkfs("ext4");
    let mounted = below.mount(room.path("mounted"), "ro,noload");
    let token = above.token("ext4");
    let text = refused_anyway(&room, Path::new(&above.node), &token, "backing_in_use", &below.node);
    assert!(text.contains("is mounted at"), "{text}");
    drop(mounted);
    let helper =
        ChildProcess::start("guard::child_holds", &[("HOLD", &below.node), ("EXCLUSIVELY", "1")]);
    refused_anyway(&room, Path::new(&above.node), &token, "backing_in_use", &below.node);
    helper.kill();
    drop(room.write(&above.node, Some(&token)).unwrap());
}

#[test]
fn two_loop_devices_on_one_file_are_refused() {
    if !possible("two_loop_devices_on_one_file_are_refused") {
        return;
    }
    let room = Room::new();
    let first = Loop::on_new_file(&room, "image", 8 * MIB);
    // By another name of the same inode, and with an offset.
    std::fs::hard_link(&first.backing, room.path("other-name")).unwrap();
    let second = Loop::on(&room.path("other-name"), &["--offset", "1048576"]);
    let path = Path::new(&first.node);
    let text = refused_anyway(&room, path, &first.token(""), "backing_in_use", &first.node);
    assert!(text.contains(&second.node), "{text}");
    drop(second);
    drop(room.write(&first.node, Some(&first.token(""))).unwrap());
}

#[test]
fn a_backing_file_is_refused_under_any_name() {
    if !possible("a_backing_file_is_refused_under_any_name") {
        return;
    }
    let room = Room::new();
    let path = room.path("image");
    let mut request = room.request(&path, Intent::Write);
    (request.size, request.keep) = (Some(4 * MIB), true);
    drop(open_target(&System::live(), &request).unwrap());
    let device = Loop::on(&path, &[]);
    let before = hash(&path);
    let text = refused(open_target(&System::live(), &request), "backs_loop").to_string();
    assert!(text.contains(&device.node), "{text}");
    // The loop driver knows the inode, though sysfs shows a path that is gone.
    std::fs::rename(&path, room.path("renamed")).unwrap();
    request.path = room.path("renamed");
    refused(open_target(&System::live(), &request), "backs_loop");
    std::os::unix::fs::symlink(room.path("renamed"), room.path("link")).unwrap();
    request.path = room.path("link");
    refused(open_target(&System::live(), &request), "backs_loop");
    std::fs::hard_link(room.path("renamed"), room.path("hard")).unwrap();
    std::fs::remove_file(room.path("renamed")).unwrap();
    request.path = room.path("hard");
    refused(open_target(&System::live(), &request), "backs_loop");
    assert_eq!(hash(&room.path("hard")), before);
    drop(device);
    // Somebody has given it another name.
    refused(open_target(&System::live(), &request), "changed_since");
}

#[test]
fn every_device_of_a_mounted_btrfs_is_refused() {
    if !possible("every_device_of_a_mounted_btrfs_is_refused") {
        return;
    }
    let room = Room::new();
    let first = Loop::on_new_file(&room, "first", 128 * MIB);
    let second = Loop::on_new_file(&room, "second", 128 * MIB);
    run("mkfs.btrfs", &["-q", "-f", "-d", "raid1", "-m", "raid1", &first.node, &second.node]);
    run("btrfs", &["device", "scan", &first.node, &second.node]);
    // Mounted through a node that is then removed: mountinfo names neither device.
    let own = room.path("own-node");
    own_node(&first.node, &own);
    let at = room.path("mounted");
    std::fs::create_dir(&at).unwrap();
    run("mount", &["-t", "btrfs", own.to_str().unwrap(), at.to_str().unwrap()]);
    let mounted = Mounted { at };
    std::fs::remove_file(&own).unwrap();
    for device in [&first, &second] {
        refused(room.write(&device.node, Some(&device.token("btrfs"))), "mounted");
    }
    drop(mounted);
}

#[test]
fn an_image_that_a_virtual_machine_locks_is_refused() {
    if !possible("an_image_that_a_virtual_machine_locks_is_refused") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 8 * MIB);
    let image = File::options().read(true).write(true).open(&device.backing).unwrap();
    // As qemu does: a shared record lock on one byte.
    let before = device.hash();
    record_lock(&image);
    refused(room.write(&device.node, Some(&device.token(""))), "backing_in_use");
    drop(image);
    let image = File::open(&device.backing).unwrap();
    image.lock_shared().unwrap();
    refused(room.write(&device.node, Some(&device.token(""))), "backing_in_use");
    drop(image);
    assert_eq!(device.hash(), before);
    drop(room.write(&device.node, Some(&device.token(""))).unwrap());
}

#[test]
fn the_disk_under_this_system_is_refused() {
    // Assessed only: nothing here may ever open it for writing.
    let system = System::live();
    let room = Room::new();
    let numbers = drivelab_io::facts::devices_below(&system, Path::new("/"));
    for number in numbers {
        let facts = drivelab_io::facts::device(&system, number).unwrap();
        let path = Path::new("/dev").join(&facts.name);
        let ledger = ScratchList::at(room.ledger());
        let Err(refusal) = guard::assess(&system, &path, Intent::Write, None, &ledger) else {
            panic!("{} would have been written", path.display());
        };
        let codes = ["mounted", "holder", "backs_loop", "not_permitted", "held"];
        assert!(codes.contains(&refusal.code), "{refusal}");
    }
}
