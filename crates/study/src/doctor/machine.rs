//! What else goes on, and what the machine allows.

use super::{Checks, Finding};
use drivelab_core::facts::{Apst, DeviceFacts, Facts};
use drivelab_core::fitness::{Idle, Observations, Severity};
use drivelab_core::quantity::{capacity, percent, size, time};

/// What others may do in a second before it counts: bytes, and shares of the time.
const OTHERS_BYTES: u64 = 1 << 20;
const OTHERS_BUSY: f64 = 0.01;
const OTHERS_BUSY_BAD: f64 = 0.1;
const PRESSURE_SHARE: f64 = 0.1;
/// Stolen CPU time that is worth a word, and that spoils latencies.
const STEAL_NOTE: f64 = 0.01;
const STEAL_WARNING: f64 = 0.05;
/// Degrees below the drive's own threshold that are called near.
const NEAR_CELSIUS: f64 = 10.0;
const MEMORY_BYTES_MIN: u64 = 1 << 30;
/// A sleep that takes longer to end shows in latencies of flash.
const EXIT_US: u64 = 50;
const NOT_COUNTED: &str = "has no I/O counters (its queue/iostats is 0, or its driver does not \
     count): other users of it cannot be seen";

/// How deep an NVMe drive may sleep by itself (APST). The kernel lets it enter the states whose
/// latencies together are at most `limit_us`.
fn sleep(device: &DeviceFacts, limit_us: u64) -> Finding {
    let advice = "First requests after a pause are late; nvme_core.default_ps_max_latency_us=0.";
    let allowed =
        |sleeps: &Vec<u32>| sleeps.iter().copied().filter(|us| u64::from(*us) <= limit_us).max();
    match device.sleeps_us.as_ref().map(allowed) {
        Some(Some(_)) if device.nvme.as_ref().and_then(|nvme| nvme.apst) == Some(Apst::Off) => {
            (Severity::Fine, "could sleep by itself; that is turned off (APST)".into(), "")
        }
        Some(Some(us)) => {
            let found = format!("may sleep so deep that it wakes up {us} µs late (APST)");
            (Severity::Note, found, advice)
        }
        _ if limit_us == 0 => (Severity::Fine, "the kernel does not let it sleep".into(), ""),
        Some(None) => (Severity::Fine, "does not sleep by itself".into(), ""),
        None => {
            let found = format!("may sleep by itself, for up to {limit_us} µs (APST)");
            (Severity::Unknown, found, "")
        }
    }
}

impl Checks {
    /// Whether target and machine rest while nothing is asked of them.
    pub(super) fn activity(&mut self, seen: &Observations) {
        match &seen.idle {
            None => self.unknown("foreign load", "nothing was counted"),
            Some(idle) => {
                self.foreign_load(idle);
                self.pressure(idle);
                self.steal(idle);
            }
        }
        self.resyncs(seen);
        self.temperatures(seen);
    }

    fn foreign_load(&mut self, idle: &Idle) {
        let name = "foreign load";
        let busy = |ms: u64| ms as f64 * 1e6 / idle.span_ns.max(1) as f64;
        let counted = idle.devices.iter().filter(|device| !device.uncounted);
        let Some(busiest) = counted.max_by_key(|device| (device.busy_ms, device.bytes)) else {
            return self.unknown(
                name,
                match idle.devices.first() {
                    Some(device) => format!("{} {NOT_COUNTED}", device.name),
                    None => "no block device below the target has counters".to_owned(),
                },
            );
        };
        let share = busy(busiest.busy_ms).min(1.0);
        let found = format!(
            "{} moved {} for others in {}, busy {} of it",
            busiest.name,
            size(busiest.bytes),
            time(idle.span_ns as f64),
            percent(share)
        );
        let advice = "Find out who (iotop, pidstat -d), and measure when nothing else uses it.";
        match share {
            share if share > OTHERS_BUSY_BAD => self.bad(name, found, advice),
            share if share > OTHERS_BUSY || busiest.bytes > OTHERS_BYTES => {
                self.warning(name, found, advice);
            }
            // What a device that counts nothing did for others is not known from its neighbours.
            _ => match idle.devices.iter().find(|device| device.uncounted) {
                Some(device) => self.unknown(name, format!("{} {NOT_COUNTED}", device.name)),
                None => self.fine(name, found),
            },
        }
    }

    fn pressure(&mut self, idle: &Idle) {
        let name = "pressure";
        let share = |us: u64| us as f64 * 1e3 / idle.span_ns.max(1) as f64;
        let machine = idle.pressure.iter().filter(|span| !span.resource.starts_with("cgroup"));
        let shares: Vec<(&str, f64)> =
            machine.map(|span| (span.resource.as_str(), share(span.some_us))).collect();
        if shares.is_empty() {
            return self.unknown(name, "this kernel does not count it (PSI)");
        }
        let words: Vec<String> = shares
            .iter()
            .map(|(resource, share)| format!("{resource} {}", percent(*share)))
            .collect();
        let found = format!("tasks waited: {} of the time", words.join(", "));
        match shares.iter().any(|(_, share)| *share > PRESSURE_SHARE) {
            true => self.warning(name, found, "Stop what else runs here."),
            false => self.fine(name, found),
        }
    }

    fn steal(&mut self, idle: &Idle) {
        let name = "stolen time";
        let Some(share) = idle.steal_share else {
            return self.unknown(name, "the kernel does not count it");
        };
        let found = format!("the hypervisor gave {} of the CPU time to others", percent(share));
        let advice = "Latencies will include its pauses; repeat at another hour or on another \
                      host.";
        match share {
            share if share > STEAL_WARNING => self.warning(name, found, advice),
            share if share > STEAL_NOTE => self.note(name, found, advice),
            _ => self.fine(name, found),
        }
    }

    fn resyncs(&mut self, seen: &Observations) {
        let name = "array at work";
        if seen.resyncs.is_empty() {
            return self.fine(name, "no md array is being rebuilt or checked");
        }
        for resync in &seen.resyncs {
            let below = |device: &DeviceFacts| device.name == resync.device;
            let found = format!("{} does a {}", resync.device, resync.action);
            let advice = "Wait until it ends (/proc/mdstat shows when).";
            match seen.facts.target.devices.iter().any(below) {
                true => self.bad(name, found, advice),
                false => self.warning(name, found, advice),
            }
        }
    }

    fn temperatures(&mut self, seen: &Observations) {
        let name = "temperature";
        if seen.temperatures.is_empty() {
            return self.unknown(name, "the drive does not report it");
        }
        for reading in &seen.temperatures {
            let now = format!("{}: {:.0} °C", reading.device, reading.celsius);
            let Some(most) = reading.celsius_max else {
                self.fine(name, format!("{now}; its threshold is not reported"));
                continue;
            };
            let found = format!("{now}, its warning threshold is {most:.0} °C");
            match most - reading.celsius {
                left if left <= 0.0 => self.bad(name, found, "Cool it: it may slow itself down."),
                left if left <= NEAR_CELSIUS => {
                    self.warning(name, found, "Cool it: under load it may slow itself down.");
                }
                _ => self.fine(name, found),
            }
        }
    }

    /// Limits of our own control groups.
    pub(super) fn limits(&mut self, facts: &Facts) {
        let limits = &facts.host.cgroup_limits;
        let of = |files: &[&str]| -> Vec<&String> {
            let begins = |line: &&String| files.iter().any(|file| line.starts_with(file));
            limits.iter().filter(begins).collect()
        };
        let listed = |lines: &[&String]| {
            lines.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("; ")
        };
        let cpu = of(&["cpu."]);
        match cpu.is_empty() {
            true => self.fine("CPU quota", "none in our control groups"),
            false => self.warning(
                "CPU quota",
                listed(&cpu),
                "The workers can be stopped in the middle; measure outside of the group.",
            ),
        }
        let io = of(&["io.", "blkio."]);
        let is_ours = |line: &&&String| {
            let number = line.split_whitespace().nth(1);
            facts.target.devices.iter().any(|device| Some(device.number.as_str()) == number)
        };
        let ours: Vec<&String> = io.iter().filter(is_ours).copied().collect();
        match (io.is_empty(), ours.is_empty()) {
            (true, _) => self.fine("I/O quota", "none in our control groups"),
            (_, true) => self.fine("I/O quota", "none on the devices of the target"),
            (_, false) => self.bad(
                "I/O quota",
                listed(&ours),
                "The quota would be measured, not the drive; measure outside of the group.",
            ),
        }
        let memory = of(&["memory."]);
        match memory.is_empty() {
            true => self.fine("memory limit", "none in our control groups"),
            false => self.note(
                "memory limit",
                listed(&memory),
                "Buffered I/O has no more page cache than that.",
            ),
        }
    }

    /// CPUs, memory, power.
    pub(super) fn machine(&mut self, seen: &Observations) {
        self.governor(seen);
        self.power(seen);
        self.nodes(seen);
        let name = "free memory";
        let total = seen.facts.host.memory_bytes;
        match (seen.memory_available_bytes, total) {
            (None, _) => self.unknown(name, "the kernel does not report it"),
            (Some(free), total) => {
                let of = total.map_or(String::new(), |total| format!(" of {}", capacity(total)));
                let found = format!("{}{of} can be used", capacity(free));
                let short = total.is_some_and(|total| free < total / 10);
                match free < MEMORY_BYTES_MIN || short {
                    true => self.warning(name, found, "Stop what uses it: swapping is I/O too."),
                    false => self.fine(name, found),
                }
            }
        }
    }

    fn governor(&mut self, seen: &Observations) {
        let name = "CPU frequency";
        match seen.facts.host.governor.as_deref() {
            None => self.unknown(name, "no governor is shown; a virtual machine usually hides it"),
            Some("performance") => self.fine(name, "governor performance"),
            Some(other) => self.warning(
                name,
                format!("governor {other}: the CPU slows down between requests"),
                "Choose performance (cpupower frequency-set -g performance) while measuring.",
            ),
        }
        match seen.power.boost {
            Some(true) => self.note(
                "CPU boost",
                "on: the frequency depends on heat and on other cores",
                "Switch it off for comparisons of CPU cost.",
            ),
            Some(false) => self.fine("CPU boost", "off"),
            None => {}
        }
        let name = "CPU sleep";
        match seen.power.cpu_exit_us_max {
            None => self.unknown(name, "no idle states are shown; the host may have its own"),
            Some(us) if us > EXIT_US => self.note(
                name,
                format!("the deepest allowed sleep takes {us} µs to end"),
                "Low depths see it in every latency; hold /dev/cpu_dma_latency at 0 to avoid it.",
            ),
            Some(us) => self.fine(name, format!("the deepest allowed sleep takes {us} µs to end")),
        }
    }

    fn power(&mut self, seen: &Observations) {
        let power = &seen.power;
        let discharging = power.batteries.iter().find(|(_, status)| status == "Discharging");
        match (discharging, power.batteries.is_empty()) {
            (Some((battery, _)), _) => self.warning(
                "battery",
                format!("{battery} is discharging: this machine saves power"),
                "Plug it in.",
            ),
            (None, true) => self.fine("battery", "none is known"),
            (None, false) => self.fine("battery", "on mains"),
        }
        match power.pcie_policy.as_deref() {
            Some(policy @ ("powersave" | "powersupersave")) => self.warning(
                "PCIe power",
                format!("ASPM policy {policy}: an idle link sleeps and must wake up"),
                "Choose performance in /sys/module/pcie_aspm/parameters/policy.",
            ),
            Some(policy) => self.fine("PCIe power", format!("ASPM policy {policy}")),
            None => {}
        }
        if let Some(limit_us) = power.nvme_sleep_us_max {
            let disks = seen.facts.target.devices.iter();
            let drives = disks.filter(|disk| disk.transport.as_deref() == Some("nvme"));
            let findings = drives.map(|disk| (disk.name.clone(), sleep(disk, limit_us)));
            self.together("NVMe power", findings);
        }
        let policies = power.sata_policies.iter().map(|(device, policy)| {
            let finding = match policy.as_str() {
                "max_performance" => (Severity::Fine, policy.clone(), ""),
                other => (
                    Severity::Warning,
                    format!("{other}: an idle link sleeps"),
                    "Write max_performance to link_power_management_policy of its host.",
                ),
            };
            (device.clone(), finding)
        });
        self.together("SATA power", policies);
    }

    fn nodes(&mut self, seen: &Observations) {
        let name = "NUMA";
        if seen.nodes.len() == 1 {
            return self.fine(name, "one node");
        }
        let disks = seen.facts.target.devices.iter();
        let node = disks.filter_map(|device| device.numa_node).find(|node| *node >= 0);
        let near = node.and_then(|node| seen.nodes.iter().find(|(number, _)| *number == node));
        let Some((node, cpus)) = near else {
            return self.unknown(name, "the node of the drive is not shown");
        };
        let inside = seen.cpus_allowed.iter().filter(|cpu| cpus.contains(cpu)).count();
        let found = format!("{inside} of our {} CPUs are on node {node}", seen.cpus_allowed.len());
        let found = format!("{found}, where the drive is");
        let advice = "Give CPUs of that node with --cpus.";
        match inside {
            0 => self.warning(name, found, advice),
            inside if inside < seen.cpus_allowed.len() => self.note(name, found, advice),
            _ => self.fine(name, found),
        }
    }

    /// Settings that killed runs have left changed.
    pub(super) fn settings(&mut self, left: &[String]) {
        match left {
            [] => self.fine("settings", "none left changed by killed runs"),
            some => self.warning(
                "settings",
                format!("{}: a run that was killed changed it", some.join("; ")),
                "`drivelab doctor --clean` puts it back, and so does the next run.",
            ),
        }
    }

    /// Scratch of runs that were killed.
    pub(super) fn leftovers(&mut self, paths: &[String]) {
        match paths {
            [] => self.fine("leftovers", "none left by killed runs"),
            [path] => self.note(
                "leftovers",
                format!("{path} is scratch of a run that was killed or is still going on"),
                "`drivelab doctor --clean` removes what no run uses.",
            ),
            [path, others @ ..] => self.note(
                "leftovers",
                format!("{path} and {} more are scratch of other runs", others.len()),
                "`drivelab doctor --clean` removes what no run uses.",
            ),
        }
    }
}
