//! What an operation waited for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an operation on a simulated drive waited for longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// Not known: a real drive.
    #[default]
    Unknown,
    /// The host link or the drive's controller.
    Link,
    /// A free place in the write buffer.
    Buffer,
    /// The flash itself: sensing, programming, its bus.
    Flash,
    /// Other operations of the host on the same die.
    Queue,
    /// Collection: copying valid pages and erasing.
    Collection,
    /// A merge of log blocks.
    Merge,
    /// Wear levelling.
    Wear,
    /// The SLC cache being emptied.
    Fold,
    /// The map being fetched or written.
    Map,
    /// The arm of a disk.
    Seek,
    /// The rotation of a disk.
    Rotation,
    /// The track under the head: transfer.
    Transfer,
    /// Tokens of a volume with a limit.
    Credits,
    /// The network.
    Network,
    /// Other members of an array: reading what parity needs.
    Parity,
    /// The page cache of the host: copying, or too many dirty pages.
    PageCache,
    /// The drive itself, which had become too warm.
    Throttle,
    /// A block that the drive moves for itself: refresh, wear levelling by the clock.
    Relocation,
}

impl Cause {
    /// Every cause, in order of its number.
    pub const ALL: [Cause; 19] = [
        Cause::Unknown,
        Cause::Link,
        Cause::Buffer,
        Cause::Flash,
        Cause::Queue,
        Cause::Collection,
        Cause::Merge,
        Cause::Wear,
        Cause::Fold,
        Cause::Map,
        Cause::Seek,
        Cause::Rotation,
        Cause::Transfer,
        Cause::Credits,
        Cause::Network,
        Cause::Parity,
        Cause::PageCache,
        Cause::Throttle,
        Cause::Relocation,
    ];

    /// The cause of a number; [`Cause::Unknown`] beyond the last.
    #[inline]
    pub fn of(number: u8) -> Cause {
        Cause::ALL.get(number as usize).copied().unwrap_or_default()
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Cause::Unknown
    }

    /// What a reader is told the operation waited for.
    pub fn words(self) -> &'static str {
        match self {
            Cause::Unknown => "unknown",
            Cause::Link => "link and controller",
            Cause::Buffer => "write buffer full",
            Cause::Flash => "flash",
            Cause::Queue => "queue at a die",
            Cause::Collection => "garbage collection",
            Cause::Merge => "log block merge",
            Cause::Wear => "wear levelling",
            Cause::Fold => "SLC cache folding",
            Cause::Map => "map",
            Cause::Seek => "seek",
            Cause::Rotation => "rotation",
            Cause::Transfer => "transfer",
            Cause::Credits => "credits",
            Cause::Network => "network",
            Cause::Parity => "parity",
            Cause::PageCache => "page cache of the host",
            Cause::Throttle => "throttled: too warm",
            Cause::Relocation => "a block being moved",
        }
    }
}
