//! An NVMe namespace as something that takes commands: its character device, its blocks, and the
//! limits that nobody keeps for who sends commands himself.
//!
//! Each namespace has a block device (`nvme0n1`) and, since Linux 5.13, a generic character device
//! (`ng0n1`) for commands, below the same controller or, with several paths, the same subsystem.
//! What a namespace is, is decided by its block device; the other one only carries commands.

use crate::facts::{Tree, node_of};
use crate::passthrough::line::{Kernel, Line};
use crate::passthrough::nvme::{CNS_NAMESPACE, identify};
use crate::system::{DeviceNumber, System, names_in, read_number, read_text};
use drivelab_core::queue::Trouble;
use rustix::fs::FileType;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Blocks of one command at most: their number has 16 bits, and 0 stands for one.
const COMMAND_BLOCKS_MAX: u64 = 1 << 16;
/// Bits of the descriptor of a namespace that say whether blocks carry protection information.
const PROTECTION: u8 = 0b111;

/// An NVMe namespace that takes commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Namespace {
    /// The kernel's name of its block device.
    pub name: String,
    /// The node of its character device.
    pub generic: PathBuf,
    /// The number of that device.
    pub generic_number: Option<DeviceNumber>,
    /// Its identifier on its drive.
    pub identifier: u32,
    /// Bytes of a logical block.
    pub block_bytes: u32,
    /// Bytes that one command moves at most.
    pub request_bytes_max: u64,
    /// Bytes that one command trims at most; 0: the drive does not trim.
    pub trim_bytes_max: u64,
}

impl Namespace {
    /// Looks at the namespace that this block device is, and asks it for the form of its blocks.
    ///
    /// # Errors
    /// It is none, this kernel has no character device for it, its blocks carry metadata, or it
    /// cannot be asked.
    pub fn of(system: &System, number: DeviceNumber) -> Result<Namespace, Trouble> {
        let namespace = Namespace::of_sysfs(system, number)?;
        let node = system.open_node(&namespace.name, number).map_err(|error| {
            Trouble::failed(format!("/dev/{} cannot be asked: {error}", namespace.name))
        })?;
        namespace.check_blocks(&mut Kernel::new(node.as_fd()))?;
        Ok(namespace)
    }

    /// What the kernel shows of it.
    fn of_sysfs(system: &System, number: DeviceNumber) -> Result<Namespace, Trouble> {
        let tree = Tree::new(system);
        let directory = tree.directory(number);
        let directory = directory
            .ok_or_else(|| Trouble::failed(format!("device {number} is no longer in sysfs")))?;
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if directory.join("partition").exists() {
            let whole = directory.parent().and_then(Path::file_name).unwrap_or_default();
            return Err(Trouble::usage(format!(
                "{name} is a partition, and io_uring_cmd sends NVMe commands, which reach the \
                 whole namespace: use --engine io_uring, or name /dev/{}",
                whole.display()
            )));
        }
        let identifier = read_number(&directory.join("nsid")).ok_or_else(|| {
            Trouble::usage(format!(
                "{name} is not an NVMe namespace, and io_uring_cmd sends NVMe commands, which \
                 others do not take: use --engine io_uring"
            ))
        })?;
        let generic = generic_of(system, &directory, &name).ok_or_else(|| {
            Trouble::usage(format!(
                "the kernel has no character device for {name} (/dev/ng…, since Linux 5.13), by \
                 which io_uring_cmd sends NVMe commands: use --engine io_uring"
            ))
        })?;
        let queue = directory.join("queue");
        let of_queue = |file: &str| read_number::<u64>(&queue.join(file));
        let block_bytes = read_number(&queue.join("logical_block_size")).unwrap_or(512);
        let kib = of_queue("max_hw_sectors_kb").unwrap_or(128);
        // Each page may lie apart from the next one.
        let pages = of_queue("max_segments").unwrap_or(u64::MAX);
        let request_bytes_max = kib
            .saturating_mul(1024)
            .min(pages.saturating_mul(rustix::param::page_size() as u64))
            .min(u64::from(block_bytes) * COMMAND_BLOCKS_MAX);
        let number = read_text(&system.sysfs.join("class/nvme-generic").join(&generic).join("dev"));
        Ok(Namespace {
            name,
            generic: system.dev.join(&generic),
            generic_number: number.and_then(|text| DeviceNumber::parse(&text)),
            identifier,
            block_bytes,
            request_bytes_max,
            trim_bytes_max: of_queue("discard_max_hw_bytes")
                .or_else(|| of_queue("discard_max_bytes"))
                .unwrap_or(0),
        })
    }

    /// Refuses blocks that have more than data: nobody would move or check the rest of them.
    fn check_blocks(&self, line: &mut dyn Line) -> Result<(), Trouble> {
        let data = identify(line, self.identifier, CNS_NAMESPACE)?;
        // FLBAS: bits 0 to 3 and, above them, 5 and 6. LBAF: MS, LBADS.
        let format = usize::from(data[26] & 0xf | (data[26] & 0x60) >> 1);
        let place = 128 + 4 * format;
        let metadata = u16::from_le_bytes([data[place], data[place + 1]]);
        let shift = u32::from(data[place + 2]);
        let name = &self.name;
        if metadata > 0 {
            let kind = match data[29] & PROTECTION {
                0 => "metadata",
                _ => "metadata with protection information",
            };
            return Err(Trouble::usage(format!(
                "{name} keeps {metadata} bytes of {kind} with each block, which io_uring_cmd does \
                 not move: use --engine io_uring, or format it without (nvme format, which erases \
                 it)"
            )));
        }
        if 1u32.checked_shl(shift) != Some(self.block_bytes) {
            return Err(Trouble::failed(format!(
                "{name} says that its blocks have 2^{shift} bytes, and the kernel says {}: have \
                 the kernel look again (nvme ns-rescan), or use --engine io_uring",
                self.block_bytes
            )));
        }
        Ok(())
    }
}

/// Of `nvme0n1`, `ng0n1` and `nvme0c1n1` the last number: what tells namespaces of one parent
/// apart.
fn instance(name: &str) -> Option<&str> {
    let (_, number) = name.rsplit_once('n')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Whether two directories of sysfs are one namespace: of one parent, with one number.
fn are_one(block: &Path, generic: &Path) -> bool {
    let parent = |directory: &Path| std::fs::canonicalize(directory.join("device")).ok();
    let number = |directory: &Path| {
        let name = directory.file_name()?.to_str()?;
        instance(name).map(str::to_owned)
    };
    let (one, other) = (parent(block), parent(generic));
    one.is_some() && one == other && number(block).is_some() && number(block) == number(generic)
}

/// The kernel's name of the character device of a namespace.
fn generic_of(system: &System, block: &Path, name: &str) -> Option<String> {
    instance(name)?;
    let class = system.sysfs.join("class/nvme-generic");
    names_in(&class).into_iter().find(|generic| are_one(block, &class.join(generic)))
}

/// The block device of the namespace whose character device a path names; `None`: it names no such
/// device.
pub fn block_of_generic(system: &System, path: &Path) -> Option<PathBuf> {
    let stat = rustix::fs::stat(path).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice {
        return None;
    }
    block_of_number(system, DeviceNumber::from_raw(stat.st_rdev))
}

fn block_of_number(system: &System, number: DeviceNumber) -> Option<PathBuf> {
    let class = system.sysfs.join("class/nvme-generic");
    let generic = names_in(&class).into_iter().find(|name| {
        let text = read_text(&class.join(name).join("dev"));
        text.and_then(|text| DeviceNumber::parse(&text)) == Some(number)
    })?;
    let generic = class.join(generic);
    let blocks = system.sysfs.join("class/block");
    let name = Tree::new(system)
        .disks()
        .into_iter()
        .find(|name| name.starts_with("nvme") && are_one(&blocks.join(name), &generic))?;
    Some(system.node(&name))
}

/// The namespace that a path names, which is that of a block device.
///
/// # Errors
/// As of [`Namespace::of`].
pub fn of_path(system: &System, path: &Path) -> Result<Namespace, Trouble> {
    let opened = node_of(system, path);
    let stat = opened.and_then(|node| Ok(rustix::fs::fstat(&node)?)).map_err(|error| {
        Trouble::usage(format!("{} cannot be opened to be asked: {error}", path.display()))
    })?;
    Namespace::of(system, DeviceNumber::from_raw(stat.st_rdev))
}

#[cfg(test)]
mod tests;
