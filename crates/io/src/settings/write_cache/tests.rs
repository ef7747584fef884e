use super::*;
use crate::passthrough::fake::Fake;
use crate::passthrough::line::AdminCommand;
use crate::settings::leftovers;
use crate::tunable::put_back;
use crate::write_cache::{GET_FEATURES, SET_FEATURES, of_nvme};
use drivelab_core::op::Errno;
use drivelab_core::queue::TroubleKind;
use std::fs;
use std::os::fd::AsFd;

/// An NVMe drive with a volatile write cache.
fn nvme(is_on: bool) -> Fake {
    let mut fake = Fake::nvme(1);
    fake.controller[525] = 1;
    fake.has_cache_on = is_on;
    fake
}

fn turn(fake: &mut Fake, wanted: Switch) -> (Result<Option<String>, Trouble>, Vec<String>) {
    let mut noted = Vec::new();
    let mut note = |before: &str| {
        noted.push(before.to_string());
        Ok(())
    };
    let changed = change(&mut Nvme(fake), true, wanted, &mut note);
    (changed, noted)
}

#[test]
fn the_commands_are_those_of_the_specification() {
    let mut fake = nvme(true);
    let (changed, noted) = turn(&mut fake, Switch::Off);
    assert_eq!(changed.unwrap().as_deref(), Some("on"));
    assert_eq!(noted, ["on"]);
    let command = |opcode| AdminCommand { opcode, namespace: 0, dword_10: 6, timeout_ms: 60_000 };
    assert_eq!(fake.features, [(command(0x0a), 0), (command(0x09), 0), (command(0x0a), 0)]);
    assert!(!fake.has_cache_on);
    put_back(&mut Nvme(&mut fake), "on").unwrap();
    assert_eq!(fake.features[3], (command(0x09), 1));
    assert!(fake.has_cache_on);
}

#[test]
fn what_is_so_already_is_not_touched() {
    for (mut fake, wanted) in [
        (nvme(true), Switch::On),
        (nvme(false), Switch::Off),
        // No volatile cache at all.
        (Fake::nvme(1), Switch::Off),
    ] {
        let (changed, noted) = turn(&mut fake, wanted);
        assert_eq!((changed.unwrap(), noted.len()), (None, 0));
        assert!(fake.features.iter().all(|(command, _)| command.opcode == GET_FEATURES));
    }
    assert_eq!(of_nvme(&mut Fake::nvme(1)).unwrap(), WriteCache::Absent);
    assert_eq!(of_nvme(&mut nvme(true)).unwrap(), WriteCache::On);
}

#[test]
fn what_does_not_take_is_said_and_undone() {
    let mut fake = nvme(true);
    fake.keeps_cache = true;
    let (changed, noted) = turn(&mut fake, Switch::Off);
    let trouble = changed.unwrap_err();
    assert!(trouble.text.contains("took the command") && trouble.text.contains("`on`"));
    assert!(!trouble.text.contains("not known"), "{trouble}");
    assert_eq!(noted, ["on"]);
    let mut fake = nvme(true);
    fake.statuses.insert(SET_FEATURES, 0x410e);
    let trouble = turn(&mut fake, Switch::Off).0.unwrap_err();
    assert!(trouble.text.contains("10eh"), "{trouble}");
    let mut fake = Fake::nvme(1);
    let trouble = turn(&mut fake, Switch::On).0.unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Usage);
    let mut fake = nvme(true);
    fake.error = Some(Errno(libc::EACCES));
    assert!(turn(&mut fake, Switch::Off).0.is_err());
}

#[test]
fn nothing_is_changed_that_could_not_be_noted() {
    let mut fake = nvme(true);
    let mut note = |_: &str| Err(Trouble::failed("full"));
    change(&mut Nvme(&mut fake), true, Switch::Off, &mut note).unwrap_err();
    assert!(fake.has_cache_on);
}

#[test]
fn words_of_the_kernel_keep_what_they_say_of_reads() {
    let cases = [
        ("write back", Switch::Off, "write through"),
        ("write through", Switch::On, "write back"),
        ("write back, no read (daft)", Switch::Off, "none"),
        ("none", Switch::On, "write back, no read (daft)"),
    ];
    for (now, wanted, word) in cases {
        assert_eq!(word_for(now, wanted, false), word);
        assert_ne!(meaning(now, false), meaning(word, false));
    }
    assert_eq!(meaning("temporary", false), None);
}

/// A captured tree with one SATA disk, and its `cache_type`.
fn machine(root: &Path) -> (System, PathBuf) {
    let disk = root.join("sys/devices/ata1/host0/block/sdq");
    let device = root.join("sys/devices/ata1/host0/target");
    fs::create_dir_all(disk.join("queue")).unwrap();
    fs::create_dir_all(device.join("scsi_disk/0:0:0:0")).unwrap();
    for directory in ["dev/block", "class/block"] {
        fs::create_dir_all(root.join("sys").join(directory)).unwrap();
    }
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
    link(&disk, "sys/dev/block/65:0");
    link(&disk, "sys/class/block/sdq");
    std::os::unix::fs::symlink(&device, disk.join("device")).unwrap();
    fs::write(disk.join("dev"), "65:0\n").unwrap();
    fs::write(disk.join("size"), "2048\n").unwrap();
    fs::write(device.join("model"), "DISK\n").unwrap();
    fs::write(device.join("serial"), "S1\n").unwrap();
    let file = device.join("scsi_disk/0:0:0:0/cache_type");
    fs::write(&file, "write back\n").unwrap();
    (System::captured(root), file)
}

fn number() -> DeviceNumber {
    DeviceNumber { major: 65, minor: 0 }
}

#[test]
fn a_killed_run_is_undone_by_the_next() {
    let root = tempfile::tempdir().unwrap();
    let (system, file) = machine(root.path());
    let records = root.path().join("records");
    assert_eq!(leftovers(&system, &records), []);
    let facts = device_of_sysfs(&system, number()).unwrap();
    let found = reach(&system, number(), &facts).unwrap().unwrap();
    assert_eq!(found.canonicalize().unwrap(), file.canonicalize().unwrap());
    let mut record = None;
    let mut note = |before: &str| {
        record = Some(Record::make(&records, Change::of(&facts, number(), None, before)).unwrap());
        Ok(())
    };
    change(&mut Scsi(file.clone()), false, Switch::Off, &mut note).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "write through");
    assert_eq!(leftovers(&system, &records), [], "the run that changed it still lives");
    assert_eq!(fs::read_to_string(&file).unwrap(), "write through");
    // It is killed, and another changes the same drive before anybody put it back.
    drop(record.take());
    let again =
        Record::make(&records, Change::of(&facts, number(), None, "write through")).unwrap();
    assert_eq!(again.change.before, "write back", "what it was before the first of them");
    drop(again);
    let said = leftovers(&system, &records);
    assert_eq!(said.len(), 1);
    assert!(said[0].text.contains("sdq is `write back` again"), "{said:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "write back");
    assert_eq!(leftovers(&system, &records), []);
}

#[test]
fn another_drive_of_that_name_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let (system, file) = machine(root.path());
    let records = root.path().join("records");
    let mut facts = device_of_sysfs(&system, number()).unwrap();
    facts.serial = Some("S2".into());
    drop(Record::make(&records, Change::of(&facts, number(), None, "write through")).unwrap());
    let said = leftovers(&system, &records);
    assert!(
        said[0].text.contains("the drive is not here") && said[0].text.contains("by hand"),
        "{said:?}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "write back\n");
    assert_eq!(leftovers(&system, &records).len(), 1, "the note stays");
}

#[test]
fn what_is_no_drive_is_refused_in_a_sentence() {
    let file = tempfile::tempfile().unwrap();
    let records = Path::new("/nonexistent");
    let refused = set(&System::live(), records, file.as_fd(), Switch::Off).unwrap_err();
    assert_eq!(refused.kind, TroubleKind::Usage);
    let root = tempfile::tempdir().unwrap();
    let (system, _) = machine(root.path());
    for layer in ["loop", "partition", "md", "dm"] {
        let facts = DeviceFacts { layer: layer.into(), ..DeviceFacts::default() };
        let trouble = reach(&system, number(), &facts).unwrap_err();
        assert!(trouble.text.contains("leave --write-cache out"), "{trouble}");
    }
}

#[test]
fn who_only_asks_for_the_cache_is_not_told_how_to_empty_the_drive() {
    let mut fake = nvme(true);
    fake.error = Some(Errno(libc::EINVAL));
    for trouble in [turn(&mut fake, Switch::Off).0.unwrap_err(), of_nvme(&mut fake).unwrap_err()] {
        assert!(trouble.text.contains("does not take the command Identify"), "{trouble}");
        assert!(!trouble.text.contains("--purge"), "{trouble}");
    }
}
