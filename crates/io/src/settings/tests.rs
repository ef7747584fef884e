use super::record::{Change, Record};
use super::*;
use crate::system::{DeviceNumber, System};
use drivelab_core::plan::QueueSetting::{ReadAheadKb, RqAffinity, Scheduler};
use drivelab_core::queue::TroubleKind;
use std::fs;
use std::path::Path;

/// A captured tree with one disk and a partition on it; its files take whatever is written.
fn machine(root: &Path) -> (System, PathBuf) {
    let disk = root.join("sys/devices/pci/block/sdq");
    let queue = disk.join("queue");
    fs::create_dir_all(&queue).unwrap();
    fs::create_dir_all(disk.join("sdq1")).unwrap();
    for directory in ["dev/block", "class/block"] {
        fs::create_dir_all(root.join("sys").join(directory)).unwrap();
    }
    for (directory, name, number) in
        [(disk.clone(), "sdq", "65:0"), (disk.join("sdq1"), "sdq1", "65:1")]
    {
        let link = |at: &str| std::os::unix::fs::symlink(&directory, root.join(at)).unwrap();
        link(&format!("sys/dev/block/{number}"));
        link(&format!("sys/class/block/{name}"));
        fs::write(directory.join("dev"), format!("{number}\n")).unwrap();
        fs::write(directory.join("size"), "2048\n").unwrap();
    }
    fs::write(disk.join("sdq1/partition"), "1\n").unwrap();
    fs::write(queue.join("scheduler"), "none [bfq] kyber\n").unwrap();
    fs::write(queue.join("rq_affinity"), "1\n").unwrap();
    fs::write(queue.join("nr_requests"), "77\n").unwrap();
    (System::captured(root), queue)
}

/// The one note whose name begins so; the rest of it tells the machine.
fn note_in(directory: &Path, begin: &str) -> PathBuf {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_meant = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(begin);
    names.into_iter().find(is_meant).unwrap_or_else(|| panic!("no {begin} in {directory:?}"))
}

/// The sentences of what was put back.
fn told_by(system: &System, records: &Path) -> Vec<String> {
    leftovers(system, records).into_iter().map(|left| left.text).collect()
}

const DISK: DeviceNumber = DeviceNumber { major: 65, minor: 0 };
const PARTITION: DeviceNumber = DeviceNumber { major: 65, minor: 1 };

fn said(queue: &Path, name: &str) -> String {
    fs::read_to_string(queue.join(name)).unwrap().trim().to_string()
}

#[test]
fn a_setting_is_noted_first_and_put_back_with_what_goes_with_it() {
    let root = tempfile::tempdir().unwrap();
    let (system, queue) = machine(root.path());
    let records = root.path().join("settings");
    let mut held = None;
    let set = |value: &str, held: &mut Option<Held>| {
        queue::set(&system, &records, PARTITION, (Scheduler, value), held)
    };
    let change = set("kyber", &mut held).unwrap();
    assert_eq!((change.device.as_str(), change.before.as_str()), ("sdq", "bfq"), "of its disk");
    assert_eq!(said(&queue, "scheduler"), "kyber");
    let note = fs::read_to_string(note_in(&records, "sdq.scheduler.")).unwrap();
    assert!(note.contains("\"before\":\"bfq\"") && note.contains("\"77\""), "{note}");
    // As the kernel deals its slots again with another scheduler.
    fs::write(queue.join("nr_requests"), "256").unwrap();
    set("none", &mut held).unwrap();
    assert_eq!(fs::read_to_string(note_in(&records, "sdq.scheduler.")).unwrap(), note);
    let change = set("bfq", &mut held).unwrap();
    assert_eq!((change.before.as_str(), change.after.as_str()), ("none", "bfq"));
    assert!(held.is_none());
    assert_eq!(said(&queue, "nr_requests"), "77");
    assert_eq!(fs::read_dir(&records).unwrap().count(), 0, "the note is gone");
    // What is so already is not noted.
    set("bfq", &mut held).unwrap();
    assert!(held.is_none());
}

#[test]
fn a_killed_run_is_undone_by_the_next_setting_by_setting() {
    let root = tempfile::tempdir().unwrap();
    let (system, queue) = machine(root.path());
    let records = root.path().join("settings");
    let (mut one, mut two) = (None, None);
    queue::set(&system, &records, DISK, (Scheduler, "none"), &mut one).unwrap();
    queue::set(&system, &records, DISK, (RqAffinity, "2"), &mut two).unwrap();
    fs::write(queue.join("nr_requests"), "128").unwrap();
    assert_eq!(told_by(&system, &records), [""; 0], "the run that changed them still lives");
    let other = queue::set(&system, &records, DISK, (RqAffinity, "0"), &mut None).unwrap_err();
    assert!(other.text.contains("another run holds it"), "{other}");
    // Killed: nobody restores, the locks are gone.
    drop((one, two));
    assert_eq!(
        unrestored(&system, &records).len(),
        2,
        "what was changed is listed before it is put back"
    );
    let mut told = told_by(&system, &records);
    told.sort();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("rq_affinity of sdq is `1` again"), "{told:?}");
    assert!(told[1].starts_with("scheduler of sdq is `bfq` again"), "{told:?}");
    let now = ["scheduler", "rq_affinity", "nr_requests"].map(|name| said(&queue, name));
    assert_eq!(now, ["bfq", "1", "77"]);
    assert_eq!(told_by(&system, &records), [""; 0]);
}

#[test]
fn what_is_not_there_or_not_taken_is_said_and_leaves_no_note() {
    let root = tempfile::tempdir().unwrap();
    let (system, queue) = machine(root.path());
    let records = root.path().join("settings");
    let mut held = None;
    let set = |setting, number, held: &mut Option<Held>| {
        queue::set(&system, &records, number, (setting, "0"), held).unwrap_err()
    };
    let trouble = set(ReadAheadKb, DISK, &mut held);
    assert_eq!(trouble.kind, TroubleKind::Usage);
    assert!(trouble.text.contains("sdq stays as it is: this device has no read_ahead_kb"));
    let trouble = set(Scheduler, DeviceNumber { major: 9, minor: 9 }, &mut held);
    assert!(trouble.text.contains("9:9 is none known here"), "{trouble}");
    // A directory cannot be written to.
    let file = queue.join("rq_affinity");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(set(RqAffinity, DISK, &mut held).text.contains("cannot be read"));
    assert!(held.is_none() && !records.exists());
}

#[test]
fn notes_of_earlier_versions_are_of_write_caches() {
    let note = r#"{"name":"sdq","number":"65:0","model":null,"serial":null,"bytes":1048576,
        "before":"write back"}"#;
    let change: Change = serde_json::from_str(note).unwrap();
    assert_eq!(change.words(), "the write cache of sdq");
    let root = tempfile::tempdir().unwrap();
    let record = Record::make(root.path(), change).unwrap();
    assert!(note_in(root.path(), "sdq.").exists());
    record.remove();
}

#[test]
fn a_note_from_before_the_last_start_of_the_machine_is_dropped() {
    let root = tempfile::tempdir().unwrap();
    let (system, queue) = machine(root.path());
    let records = root.path().join("settings");
    let random = root.path().join("proc/sys/kernel/random");
    fs::create_dir_all(&random).unwrap();
    let start = |id: &str| fs::write(random.join("boot_id"), id).unwrap();
    start("one\n");
    let mut held = None;
    queue::set(&system, &records, DISK, (RqAffinity, "2"), &mut held).unwrap();
    drop(held);
    start("two\n");
    // Somebody's own choice since.
    fs::write(queue.join("rq_affinity"), "0").unwrap();
    assert_eq!(told_by(&system, &records), [""; 0]);
    assert_eq!(said(&queue, "rq_affinity"), "0");
    assert_eq!(fs::read_dir(&records).unwrap().count(), 0);
}

#[test]
fn a_note_of_another_machine_stays_and_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let (system, queue) = machine(root.path());
    let records = root.path().join("settings");
    let mut held = None;
    queue::set(&system, &records, PARTITION, (Scheduler, "kyber"), &mut held).unwrap();
    let note = note_in(&records, "sdq.scheduler.");
    let text = fs::read_to_string(&note).unwrap();
    std::mem::forget(held);
    let here = crate::system::machine().unwrap();
    fs::remove_file(&note).unwrap();
    let theirs = records.join("sdq.scheduler.elsewher.json");
    fs::write(&theirs, text.replace(&here, "elsewhere")).unwrap();
    assert_eq!(leftovers(&system, &records), []);
    assert_eq!(unrestored(&system, &records), [""; 0]);
    assert_eq!(said(&queue, "scheduler"), "kyber", "it was set here, not there");
    assert!(theirs.exists());
}

/// Two namespaces of one drive have its model, serial and size in common; names are dealt again.
#[test]
fn a_note_is_of_one_namespace_whatever_it_is_called_now() {
    let root = tempfile::tempdir().unwrap();
    let (system, _) = machine(root.path());
    for (namespace, minor) in [(1, 1), (3, 2)] {
        let controller = root.path().join("sys/devices/pci/nvme/nvme0");
        let disk = controller.join(format!("nvme0n{namespace}"));
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::write(controller.join("serial"), "S1\n").unwrap();
        fs::write(controller.join("model"), "M\n").unwrap();
        std::os::unix::fs::symlink(&controller, disk.join("device")).unwrap();
        fs::write(disk.join("nsid"), format!("{namespace}\n")).unwrap();
        fs::write(disk.join("wwid"), format!("nvme.1-{namespace}\n")).unwrap();
        fs::write(disk.join("size"), "2048\n").unwrap();
        fs::write(disk.join("dev"), format!("259:{minor}\n")).unwrap();
        fs::write(disk.join("queue/scheduler"), "[none] mq-deadline kyber\n").unwrap();
        let link = |at: String| std::os::unix::fs::symlink(&disk, root.path().join(at)).unwrap();
        link(format!("sys/dev/block/259:{minor}"));
        link(format!("sys/class/block/nvme0n{namespace}"));
    }
    let queue = |namespace: u32| {
        root.path().join(format!("sys/devices/pci/nvme/nvme0/nvme0n{namespace}/queue"))
    };
    let records = root.path().join("settings");
    let mut held = None;
    let third = DeviceNumber { major: 259, minor: 2 };
    queue::set(&system, &records, third, (Scheduler, "mq-deadline"), &mut held).unwrap();
    drop(held);
    assert_eq!(said(&queue(3), "scheduler"), "mq-deadline");
    fs::write(queue(1).join("scheduler"), "kyber").unwrap();
    assert_eq!(
        told_by(&system, &records),
        ["scheduler of nvme0n3 is `none` again, which a killed run had changed"]
    );
    assert_eq!(said(&queue(3), "scheduler"), "none");
    assert_eq!(said(&queue(1), "scheduler"), "kyber", "the other namespace is nobody's to set");
}
