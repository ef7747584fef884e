//! Facts from captured trees, and a few from this very machine.

use std::collections::HashMap;
use std::path::Path;

use drivelab_core::facts::{DeviceFacts, Facts, TargetKind};
use drivelab_io::counters;
use drivelab_io::facts::{self, DeviceNumber, System};
use tempfile::TempDir;

/// Unfolds a captured tree; sysfs/README.md has the grammar.
fn captured(name: &str) -> (TempDir, System) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysfs").join(name);
    let text = std::fs::read_to_string(file).unwrap();
    let root = tempfile::tempdir().unwrap();
    let place = |path: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let link = |at: &str, target: &str| {
        std::os::unix::fs::symlink(target, place(at)).unwrap();
    };
    let mut devices = HashMap::new();
    let mut base = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(device) = line.strip_prefix("block ") {
            let (path, number) = device.rsplit_once(' ').unwrap();
            let name = path.rsplit('/').next().unwrap();
            std::fs::write(place(&format!("sys/devices/{path}/dev")), number).unwrap();
            for directory in ["slaves", "holders"] {
                std::fs::create_dir_all(place(&format!("sys/devices/{path}/{directory}"))).unwrap();
            }
            link(&format!("sys/class/block/{name}"), &format!("../../devices/{path}"));
            link(&format!("sys/dev/block/{number}"), &format!("../../devices/{path}"));
            devices.insert(name.to_owned(), format!("sys/devices/{path}/"));
        } else if let Some(name) = line.strip_prefix('@') {
            base = devices.get(name.trim()).cloned().unwrap_or_default();
        } else if let Some((path, target)) = line.split_once(" -> ") {
            link(&format!("{base}{path}"), target);
        } else if let Some((path, text)) = line.split_once(" = ") {
            let text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\");
            std::fs::write(place(&format!("{base}{path}")), text).unwrap();
        } else if let Some((path, digits)) = line.split_once(" : ") {
            let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
            let bytes: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
            std::fs::write(place(&format!("{base}{path}")), bytes).unwrap();
        } else {
            panic!("{name}: {line}");
        }
    }
    let system = System::captured(root.path());
    (root, system)
}

fn gather(system: &System, path: &str) -> Facts {
    facts::gather(system, Path::new(path))
}

fn names(facts: &Facts) -> Vec<&str> {
    facts.target.devices.iter().map(|device| device.name.as_str()).collect()
}

fn find<'a>(facts: &'a Facts, name: &str) -> &'a DeviceFacts {
    facts.target.devices.iter().find(|device| device.name == name).unwrap()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn an_nvme_partition_leads_to_its_drive() {
    let (_root, system) = captured("nvme.tree");
    let facts = gather(&system, "/dev/nvme0n1p2");
    assert_eq!(facts.target.kind, TargetKind::BlockDevice);
    assert_eq!(facts.target.bytes, Some(3904927744 * 512));
    assert_eq!(names(&facts), ["nvme0n1p2", "nvme0n1"]);
    let partition = find(&facts, "nvme0n1p2");
    assert_eq!(partition.layer, "partition");
    assert_eq!(partition.start_bytes, Some(2099200 * 512));
    assert_eq!(partition.mounted_at, ["/"]);
    assert_eq!(partition.logical_block_bytes, Some(512));
    assert_eq!(partition.serial, None);
    let disk = find(&facts, "nvme0n1");
    assert_eq!(disk.serial, some("S7KHNJ0W123456A"));
    assert_eq!(disk.model, some("Samsung SSD 990 PRO 2TB"));
    assert_eq!(disk.firmware, some("4B2QJXD7"));
    assert_eq!(disk.transport, some("nvme"));
    assert_eq!(disk.link, some("8.0 GT/s PCIe x2"));
    assert_eq!(disk.link_max, some("8.0 GT/s PCIe x4"), "the slot is slower than the drive");
    assert_eq!(disk.numa_node, Some(0));
    assert_eq!(disk.scheduler, some("none"));
    assert_eq!(disk.write_cache, some("write back"));
    assert_eq!((disk.fua, disk.rotational), (Some(true), Some(false)));
    assert_eq!((disk.queue_requests, disk.max_sectors_kib), (Some(1023), Some(128)));
    assert_eq!((disk.rq_affinity, disk.nomerges), (Some(1), Some(0)));
    assert_eq!(disk.writeback_throttle_us, Some(2000));
    assert_eq!(disk.discard_max_bytes, Some(2199023255040));
    assert!(disk.mounted_at.is_empty());
    // The same through a file.
    let facts = gather(&system, "/home/me/file");
    assert_eq!(names(&facts), ["nvme0n1p2", "nvme0n1"]);
    let filesystem = facts.target.filesystem.as_ref().unwrap();
    assert_eq!((filesystem.kind.as_str(), &filesystem.hazard), ("ext4", &None));
    assert_eq!(filesystem.options, "rw,noatime,rw,errors=remount-ro");
    let memory = gather(&system, "/tmp/x").target;
    assert!(memory.devices.is_empty());
    let filesystem = memory.filesystem.unwrap();
    assert!(filesystem.memory_backed && filesystem.hazard.unwrap().contains("memory, not a drive"));
}

#[test]
fn native_multipath_hangs_on_the_subsystem() {
    let (_root, system) = captured("nvme-multipath.tree");
    let facts = gather(&system, "/dev/nvme0n2");
    let disk = find(&facts, "nvme0n2");
    assert_eq!(disk.serial, some("61S0A001TLKP"));
    assert_eq!(disk.firmware, some("0105"));
    assert_eq!(disk.transport, some("nvme"));
    assert_eq!(disk.link, some("8.0 GT/s PCIe x4"));
    assert_eq!(disk.link_max, some("8.0 GT/s PCIe x4"));
}

#[test]
fn sata_disks_are_identified() {
    let (_root, system) = captured("server.tree");
    let facts = gather(&system, "/dev/sda");
    let disk = find(&facts, "sda");
    assert_eq!(disk.model, some("WDC WD40EFRX-68W"));
    assert_eq!(disk.firmware, some("0A82"));
    assert_eq!(disk.serial, some("WD-WCC4E1234567"), "from page 80h");
    assert_eq!(disk.transport, some("sata"));
    assert_eq!((&disk.link, &disk.link_max), (&some("3.0 Gbps"), &some("6.0 Gbps")));
    assert_eq!(disk.form_factor, some("3.5 inch"), "the other disk does not say");
    assert_eq!((disk.logical_block_bytes, disk.physical_block_bytes), (Some(512), Some(4096)));
    let facts = gather(&system, "/dev/sdb");
    assert_eq!(find(&facts, "sdb").serial, some("WD-WCC4E7654321"), "from its wwid");
    assert_eq!(find(&facts, "sdb").link, None);
}

#[test]
fn arrays_and_volumes_lead_to_all_disks() {
    let (_root, system) = captured("server.tree");
    let facts = gather(&system, "/dev/md0");
    assert_eq!(names(&facts), ["md0", "sda1", "sdb1", "sda", "sdb"]);
    let array = find(&facts, "md0");
    assert_eq!((array.layer.as_str(), &array.layer_name), ("md", &some("raid1")));
    assert_eq!(array.members, ["sda1", "sdb1"]);
    assert_eq!(array.mounted_at, ["/boot"]);
    assert_eq!(find(&facts, "sda1").holders, ["md0"]);
    let facts = gather(&system, "/dev/mapper/vg0-data");
    assert_eq!(names(&facts), ["dm-0", "sda2", "sdb2", "sda", "sdb"]);
    let volume = find(&facts, "dm-0");
    assert_eq!((volume.layer.as_str(), &volume.layer_name), ("lvm", &some("vg0-data")));
    let facts = gather(&system, "/dev/dm-1");
    assert_eq!(names(&facts), ["dm-1", "dm-0", "sda2", "sdb2", "sda", "sdb"]);
    assert_eq!(find(&facts, "dm-1").layer, "crypt");
    let facts = gather(&system, "/data/some/file");
    assert_eq!(names(&facts), ["dm-0", "sda2", "sdb2", "sda", "sdb"]);
}

#[test]
fn a_loop_device_leads_through_its_file() {
    let (_root, system) = captured("server.tree");
    let facts = gather(&system, "/dev/loop0");
    assert_eq!(names(&facts), ["loop0", "dm-0", "sda2", "sdb2", "sda", "sdb"]);
    let device = find(&facts, "loop0");
    assert_eq!((device.layer.as_str(), device.transport.as_deref()), ("loop", Some("loop")));
    assert_eq!(device.backing_file, some("/data/disk images/one.img"));
}

#[test]
fn file_systems_without_a_drive_are_named() {
    let (_root, system) = captured("server.tree");
    let hazard = |path: &str| {
        let facts = gather(&system, path);
        let filesystem = facts.target.filesystem.unwrap();
        (filesystem.kind, filesystem.network, filesystem.compressing, filesystem.hazard.unwrap())
    };
    let (kind, network, _, text) = hazard("/mnt/nfs share/file");
    assert!(kind == "nfs4" && network && text.contains("filer:/export"), "{text}");
    assert!(gather(&system, "/mnt/nfs share/file").target.devices.is_empty());
    let (kind, network, _, text) = hazard("/container/var/x");
    assert!(kind == "overlay" && !network && text.contains("copies it up"), "{text}");
    let facts = gather(&system, "/container/var/x");
    assert_eq!(names(&facts), ["dm-0", "sda2", "sdb2", "sda", "sdb"], "below the upper directory");
    let (_, _, compressing, text) = hazard("/home/x");
    assert!(compressing && text.contains("compression"), "{text}");
    assert_eq!(names(&gather(&system, "/home/x")), ["sdb2", "sdb"]);
    assert!(hazard("/pool/x").3.contains("ARC"));
    assert!(hazard("/sshfs/x").3.contains("user space"));
    assert!(hazard("/host/x").3.contains("the host's cache"));
    let plain = gather(&system, "/plainbtrfs/x").target.filesystem.unwrap();
    assert!(!plain.compressing && plain.hazard.is_none());
}

#[test]
fn the_machine_and_its_limits_are_known() {
    let (_root, system) = captured("server.tree");
    let host = facts::host(&system);
    assert_eq!(host.hostname, some("filer2"));
    assert_eq!(host.kernel, some("6.12.0 #1 SMP"));
    assert_eq!(host.cpu_model, some("AMD EPYC"));
    assert_eq!((host.cpus_allowed, host.cpus_online), (Some(5), Some(16)));
    assert_eq!(host.memory_bytes, Some(16384 * 1024));
    assert_eq!((host.clocksource, host.governor), (some("tsc"), some("powersave")));
    assert_eq!(host.virtualisation, some("QEMU"));
    assert_eq!(
        host.cgroup_limits,
        [
            "cpu.max 50000 100000 in /system.slice/lab.service",
            "memory.max 1073741824 in /system.slice/lab.service",
            "io.max 8:0 rbps=1048576 wbps=max riops=max wiops=max in /",
        ]
    );
    let (_root, system) = captured("cgroup1.tree");
    assert_eq!(
        facts::host(&system).cgroup_limits,
        [
            "blkio.throttle.read_bps_device 254:0 10485760 in /a/b",
            "blkio.throttle.write_iops_device 254:0 100 in /a",
            "memory.limit_in_bytes 1073741824 in /",
            "cpu.cfs_quota_us 25000 of 100000 in /inner",
        ]
    );
}

#[test]
fn other_buses_are_told_apart() {
    let (_root, system) = captured("cgroup1.tree");
    let facts = gather(&system, "/dev/sdc");
    let usb = find(&facts, "sdc");
    assert_eq!((&usb.transport, &usb.serial), (&some("usb"), &some("012345679989")));
    assert_eq!(usb.link, some("5000 Mb/s USB 3.20"));
    let facts = gather(&system, "/dev/mmcblk0");
    let card = find(&facts, "mmcblk0");
    assert_eq!((&card.transport, &card.model), (&some("mmc"), &some("SD64G")));
    let facts = gather(&system, "/some/file");
    let disk = find(&facts, "vda");
    assert_eq!((&disk.transport, &disk.serial), (&some("virtio"), &some("overlayblk")));
}

#[test]
fn the_list_names_each_device_once_in_order() {
    let (_root, system) = captured("server.tree");
    let listed = facts::list(&system);
    let names: Vec<&str> = listed.iter().map(|device| device.name.as_str()).collect();
    let expected =
        ["dm-0", "dm-1", "loop0", "md0", "sda", "sda1", "sda2", "sdb", "sdb1", "sdb2", "zram0"];
    assert_eq!(names, expected, "unattached loop devices are left out");
    let swaps = facts::swaps(&system).unwrap();
    assert_eq!((swaps[0].is_file, swaps[1].is_file), (false, true));
    assert_eq!(swaps[1].path, Path::new("/data/swap file"));
    let mounts = facts::mounts(&system).unwrap();
    assert_eq!(mounts.len(), 11);
    assert_eq!(mounts[3].mount_point, Path::new("/mnt/nfs share"));
    assert_eq!(mounts[5].root, Path::new("/@home"));
}

#[test]
fn unknown_is_said() {
    let root = tempfile::tempdir().unwrap();
    let facts = gather(&System::captured(root.path()), "/x");
    assert!(facts.target.unknown.iter().any(|text| text.contains("mountinfo")));
    assert!(facts.target.unknown.iter().all(|text| text.ends_with('.')));
    assert_eq!(facts.host, drivelab_core::facts::HostFacts::default());
}

#[test]
fn counters_are_bytes_and_milliseconds() {
    let (_root, system) = captured("nvme.tree");
    let numbers = facts::devices_below(&system, Path::new("/dev/nvme0n1p2"));
    let text: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["259:2", "259:0"]);
    let snapshot = counters::snapshot(&system, &numbers).unwrap();
    let disk = &snapshot.devices[1];
    assert_eq!((disk.read_ops, disk.read_bytes), (100, 2048 * 512));
    assert_eq!((disk.write_ops, disk.write_bytes, disk.in_flight), (200, 4096 * 512, 3));
    assert_eq!((disk.discard_bytes, disk.flush_ops, disk.flush_time_ms), (8192 * 512, 9, 11));
    assert_eq!((disk.busy_time_ms, disk.queue_time_ms), (40, 50));
    // Eleven fields, as before Linux 4.18.
    assert_eq!((snapshot.devices[0].write_ops, snapshot.devices[0].flush_ops), (100, 0));
    let difference = snapshot.since(&snapshot);
    assert_eq!((difference.devices[1].read_ops, difference.devices[1].in_flight), (0, 3));
    let back = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(serde_json::from_str::<counters::Snapshot>(&back).unwrap(), snapshot);
    assert!(
        counters::snapshot(&system, &[DeviceNumber { major: 1, minor: 1 }])
            .unwrap()
            .devices
            .is_empty()
    );
}

#[test]
fn this_machine_answers_unprivileged_questions() {
    let system = System::live();
    let facts = gather(&system, ".");
    assert_eq!(facts.target.kind, TargetKind::Directory);
    assert!(facts.target.filesystem.unwrap().total_bytes.unwrap() > 0);
    assert!(facts.host.kernel.is_some() && facts.host.cpus_allowed.unwrap() > 0);
    let file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
    let before = counters::snapshot(&system, &facts::devices_below(&system, file.path())).unwrap();
    std::fs::write(file.path(), vec![1; 1 << 20]).unwrap();
    file.as_file().sync_all().unwrap();
    let after = counters::snapshot(&system, &facts::devices_below(&system, file.path())).unwrap();
    let difference = after.since(&before);
    if let Some(process) = difference.process {
        assert!(process.write_call_bytes >= 1 << 20);
    }
    for device in difference.devices {
        assert!(device.write_bytes >= 1 << 20, "{device:?}");
    }
}
