//! Error numbers of the kernel.

use drivelab_core::op::Errno;

/// Our number for rustix's error.
pub fn errno(error: rustix::io::Errno) -> Errno {
    Errno(error.raw_os_error())
}

/// The error of the last libc call.
pub fn last_errno() -> Errno {
    Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}
