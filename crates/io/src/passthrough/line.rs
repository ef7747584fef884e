//! The line to a drive: seven calls, and the only place that makes them.

use crate::errno::last_errno;
use drivelab_core::op::Errno;
use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// How long [`Line::pause`] lasts.
pub const PAUSE_MS: u64 = 1000;

/// An NVMe admin command; its data goes from the drive to the host or nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AdminCommand {
    /// Opcode.
    pub opcode: u8,
    /// Namespace identifier.
    pub namespace: u32,
    /// Command dword 10.
    pub dword_10: u32,
    /// When the kernel gives it up.
    pub timeout_ms: u32,
}

/// Data of a SCSI command.
#[derive(Debug)]
pub enum Transfer<'a> {
    /// No data is transferred.
    Nothing,
    /// From the drive.
    In(&'a mut [u8]),
    /// To the drive.
    Out(&'a [u8]),
}

/// How a SCSI command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// SCSI status.
    pub status: u8,
    /// Of the adapter (`DID_…` of the kernel's SCSI layer).
    pub host_status: u16,
    /// Of the driver.
    pub driver_status: u16,
    /// Sense data, as far as written.
    pub sense: Vec<u8>,
}

/// A drive that takes commands.
pub trait Line {
    /// The namespace that this device is.
    fn namespace(&mut self) -> Result<u32, Errno>;
    /// Sends an NVMe admin command; gives its status, 0 for success.
    fn admin(&mut self, command: AdminCommand, data: &mut [u8]) -> Result<u16, Errno>;
    /// The same for a log page whose data begin at this byte of the log.
    fn log_from(
        &mut self,
        command: AdminCommand,
        offset: u64,
        data: &mut [u8],
    ) -> Result<u16, Errno>;
    /// Sends an NVMe admin command; gives its status and what it answers with (dword 0 of its
    /// completion). A feature that has data needs room for it: the drive writes it anyway.
    fn feature(
        &mut self,
        command: AdminCommand,
        dword_11: u32,
        data: &mut [u8],
    ) -> Result<(u16, u32), Errno>;
    /// Sends a SCSI command.
    fn scsi(
        &mut self,
        command: [u8; 16],
        transfer: Transfer<'_>,
        timeout_ms: u32,
    ) -> Result<Reply, Errno>;
    /// Writes back and drops what the page cache holds of the device.
    fn drop_pages(&mut self) -> Result<(), Errno>;
    /// Waits for [`PAUSE_MS`]; whether we were asked to stop.
    fn pause(&mut self) -> bool;
}

/// `_IO('N', 0x40)` of linux/nvme_ioctl.h.
const NVME_IOCTL_ID: libc::Ioctl = libc::_IO(b'N' as u32, 0x40);
/// `_IOWR('N', 0x41, struct nvme_admin_cmd)` of linux/nvme_ioctl.h.
const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = libc::_IOWR::<NvmePassthru>(b'N' as u32, 0x41);
/// Of scsi/sg.h.
const SG_IO: libc::Ioctl = 0x2285;
/// `_IO(0x12, 97)` of linux/fs.h.
const BLKFLSBUF: libc::Ioctl = libc::_IO(0x12, 97);

/// `SG_DXFER_NONE`, `SG_DXFER_TO_DEV` and `SG_DXFER_FROM_DEV` of scsi/sg.h.
const SG_NONE: c_int = -1;
const SG_TO_DEVICE: c_int = -2;
const SG_FROM_DEVICE: c_int = -3;

const SENSE_BYTES: usize = 64;

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct NvmePassthru {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// `struct sg_io_hdr` of scsi/sg.h.
#[repr(C)]
struct SgHeader {
    interface_id: c_int,
    dxfer_direction: c_int,
    cmd_len: c_uchar,
    mx_sb_len: c_uchar,
    iovec_count: c_ushort,
    dxfer_len: c_uint,
    dxferp: *mut c_void,
    cmdp: *const c_uchar,
    sbp: *mut c_uchar,
    timeout: c_uint,
    flags: c_uint,
    pack_id: c_int,
    usr_ptr: *mut c_void,
    status: c_uchar,
    masked_status: c_uchar,
    msg_status: c_uchar,
    sb_len_wr: c_uchar,
    host_status: c_ushort,
    driver_status: c_ushort,
    resid: c_int,
    duration: c_uint,
    info: c_uint,
}

/// The line through the kernel.
pub struct Kernel<'a> {
    device: BorrowedFd<'a>,
}

impl<'a> Kernel<'a> {
    /// To the drive behind `device`.
    pub fn new(device: BorrowedFd<'a>) -> Self {
        Kernel { device }
    }

    /// Status and answer of an NVMe admin command; `dwords` are those behind command dword 10.
    fn nvme(
        &self,
        command: AdminCommand,
        dwords: [u32; 3],
        data: &mut [u8],
    ) -> Result<(u16, u32), Errno> {
        let data_len = u32::try_from(data.len()).map_err(|_| Errno(libc::EINVAL))?;
        let [dword_11, dword_12, dword_13] = dwords;
        let mut passthru = NvmePassthru {
            opcode: command.opcode,
            nsid: command.namespace,
            addr: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
            data_len,
            cdw10_to_15: [command.dword_10, dword_11, dword_12, dword_13, 0, 0],
            timeout_ms: command.timeout_ms,
            ..NvmePassthru::default()
        };
        // SAFETY: the kernel reads and writes one nvme_passthru_cmd, and copies or maps exactly
        // data_len bytes at addr, which are `data`, borrowed until the call has returned.
        let status = unsafe {
            libc::ioctl(self.device.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &raw mut passthru)
        };
        let status = answered(status)?;
        Ok((u16::try_from(status).unwrap_or(u16::MAX), passthru.result))
    }
}

/// How long a SCSI command with this operation code is: its group stands in the upper three bits
/// (SPC-4, 4.2.5.1). Bridges may refuse one with more bytes than it has.
fn command_bytes(operation: u8) -> c_uchar {
    match operation >> 5 {
        0 => 6,
        1 | 2 => 10,
        5 => 12,
        _ => 16,
    }
}

/// Zero or a positive answer, or the error of the call that just returned.
fn answered(status: c_int) -> Result<u32, Errno> {
    u32::try_from(status).map_err(|_| last_errno())
}

impl Line for Kernel<'_> {
    fn namespace(&mut self) -> Result<u32, Errno> {
        // SAFETY: NVME_IOCTL_ID takes no argument.
        answered(unsafe { libc::ioctl(self.device.as_raw_fd(), NVME_IOCTL_ID) })
    }

    fn admin(&mut self, command: AdminCommand, data: &mut [u8]) -> Result<u16, Errno> {
        self.nvme(command, [0; 3], data).map(|(status, _)| status)
    }

    fn log_from(
        &mut self,
        command: AdminCommand,
        offset: u64,
        data: &mut [u8],
    ) -> Result<u16, Errno> {
        // Dwords 12 and 13: the lower and the upper half of the offset.
        let dwords = [0, offset as u32, (offset >> 32) as u32];
        self.nvme(command, dwords, data).map(|(status, _)| status)
    }

    fn feature(
        &mut self,
        command: AdminCommand,
        dword_11: u32,
        data: &mut [u8],
    ) -> Result<(u16, u32), Errno> {
        self.nvme(command, [dword_11, 0, 0], data)
    }

    fn scsi(
        &mut self,
        command: [u8; 16],
        transfer: Transfer<'_>,
        timeout_ms: u32,
    ) -> Result<Reply, Errno> {
        let mut sense = [0u8; SENSE_BYTES];
        let (direction, pointer, bytes) = match transfer {
            Transfer::Nothing => (SG_NONE, std::ptr::null_mut(), 0),
            Transfer::In(data) => (SG_FROM_DEVICE, data.as_mut_ptr().cast(), data.len()),
            Transfer::Out(data) => (SG_TO_DEVICE, data.as_ptr().cast_mut().cast(), data.len()),
        };
        let dxfer_len = c_uint::try_from(bytes).map_err(|_| Errno(libc::EINVAL))?;
        let mut header = SgHeader {
            interface_id: c_int::from(b'S'),
            dxfer_direction: direction,
            cmd_len: command_bytes(command[0]),
            mx_sb_len: SENSE_BYTES as c_uchar,
            iovec_count: 0,
            dxfer_len,
            dxferp: pointer,
            cmdp: command.as_ptr(),
            sbp: sense.as_mut_ptr(),
            timeout: timeout_ms,
            flags: 0,
            pack_id: 0,
            usr_ptr: std::ptr::null_mut(),
            status: 0,
            masked_status: 0,
            msg_status: 0,
            sb_len_wr: 0,
            host_status: 0,
            driver_status: 0,
            resid: 0,
            duration: 0,
            info: 0,
        };
        // SAFETY: the kernel reads and writes one sg_io_hdr, reads cmd_len bytes of `command`,
        // writes mx_sb_len bytes of `sense` at most, and moves dxfer_len bytes at dxferp in the
        // stated direction only; all of them live until the call has returned.
        answered(unsafe { libc::ioctl(self.device.as_raw_fd(), SG_IO, &raw mut header) })?;
        Ok(Reply {
            status: header.status,
            host_status: header.host_status,
            driver_status: header.driver_status,
            sense: sense[..SENSE_BYTES.min(header.sb_len_wr.into())].to_vec(),
        })
    }

    fn drop_pages(&mut self) -> Result<(), Errno> {
        // SAFETY: BLKFLSBUF ignores its argument.
        answered(unsafe { libc::ioctl(self.device.as_raw_fd(), BLKFLSBUF, 0) }).map(|_| ())
    }

    fn pause(&mut self) -> bool {
        std::thread::sleep(Duration::from_millis(PAUSE_MS));
        crate::signal::interrupted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn the_kernels_structures_are_laid_out_as_in_its_headers() {
        assert_eq!(size_of::<NvmePassthru>(), 72);
        assert_eq!(offset_of!(NvmePassthru, nsid), 4);
        assert_eq!(offset_of!(NvmePassthru, addr), 24);
        assert_eq!(offset_of!(NvmePassthru, data_len), 36);
        assert_eq!(offset_of!(NvmePassthru, cdw10_to_15), 40);
        assert_eq!(offset_of!(NvmePassthru, timeout_ms), 64);
        assert_eq!(offset_of!(NvmePassthru, result), 68);
    }

    #[test]
    fn commands_have_the_length_of_their_group() {
        assert_eq!([0x12, 0x4d, 0x85, 0xa1].map(command_bytes), [6, 10, 16, 12]);
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn the_header_of_scsi_commands_is_laid_out_as_in_its_header_file() {
        assert_eq!(size_of::<SgHeader>(), 88);
        assert_eq!(offset_of!(SgHeader, dxfer_len), 12);
        assert_eq!(offset_of!(SgHeader, cmdp), 24);
        assert_eq!(offset_of!(SgHeader, sbp), 32);
        assert_eq!(offset_of!(SgHeader, timeout), 40);
        assert_eq!(offset_of!(SgHeader, usr_ptr), 56);
        assert_eq!(offset_of!(SgHeader, status), 64);
        assert_eq!(offset_of!(SgHeader, sb_len_wr), 67);
        assert_eq!(offset_of!(SgHeader, host_status), 68);
        assert_eq!(offset_of!(SgHeader, driver_status), 70);
        assert_eq!(offset_of!(SgHeader, info), 80);
    }

    #[cfg(all(target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[test]
    fn the_numbers_of_the_calls_are_the_kernels() {
        assert_eq!(NVME_IOCTL_ID, 0x4e40);
        assert_eq!(NVME_IOCTL_ADMIN_CMD, 0xc048_4e41);
        assert_eq!(BLKFLSBUF, 0x1261);
    }
}
