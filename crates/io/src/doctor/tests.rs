//! A captured tree: what it tells is found, and what it lacks stays unknown.

use super::*;
use drivelab_core::facts::{DeviceFacts, FilesystemFacts, TargetFacts, TargetKind};
use drivelab_core::fitness::Direct;
use std::fs;
use std::path::PathBuf;

struct Captured {
    root: tempfile::TempDir,
    system: System,
}

impl Captured {
    fn new() -> Captured {
        let root = tempfile::tempdir().expect("a directory");
        let system = System::captured(root.path());
        Captured { root, system }
    }

    fn with(&self, path: &str, text: &str) -> &Captured {
        let path: PathBuf = self.root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("written");
        self
    }

    fn look(&self, facts: Facts) -> Observations {
        look(&self.system, Path::new("/data"), facts)
    }
}

#[test]
fn an_empty_tree_is_unknown_and_nothing_is_guessed() {
    let captured = Captured::new();
    let seen = captured.look(Facts::default());
    assert_eq!(seen, Observations::default());
}

#[test]
fn a_busy_machine_is_seen() {
    let captured = Captured::new();
    captured
        .with("proc/2/comm", "kthreadd\n")
        .with("proc/77/comm", "ext4lazyinit\n")
        .with("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1,4\n")
        .with("proc/meminfo", "MemTotal: 2048 kB\nMemAvailable: 1024 kB\n")
        .with("sys/class/block/md0/md/sync_action", "resync\n")
        .with("sys/class/block/md1/md/sync_action", "idle\n")
        .with("sys/devices/system/node/node0/cpulist", "0-3\n")
        .with("sys/devices/system/node/node1/cpulist", "4-7\n")
        .with("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2\n")
        .with("sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "133\n")
        .with("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "900\n")
        .with("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "1\n")
        .with("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")
        .with("sys/class/power_supply/BAT0/type", "Battery\n")
        .with("sys/class/power_supply/BAT0/status", "Discharging\n")
        .with("sys/class/power_supply/mouse/type", "Battery\n")
        .with("sys/class/power_supply/mouse/scope", "Device\n")
        .with("sys/class/power_supply/AC/type", "Mains\n")
        .with("sys/module/nvme_core/parameters/default_ps_max_latency_us", "100000\n")
        .with("sys/module/pcie_aspm/parameters/policy", "default [powersave] performance\n");
    let nvme = DeviceFacts { transport: Some("nvme".into()), ..DeviceFacts::default() };
    let mut facts = Facts::default();
    facts.target.devices.push(nvme);
    let seen = captured.look(facts);
    assert_eq!(seen.is_initialising, Some(true));
    assert_eq!(seen.resyncs, [Resync { device: "md0".into(), action: "resync".into() }]);
    assert_eq!(seen.cpus_allowed, [0, 1, 4]);
    assert_eq!(seen.nodes, [(0, vec![0, 1, 2, 3]), (1, vec![4, 5, 6, 7])]);
    assert_eq!(seen.memory_available_bytes, Some(1 << 20));
    assert_eq!(seen.power.cpu_exit_us_max, Some(133));
    assert_eq!(seen.power.boost, Some(true));
    assert_eq!(seen.power.batteries, [("BAT0".to_owned(), "Discharging".to_owned())]);
    assert_eq!(seen.power.nvme_sleep_us_max, Some(100_000));
    assert_eq!(seen.power.pcie_policy.as_deref(), Some("powersave"));
}

#[test]
fn a_quiet_machine_is_told_from_one_that_hides() {
    let captured = Captured::new();
    captured.with("proc/2/comm", "kthreadd\n").with("proc/9/comm", "sh\n");
    assert_eq!(captured.look(Facts::default()).is_initialising, Some(false));
    let hidden = Captured::new();
    hidden.with("proc/2/comm", "sh\n");
    assert_eq!(hidden.look(Facts::default()).is_initialising, None);
}

#[test]
fn a_sata_link_has_the_policy_of_its_host() {
    let captured = Captured::new();
    let disk = "sys/devices/pci0/ata1/host3/target3:0:0/3:0:0:0";
    captured
        .with(&format!("{disk}/model"), "x\n")
        .with("sys/class/block/sda/dev", "8:0\n")
        .with("sys/class/scsi_host/host3/link_power_management_policy", "min_power\n");
    let link = captured.root.path().join("sys/class/block/sda/device");
    std::os::unix::fs::symlink(captured.root.path().join(disk), link).expect("linked");
    let sata = DeviceFacts {
        name: "sda".into(),
        layer: "disk".into(),
        transport: Some("sata".into()),
        ..DeviceFacts::default()
    };
    let mut facts = Facts::default();
    facts.target.devices.push(sata);
    let expected = [("sda".to_owned(), "min_power".to_owned())];
    assert_eq!(captured.look(facts).power.sata_policies, expected);
}

#[test]
fn what_others_do_meanwhile_is_counted() {
    let captured = Captured::new();
    let stat = "sys/devices/vda/stat";
    let cpu = "proc/stat";
    captured
        .with(stat, "10 0 100 5 20 0 200 5 0 50 10 0 0 0 0 0 0\n")
        .with(cpu, "cpu  100 0 0 800 0 0 0 100 0 0\n")
        .with("proc/pressure/io", "some avg10=0 total=1000\nfull avg10=0 total=0\n");
    let numbers = captured.root.path().join("sys/dev/block");
    fs::create_dir_all(&numbers).expect("numbers");
    let disk = captured.root.path().join("sys/devices/vda");
    std::os::unix::fs::symlink(disk, numbers.join("254:0")).expect("linked");
    let devices = [DeviceNumber { major: 254, minor: 0 }];
    let before = Moment::now(&captured.system, &devices);
    captured
        .with(stat, "12 0 104 5 22 0 300 5 0 90 10 0 0 0 0 0 0\n")
        .with(cpu, "cpu  110 0 0 880 0 0 0 110 0 0\n")
        .with("proc/pressure/io", "some avg10=0 total=51000\nfull avg10=0 total=0\n");
    let after = Moment::now(&captured.system, &devices);
    let idle = after.since(&before, Duration::from_secs(1));
    let device = IdleDevice { name: "vda".into(), bytes: 104 * 512, busy_ms: 40, uncounted: false };
    assert_eq!(idle.devices, [device]);
    assert_eq!(idle.steal_share, Some(0.1));
    assert_eq!((idle.pressure[0].resource.as_str(), idle.pressure[0].some_us), ("io", 50_000));
}

#[test]
fn direct_io_is_asked_of_the_target_itself() {
    let work = tempfile::tempdir().expect("a directory");
    let file = work.path().join("a file");
    fs::write(&file, "x").expect("written");
    let live = System::live();
    let target = TargetFacts::default();
    let by_file = direct(&live, &file, &target);
    assert_ne!(by_file, Direct::NotAsked);
    assert_eq!(direct(&live, work.path(), &target), by_file, "the directory asks its file");
    assert_eq!(direct(&live, &work.path().join("absent"), &target), Direct::NotAsked);
    assert_eq!(ask_proc(), Direct::Refused, "procfs has no direct I/O");
    let device = DeviceFacts { logical_block_bytes: Some(512), ..DeviceFacts::default() };
    let block = TargetFacts {
        kind: TargetKind::BlockDevice,
        devices: vec![device],
        ..TargetFacts::default()
    };
    assert_eq!(direct(&live, &file, &block), Direct::Works { align: Some((512, 512)) });
    let captured = System::captured(work.path());
    let said = |align| {
        let filesystem = FilesystemFacts { direct_io_align: align, ..FilesystemFacts::default() };
        let target = TargetFacts { filesystem: Some(filesystem), ..TargetFacts::default() };
        direct(&captured, Path::new("/data"), &target)
    };
    assert_eq!(said(Some((0, 0))), Direct::Refused);
    assert_eq!(said(Some((4, 512))), Direct::Works { align: Some((4, 512)) });
    assert_eq!(said(None), Direct::NotAsked);
}

fn ask_proc() -> Direct {
    direct(&System::live(), Path::new("/proc/self/status"), &TargetFacts::default())
}

#[test]
fn leftovers_are_what_is_ours_and_still_there() {
    let work = tempfile::tempdir().expect("a directory");
    let list = ScratchList::at(work.path().join("scratch.jsonl"));
    let note = |name: &str, keep| {
        let path = work.path().join(name);
        fs::write(&path, name).expect("written");
        let identity = Identity::of(fs::File::open(&path).expect("open")).expect("an inode");
        let kind = crate::scratch::ScratchKind::File;
        list.record(&Entry::new(kind, &path, identity, keep)).expect("noted");
        path
    };
    assert_eq!(leftovers(&list), [""; 0]);
    let left = note("left", false);
    note("kept", true);
    fs::remove_file(note("gone", false)).expect("removed");
    assert_eq!(leftovers(&list), [left.display().to_string()]);
}
