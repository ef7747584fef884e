//! What the link of a drive carries at most, from its speed and width.
//!
//! Only what encoding takes is deducted: 2 of 10 bits (8b/10b: SATA, SAS up to 12 Gb/s, PCIe 1 and
//! 2) or 2 of 130 (128b/130b: PCIe 3 to 5). Packets and commands take more, so that nothing reaches
//! it wholly.

use crate::facts::{DeviceFacts, Facts, LinkRate, TargetKind};

/// Layers that hand on what they are given, byte for byte, and keep nothing.
const PLAIN_LAYERS: [&str; 4] = ["partition", "lvm", "crypt", "disk"];

/// A link that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// As people call it: `SATA 6 Gb/s`, `PCIe 3.0 x4`.
    pub name: String,
    /// What it carries.
    pub rate: LinkRate,
}

/// The link between this machine and the one drive that is measured. `None`: it is not known, there
/// are several, or something in between may answer for the drive.
///
/// In a virtual machine none is known: a hypervisor shows links that nothing goes through.
pub fn of(facts: &Facts) -> Option<Link> {
    if facts.target.kind == TargetKind::Simulated {
        let rate = facts.target.simulated?.link?;
        return Some(Link { name: "its link".into(), rate });
    }
    let devices = &facts.target.devices;
    let is_plain = devices.iter().all(|it| PLAIN_LAYERS.contains(&it.layer.as_str()));
    let mut disks = devices.iter().filter(|device| device.layer == "disk");
    let (disk, other) = (disks.next()?, disks.next());
    let is_virtual = facts.host.virtualisation.is_some();
    (is_plain && other.is_none() && !is_virtual).then(|| of_disk(disk)).flatten()
}

fn of_disk(disk: &DeviceFacts) -> Option<Link> {
    let text = disk.link.as_deref()?;
    match disk.transport.as_deref()? {
        "nvme" => pcie(text),
        "sata" => serial(text, "SATA", &["1.5", "3.0", "6.0"], true),
        "sas" => serial(text, "SAS", &["3.0", "6.0", "12.0"], false),
        _ => None,
    }
}

/// `8.0 GT/s PCIe x4`.
fn pcie(text: &str) -> Option<Link> {
    let (speed, lanes) = text.split_once(" GT/s PCIe x")?;
    let lanes: u64 = lanes.trim().parse().ok()?;
    // Generation, bits a second of a lane, and how many of how many bits are data.
    let (generation, bits, data, all) = match speed.trim() {
        "2.5" => ("1.0", 2_500_000_000, 8, 10),
        "5.0" | "5" => ("2.0", 5_000_000_000, 8, 10),
        "8.0" | "8" => ("3.0", 8_000_000_000, 128, 130),
        "16.0" | "16" => ("4.0", 16_000_000_000, 128, 130),
        "32.0" | "32" => ("5.0", 32_000_000_000_u64, 128, 130),
        _ => return None,
    };
    let bytes_per_s = bits / 8 * data / all * lanes;
    let rate =
        LinkRate { read_bytes_per_s: bytes_per_s, write_bytes_per_s: bytes_per_s, one_way: false };
    (lanes > 0).then(|| Link { name: format!("PCIe {generation} x{lanes}"), rate })
}

/// `6.0 Gbps`, `12.0 Gbit x2`.
fn serial(text: &str, bus: &str, known: &[&str], one_way: bool) -> Option<Link> {
    let mut words = text.split_whitespace();
    let (speed, unit) = (words.next()?, words.next()?);
    let lanes: u64 = match words.next() {
        None => 1,
        Some(times) => times.strip_prefix('x')?.parse().ok()?,
    };
    let is_known = known.contains(&speed) && matches!(unit, "Gbps" | "Gbit");
    let gigabits: f64 = speed.parse().ok().filter(|_| is_known)?;
    let bytes_per_s = (gigabits * 1e8) as u64 * lanes;
    let rate = LinkRate { read_bytes_per_s: bytes_per_s, write_bytes_per_s: bytes_per_s, one_way };
    let times = if lanes > 1 { format!(" x{lanes}") } else { String::new() };
    Some(Link { name: format!("{bus} {} Gb/s{times}", speed.trim_end_matches(".0")), rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(transport: &str, link: &str) -> Facts {
        let mut facts = Facts::default();
        facts.target.kind = TargetKind::BlockDevice;
        facts.target.devices = vec![DeviceFacts {
            layer: "disk".into(),
            transport: Some(transport.into()),
            link: Some(link.into()),
            ..DeviceFacts::default()
        }];
        facts
    }

    #[test]
    fn links_carry_what_their_encoding_leaves() {
        let found = |transport: &str, link: &str| {
            of(&facts(transport, link)).map(|link| (link.name, link.rate.read_bytes_per_s))
        };
        for (transport, link, name, bytes_per_s) in [
            ("sata", "6.0 Gbps", "SATA 6 Gb/s", 600_000_000),
            ("sata", "1.5 Gbps", "SATA 1.5 Gb/s", 150_000_000),
            ("sas", "12.0 Gbit", "SAS 12 Gb/s", 1_200_000_000),
            ("sas", "6.0 Gbit x2", "SAS 6 Gb/s x2", 1_200_000_000),
            ("nvme", "2.5 GT/s PCIe x1", "PCIe 1.0 x1", 250_000_000),
            ("nvme", "5.0 GT/s PCIe x2", "PCIe 2.0 x2", 1_000_000_000),
            // 8 GT/s × 4 ÷ 8 × 128 ÷ 130.
            ("nvme", "8.0 GT/s PCIe x4", "PCIe 3.0 x4", 3_938_461_536),
            ("nvme", "16.0 GT/s PCIe x4", "PCIe 4.0 x4", 7_876_923_076),
        ] {
            let expected = Some((name.to_owned(), bytes_per_s));
            assert_eq!(found(transport, link), expected, "{transport} {link}");
        }
        for (transport, link) in [
            ("nvme", "64.0 GT/s PCIe x4"),
            ("nvme", "Unknown PCIe x4"),
            ("nvme", "8.0 GT/s PCIe x0"),
            ("sata", "<unknown>"),
            ("sas", "22.5 Gbit"),
            ("usb", "5000 Mb/s USB 3.20"),
            ("virtio", "6.0 Gbps"),
        ] {
            assert_eq!(found(transport, link), None, "{transport} {link}");
        }
    }

    #[test]
    fn nothing_is_known_of_several_links_of_caches_between_and_of_virtual_ones() {
        let known = facts("sata", "6.0 Gbps");
        assert!(of(&known).is_some_and(|link| link.rate.one_way));
        let mut two = known.clone();
        two.target.devices.push(two.target.devices[0].clone());
        let mut cached = known.clone();
        let layer = DeviceFacts { layer: "bcache".into(), ..DeviceFacts::default() };
        cached.target.devices.insert(0, layer);
        let mut guest = known;
        guest.host.virtualisation = Some("kvm".into());
        for facts in [two, cached, guest] {
            assert_eq!(of(&facts), None);
        }
    }
}
