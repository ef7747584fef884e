//! Where the I/O of jobs goes: files in a directory, regions of a simulated drive, or one drive.

use super::names::Named;
use drivelab_core::plan::{Files, PlanFile};

/// Where the I/O of one job goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index of its first file among those of the plan.
    pub first: u32,
    /// Files that each clone uses.
    pub per_clone: u32,
    /// Each clone has files of its own.
    pub each: bool,
    /// First byte of the region.
    pub offset: u64,
    /// Added for each further clone.
    pub offset_each: u64,
    /// Bytes of the region in each file.
    pub length: u64,
    /// Bytes of all its files that one clone goes over.
    pub size: u64,
    /// Bytes of each of its files, or of the drive.
    pub file_bytes: u64,
    /// Its files are regions of a drive: `offset` and `offset_each` say where; no file is named.
    pub is_on_drive: bool,
    /// It works on names and not on what is in files.
    pub names: Option<Named>,
}

impl Place {
    /// Index of its first file as a stream has it.
    pub fn first_file(&self) -> u32 {
        if self.is_on_drive { 0 } else { self.first }
    }

    /// How a stream shares out its files.
    pub fn shared(&self) -> Files {
        if self.each && !self.is_on_drive { Files::Each } else { Files::One }
    }
}

/// Where files lie on a simulated drive, which has no names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDrive {
    /// First byte of each file, and the end of the last.
    pub begins: Vec<u64>,
    /// Bytes that the files need.
    pub asked: u64,
    /// Bytes that the drive has.
    pub bytes: u64,
    /// What is made smaller is a multiple of this.
    pub grain: u64,
}

impl OnDrive {
    /// Whether the files need more than the drive has.
    pub fn is_shrunk(&self) -> bool {
        self.asked > self.bytes
    }

    /// This many bytes of a file, in proportion if the files are made smaller.
    pub fn shrunk(&self, bytes: u64) -> u64 {
        if !self.is_shrunk() {
            return bytes;
        }
        let share = u128::from(bytes) * u128::from(self.bytes) / u128::from(self.asked);
        u64::try_from(share).unwrap_or(u64::MAX) / self.grain * self.grain
    }
}

/// The files of all jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The target, as our own command line has it.
    pub target: String,
    /// The files by name; none of a device.
    pub files: Vec<PlanFile>,
    /// Whether each of them has to be laid out before it is read, and whether it is there.
    pub states: Vec<State>,
    /// One for each job.
    pub jobs: Vec<Place>,
    /// The files are regions of the target, here.
    pub on_drive: Option<OnDrive>,
}

/// What is known of a file beforehand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct State {
    /// It is there, and large enough.
    pub is_there: bool,
    /// Bytes of it, if there is a file.
    pub bytes: Option<u64>,
    /// A job reads it.
    pub is_read: bool,
    /// A job writes it.
    pub is_written: bool,
}
