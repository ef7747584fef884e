//! A file that answers by a planted schedule: one file in a FUSE mount, served by this process.
//!
//! The server keeps its own log with CLOCK_MONOTONIC stamps, so that a test can hold what
//! drivelab reports against what really happened.

pub use super::one_file::FILE_NAME;
use super::one_file::{FILE, ROOT, attributes};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, Request, Session, WriteFlags,
};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::ffi::OsStr;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

/// A request that arrives this soon after the last answer was waiting, as far as a server can
/// know: it is served as if it had come at that answer, so that a backlog drains at one request
/// each service time. Longer than a client on a busy machine needs to come back (3 % took more
/// than 150 µs, and up to 500), shorter than the idle time between requests that come each 1 ms.
const BACK_TO_BACK_NS: u64 = 600_000;
/// The last part of a wait is spun: sleeping alone is not exact enough.
const SPIN_NS: u64 = 60_000;

/// When requests are answered, and how.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Bytes of the file.
    pub bytes: usize,
    /// From the beginning of service to the answer.
    pub service: Duration,
    /// From the mount to the first stall; no stalls if `None`.
    pub first_stall: Option<Duration>,
    /// From one stall's beginning to the next one's.
    pub stall_every: Duration,
    /// Length of each stall.
    pub stall_length: Duration,
    /// Requests served at a time.
    pub servers: usize,
    /// What is wrong with the drive.
    pub fault: Fault,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            bytes: 64 << 20,
            service: Duration::from_micros(200),
            first_stall: None,
            stall_every: Duration::from_secs(7),
            stall_length: Duration::from_millis(750),
            servers: 1,
            fault: Fault::None,
        }
    }
}

/// What is wrong with the drive. Requests are reads and writes, counted from 0 since
/// [`StallingFile::arm`].
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing.
    None,
    /// Answers this errno from a request on.
    Errors { from_request: u64, errno: i32 },
    /// Answers this errno where the request touches these bytes.
    BadBytes { bytes: Range<u64>, errno: i32 },
    /// Takes requests and does not answer them.
    Silent { from_request: u64 },
    /// The connection is cut.
    Vanishes { at_request: u64 },
}

/// One stall that made at least one request wait; CLOCK_MONOTONIC nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its beginning by the schedule.
    pub from: u64,
    /// Its end, as observed by the server when it went on.
    pub to: u64,
}

/// One request as the server saw it; CLOCK_MONOTONIC nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// Taken from the kernel.
    pub read_at: u64,
    /// Service began.
    pub began: u64,
    /// Just before the answer.
    pub answered: u64,
    /// First byte.
    pub offset: u64,
    /// Whether it was a write.
    pub is_write: bool,
}

/// CLOCK_MONOTONIC now, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

/// Real-time priority for the servers: other work on the machine must not become a stall of the
/// drive that no schedule planted.
///
/// Never called by a server itself: a child that is about to exec closes its copies of our files,
/// which waits for an answer of the server, which would wait for that exec.
pub fn let_servers_go_first() {
    for entry in std::fs::read_dir("/proc/self/task").expect("our threads") {
        let task = entry.expect("a thread");
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        if !name.starts_with("fuser-") || name.trim() == "fuser-bg" {
            continue;
        }
        let thread = task.file_name();
        let changed = Command::new("chrt").args(["--fifo", "--pid", "10"]).arg(thread).status();
        assert!(changed.is_ok_and(|status| status.success()), "chrt (util-linux): needs root");
    }
}

fn wait_until(deadline_ns: u64) {
    let now = monotonic_ns();
    if now + SPIN_NS < deadline_ns {
        std::thread::sleep(Duration::from_nanos(deadline_ns - now - SPIN_NS));
    }
    while monotonic_ns() < deadline_ns {
        std::hint::spin_loop();
    }
}

struct Log {
    stalls: Vec<Stall>,
    served: Vec<Served>,
}

/// Replies that are kept unanswered: dropping one would answer it.
enum Unanswered {
    Read(#[expect(dead_code, reason = "held, never read")] ReplyData),
    Write(#[expect(dead_code, reason = "held, never read")] ReplyWrite),
}

/// What the server's threads share with the test.
struct Shared {
    schedule: Schedule,
    mounted_at: u64,
    is_armed: AtomicBool,
    requests: AtomicU64,
    log: Mutex<Log>,
    data: RwLock<Vec<u8>>,
    unanswered: Mutex<Vec<Unanswered>>,
    abort: OnceLock<PathBuf>,
}

enum Answer {
    Good,
    Error(Errno),
    Never,
}

impl Shared {
    /// Where `time` lies in a stall, the stall.
    fn stall_at(&self, time: u64) -> Option<Stall> {
        let first = self.mounted_at + nanoseconds(self.schedule.first_stall?);
        let number = time.checked_sub(first)? / nanoseconds(self.schedule.stall_every);
        let from = first + number * nanoseconds(self.schedule.stall_every);
        let to = from + nanoseconds(self.schedule.stall_length);
        (time < to).then_some(Stall { from, to })
    }

    /// Waits as the schedule says, writes the log, and says how to answer.
    fn serve(&self, last_answer: u64, offset: u64, bytes: u64, is_write: bool) -> (Answer, u64) {
        let read_at = monotonic_ns();
        let waited = read_at.saturating_sub(last_answer) < BACK_TO_BACK_NS;
        let mut began = if waited { last_answer } else { read_at };
        if let Some(stall) = self.stall_at(began.max(last_answer)) {
            wait_until(stall.to);
            began = stall.to;
            let seen = Stall { from: stall.from, to: monotonic_ns() };
            let mut log = self.log.lock().expect("log");
            if log.stalls.last().is_none_or(|last| last.from != stall.from) {
                log.stalls.push(seen);
            }
        }
        let deadline = began + nanoseconds(self.schedule.service);
        wait_until(deadline);
        // A server that was itself delayed goes on from now: it does not catch up in a burst.
        let answered = monotonic_ns();
        let last = if answered - deadline < BACK_TO_BACK_NS { deadline } else { answered };
        self.log.lock().expect("log").served.push(Served {
            read_at,
            began,
            answered,
            offset,
            is_write,
        });
        (self.answer(offset, bytes), last)
    }

    fn answer(&self, offset: u64, bytes: u64) -> Answer {
        if !self.is_armed.load(Ordering::SeqCst) {
            return Answer::Good;
        }
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        match &self.schedule.fault {
            Fault::Errors { from_request, errno } if number >= *from_request => {
                Answer::Error(Errno::from_i32(*errno))
            }
            Fault::BadBytes { bytes: bad, errno }
                if offset < bad.end && bad.start < offset + bytes =>
            {
                Answer::Error(Errno::from_i32(*errno))
            }
            Fault::Silent { from_request } if number >= *from_request => Answer::Never,
            Fault::Vanishes { at_request } if number == *at_request => {
                self.cut().expect("cut the FUSE connection");
                Answer::Never
            }
            _ => Answer::Good,
        }
    }

    /// Aborts the FUSE connection.
    fn cut(&self) -> std::io::Result<()> {
        let abort = self.abort.get().ok_or(std::io::ErrorKind::NotFound)?;
        std::fs::write(abort, "1")
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        attributes(inode, self.schedule.bytes as u64)
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("a span of less than 584 years")
}

thread_local! {
    /// When this server's last answer was due.
    static LAST_ANSWER: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

struct Server(Arc<Shared>);

impl Server {
    fn serve(&self, offset: u64, bytes: u64, is_write: bool) -> Answer {
        if LAST_ANSWER.get() == 0 {
            // The default slack of 50 µs would be a quarter of a service time.
            rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).expect("timer slack");
        }
        let (answer, last) = self.0.serve(LAST_ANSWER.get(), offset, bytes, is_write);
        LAST_ANSWER.set(last);
        answer
    }
}

const TTL: Duration = Duration::from_secs(3600);

impl Filesystem for Server {
    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match parent == ROOT && name == FILE_NAME {
            true => reply.entry(&TTL, &self.0.attributes(FILE), Generation(0)),
            false => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&TTL, &self.0.attributes(inode));
    }

    fn open(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.serve(offset, u64::from(size), false) {
            Answer::Good => {
                let data = self.0.data.read().expect("data");
                let from = (offset as usize).min(data.len());
                reply.data(&data[from..data.len().min(from + size as usize)]);
            }
            Answer::Error(errno) => reply.error(errno),
            Answer::Never => {
                self.0.unanswered.lock().expect("unanswered").push(Unanswered::Read(reply));
            }
        }
    }

    fn write(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        bytes: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.serve(offset, bytes.len() as u64, true) {
            Answer::Good => {
                let mut data = self.0.data.write().expect("data");
                let from = offset as usize;
                match data.get_mut(from..from + bytes.len()) {
                    Some(place) => {
                        place.copy_from_slice(bytes);
                        reply.written(bytes.len() as u32);
                    }
                    None => reply.error(Errno::ENOSPC),
                }
            }
            Answer::Error(errno) => reply.error(errno),
            Answer::Never => {
                self.0.unanswered.lock().expect("unanswered").push(Unanswered::Write(reply));
            }
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}

/// The mounted file. Dropping it cuts the connection and unmounts.
pub struct StallingFile {
    shared: Arc<Shared>,
    directory: tempfile::TempDir,
    session: Option<BackgroundSession>,
}

impl StallingFile {
    /// Mounts a file with this schedule. Needs root and /dev/fuse.
    pub fn mount(schedule: Schedule) -> StallingFile {
        mount_fuse_control();
        let mut prefix = tempfile::Builder::new();
        let directory = prefix.prefix("drivelab-fuse-").tempdir().expect("a place to mount on");
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("drivelab-test".into()),
            MountOption::Subtype("drivelab-test".into()),
            MountOption::NoAtime,
        ];
        config.n_threads = Some(schedule.servers);
        let mut data = vec![0; schedule.bytes];
        fill(&mut data);
        let shared = Arc::new(Shared {
            schedule,
            mounted_at: monotonic_ns(),
            is_armed: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            log: Mutex::new(Log { stalls: Vec::new(), served: Vec::with_capacity(1 << 20) }),
            data: RwLock::new(data),
            unanswered: Mutex::default(),
            abort: OnceLock::new(),
        });
        let session = Session::new(Server(shared.clone()), directory.path(), &config)
            .and_then(Session::spawn)
            .expect("mount a FUSE file: needs root and /dev/fuse");
        let device = std::fs::metadata(directory.path()).expect("the mount answers").dev();
        let abort = Path::new(CONTROL).join(rustix::fs::minor(device).to_string()).join("abort");
        assert!(abort.exists(), "{} is missing", abort.display());
        shared.abort.set(abort).expect("set once");
        let_servers_go_first();
        StallingFile { shared, directory, session: Some(session) }
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join(FILE_NAME)
    }

    /// From now on the fault counts requests.
    pub fn arm(&self) {
        self.shared.requests.store(0, Ordering::SeqCst);
        self.shared.is_armed.store(true, Ordering::SeqCst);
    }

    /// The fault rests; requests are not counted.
    pub fn disarm(&self) {
        self.shared.is_armed.store(false, Ordering::SeqCst);
    }

    /// Cuts the connection, if it still stands.
    pub fn vanish_if_there(&self) {
        self.shared.cut().ok();
    }

    /// Cuts the connection now: whatever is in flight, and all that comes later, fails.
    pub fn vanish(&self) {
        self.shared.cut().expect("cut the FUSE connection");
    }

    /// The stalls so far that made a request wait.
    pub fn stalls(&self) -> Vec<Stall> {
        self.shared.log.lock().expect("log").stalls.clone()
    }

    /// All requests so far, in the order of their answers.
    pub fn served(&self) -> Vec<Served> {
        self.shared.log.lock().expect("log").served.clone()
    }

    /// How many requests are kept unanswered.
    pub fn unanswered(&self) -> usize {
        self.shared.unanswered.lock().expect("unanswered").len()
    }

    /// Flips one bit of what is stored.
    pub fn flip_bit(&self, offset: usize) {
        self.shared.data.write().expect("data")[offset] ^= 1;
    }
}

impl Drop for StallingFile {
    fn drop(&mut self) {
        // Already cut is as good; a lazy unmount works while a loop device holds the file.
        self.shared.cut().ok();
        let unmounted = Command::new("umount").arg("-l").arg(self.directory.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("could not unmount {}", self.directory.path().display());
        }
        if let Some(session) = self.session.take() {
            session.join().ok();
        }
    }
}

/// Where the kernel shows FUSE connections.
const CONTROL: &str = "/sys/fs/fuse/connections";

fn mount_fuse_control() {
    let is_mounted = || {
        let mounts = std::fs::read_to_string("/proc/self/mounts").expect("/proc/self/mounts");
        mounts.lines().any(|line| line.split(' ').nth(1) == Some(CONTROL))
    };
    if !is_mounted() {
        // Another test may be faster: only the result counts.
        Command::new("mount").args(["-t", "fusectl", "fusectl", CONTROL]).status().ok();
        assert!(is_mounted(), "cannot mount fusectl on {CONTROL}: needs root");
    }
}

/// Bytes that differ from block to block, so that swapped data would show.
fn fill(data: &mut [u8]) {
    for (index, word) in data.chunks_exact_mut(8).enumerate() {
        let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word.copy_from_slice(&(mixed ^ (mixed >> 29)).to_le_bytes());
    }
}
