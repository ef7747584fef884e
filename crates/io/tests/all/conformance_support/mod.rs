//! What the conformance tests share: places to do I/O on, variants of engines, and steps in a few
//! words. Whatever is attached or mounted goes away with the value that stands for it.

use drivelab_core::driver::{Driver, Setup, drivers_of};
use drivelab_core::facts::Facts;
use drivelab_core::op::Action;
use drivelab_core::plan::{Engine, Files, IoMode, Mix, Pattern, Step, Stream, Sync, Until};
use drivelab_core::queue::{Finished, Sink, Testbed, Trouble};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_io::clock::Clock;
use drivelab_io::engine::Opened;
use drivelab_io::testbed::{Handle, Opener, RealTestbed};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub const MIB: u64 = 1 << 20;
/// Bytes of the file or device that every check works on.
pub const TARGET_BYTES: u64 = 8 * MIB;
pub const SEED: u64 = 99;

/// Whether `test` stands in the list of what cannot run here, or asks for more than a visitor has;
/// then it says so.
pub fn is_unavailable(test: &str) -> bool {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/unavailable.txt");
    let list = std::fs::read_to_string(path).expect("tests/unavailable.txt");
    let mut entries = list.lines().filter(|line| !line.starts_with('#'));
    let listed = entries.find_map(|line| line.split_once(": ").filter(|entry| entry.0 == test));
    let visitor = std::env::var_os("DRIVELAB_TESTS").is_some_and(|whose| whose == "user");
    let reason = listed
        .map(|(_, reason)| reason)
        .or_else(|| visitor.then_some("it needs root; `make test` runs it"));
    if let Some(reason) = reason {
        writeln!(std::io::stderr(), "not run: {test}: {reason}").ok();
    }
    reason.is_some()
}

/// Runs a program, and panics with what it said if it fails.
pub fn must(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// A target that was made for a test.
pub struct Place {
    pub path: PathBuf,
    pub directory: Option<PathBuf>,
    /// Smallest unit of direct I/O in bytes.
    pub block: u32,
    /// Dropped in this order: what lies on another thing comes first.
    _held: Vec<Held>,
}

/// Something that must be undone.
enum Held {
    Mounted(tempfile::TempDir),
    Loop(String),
    Zram(String),
    Directory(#[allow(dead_code)] tempfile::TempDir),
}

impl Held {
    fn undo(&self) -> std::io::Result<bool> {
        let run = |program: &str, arguments: &[&str]| {
            Command::new(program).args(arguments).status().map(|status| status.success())
        };
        match self {
            Held::Mounted(directory) => run("umount", &[directory.path().to_str().unwrap_or("")]),
            Held::Loop(device) => run("losetup", &["--detach", device]),
            Held::Zram(number) => {
                std::fs::write("/sys/class/zram-control/hot_remove", number).map(|()| true)
            }
            Held::Directory(_) => Ok(true),
        }
    }
}

impl Drop for Held {
    /// At once: an engine that has ended must not hold its target any longer.
    fn drop(&mut self) {
        let undone = self.undo();
        if matches!(undone, Ok(true)) {
            return;
        }
        if let Held::Mounted(directory) = self {
            Command::new("umount").arg("-l").arg(directory.path()).status().ok();
        }
        assert!(std::thread::panicking(), "the target is still held: {undone:?}");
    }
}

fn in_memory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("drivelab-conformance-").tempdir_in("/dev/shm").unwrap()
}

fn sized(path: &Path, bytes: u64) {
    File::create(path).unwrap().set_len(bytes).unwrap();
}

fn attach(image: &Path) -> String {
    must("losetup", &["--find", "--show", image.to_str().unwrap()])
}

/// A file on tmpfs.
pub fn tmpfs() -> Place {
    let directory = in_memory();
    let path = directory.path().join("data");
    sized(&path, TARGET_BYTES);
    Place {
        path,
        directory: Some(directory.path().to_path_buf()),
        block: 512,
        _held: vec![Held::Directory(directory)],
    }
}

/// A file on ext4 on a loop device.
pub fn ext4() -> Place {
    let directory = in_memory();
    let image = directory.path().join("image");
    sized(&image, 64 * MIB);
    let device = attach(&image);
    let mut held = vec![Held::Loop(device.clone()), Held::Directory(directory)];
    must("mkfs.ext4", &["-q", "-F", &device]);
    let mount = tempfile::Builder::new().prefix("drivelab-conformance-").tempdir().unwrap();
    must("mount", &[&device, mount.path().to_str().unwrap()]);
    let root = mount.path().to_path_buf();
    held.insert(0, Held::Mounted(mount));
    let path = root.join("data");
    std::fs::write(&path, vec![0; TARGET_BYTES as usize]).unwrap();
    Place { path, directory: Some(root), block: 512, _held: held }
}

/// A loop device on tmpfs.
pub fn loop_device() -> Place {
    let directory = in_memory();
    let image = directory.path().join("image");
    sized(&image, TARGET_BYTES);
    let device = attach(&image);
    let held = vec![Held::Loop(device.clone()), Held::Directory(directory)];
    Place { path: device.into(), directory: None, block: 512, _held: held }
}

/// A compressed memory device of a test's own.
pub fn zram() -> Place {
    let number = std::fs::read_to_string("/sys/class/zram-control/hot_add")
        .expect("no zram here: load the module, or list the test in tests/unavailable.txt");
    let number = number.trim().to_string();
    let held = vec![Held::Zram(number.clone())];
    let size = format!("/sys/block/zram{number}/disksize");
    std::fs::write(size, TARGET_BYTES.to_string()).unwrap();
    let path = format!("/dev/zram{number}").into();
    Place { path, directory: None, block: 4096, _held: held }
}

/// One way to do I/O.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    pub name: &'static str,
    pub engine: Engine,
    pub io: IoMode,
    pub depth: u32,
    pub sqpoll: bool,
    pub iopoll: bool,
    pub unregistered: bool,
    pub nonblocking: bool,
}

const PLAIN: Variant = Variant {
    name: "io_uring",
    engine: Engine::IoUring,
    io: IoMode::Direct,
    depth: 8,
    sqpoll: false,
    iopoll: false,
    unregistered: false,
    nonblocking: false,
};

pub const IO_URING: Variant = PLAIN;
pub const IO_URING_UNREGISTERED: Variant =
    Variant { name: "io_uring unregistered", unregistered: true, ..PLAIN };
pub const IO_URING_SQPOLL: Variant = Variant { name: "io_uring sqpoll", sqpoll: true, ..PLAIN };
pub const IO_URING_NONBLOCKING: Variant =
    Variant { name: "io_uring nonblocking", nonblocking: true, ..PLAIN };
pub const IO_URING_BUFFERED: Variant =
    Variant { name: "io_uring buffered", io: IoMode::Buffered, ..PLAIN };
pub const IO_URING_IOPOLL: Variant = Variant { name: "io_uring iopoll", iopoll: true, ..PLAIN };
pub const LIBAIO: Variant = Variant { name: "libaio", engine: Engine::Libaio, ..PLAIN };
pub const PSYNC: Variant = Variant { name: "psync", engine: Engine::Psync, depth: 1, ..PLAIN };
pub const PSYNC_BUFFERED: Variant =
    Variant { name: "psync buffered", io: IoMode::Buffered, ..PSYNC };
pub const MMAP: Variant =
    Variant { name: "mmap", engine: Engine::Mmap, io: IoMode::Buffered, ..PSYNC };
pub const STDIO: Variant =
    Variant { name: "stdio", engine: Engine::Stdio, io: IoMode::Buffered, ..PSYNC };

impl Variant {
    /// An engine in its plain way.
    pub fn of(engine: Engine) -> Variant {
        let is_cached = engine.traits().is_through_page_cache;
        Variant {
            name: engine.word(),
            engine,
            io: if is_cached { IoMode::Buffered } else { IoMode::Direct },
            depth: if engine.is_asynchronous() { PLAIN.depth } else { 1 },
            ..PLAIN
        }
    }

    pub fn is_cached_only(&self) -> bool {
        self.engine.traits().is_through_page_cache
    }

    /// 4 KiB requests in this way.
    pub fn stream(&self, pattern: Pattern, mix: Mix) -> Stream {
        Stream {
            engine: self.engine,
            io: self.io,
            depth: self.depth,
            sqpoll: self.sqpoll,
            iopoll: self.iopoll,
            unregistered: self.unregistered,
            pattern,
            mix,
            size: Size(4096),
            ..Stream::default()
        }
    }
}

/// Opens `path` as a stream asks; `bytes` is what the engine is told of its length.
pub fn open(path: &Path, stream: &Stream, nonblocking: bool, bytes: Option<u64>) -> Opened {
    let mut flags = 0;
    if stream.io == IoMode::Direct {
        flags |= libc::O_DIRECT;
    }
    if stream.sync == Sync::Dsync {
        flags |= libc::O_DSYNC;
    }
    if nonblocking {
        flags |= libc::O_NONBLOCK;
    }
    let mut file =
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).unwrap();
    let is_device = file.metadata().unwrap().file_type().is_block_device();
    let length = file.seek(SeekFrom::End(0)).unwrap();
    file.rewind().unwrap();
    Opened {
        commands: None,
        others: Vec::new(),
        descriptor: file.into(),
        is_device,
        data_only: matches!(stream.sync, Sync::Fdatasync(_)),
        zone_bytes: 0,
        bytes: bytes.unwrap_or(length),
    }
}

/// A clock that all tests of a binary share.
pub fn clock() -> Clock {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    *CLOCK.get_or_init(|| Clock::calibrate().0)
}

/// A testbed on one file or device.
pub fn testbed(path: &Path, nonblocking: bool, bytes: Option<u64>) -> RealTestbed {
    let path = path.to_path_buf();
    let opener: Opener = Box::new(move |setup: &Setup| {
        let opened = open(&path, &setup.stream, nonblocking, bytes);
        Ok(Handle::Data { opened, nonblocking })
    });
    RealTestbed::new(Facts::default(), clock(), opener)
}

pub fn operations(count: u64) -> Until {
    Until { operations: Some(count), ..Until::default() }
}

pub fn passes(count: u64) -> Until {
    Until { passes: Some(count), ..Until::default() }
}

pub fn elapsed(span: Span) -> Until {
    Until { elapsed: Some(span), ..Until::default() }
}

/// Drivers of one stream that believe in files of `bytes`.
pub fn drivers(stream: Stream, until: Until, interval: Span, bytes: u64) -> Vec<Driver> {
    let step = Step { name: "test".into(), until, streams: vec![stream], ..Step::default() };
    drivers_of(&step, 0, SEED, interval, bytes).unwrap()
}

/// Adds up what is handed over.
#[derive(Default)]
pub struct Sum {
    pub total: Option<Tally>,
    pub intervals: u64,
    pub asked: u64,
    /// Says no after this many questions.
    pub patience: Option<u64>,
    /// How long each hand-over takes.
    pub slowness: std::time::Duration,
}

impl Sink for Sum {
    fn tally(&mut self, tally: &Tally) {
        std::thread::sleep(self.slowness);
        self.intervals += 1;
        match &mut self.total {
            Some(total) => total.merge(tally),
            None => self.total = Some(tally.clone()),
        }
    }

    fn go_on(&mut self) -> bool {
        self.asked += 1;
        self.patience.is_none_or(|patience| self.asked < patience)
    }
}

impl Sum {
    pub fn total(&self) -> &Tally {
        self.total.as_ref().expect("some tally")
    }

    pub fn ops(&self, kind: Action) -> u64 {
        let mut kinds = self.total().kinds.iter();
        kinds.find(|tally| tally.kind == kind).map_or(0, |tally| tally.ops)
    }
}

/// What a step left behind.
pub struct Ran {
    pub sum: Sum,
    pub finished: Vec<Finished>,
}

impl Ran {
    pub fn issued(&self) -> u64 {
        self.finished.iter().map(|one| one.phase.issued).sum()
    }
}

/// Runs one stream on a file or device of [`TARGET_BYTES`].
pub fn run(place: &Place, variant: &Variant, stream: Stream, until: Until) -> Ran {
    try_run(place, variant, stream, until, Sum::default()).unwrap()
}

/// The same with a sink of the caller's, and with whatever went wrong.
pub fn try_run(
    place: &Place,
    variant: &Variant,
    stream: Stream,
    until: Until,
    mut sum: Sum,
) -> Result<Ran, Trouble> {
    assert_eq!(stream.files, Files::One);
    let drivers = drivers(stream, until, Span(100_000_000), TARGET_BYTES);
    let mut testbed = testbed(&place.path, variant.nonblocking, None);
    let finished = testbed.run(drivers, &mut sum)?;
    for one in &finished {
        assert_eq!(one.driver.failure(), None, "{}", variant.name);
    }
    Ok(Ran { sum, finished })
}
