//! The loads of IOR: segments of blocks, written and read in transfers by several workers, each
//! with a file of its own (N-N) or all in one (N-1).

use super::{Cell, Group, Load, Quantity, Shape, WORKERS, durable};
use crate::experiment::Setting;
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Files, IoMode, Mix, Pattern, Sharing, Stream, Until};
use drivelab_core::quantity::size;
use drivelab_core::units::{Size, Span};

/// Blocks and transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Contiguous bytes of one worker in a segment.
    pub block: u64,
    /// Bytes of one operation.
    pub transfer: u64,
    /// Segments of the command line as it was published.
    pub segments: u64,
    /// Percentage of the drive that those were, where they do not fit.
    pub percent: u64,
}

/// Small transfers: `-b 64k -s 200000 -t 4k`.
pub const SMALL: Layout =
    Layout { block: 64 << 10, transfer: 4 << 10, segments: 200_000, percent: 83 };
/// Large ones: `-b 1M -s 14000 -t 256k`.
pub const LARGE: Layout =
    Layout { block: 1 << 20, transfer: 256 << 10, segments: 14_000, percent: 93 };

/// Who owns what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A file (on a device: a region) for each worker.
    Each,
    /// One file, in which the blocks of the workers take turns.
    All,
}

impl Owner {
    /// Both ways of sharing files.
    pub const BOTH: [Owner; 2] = [Owner::Each, Owner::All];

    /// The way in words.
    pub fn words(self) -> &'static str {
        match self {
            Owner::Each => "N-N",
            Owner::All => "N-1",
        }
    }
}

/// The stream of all workers over `bytes` in all, in the given direction.
pub fn stream(
    setting: &Setting<'_>,
    shape: &Shape,
    layout: &Layout,
    owner: Owner,
    bytes: u64,
    mix: Mix,
) -> Stream {
    let workers = u64::from(WORKERS);
    let whole = bytes / workers / layout.block * layout.block;
    let base = Stream {
        mix,
        size: Size(layout.transfer),
        workers: WORKERS,
        length: Some(Size(whole * workers)),
        ..shape.stream(shape.is_cached)
    };
    let stream = match owner {
        Owner::Each if setting.is_drive() || has_one_file(setting) => {
            Stream { regions: Some(Sharing::Disjoint), ..base }
        }
        Owner::Each => Stream { files: Files::Each, length: Some(Size(whole)), ..base },
        Owner::All => Stream {
            pattern: Pattern::Segments {
                block: Size(layout.block),
                segments: Some(whole / layout.block),
            },
            ..base
        },
    };
    durable(stream)
}

/// Whether the target is one file that is there, or one path: workers then have regions of it.
pub fn has_one_file(setting: &Setting<'_>) -> bool {
    setting.facts.target.kind != drivelab_core::facts::TargetKind::Directory
}

/// The load of one layout and owner: write, then read.
pub fn group(
    setting: &Setting<'_>,
    shape: &Shape,
    layout: &Layout,
    owner: Owner,
    bytes: u64,
) -> Group {
    let mut group = Group::default();
    for (word, mix, action) in
        [("write", Mix::WRITE, Action::Write), ("read", Mix::READ, Action::Read)]
    {
        let stream = stream(setting, shape, layout, owner, bytes, mix);
        let name =
            format!("{word} {} in {} {}", size(layout.block), size(layout.transfer), owner.words());
        let is_cached_read = stream.io == IoMode::Buffered && action == Action::Read;
        let acts = if is_cached_read { vec![Act::DropCaches] } else { Vec::new() };
        let elapsed = shape.cell_ns.map(Span);
        let until = Until { passes: Some(1), elapsed, ..Until::default() };
        group.loads.push(Load { name: name.clone(), acts, stream, until });
        let row = format!("{word}, {}", owner.words());
        let quantity = Quantity::Bytes(layout.transfer);
        let column = layout.transfer;
        group.cells.push(Cell { load: name.clone(), name, action, quantity, row, column });
    }
    group
}
