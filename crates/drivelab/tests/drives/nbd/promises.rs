//! What the drive with a volatile cache promises, asked by a small client without a kernel: a
//! test of the tests. Each cut is a SIGKILL.

use super::cache::{BLOCK, SECTOR};
use super::{FUA, GREETING, OPTION, OPTION_REPLY, REPLY, REQUEST, UNSUPPORTED};
use drivelab_stats::Random;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// By name.
pub const TRIALS: [(&str, fn()); 7] = [
    ("nbd_keeps_what_it_was_given", coherent),
    ("nbd_answers_all_options", negotiated),
    ("nbd_honest", honest),
    ("nbd_lying", lying),
    ("nbd_holed", holed),
    ("nbd_torn", torn),
    ("nbd_keeps_its_cache_when_left", disconnected),
];

const BLOCKS: u64 = 64;
/// These are flushed, the one after them is written with FUA, the rest is neither.
const FLUSHED: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(20);

struct Drive {
    directory: tempfile::TempDir,
    process: Child,
}

impl Drive {
    fn new(mode: &str, words: &[&str]) -> Drive {
        let directory = tempfile::tempdir().expect("a directory");
        let file = fs::File::create(directory.path().join("medium")).expect("a file");
        file.set_len(BLOCKS * BLOCK as u64).expect("a size");
        let process = started(directory.path().to_path_buf(), mode, words);
        Drive { directory, process }
    }

    fn connect(&self) -> Client {
        Client::begin(self.directory.path().join("socket")).expect_go()
    }

    /// Cuts the power; what the medium holds.
    fn cut(&mut self) -> Vec<u8> {
        self.process.kill().expect("SIGKILL");
        self.process.wait().expect("its end");
        fs::read(self.directory.path().join("medium")).expect("the medium")
    }

    fn restart(&mut self, mode: &str) {
        self.process = started(self.directory.path().to_path_buf(), mode, &[]);
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn started(place: PathBuf, mode: &str, words: &[&str]) -> Child {
    fs::remove_file(place.join("socket")).ok();
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.arg("serve-nbd").args([place.join("socket"), place.join("medium")]).arg(mode);
    let process = command.args(words).stdin(Stdio::null()).spawn().expect("it starts");
    let begin = Instant::now();
    while UnixStream::connect(place.join("socket")).is_err() {
        assert!(begin.elapsed() < PATIENCE, "it does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    process
}

struct Client {
    stream: UnixStream,
    cookie: u64,
}

impl Client {
    fn begin(socket: PathBuf) -> Client {
        let stream = UnixStream::connect(socket).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let mut client = Client { stream, cookie: 0 };
        assert_eq!(client.take::<16>(), *GREETING);
        assert_eq!(client.take::<2>(), [0, 3]);
        client.stream.write_all(&3_u32.to_be_bytes()).expect("flags");
        client
    }

    fn take<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes).expect("an answer");
        bytes
    }

    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }

    fn send_option(&mut self, option: u32, data: &[u8]) {
        let numbers = [option.to_be_bytes(), (data.len() as u32).to_be_bytes()].concat();
        self.stream.write_all(&[OPTION, &numbers[..], data].concat()).expect("an option");
    }

    /// The kind and data of the next answer to an option.
    fn option_reply(&mut self, option: u32) -> (u32, Vec<u8>) {
        assert_eq!(u64::from_be_bytes(self.take()), OPTION_REPLY);
        assert_eq!(self.u32(), option);
        let (kind, length) = (self.u32(), self.u32());
        let mut data = vec![0; length as usize];
        self.stream.read_exact(&mut data).expect("data");
        (kind, data)
    }

    fn expect_go(mut self) -> Client {
        self.send_option(7, &[0; 6]);
        let (kind, data) = self.option_reply(7);
        assert_eq!((kind, data.len()), (3, 12));
        assert_eq!(data[2..10], (BLOCKS * BLOCK as u64).to_be_bytes());
        assert_eq!(self.option_reply(7).0, 1);
        self
    }

    /// The error and the data of the answer.
    fn ask(&mut self, kind: u16, flags: u16, place: (u64, u32), data: &[u8]) -> (u32, Vec<u8>) {
        self.cookie += 1;
        let mut request = REQUEST.to_be_bytes().to_vec();
        request.extend(flags.to_be_bytes());
        request.extend(kind.to_be_bytes());
        request.extend(self.cookie.to_be_bytes());
        request.extend(place.0.to_be_bytes());
        request.extend(place.1.to_be_bytes());
        self.stream.write_all(&[&request, data].concat()).expect("a request");
        assert_eq!(self.u32(), REPLY);
        let error = self.u32();
        assert_eq!(u64::from_be_bytes(self.take()), self.cookie);
        let mut answer = vec![0; if kind == 0 && error == 0 { place.1 as usize } else { 0 }];
        self.stream.read_exact(&mut answer).expect("data");
        (error, answer)
    }

    fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let (error, data) = self.ask(0, 0, (offset, length), &[]);
        assert_eq!(error, 0);
        data
    }

    fn write(&mut self, offset: u64, data: &[u8], flags: u16) {
        assert_eq!(self.ask(1, flags, (offset, data.len() as u32), data).0, 0);
    }

    fn flush(&mut self) {
        assert_eq!(self.ask(3, 0, (0, 0), &[]).0, 0);
    }

    /// Blocks of known content, in order, as far as they are to be durable and beyond.
    fn write_plant(&mut self) {
        for number in 0..BLOCKS {
            let flags = if number == FLUSHED { FUA } else { 0 };
            self.write(number * BLOCK as u64, &block(number), flags);
            if number == FLUSHED - 1 {
                self.flush();
            }
        }
        for number in 0..BLOCKS {
            assert_eq!(self.read(number * BLOCK as u64, BLOCK as u32), block(number), "{number}");
        }
    }
}

/// Every sector of it differs from every other.
fn block(number: u64) -> Vec<u8> {
    let sectors = (BLOCK / SECTOR) as u64;
    (0..sectors)
        .flat_map(|at| (1 + number * sectors + at).to_le_bytes().repeat(SECTOR / 8))
        .collect()
}

/// The numbers of the blocks that the medium holds as they were written.
fn kept(medium: &[u8]) -> Vec<u64> {
    let is_kept = |number: &u64| medium[*number as usize * BLOCK..][..BLOCK] == block(*number);
    (0..BLOCKS).filter(is_kept).collect()
}

fn expect_durable(kept: &[u64]) {
    assert!(kept.len() as u64 > FLUSHED && kept[..].starts_with(&up_to(FLUSHED + 1)), "{kept:?}");
}

fn up_to(end: u64) -> Vec<u64> {
    (0..end).collect()
}

/// Plants blocks on a drive and cuts its power.
fn after_cut(mode: &str, words: &[&str]) -> Vec<u8> {
    let mut drive = Drive::new(mode, words);
    drive.connect().write_plant();
    let medium = drive.cut();
    drive.restart(mode);
    assert!(drive.connect().read(0, medium.len() as u32) == medium, "what is left is served");
    medium
}

/// All that was flushed or written with FUA, and nothing else.
fn honest() {
    assert_eq!(kept(&after_cut("honest", &[])), up_to(FLUSHED + 1));
    let mut drive = Drive::new("honest", &[]);
    let mut client = drive.connect();
    client.write(0, &block(0), 0);
    client.write(BLOCK as u64, &block(1), FUA);
    assert_eq!(kept(&drive.cut()), [1], "FUA is for the blocks of its own write");
    let medium = after_cut("honest", &["capacity=4096"]);
    assert_eq!(kept(&medium), up_to(BLOCKS - 1), "a small cache holds the newest");
}

/// Nothing, whatever was answered; or what a small cache had no room for.
fn lying() {
    assert_eq!(kept(&after_cut("lying", &[])), [] as [u64; 0]);
    let medium = after_cut("lying", &["capacity=163840"]);
    assert_eq!(kept(&medium), up_to(BLOCKS - 40), "40 blocks are lost, and some were durable");
}

/// What is durable, and of the rest later blocks without earlier ones, as the seed has it.
fn holed() {
    let media = ["seed=1", "seed=1", "seed=2"].map(|seed| after_cut("holed", &[seed]));
    assert!(media[0] == media[1] && media[0] != media[2], "a seed decides");
    for medium in &media {
        let kept = kept(medium);
        expect_durable(&kept);
        let last = *kept.last().expect("some");
        assert!(last >= kept.len() as u64, "a hole lies below {last}: {kept:?}");
        let whole = |number: &u64| {
            let held = &medium[*number as usize * BLOCK..][..BLOCK];
            held.iter().all(|byte| *byte == 0) || held == block(*number)
        };
        assert!((0..BLOCKS).all(|number| whole(&number)), "no block is torn");
    }
}

/// What is durable whole, and of the rest some blocks of which some sectors are there.
fn torn() {
    let media = ["seed=1", "seed=1", "seed=2"].map(|seed| after_cut("torn", &[seed]));
    assert!(media[0] == media[1] && media[0] != media[2], "a seed decides");
    for medium in &media {
        assert_eq!(kept(medium), up_to(FLUSHED + 1));
        let held = |number: u64| {
            let pairs = medium[number as usize * BLOCK..][..BLOCK].chunks(SECTOR);
            let all = block(number);
            let pairs = pairs.zip(all.chunks(SECTOR));
            for (found, written) in pairs.clone() {
                assert!(found == written || found.iter().all(|byte| *byte == 0), "{number}");
            }
            pairs.filter(|(found, written)| found == written).count()
        };
        let torn = (FLUSHED + 1..BLOCKS).filter(|number| (1..8).contains(&held(*number))).count();
        assert!((2..20).contains(&torn), "{torn} torn blocks");
    }
}

/// The cache outlives the connection, not the power.
fn disconnected() {
    let mut drive = Drive::new("honest", &[]);
    let mut client = drive.connect();
    client.write(0, &block(0), 0);
    client
        .stream
        .write_all(&[&REQUEST.to_be_bytes()[..], &[0, 0, 0, 2], &[0; 20]].concat())
        .unwrap();
    assert_eq!(client.stream.read(&mut [0]).expect("the end"), 0);
    assert_eq!(drive.connect().read(0, BLOCK as u32), block(0));
    assert_eq!(kept(&drive.cut()), [] as [u64; 0]);
}

/// By name without information, by list, by what it does not know, and to no end.
fn negotiated() {
    let drive = Drive::new("honest", &[]);
    let begin = || Client::begin(drive.directory.path().join("socket"));
    let mut client = begin();
    client.send_option(3, &[]);
    assert_eq!(client.option_reply(3), (2, vec![0; 4]));
    assert_eq!(client.option_reply(3).0, 1);
    client.send_option(5, &[]);
    assert_eq!(client.option_reply(5).0, UNSUPPORTED);
    client.send_option(1, b"any");
    assert_eq!(u64::from_be_bytes(client.take()), BLOCKS * BLOCK as u64);
    assert_eq!(client.take::<2>(), [0, 0x6d]);
    client.write(512, &block(7), 0);
    assert_eq!(client.read(512, BLOCK as u32), block(7));
    let end = BLOCKS * BLOCK as u64;
    assert_eq!(client.ask(1, 0, (end - 512, 1024), &[1; 1024]).0, 28);
    assert_eq!(client.ask(0, 0, (end, 512), &[]).0, 22);
    assert_eq!(client.ask(0, 0, (u64::MAX, 512), &[]).0, 22);
    assert_eq!(client.ask(9, 0, (0, 0), &[]).0, 22);
    let mut client = begin();
    client.send_option(2, &[]);
    assert_eq!(client.option_reply(2).0, 1);
    assert_eq!(client.stream.read(&mut [0]).expect("the end"), 0);
}

/// Whatever goes to the medium when, what is read is what was written last.
fn coherent() {
    for mode in ["honest", "lying", "holed", "torn"] {
        let drive = Drive::new(mode, &["capacity=65536", "seed=3"]);
        let mut client = drive.connect();
        let mut model = vec![0; BLOCKS as usize * BLOCK];
        let mut random = Random::new(11);
        for step in 0..600 {
            let sectors = (model.len() / SECTOR) as u64;
            let from = random.below(sectors);
            let count = 1 + random.below(40.min(sectors - from));
            let (at, length) = (from as usize * SECTOR, count as usize * SECTOR);
            let place = (at as u64, length as u32);
            let (kind, flags) = (random.below(8), random.below(2) as u16 * FUA);
            match kind {
                0..=3 => {
                    let data: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
                    client.write(place.0, &data, flags);
                    model[at..at + length].copy_from_slice(&data);
                }
                4 => {
                    let kind = if flags == 0 { 4 } else { 6 };
                    assert_eq!(client.ask(kind, flags, place, &[]).0, 0);
                    model[at..at + length].fill(0);
                }
                5 => client.flush(),
                _ => assert!(client.read(place.0, place.1) == model[at..at + length], "{step}"),
            }
        }
        assert!(client.read(0, model.len() as u32) == model, "{mode}");
    }
}
