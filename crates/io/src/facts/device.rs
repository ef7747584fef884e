//! One block device as sysfs describes it, and the walk from a target down to its disks.
//!
//! Files and their meaning: kernel document `Documentation/ABI/stable/sysfs-block`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use drivelab_core::facts::{Backing, DeviceFacts, ZoneFacts};

use super::mounts::{Mount, holding};
use super::{Tree, asked, filesystem, link};
use crate::system::{DeviceNumber, System, names_in, read_number, read_text};
use crate::{loop_device, signature, write_cache};

/// How many devices one target may be made of before the walk gives up; only a loop in a damaged
/// tree gets there.
const LAYERS_MAX: usize = 4096;

/// A device and all layers below it, nearest first.
pub(super) fn layers(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    top: DeviceNumber,
    unknown: &mut Vec<String>,
) -> Vec<DeviceNumber> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([top]);
    while let Some(number) = waiting.pop_front() {
        if found.contains(&number) || found.len() >= LAYERS_MAX {
            continue;
        }
        found.push(number);
        waiting.extend(tree.parent(number));
        for name in tree.members(number) {
            match tree.number_of(&name) {
                Some(member) => waiting.push_back(member),
                None => unknown.push(format!("The member {name} of {number} is not in sysfs.")),
            }
        }
        let Some((kind, below)) = below_loop(system, tree, mounts, number) else { continue };
        waiting.extend(below);
        if kind == Backing::Unknown {
            let file = backing_file(tree, number).unwrap_or_default();
            unknown.push(format!(
                "What lies below {} (the backing file of {number}) is unknown: not visible here.",
                file.display()
            ));
        }
    }
    found
}

/// The devices that hold a mounted file system, and all layers below them.
pub(super) fn below_mount(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    mount: &Mount,
    unknown: &mut Vec<String>,
) -> Vec<DeviceNumber> {
    let mut found = Vec::new();
    for number in mount_devices(system, tree, mounts, mount, 0) {
        for layer in layers(system, tree, mounts, number, unknown) {
            if !found.contains(&layer) {
                found.push(layer);
            }
        }
    }
    found
}

/// What a loop device stands on; `None` for other devices. The loop driver is asked first: names
/// lead elsewhere in other mount namespaces, and when they were given to other files.
fn below_loop(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    number: DeviceNumber,
) -> Option<(Backing, Vec<DeviceNumber>)> {
    let path = backing_file(tree, number)?;
    if let Some(device) = loop_device::backing_device(system, &tree.name(number)?, number) {
        if tree.directory(device).is_some() {
            return Some((Backing::Devices, vec![device]));
        }
        if let Some(mount) = mounts.iter().find(|mount| mount.number == device) {
            return Some(below_file(system, tree, mounts, mount, 0));
        }
    }
    // A loop device on a block device: its backing "file" is a node in devtmpfs.
    if let Some(device) = node(system, tree, &path) {
        return Some((Backing::Devices, vec![device]));
    }
    Some(match holding(system, mounts, &path) {
        Some(mount) => below_file(system, tree, mounts, mount, 0),
        None => (Backing::Unknown, Vec::new()),
    })
}

/// What a file of a mount lies on.
fn below_file(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    mount: &Mount,
    depth: u32,
) -> (Backing, Vec<DeviceNumber>) {
    let devices = mount_devices(system, tree, mounts, mount, 0);
    let upper = mount.option("upperdir").filter(|_| mount.kind == "overlay" && depth < 8);
    let upper = upper.and_then(|upper| holding(system, mounts, Path::new(upper)));
    match (devices.is_empty(), upper) {
        (false, _) => (Backing::Devices, devices),
        (true, Some(below)) if below.id != mount.id => {
            below_file(system, tree, mounts, below, depth + 1)
        }
        _ if filesystem::is_memory(&mount.kind) => (Backing::Memory, devices),
        _ if super::is_served(&mount.kind) => (Backing::Served, devices),
        _ => (Backing::Unknown, devices),
    }
}

/// The devices directly below a mount: by superblock number, by source, by btrfs's own list, or,
/// for overlayfs, those below its upper directory.
fn mount_devices(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    mount: &Mount,
    depth: u32,
) -> Vec<DeviceNumber> {
    if tree.directory(mount.number).is_some() {
        return vec![mount.number];
    }
    if mount.kind == "overlay" && depth < 8 {
        let Some(upper) = mount.option("upperdir") else { return Vec::new() };
        let Some(below) = holding(system, mounts, Path::new(upper)) else { return Vec::new() };
        // Never follow an overlay into itself: its upper directory may be hidden by the mount.
        return match below.id == mount.id {
            true => Vec::new(),
            false => mount_devices(system, tree, mounts, below, depth + 1),
        };
    }
    let Some(number) = node(system, tree, Path::new(&mount.source)) else { return Vec::new() };
    match mount.kind.as_str() {
        "btrfs" => btrfs_peers(system, tree, number),
        _ => vec![number],
    }
}

/// All devices of the btrfs that `number` belongs to (`/sys/fs/btrfs/UUID/devices/NAME`).
pub(super) fn btrfs_peers(system: &System, tree: &Tree, number: DeviceNumber) -> Vec<DeviceNumber> {
    let root = system.sysfs.join("fs/btrfs");
    for uuid in names_in(&root) {
        let names = names_in(&root.join(uuid).join("devices"));
        let peers: Vec<_> = names.iter().filter_map(|name| tree.number_of(name)).collect();
        if peers.contains(&number) {
            return peers;
        }
    }
    vec![number]
}

/// The number behind a device path in a mount source or a backing file.
fn node(system: &System, tree: &Tree, path: &Path) -> Option<DeviceNumber> {
    if !path.is_absolute() {
        return None;
    }
    super::block_number(system, tree, path)
}

fn backing_file(tree: &Tree, number: DeviceNumber) -> Option<PathBuf> {
    let text = read_text(&tree.directory(number)?.join("loop/backing_file"))?;
    Some(PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text)))
}

/// Everything known of one device: sysfs, and what may be read from it.
pub(super) fn describe(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    number: DeviceNumber,
    unknown: &mut Vec<String>,
) -> DeviceFacts {
    let mut facts = describe_unread(system, tree, mounts, number, unknown);
    if system.is_live() && facts.bytes != Some(0) {
        signatures(system, number, &mut facts, unknown);
        zone_states(system, number, &mut facts, unknown);
        asked::ask(system, tree, number, &mut facts, unknown);
    }
    facts
}

/// Everything sysfs knows of one device; the device itself is not opened.
pub(super) fn describe_unread(
    system: &System,
    tree: &Tree,
    mounts: &[Mount],
    number: DeviceNumber,
    unknown: &mut Vec<String>,
) -> DeviceFacts {
    let mut facts = DeviceFacts { number: number.to_string(), ..DeviceFacts::default() };
    let (Some(directory), Some(disk)) = (tree.directory(number), tree.disk_directory(number))
    else {
        unknown.push(format!("Device {number} is not in sysfs: nothing is known about it."));
        return facts;
    };
    facts.name = tree.name(number).unwrap_or_default();
    facts.layer = layer(&directory, &facts.name);
    facts.bytes = read_number::<u64>(&directory.join("size")).and_then(|n| n.checked_mul(512));
    facts.alignment_offset = read_number(&directory.join("alignment_offset"));
    if facts.layer == "partition" {
        facts.start_bytes = tree.extent(number).map(|(start, _)| start);
    }
    facts.read_only = read_number::<u8>(&directory.join("ro")).map(|value| value != 0);
    facts.holders = tree.holders(number);
    facts.members = tree.members(number);
    facts.backing_file = read_text(&directory.join("loop/backing_file"));
    facts.backing = below_loop(system, tree, mounts, number).map(|(kind, _)| kind);
    facts.layer_name =
        read_text(&directory.join("dm/name")).or_else(|| read_text(&directory.join("md/level")));
    facts.mounted_at = mounted_at(system, tree, mounts, number);
    queue(&disk, &mut facts);
    facts.queue_settable = system.is_live().then(|| {
        let file = disk.join("queue/read_ahead_kb");
        rustix::fs::access(&file, rustix::fs::Access::WRITE_OK).is_ok()
    });
    facts.numa_node = numa_node(&disk);
    if facts.layer != "partition" {
        link::identify(&disk, &mut facts);
        facts.drive_write_cache = write_cache::of_sysfs(&disk);
    }
    facts
}

/// The kind of layer, from what the directory holds and, last, from the kernel's naming.
fn layer(directory: &Path, name: &str) -> String {
    if directory.join("partition").exists() {
        return "partition".to_owned();
    }
    if directory.join("dm").exists() {
        let uuid = read_text(&directory.join("dm/uuid")).unwrap_or_default();
        let kind = match uuid.split('-').next().unwrap_or_default() {
            "LVM" => "lvm",
            "CRYPT" => "crypt",
            _ => "dm",
        };
        return kind.to_owned();
    }
    let by_content = [("md", "md"), ("loop", "loop"), ("bcache", "bcache")];
    if let Some((_, kind)) = by_content.iter().find(|(file, _)| directory.join(file).exists()) {
        // `bcache` also exists in a backing device; only the built device bears the name.
        if *kind != "bcache" || name.starts_with("bcache") {
            return (*kind).to_owned();
        }
    }
    let by_name = [("zram", "zram"), ("loop", "loop"), ("sr", "optical"), ("md", "md")];
    let kind = by_name.iter().find(|(prefix, _)| name.starts_with(prefix));
    kind.map_or("disk", |(_, kind)| kind).to_owned()
}

/// The request queue's settings.
fn queue(disk: &Path, facts: &mut DeviceFacts) {
    let queue = disk.join("queue");
    let flag = |name: &str| read_number::<u8>(&queue.join(name)).map(|value| value != 0);
    facts.logical_block_bytes = read_number(&queue.join("logical_block_size"));
    facts.physical_block_bytes = read_number(&queue.join("physical_block_size"));
    facts.minimum_io_bytes = read_number(&queue.join("minimum_io_size"));
    facts.optimal_io_bytes = read_number(&queue.join("optimal_io_size"));
    facts.rotational = flag("rotational");
    let schedulers = read_text(&queue.join("scheduler"));
    facts.scheduler = schedulers.as_deref().map(active);
    facts.schedulers = schedulers.as_deref().map(offered).unwrap_or_default();
    facts.queue_requests = read_number(&queue.join("nr_requests"));
    facts.max_sectors_kib = read_number(&queue.join("max_sectors_kb"));
    facts.read_ahead_kib = read_number(&queue.join("read_ahead_kb"));
    facts.write_cache = read_text(&queue.join("write_cache"));
    facts.fua = flag("fua");
    facts.discard_granularity_bytes = read_number(&queue.join("discard_granularity"));
    facts.discard_max_bytes = read_number(&queue.join("discard_max_bytes"));
    facts.rq_affinity = read_number(&queue.join("rq_affinity"));
    facts.nomerges = read_number(&queue.join("nomerges"));
    facts.writeback_throttle_us = read_number(&queue.join("wbt_lat_usec"));
    facts.polls = flag("io_poll");
    facts.zones = zones(&queue);
}

/// Its zones; an ordinary device says `none`.
fn zones(queue: &Path) -> Option<ZoneFacts> {
    let model = read_text(&queue.join("zoned")).filter(|model| model != "none")?;
    let sectors: Option<u64> = read_number(&queue.join("chunk_sectors"));
    Some(ZoneFacts {
        model,
        zone_bytes: sectors.map(|sectors| sectors * 512),
        zones: read_number(&queue.join("nr_zones")),
        open_max: read_number(&queue.join("max_open_zones")),
        active_max: read_number(&queue.join("max_active_zones")),
        append_bytes_max: read_number(&queue.join("zone_append_max_bytes")),
        ..ZoneFacts::default()
    })
}

/// `mq-deadline` out of `none [mq-deadline] kyber`.
pub(super) fn active(schedulers: &str) -> String {
    let chosen = schedulers.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(schedulers, |(name, _)| name).to_owned()
}

/// All of `none [mq-deadline] kyber`.
fn offered(schedulers: &str) -> Vec<String> {
    let names = schedulers.split_whitespace();
    names.map(|name| name.trim_matches(['[', ']']).to_owned()).collect()
}

/// The NUMA node of the nearest ancestor that names one.
fn numa_node(disk: &Path) -> Option<i32> {
    let device = std::fs::canonicalize(disk.join("device")).ok()?;
    device.ancestors().take(12).find_map(|path| read_number(&path.join("numa_node")))
}

fn mounted_at(system: &System, tree: &Tree, mounts: &[Mount], number: DeviceNumber) -> Vec<String> {
    let holds = |mount: &&Mount| {
        mount.number == number
            || (tree.directory(mount.number).is_none()
                && mount.kind != "overlay"
                && mount_devices(system, tree, mounts, mount, 0).contains(&number))
    };
    let points = mounts.iter().filter(holds).map(|mount| mount.mount_point.display().to_string());
    points.collect()
}

/// What its zones hold, which only the drive itself says.
fn zone_states(
    system: &System,
    number: DeviceNumber,
    facts: &mut DeviceFacts,
    unknown: &mut Vec<String>,
) {
    let (Some(found), Some(bytes)) = (&mut facts.zones, facts.bytes) else { return };
    let told = system.open_node(&facts.name, number).and_then(|node| {
        let told = crate::zones::complete(node, bytes, found);
        told.map_err(|errno| std::io::Error::from_raw_os_error(errno.0))
    });
    if let Err(error) = told {
        let advice = if asked::is_root() { "" } else { " Run as root to see them." };
        unknown.push(format!("What the zones of {} hold is unknown: {error}.{advice}", facts.name));
    }
}

fn signatures(
    system: &System,
    number: DeviceNumber,
    facts: &mut DeviceFacts,
    unknown: &mut Vec<String>,
) {
    let Some(bytes) = facts.bytes else { return };
    let open = system.open_node(&facts.name, number);
    let found = open.and_then(|descriptor| signature::on_descriptor(&descriptor, bytes));
    match found {
        Ok(found) => facts.signatures = found,
        Err(error) => {
            let advice = if asked::is_root() { "" } else { " Run as root to see signatures." };
            let node = system.node(&facts.name);
            unknown.push(format!("What {} holds is unknown: {error}.{advice}", node.display()));
        }
    }
}
