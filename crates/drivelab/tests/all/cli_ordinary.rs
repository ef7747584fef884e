//! What an ordinary user without rights hears: one true sentence, and a way out.

use crate::support::loop_device::LoopDevice;
use crate::support::machine::{is_unavailable, require_root};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NOBODY: u32 = 65534;

/// A place that everybody may look into, with the binary and a home of somebody without rights.
struct Ordinary {
    place: tempfile::TempDir,
}

impl Ordinary {
    fn new() -> Ordinary {
        let place = tempfile::tempdir().unwrap();
        open_to_all(place.path());
        std::fs::copy(env!("CARGO_BIN_EXE_drivelab"), place.path().join("drivelab")).unwrap();
        let home = place.path().join("home");
        std::fs::create_dir(&home).unwrap();
        chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
        Ordinary { place }
    }

    /// A directory of root.
    fn foreign(&self) -> PathBuf {
        let path = self.place.path().join("foreign");
        std::fs::create_dir_all(&path).unwrap();
        open_to_all(&path);
        path
    }

    fn types(&self, line: &[&str]) -> Output {
        let home = self.place.path().join("home");
        // Without groups too: those of root may own the device.
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(self.place.path().join("drivelab"))
            .args(line)
            .env("HOME", &home)
            .env_remove("XDG_DATA_HOME")
            .current_dir(&home)
            .process_group(0)
            .output()
            .unwrap()
    }

    /// Status 2, nothing on stdout, and exactly these lines on stderr.
    fn hears(&self, line: &[&str], expected: &[&str]) {
        let output = self.types(line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line:?}: {said}");
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{line:?}");
        assert!(output.stdout.is_empty(), "{line:?}");
    }
}

fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_directory_without_the_right_to_write_is_told_as_a_directory() {
    let name = "a_directory_without_the_right_to_write_is_told_as_a_directory";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let user = Ordinary::new();
    let foreign = user.foreign();
    let path = foreign.to_str().unwrap();
    let told = format!("drivelab: No file can be made in {path}: Permission denied.");
    let expected =
        [&told[..], "  Name a directory in which you may write, such as one in your home."];
    user.hears(&["check", path], &expected);
    user.hears(&["study", "wsat", path], &expected);
    user.hears(&["run", path, "--rw", "randwrite", "--size", "4MiB", "--runtime", "1"], &expected);
    assert_eq!(std::fs::read_dir(&foreign).unwrap().count(), 0);
}

#[test]
fn a_device_without_the_right_to_read_has_a_way_out() {
    let name = "a_device_without_the_right_to_read_has_a_way_out";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let user = Ordinary::new();
    let backing = user.place.path().join("backing");
    std::fs::File::create(&backing).unwrap().set_len(256 << 20).unwrap();
    let device = LoopDevice::attach(&backing);
    let path = device.path().to_str().unwrap();
    let told = format!("drivelab: {path} may not be opened: Permission denied.");
    let expected = [
        &told[..],
        "  Run as root, or as a member of the group that owns it (often `disk`). Without that \
         right, name a directory on it in which you may write.",
    ];
    user.hears(&["check", path], &expected);
    user.hears(&["study", "trim", path], &expected);
    user.hears(&["run", path, "--rw", "randread", "--runtime", "1"], &expected);
    // What needs no right to read is told all the same.
    let doctor = user.types(&["doctor", path]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(matches!(doctor.status.code(), Some(0 | 1)), "{said}");
    assert!(said.contains("queue slots"), "{said}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_measurement() {
    let name = "a_report_that_cannot_be_written_is_refused_before_the_measurement";
    if is_unavailable(name) {
        return;
    }
    require_root(name);
    let user = Ordinary::new();
    let report = user.foreign().join("report.html");
    let report = report.to_str().unwrap();
    let line = ["check", "sim:x25-e,capacity=256MiB", "--out", report];
    let output = user.types(&line);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(report) && said.contains("Permission denied"), "{said}");
    assert!(output.stdout.is_empty(), "nothing was measured");
    let runs = user.place.path().join("home/.local/share/drivelab/runs");
    let count = std::fs::read_dir(runs).map_or(0, Iterator::count);
    assert_eq!(count, 0, "nothing was measured");
}
