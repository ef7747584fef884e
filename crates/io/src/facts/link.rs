//! Model, serial, transport and link of a disk: each bus keeps them elsewhere in sysfs.

use std::path::{Path, PathBuf};

use drivelab_core::facts::{DeviceFacts, PathFacts};

use super::namespace;
use crate::system::{names_in, read_number, read_text};

/// Fills in what the bus of a whole disk tells about it.
pub(super) fn identify(disk: &Path, facts: &mut DeviceFacts) {
    let device = std::fs::canonicalize(disk.join("device")).ok();
    facts.transport = transport(disk, device.as_deref(), facts);
    let Some(device) = device else {
        facts.serial = read_text(&disk.join("serial"));
        return;
    };
    facts.model = read_text(&device.join("model")).or_else(|| read_text(&device.join("name")));
    let firmware = ["firmware_rev", "rev", "fwrev"];
    facts.firmware = firmware.iter().find_map(|file| read_text(&device.join(file)));
    facts.serial = serial(disk, &device);
    let names = [disk.join("wwid"), device.join("wwid")];
    facts.world_wide_name = names.iter().find_map(|path| read_text(path));
    facts.namespace = read_number(&disk.join("nsid"));
    if facts.transport.as_deref().is_some_and(|word| word.starts_with("nvme")) {
        (facts.paths, facts.path_policy) = paths(&device, &facts.name);
        facts.nvme = namespace::of_sysfs(disk, facts.world_wide_name.as_deref());
    }
    facts.form_factor = form_factor(&device.join("vpd_pgb1")).map(str::to_owned);
    match facts.transport.as_deref() {
        Some("nvme" | "nvme-pcie") => pcie(&device, facts),
        Some("sata") => sata(&device, facts),
        Some("sas") => sas(&device, facts),
        Some("usb") => usb(&device, facts),
        _ => {}
    }
}

/// The bus, from the path of the device through `/sys/devices`.
fn transport(disk: &Path, device: Option<&Path>, facts: &DeviceFacts) -> Option<String> {
    if matches!(facts.layer.as_str(), "loop" | "zram") {
        return Some(facts.layer.clone());
    }
    if facts.name.starts_with("nvme") {
        let device = device?;
        // With native multipath the disk hangs on the subsystem and the paths are its controllers.
        let own = read_text(&device.join("transport"));
        let word = own.or_else(|| read_text(&controller(device)?.join("transport")));
        return Some(match word.as_deref() {
            Some("pcie") | None => "nvme".to_owned(),
            Some(other) => format!("nvme-{other}"),
        });
    }
    let path = device.unwrap_or(disk);
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let has = |prefix: &str| parts.iter().any(|part| numbered(part, prefix));
    // The order matters: a USB bridge or a virtual HBA is nearer to the disk than what follows.
    let buses = [
        ("usb", has("usb")),
        ("iscsi", has("session")),
        ("fc", parts.iter().any(|part| part.starts_with("rport-"))),
        ("sas", parts.iter().any(|part| part.starts_with("end_device-"))),
        ("sata", has("ata")),
        ("virtio-scsi", has("virtio") && has("host")),
        ("virtio", has("virtio")),
        ("mmc", has("mmc")),
        ("xen", parts.iter().any(|part| part.starts_with("vbd-"))),
        ("scsi", has("host")),
    ];
    let known = buses.iter().find(|(_, found)| *found).map(|(name, _)| (*name).to_owned());
    known.or_else(|| {
        let by_name = [
            ("nbd", "nbd"),
            ("rbd", "rbd"),
            ("pmem", "pmem"),
            ("ram", "memory"),
            ("nullb", "null_blk"),
        ];
        let found = by_name.iter().find(|(prefix, _)| facts.name.starts_with(prefix));
        found.map(|(_, name)| (*name).to_owned())
    })
}

/// Whether `part` is `prefix` followed by digits only (`ata12`, `usb2`, `mmc0`).
fn numbered(part: &str, prefix: &str) -> bool {
    let digits = part.strip_prefix(prefix);
    digits.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The first controller below an NVMe subsystem directory (`nvme-subsys0/nvme0`).
fn controller(subsystem: &Path) -> Option<PathBuf> {
    let names = names_in(subsystem);
    let name = names.iter().find(|name| numbered(name, "nvme"))?;
    std::fs::canonicalize(subsystem.join(name)).ok()
}

/// The paths of a disk that hangs on an NVMe subsystem, and how the kernel chooses among them
/// (kernel document `Documentation/admin-guide/nvme-multipath.rst`). Its own name for a path is
/// that of the disk with the controller put in: `nvme0c1n1`.
fn paths(subsystem: &Path, disk: &str) -> (Vec<PathFacts>, Option<String>) {
    let Some(policy) = read_text(&subsystem.join("iopolicy")) else { return Default::default() };
    let names = names_in(subsystem).into_iter().filter(|name| numbered(name, "nvme"));
    let of = |name: String| {
        let place = std::fs::canonicalize(subsystem.join(&name)).ok()?;
        let hidden = hidden_path(&place, disk);
        let function = std::fs::canonicalize(place.join("device")).ok();
        let rate = function.and_then(|function| pcie_rate(&function, "current"));
        Some(PathFacts {
            transport: read_text(&place.join("transport")),
            address: read_text(&place.join("address")),
            state: read_text(&place.join("state")),
            access: hidden.and_then(|path| read_text(&path.join("ana_state"))),
            link: rate.map(|(_, width, speed)| format!("{speed} PCIe x{width}")),
            controller: name,
        })
    };
    (names.filter_map(of).collect(), Some(policy))
}

/// What the kernel calls a controller's way to a namespace: `nvme0c1n1` is that of `nvme0n1`.
fn hidden_path(controller: &Path, disk: &str) -> Option<PathBuf> {
    let is_hidden = |entry: &String| {
        let (head, rest) = entry.split_once('c').unwrap_or_default();
        let tail = rest.split_once('n').map(|(_, number)| number);
        tail.is_some_and(|number| format!("{head}n{number}") == disk)
    };
    let name = names_in(controller).into_iter().find(is_hidden)?;
    Some(controller.join(name))
}

/// The directories in sysfs of all paths of a disk; none where it has no native multipath.
pub(crate) fn hidden_paths(disk: &Path) -> Vec<PathBuf> {
    let (subsystem, name) = (disk.join("device"), disk.file_name().unwrap_or_default());
    let Some(name) = name.to_str().filter(|_| subsystem.join("iopolicy").exists()) else {
        return Vec::new();
    };
    let names = names_in(&subsystem).into_iter().filter(|name| numbered(name, "nvme"));
    names.filter_map(|controller| hidden_path(&subsystem.join(controller), name)).collect()
}

fn serial(disk: &Path, device: &Path) -> Option<String> {
    let direct = read_text(&disk.join("serial")).or_else(|| read_text(&device.join("serial")));
    direct
        .or_else(|| unit_serial(&device.join("vpd_pg80")))
        .or_else(|| usb_device(device).and_then(|usb| read_text(&usb.join("serial"))))
        .or_else(|| world_wide_name(device))
        .filter(|serial| serial.bytes().any(|byte| byte.is_ascii_alphanumeric()))
}

/// SCSI vital product data, page B1h: the nominal form factor (SBC-4, 6.6.2), which Linux fills for
/// ATA drives from word 168 of what they are (ACS-4, 7.13.6.67).
fn form_factor(path: &Path) -> Option<&'static str> {
    let page = std::fs::read(path).ok()?;
    let is_it = *page.get(1)? == 0xb1;
    let word = match *page.get(7)? & 0x0f {
        1 => "5.25 inch",
        2 => "3.5 inch",
        3 => "2.5 inch",
        4 => "1.8 inch",
        5 => "smaller than 1.8 inch",
        6 => "mSATA",
        7 => "M.2",
        8 => "MicroSSD",
        9 => "CFast",
        _ => return None,
    };
    is_it.then_some(word)
}

/// SCSI vital product data, page 80h: four bytes of header, then the serial (SPC-4, 7.8.15).
fn unit_serial(path: &Path) -> Option<String> {
    let page = std::fs::read(path).ok()?;
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let body = page.get(4..).unwrap_or_default();
    let text = String::from_utf8_lossy(&body[..length.min(body.len())]).into_owned();
    let text = text.trim_matches([' ', '\0']).to_owned();
    (page[1] == 0x80 && !text.is_empty()).then_some(text)
}

/// `wwid`: for ATA `t10.ATA  MODEL  SERIAL`, whose last word is the serial; else the name itself.
fn world_wide_name(device: &Path) -> Option<String> {
    let text = read_text(&device.join("wwid"))?;
    match text.strip_prefix("t10.") {
        Some(rest) => rest.split_whitespace().last().map(str::to_owned),
        None => Some(text),
    }
}

/// Speed in tenths of GT/s and number of lanes of a PCIe function.
fn pcie_rate(function: &Path, kind: &str) -> Option<(f64, u32, String)> {
    let text = read_text(&function.join(format!("{kind}_link_speed")))?;
    let width: u32 = read_number(&function.join(format!("{kind}_link_width")))?;
    let speed: f64 = text.split_whitespace().next()?.parse().ok()?;
    let text = text.trim_end_matches(" PCIe").to_owned();
    Some((speed, width, text))
}

/// Negotiated PCIe link, and the fastest that the drive and the port above it have in common.
fn pcie(device: &Path, facts: &mut DeviceFacts) {
    let own = device.join("device");
    let function = match own.exists() {
        true => std::fs::canonicalize(own).ok(),
        false => controller(device).and_then(|c| std::fs::canonicalize(c.join("device")).ok()),
    };
    let Some(function) = function else { return };
    let written = |speed: &str, width: u32| format!("{speed} PCIe x{width}");
    facts.link = pcie_rate(&function, "current").map(|(_, width, text)| written(&text, width));
    let Some((speed, width, text)) = pcie_rate(&function, "max") else { return };
    let port = function.parent().and_then(|port| pcie_rate(port, "max"));
    facts.link_max = Some(match port {
        Some((port_speed, port_width, port_text)) => {
            let slower = if port_speed < speed { port_text } else { text };
            written(&slower, width.min(port_width))
        }
        None => written(&text, width),
    });
}

/// `ataN/linkN/ata_link/linkN/sata_spd` and its hardware limit.
fn sata(device: &Path, facts: &mut DeviceFacts) {
    let is_port = |path: &&Path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| numbered(name, "ata"))
    };
    let Some(port) = device.ancestors().find(is_port) else { return };
    for name in names_in(port).iter().filter(|name| name.starts_with("link")) {
        let link = port.join(name).join("ata_link").join(name);
        let known = |text: &String| text.contains("Gbps");
        facts.link = read_text(&link.join("sata_spd")).filter(known);
        let limit = ["hw_sata_spd_limit", "sata_spd_limit"];
        facts.link_max = limit.iter().find_map(|file| read_text(&link.join(file)).filter(known));
        if facts.link.is_some() {
            return;
        }
    }
}

/// The phys of the SAS port that the drive hangs on.
fn sas(device: &Path, facts: &mut DeviceFacts) {
    let is_port = |path: &&Path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|n| n.starts_with("port-"))
    };
    let Some(port) = device.ancestors().find(is_port) else { return };
    let names: Vec<String> =
        names_in(port).into_iter().filter(|name| name.starts_with("phy-")).collect();
    let Some(first) = names.first() else { return };
    let phy = port.join(first).join("sas_phy").join(first);
    let times = if names.len() > 1 { format!(" x{}", names.len()) } else { String::new() };
    facts.link = read_text(&phy.join("negotiated_linkrate")).map(|rate| format!("{rate}{times}"));
    facts.link_max = read_text(&phy.join("maximum_linkrate")).map(|rate| format!("{rate}{times}"));
}

/// The USB device (not interface) that the disk hangs on.
fn usb_device(device: &Path) -> Option<PathBuf> {
    let found = device.ancestors().find(|path| path.join("idVendor").exists());
    found.map(Path::to_path_buf)
}

fn usb(device: &Path, facts: &mut DeviceFacts) {
    let Some(usb) = usb_device(device) else { return };
    let version = read_text(&usb.join("version")).map(|text| format!(" USB {}", text.trim()));
    facts.link = read_text(&usb.join("speed"))
        .map(|megabits| format!("{megabits} Mb/s{}", version.unwrap_or_default()));
}
