//! The machine that issues the I/O.

use drivelab_core::facts::HostFacts;

use super::cgroup;
use crate::system::{System, read_text};

/// Everything known of the machine; what is absent stays `None`.
pub(super) fn gather(system: &System) -> HostFacts {
    let kernel = |file: &str| read_text(&system.procfs.join("sys/kernel").join(file));
    let cpuinfo = read_text(&system.procfs.join("cpuinfo")).unwrap_or_default();
    let cpu = |key: &str| field(&cpuinfo, key);
    let devices = system.sysfs.join("devices/system");
    HostFacts {
        hostname: kernel("hostname"),
        kernel: match (kernel("osrelease"), kernel("version")) {
            (Some(release), Some(version)) => Some(format!("{release} {version}")),
            (release, version) => release.or(version),
        },
        cpu_model: cpu("model name").or_else(|| cpu("Model")).or_else(|| cpu("cpu")),
        cpus_allowed: cpus_allowed(system),
        cpus_online: read_text(&devices.join("cpu/online")).and_then(|text| count(&text)),
        memory_bytes: memory(system),
        clocksource: read_text(&devices.join("clocksource/clocksource0/current_clocksource")),
        governor: read_text(&devices.join("cpu/cpu0/cpufreq/scaling_governor")),
        virtualisation: virtualisation(system, &cpuinfo),
        names_by_ring: system.is_live().then(crate::names::is_offered_by_ring),
        cgroup_limits: cgroup::limits(system),
    }
}

/// The first `key : value` of a text.
fn field(text: &str, key: &str) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
}

fn cpus_allowed(system: &System) -> Option<u32> {
    let status = read_text(&system.procfs.join("self/status"))?;
    count(&field(&status, "Cpus_allowed_list")?)
}

/// The number of CPUs in a list such as `0-3,8`.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

fn memory(system: &System) -> Option<u64> {
    let text = read_text(&system.procfs.join("meminfo"))?;
    let kib: u64 = field(&text, "MemTotal")?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Container first (it is nearer), then the hypervisor as DMI or the CPU flags tell.
fn virtualisation(system: &System, cpuinfo: &str) -> Option<String> {
    let container = container(system);
    let dmi = system.sysfs.join("class/dmi/id");
    let product = read_text(&dmi.join("product_name"));
    let vendor = read_text(&dmi.join("sys_vendor"));
    let names = [vendor, product];
    let text = names.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
    let known = [
        ("KVM", "KVM"),
        ("QEMU", "QEMU"),
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("Virtual Machine", "Hyper-V"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google Compute", "Google Compute Engine"),
        ("Alibaba", "Alibaba Cloud"),
        ("Xen", "Xen"),
        ("Bochs", "Bochs"),
    ];
    let found = known.iter().find(|(mark, _)| text.contains(mark));
    let flagged = field(cpuinfo, "flags").is_some_and(|f| f.split(' ').any(|w| w == "hypervisor"));
    let xen = read_text(&system.sysfs.join("hypervisor/type"));
    let machine = found
        .map(|(_, name)| (*name).to_owned())
        .or(xen)
        .or_else(|| flagged.then(|| "a hypervisor (kind unknown)".to_owned()));
    match (container, machine) {
        (Some(container), Some(machine)) => Some(format!("{container} on {machine}")),
        (container, machine) => container.or(machine),
    }
}

fn container(system: &System) -> Option<String> {
    if system.is_live() {
        for (file, name) in [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")] {
            if std::path::Path::new(file).exists() {
                return Some(name.to_owned());
            }
        }
    }
    let groups = read_text(&system.procfs.join("1/cgroup")).unwrap_or_default();
    let marks = [("docker", "Docker"), ("kubepods", "Kubernetes"), ("lxc", "LXC")];
    let found = marks.iter().find(|(mark, _)| groups.contains(mark));
    found.map(|(_, name)| (*name).to_owned())
}
