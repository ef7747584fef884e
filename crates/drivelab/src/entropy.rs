//! A little randomness from the system, for seeds and run IDs.

use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

/// Eight random bytes; from the time where the system has none to give.
fn bits() -> u64 {
    let mut bytes = [0; 8];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if read.is_ok() {
        return u64::from_ne_bytes(bytes);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut state = since.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32);
    drivelab_stats::splitmix64(&mut state)
}

/// A seed that a person can copy: at most six digits.
pub fn seed() -> u64 {
    1 + bits() % 999_999
}

/// Four hexadecimal digits.
pub fn four_digits() -> String {
    format!("{:04x}", bits() & 0xffff)
}
