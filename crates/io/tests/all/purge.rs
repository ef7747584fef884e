//! Devices that know no command to forget: they say so, and keep what they hold.

use crate::guard_support::{Loop, MIB, Room, possible};
use drivelab_core::plan::{Purge, Switch};
use drivelab_core::queue::TroubleKind;
use drivelab_io::facts::System;
use drivelab_io::purge::purge_telling;
use drivelab_io::settings::write_cache;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsFd;

#[test]
fn a_loop_device_refuses_every_command_and_keeps_its_data() {
    if !possible("a_loop_device_refuses_every_command_and_keeps_its_data") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 64 * MIB);
    let mut file = OpenOptions::new().read(true).write(true).open(&device.node).unwrap();
    file.write_all(&[0x5a; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    let before = device.hash();
    for (purge, word) in Purge::ALL {
        let mut told = Vec::new();
        let result = purge_telling(file.as_fd(), purge, &mut |text| told.push(text.to_owned()));
        let trouble = result.unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Usage, "{word}: {trouble}");
        assert!(
            trouble.text.starts_with(&format!("{word} of {}: ", device.name())),
            "{word}: {trouble}"
        );
        assert!(trouble.text.contains("does not take the command"), "{word}: {trouble}");
        assert!(trouble.text.ends_with("--purge discard"), "{word}: {trouble}");
        assert!(told.is_empty(), "{word}: {told:?}");
        assert_eq!(device.hash(), before, "{word}");
    }
}

#[test]
fn a_loop_device_has_no_write_cache_to_set() {
    if !possible("a_loop_device_has_no_write_cache_to_set") {
        return;
    }
    let room = Room::new();
    let device = Loop::on_new_file(&room, "image", 64 * MIB);
    let file = OpenOptions::new().read(true).write(true).open(&device.node).unwrap();
    let records = std::path::Path::new("/dev/none-is-made");
    for wanted in [Switch::On, Switch::Off] {
        let refused = write_cache::set(&System::live(), records, file.as_fd(), wanted);
        let trouble = refused.unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Usage);
        assert!(trouble.text.contains("(loop) has no write cache"), "{trouble}");
    }
    assert!(!records.exists());
}
