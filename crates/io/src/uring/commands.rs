//! NVMe commands through io_uring (`IORING_OP_URING_CMD`, Linux 5.19), handed to a namespace's
//! character device: no block layer is between, that would split, merge, schedule or count them.
//!
//! Sources: linux/nvme_ioctl.h (`struct nvme_uring_cmd`), linux/io_uring.h, and the NVM command set
//! specification (Read, Write, Flush, Dataset Management), and that of zoned namespaces (Zone
//! Management Send, Zone Append).

use super::{Freight, Registered, Ring};
use crate::buffer::Buffers;
use crate::cache;
use crate::engine::Opened;
use drivelab_core::defect::defect;
use drivelab_core::op::{Action, DataOp, Errno, Tag};
use drivelab_core::plan::{Stream, Sync};
use drivelab_core::queue::Trouble;
use io_uring::{cqueue, opcode, squeue, types};
use std::cell::UnsafeCell;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

/// `_IOWR('N', 0x80, struct nvme_uring_cmd)`, of 72 bytes.
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;

const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const DATASET_MANAGEMENT: u8 = 0x09;
const ZONE_MANAGEMENT_SEND: u8 = 0x79;
const ZONE_APPEND: u8 = 0x7d;

/// Command dword 11 of Dataset Management: deallocate.
const DEALLOCATE: u32 = 1 << 2;
/// Command dword 13 of Zone Management Send: what is done to the zone.
const FINISH_ZONE: u32 = 0x02;
const RESET_ZONE: u32 = 0x04;
/// Command dword 12 of a write: it is on the medium when it is done.
const FORCE_UNIT_ACCESS: u32 = 1 << 30;

/// Status type and code, without the bits that say how often to try again.
const STATUS_MASK: u16 = 0x7ff;

/// What Dataset Management is about: attributes, length and beginning of one range.
#[repr(C, align(16))]
#[derive(Debug, Default)]
struct Range {
    attributes: u32,
    blocks: u32,
    first: u64,
}

/// Commands to one namespace.
#[derive(Debug)]
pub struct Commands {
    identifier: u32,
    block_shift: u32,
    /// What writes are: Write, or Zone Append.
    write: u8,
    is_durable: bool,
    device: RawFd,
    registered: Registered,
    /// One for each tag, where there are trims. In cells: the kernel reads some while others are
    /// filled in.
    ranges: Vec<UnsafeCell<Range>>,
}

/// A command before it has a place in memory.
#[derive(Debug, Default, PartialEq, Eq)]
struct Command {
    opcode: u8,
    address: u64,
    bytes: u32,
    dwords: [u32; 4],
}

impl Command {
    /// `struct nvme_uring_cmd`, in the room that an entry of 128 bytes has for it.
    #[inline]
    fn bytes(&self, identifier: u32) -> [u8; 80] {
        let mut bytes = [0; 80];
        bytes[0] = self.opcode;
        bytes[4..8].copy_from_slice(&identifier.to_ne_bytes());
        bytes[24..32].copy_from_slice(&self.address.to_ne_bytes());
        bytes[36..40].copy_from_slice(&self.bytes.to_ne_bytes());
        for (place, dword) in [40, 44, 48, 52].into_iter().zip(self.dwords) {
            bytes[place..place + 4].copy_from_slice(&dword.to_ne_bytes());
        }
        bytes
    }
}

impl Commands {
    /// The command of an operation whose data is at this address.
    #[inline]
    fn command(&self, tag: Tag, op: &DataOp, address: u64) -> Command {
        let first = op.offset >> self.block_shift;
        let blocks = op.len >> self.block_shift;
        let place = [first as u32, (first >> 32) as u32];
        let moves = |opcode, flags| Command {
            opcode,
            address,
            bytes: op.len,
            dwords: [place[0], place[1], blocks.wrapping_sub(1) & 0xffff | flags, 0],
        };
        let zone = |act| Command {
            opcode: ZONE_MANAGEMENT_SEND,
            dwords: [place[0], place[1], 0, act],
            ..Command::default()
        };
        match op.action {
            Action::Reset => zone(RESET_ZONE),
            Action::Finish => zone(FINISH_ZONE),
            Action::Read => moves(READ, 0),
            Action::Write => moves(self.write, if self.is_durable { FORCE_UNIT_ACCESS } else { 0 }),
            Action::Flush => Command { opcode: FLUSH, ..Command::default() },
            Action::Trim => {
                let range = self.ranges[tag as usize].get();
                // SAFETY: the operation of this tag is not in flight yet, so that the kernel reads
                // other ranges at most; nobody else has a reference to this one.
                unsafe { range.write(Range { attributes: 0, blocks, first }) };
                Command {
                    opcode: DATASET_MANAGEMENT,
                    address: range as u64,
                    bytes: size_of::<Range>() as u32,
                    dwords: [0, DEALLOCATE, 0, 0],
                }
            }
            other => defect(format!("a {} was to be a command of NVMe", other.word())),
        }
    }

    #[inline]
    fn entry_of(&self, command: &Command) -> squeue::Entry128 {
        // A range is not in the memory that was registered, and nothing has no memory.
        let is_data = matches!(command.opcode, READ | WRITE | ZONE_APPEND);
        let buffer = (is_data && self.registered.buffers).then_some(0);
        let bytes = command.bytes(self.identifier);
        macro_rules! on {
            ($file:expr) => {
                opcode::UringCmd80::new($file, NVME_URING_CMD_IO)
                    .cmd(bytes)
                    .buf_index(buffer)
                    .build()
            };
        }
        match self.registered.files {
            true => on!(types::Fixed(0)),
            false => on!(types::Fd(self.device)),
        }
    }

    /// Whether the kernel carries commands for us: a read as long as any of the stream's requests
    /// goes there before time runs. What the drive answers does not matter here.
    fn try_out(
        &mut self,
        ring: &mut Ring<Self>,
        bytes: u32,
        buffers: &mut Buffers,
    ) -> Result<(), Errno> {
        let op = DataOp { action: Action::Read, len: bytes, ..DataOp::default() };
        let memory = buffers.lend(0);
        let entry = self.entry_of(&self.command(0, &op, memory as u64));
        let came = carry(ring, entry);
        match came {
            // SAFETY: it came back, so that the kernel is done with it.
            Ok(_) => unsafe { buffers.take_back(0) },
            Err(_) => buffers.leak(),
        }
        match came? {
            // Linux 6.0 takes no registered memory for commands.
            error if error == -libc::EINVAL && self.registered.buffers => {
                self.registered.buffers = false;
                self.try_out(ring, bytes, buffers)
            }
            error if error < 0 && error != -libc::EINTR => Err(Errno(-error)),
            _ => Ok(()),
        }
    }
}

/// Carries one entry to the kernel, waits for it, and gives its result.
fn carry(ring: &mut Ring<Commands>, entry: squeue::Entry128) -> Result<i32, Errno> {
    // SAFETY: its memory lives as long as the ring, and is not touched until it has come back.
    unsafe { ring.submission().push(&entry) }.map_err(|_| Errno(libc::EBUSY))?;
    loop {
        let waited = ring.submit_and_wait(1);
        if let Some(completion) = ring.completion().next() {
            return Ok(completion.result());
        }
        if let Err(error) = waited.as_ref()
            && !super::is_passing(error)
        {
            return Err(Errno(error.raw_os_error().unwrap_or(libc::EIO)));
        }
    }
}

/// Why the kernel does not carry commands to a namespace.
fn not_carried(node: &Path, bytes: u32, error: Errno) -> Trouble {
    let node = node.display();
    let reason = io::Error::from_raw_os_error(error.0);
    match error.0 {
        libc::EACCES | libc::EPERM => Trouble::usage(format!(
            "the kernel does not let this user send NVMe commands to {node} ({reason}): run as \
             root, or use --engine io_uring"
        )),
        libc::EINVAL => Trouble::usage(format!(
            "the kernel does not carry an NVMe command of {bytes} bytes to {node} ({reason}): use \
             a smaller --bs, or --engine io_uring, which splits requests"
        )),
        libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS => Trouble::usage(format!(
            "this kernel carries no NVMe commands of io_uring to {node} ({reason}; Linux 5.19 and \
             later do, where io_uring is not restricted): use --engine io_uring"
        )),
        _ => Trouble::failed(format!(
            "an NVMe command to {node} could not be sent ({reason}); see the kernel log (dmesg)"
        )),
    }
}

impl Freight for Commands {
    type Entry = squeue::Entry128;
    type Completion = cqueue::Entry32;

    fn files(opened: &Opened) -> Vec<RawFd> {
        opened.commands.iter().map(|to| to.descriptor.as_raw_fd()).collect()
    }

    fn refused(error: &io::Error) -> Trouble {
        match error.raw_os_error() {
            Some(libc::EINVAL) => Trouble::usage(
                "this kernel has no ring for commands of 128 bytes, or none that deep: Linux 5.19 \
                 and later have one; use --engine io_uring, or lower the depth (32768 at most)",
            ),
            _ => super::setup_failed(error),
        }
    }

    fn load(
        ring: &mut Ring<Self>,
        stream: &Stream,
        opened: &Opened,
        buffers: &mut Buffers,
        registered: Registered,
    ) -> Result<Self, Trouble> {
        let to = opened.commands.as_ref();
        let to = to.ok_or_else(|| Trouble::defect("there is no namespace to send commands to"))?;
        // What the page cache holds would not be what the drive holds, in either direction.
        cache::write_back(&opened.descriptor).map_err(|error| {
            Trouble::failed(format!("cached pages cannot be written back: {error}"))
        })?;
        let trims = if stream.mix.trim > 0 || stream.trim_first { buffers.count() } else { 0 };
        let mut commands = Commands {
            identifier: to.identifier,
            block_shift: to.block_bytes.trailing_zeros(),
            write: if stream.zone_append { ZONE_APPEND } else { WRITE },
            is_durable: stream.sync == Sync::Dsync,
            device: to.descriptor.as_raw_fd(),
            registered,
            ranges: (0..trims).map(|_| UnsafeCell::default()).collect(),
        };
        let longest = match stream.mix.read + stream.mix.write > 0 || stream.reply.is_some() {
            true => stream.size_max(),
            false => u64::from(to.block_bytes),
        };
        let longest = longest.min(opened.bytes).min(buffers.stride() as u64) as u32;
        let tried = commands.try_out(ring, longest, buffers);
        tried.map_err(|error| not_carried(&to.node, longest, error))?;
        Ok(commands)
    }

    #[inline]
    fn carries(_: Action) -> bool {
        true
    }

    #[inline]
    fn entry(&mut self, _: &Opened, tag: Tag, op: &DataOp, memory: *mut u8) -> squeue::Entry128 {
        self.entry_of(&self.command(tag, op, memory as u64))
    }

    #[inline]
    fn outcome(completion: &cqueue::Entry32, op: &DataOp) -> Result<u32, Errno> {
        outcome(completion.result(), op)
    }

    fn end(&mut self, opened: &Opened) {
        // What was read through the page cache meanwhile is not what the drive holds now.
        let _ = cache::drop_clean(&opened.descriptor);
    }

    fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.ranges));
    }
}

/// What a completion says: nothing but success has the value 0, a drive's status is above it, and
/// an error of the kernel below.
#[inline]
fn outcome(result: i32, op: &DataOp) -> Result<u32, Errno> {
    match result {
        0 if op.action == Action::Flush => Ok(0),
        0 => Ok(op.len),
        // The kernel gave it up, since its controller was reset or went away.
        error if error == -libc::EINTR => Err(Errno(libc::EIO)),
        error if error < 0 => Err(Errno(-error)),
        status => Err(answered(status as u16 & STATUS_MASK)),
    }
}

/// A drive's status as the kernel's block layer would put it (`nvme_error_status`), so that an
/// error has the same name whatever the engine.
fn answered(status: u16) -> Errno {
    Errno(match status {
        0x001 | 0x002 | 0x00b | 0x180 | 0x183 => libc::EOPNOTSUPP,
        0x021 | 0x080 | 0x082 => libc::EREMOTEIO,
        0x081 => libc::ENOSPC,
        0x083 => libc::EBADE,
        0x1bd => libc::EOVERFLOW,
        0x1be => libc::ETOOMANYREFS,
        0x182 | 0x280 | 0x281 | 0x285 | 0x286 | 0x287 => libc::ENODATA,
        0x181 | 0x282..=0x284 => libc::EILSEQ,
        0x370 => libc::ENOLINK,
        _ => libc::EIO,
    })
}

#[cfg(test)]
mod tests;
