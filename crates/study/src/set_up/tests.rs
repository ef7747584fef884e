use super::*;
use drivelab_core::facts::FilesystemFacts;

fn partition(start: u64) -> DeviceFacts {
    DeviceFacts {
        name: "sdq1".into(),
        layer: "partition".into(),
        start_bytes: Some(start),
        physical_block_bytes: Some(4096),
        optimal_io_bytes: Some(0),
        discard_max_bytes: Some(1 << 30),
        ..DeviceFacts::default()
    }
}

fn of(device: DeviceFacts, options: Option<&str>, name: &str) -> Check {
    let filesystem = options.map(|options| FilesystemFacts {
        kind: "ext4".into(),
        options: options.into(),
        ..FilesystemFacts::default()
    });
    let target = TargetFacts { devices: vec![device], filesystem, ..TargetFacts::default() };
    let all = advise(&target);
    all.iter().find(|check| check.name == name).cloned().unwrap_or_else(|| panic!("{all:?}"))
}

#[test]
fn a_misaligned_partition_is_found_and_an_aligned_one_is_not() {
    let name = "partition start";
    let old = of(partition(63 * 512), None, name);
    assert_eq!(old.severity, Severity::Warning, "{old:?}");
    assert!(old.found.contains("3584 bytes off a multiple of 4 KiB"), "{old:?}");
    let mut shifted = partition(1 << 20);
    shifted.alignment_offset = Some(3584);
    assert_eq!(of(shifted, None, name).severity, Severity::Warning);
    for start in [1 << 20, 28_672] {
        assert_eq!(of(partition(start), None, name).severity, Severity::Fine, "{start}");
    }
    let disk = |sector| DeviceFacts {
        rotational: Some(true),
        physical_block_bytes: Some(sector),
        ..partition(63 * 512)
    };
    assert_eq!(of(disk(512), None, name).severity, Severity::Fine, "it writes its sectors");
    assert_eq!(of(disk(4096), None, name).severity, Severity::Warning);
    let mut array = partition(1 << 20);
    array.optimal_io_bytes = Some(3 << 19);
    let found = of(array, None, name);
    assert!(found.severity == Severity::Note && found.found.contains("its stripe"), "{found:?}");
    let disk = DeviceFacts { layer: "disk".into(), ..partition(0) };
    let target = TargetFacts { devices: vec![disk], ..TargetFacts::default() };
    assert!(advise(&target).iter().all(|check| check.name != name), "a disk has no start");
    assert_eq!(advise(&TargetFacts::default()), []);
}

#[test]
fn the_geometry_of_old_is_explained_and_held_against_the_partition() {
    let name = "fdisk -H 224 -S 56";
    let cylinder = of(partition(49 * 128 * 1024), None, name).found;
    assert!(cylinder.contains("49 x 128 KiB"), "{cylinder}");
    let on = "begins on a cylinder of it, on a track of it, on a multiple of 128 KiB";
    assert!(cylinder.contains(on), "{cylinder}");
    let track = of(partition(56 * 512), None, name).found;
    let on = "on no cylinder of it, on a track of it, on no multiple of 128 KiB";
    assert!(track.contains(on), "{track}");
}

#[test]
fn lines_give_a_stripe_only_where_the_device_has_one() {
    let name = "mkfs for this device";
    let plain = of(partition(1 << 20), None, name).found;
    assert!(plain.contains("mkfs.ext4 /dev/sdq1  or  mkfs.xfs /dev/sdq1"), "{plain}");
    assert!(!plain.contains("stripe-width"), "{plain}");
    let mut array = partition(1 << 20);
    (array.minimum_io_bytes, array.optimal_io_bytes) = (Some(64 << 10), Some(256 << 10));
    let striped = of(array.clone(), None, name).found;
    assert!(striped.contains("-E stride=16,stripe-width=64 /dev/sdq1"), "{striped}");
    assert!(striped.contains("-d su=65536,sw=4 /dev/sdq1"), "{striped}");
    // A bridge that claims 32 MiB less a sector.
    array.optimal_io_bytes = Some(33_553_920);
    assert!(of(array, None, name).found.contains("is not a stripe"));
}

#[test]
fn mount_options_are_told_with_what_they_do() {
    let name = "mount options";
    let kept = of(partition(1 << 20), Some("rw,noatime,data=ordered,errors=remount-ro"), name);
    assert_eq!(kept.severity, Severity::Fine, "{kept:?}");
    assert!(kept.found.contains("noatime (reads write nothing)"), "{kept:?}");
    assert!(!kept.found.contains("remount"), "{kept:?}");
    let felt = of(partition(1 << 20), Some("rw,relatime,discard,nobarrier,stripe=32"), name);
    assert_eq!(felt.severity, Severity::Warning, "{felt:?}");
    for word in ["discard (trims", "nobarrier (fsync", "stripe=32 (the allocator"] {
        assert!(felt.found.contains(word), "{word}: {felt:?}");
    }
    assert!(of(partition(1 << 20), Some("rw"), name).found.starts_with("none that"));
    let discard = |device, options| of(device, options, "discard").found;
    assert!(discard(partition(1 << 20), Some("rw,discard")).contains("with each deletion"));
    assert!(discard(partition(1 << 20), Some("rw")).contains("no mount option sends it"));
    let mut none = partition(1 << 20);
    none.discard_max_bytes = Some(0);
    assert!(discard(none, None).contains("takes none"));
}
