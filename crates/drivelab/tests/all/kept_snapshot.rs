//! A btrfs snapshot holds files of the same number and birth as those that it was taken of: a kept
//! file is ours, and the one in its snapshot is not.

use crate::support::binary::{Laboratory, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{is_unavailable, require_root};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

struct Btrfs {
    _backing: tempfile::NamedTempFile,
    device: Option<LoopDevice>,
    at: tempfile::TempDir,
}

impl Btrfs {
    fn mount() -> Btrfs {
        let backing = tempfile::NamedTempFile::new().unwrap();
        backing.as_file().set_len(512 << 20).unwrap();
        let device = LoopDevice::attach(backing.path());
        must("mkfs.btrfs", ["-q", device.path().to_str().unwrap()]);
        let own =
            Btrfs { _backing: backing, device: Some(device), at: tempfile::tempdir().unwrap() };
        own.is_mounted(true);
        own
    }

    fn is_mounted(&self, is_so: bool) {
        let at = self.at.path().to_str().unwrap();
        match (is_so, &self.device) {
            (true, Some(device)) => must("mount", [device.path().to_str().unwrap(), at]),
            _ => must("umount", [at]),
        };
    }
}

impl Drop for Btrfs {
    fn drop(&mut self) {
        Command::new("umount").arg(self.at.path()).output().ok();
        drop(self.device.take());
    }
}

fn writes(laboratory: &Laboratory, path: &Path, options: &[&str], status: i32) -> String {
    let load = ["--rw", "randwrite", "--io", "buffered", "--runtime", "100ms"];
    let line = [&["run", path.to_str().unwrap()], &load[..], options].concat();
    let outcome = laboratory.run(line, Duration::from_secs(60));
    // A buffered run of a moment may be suspect: what is looked at is whether it is refused.
    let is_so = outcome.status == Some(status) || status == 0 && outcome.status == Some(4);
    assert!(is_so, "{path:?}: {:?}\n{}", outcome.status, outcome.stderr);
    outcome.stderr
}

#[test]
fn a_snapshot_of_a_kept_file_is_not_the_kept_file() {
    let name = "a_snapshot_of_a_kept_file_is_not_the_kept_file";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let btrfs = Btrfs::mount();
    let [own, taken] = ["own", "taken"].map(|part| btrfs.at.path().join(part));
    must("btrfs", ["-q", "subvolume", "create", own.to_str().unwrap()]);
    let laboratory = Laboratory::new();
    let file = own.join("data");
    writes(&laboratory, &file, &["--size", "4MiB", "--keep"], 0);
    must("sync", [btrfs.at.path()]);
    must("btrfs", ["-q", "subvolume", "snapshot", own.to_str().unwrap(), taken.to_str().unwrap()]);
    let copy = taken.join("data");
    let before = std::fs::read(&copy).unwrap();
    for _ in 0..2 {
        let said = writes(&laboratory, &copy, &[], 3);
        assert!(said.contains("was not made by drivelab"), "{said}");
        assert!(std::fs::read(&copy).unwrap() == before, "the snapshot is as it was taken");
        // The kept file itself stays ours, also after the file system was mounted again.
        writes(&laboratory, &file, &[], 0);
        btrfs.is_mounted(false);
        btrfs.is_mounted(true);
    }
}
