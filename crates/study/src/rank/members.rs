//! Which drives below a volume did the work, from what the kernel counted.

use drivelab_core::facts::Facts;
use drivelab_core::findings::{Entry, Findings, Head, Table, Unit};
use drivelab_core::quantity::percent;
use drivelab_core::record::DeviceCounters;

/// One drive below a volume carries all traffic from this share on.
const ALONE: f64 = 0.95;

/// Says how the traffic fell on the drives below the target, where there are several.
pub fn shares(facts: &Facts, counted: &[&DeviceCounters], findings: &mut Findings) {
    let disks: Vec<&str> = facts
        .target
        .devices
        .iter()
        .filter(|device| device.layer == "disk" || device.layer == "loop")
        .map(|device| device.name.as_str())
        .collect();
    let is_uncounted =
        |name: &&str| counted.iter().any(|device| device.name == **name && device.uncounted);
    if disks.len() < 2 || disks.iter().any(is_uncounted) {
        return;
    }
    let bytes = |name: &str| -> (f64, f64) {
        counted.iter().filter(|device| device.name == name).fold((0.0, 0.0), |sum, device| {
            (sum.0 + device.read_bytes as f64, sum.1 + device.written_bytes as f64)
        })
    };
    let moved: Vec<(&str, (f64, f64))> = disks.iter().map(|name| (*name, bytes(name))).collect();
    let all: f64 = moved.iter().map(|(_, (read, written))| read + written).sum();
    if all == 0.0 {
        return;
    }
    let share = |(read, written): (f64, f64)| (read + written) / all;
    let most = moved.iter().max_by(|one, other| share(one.1).total_cmp(&share(other.1)));
    if let Some((name, bytes)) = most.filter(|(_, bytes)| share(*bytes) >= ALONE) {
        findings.beware.push(format!(
            "{} of the traffic fell on {name}, one of {} drives below this volume: it is laid out \
             one drive after the other (linear), and is no faster than one. Striping would use \
             all of them.",
            percent(share(*bytes)),
            disks.len()
        ));
    }
    let head = |name: &str, unit| Head { name: name.into(), unit };
    findings.tables.push(Table {
        title: "Drives below".into(),
        note: "What the kernel counted during all steps.".into(),
        heads: vec![
            head("drive", None),
            head("read", Some(Unit::Bytes)),
            head("written", Some(Unit::Bytes)),
            head("share", Some(Unit::Share)),
        ],
        rows: moved
            .iter()
            .map(|(name, bytes)| {
                vec![
                    Entry::Text((*name).to_string()),
                    Entry::Number(bytes.0),
                    Entry::Number(bytes.1),
                    Entry::Number(share(*bytes)),
                ]
            })
            .collect(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::DeviceFacts;

    fn volume(counted: &[(&str, u64)]) -> Findings {
        volume_of(counted, "")
    }

    fn volume_of(counted: &[(&str, u64)], uncounted: &str) -> Findings {
        let mut facts = Facts::default();
        let device = |name: &str, layer: &str| DeviceFacts {
            name: name.into(),
            layer: layer.into(),
            ..DeviceFacts::default()
        };
        facts.target.devices = vec![device("dm-0", "lvm")];
        facts.target.devices.extend(counted.iter().map(|(name, _)| device(name, "disk")));
        let counters: Vec<DeviceCounters> = counted
            .iter()
            .map(|(name, bytes)| DeviceCounters {
                name: (*name).into(),
                read_bytes: *bytes,
                uncounted: *name == uncounted,
                ..DeviceCounters::default()
            })
            .collect();
        let mut findings = Findings::default();
        shares(&facts, &counters.iter().collect::<Vec<_>>(), &mut findings);
        findings
    }

    #[test]
    fn a_linear_volume_is_found_and_a_striped_one_is_not() {
        let linear = volume(&[("sda", 1000), ("sdb", 3)]);
        assert!(linear.beware[0].contains("fell on sda, one of 2 drives"), "{:?}", linear.beware);
        assert_eq!(linear.tables[0].rows.len(), 2);
        assert!(volume(&[("sda", 1000), ("sdb", 990)]).beware.is_empty());
        let unseen = volume_of(&[("sda", 1000), ("sdb", 0)], "sdb");
        assert!(unseen.beware.is_empty() && unseen.tables.is_empty(), "zeros that nobody counted");
        let single = volume(&[("sda", 1000)]);
        assert!(single.beware.is_empty() && single.tables.is_empty());
    }
}
