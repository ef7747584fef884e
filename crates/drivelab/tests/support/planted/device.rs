//! A loop device over a FUSE file that this process serves by a planted clockwork.

use super::plant::{Asked, Clockwork, Counted, Plant};
use crate::support::loop_device::LoopDevice;
use crate::support::one_file::{FILE, FILE_NAME, ROOT, attributes};
use crate::support::stalling_file::{let_servers_go_first, monotonic_ns};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, Session, WriteFlags,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::num::NonZeroU64;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

const TTL: Duration = Duration::from_secs(3600);

/// An answer that is due at its time.
enum Answer {
    Read(ReplyData, u64, u32),
    Write(ReplyWrite, u32),
    Empty(ReplyEmpty),
}

#[derive(Default)]
struct Due {
    /// By time and number.
    answers: BTreeMap<(u64, u64), Answer>,
    number: u64,
    is_over: bool,
}

struct Shared {
    plant: Plant,
    clockwork: Mutex<Clockwork>,
    data: RwLock<Vec<u8>>,
    due: Mutex<Due>,
    came: Condvar,
}

impl Shared {
    fn ask(&self, asked: Asked, offset: u64, bytes: u64, answer: Answer) {
        let at =
            self.clockwork.lock().expect("clockwork").ask(monotonic_ns(), asked, offset, bytes);
        let mut due = self.due.lock().expect("due");
        due.number += 1;
        let number = due.number;
        due.answers.insert((at, number), answer);
        self.came.notify_one();
    }

    /// Sends each answer at its time, until it is over.
    fn answer_all(&self) {
        // The default slack of 50 µs would be a part of each latency.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).expect("timer slack");
        let mut due = self.due.lock().expect("due");
        loop {
            let now = monotonic_ns();
            due = match due.answers.first_key_value().map(|(key, _)| key.0) {
                Some(at) if at <= now => {
                    let (_, answer) = due.answers.pop_first().expect("there is one");
                    drop(due);
                    let late = &mut self.clockwork.lock().expect("clockwork").counted.late;
                    *late = (late.0 + (now - at), late.1.max(now - at));
                    self.send(answer);
                    self.due.lock().expect("due")
                }
                Some(at) => {
                    let wait = Duration::from_nanos(at - now);
                    self.came.wait_timeout(due, wait).expect("due").0
                }
                None if due.is_over => return,
                None => self.came.wait(due).expect("due"),
            };
        }
    }

    fn send(&self, answer: Answer) {
        match answer {
            Answer::Read(reply, offset, size) => {
                let data = self.data.read().expect("data");
                let from = (offset as usize).min(data.len());
                reply.data(&data[from..data.len().min(from + size as usize)]);
            }
            Answer::Write(reply, size) => reply.written(size),
            Answer::Empty(reply) => reply.ok(),
        }
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        attributes(inode, self.plant.bytes)
    }
}

struct Server(Arc<Shared>);

impl Filesystem for Server {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Without it the loop device has one request at a time.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).ok();
        config.set_max_background(256).ok();
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match parent == ROOT && name == FILE_NAME {
            true => reply.entry(&TTL, &self.0.attributes(FILE), Generation(0)),
            false => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&TTL, &self.0.attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let answer = Answer::Read(reply, offset, size);
        self.0.ask(Asked::Read, offset, u64::from(size), answer);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let from = offset as usize;
        let end = from + bytes.len();
        let is_stored = {
            let mut data = self.0.data.write().expect("data");
            data.get_mut(from..end).map(|place| place.copy_from_slice(bytes)).is_some()
        };
        match is_stored {
            true => {
                let answer = Answer::Write(reply, bytes.len() as u32);
                self.0.ask(Asked::Write, offset, bytes.len() as u64, answer);
            }
            false => reply.error(Errno::ENOSPC),
        }
    }

    /// What a discard of a loop device becomes.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        const PUNCH_HOLE: i32 = 2;
        if mode & PUNCH_HOLE == 0 || offset + length > self.0.plant.bytes {
            return reply.error(Errno::EOPNOTSUPP);
        }
        if self.0.plant.honours_trim {
            self.0.data.write().expect("data")[offset as usize..(offset + length) as usize].fill(0);
        }
        self.0.ask(Asked::Trim, offset, length, Answer::Empty(reply));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.0.ask(Asked::Flush, 0, 0, Answer::Empty(reply));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}

/// A block device with something planted in it. Dropping it takes all of it away.
pub struct PlantedDevice {
    shared: Arc<Shared>,
    device: Option<LoopDevice>,
    directory: tempfile::TempDir,
    session: Option<BackgroundSession>,
    answers: Option<JoinHandle<()>>,
}

impl PlantedDevice {
    /// Serves the file and attaches a loop device to it. Needs root and /dev/fuse.
    pub fn new(plant: Plant) -> PlantedDevice {
        let mut prefix = tempfile::Builder::new();
        let directory = prefix.prefix("drivelab-planted-").tempdir().expect("a place to mount on");
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("drivelab-test".into()),
            MountOption::Subtype("drivelab-test".into()),
            MountOption::NoAtime,
        ];
        let shared = Arc::new(Shared {
            clockwork: Mutex::new(Clockwork::new(plant.clone(), monotonic_ns())),
            data: RwLock::new(vec![0; plant.bytes as usize]),
            due: Mutex::default(),
            came: Condvar::new(),
            plant,
        });
        let session = Session::new(Server(shared.clone()), directory.path(), &config)
            .and_then(Session::spawn)
            .expect("mount a FUSE file: needs root and /dev/fuse");
        let (started, is_started) = std::sync::mpsc::channel();
        let answers = {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name("fuser-answers".into());
            let work = move || {
                started.send(()).expect("somebody waits");
                shared.answer_all();
            };
            thread.spawn(work).expect("a thread")
        };
        // It has its name now, by which it is found.
        is_started.recv().expect("it starts");
        let_servers_go_first();
        let file = directory.path().join(FILE_NAME);
        let device = LoopDevice::attach_with(&file, &["--direct-io=on"]);
        let direct = format!("/sys/block/{}/loop/dio", device.name());
        let is_direct = std::fs::read_to_string(direct).expect("the loop device tells");
        assert_eq!(is_direct.trim(), "1", "direct I/O to the file below");
        PlantedDevice {
            shared,
            device: Some(device),
            directory,
            session: Some(session),
            answers: Some(answers),
        }
    }

    /// The device node.
    pub fn path(&self) -> &Path {
        self.device.as_ref().expect("attached").path()
    }

    /// The schedules of the plant begin now, and the counts as well.
    pub fn begin(&self) {
        self.shared.clockwork.lock().expect("clockwork").begin(monotonic_ns());
    }

    /// What was planted.
    pub fn plant(&self) -> &Plant {
        &self.shared.plant
    }

    /// What the device did since it was last told to begin.
    pub fn counted(&self) -> Counted {
        self.shared.clockwork.lock().expect("clockwork").counted.clone()
    }

    /// What it holds there.
    pub fn holds(&self, offset: usize, bytes: usize) -> Vec<u8> {
        self.shared.data.read().expect("data")[offset..offset + bytes].to_vec()
    }
}

impl Drop for PlantedDevice {
    fn drop(&mut self) {
        drop(self.device.take());
        let unmounted = Command::new("umount").arg("-l").arg(self.directory.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("could not unmount {}", self.directory.path().display());
        }
        if let Some(session) = self.session.take() {
            session.join().ok();
        }
        self.shared.due.lock().expect("due").is_over = true;
        self.shared.came.notify_all();
        if let Some(answers) = self.answers.take() {
            answers.join().ok();
        }
    }
}
