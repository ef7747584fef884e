//! Loop devices, mounts and child processes for the tests of guard and scratch; all of them go
//! away with their test, also when it fails.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use drivelab_io::facts::System;
use drivelab_io::guard::{Intent, Kind, Refusal};
use drivelab_io::opening::{OpenRequest, Target, open_target};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

/// The reason that stands next to `name` in tests/unavailable.txt.
pub fn unavailable(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/unavailable.txt");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(listed, _)| listed.trim() == name).map(|(_, reason)| reason.trim().to_owned())
}

/// True if the test may run; a test that cannot fails, unless it is listed as unavailable.
pub fn possible(name: &str) -> bool {
    for listed in [name, "needs-root"] {
        if let Some(reason) = unavailable(listed) {
            eprintln!("skipped {name}: {listed}: {reason} (tests/unavailable.txt)");
            return false;
        }
    }
    let visitor = std::env::var_os("DRIVELAB_TESTS").is_some_and(|whose| whose == "user");
    let is_root = rustix::process::geteuid().is_root();
    if visitor && !is_root {
        eprintln!("not run: {name}: needs root");
        return false;
    }
    assert!(
        is_root,
        "{name} needs root: run as root, or list `needs-root: reason` in tests/unavailable.txt"
    );
    true
}

/// Runs a command that must succeed; returns its output.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program} cannot be started ({error}): install it"));
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {text} {errors}");
    text
}

/// A temporary directory with a ledger.
pub struct Room {
    pub directory: TempDir,
}

impl Room {
    pub fn new() -> Room {
        Room { directory: tempfile::Builder::new().prefix("drivelab-test-").tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn ledger(&self) -> PathBuf {
        self.path("data/drivelab/scratch.jsonl")
    }

    pub fn request(&self, path: impl Into<PathBuf>, intent: Intent) -> OpenRequest {
        OpenRequest::new(path, intent, self.ledger())
    }

    pub fn write(&self, path: impl Into<PathBuf>, token: Option<&str>) -> Result<Target, Refusal> {
        let mut request = self.request(path, Intent::Write);
        request.erase = token.map(str::to_owned);
        open_target(&System::live(), &request)
    }

    /// Names of the files in the room, without the ledger's.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "data");
        names.sort();
        names
    }
}

/// A loop device, detached at the end.
pub struct Loop {
    pub node: String,
    pub backing: PathBuf,
}

impl Loop {
    pub fn on_new_file(room: &Room, name: &str, bytes: u64) -> Loop {
        let backing = room.path(name);
        File::create(&backing).unwrap().set_len(bytes).unwrap();
        Loop::on(&backing, &[])
    }

    pub fn on(backing: &Path, options: &[&str]) -> Loop {
        let mut arguments = vec!["--find", "--show"];
        arguments.extend(options);
        let text = backing.to_str().unwrap();
        arguments.push(text);
        // Two tests may be told of the same free device: the loser tries again.
        for _ in 0..20 {
            let output = Command::new("losetup").args(&arguments).output().unwrap();
            if output.status.success() {
                let node = String::from_utf8(output.stdout).unwrap().trim().to_owned();
                return Loop { node, backing: backing.to_owned() };
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("losetup {arguments:?} finds no device");
    }

    pub fn mkfs(&self, kind: &str) {
        run(&format!("mkfs.{kind}"), &["-q", &self.node]);
    }

    pub fn ext4(room: &Room, name: &str) -> Loop {
        let device = Loop::on_new_file(room, name, 16 * MIB);
        device.mkfs("ext4");
        device
    }

    /// `loop3` of `/dev/loop3`.
    pub fn name(&self) -> &str {
        self.node.strip_prefix("/dev/").unwrap()
    }

    pub fn token(&self, types: &str) -> String {
        let bytes = std::fs::metadata(&self.backing).unwrap();
        let bytes = match bytes.file_type().is_block_device() {
            true => run("blockdev", &["--getsize64", &self.node]).parse().unwrap(),
            false => bytes.len(),
        };
        let medium = format!("{}:{bytes}:{}", self.name(), self.medium());
        match types {
            "" => medium,
            types => format!("{medium}:{types}"),
        }
    }

    /// What tells this medium: the UUID that libblkid finds on it, or the kernel's number.
    pub fn medium(&self) -> String {
        let line = ["-p", "-o", "value", "-s", "UUID", &self.node];
        let found = std::process::Command::new("blkid").args(line).output().unwrap();
        let uuid = String::from_utf8(found.stdout).unwrap();
        let number = format!("/sys/block/{}/diskseq", self.name());
        match uuid.trim() {
            "" => format!("seq-{}", std::fs::read_to_string(number).unwrap().trim()),
            uuid => format!("uuid-{uuid}"),
        }
    }

    pub fn hash(&self) -> u64 {
        hash(Path::new(&self.node))
    }

    pub fn mount(&self, at: PathBuf, options: &str) -> Mounted {
        std::fs::create_dir_all(&at).unwrap();
        run("mount", &["-o", options, &self.node, at.to_str().unwrap()]);
        Mounted { at }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let file = format!("/sys/class/block/{}/loop/backing_file", self.name());
        let before = std::fs::read_to_string(&file);
        let _ = Command::new("losetup").args(["-d", &self.node]).output();
        // Another test's guard may look at it right now: the kernel then detaches it at the close.
        for _ in 0..100 {
            match (std::fs::read_to_string(&file), &before) {
                (Ok(now), Ok(before)) if now == *before => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                _ => break,
            }
        }
    }
}

/// A mount, undone at the end.
pub struct Mounted {
    pub at: PathBuf,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).output();
    }
}

/// A swap area, left at the end.
pub struct Swapping(pub String);

impl Drop for Swapping {
    fn drop(&mut self) {
        let _ = Command::new("swapoff").arg(&self.0).output();
    }
}

/// A hash of all bytes of a file or device.
pub fn hash(path: &Path) -> u64 {
    let mut file = File::open(path).unwrap();
    let mut hasher = DefaultHasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return hasher.finish(),
            count => hasher.write(&buffer[..count]),
        }
    }
}

/// Makes a node of our own for a device.
pub fn own_node(of: &str, at: &Path) {
    let number = std::fs::metadata(of).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    run("mknod", &[at.to_str().unwrap(), "b", &major.to_string(), &minor.to_string()]);
}

/// The refusal of something that must be refused for safety with `code`.
#[track_caller]
pub fn refused(outcome: Result<Target, Refusal>, code: &str) -> Refusal {
    let refusal = outcome.map(|target| target.path.clone()).expect_err("must be refused");
    assert_eq!((refusal.kind, refusal.code), (Kind::Safety, code), "{refusal}");
    assert_eq!(refusal.exit_status(), 3);
    assert!(refusal.to_string().starts_with("refused: "), "{refusal}");
    assert!(refusal.to_string().contains("\n  Nothing was written. "), "{refusal}");
    refusal
}

/// The same for a wrong request.
#[track_caller]
pub fn misused(outcome: Result<Target, Refusal>, code: &str) -> Refusal {
    let refusal = outcome.map(|target| target.path.clone()).expect_err("must be refused");
    assert_eq!((refusal.kind, refusal.code), (Kind::Usage, code), "{refusal}");
    assert_eq!(refusal.exit_status(), 2);
    assert!(!refusal.to_string().starts_with("refused"), "{refusal}");
    refusal
}

/// A child that runs one `child_…` test of this very test program, named with its module, and says
/// when it is ready.
pub struct ChildProcess(pub Child);

impl ChildProcess {
    pub fn start(test: &str, variables: &[(&str, &str)]) -> ChildProcess {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]);
        command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.any(|line| line.unwrap().contains("READY"));
        assert!(ready, "the child {test} did not get ready");
        ChildProcess(child)
    }

    /// Ends it as a power cut would: nothing is cleaned up.
    pub fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In a child: says that it is ready and waits for the end of its input.
pub fn ready_and_wait() {
    println!("READY");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
}

/// Opens a device for writing as another program would, with or without `O_EXCL`.
pub fn grab(node: &str, exclusive: bool) -> File {
    let flags = if exclusive { libc::O_EXCL } else { 0 };
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(node).unwrap()
}

/// Sets an open-file-description lock (shared, one byte) as virtual machines do on images.
pub fn record_lock(file: &File) {
    use std::os::fd::AsRawFd;
    // SAFETY: plain integers, for which all zero bytes are a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_RDLCK as libc::c_short;
    (lock.l_start, lock.l_len) = (100, 1);
    // SAFETY: the descriptor is open and the kernel only reads one `struct flock`.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    assert_eq!(answer, 0, "{}", std::io::Error::last_os_error());
}
