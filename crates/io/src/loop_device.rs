//! What a loop device stands on, as its driver tells: kernel `include/uapi/linux/loop.h`.

use std::os::fd::AsRawFd;

use crate::identity::Identity;
use crate::system::{DeviceNumber, System};

/// What a loop device stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A block device.
    Device(DeviceNumber),
    /// A file; without time of birth, which the loop driver does not tell.
    File(Identity),
    /// A file on a file system served by a process or another machine, which is not asked.
    Elsewhere,
    /// Cannot be found out.
    Unknown,
}

impl Backing {
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Backing::Unknown
    }
}

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

const LOOP_GET_STATUS64: libc::Ioctl = 0x4c05;

/// Asks the loop driver itself, whose answer holds across deletion, renaming and namespaces;
/// `None` where the node is missing or may not be opened.
pub(crate) fn asked(system: &System, name: &str, number: DeviceNumber) -> Option<Backing> {
    let open = system.open_node(name, number).ok()?;
    // SAFETY: plain integers and arrays, for which all zero bytes are a value.
    let mut info: LoopInfo64 = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the kernel writes one `loop_info64` to `info`, which
    // has that layout (`repr(C)`) and outlives the call.
    let answer = unsafe { libc::ioctl(open.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) };
    if answer != 0 {
        return None;
    }
    // `lo_rdevice` is set for device files only; numbers are encoded as `st_dev` is, in 32 bits.
    Some(match info.rdevice {
        0 => Backing::File(Identity { device: info.device, inode: info.inode, birth: None }),
        raw => Backing::Device(DeviceNumber::from_raw(raw)),
    })
}

/// The block device that a loop device stands on, or the number of the file system that holds its
/// file, as the loop driver says; `None` where it may not be asked.
pub(crate) fn backing_device(
    system: &System,
    name: &str,
    number: DeviceNumber,
) -> Option<DeviceNumber> {
    match asked(system, name, number)? {
        Backing::Device(device) => Some(device),
        Backing::File(identity) => Some(DeviceNumber::from_raw(identity.device)),
        Backing::Elsewhere | Backing::Unknown => None,
    }
}
