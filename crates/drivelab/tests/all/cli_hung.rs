//! A file system that stops answering while a run is ended: what is waited for is said, Ctrl-C
//! stops waiting, and what stays is named and removed by the next command.

use crate::support::binary::{Laboratory, Running, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{alone, is_unavailable, require_root};
use std::process::Command;
use std::time::Duration;

/// An ext4 of our own that can be frozen: from then on every write, and every removal, waits.
struct Frozen {
    _backing: tempfile::NamedTempFile,
    device: Option<LoopDevice>,
    at: tempfile::TempDir,
}

impl Frozen {
    fn mount() -> Frozen {
        let backing = tempfile::NamedTempFile::new().unwrap();
        backing.as_file().set_len(300 << 20).unwrap();
        let device = LoopDevice::attach(backing.path());
        let at = tempfile::tempdir().unwrap();
        let node = device.path().to_str().unwrap();
        must("mkfs.ext4", ["-q", node]);
        must("mount", [node, at.path().to_str().unwrap()]);
        Frozen { _backing: backing, device: Some(device), at }
    }

    fn is_frozen(&self, how: &str) {
        must("fsfreeze", [how, self.at.path().to_str().unwrap()]);
    }

    fn scratch(&self) -> usize {
        let names = std::fs::read_dir(self.at.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("drivelab-scratch-")).count()
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // Thawed already, as a rule.
        Command::new("fsfreeze").arg("--unfreeze").arg(self.at.path()).output().ok();
        Command::new("umount").arg(self.at.path()).output().ok();
        drop(self.device.take());
    }
}

fn interrupt(running: &Running) {
    must("kill", ["-INT", &running.id().to_string()]);
}

/// Waits until it has said something, and gives all that it has said.
#[track_caller]
fn said(running: &mut Running, text: &str) {
    let comes = running.wait_for(Duration::from_secs(20), |own| own.so_far().contains(text));
    assert!(comes, "not said: {text}\n{}", running.so_far());
}

#[test]
fn a_file_system_that_hangs_is_named_while_the_run_ends() {
    let name = "a_file_system_that_hangs_is_named_while_the_run_ends";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let _alone = alone();
    let frozen = Frozen::mount();
    let laboratory = Laboratory::new();
    let at = frozen.at.path().to_str().unwrap();
    let line = ["run", at, "--rw", "randwrite", "--size", "32MiB", "--runtime", "100"];
    let mut running = laboratory.start(line);
    let writes = |_: &mut Running| frozen.scratch() == 1 && !laboratory.run_files().is_empty();
    assert!(running.wait_for(Duration::from_secs(20), writes), "{}", running.so_far());
    std::thread::sleep(Duration::from_secs(3));
    frozen.is_frozen("--freeze");
    interrupt(&running);
    said(&mut running, "the step ends when its I/O has come back, and some has not yet; Ctrl-C");
    interrupt(&running);
    said(&mut running, "interrupted; what was measured until then is kept");
    said(&mut running, "scratch is being removed, and the file system does not answer; Ctrl-C");
    interrupt(&running);
    said(&mut running, "was not waited for; if it still exists, the next command removes it");
    frozen.is_frozen("--unfreeze");
    assert!(running.wait(Duration::from_secs(20)), "it ends: {}", running.so_far());
    assert_eq!(running.finish().status, Some(130));
    // Whether the kernel made good the removal or not: after the next command nothing is left.
    let next =
        ["run", "sim:x25-e,capacity=256MiB,state=filled", "--rw", "randread", "--runtime", "100ms"];
    laboratory.run(next, Duration::from_secs(30)).expect_status(0);
    assert_eq!(frozen.scratch(), 0);
}
