//! The smallest words of the language: time, actions, operations, completions.

use crate::cause::Cause;
use serde::{Deserialize, Serialize};

/// Nanoseconds since the testbed began: wall or virtual, never mixed.
pub type Time = u64;

/// One second in [`Time`].
pub const SECOND: Time = 1_000_000_000;

/// Names an operation in flight: an index below the stream's depth.
pub type Tag = u32;

/// What an operation does. The order is that of the arrays indexed by it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Action {
    /// Read `len` bytes at `offset`.
    #[default]
    Read,
    /// Write `len` bytes at `offset`.
    Write,
    /// Discard (device) or punch a hole (file).
    Trim,
    /// fsync or fdatasync, or a flush on a device.
    Flush,
    /// Create the name and close it.
    Create,
    /// Open the name and close it.
    Open,
    /// stat the name.
    Stat,
    /// Set both time stamps of the name.
    Utime,
    /// Rename the name to its second form (or back).
    Rename,
    /// Remove the name.
    Unlink,
    /// Make a directory of that name and remove it with the last pass.
    Mkdir,
}

impl Action {
    /// Every action, in index order.
    pub const ALL: [Action; 11] = [
        Action::Read,
        Action::Write,
        Action::Trim,
        Action::Flush,
        Action::Create,
        Action::Open,
        Action::Stat,
        Action::Utime,
        Action::Rename,
        Action::Unlink,
        Action::Mkdir,
    ];

    /// Position in [`Action::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The word used in JSON, TOML and tables.
    pub fn word(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Write => "write",
            Action::Trim => "trim",
            Action::Flush => "flush",
            Action::Create => "create",
            Action::Open => "open",
            Action::Stat => "stat",
            Action::Utime => "utime",
            Action::Rename => "rename",
            Action::Unlink => "unlink",
            Action::Mkdir => "mkdir",
        }
    }

    /// Whether it works on names in a directory rather than on data.
    pub fn is_metadata(self) -> bool {
        self.index() >= Action::Create.index()
    }

    /// Whether it can change what is stored.
    pub fn changes_data(self) -> bool {
        !matches!(self, Action::Read | Action::Open | Action::Stat | Action::Flush)
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Op {
    /// What to do.
    pub action: Action,
    /// Which file of the worker (data), or which name (metadata).
    pub file: u32,
    /// Metadata only: which form of the name a rename leads to.
    pub to: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// An operation that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Which operation.
    pub tag: Tag,
    /// Read just before the system call that carried the I/O.
    pub issued: Time,
    /// Read just after that call; equal to `completed` where the call is the I/O.
    pub submitted: Time,
    /// Read just after the call that returned the completion.
    pub completed: Time,
    /// Bytes moved, or the errno.
    pub result: Result<u32, Errno>,
    /// What it waited for longest; known on simulated drives.
    pub cause: Cause,
}

impl Done {
    /// An operation whose submission took no time of its own.
    pub fn simple(tag: Tag, issued: Time, completed: Time, result: Result<u32, Errno>) -> Self {
        Done { tag, issued, submitted: issued, completed, result, cause: Cause::Unknown }
    }
}

/// A kernel error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Errno(pub i32);
