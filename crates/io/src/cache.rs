//! Writes back and drops what the page cache holds of one file or device.

use rustix::fs::{Advice, fadvise, fsync};
use std::io;
use std::os::fd::AsFd;

/// Writes dirty pages of this file back, then lets go of its clean ones (`posix_fadvise(2)`,
/// `POSIX_FADV_DONTNEED`). Pages that are mapped or locked by others stay.
///
/// # Errors
/// As `fsync(2)` and `posix_fadvise(2)` say.
pub fn drop_cached(file: impl AsFd) -> io::Result<()> {
    fsync(&file)?;
    drop_clean(file)
}

/// Lets go of its clean pages, and of no dirty ones (`POSIX_FADV_DONTNEED`).
///
/// # Errors
/// As `posix_fadvise(2)` says.
pub fn drop_clean(file: impl AsFd) -> io::Result<()> {
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}
