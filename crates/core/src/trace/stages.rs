//! Where the time of an I/O goes on a simulated drive, which knows it of each one to the
//! nanosecond.

use crate::op::Action;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A stage on the way through a simulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The fixed time of a command: host and protocol.
    Command,
    /// Data on the link of the host.
    Link,
    /// The controller with this command.
    Controller,
    /// Waiting for others: in the controller, for link, channel, die, arm or limit.
    Queue,
    /// Waiting for a place in the write buffer, or for it to be written out.
    Buffer,
    /// Looking up the map on flash.
    Map,
    /// Merging blocks to make room.
    Merge,
    /// Sensing, programming, and moving data between cell and controller.
    Flash,
    /// The arm moves.
    Seek,
    /// The sector comes round.
    Rotation,
    /// The sectors pass.
    Transfer,
    /// A network, and what answers behind it.
    Network,
    /// An array, as a whole.
    Array,
    /// The page cache of the host with everything behind it, as a whole.
    PageCache,
    /// A file system with everything behind it, as a whole.
    FileSystem,
    /// A drive whose stages are not told apart.
    Drive,
}

impl Stage {
    /// In the order of a path.
    pub const ALL: [Stage; 16] = [
        Stage::Command,
        Stage::Link,
        Stage::Controller,
        Stage::Queue,
        Stage::Buffer,
        Stage::Map,
        Stage::Merge,
        Stage::Flash,
        Stage::Seek,
        Stage::Rotation,
        Stage::Transfer,
        Stage::Network,
        Stage::Array,
        Stage::PageCache,
        Stage::FileSystem,
        Stage::Drive,
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Command => "host command",
            Stage::Link => "link",
            Stage::Controller => "controller",
            Stage::Queue => "queue",
            Stage::Buffer => "write buffer",
            Stage::Map => "map",
            Stage::Merge => "merge",
            Stage::Flash => "flash",
            Stage::Seek => "seek",
            Stage::Rotation => "rotation",
            Stage::Transfer => "transfer",
            Stage::Network => "network",
            Stage::Array => "array",
            Stage::PageCache => "page cache",
            Stage::FileSystem => "file system",
            Stage::Drive => "drive",
        }
    }
}

/// The stages of one I/O, in nanoseconds, in the order of [`Stage::ALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Staged(pub [u64; Stage::ALL.len()]);

impl Staged {
    /// An I/O that took `total_ns`, of which each stage has what it says, as far as that goes; it
    /// waited for the rest.
    ///
    /// ```
    /// use drivelab_core::stages::{Stage, Staged};
    ///
    /// let staged = Staged::of(100, &[(Stage::Command, 5), (Stage::Flash, 50)]);
    /// assert_eq!((staged.of_stage(Stage::Queue), staged.total_ns()), (45, 100));
    /// ```
    pub fn of(total_ns: u64, own: &[(Stage, u64)]) -> Self {
        let mut staged = Staged::default();
        let mut left_ns = total_ns;
        for (stage, own_ns) in own {
            let own_ns = (*own_ns).min(left_ns);
            staged.0[*stage as usize] += own_ns;
            left_ns -= own_ns;
        }
        staged.0[Stage::Queue as usize] += left_ns;
        staged
    }

    /// What one stage took.
    pub fn of_stage(&self, stage: Stage) -> u64 {
        self.0[stage as usize]
    }

    /// All of them together.
    pub fn total_ns(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// All I/Os of one kind whose stages were noted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindStages {
    /// Read or write.
    pub kind: Action,
    /// Number of operations.
    pub operations: u64,
    /// Issued → completed, of all of them.
    pub total_ns: u64,
    /// What each stage took of that: no more and no less.
    pub parts_ns: BTreeMap<Stage, u64>,
}

impl KindStages {
    /// None yet.
    pub fn new(kind: Action) -> Self {
        KindStages { kind, operations: 0, total_ns: 0, parts_ns: BTreeMap::new() }
    }

    /// Adds one I/O.
    pub fn add(&mut self, total_ns: u64, staged: &Staged) {
        self.operations += 1;
        self.total_ns += total_ns;
        for (stage, ns) in Stage::ALL.into_iter().zip(staged.0) {
            if ns > 0 {
                *self.parts_ns.entry(stage).or_insert(0) += ns;
            }
        }
    }

    /// Adds those of another step.
    pub fn merge(&mut self, other: &KindStages) {
        self.operations += other.operations;
        self.total_ns += other.total_ns;
        for (stage, ns) in &other.parts_ns {
            *self.parts_ns.entry(*stage).or_insert(0) += ns;
        }
    }

    /// What one stage took on average.
    pub fn mean_ns(&self, stage: Stage) -> f64 {
        let sum = self.parts_ns.get(&stage).copied().unwrap_or(0);
        sum as f64 / self.operations.max(1) as f64
    }
}
