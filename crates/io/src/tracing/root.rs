//! Where the kernel's tracer is: mounted by somebody, or by us where nobody else sees it.

use crate::facts;
use crate::system::System;
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

const BY_HAND: &str = "as root: mount -t tracefs nodev /sys/kernel/tracing";

/// A tracefs that can be used.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    /// A mount that hangs nowhere in the tree of files: it is gone with this.
    _mount: Option<OwnedFd>,
}

impl Root {
    /// The one that is mounted, or else one of our own.
    ///
    /// # Errors
    /// A sentence: why it cannot be used, and the way out.
    pub(super) fn find(system: &System) -> Result<Root, String> {
        let mounts = facts::mounts(system).unwrap_or_default();
        let root = match mounts.iter().find(|mount| mount.kind == "tracefs") {
            Some(found) => Root { path: PathBuf::from(&found.mount_point), _mount: None },
            None => Root::own()?,
        };
        match std::fs::read_dir(root.path.join("instances")) {
            Ok(_) => Ok(root),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(format!(
                "{} may be used by root alone; run this as root, such as with sudo",
                root.path.display()
            )),
            Err(error) => Err(format!(
                "{} has no instances ({error}); this needs a kernel with CONFIG_TRACING",
                root.path.display()
            )),
        }
    }

    /// Mounts one that only this process can reach, through its descriptor.
    pub(super) fn own() -> Result<Root, String> {
        let mount = detached().map_err(cannot)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Root { path, _mount: Some(mount) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn detached() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

fn cannot(error: Errno) -> String {
    match error {
        Errno::PERM | Errno::ACCESS => "the kernel's tracer is not mounted, and only root may \
                                        mount it; run this as root, such as with sudo (in a \
                                        container CAP_SYS_ADMIN is needed too)"
            .into(),
        Errno::NODEV => {
            "this kernel has no tracer: it was built without CONFIG_TRACING".to_string()
        }
        error => format!("the kernel's tracer is not mounted, and cannot be ({error}); {BY_HAND}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_it_from_being_mounted_is_said_with_the_way_out() {
        assert!(cannot(Errno::PERM).contains("such as with sudo"));
        assert!(cannot(Errno::NODEV).contains("CONFIG_TRACING"));
        assert!(cannot(Errno::NOSYS).contains("mount -t tracefs"));
    }

    /// Whoever is not root is told that root may.
    #[test]
    fn one_of_our_own_has_instances_and_hangs_nowhere() {
        let mounted = || std::fs::read_to_string("/proc/self/mountinfo").expect("a table");
        let before = mounted();
        let root = match Root::own() {
            Err(why) => return assert!(why.contains("only root"), "{why}"),
            Ok(root) => root,
        };
        assert!(rustix::process::geteuid().is_root());
        assert!(root.path().join("instances").is_dir(), "{root:?}");
        assert_eq!(mounted(), before, "nobody else sees it");
        let path = root.path().to_path_buf();
        drop(root);
        assert!(!path.join("instances").is_dir(), "it is gone with its descriptor");
    }

    #[test]
    fn a_captured_machine_has_its_own_mounts_and_their_state_is_told() {
        let place = tempfile::tempdir().expect("a directory");
        let proc = place.path().join("proc/self");
        std::fs::create_dir_all(&proc).expect("directories");
        let line = "30 1 0:10 / /nowhere rw - tracefs nodev rw\n";
        std::fs::write(proc.join("mountinfo"), line).expect("a table");
        let error = Root::find(&System::captured(place.path())).expect_err("it is not there");
        assert!(error.contains("/nowhere has no instances"), "{error}");
    }
}
