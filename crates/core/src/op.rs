//! The smallest words of the language: time, actions, operations, completions.

use crate::cause::Cause;
use crate::trouble::Trouble;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Nanoseconds since the testbed began: wall or virtual, never mixed.
pub type Time = u64;

/// The last part of a wait for a due time is spun, because sleeping overshoots; in nanoseconds.
pub const SPIN_NS: Time = 60_000;

/// One second in [`Time`].
pub const SECOND: Time = 1_000_000_000;

/// Names an operation in flight: an index below the stream's depth.
pub type Tag = u32;

/// What an operation does. The order is that of the arrays indexed by it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
// As wide as the other fields of an operation: next to a byte an odd number of others would be
// copied with each operation, which a processor does slowly.
#[repr(u32)]
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
    /// Empty the zone at `offset`: its write pointer goes back to its first byte.
    Reset,
    /// Fill the zone at `offset` by declaration: it takes no more writes until it is reset.
    Finish,
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
    pub const ALL: [Action; 13] = [
        Action::Read,
        Action::Write,
        Action::Trim,
        Action::Flush,
        Action::Reset,
        Action::Finish,
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
            Action::Reset => "reset",
            Action::Finish => "finish",
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

    /// Whether it goes along with operations on data and is no part of their rate: what it costs is
    /// in its own latency.
    #[inline]
    pub fn goes_along(self) -> bool {
        matches!(self, Action::Flush | Action::Reset | Action::Finish)
    }

    /// Whether a device does it in a call that returns when it is done, whatever the engine.
    #[inline]
    pub fn is_a_call_of_its_own(self) -> bool {
        matches!(self, Action::Trim | Action::Reset | Action::Finish)
    }

    /// Whether it can change what is stored.
    pub fn changes_data(self) -> bool {
        !matches!(self, Action::Read | Action::Open | Action::Stat | Action::Flush)
    }
}

/// What a driver submits: bytes of a file, or a name in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// On bytes.
    Data(DataOp),
    /// On a name.
    Name(NameOp),
}

/// An operation on bytes of a file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataOp {
    /// What to do.
    pub action: Action,
    /// Which file of the worker.
    pub file: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// The priority that the kernel is told with it, in its own number; 0: that of the thread.
    pub priority: u32,
}

/// An operation on a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NameOp {
    /// What to do.
    pub action: Action,
    /// Which name of the worker, and in its lowest bit which form.
    named: u32,
    /// The pass that it belongs to: each has names of its own.
    pub pass: u64,
}

impl NameOp {
    /// Names that a worker can have.
    pub const NAMES_MAX: u32 = u32::MAX >> 1;

    /// `action` on the first form of name `name` of the worker, in pass 0.
    #[inline]
    pub fn new(action: Action, name: u32) -> NameOp {
        debug_assert!(name <= NameOp::NAMES_MAX, "name {name}");
        NameOp { action, named: name << 1, pass: 0 }
    }

    /// In another pass, and in the second form or not.
    #[inline]
    #[must_use]
    pub fn at(self, pass: u64, is_second_form: bool) -> NameOp {
        NameOp { named: self.named & !1 | u32::from(is_second_form), pass, ..self }
    }

    /// Which name of the worker.
    #[inline]
    pub fn name(&self) -> u32 {
        self.named >> 1
    }

    /// Whether it has the second of its two forms afterwards: a rename leads from the other one.
    #[inline]
    pub fn is_second_form(&self) -> bool {
        self.named & 1 == 1
    }
}

// Drivers keep one a slot and simulated drives pass millions a second on: it stays in 24 bytes.
const _: () = assert!(size_of::<Op>() <= 24);

impl Default for Op {
    fn default() -> Self {
        Op::Data(DataOp::default())
    }
}

impl Op {
    /// What to do.
    #[inline]
    pub fn action(&self) -> Action {
        match self {
            Op::Data(op) => op.action,
            Op::Name(op) => op.action,
        }
    }

    /// Bytes to move; an operation on a name moves none.
    #[inline]
    pub fn bytes(&self) -> u32 {
        match self {
            Op::Data(op) => op.len,
            Op::Name(_) => 0,
        }
    }

    /// It went to a queue of these, which cannot do it: a defect.
    #[cold]
    pub fn misplaced(self, queue: &str) -> Trouble {
        Trouble::defect(format!("`{}` went to a queue of {queue}", self.action().word()))
    }

    /// Where it goes.
    pub fn place(self) -> Place {
        match self {
            Op::Data(op) => Place::Data { offset: op.offset },
            Op::Name(op) => Place::Name { name: op.name(), pass: op.pass },
        }
    }

    /// The same place with another action.
    #[inline]
    #[must_use]
    pub fn with(self, action: Action) -> Op {
        match self {
            Op::Data(op) => Op::Data(DataOp { action, ..op }),
            Op::Name(op) => Op::Name(NameOp { action, ..op }),
        }
    }
}

impl From<DataOp> for Op {
    #[inline]
    fn from(op: DataOp) -> Op {
        Op::Data(op)
    }
}

impl From<NameOp> for Op {
    #[inline]
    fn from(op: NameOp) -> Op {
        Op::Name(op)
    }
}

/// What a queue of data takes; anything else is a defect.
impl TryFrom<Op> for DataOp {
    type Error = Trouble;

    #[inline]
    fn try_from(op: Op) -> Result<DataOp, Trouble> {
        match op {
            Op::Data(op) => Ok(op),
            Op::Name(_) => Err(op.misplaced("data")),
        }
    }
}

/// What a queue of names takes; anything else is a defect.
impl TryFrom<Op> for NameOp {
    type Error = Trouble;

    #[inline]
    fn try_from(op: Op) -> Result<NameOp, Trouble> {
        match op {
            Op::Name(op) => Ok(op),
            Op::Data(_) => Err(op.misplaced("names")),
        }
    }
}

/// Where an operation went, as records keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Place {
    /// On a name of the worker, in a pass.
    Name {
        /// Which name.
        name: u32,
        /// In which pass, from 0.
        pass: u64,
    },
    /// At a byte.
    Data {
        /// First byte.
        offset: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Data { offset } => write!(f, "at offset {offset}"),
            Place::Name { name, pass } => write!(f, "of name {name} in pass {}", pass + 1),
        }
    }
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Errno(pub i32);
