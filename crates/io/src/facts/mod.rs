//! What is known of a target and of this machine before the first I/O.
//!
//! Read from sysfs, procfs and `statx` alone, so that nearly everything works unprivileged. What
//! cannot be found out is left `None` and said in [`TargetFacts::unknown`], never guessed.

mod asked;
mod block;
mod cgroup;
mod device;
mod filesystem;
mod host;
mod link;
mod mounts;
pub mod namespace;
mod udev;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use drivelab_core::events::EventLog;
use drivelab_core::facts::{
    DeviceFacts, Facts, FilesystemFacts, TargetFacts, TargetKind, WearFacts,
};
use rustix::fs::FileType;

pub(crate) use block::Tree;
pub(crate) use cgroup::own_group;
pub use cgroup::{cpu_throttled, io_limits};
pub use filesystem::direct_io_align;
pub(crate) use filesystem::free_bytes_of;
pub(crate) use link::hidden_paths;
pub use mounts::{Mount, Swap};
pub(crate) use udev::content_type;

use crate::health::SelfTest;
use crate::health::smartctl::{self, Told};
pub use crate::system::{DeviceNumber, System};
use crate::system::{read_number, read_text};
use drivelab_core::queue::Trouble;

/// All mounts of our mount namespace, in the kernel's order.
///
/// # Errors
/// When `/proc/self/mountinfo` cannot be read.
pub fn mounts(system: &System) -> io::Result<Vec<Mount>> {
    mounts::read(system)
}

/// All swap areas.
///
/// # Errors
/// When `/proc/swaps` exists and cannot be read; a kernel without swap has none.
pub fn swaps(system: &System) -> io::Result<Vec<Swap>> {
    mounts::swaps(system)
}

/// Everything known of `path` and of the machine. Needs no privilege; with it more is known
/// (signatures). A path that does not exist is described by the directory it would stand in.
pub fn gather(system: &System, path: &Path) -> Facts {
    Facts { target: target(system, path), host: host::gather(system) }
}

/// The machine alone.
pub fn host(system: &System) -> drivelab_core::facts::HostFacts {
    host::gather(system)
}

/// Every block device, whole disks first and each followed by its partitions, with signatures
/// where they may be read and with the places where it is mounted.
pub fn list(system: &System) -> Vec<DeviceFacts> {
    let tree = Tree::new(system);
    let mounts = mounts::read(system).unwrap_or_default();
    let mut unknown = Vec::new();
    let mut devices = Vec::new();
    for name in tree.disks() {
        let Some(number) = tree.number_of(&name) else { continue };
        let mut numbers = vec![number];
        numbers.extend(tree.partitions(number));
        for number in numbers {
            let facts = device::describe(system, &tree, &mounts, number, &mut unknown);
            // Unattached loop devices and the like: nothing there to list.
            if facts.bytes != Some(0) {
                devices.push(facts);
            }
        }
    }
    devices
}

/// Opens the block device that a path names, to read or to ask it.
///
/// # Errors
/// It names none, or it cannot be opened.
pub fn node_of(system: &System, path: &Path) -> io::Result<OwnedFd> {
    let number = block_number_of(system, path);
    let name = number.and_then(|number| Some((name_of(system, number)?, number)));
    let (name, number) = name.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    system.open_node(&name, number)
}

/// The kernel's name of a block device.
pub fn name_of(system: &System, number: DeviceNumber) -> Option<String> {
    Tree::new(system).name(number)
}

/// Whether a block device is there, holds anything, and is not being taken away. The kernel sets
/// the size of an NVMe drive that went away to 0 before it takes the device away, and of a SCSI
/// drive it lists the name until its last requests have failed.
pub fn is_there(system: &System, number: DeviceNumber) -> bool {
    /// Of SCSI devices, and of NVMe controllers.
    const GOING: [&str; 5] = ["cancel", "deleted", "deleting", "deleting (no IO)", "dead"];
    let Some(directory) = Tree::new(system).directory(number) else { return false };
    let sectors = read_number::<u64>(&directory.join("size"));
    let state = read_text(&directory.join("device/state"));
    sectors.is_some_and(|sectors| sectors > 0)
        && !state.is_some_and(|state| GOING.contains(&state.trim()))
}

/// One block device by number, `None` when sysfs does not know it.
pub fn device(system: &System, number: DeviceNumber) -> Option<DeviceFacts> {
    let tree = Tree::new(system);
    tree.directory(number)?;
    let mounts = mounts::read(system).unwrap_or_default();
    Some(device::describe(system, &tree, &mounts, number, &mut Vec::new()))
}

/// What a drive says of its health now that said something of it before, as `known` has it; `None`
/// where it does not answer, or is another drive. Without FARM, which does not change what a run
/// says. Changes nothing; takes some milliseconds.
pub fn health_again(system: &System, known: &DeviceFacts) -> Option<WearFacts> {
    let number = DeviceNumber::parse(&known.number)?;
    asked::again(system, &Tree::new(system), number, known)
}

/// What the drive that `known` describes keeps of what happened to it, `None` where it keeps no log
/// of that; it may take seconds.
///
/// # Errors
/// Why that cannot be read although it keeps one.
pub fn events(system: &System, known: &DeviceFacts) -> Result<Option<EventLog>, String> {
    match DeviceNumber::parse(&known.number) {
        Some(number) => asked::events(system, number, known),
        None => Ok(None),
    }
}

/// What smartctl reads of the drive that `known` describes, where it is installed and this user is
/// root; some seconds at most.
pub fn second_witness(system: &System, known: &DeviceFacts) -> Option<Told> {
    let is_root = rustix::process::geteuid().is_root();
    let number = DeviceNumber::parse(&known.number).filter(|_| is_root && system.is_live())?;
    let name = name_of(system, number).filter(|name| *name == known.name)?;
    smartctl::ask(&Path::new("/dev").join(name))
}

/// Has the drive that `known` describes test itself while it goes on serving.
///
/// # Errors
/// It has no such test, makes one already, or cannot be asked.
pub fn start_self_test(
    system: &System,
    known: &DeviceFacts,
    test: SelfTest,
) -> Result<(), Trouble> {
    let number = DeviceNumber::parse(&known.number)
        .ok_or_else(|| Trouble::failed(format!("{} has no device number", known.name)))?;
    asked::start_self_test(system, &Tree::new(system), number, known, test)
}

/// The one in force of what the kernel offers (`none [mq-deadline] kyber`).
pub(crate) fn active_of(offered: &str) -> String {
    device::active(offered)
}

/// One block device without opening it; `mounted_at` is not filled in.
pub(crate) fn device_of_sysfs(system: &System, number: DeviceNumber) -> Option<DeviceFacts> {
    let tree = Tree::new(system);
    tree.directory(number)?;
    Some(device::describe_unread(system, &tree, &[], number, &mut Vec::new()))
}

/// The block device a path names, by node or, in captured trees, by name.
pub(crate) fn block_number_of(system: &System, path: &Path) -> Option<DeviceNumber> {
    block_number(system, &Tree::new(system), path)
}

/// The file system type and device number of the mount that holds `path`, from the text of
/// mountinfo alone: no server is asked that may not answer.
pub(crate) fn mount_by_text<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts::by_text(mounts, path)
}

/// The file system (see [`Mount`]) that holds `path` or would hold it.
pub(crate) fn mount_of(system: &System, path: &Path) -> Option<Mount> {
    let mounts = mounts::read(system).ok()?;
    mounts::holding(system, &mounts, path).cloned()
}

/// Parses the text of a mountinfo.
///
/// # Errors
/// When a line does not have the documented form.
pub(crate) fn parse_mounts(bytes: &[u8]) -> io::Result<Vec<Mount>> {
    mounts::parse(bytes)
}

/// Whether a type of file system is served by a process or another machine, which may not answer.
pub(crate) fn is_served(kind: &str) -> bool {
    kind.starts_with("fuse") || filesystem::is_network(kind)
}

/// The file system that holds `path` (or would hold it).
pub fn filesystem(system: &System, path: &Path) -> Option<FilesystemFacts> {
    let mounts = mounts::read(system).ok()?;
    let mount = mounts::holding(system, &mounts, path)?;
    Some(filesystem::describe(system, mount, path, &mut Vec::new()))
}

/// The numbers of a block device and of every layer below it, the device itself first: what the
/// counters of a run have to watch.
pub fn layers(system: &System, number: DeviceNumber) -> Vec<DeviceNumber> {
    let mounts = mounts::read(system).unwrap_or_default();
    device::layers(system, &Tree::new(system), &mounts, number, &mut Vec::new())
}

/// The block devices below a path: the device itself or those that hold its file system, with
/// all layers below. Empty for memory and network file systems.
pub fn devices_below(system: &System, path: &Path) -> Vec<DeviceNumber> {
    let tree = Tree::new(system);
    let mounts = mounts::read(system).unwrap_or_default();
    let mut unknown = Vec::new();
    if let Some(number) = block_number(system, &tree, path) {
        return device::layers(system, &tree, &mounts, number, &mut unknown);
    }
    let Some(mount) = mounts::holding(system, &mounts, path) else { return Vec::new() };
    device::below_mount(system, &tree, &mounts, mount, &mut unknown)
}

/// The device number of a path that names a block device.
fn block_number(system: &System, tree: &Tree, path: &Path) -> Option<DeviceNumber> {
    if system.is_live() {
        let stat = rustix::fs::stat(path).ok()?;
        let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        return is_block.then(|| DeviceNumber::from_raw(stat.st_rdev));
    }
    // A captured tree has no nodes: `/dev/NAME` and `/dev/mapper/NAME` are looked up in sysfs.
    let below = path.strip_prefix("/dev").or_else(|_| path.strip_prefix(&system.dev)).ok()?;
    if let Ok(name) = below.strip_prefix("mapper") {
        return tree.number_of_mapped(name.to_str()?);
    }
    tree.number_of(below.to_str()?)
}

fn target(system: &System, path: &Path) -> TargetFacts {
    let tree = Tree::new(system);
    let mut facts =
        TargetFacts { path: path.to_string_lossy().into_owned(), ..TargetFacts::default() };
    let mounts = mounts::read(system).unwrap_or_else(|error| {
        facts.unknown.push(format!(
            "The mounted file systems are unknown: {}: {error}.",
            system.procfs.join("self/mountinfo").display()
        ));
        Vec::new()
    });
    let numbers = if let Some(number) = block_number(system, &tree, path) {
        facts.kind = TargetKind::BlockDevice;
        device::layers(system, &tree, &mounts, number, &mut facts.unknown)
    } else {
        describe_path(system, &mounts, path, &mut facts);
        match mounts::holding(system, &mounts, path) {
            Some(mount) => device::below_mount(system, &tree, &mounts, mount, &mut facts.unknown),
            None => Vec::new(),
        }
    };
    for number in numbers {
        let device = device::describe(system, &tree, &mounts, number, &mut facts.unknown);
        facts.devices.push(device);
    }
    if facts.kind == TargetKind::BlockDevice {
        facts.bytes = facts.devices.first().and_then(|device| device.bytes);
    }
    facts.unknown.dedup();
    facts
}

/// Fills in what is known of a file, a directory, or a path that does not exist yet.
fn describe_path(system: &System, mounts: &[Mount], path: &Path, facts: &mut TargetFacts) {
    if let Ok(metadata) = std::fs::metadata(path) {
        if metadata.is_dir() {
            facts.kind = TargetKind::Directory;
        } else {
            facts.bytes = Some(metadata.len());
        }
    }
    match mounts::holding(system, mounts, path) {
        Some(mount) => {
            let described = filesystem::describe(system, mount, path, &mut facts.unknown);
            if facts.kind == TargetKind::Directory {
                facts.bytes = described.free_bytes;
            }
            facts.filesystem = Some(described);
        }
        None => facts.unknown.push(format!(
            "The file system of {} is unknown: no mount in mountinfo covers it.",
            path.display()
        )),
    }
}
