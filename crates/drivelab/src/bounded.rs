//! Files that people give as input, read with a bound: a device or an endless pipe in the place of
//! one costs a sentence and not the memory.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::path::Path;

/// Plans, specifications and profiles are written by hand, or by a program for a person.
pub const TEXT_BYTES_MAX: u64 = 1 << 24;
/// Traces and lists of offsets are kept in memory while they are replayed.
pub const TRACE_BYTES_MAX: u64 = 1 << 28;

/// All bytes of a file, if they are not too many.
///
/// # Errors
/// It cannot be read, or has more than `most` bytes.
pub fn bytes(path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Error::other(format!("it is larger than {} MiB", most >> 20))),
        false => Ok(bytes),
    }
}

/// The same as text.
///
/// # Errors
/// As [`bytes`], or it is not UTF-8.
pub fn text(path: impl AsRef<Path>, most: u64) -> Result<String> {
    String::from_utf8(bytes(path, most)?).map_err(|_| Error::other("it is not UTF-8 text"))
}
