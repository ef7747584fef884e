//! Every check with both of its answers, and with none.

use super::*;
use drivelab_core::facts::{
    Apst, DeviceFacts, FarmFacts, FilesystemFacts, NvmeFacts, SelfTestFacts, TargetKind, WearFacts,
};
use drivelab_core::fitness::{Direct, Idle, IdleDevice, Noise, Resync};
use drivelab_core::observed::{PressureSpan, Temperature};
use drivelab_core::record::ClockFacts;
use drivelab_stats::Estimate;

/// A machine with nothing to say against it.
fn quiet() -> Observations {
    let mut seen = Observations {
        direct: Direct::Works { align: Some((4, 512)) },
        is_initialising: Some(false),
        idle: Some(idle(0, 0)),
        temperatures: vec![temperature(40.0)],
        nodes: vec![(0, vec![0, 1])],
        cpus_allowed: vec![0, 1],
        memory_available_bytes: Some(8 << 30),
        clock: ClockFacts {
            source: "tsc".into(),
            reason: "constant".into(),
            disagreement_ppm: Some(0.1),
            read_ns: Some(12.0),
            monotonic_zero_ns: None,
        },
        clock_step_ns: Some(10),
        ceiling: Some(Estimate::point(2e7, 1)),
        noise: Some(Noise { seconds: 2.0, wake_ups: 1000, ..Noise::default() }),
        ..Observations::default()
    };
    seen.power.cpu_exit_us_max = Some(2);
    seen.facts.host.governor = Some("performance".into());
    seen.facts.host.clocksource = Some("tsc".into());
    seen.facts.host.memory_bytes = Some(16 << 30);
    seen.facts.target.filesystem = Some(FilesystemFacts {
        kind: "ext4".into(),
        source: "/dev/nvme0n1p1".into(),
        total_bytes: Some(100 << 30),
        free_bytes: Some(50 << 30),
        ..FilesystemFacts::default()
    });
    seen.facts.target.devices = vec![disk()];
    seen
}

fn disk() -> DeviceFacts {
    DeviceFacts {
        name: "nvme0n1".into(),
        number: "259:0".into(),
        layer: "disk".into(),
        transport: Some("nvme".into()),
        link: Some("16.0 GT/s PCIe x4".into()),
        link_max: Some("16.0 GT/s PCIe x4".into()),
        physical_block_bytes: Some(512),
        rotational: Some(false),
        scheduler: Some("none".into()),
        queue_requests: Some(1023),
        max_sectors_kib: Some(1280),
        read_ahead_kib: Some(128),
        write_cache: Some("write through".into()),
        rq_affinity: Some(1),
        nomerges: Some(0),
        writeback_throttle_us: Some(0),
        numa_node: Some(0),
        wear: Some(WearFacts {
            used_percent: Some(3),
            spare_percent: Some(100),
            ..WearFacts::default()
        }),
        ..DeviceFacts::default()
    }
}

fn idle(bytes: u64, busy_ms: u64) -> Idle {
    let pressure = PressureSpan { resource: "io".into(), some_us: busy_ms * 1000, full_us: 0 };
    Idle {
        span_ns: 1_000_000_000,
        devices: vec![IdleDevice { name: "nvme0n1".into(), bytes, busy_ms, uncounted: false }],
        pressure: vec![pressure],
        steal_share: Some(0.0),
    }
}

fn temperature(celsius: f64) -> Temperature {
    Temperature { device: "nvme0n1".into(), at: 0, celsius, celsius_max: Some(80.0) }
}

/// The answers of one check.
fn answers(name: &str, seen: &Observations) -> Vec<Severity> {
    let checks = judge(seen);
    let of = checks.iter().filter(|check| check.name == name);
    of.map(|check| check.severity).collect()
}

/// A machine changed in one way gives this answer, and its words hold this figure.
#[track_caller]
fn changed(name: &str, expected: Severity, says: &str, change: impl FnOnce(&mut Observations)) {
    let mut seen = quiet();
    change(&mut seen);
    let checks = judge(&seen);
    let check = checks.iter().find(|check| check.name == name && check.severity == expected);
    let check = check.unwrap_or_else(|| panic!("no {expected:?} `{name}` in {checks:#?}"));
    assert!(check.found.contains(says), "{}", check.found);
    let needs_advice = matches!(expected, Severity::Note | Severity::Warning | Severity::Bad);
    assert_eq!(check.advice.is_some(), needs_advice, "{check:?}");
}

#[track_caller]
fn of_disk(name: &str, expected: Severity, says: &str, change: impl FnOnce(&mut DeviceFacts)) {
    changed(name, expected, says, |seen| change(&mut seen.facts.target.devices[0]));
}

use Severity::{Bad, Fine, Note, Unknown, Warning};

#[test]
fn a_quiet_machine_is_fine_throughout() {
    let checks = judge(&quiet());
    let other: Vec<&Check> = checks.iter().filter(|check| check.severity != Fine).collect();
    // No machine tells this.
    assert!(other.iter().all(|check| check.name == "drive state"), "{other:#?}");
    assert!(checks.iter().all(|check| check.advice.is_none()));
    let words = "fit to measure; one check gave no answer.";
    assert_eq!(verdict(&checks), (words.to_owned(), false));
}

#[test]
fn a_machine_of_which_nothing_is_known_is_unknown_and_not_fine() {
    let checks = judge(&Observations::default());
    let known: Vec<&str> =
        checks.iter().filter(|check| check.severity == Fine).map(|c| c.name.as_str()).collect();
    // Lists that are empty because there is nothing: groups, arrays, batteries, scratch.
    let lists = [
        "array at work",
        "CPU quota",
        "I/O quota",
        "memory limit",
        "battery",
        "settings",
        "leftovers",
    ];
    assert_eq!(known, lists);
    let said = verdict(&checks);
    assert!(said.0.contains("checks gave no answer"), "{said:?}");
}

#[test]
fn the_target_is_asked_for_its_cache() {
    changed("direct I/O", Fine, "memory on 4 B, offsets on multiples of 512 B", |_| {});
    changed("direct I/O", Fine, "alignment not reported", |seen| {
        seen.direct = Direct::Works { align: None };
    });
    changed("direct I/O", Bad, "page cache", |seen| seen.direct = Direct::Refused);
    changed("direct I/O", Unknown, "no readable file", |seen| seen.direct = Direct::NotAsked);
}

#[test]
fn file_systems_that_are_no_drive_are_named() {
    let filesystem = |seen: &mut Observations, memory_backed| {
        let found = seen.facts.target.filesystem.as_mut().expect("a file system");
        found.hazard = Some("/x is odd".into());
        found.memory_backed = memory_backed;
    };
    changed("file system", Bad, "/x is odd", |seen| filesystem(seen, true));
    changed("file system", Warning, "/x is odd", |seen| filesystem(seen, false));
    changed("file system", Unknown, "no mount", |seen| seen.facts.target.filesystem = None);
    changed("file system", Fine, "a block device", |seen| {
        seen.facts.target.kind = TargetKind::BlockDevice;
    });
    let free = |seen: &mut Observations, free| {
        seen.facts.target.filesystem.as_mut().expect("a file system").free_bytes = free;
    };
    changed("free space", Warning, "91 % is used", |seen| free(seen, Some(9 << 30)));
    changed("free space", Fine, "11.8 GB of 107 GB", |seen| free(seen, Some(11 << 30)));
    changed("free space", Unknown, "does not report", |seen| free(seen, None));
    let name = "lazy initialisation";
    changed(name, Warning, "is running", |seen| seen.is_initialising = Some(true));
    changed(name, Unknown, "cannot be seen", |seen| seen.is_initialising = None);
}

#[test]
fn the_queue_of_each_disk_is_read() {
    of_disk("scheduler", Note, "nvme0n1: mq-deadline", |disk| {
        disk.scheduler = Some("mq-deadline".into());
    });
    of_disk("scheduler", Unknown, "does not show", |disk| disk.scheduler = None);
    of_disk("merging", Note, "nomerges is 2", |disk| disk.nomerges = Some(2));
    of_disk("merging", Unknown, "does not show", |disk| disk.nomerges = None);
    of_disk("request size", Warning, "64 KiB are split", |disk| disk.max_sectors_kib = Some(64));
    of_disk("request size", Note, "128 KiB are split", |disk| disk.max_sectors_kib = Some(128));
    of_disk("request size", Fine, "up to 1024 KiB", |disk| disk.max_sectors_kib = Some(1024));
    of_disk("request size", Unknown, "does not show", |disk| disk.max_sectors_kib = None);
    of_disk("queue slots", Warning, "31 requests fit", |disk| disk.queue_requests = Some(31));
    of_disk("queue slots", Fine, "32 requests fit", |disk| disk.queue_requests = Some(32));
    of_disk("queue slots", Unknown, "does not show", |disk| disk.queue_requests = None);
    of_disk("write cache", Note, "write back", |disk| {
        disk.write_cache = Some("write back".into());
    });
    of_disk("write cache", Unknown, "does not show", |disk| disk.write_cache = None);
    of_disk("writeback throttle", Warning, "75.0 ms", |disk| {
        disk.writeback_throttle_us = Some(75_000);
    });
    of_disk("writeback throttle", Unknown, "does not show", |disk| {
        disk.writeback_throttle_us = None;
    });
    of_disk("read-ahead", Note, "8192 KiB", |disk| disk.read_ahead_kib = Some(8192));
    of_disk("read-ahead", Unknown, "does not show", |disk| disk.read_ahead_kib = None);
    of_disk("completion CPU", Note, "any CPU", |disk| disk.rq_affinity = Some(0));
    of_disk("completion CPU", Fine, "on the CPU", |disk| disk.rq_affinity = Some(2));
    of_disk("completion CPU", Unknown, "does not show", |disk| disk.rq_affinity = None);
}

#[test]
fn a_slow_link_and_a_shifted_partition_are_seen() {
    of_disk("link", Warning, "2.5 GT/s PCIe x1, while both sides could do 16.0", |disk| {
        disk.link = Some("2.5 GT/s PCIe x1".into());
    });
    of_disk("link", Unknown, "what it could be", |disk| disk.link_max = None);
    of_disk("link", Unknown, "nvme reports no link", |disk| disk.link = None);
    of_disk("alignment", Warning, "by 512 B", |disk| disk.alignment_offset = Some(512));
    let partition = |disk: &mut DeviceFacts, start| {
        disk.layer = "partition".into();
        disk.start_bytes = Some(start);
    };
    of_disk("alignment", Warning, "byte 32256", |disk| partition(disk, 63 * 512));
    of_disk("alignment", Fine, "byte 1048576", |disk| partition(disk, 1 << 20));
    assert_eq!(answers("alignment", &quiet()), [], "a whole disk begins at its beginning");
    of_disk("alignment", Warning, "not a multiple of 16384", |disk| {
        partition(disk, 4096);
        disk.physical_block_bytes = Some(16_384);
    });
}

#[test]
fn layers_and_virtual_disks_are_named() {
    of_disk("layers", Note, "nvme0n1 (md)", |disk| disk.layer = "md".into());
    of_disk("virtual disk", Warning, "says that it spins", |disk| {
        disk.transport = Some("virtio".into());
        disk.rotational = Some(true);
    });
    of_disk("virtual disk", Warning, "does not spin", |disk| {
        disk.model = Some("Amazon Elastic Block Store".into());
    });
    assert_eq!(answers("virtual disk", &quiet()), []);
    let without = |memory_backed, network| {
        move |seen: &mut Observations| {
            seen.facts.target.devices.clear();
            let found = seen.facts.target.filesystem.as_mut().expect("a file system");
            (found.memory_backed, found.network) = (memory_backed, network);
        }
    };
    changed("devices", Unknown, "no block device", without(false, false));
    changed("devices", Unknown, "in memory", without(true, false));
    changed("devices", Unknown, "other side of the network", without(false, true));
    let mut two = quiet();
    two.facts.target.devices = vec![disk(), DeviceFacts { name: "nvme1n1".into(), ..disk() }];
    let checks = judge(&two);
    let scheduler: Vec<&Check> = checks.iter().filter(|c| c.name == "scheduler").collect();
    assert_eq!(scheduler.len(), 1, "equal findings stand together");
    assert_eq!(scheduler[0].found, "nvme0n1, nvme1n1: none");
    two.facts.target.devices[1].scheduler = Some("bfq".into());
    assert_eq!(answers("scheduler", &two), [Fine, Note]);
}

#[test]
fn others_at_work_are_counted() {
    let load = |bytes, busy| move |seen: &mut Observations| seen.idle = Some(idle(bytes, busy));
    changed("foreign load", Fine, "busy 1.0 %", load(1 << 20, 10));
    changed("foreign load", Warning, "busy 1.1 %", load(0, 11));
    changed("foreign load", Warning, "2 MiB", load(2 << 20, 0));
    changed("foreign load", Bad, "busy 50 %", load(1 << 30, 500));
    changed("foreign load", Unknown, "nothing was counted", |seen| seen.idle = None);
    let uncounted =
        |name: &str| IdleDevice { name: name.into(), uncounted: true, ..IdleDevice::default() };
    changed("foreign load", Unknown, "sda has no I/O counters", |seen| {
        seen.idle.as_mut().unwrap().devices = vec![uncounted("sda")];
    });
    changed("foreign load", Unknown, "sda has no I/O counters", |seen| {
        seen.idle.as_mut().unwrap().devices.push(uncounted("sda"));
    });
    changed("foreign load", Bad, "busy 50 %", |seen| {
        seen.idle = Some(idle(1 << 30, 500));
        seen.idle.as_mut().unwrap().devices.push(uncounted("sda"));
    });
    changed("pressure", Warning, "io 20 %", load(0, 200));
    changed("pressure", Unknown, "PSI", |seen| {
        seen.idle.as_mut().expect("counted").pressure.clear();
    });
    let steal = |share| {
        move |seen: &mut Observations| seen.idle.as_mut().expect("counted").steal_share = share
    };
    changed("stolen time", Fine, "0.5 %", steal(Some(0.005)));
    changed("stolen time", Note, "3.0 %", steal(Some(0.03)));
    changed("stolen time", Warning, "20 %", steal(Some(0.2)));
    changed("stolen time", Unknown, "does not count", steal(None));
    let resync = |device: &str| {
        let resync = Resync { device: device.into(), action: "resync".into() };
        move |seen: &mut Observations| seen.resyncs = vec![resync]
    };
    changed("array at work", Bad, "nvme0n1 does a resync", resync("nvme0n1"));
    changed("array at work", Warning, "md7 does a resync", resync("md7"));
    let heat =
        |celsius| move |seen: &mut Observations| seen.temperatures = vec![temperature(celsius)];
    changed("temperature", Fine, "69 °C", heat(69.0));
    changed("temperature", Warning, "71 °C", heat(71.0));
    changed("temperature", Bad, "80 °C", heat(80.0));
    changed("temperature", Unknown, "does not report", |seen| seen.temperatures.clear());
}

#[test]
fn limits_of_control_groups_are_found() {
    let limit = |line: &str| {
        let line = line.to_owned();
        move |seen: &mut Observations| seen.facts.host.cgroup_limits = vec![line]
    };
    changed("CPU quota", Warning, "50000 100000", limit("cpu.max 50000 100000 in /a"));
    changed("CPU quota", Warning, "cfs_quota", limit("cpu.cfs_quota_us 5 of 10 in /a"));
    changed("I/O quota", Bad, "rbps=1000", limit("io.max 259:0 rbps=1000 in /a"));
    changed("I/O quota", Fine, "of the target", limit("io.max 8:0 rbps=1000 in /a"));
    let version_1 = "blkio.throttle.read_bps_device 259:0 1000 in /a";
    changed("I/O quota", Bad, "read_bps_device", limit(version_1));
    changed("memory limit", Note, "1000", limit("memory.max 1000 in /a"));
}

#[test]
fn power_cpus_and_memory_are_judged() {
    let governor = |name: Option<&str>| {
        let name = name.map(str::to_owned);
        move |seen: &mut Observations| seen.facts.host.governor = name
    };
    changed("CPU frequency", Warning, "powersave", governor(Some("powersave")));
    changed("CPU frequency", Unknown, "no governor", governor(None));
    changed("CPU boost", Note, "on", |seen| seen.power.boost = Some(true));
    changed("CPU boost", Fine, "off", |seen| seen.power.boost = Some(false));
    changed("CPU sleep", Note, "133 µs", |seen| seen.power.cpu_exit_us_max = Some(133));
    changed("CPU sleep", Unknown, "no idle states", |seen| seen.power.cpu_exit_us_max = None);
    let battery = |status: &str| {
        let battery = ("BAT0".to_owned(), status.to_owned());
        move |seen: &mut Observations| seen.power.batteries = vec![battery]
    };
    changed("battery", Warning, "BAT0", battery("Discharging"));
    changed("battery", Fine, "on mains", battery("Full"));
    let policy = |name: &str| {
        let name = name.to_owned();
        move |seen: &mut Observations| seen.power.pcie_policy = Some(name)
    };
    changed("PCIe power", Warning, "powersave", policy("powersave"));
    changed("PCIe power", Fine, "default", policy("default"));
    let sleeps = |limit_us: u64, sleeps_us: Option<Vec<u32>>| {
        move |seen: &mut Observations| {
            seen.power.nvme_sleep_us_max = Some(limit_us);
            seen.facts.target.devices[0].sleeps_us = sleeps_us;
        }
    };
    changed("NVMe power", Note, "8000 µs", sleeps(100_000, Some(vec![500, 8_000, 200_000])));
    changed("NVMe power", Fine, "does not sleep", sleeps(100_000, Some(Vec::new())));
    changed("NVMe power", Fine, "turned off", |seen| {
        sleeps(100_000, Some(vec![500]))(seen);
        let nvme = NvmeFacts { apst: Some(Apst::Off), ..NvmeFacts::default() };
        seen.facts.target.devices[0].nvme = Some(nvme);
    });
    changed("NVMe power", Fine, "does not let it", sleeps(0, Some(vec![500])));
    changed("NVMe power", Unknown, "100000 µs", sleeps(100_000, None));
    let link = |policy: &str| {
        let policies = vec![("sda".to_owned(), policy.to_owned())];
        move |seen: &mut Observations| seen.power.sata_policies = policies
    };
    changed("SATA power", Warning, "sda: min_power", link("min_power"));
    changed("SATA power", Fine, "sda: max_performance", link("max_performance"));
    let two = || vec![(0, vec![0, 1]), (1, vec![2, 3])];
    let allowed = |cpus: &[usize]| {
        let cpus = cpus.to_vec();
        move |seen: &mut Observations| (seen.nodes, seen.cpus_allowed) = (two(), cpus)
    };
    changed("NUMA", Fine, "2 of our 2 CPUs are on node 0", allowed(&[0, 1]));
    changed("NUMA", Note, "1 of our 2 CPUs", allowed(&[0, 2]));
    changed("NUMA", Warning, "0 of our 2 CPUs", allowed(&[2, 3]));
    changed("NUMA", Unknown, "not shown", |seen| {
        seen.nodes = two();
        seen.facts.target.devices[0].numa_node = Some(-1);
    });
    let memory = |bytes| move |seen: &mut Observations| seen.memory_available_bytes = bytes;
    changed("free memory", Fine, "2.15 GB", memory(Some(2 << 30)));
    changed("free memory", Warning, "1.61 GB", memory(Some(3 << 29)));
    changed("free memory", Unknown, "does not report", memory(None));
}

#[test]
fn the_clock_must_be_cheap_fine_and_moving() {
    changed("clock", Fine, "12 ns a reading, 0.10 ppm", |_| {});
    changed("clock", Warning, "400 ns", |seen| seen.clock.read_ns = Some(400.0));
    changed("clock", Warning, "acpi_pm", |seen| {
        seen.facts.host.clocksource = Some("acpi_pm".into());
    });
    changed("clock", Note, "monotonic", |seen| seen.clock.source = "monotonic".into());
    changed("clock", Unknown, "not measured", |seen| seen.clock.read_ns = None);
    changed("clock step", Warning, "4.00 µs", |seen| seen.clock_step_ns = Some(4000));
    changed("clock step", Bad, "did not advance", |seen| seen.clock_step_ns = None);
}

#[test]
fn generator_and_noise_have_their_limits() {
    let ceiling =
        |value: f64| move |seen: &mut Observations| seen.ceiling = Some(Estimate::point(value, 1));
    changed("generator ceiling", Fine, "1.00M IOPS (no interval)", ceiling(1e6));
    changed("generator ceiling", Note, "500k IOPS", ceiling(5e5));
    changed("generator ceiling", Warning, "100k IOPS", ceiling(1e5));
    changed("generator ceiling", Unknown, "could not be run", |seen| seen.ceiling = None);
    let noise = |change: fn(&mut Noise)| {
        move |seen: &mut Observations| change(seen.noise.as_mut().expect("measured"))
    };
    changed("pauses", Fine, "at most for 900 µs", noise(|n| n.pause_ns_longest = 900_000));
    changed("pauses", Note, "2.00 ms", noise(|n| n.pause_ns_longest = 2_000_000));
    changed("pauses", Warning, "20.0 ms", noise(|n| n.pause_ns_longest = 20_000_000));
    changed("pauses", Unknown, "could not", |seen| seen.noise = None);
    changed("wake-ups", Note, "200 µs late", noise(|n| n.wake_up_late_ns_median = 200_000));
    changed("wake-ups", Note, "worst 2.00 ms", noise(|n| n.wake_up_late_ns_max = 2_000_000));
    changed("wake-ups", Warning, "2.00 ms late", noise(|n| n.wake_up_late_ns_median = 2_000_000));
    changed("wake-ups", Warning, "20.0 ms", noise(|n| n.wake_up_late_ns_max = 20_000_000));
    changed("wake-ups", Unknown, "no sleep", noise(|n| n.wake_ups = 0));
}

#[test]
fn leftovers_and_the_verdict_are_said() {
    let left = |count: usize| {
        let paths = (0..count).map(|number| format!("/x/{number}")).collect();
        move |seen: &mut Observations| seen.leftovers = paths
    };
    changed("leftovers", Note, "/x/0 is scratch", left(1));
    changed("leftovers", Note, "/x/0 and 2 more", left(3));
    let mut seen = quiet();
    seen.power.pcie_policy = Some("powersave".into());
    let with_care = "fit to measure, with care; beware of PCIe power";
    let (words, is_bad) = verdict(&judge(&seen));
    assert!(!is_bad && words.starts_with(with_care), "{words}");
    seen.direct = Direct::Refused;
    let (words, is_bad) = verdict(&judge(&seen));
    assert!(is_bad);
    let unfit = "not fit to measure: direct I/O; beware of PCIe power; one check";
    assert!(words.starts_with(unfit), "{words}");
}

#[test]
fn a_drive_that_warns_of_itself_is_not_fit() {
    let worn = |change: fn(&mut WearFacts)| {
        move |disk: &mut DeviceFacts| change(disk.wear.as_mut().expect("a log"))
    };
    of_disk("health", Fine, "3 % of its rated endurance used", |_| {});
    of_disk("health", Bad, "its reliability is degraded", worn(|it| it.critical_warning = 4));
    of_disk("health", Bad, "read-only", worn(|it| it.critical_warning = 8));
    let spare = |it: &mut WearFacts| {
        (it.spare_percent, it.spare_threshold_percent) = (Some(9), Some(10));
    };
    of_disk("health", Bad, "its spare is 9 %, below its 10 %", worn(spare));
    of_disk("health", Warning, "105 %", worn(|it| it.used_percent = Some(105)));
    let warned = "3 % of its rated endurance used; 100 % of its spare left; it failed 2 times";
    of_disk("health", Warning, warned, worn(|it| it.media_errors = Some(2)));
    of_disk("health", Warning, "cable", worn(|it| it.link_errors = Some(5000)));
    let other_hours = |it: &mut WearFacts| {
        let farm = FarmFacts { power_on_hours: Some(40_000), ..FarmFacts::default() };
        (it.power_on_hours, it.farm) = (Some(12), Some(farm));
    };
    of_disk("health", Warning, "40,000 h in its FARM log", worn(other_hours));
    of_disk("health", Warning, "1 sector", worn(|it| it.pending_sectors = Some(1)));
    let testing = |it: &mut WearFacts| {
        it.self_test = Some(SelfTestFacts { is_running: true, ..SelfTestFacts::default() });
    };
    of_disk("health", Warning, "it is testing itself", worn(testing));
    of_disk("health", Unknown, "could not be read", |disk| disk.wear = None);
    of_disk("health", Unknown, "(SMART) could not be read: run as root", |disk| {
        (disk.wear, disk.wear_unknown) = (None, Some("run as root to ask it".into()));
    });
}

#[test]
fn an_ata_or_scsi_drive_is_fit_only_if_it_says_so() {
    let told = |failing, used_percent| {
        let wear = WearFacts { failing, used_percent, ..WearFacts::default() };
        move |disk: &mut DeviceFacts| disk.wear = Some(wear.clone())
    };
    of_disk("health", Bad, "it says of itself that it fails", told(Some(true), Some(3)));
    of_disk("health", Fine, "it says of itself that it does not fail", told(Some(false), None));
    of_disk("health", Unknown, "does not say whether it fails", told(None, None));
    let mut seen = quiet();
    seen.facts.target.devices[0].wear.as_mut().expect("a log").failing = Some(true);
    let (words, is_bad) = verdict(&judge(&seen));
    assert!(is_bad && words.starts_with("not fit to measure: health"), "{words}");
}
