//! What is measured: a reader next to a writer, and writes of several sizes, orders and depths.

use crate::experiment::used::within;
use crate::experiment::{Setting, loads};
use drivelab_core::plan::{IoMode, Jump, Mix, Pattern, Stream};
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};

/// The reader whose waits are the headline, next to a writer.
pub const BESIDE: &str = "reader with a writer";
/// The same reader with the drive to itself.
pub const ALONE: &str = "reader alone";
/// The load by which the early flash drives were shown to freeze.
pub const RANDOM: &str = "random write 4 KiB";
/// All in order.
pub const SEQUENTIAL: &str = "sequential write 4 KiB";

/// Waits of a stream are listed from this length on.
pub const LISTED_NS: u64 = 10_000_000;

/// One load.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its name in the run.
    pub name: String,
    /// Bytes of a request.
    pub size: u64,
    /// Operations in flight.
    pub depth: u32,
    load: Load,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Load {
    Beside,
    Alone,
    Random,
    /// In order but for this share.
    Jumps(f64),
    Sequential,
}

/// The name of random writes of a size, one at a time.
pub fn of_size(size: u64) -> String {
    format!("random write {}", Size(size).to_string().replace("KiB", " KiB"))
}

/// The name of random writes of 4 KiB at a depth.
pub fn of_depth(depth: u32) -> String {
    format!("{RANDOM}, depth {depth}")
}

/// The name of writes of which this share, in percent, goes on where the last one ended.
pub fn of_order(percent: u32) -> String {
    format!("{percent} % sequential write 4 KiB")
}

/// Sizes beyond 4 KiB.
pub fn sizes(scale: Scale) -> &'static [u64] {
    match scale {
        Scale::Quick => &[128 << 10],
        _ => &[8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10],
    }
}

/// Shares of sequence in percent, besides all and nothing.
pub fn orders(scale: Scale) -> &'static [u32] {
    match scale {
        Scale::Quick => &[90],
        _ => &[90, 50],
    }
}

/// Depths beyond 1.
pub fn depths(scale: Scale) -> &'static [u32] {
    match scale {
        Scale::Quick => &[4],
        _ => &[2, 4, 8, 16, 32, 64],
    }
}

/// Whether more than one operation can be in flight.
pub fn is_deep(setting: &Setting<'_>) -> bool {
    loads::base(setting).io == IoMode::Direct
}

/// All cells in the order they are read.
pub fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let scale = setting.options.scale;
    let one = |name: String, load, size, depth| Cell { name, size, depth, load };
    let mut all = vec![
        one(BESIDE.into(), Load::Beside, 4096, 1),
        one(ALONE.into(), Load::Alone, 4096, 1),
        one(RANDOM.into(), Load::Random, 4096, 1),
    ];
    all.extend(sizes(scale).iter().map(|size| one(of_size(*size), Load::Random, *size, 1)));
    if scale != Scale::Quick {
        all.push(one(SEQUENTIAL.into(), Load::Sequential, 4096, 1));
    }
    let jumps = |percent: u32| Load::Jumps(1.0 - f64::from(percent) / 100.0);
    let orders = orders(scale).iter();
    all.extend(orders.map(|percent| one(of_order(*percent), jumps(*percent), 4096, 1)));
    if is_deep(setting) {
        let depths = depths(scale).iter();
        all.extend(depths.map(|depth| one(of_depth(*depth), Load::Random, 4096, *depth)));
    }
    all
}

impl Cell {
    /// The name of its load while nobody watches.
    pub fn settling(&self) -> String {
        format!("{}, settling", self.name)
    }

    /// Whether it is the reader and the writer.
    pub fn has_reader_and_writer(&self) -> bool {
        self.load == Load::Beside
    }

    /// Whether it writes in order, wholly or in part: then it first clears what random writes left
    /// in a drive's log, and takes a while for it.
    pub fn is_in_order(&self) -> bool {
        matches!(self.load, Load::Jumps(_) | Load::Sequential)
    }

    /// How many parts of the bytes it may write.
    pub fn writes(&self) -> u64 {
        match self.load {
            Load::Alone => 0,
            Load::Beside => super::READER_PARTS,
            _ => 1,
        }
    }

    /// Its streams on the first bytes of the target; of two the reader comes first.
    pub fn streams(&self, setting: &Setting<'_>, region: u64) -> Vec<Stream> {
        let base = |mix, depth| Stream {
            gap_over: Span(LISTED_NS),
            size: Size(self.size),
            ..within(setting, region, loads::random(setting, mix, depth))
        };
        let reader = || Stream { name: "reader".into(), ..base(Mix::READ, 1) };
        let write = base(Mix::WRITE, self.depth);
        match self.load {
            Load::Alone => vec![reader()],
            Load::Beside => {
                let name = "writer".into();
                vec![reader(), Stream { name, background: true, ..write }]
            }
            Load::Random => vec![write],
            Load::Jumps(share) => {
                vec![Stream { pattern: Pattern::SemiRandom(Jump::Share(Some(share))), ..write }]
            }
            Load::Sequential => vec![Stream { pattern: Pattern::SEQUENTIAL, ..write }],
        }
    }
}
