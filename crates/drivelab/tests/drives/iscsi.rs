//! Scripted SCSI and ATA drives over iSCSI (RFC 7143): what they are asked they answer as the
//! standards say, and as the script has it where emulators have nothing: the security set of ATA
//! with its states, device statistics, log pages. They serve the kernel's driver.

mod ata;
mod farm;
mod sas;

use std::collections::{HashMap, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub const BLOCK: usize = 512;
pub const BYTES: usize = 64 << 20;
const HEAD_BYTES: usize = 48;
const NO_TAG: [u8; 4] = [0xff; 4];
/// What is sent in one PDU at most.
const PIECE: usize = 64 << 10;
const CHECK_CONDITION: u8 = 2;

/// What the drive is to do, as `word=number`; words that are missing are 0.
pub struct Script(HashMap<String, u64>);

impl Script {
    fn of(words: &[&str]) -> Script {
        let pair = |word: &&str| {
            let (word, number) = word.split_once('=').expect("word=number");
            (word.to_owned(), number.parse().expect("a number"))
        };
        Script(words.iter().map(pair).collect())
    }

    pub fn number(&self, word: &str) -> u64 {
        self.0.get(word).copied().unwrap_or(0)
    }
}

/// What a drive answers to a command: data, or sense data.
pub type Answer = Result<Vec<u8>, Vec<u8>>;

/// A drive behind the transport.
pub trait Target: Send {
    /// What INQUIRY says: vendor, product, serial number.
    fn names(&self) -> [String; 3];
    /// What it holds.
    fn data(&mut self) -> &mut Vec<u8>;
    /// Its own commands; `None`: those of all drives.
    fn command(&mut self, command: &[u8; 16], data: &[u8]) -> Option<Answer>;
}

/// Serves a drive of this kind (`ata` or `sas`) on a port until it is killed.
pub fn serve(kind: &str, port: &str, words: &[&str]) {
    let script = Script::of(words);
    let drive: Box<dyn Target> = match kind {
        "ata" => Box::new(ata::Drive::new(script, port)),
        _ => Box::new(sas::Drive::new(script, port)),
    };
    let drive = Arc::new(Mutex::new(drive));
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("a port");
    for stream in listener.incoming() {
        let (stream, drive) = (stream.expect("a connection"), Arc::clone(&drive));
        stream.set_nodelay(true).expect("a socket");
        std::thread::spawn(move || Session::of(stream, drive).serve());
    }
}

struct Session {
    stream: TcpStream,
    drive: Arc<Mutex<Box<dyn Target>>>,
    /// Number of the next status, and of the next command.
    status: u32,
    expected: u32,
    /// What came while data of another command were waited for.
    waiting: VecDeque<Pdu>,
}

/// A protocol data unit without its digests.
struct Pdu {
    head: [u8; HEAD_BYTES],
    data: Vec<u8>,
}

impl Pdu {
    fn operation(&self) -> u8 {
        self.head[0] & 0x3f
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.head[at..at + 4].try_into().unwrap())
    }
}

impl Session {
    fn of(stream: TcpStream, drive: Arc<Mutex<Box<dyn Target>>>) -> Session {
        Session { stream, drive, status: 1, expected: 0, waiting: VecDeque::new() }
    }

    fn serve(mut self) {
        while let Some(pdu) = self.waiting.pop_front().or_else(|| self.receive()) {
            if pdu.head[0] & 0x40 == 0 && pdu.operation() != 3 {
                self.expected = pdu.u32_at(24).wrapping_add(1);
            }
            match pdu.operation() {
                // NOP-Out: one that is no answer to ours is answered.
                0 if pdu.head[16..20] != NO_TAG => {
                    let mut head = self.head(0x20, &pdu);
                    head[20..24].copy_from_slice(&NO_TAG);
                    self.send_counted(head, &pdu.data);
                }
                0 => {}
                1 => self.command(&pdu),
                2 => {
                    let head = self.head(0x22, &pdu);
                    self.send_counted(head, &[]);
                }
                3 => self.login(&pdu),
                6 => {
                    let head = self.head(0x26, &pdu);
                    return self.send_counted(head, &[]);
                }
                _ => return,
            }
        }
    }

    fn receive(&mut self) -> Option<Pdu> {
        let mut head = [0; HEAD_BYTES];
        self.stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[5], head[6], head[7]]) as usize;
        let mut data = vec![0; usize::from(head[4]) * 4 + length.next_multiple_of(4)];
        self.stream.read_exact(&mut data).ok()?;
        data.drain(..usize::from(head[4]) * 4);
        data.truncate(length);
        Some(Pdu { head, data })
    }

    /// An answer's head: it is final, and belongs to this request.
    fn head(&self, operation: u8, to: &Pdu) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        (head[0], head[1]) = (operation, 0x80);
        head[16..20].copy_from_slice(&to.head[16..20]);
        head
    }

    fn send(&mut self, mut head: [u8; HEAD_BYTES], data: &[u8]) {
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        head[5..8].copy_from_slice(&length[1..]);
        head[24..28].copy_from_slice(&self.status.to_be_bytes());
        head[28..32].copy_from_slice(&self.expected.to_be_bytes());
        head[32..36].copy_from_slice(&self.expected.wrapping_add(31).to_be_bytes());
        let mut pdu = head.to_vec();
        pdu.extend(data);
        pdu.resize(pdu.len().next_multiple_of(4), 0);
        self.stream.write_all(&pdu).ok();
    }

    /// One that carries a status.
    fn send_counted(&mut self, head: [u8; HEAD_BYTES], data: &[u8]) {
        self.send(head, data);
        self.status = self.status.wrapping_add(1);
    }

    fn login(&mut self, pdu: &Pdu) {
        self.expected = pdu.u32_at(24);
        let is_operational = pdu.head[1] >> 2 & 3 == 1;
        let keys = match is_operational {
            false => "AuthMethod=None\0TargetPortalGroupTag=1\0".to_owned(),
            true => "HeaderDigest=None\0DataDigest=None\0MaxRecvDataSegmentLength=262144\0\
                     MaxBurstLength=262144\0FirstBurstLength=65536\0InitialR2T=Yes\0\
                     ImmediateData=Yes\0MaxOutstandingR2T=1\0MaxConnections=1\0\
                     ErrorRecoveryLevel=0\0DefaultTime2Wait=2\0DefaultTime2Retain=0\0\
                     DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0TargetPortalGroupTag=1\0"
                .to_owned(),
        };
        let mut head = self.head(0x23, pdu);
        head[1] = pdu.head[1] & 0x8f;
        head[8..14].copy_from_slice(&pdu.head[8..14]);
        head[15] = 1;
        self.send_counted(head, keys.as_bytes());
    }

    fn command(&mut self, pdu: &Pdu) {
        let command: [u8; 16] = pdu.head[32..48].try_into().unwrap();
        let expected = pdu.u32_at(20) as usize;
        let mut data = pdu.data.clone();
        let is_write = pdu.head[1] & 0x20 != 0;
        if is_write && data.len() < expected && !self.fetch(pdu, &mut data, expected) {
            return;
        }
        let answer = {
            let mut drive = self.drive.lock().unwrap();
            let own = drive.command(&command, &data);
            own.unwrap_or_else(|| of_any_drive(drive.as_mut(), &command, &data))
        };
        match answer {
            Ok(mut out) if pdu.head[1] & 0x40 != 0 => {
                out.truncate(expected);
                self.send_data(pdu, &out, expected);
            }
            Ok(_) => {
                let head = self.head(0x21, pdu);
                self.send_counted(head, &[]);
            }
            Err(sense) => {
                let mut head = self.head(0x21, pdu);
                head[3] = CHECK_CONDITION;
                let length = u16::try_from(sense.len()).unwrap().to_be_bytes();
                self.send_counted(head, &[&length[..], &sense].concat());
            }
        }
    }

    /// Asks for the rest of the data of a write; whether all of it came.
    fn fetch(&mut self, pdu: &Pdu, data: &mut Vec<u8>, expected: usize) -> bool {
        let mut head = self.head(0x31, pdu);
        head[20..24].copy_from_slice(&1u32.to_be_bytes());
        let (first, rest) = (data.len() as u32, (expected - data.len()) as u32);
        head[40..44].copy_from_slice(&first.to_be_bytes());
        head[44..48].copy_from_slice(&rest.to_be_bytes());
        self.send(head, &[]);
        while data.len() < expected {
            match self.receive() {
                Some(next) if next.operation() == 5 => data.extend(next.data),
                Some(other) => self.waiting.push_back(other),
                None => return false,
            }
        }
        true
    }

    /// Data for the host, the status with its last piece.
    fn send_data(&mut self, pdu: &Pdu, out: &[u8], expected: usize) {
        let pieces = out.len().div_ceil(PIECE).max(1);
        for number in 0..pieces {
            let piece = &out[number * PIECE..out.len().min((number + 1) * PIECE)];
            let mut head = self.head(0x25, pdu);
            head[20..24].copy_from_slice(&NO_TAG);
            head[36..40].copy_from_slice(&(number as u32).to_be_bytes());
            head[40..44].copy_from_slice(&((number * PIECE) as u32).to_be_bytes());
            if number + 1 < pieces {
                head[1] = 0;
                self.send(head, piece);
                continue;
            }
            let missing = expected - out.len();
            // Final, with status; fewer bytes than were wanted.
            head[1] = 0x81 | if missing > 0 { 2 } else { 0 };
            head[44..48].copy_from_slice(&(missing as u32).to_be_bytes());
            self.send_counted(head, piece);
        }
    }
}

/// Sense data of the fixed format.
pub fn sense(key: u8, code: u8, qualifier: u8) -> Vec<u8> {
    let mut sense = vec![0; 18];
    (sense[0], sense[2], sense[7]) = (0x70, key, 10);
    (sense[12], sense[13]) = (code, qualifier);
    sense
}

/// ILLEGAL REQUEST: a command that is not known, or a field of it.
pub fn not_known() -> Answer {
    Err(sense(5, 0x20, 0))
}

fn wrong_field() -> Answer {
    Err(sense(5, 0x24, 0))
}

/// Commands that all of these drives answer alike (SPC-4, SBC-3).
fn of_any_drive(drive: &mut dyn Target, command: &[u8; 16], data: &[u8]) -> Answer {
    let blocks = (BYTES / BLOCK) as u64;
    let whole = |at: usize, bytes: usize| {
        let number = command[at..at + bytes].iter().fold(0u64, |all, it| all << 8 | u64::from(*it));
        usize::try_from(number).unwrap()
    };
    match command[0] {
        0x12 => inquiry(drive, command),
        // TEST UNIT READY, START STOP UNIT, both SYNCHRONIZE CACHE.
        0x00 | 0x1b | 0x35 | 0x91 => Ok(Vec::new()),
        0xa0 => Ok([&8u32.to_be_bytes()[..], &[0; 12]].concat()),
        0x25 => Ok([(blocks as u32 - 1).to_be_bytes(), (BLOCK as u32).to_be_bytes()].concat()),
        0x9e => {
            let mut page = vec![0; 32];
            page[..8].copy_from_slice(&(blocks - 1).to_be_bytes());
            page[8..12].copy_from_slice(&(BLOCK as u32).to_be_bytes());
            Ok(page)
        }
        0x1a | 0x5a => match command[2] & 0x3f {
            // The caching page: there is a write cache.
            0x08 | 0x3f => {
                let mut page = vec![0; 20];
                (page[0], page[1], page[2]) = (8, 18, 4);
                let head: &[u8] = match command[0] {
                    0x1a => &[23, 0, 0x10, 0],
                    _ => &[0, 26, 0, 0x10, 0, 0, 0, 0],
                };
                Ok([head, &page].concat())
            }
            _ => wrong_field(),
        },
        0x28 | 0x88 => {
            let (first, count) = extent(command[0] == 0x28, whole);
            Ok(drive.data()[first * BLOCK..(first + count) * BLOCK].to_vec())
        }
        0x2a | 0x8a => {
            let (first, _) = extent(command[0] == 0x2a, whole);
            drive.data()[first * BLOCK..first * BLOCK + data.len()].copy_from_slice(data);
            Ok(Vec::new())
        }
        _ => not_known(),
    }
}

/// First block and number of blocks of a READ or WRITE of 10 or 16 bytes.
fn extent(is_short: bool, whole: impl Fn(usize, usize) -> usize) -> (usize, usize) {
    if is_short { (whole(2, 4), whole(7, 2)) } else { (whole(2, 8), whole(10, 4)) }
}

fn inquiry(drive: &dyn Target, command: &[u8; 16]) -> Answer {
    let [vendor, product, serial] = drive.names();
    if command[1] & 1 == 0 {
        let mut page = vec![0; 96];
        (page[2], page[3], page[4]) = (6, 2, 91);
        page[8..16].copy_from_slice(format!("{vendor:8.8}").as_bytes());
        page[16..32].copy_from_slice(format!("{product:16.16}").as_bytes());
        page[32..36].copy_from_slice(b"1.0 ");
        return Ok(page);
    }
    let body = match command[2] {
        0x00 => vec![0x00, 0x80, 0x83, 0xb1],
        0x80 => format!("{serial:>20}").into_bytes(),
        0x83 => {
            let name = format!("{vendor:8.8}{product:40.40}{serial:>20}");
            [&[2, 1, 0, u8::try_from(name.len()).unwrap()][..], name.as_bytes()].concat()
        }
        0xb1 => [&[0, 1][..], &[0; 58]].concat(),
        _ => return wrong_field(),
    };
    let length = u16::try_from(body.len()).unwrap().to_be_bytes();
    Ok([&[0, command[2]][..], &length, &body].concat())
}
