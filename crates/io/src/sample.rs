//! Looks at a few blocks before a read step: were they ever written? Never inside a timed read.

use crate::buffer::Buffers;
use crate::target::{Mode, Target};
use drivelab_core::content::{self, UNIT_BYTES};
use drivelab_stats::{Random, derive};
use rustix::io::pread;

/// What a sample of blocks held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Blocks looked at.
    pub checked: u64,
    /// With a stamp for that very address.
    pub stamped: u64,
    /// All zeros: a hole, trimmed, or never written.
    pub zeros: u64,
    /// Anything else.
    pub other: u64,
}

/// Reads `count` random blocks of `length` bytes at `offset` of one file, past the page cache
/// where that is possible.
///
/// # Errors
/// The file cannot be opened or read.
pub fn sample_stamps(
    target: &Target,
    file: usize,
    offset: u64,
    length: u64,
    seed: u64,
    count: u64,
) -> std::io::Result<Sampled> {
    let unit = (UNIT_BYTES as u64).max(u64::from(target.logical_block_bytes));
    let units = length / unit;
    if units == 0 {
        return Ok(Sampled::default());
    }
    let direct = target.descriptor(file, Mode { direct: true, ..Mode::default() });
    let descriptor = direct.or_else(|_| target.descriptor(file, Mode::default()))?;
    let mut buffers = Buffers::new(1, unit as usize).map_err(std::io::Error::other)?;
    let mut random = Random::new(derive(seed, 0x73_616d_706c, offset));
    let mut sampled = Sampled::default();
    for _ in 0..count.min(units) {
        let address = (offset / unit + random.below(units)) * unit;
        let data = &mut buffers.slice(0)[..unit as usize];
        if pread(&descriptor, &mut *data, address)? < data.len() {
            continue;
        }
        sampled.checked += 1;
        match content::read_stamp(data) {
            Some(stamp) if stamp.address == address => sampled.stamped += 1,
            None if data.iter().all(|byte| *byte == 0) => sampled.zeros += 1,
            _ => sampled.other += 1,
        }
    }
    Ok(sampled)
}
