//! Which devices a report tells of, in which order, and what was counted of them.

use super::figures::Figures;
use super::options::{Era, Group, Options, Partitions, Shown};
use crate::counters::{Counters, Device};

/// Every word for all devices.
const ALL: &str = "ALL";

/// The rows of a report. A group comes after its devices.
pub(super) fn rows(
    options: &Options,
    before: Option<&Counters>,
    after: &Counters,
    elapsed_s: f64,
) -> Vec<Figures> {
    let counted = |device: &Device| {
        let same = |old: &&Device| old.name == device.name;
        let old = before.and_then(|before| before.devices.iter().find(same));
        old.map_or_else(|| device.clone(), |old| device.since(old))
    };
    let figures = |device: &Device| {
        let mapped = device.mapped_name.clone().filter(|_| options.mapped_names);
        let name = mapped.unwrap_or_else(|| device.name.clone());
        Figures { counted: counted(device), name, devices: 1, elapsed_s }
    };
    let is_active = |figures: &Figures| !options.active_only || figures.is_active();
    if options.groups.is_empty() {
        return chosen(options, &after.devices)
            .into_iter()
            .map(figures)
            .filter(is_active)
            .collect();
    }
    let mut rows = Vec::new();
    for group in &options.groups {
        let members: Vec<Figures> = members(group, &after.devices).map(figures).collect();
        let sum = sum(group, &members, elapsed_s);
        let alone = members.into_iter().filter(|_| !options.groups_only);
        rows.extend(alone.filter(is_active));
        rows.push(sum);
    }
    rows
}

fn sum(group: &Group, members: &[Figures], elapsed_s: f64) -> Figures {
    let all = members.iter().fold(Device::default(), |sum, member| sum.and(&member.counted));
    let devices = members.len() as u64;
    Figures { counted: all, name: format!(" {}", group.name), devices, elapsed_s }
}

fn members<'a>(group: &Group, devices: &'a [Device]) -> impl Iterator<Item = &'a Device> {
    let mut found: Vec<&Device> = Vec::new();
    for name in &group.members {
        found.extend(devices.iter().find(|device| device.name == *name));
    }
    let takes_all = group.members.iter().any(|name| name == ALL);
    if takes_all || group.members.is_empty() {
        let is_asked = |device: &&Device| takes_all || is_used(device);
        let whole = |device: &&Device| parent(device, devices).is_none();
        let mut more: Vec<&Device> = devices.iter().filter(whole).filter(is_asked).collect();
        more.sort_by(|a, b| a.name.cmp(&b.name));
        found.extend(more);
    }
    let mut seen: Vec<&str> = Vec::new();
    found.retain(|device| {
        let is_new = !seen.contains(&device.name.as_str());
        seen.push(&device.name);
        is_new
    });
    found.into_iter()
}

/// Whether a device was ever used.
fn is_used(device: &Device) -> bool {
    device.requests() > 0 || device.flushes > 0
}

fn chosen<'a>(options: &Options, devices: &'a [Device]) -> Vec<&'a Device> {
    let is_used = |device: &&Device| is_used(device);
    let whole = |device: &&Device| parent(device, devices).is_none();
    let named = |device: &&Device| match &options.shown {
        Shown::Named(names) => names.contains(&device.name),
        _ => false,
    };
    let with_parts = |device: &&Device| match &options.partitions {
        Partitions::Of(names) => {
            let of_it = |name: &String| {
                *name == device.name
                    || parent(device, devices).is_some_and(|parent| parent.name == *name)
            };
            names.iter().any(of_it)
        }
        _ => false,
    };
    let mut found: Vec<&Device> = match (&options.shown, &options.partitions) {
        (_, Partitions::OfAll) => devices.iter().collect(),
        (Shown::Used, Partitions::OfUsed) => devices.iter().filter(is_used).collect(),
        (_, Partitions::OfUsed) => devices.iter().collect(),
        (Shown::All, _) => {
            devices.iter().filter(|device| whole(device) || with_parts(device)).collect()
        }
        (Shown::Used, Partitions::None) => devices.iter().filter(whole).filter(is_used).collect(),
        _ => devices.iter().filter(|device| named(device) || with_parts(device)).collect(),
    };
    // Without -p, 12 goes through /sys in the order of names; older ones through /proc/diskstats.
    if options.era == Era::Twelve && options.partitions == Partitions::None {
        found.sort_by(|a, b| a.name.cmp(&b.name));
    }
    found
}

/// The device that another is a partition of: `sda` of `sda1`, `nvme0n1` of `nvme0n1p1`.
pub(super) fn parent<'a>(device: &Device, devices: &'a [Device]) -> Option<&'a Device> {
    let without_number = device.name.trim_end_matches(|c: char| c.is_ascii_digit());
    if without_number.len() == device.name.len() {
        return None;
    }
    let of_digit = without_number.strip_suffix('p');
    let of_digit = of_digit.filter(|stem| stem.ends_with(|c: char| c.is_ascii_digit()));
    let stem = of_digit.unwrap_or(without_number);
    devices.iter().find(|other| other.name == stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_know_their_device() {
        let names = [
            "sda",
            "sda1",
            "nvme0n1",
            "nvme0n1p1",
            "loop0",
            "dm-0",
            "md127",
            "md127p2",
            "vdp",
            "vdp1",
            "mmcblk0boot0",
            "mmcblk0",
        ];
        let devices: Vec<Device> =
            names.iter().map(|name| Device { name: (*name).into(), ..Device::default() }).collect();
        let parents: Vec<Option<&str>> = devices
            .iter()
            .map(|device| parent(device, &devices).map(|parent| parent.name.as_str()))
            .collect();
        let expected = [
            None,
            Some("sda"),
            None,
            Some("nvme0n1"),
            None,
            None,
            None,
            Some("md127"),
            None,
            Some("vdp"),
            None,
            None,
        ];
        assert_eq!(parents, expected);
    }
}
