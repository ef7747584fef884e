//! A scripted NVMe drive over TCP: what it is asked it answers as the standards say (NVM Express
//! Base Specification 2.0, NVMe over TCP Transport 1.0), and as the script has it where emulators
//! have nothing: a sanitize that takes its time or fails, wear, warnings. It serves the kernel's
//! driver.

mod events;
mod logs;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const BLOCK: usize = 512;
const BYTES: usize = 64 << 20;
/// Data of a command that come with it; longer ones are asked for.
const IN_CAPSULE: usize = 8192;
const INVALID_OPCODE: u16 = 0x01;
const INVALID_FIELD: u16 = 0x02;
const SELF_TEST_IN_PROGRESS: u16 = 0x11d;
const SANITIZE_IN_PROGRESS: u16 = 0x1d;
const SEQUENCE_ERROR: u16 = 0x0c;

/// What the drive is to do, as `word=number`.
#[derive(Clone, Copy, Default)]
struct Script {
    /// How long a sanitize takes.
    sanitize_s: u64,
    /// 1: it fails at its end.
    sanitize_fails: u64,
    /// 0: it offers none.
    sanicap: u64,
    critical_warning: u64,
    used_percent: u64,
    spare_percent: u64,
    spare_threshold_percent: u64,
    media_errors: u64,
    unsafe_shutdowns: u64,
    /// In the unit of the log: 512,000 bytes.
    units_written: u64,
    celsius: u64,
    /// Percent of what hosts write that goes to its flash; 0: it does not count that.
    flash_percent: u64,
    /// Reads that it serves before it counts two media errors; 0: all of them.
    reads_until_errors: u64,
    /// Percent of what hosts write that it counts as written by hosts.
    counted_percent: u64,
    /// Errors that it has noted before.
    errors: u64,
    /// How long a self-test takes, and whether it finds something wrong.
    self_test_s: u64,
    self_test_fails: u64,
    /// 1: it sleeps by itself where it is told to, and places data by hints; its namespace has
    /// atomic writes of its own and two formats.
    is_rich: u64,
    /// 1: it keeps a log of events.
    keeps_events: u64,
    /// 1: it lists the commands that it knows; 2: all of them but Sanitize.
    lists_commands: u64,
}

impl Script {
    /// The OCP specification requires the log of events.
    fn has_events(&self) -> bool {
        self.keeps_events > 0 || self.flash_percent > 0
    }

    fn of(words: &[&str]) -> Script {
        let said: HashMap<&str, u64> = words
            .iter()
            .map(|word| word.split_once('=').expect("word=number"))
            .map(|(word, number)| (word, number.parse().expect("a number")))
            .collect();
        let number = |word: &str, otherwise| said.get(word).copied().unwrap_or(otherwise);
        Script {
            sanitize_s: number("sanitize_s", 2),
            sanitize_fails: number("sanitize_fails", 0),
            sanicap: number("sanicap", 2),
            critical_warning: number("critical_warning", 0),
            used_percent: number("used_percent", 7),
            spare_percent: number("spare_percent", 100),
            spare_threshold_percent: number("spare_threshold_percent", 10),
            media_errors: number("media_errors", 0),
            unsafe_shutdowns: number("unsafe_shutdowns", 3),
            units_written: number("units_written", 2_000_000),
            celsius: number("celsius", 31),
            flash_percent: number("flash_percent", 0),
            reads_until_errors: number("reads_until_errors", 0),
            counted_percent: number("counted_percent", 100),
            errors: number("errors", 0),
            self_test_s: number("self_test_s", 2),
            self_test_fails: number("self_test_fails", 0),
            is_rich: number("is_rich", 0),
            keeps_events: number("keeps_events", 0),
            lists_commands: number("lists_commands", 0),
        }
    }
}

struct Drive {
    script: Script,
    data: Vec<u8>,
    sanitize: Option<Instant>,
    self_test: Option<(Instant, u8)>,
    enabled: bool,
    has_cache: bool,
    sleeps: bool,
    /// Somebody reads its events.
    has_context: bool,
    reads: u64,
    bytes_read: u64,
    bytes_written: u64,
}

impl Drive {
    fn is_testing(&self) -> bool {
        let span = Duration::from_secs(self.script.self_test_s);
        self.self_test.is_some_and(|(begin, _)| begin.elapsed() < span)
    }

    fn has_failed(&self) -> bool {
        self.script.reads_until_errors > 0 && self.reads > self.script.reads_until_errors
    }

    /// Errors that it has noted so far: two with those of media.
    fn errors(&self) -> u64 {
        self.script.errors + if self.has_failed() { 2 } else { 0 }
    }

    fn sanitizes(&self) -> bool {
        let span = Duration::from_secs(self.script.sanitize_s);
        self.sanitize.is_some_and(|begin| begin.elapsed() < span)
    }
}

/// Serves the drive on this port of the machine itself until it is killed.
pub fn serve(port: &str, words: &[&str]) {
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("a port");
    let drive = Drive {
        script: Script::of(words),
        data: vec![0; BYTES],
        sanitize: None,
        self_test: None,
        enabled: false,
        has_cache: true,
        sleeps: false,
        has_context: false,
        reads: 0,
        bytes_read: 0,
        bytes_written: 0,
    };
    let drive = Arc::new(Mutex::new(drive));
    for stream in listener.incoming() {
        let (stream, drive) = (stream.expect("a connection"), Arc::clone(&drive));
        stream.set_nodelay(true).expect("a socket");
        let waiting = HashMap::new();
        std::thread::spawn(move || Queue { stream, drive, is_admin: false, waiting }.serve());
    }
}

/// One queue of the drive: a connection of its own.
struct Queue {
    stream: TcpStream,
    drive: Arc<Mutex<Drive>>,
    is_admin: bool,
    /// Writes whose data are still to come, by the number of the command.
    waiting: HashMap<[u8; 2], Command>,
}

/// A command and the data that came with it.
struct Command {
    entry: [u8; 64],
    data: Vec<u8>,
}

impl Command {
    fn u16_at(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.entry[at], self.entry[at + 1]])
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.entry[at..at + 4].try_into().unwrap())
    }

    fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.entry[at..at + 8].try_into().unwrap())
    }

    /// First byte and length of the data of a read or write.
    fn extent(&self) -> (usize, usize) {
        let first = usize::try_from(self.u64_at(40)).unwrap() * BLOCK;
        (first, (usize::from(self.u16_at(48)) + 1) * BLOCK)
    }
}

/// What a command is answered with: data for the host, a result, a status.
struct Answer {
    data: Vec<u8>,
    result: u64,
    status: u16,
}

fn done(result: u64) -> Option<Answer> {
    Some(Answer { data: Vec::new(), result, status: 0 })
}

fn failed(status: u16) -> Option<Answer> {
    Some(Answer { data: Vec::new(), result: 0, status })
}

fn page(data: Vec<u8>) -> Option<Answer> {
    Some(Answer { data, result: 0, status: 0 })
}

impl Queue {
    fn serve(mut self) {
        while let Some((kind, head, body)) = self.receive() {
            match kind {
                0 => self.send(1, 0, &[&[0; 4][..], &(1u32 << 20).to_le_bytes(), &[0; 112]], &[]),
                4 => {
                    let entry: [u8; 64] = head[..64].try_into().unwrap();
                    self.take(Command { entry, data: body });
                }
                6 => {
                    let id = [head[0], head[1]];
                    let mut command = self.waiting.remove(&id).expect("data that were asked for");
                    command.data.extend(body);
                    self.take(command);
                }
                _ => return,
            }
        }
    }

    /// Answers a command, or asks for the data of a write that did not all come yet.
    fn take(&mut self, command: Command) {
        let id = [command.entry[2], command.entry[3]];
        let is_write = !self.is_admin && command.entry[0] == 1;
        if is_write && command.data.len() < command.extent().1 {
            if command.data.is_empty() {
                let length = u32::try_from(command.extent().1).unwrap().to_le_bytes();
                self.send(9, 0, &[&id[..], &id, &[0; 4], &length, &[0; 4]], &[]);
            }
            self.waiting.insert(id, command);
        } else if let Some(answer) = self.answer(&command) {
            self.reply(&command, &answer);
        }
    }

    /// The next PDU: its type, the rest of its header, its data.
    fn receive(&mut self) -> Option<(u8, Vec<u8>, Vec<u8>)> {
        let mut start = [0; 8];
        self.stream.read_exact(&mut start).ok()?;
        let all = u32::from_le_bytes(start[4..].try_into().unwrap()) as usize;
        let mut rest = vec![0; all.checked_sub(8)?];
        self.stream.read_exact(&mut rest).ok()?;
        let head = usize::from(start[2]).checked_sub(8)?;
        let data = rest.get(usize::from(start[3]).saturating_sub(8).max(head)..)?.to_vec();
        rest.truncate(head);
        Some((start[0], rest, data))
    }

    fn send(&mut self, kind: u8, flags: u8, head: &[&[u8]], data: &[u8]) {
        let head = head.concat();
        let length = head.len() + 8;
        let start = if data.is_empty() { 0 } else { length };
        let (length, start) = (u8::try_from(length).unwrap(), u8::try_from(start).unwrap());
        let all = u32::try_from(head.len() + 8 + data.len()).unwrap();
        let mut pdu = vec![kind, flags, length, start];
        pdu.extend(all.to_le_bytes());
        pdu.extend(head);
        pdu.extend(data);
        self.stream.write_all(&pdu).ok();
    }

    fn reply(&mut self, command: &Command, answer: &Answer) {
        let id = [command.entry[2], command.entry[3]];
        if !answer.data.is_empty() {
            let length = u32::try_from(answer.data.len()).unwrap().to_le_bytes();
            let head: [&[u8]; 5] = [&id, &[0; 2], &[0; 4], &length, &[0; 4]];
            self.send(7, 4, &head, &answer.data);
        }
        let status = (answer.status << 1).to_le_bytes();
        self.send(5, 0, &[&answer.result.to_le_bytes(), &[0; 4], &id, &status], &[]);
    }

    fn answer(&mut self, command: &Command) -> Option<Answer> {
        match command.entry[0] {
            0x7f => self.of_fabric(command),
            _ if self.is_admin => self.of_admin(command),
            opcode => self.of_data(opcode, command),
        }
    }

    fn of_fabric(&mut self, command: &Command) -> Option<Answer> {
        let mut drive = self.drive.lock().unwrap();
        match (command.entry[4], command.u32_at(44)) {
            (1, _) => {
                drop(drive);
                self.is_admin = command.u16_at(42) == 0;
                done(1)
            }
            (0, 0x14) => {
                drive.enabled = command.entry[48] & 1 == 1;
                done(0)
            }
            (0, _) => done(0),
            // CAP: 128 entries, contiguous queues, 10 s to get ready, the NVM commands.
            (4, 0x00) => done(127 | 1 << 16 | 20 << 24 | 1 << 37),
            (4, 0x08) => done(0x0001_0400),
            (4, 0x14) => done(if drive.enabled { 0x0046_0001 } else { 0 }),
            (4, 0x1c) => done(u64::from(drive.enabled)),
            _ => failed(INVALID_FIELD),
        }
    }

    fn of_data(&self, opcode: u8, command: &Command) -> Option<Answer> {
        let mut drive = self.drive.lock().unwrap();
        if drive.sanitizes() {
            return failed(SANITIZE_IN_PROGRESS);
        }
        let (first, bytes) = command.extent();
        match opcode {
            0x00 | 0x09 => done(0),
            0x01 => {
                drive.bytes_written += bytes as u64;
                drive.data.get_mut(first..first + bytes)?.copy_from_slice(&command.data);
                done(0)
            }
            0x02 => {
                drive.reads += 1;
                drive.bytes_read += bytes as u64;
                page(drive.data.get(first..first + bytes)?.to_vec())
            }
            0x08 => {
                drive.data.get_mut(first..first + bytes)?.fill(0);
                done(0)
            }
            _ => failed(INVALID_OPCODE),
        }
    }

    fn of_admin(&self, command: &Command) -> Option<Answer> {
        let mut drive = self.drive.lock().unwrap();
        let ten = command.u32_at(40);
        match command.entry[0] {
            0x02 if ten & 0xff == 0x0d => events::asked(&mut drive, command),
            0x02 => {
                let bytes = (usize::from(command.u16_at(42)) + 1) * 4;
                let Some(mut log) = logs::page(&drive, ten & 0xff) else { return failed(0x109) };
                log.resize(bytes, 0);
                page(log)
            }
            0x06 => match ten & 0xff {
                0 => page(namespace(&drive.script)),
                1 => page(controller(&drive.script)),
                2 => page([&1u32.to_le_bytes()[..], &[0; 4092]].concat()),
                3 => page([&[1, 8, 0, 0][..], &EUI, &[0; 4096 - 12]].concat()),
                _ => failed(INVALID_FIELD),
            },
            0x09 if ten & 0xff == 7 => done(0x0001_0001),
            0x09 if ten & 0xff == 6 => {
                drive.has_cache = command.entry[44] & 1 == 1;
                done(0)
            }
            0x0a if ten & 0xff == 6 => done(u64::from(drive.has_cache)),
            0x09 if ten & 0xff == 0x0c => {
                drive.sleeps = command.entry[44] & 1 == 1;
                done(0)
            }
            0x0a if ten & 0xff == 0x0c && drive.script.is_rich != 0 => {
                Some(Answer { data: vec![0; 256], result: u64::from(drive.sleeps), status: 0 })
            }
            0x0a if ten & 0xff == 7 => done(0x0001_0001),
            0x09 | 0x18 => done(0),
            0x0c => None,
            0x14 if drive.is_testing() => failed(SELF_TEST_IN_PROGRESS),
            0x14 => {
                drive.self_test = Some((Instant::now(), command.entry[40] & 0xf));
                done(0)
            }
            0x84 if drive.script.sanicap != 0 => {
                drive.sanitize = Some(Instant::now());
                if drive.script.sanitize_fails == 0 {
                    drive.data.fill(0);
                }
                done(0)
            }
            _ => failed(INVALID_OPCODE),
        }
    }
}

const EUI: [u8; 8] = [0xde, 0xad, 0, 0, 0, 0, 0, 1];

fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

fn controller(script: &Script) -> Vec<u8> {
    let mut page = vec![0; 4096];
    put(&mut page, 4, format!("{:20}", "DLSCRIPT01").as_bytes());
    put(&mut page, 24, format!("{:40}", "drivelab scripted drive").as_bytes());
    put(&mut page, 64, b"1.0     ");
    page[77] = 5;
    put(&mut page, 78, &1u16.to_le_bytes());
    put(&mut page, 80, &0x0001_0400u32.to_le_bytes());
    page[111] = 1;
    page[256] = 0x10;
    page[259] = 3;
    page[261] = u8::from(script.has_events()) << 4 | u8::from(script.lists_commands > 0) << 1;
    if script.is_rich != 0 {
        put(&mut page, 96, &(1u32 << 19).to_le_bytes());
        page[265] = 1;
        put(&mut page, 526, &[15, 0, 3, 0]);
    }
    page[262] = logs::ERRORS - 1;
    put(&mut page, 266, &(273u16 + 70).to_le_bytes());
    put(&mut page, 268, &(273u16 + 80).to_le_bytes());
    put(&mut page, 320, &10u16.to_le_bytes());
    put(&mut page, 328, &u32::try_from(script.sanicap).unwrap().to_le_bytes());
    (page[512], page[513]) = (0x66, 0x44);
    put(&mut page, 514, &128u16.to_le_bytes());
    put(&mut page, 516, &1u32.to_le_bytes());
    put(&mut page, 520, &0x0cu16.to_le_bytes());
    page[525] = 1;
    put(&mut page, 536, &0x0010_0005u32.to_le_bytes());
    put(&mut page, 768, b"scripted");
    let in_capsule = u32::try_from((64 + IN_CAPSULE) / 16).unwrap();
    put(&mut page, 1792, &in_capsule.to_le_bytes());
    put(&mut page, 1796, &1u32.to_le_bytes());
    page[1803] = 1;
    page
}

fn namespace(script: &Script) -> Vec<u8> {
    let mut page = vec![0; 4096];
    let blocks = (BYTES / BLOCK) as u64;
    for at in [0, 8, 16] {
        put(&mut page, at, &blocks.to_le_bytes());
    }
    put(&mut page, 120, &EUI);
    page[130] = 9;
    if script.is_rich != 0 {
        (page[24], page[25]) = (2, 1);
        put(&mut page, 34, &[31, 0, 0, 0, 0, 0, 63, 0]);
        put(&mut page, 104, &[0x5a; 16]);
        put(&mut page, 132, &[8, 0, 12, 1]);
    }
    page
}
