//! A drive with a volatile write cache, served as a network block device (NBD, its newstyle
//! protocol) on a socket in the file system. Its medium is a file. To kill the process is to cut
//! the power: what the cache had not written down is gone.

pub mod cache;
pub mod promises;

use cache::{Cache, Mode};
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

const GREETING: &[u8; 16] = b"NBDMAGICIHAVEOPT";
const OPTION: &[u8; 8] = b"IHAVEOPT";
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;
/// Of the handshake: fixed newstyle, and no zeros after a name.
const HANDSHAKE: u16 = 3;
const NO_ZEROS: u32 = 2;
/// Has flags, takes flushes, FUA, trims and writes of zeros.
const ABILITIES: u16 = 1 | 4 | 8 | 32 | 64;
const FUA: u16 = 1;
/// No request is longer; the kernel's are not either.
const LONGEST: u32 = 32 << 20;

const ACKNOWLEDGED: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const UNSUPPORTED: u32 = 0x8000_0001;

const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;

/// Serves the file as a drive of this mode until it is killed. Words, as `word=number`: `seed` of
/// what is written down by chance, `capacity` of the cache in bytes.
pub fn serve(socket: &str, file: &str, mode: &str, words: &[&str]) {
    let number = |name: &str, otherwise: u64| {
        let mut pairs = words.iter().map(|word| word.split_once('=').expect("word=number"));
        let found = pairs.find(|(word, _)| *word == name);
        found.map_or(otherwise, |(_, number)| number.parse().expect("a number"))
    };
    let mode = Mode::named(mode).expect("honest, lying, holed or torn");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(file).expect("the file");
    let cache = Cache::new(file, mode, number("seed", 1), number("capacity", u64::MAX));
    let cache = Arc::new(Mutex::new(cache.expect("the size of the file")));
    std::fs::remove_file(socket).ok();
    let listener = UnixListener::bind(socket).expect("a socket");
    for stream in listener.incoming() {
        let (stream, cache) = (stream.expect("a connection"), Arc::clone(&cache));
        // The end of a connection leaves the cache as it is.
        std::thread::spawn(move || Connection { stream, cache }.serve().ok());
    }
}

struct Connection {
    stream: UnixStream,
    cache: Arc<Mutex<Cache>>,
}

impl Connection {
    fn serve(mut self) -> io::Result<()> {
        self.stream.write_all(&[&GREETING[..], &HANDSHAKE.to_be_bytes()].concat())?;
        let flags = u32::from_be_bytes(self.take()?);
        while !self.option(flags)? {}
        while self.request()? {}
        Ok(())
    }

    fn take<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn take_many(&mut self, count: u32) -> io::Result<Vec<u8>> {
        if count > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; count as usize];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn bytes(&self) -> u64 {
        self.cache.lock().unwrap().bytes()
    }

    /// One option of the handshake; whether requests follow.
    fn option(&mut self, flags: u32) -> io::Result<bool> {
        if self.take::<8>()? != *OPTION {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let option = u32::from_be_bytes(self.take()?);
        let length = u32::from_be_bytes(self.take()?);
        self.take_many(length)?;
        let export = [&self.bytes().to_be_bytes()[..], &ABILITIES.to_be_bytes()].concat();
        match option {
            1 => {
                let zeros = if flags & NO_ZEROS == 0 { 124 } else { 0 };
                self.stream.write_all(&[&export[..], &vec![0; zeros]].concat())?;
                Ok(true)
            }
            2 => {
                self.tell(option, ACKNOWLEDGED, &[])?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            3 => {
                self.tell(option, SERVER, &0_u32.to_be_bytes())?;
                self.tell(option, ACKNOWLEDGED, &[])?;
                Ok(false)
            }
            6 | 7 => {
                self.tell(option, INFORMATION, &[&0_u16.to_be_bytes()[..], &export].concat())?;
                self.tell(option, ACKNOWLEDGED, &[])?;
                Ok(option == 7)
            }
            _ => {
                self.tell(option, UNSUPPORTED, &[])?;
                Ok(false)
            }
        }
    }

    fn tell(&mut self, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
        let mut reply = OPTION_REPLY.to_be_bytes().to_vec();
        for number in [option, kind, data.len() as u32] {
            reply.extend(number.to_be_bytes());
        }
        self.stream.write_all(&[&reply, data].concat())
    }

    /// One request; whether another may follow.
    fn request(&mut self) -> io::Result<bool> {
        let head: [u8; 28] = self.take()?;
        if head[..4] != REQUEST.to_be_bytes() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let flags = u16::from_be_bytes([head[4], head[5]]);
        let kind = u16::from_be_bytes([head[6], head[7]]);
        let offset = u64::from_be_bytes(head[16..24].try_into().unwrap());
        let length = u32::from_be_bytes(head[24..28].try_into().unwrap());
        if kind == 2 {
            return Ok(false);
        }
        let data = if kind == 1 { self.take_many(length)? } else { Vec::new() };
        let answer = self.answer(kind, flags & FUA != 0, offset, length, &data)?;
        let (error, data) = match answer {
            Ok(data) => (0, data),
            Err(error) => (error, Vec::new()),
        };
        let mut reply = REPLY.to_be_bytes().to_vec();
        reply.extend(error.to_be_bytes());
        reply.extend(&head[8..16]);
        self.stream.write_all(&[reply, data].concat())?;
        Ok(true)
    }

    fn answer(
        &mut self,
        kind: u16,
        is_durable: bool,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> io::Result<Result<Vec<u8>, u32>> {
        let mut cache = self.cache.lock().unwrap();
        let is_inside = offset.checked_add(length.into()).is_some_and(|end| end <= cache.bytes());
        match kind {
            0 if is_inside && length <= LONGEST => cache.read(offset, length as usize).map(Ok),
            1 if is_inside => cache.write(offset, data, is_durable).map(|()| Ok(Vec::new())),
            3 => cache.flush().map(|()| Ok(Vec::new())),
            // What is trimmed reads as zeros, which the cache holds as it does data.
            4 | 6 if is_inside => cache.zero(offset, length, is_durable).map(|()| Ok(Vec::new())),
            1 | 6 => Ok(Err(ENOSPC)),
            _ => Ok(Err(EINVAL)),
        }
    }
}
