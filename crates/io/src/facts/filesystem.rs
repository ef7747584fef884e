//! A mounted file system, and what a measurement on it really measures.

use std::path::Path;

use drivelab_core::facts::FilesystemFacts;
use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::mounts::{Mount, nearest_existing};
use crate::system::System;

/// Describes the file system of `mount`; `path` is asked for direct I/O.
pub(super) fn describe(
    system: &System,
    mount: &Mount,
    path: &Path,
    unknown: &mut Vec<String>,
) -> FilesystemFacts {
    let mut facts = FilesystemFacts {
        kind: mount.kind.clone(),
        source: mount.source.clone(),
        mount_point: mount.mount_point.display().to_string(),
        options: mount.all_options(),
        memory_backed: is_memory(&mount.kind),
        network: is_network(&mount.kind),
        compressing: is_compressing(mount),
        ..FilesystemFacts::default()
    };
    facts.hazard = hazard(&facts);
    if !system.is_live() {
        return facts;
    }
    let existing = nearest_existing(path);
    match existing.as_deref().map(rustix::fs::statvfs) {
        Some(Ok(room)) => {
            if room.f_blocks > 0 {
                facts.total_bytes = room.f_blocks.checked_mul(room.f_frsize);
                facts.free_bytes = room.f_bavail.checked_mul(room.f_frsize);
                facts.unused_bytes = room.f_bfree.checked_mul(room.f_frsize);
            }
            facts.inodes = (room.f_files > 0).then_some((room.f_files, room.f_ffree));
            facts.block_bytes = Some(room.f_bsize);
        }
        Some(Err(error)) => unknown.push(format!(
            "The free space of {} is unknown: {error}.",
            mount.mount_point.display()
        )),
        None => {}
    }
    facts.direct_io_align = existing.and_then(|path| direct_io_align(&path));
    if facts.direct_io_align.is_none() {
        unknown.push(format!(
            "The direct I/O alignment of {} is unknown: this kernel or file system does not say \
             (STATX_DIOALIGN, Linux 6.1 and later, regular files only).",
            path.display()
        ));
    }
    facts
}

/// Memory and offset alignment of direct I/O in bytes, (0, 0) where the file system has none;
/// `None` where kernel or file system do not say (`statx(2)`, `STATX_DIOALIGN`).
pub fn direct_io_align(path: &Path) -> Option<(u32, u32)> {
    // Never ask for `StatxFlags::all()`: it has a reserved bit set, which is EINVAL.
    let statx = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?;
    let answered = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::DIOALIGN);
    answered.then_some((statx.stx_dio_mem_align, statx.stx_dio_offset_align))
}

/// Bytes an unprivileged user may still write below `path`; `None` on file systems without a
/// size of their own (ramfs).
///
/// # Errors
/// As `statvfs(3)` says.
pub(crate) fn free_bytes_of(path: &Path) -> std::io::Result<Option<u64>> {
    let room = rustix::fs::statvfs(path)?;
    Ok((room.f_blocks > 0).then(|| room.f_bavail.saturating_mul(room.f_frsize)))
}

pub(super) fn is_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs")
}

pub(super) fn is_network(kind: &str) -> bool {
    matches!(
        kind,
        "nfs"
            | "nfs4"
            | "cifs"
            | "smb3"
            | "smbfs"
            | "ncpfs"
            | "afs"
            | "ceph"
            | "fuse.ceph"
            | "lustre"
            | "gpfs"
            | "beegfs"
            | "pvfs2"
            | "orangefs"
            | "9p"
            | "virtiofs"
            | "vboxsf"
            | "fuse.glusterfs"
            | "fuse.sshfs"
            | "fuse.s3fs"
            | "fuse.rclone"
    )
}

fn is_compressing(mount: &Mount) -> bool {
    let options = mount.all_options();
    let compress = |option: &str| {
        (option.starts_with("compress=") || option.starts_with("compress-force"))
            && !option.ends_with("=no")
            && !option.ends_with("=none")
            || option == "compress"
    };
    match mount.kind.as_str() {
        "btrfs" => options.split(',').any(compress),
        // Its default (`compression=on`) is not a mount option: assume what is usual.
        "zfs" => true,
        "bcachefs" => {
            options.split(',').any(|o| o.starts_with("compression=") && !o.ends_with("=none"))
        }
        "f2fs" => options.split(',').any(|option| option.starts_with("compress_extension=")),
        "erofs" | "squashfs" => true,
        _ => false,
    }
}

/// What a measurement here really measures and what to do instead, for anything but a plain file
/// system on a drive.
fn hazard(facts: &FilesystemFacts) -> Option<String> {
    let kind = facts.kind.as_str();
    let mount_point = facts.mount_point.as_str();
    let elsewhere = "give a directory on the drive you mean (`drivelab list` shows them)";
    let text = match kind {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => {
            format!("{mount_point} is {kind}: this measures memory, not a drive; {elsewhere}.")
        }
        "overlay" => format!(
            "{mount_point} is overlayfs (as in a container): the first write to a file copies it \
             up, and this measures the layer below as well; use a volume or {elsewhere}."
        ),
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "afs" | "ncpfs" => format!(
            "{mount_point} is {kind} from {}: this measures the network and the server's cache \
             too; to know the drive, run on the server.",
            facts.source
        ),
        "9p" | "virtiofs" | "vboxsf" => format!(
            "{mount_point} is {kind}, a directory of the host: this measures the host's cache and \
             the transport too; run on the host or on a disk of the virtual machine."
        ),
        "ceph" | "fuse.ceph" | "lustre" | "gpfs" | "beegfs" | "pvfs2" | "orangefs"
        | "fuse.glusterfs" => format!(
            "{mount_point} is {kind}, a distributed file system: this measures network, servers \
             and their caches; one client alone rarely reaches what it can do."
        ),
        "zfs" => format!(
            "{mount_point} is zfs: its own cache (ARC), checksums and compression answer too; \
             use incompressible data larger than memory, or a raw device."
        ),
        _ if kind.starts_with("fuse") && kind != "fuseblk" => format!(
            "{mount_point} is {kind}: a process in user space serves each request and may cache; \
             this measures that process as well; {elsewhere}."
        ),
        "fuseblk" => format!(
            "{mount_point} is served through FUSE (ntfs-3g or the like): this measures that \
             process as well; {elsewhere}."
        ),
        "erofs" | "squashfs" | "iso9660" | "cramfs" => format!(
            "{mount_point} is {kind}: read-only and usually compressed, so that a read measures \
             the decompressor too; {elsewhere}."
        ),
        _ if facts.compressing => format!(
            "{mount_point} is {kind} with compression: fewer bytes reach the drive than are \
             written, and direct I/O falls back to the cache; use incompressible data, or a \
             directory with `chattr +m`."
        ),
        _ => return None,
    };
    Some(text)
}
