//! A drive that fails, falls silent, goes away or fills up: a clear end, and nothing left behind.

use crate::support::binary::{Laboratory, Outcome, must};
use crate::support::loop_device::LoopDevice;
use crate::support::machine::{Mount, is_unavailable, require_root};
use crate::support::stalling_file::{Fault, Schedule, StallingFile};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const ECONNABORTED: i32 = 103;
const ENOTCONN: i32 = 107;
/// Far longer than any of these runs; a run that needs it hangs.
const PATIENCE: Duration = Duration::from_secs(40);
/// Requests that are answered well, more than drivelab reads before it measures.
const GOOD_REQUESTS: u64 = 3000;

/// A loop device over a FUSE file; dropped in this order.
struct BrokenDrive {
    device: LoopDevice,
    file: StallingFile,
}

impl BrokenDrive {
    fn new(fault: Fault) -> BrokenDrive {
        let service = Duration::from_micros(50);
        let file =
            StallingFile::mount(Schedule { service, servers: 2, fault, ..Default::default() });
        let device = LoopDevice::attach_with(&file.path(), &["--direct-io=on"]);
        file.arm();
        BrokenDrive { device, file }
    }

    fn path(&self) -> &str {
        self.device.path().to_str().expect("UTF-8")
    }
}

impl Drop for BrokenDrive {
    fn drop(&mut self) {
        // Releases whatever the kernel still holds, so that the device can be detached.
        self.file.vanish_if_there();
    }
}

fn is_left_out(test: &str) -> bool {
    if is_unavailable(test) {
        return true;
    }
    require_root(test);
    false
}

/// Status 4, a sentence for a person, and a run file that says it is incomplete or has errors.
fn assert_clear_end(laboratory: &Laboratory, outcome: Outcome, words: &[&str]) {
    let outcome = outcome.expect_status(4);
    outcome.expect_plain_words();
    let said = outcome.stderr.to_lowercase();
    assert!(words.iter().any(|word| said.contains(word)), "none of {words:?} in: {said}");
    let file = laboratory.only_run();
    let end = file.run.end.as_ref().expect("the run file is closed");
    assert_eq!(end.status, 4, "{end:?}");
}

fn read_for_20_s(target: &str, engine: &str, depth: &str) -> Vec<String> {
    let options = ["--rw", "randread", "--bs", "4k", "--runtime", "20", "--stuck-after", "5"];
    let chosen = ["--engine", engine, "--depth", depth, "--json"];
    let line = ["run", target].into_iter().chain(options).chain(chosen);
    line.map(str::to_string).collect()
}

fn assert_read_errors_end_the_run(engine: &str, depth: &str) {
    let drive = BrokenDrive::new(Fault::Errors { from_request: GOOD_REQUESTS, errno: EIO });
    let laboratory = Laboratory::new();
    let outcome = laboratory.run(read_for_20_s(drive.path(), engine, depth), PATIENCE);
    assert_clear_end(&laboratory, outcome, &["eio", "input/output error"]);
}

#[test]
fn psync_read_errors_end_the_run() {
    if !is_left_out("psync_read_errors_end_the_run") {
        assert_read_errors_end_the_run("psync", "1");
    }
}

#[test]
fn io_uring_read_errors_end_the_run() {
    if !is_left_out("io_uring_read_errors_end_the_run") {
        assert_read_errors_end_the_run("io_uring", "8");
    }
}

#[test]
fn libaio_read_errors_end_the_run() {
    if !is_left_out("libaio_read_errors_end_the_run") {
        assert_read_errors_end_the_run("libaio", "8");
    }
}

/// The watchdog must name the operation and close the run. Where the kernel holds the process,
/// drivelab must say so, and end as soon as the kernel lets go.
fn assert_silence_ends_the_run(engine: &str, depth: &str) {
    let drive = BrokenDrive::new(Fault::Silent { from_request: GOOD_REQUESTS });
    let laboratory = Laboratory::new();
    let mut running = laboratory.start(read_for_20_s(drive.path(), engine, depth));
    assert!(
        running.wait_for(PATIENCE, |running| running.has_ended() || !running.so_far().is_empty()),
        "neither an end nor a word {PATIENCE:?} after the drive fell silent"
    );
    assert!(drive.file.unanswered() > 0, "the drive did not fall silent: {}", running.so_far());
    if !running.wait(Duration::from_secs(5)) {
        let said = running.so_far().to_lowercase();
        assert!(said.contains("kernel"), "held by the kernel, and did not say so: {said}");
        drive.file.vanish();
        assert!(running.wait(Duration::from_secs(10)), "the kernel let go, and no end: {said}");
    }
    assert_clear_end(&laboratory, running.finish(), &["no completion", "not completed", "stuck"]);
}

#[test]
fn psync_on_a_silent_drive_ends() {
    if !is_left_out("psync_on_a_silent_drive_ends") {
        assert_silence_ends_the_run("psync", "1");
    }
}

#[test]
fn io_uring_on_a_silent_drive_ends() {
    if !is_left_out("io_uring_on_a_silent_drive_ends") {
        assert_silence_ends_the_run("io_uring", "8");
    }
}

fn assert_removal_ends_the_run(engine: &str, depth: &str) {
    let drive = BrokenDrive::new(Fault::Vanishes { at_request: GOOD_REQUESTS });
    let laboratory = Laboratory::new();
    let outcome = laboratory.run(read_for_20_s(drive.path(), engine, depth), PATIENCE);
    assert_clear_end(&laboratory, outcome, &["eio", "input/output error", "removed", "enotconn"]);
}

#[test]
fn psync_on_a_drive_that_goes_away_ends() {
    if !is_left_out("psync_on_a_drive_that_goes_away_ends") {
        assert_removal_ends_the_run("psync", "1");
    }
}

#[test]
fn io_uring_on_a_drive_that_goes_away_ends() {
    if !is_left_out("io_uring_on_a_drive_that_goes_away_ends") {
        assert_removal_ends_the_run("io_uring", "8");
    }
}

/// What a directory holds but for what mkfs made.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let names =
        entries.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"));
    names.filter(|name| name != "lost+found").collect()
}

/// A small ext4 without a journal: its metadata lies in the first MiB.
fn make_ext4(device: &str) {
    must("mkfs.ext4", ["-q", "-F", "-O", "^has_journal", "-m", "0", device]);
}

#[test]
fn write_errors_leave_no_scratch() {
    if is_left_out("write_errors_leave_no_scratch") {
        return;
    }
    let bad = Fault::BadBytes { bytes: 24 << 20..60 << 20, errno: EIO };
    let drive = BrokenDrive::new(bad);
    // mkfs clears parts of the device: the fault begins after it.
    make_ext4_before_fault(&drive);
    let mount = Mount::new(&["-o", "errors=continue", drive.path()]);
    let laboratory = Laboratory::new();
    let directory = mount.path().to_str().expect("UTF-8");
    let line = ["run", directory, "--size", "48M", "--rw", "randwrite", "--bs", "4k"];
    let limits = ["--engine", "psync", "--depth", "1", "--runtime", "10", "--stuck-after", "5"];
    let outcome = laboratory.run(line.into_iter().chain(limits), PATIENCE).expect_status(4);
    outcome.expect_plain_words();
    assert_eq!(names_in(mount.path()), [""; 0], "scratch is left: {}", outcome.stderr);
}

fn make_ext4_before_fault(drive: &BrokenDrive) {
    drive.file.disarm();
    make_ext4(drive.path());
    drive.file.arm();
}

#[test]
fn a_full_file_system_leaves_no_scratch() {
    if is_left_out("a_full_file_system_leaves_no_scratch") {
        return;
    }
    let memory = Mount::tmpfs(100);
    let backing = memory.join("drive");
    std::fs::File::create(&backing).and_then(|file| file.set_len(64 << 20)).expect("backing");
    let device = LoopDevice::attach(&backing);
    let device_path = device.path().to_str().expect("UTF-8");
    make_ext4(device_path);
    let mount = Mount::new(&[device_path]);
    let laboratory = Laboratory::new();
    let target = mount.join("data");
    let line = ["run", target.to_str().expect("UTF-8"), "--size", "40M", "--rw", "write"];
    // Slow enough that the other one has all the space long before the 40 MiB are written.
    let more = ["--bs", "64k", "--engine", "psync", "--io", "buffered", "--runtime", "20"];
    let pace = ["--rate", "50"];
    let mut running = laboratory.start(line.into_iter().chain(more).chain(pace));
    let appeared = running.wait_for(PATIENCE, |running| running.has_ended() || target.exists());
    assert!(appeared, "no scratch file: {}", running.so_far());
    fill_up(&mount.join("ballast"));
    assert!(running.wait(PATIENCE), "no end on a full file system: {}", running.so_far());
    let outcome = running.finish();
    let outcome = outcome.expect_status(4);
    outcome.expect_plain_words();
    let said = outcome.stderr.to_lowercase();
    assert!(said.contains("enospc") || said.contains("no space"), "{said}");
    assert_eq!(names_in(mount.path()), ["ballast"], "scratch is left: {}", outcome.stderr);
}

/// Writes until the file system is full.
fn fill_up(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).expect("ballast");
    let piece = vec![0; 64 << 10];
    while file.write_all(&piece).is_ok() {}
}

/// A loop device turns every error into EIO, so that here the file itself is the target.
#[test]
fn no_space_reported_by_the_drive_ends_the_run() {
    if is_left_out("no_space_reported_by_the_drive_ends_the_run") {
        return;
    }
    let fault = Fault::Errors { from_request: GOOD_REQUESTS, errno: ENOSPC };
    let file = StallingFile::mount(Schedule { fault, ..Schedule::default() });
    file.arm();
    let path = file.path();
    let laboratory = Laboratory::new();
    let line = read_for_20_s(path.to_str().expect("UTF-8"), "psync", "1");
    let outcome = laboratory.run(line, PATIENCE);
    assert_clear_end(&laboratory, outcome, &["enospc", "no space"]);
}

#[test]
fn a_file_unlinked_in_the_middle_is_said() {
    let memory = tempfile::tempdir().expect("a directory");
    let target = memory.path().join("data");
    std::fs::write(&target, vec![1; 16 << 20]).expect("a file");
    let laboratory = Laboratory::new();
    let line = ["run", target.to_str().expect("UTF-8"), "--rw", "randread", "--bs", "4k"];
    let more = ["--engine", "psync", "--io", "buffered", "--runtime", "3"];
    let mut running = laboratory.start(line.into_iter().chain(more));
    assert!(!running.wait(Duration::from_millis(1500)), "ended early: {}", running.so_far());
    std::fs::remove_file(&target).expect("unlink");
    assert!(running.wait(PATIENCE), "no end: {}", running.so_far());
    assert_clear_end(&laboratory, running.finish(), &["removed"]);
}

/// Each planted fault is what a reader of the device really meets.
#[test]
fn the_planted_faults_reach_the_device() {
    if is_left_out("the_planted_faults_reach_the_device") {
        return;
    }
    for (fault, errno_of_file) in [
        (Fault::Errors { from_request: 0, errno: EIO }, EIO),
        (Fault::Errors { from_request: 0, errno: ENOSPC }, ENOSPC),
        (Fault::BadBytes { bytes: 0..8192, errno: EIO }, EIO),
        (Fault::Vanishes { at_request: 0 }, ECONNABORTED),
    ] {
        let drive = BrokenDrive::new(fault.clone());
        for (path, errno) in [(drive.file.path(), errno_of_file), (drive.path().into(), EIO)] {
            let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut [0; 4096]));
            let code = read.expect_err("a read of a broken drive").raw_os_error();
            let gone = matches!(fault, Fault::Vanishes { .. });
            assert!(code == Some(errno) || gone && code == Some(ENOTCONN), "{fault:?}: {code:?}");
        }
    }
}
