//! What this machine must offer. A test that cannot run fails, unless it is listed as unavailable.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The list of tests that cannot run on the machine that runs the tests, with their reasons.
pub const UNAVAILABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/unavailable.txt");

/// The reason why `test` is listed as unavailable, out of the list's text.
pub fn reason_in(list: &str, test: &str) -> Option<String> {
    list.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (name, reason) = line.split_once(": ")?;
        (name.trim() == test).then(|| reason.trim().to_string())
    })
}

/// Whether `test` is listed as unavailable, or asks for more than a visitor has; then this is
/// printed, past the capture of the tests.
pub fn is_unavailable(test: &str) -> bool {
    let list = std::fs::read_to_string(UNAVAILABLE).expect("tests/unavailable.txt");
    let visitor = std::env::var_os("DRIVELAB_TESTS").is_some_and(|whose| whose == "user");
    let reason = reason_in(&list, test)
        .or_else(|| visitor.then(|| "it needs root; `make test` runs it".to_string()));
    if let Some(reason) = &reason {
        writeln!(std::io::stderr(), "not run: {test}: {reason}").ok();
    }
    reason.is_some()
}

/// Says what is missing, for a test that cannot do without.
pub fn require_root(test: &str) {
    assert!(
        rustix::process::geteuid().is_root(),
        "{test} needs root (loop devices, mounts): run `make test` as root, or list the test with \
         its reason in tests/unavailable.txt"
    );
}

static ALONE: Mutex<()> = Mutex::new(());

/// Held by tests that measure time or share kernel-wide names: one at a time in this process.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A tmpfs or other mount of a test's own. Dropping it unmounts.
pub struct Mount {
    directory: tempfile::TempDir,
}

impl Mount {
    /// Mounts with the arguments of `mount`, without the mount point.
    pub fn new(arguments: &[&str]) -> Mount {
        let directory = tempfile::Builder::new().prefix("drivelab-mount-").tempdir();
        let directory = directory.expect("a place to mount on");
        super::binary::must("mount", arguments.iter().copied().chain([path_text(&directory)]));
        Mount { directory }
    }

    /// A tmpfs of this size in MiB.
    pub fn tmpfs(mebibytes: u64) -> Mount {
        Mount::new(&["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "drivelab-test"])
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A name in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

fn path_text(directory: &tempfile::TempDir) -> &str {
    directory.path().to_str().expect("a path in UTF-8")
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted =
            std::process::Command::new("umount").arg("-l").arg(self.directory.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("could not unmount {}", self.directory.path().display());
        }
    }
}
