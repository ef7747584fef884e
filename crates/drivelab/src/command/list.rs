//! `drivelab list`: drives and file systems here, with facts and hazards.

use crate::cli::ListOptions;
use crate::documents::Listed;
use crate::outcome::{Failure, Status};
use crate::print;
use drivelab_core::facts::FilesystemFacts;
use drivelab_io::facts::{self, System};
use drivelab_report::terminal::device_list;
use std::collections::BTreeSet;
use std::path::Path;

/// Kinds of file systems that hold no data of anybody.
const WITHOUT_DATA: [&str; 24] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "ramfs",
    "rootfs",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "squashfs",
    "sysfs",
    "tracefs",
];

/// Smaller file systems hold no scratch file.
const SMALLEST_BYTES: u64 = 64 << 20;

/// Prints what can be measured here.
pub fn list(options: &ListOptions) -> Result<Status, Failure> {
    let system = System::live();
    let devices = facts::list(&system);
    let filesystems = filesystems(&system)?;
    if options.json {
        print::document(Listed { devices, filesystems, host: facts::host(&system) })?;
    } else {
        print::text(&device_list(&devices, &filesystems));
    }
    Ok(Status::Fine)
}

/// Mounted file systems that can hold a scratch file; each mount point once.
fn filesystems(system: &System) -> Result<Vec<FilesystemFacts>, Failure> {
    let mounts = facts::mounts(system).map_err(|error| {
        Failure::usage(format!("the list of mounted file systems cannot be read: {error}"))
    })?;
    let mut seen = BTreeSet::new();
    let mut found: Vec<FilesystemFacts> = mounts
        .iter()
        .filter(|mount| !WITHOUT_DATA.contains(&mount.kind.as_str()))
        .filter(|mount| !of_kernel(&mount.mount_point) && mount.mount_point.is_dir())
        .filter(|mount| seen.insert(mount.mount_point.clone()))
        .filter_map(|mount| facts::filesystem(system, Path::new(&mount.mount_point)))
        .collect();
    found.retain(|filesystem| filesystem.total_bytes.is_none_or(|bytes| bytes >= SMALLEST_BYTES));
    found.sort_by(|a, b| a.mount_point.cmp(&b.mount_point));
    found.dedup_by(|a, b| a.mount_point == b.mount_point);
    Ok(found)
}

/// Directories of the kernel's own.
fn of_kernel(path: &Path) -> bool {
    ["/sys", "/proc"].iter().any(|root| path.starts_with(root))
}
