//! What a disk is made of.

use super::geometry::Shape;
use serde::{Deserialize, Serialize};

/// The parameters of a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskParameters {
    /// Bytes a host can address.
    pub user_bytes: u64,
    /// Surfaces that are used.
    pub heads: u64,
    /// Zones of equally many cylinders.
    pub zones: u64,
    /// Turns a minute.
    pub rotation_rpm: u64,
    /// Bytes that pass under a head in a second, outermost zone. With the turns, the bytes and the
    /// heads this gives sectors and cylinders.
    pub outer_bytes_per_s: u64,
    /// Bytes that pass under a head in a second, innermost zone.
    pub inner_bytes_per_s: u64,
    /// Time to the next cylinder.
    pub seek_track_ns: u64,
    /// Time over a third of the cylinders: the average of data sheets.
    pub seek_average_ns: u64,
    /// Time over all cylinders.
    pub seek_full_ns: u64,
    /// Time to another head on the same cylinder.
    pub head_switch_ns: u64,
    /// What a write adds to a move of the arm or a switch of head.
    pub settle_write_ns: u64,
    /// Time of the controller for each command.
    pub command_ns: u64,
    /// Rate of the host's link.
    pub link_bytes_per_s: u64,
    /// Commands that the drive chooses from; 1: none but the first.
    pub queue_depth: u64,
    /// A command that has waited for so long goes first.
    pub age_limit_ns: u64,
    /// Memory for what was read and read ahead; 0: none.
    pub read_cache_bytes: u64,
    /// Runs into which that memory is divided.
    pub read_cache_segments: u64,
    /// Memory for writes that end before they reach the medium; 0: none end before.
    pub write_cache_bytes: u64,
    /// Runs of neighbouring sectors that this memory can hold, with the one being written.
    pub write_cache_runs: u64,
}

impl DiskParameters {
    /// Time of one turn, whole nanoseconds.
    pub fn rotation_ns(&self) -> u64 {
        60_000_000_000 / self.rotation_rpm.max(1)
    }

    pub(super) fn shape(&self) -> Shape {
        let settle_ns = self.settle_write_ns;
        Shape {
            user_bytes: self.user_bytes,
            heads: self.heads,
            zones: self.zones,
            rotation_ns: self.rotation_ns(),
            outer_bytes_per_s: self.outer_bytes_per_s,
            inner_bytes_per_s: self.inner_bytes_per_s,
            head_skew_ns: self.head_switch_ns + settle_ns,
            cylinder_skew_ns: self.seek_track_ns + settle_ns,
        }
    }

    /// Whether every value is in its range.
    ///
    /// # Errors
    /// Names the first that is not, and its constraint.
    pub fn validate(&self) -> Result<(), String> {
        for (name, value, least, most) in [
            ("user_bytes", self.user_bytes, 1 << 20, 1 << 50),
            ("heads", self.heads, 1, 64),
            ("zones", self.zones, 1, 1_000),
            ("rotation_rpm", self.rotation_rpm, 1_000, 100_000),
            ("outer_bytes_per_s", self.outer_bytes_per_s, 100_000, 10_000_000_000),
            ("inner_bytes_per_s", self.inner_bytes_per_s, 100_000, self.outer_bytes_per_s),
            ("seek_track_ns", self.seek_track_ns, 1, self.seek_average_ns),
            ("seek_average_ns", self.seek_average_ns, 1, self.seek_full_ns),
            ("seek_full_ns", self.seek_full_ns, 1, 1_000_000_000),
            ("head_switch_ns", self.head_switch_ns, 0, 100_000_000),
            ("settle_write_ns", self.settle_write_ns, 0, 100_000_000),
            ("command_ns", self.command_ns, 0, 100_000_000),
            ("link_bytes_per_s", self.link_bytes_per_s, self.outer_bytes_per_s, 1 << 40),
            ("queue_depth", self.queue_depth, 1, 65_536),
            ("age_limit_ns", self.age_limit_ns, 1_000_000, u64::MAX / 4),
            ("read_cache_bytes", self.read_cache_bytes, 0, 1 << 40),
            ("read_cache_segments", self.read_cache_segments, 0, 4_096),
            ("write_cache_bytes", self.write_cache_bytes, 0, 1 << 40),
            ("write_cache_runs", self.write_cache_runs, 0, 4_096),
        ] {
            if value < least || value > most {
                return Err(format!("{name} must be from {least} to {most}; it is {value}"));
            }
        }
        if (self.read_cache_bytes > 0) != (self.read_cache_segments > 0)
            || !self.read_cache_bytes.is_multiple_of(512 * self.read_cache_segments.max(1))
        {
            return Err(format!(
                "read_cache_bytes must divide into read_cache_segments of whole 512-byte sectors, \
                 or both be 0; they are {} and {}",
                self.read_cache_bytes, self.read_cache_segments
            ));
        }
        if (self.write_cache_bytes > 0) != (self.write_cache_runs > 0) {
            return Err(format!(
                "write_cache_bytes and write_cache_runs must both be 0 or both above; they are {} \
                 and {}",
                self.write_cache_bytes, self.write_cache_runs
            ));
        }
        Ok(())
    }
}
