//! Settings that save power, and make a drive or a CPU late.
//!
//! Kernel documents `Documentation/ABI/testing/sysfs-class-power`, `.../admin-guide/pm/cpuidle.rst`
//! and `.../power/pci.rst`.

use crate::system::{System, names_in, read_number, read_text};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::fitness::Power;

/// What the kernel tells; what it does not tell stays unknown.
pub(super) fn power(system: &System, devices: &[DeviceFacts]) -> Power {
    let modules = system.sysfs.join("module");
    let policy = read_text(&modules.join("pcie_aspm/parameters/policy"));
    let has_nvme = devices.iter().any(|device| device.transport.as_deref() == Some("nvme"));
    let sleep = modules.join("nvme_core/parameters/default_ps_max_latency_us");
    Power {
        batteries: batteries(system),
        pcie_policy: policy.map(|text| chosen(&text).to_owned()),
        nvme_sleep_us_max: has_nvme.then(|| read_number(&sleep)).flatten(),
        sata_policies: devices.iter().filter_map(|device| sata_policy(system, device)).collect(),
        cpu_exit_us_max: cpu_exit_us_max(system),
        boost: boost(system),
    }
}

/// `performance` out of `default [performance] powersave`.
fn chosen(text: &str) -> &str {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(name, _)| name)
}

/// Batteries of the machine itself, not of a mouse.
fn batteries(system: &System) -> Vec<(String, String)> {
    let class = system.sysfs.join("class/power_supply");
    let battery = |name: String| {
        let directory = class.join(&name);
        let is_battery = read_text(&directory.join("type")).as_deref() == Some("Battery");
        let of_device = read_text(&directory.join("scope")).as_deref() == Some("Device");
        let status = read_text(&directory.join("status")).unwrap_or_else(|| "Unknown".into());
        (is_battery && !of_device).then_some((name, status))
    };
    names_in(&class).into_iter().filter_map(battery).collect()
}

/// The policy of the SATA host that a drive hangs on.
fn sata_policy(system: &System, device: &DeviceFacts) -> Option<(String, String)> {
    if device.transport.as_deref() != Some("sata") || device.layer == "partition" {
        return None;
    }
    let directory = system.sysfs.join("class/block").join(&device.name).join("device");
    let directory = std::fs::canonicalize(directory).ok()?;
    let host = directory.iter().filter_map(|part| part.to_str()).find(|part| {
        let digits = part.strip_prefix("host").unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })?;
    let host = system.sysfs.join("class/scsi_host").join(host);
    let policy = read_text(&host.join("link_power_management_policy"))?;
    Some((device.name.clone(), policy))
}

fn cpu_exit_us_max(system: &System) -> Option<u64> {
    let root = system.sysfs.join("devices/system/cpu/cpu0/cpuidle");
    let allowed = |state: &String| read_number::<u8>(&root.join(state).join("disable")) != Some(1);
    let states = names_in(&root).into_iter().filter(allowed);
    states.filter_map(|state| read_number(&root.join(state).join("latency"))).max()
}

fn boost(system: &System) -> Option<bool> {
    let cpu = system.sysfs.join("devices/system/cpu");
    let forbidden: Option<u8> = read_number(&cpu.join("intel_pstate/no_turbo"));
    let allowed: Option<u8> = read_number(&cpu.join("cpufreq/boost"));
    forbidden.map(|flag| flag == 0).or(allowed.map(|flag| flag != 0))
}
