//! The ten patterns as Da Zhou's slides and Iometer's access specifications define them, and one
//! that looks for boundaries at which the drive splits requests: what is issued, and what each is
//! compared with.

use crate::experiment::order::shuffle;
use crate::experiment::{Setting, loads};
use drivelab_core::plan::{self, Arrival, Jump, Mix, Reply, Stream};
use drivelab_core::quantity::{size, time};
use drivelab_core::study::Scale;
use drivelab_core::units::{Size, Span};
use drivelab_stats::{Domain, Random};

/// Requests next to the smallest ones, and the area that drives are built around.
pub const LARGE_BYTES: u64 = 4096;

/// Requests that lie across the ends of pieces: two of the areas that drives are built around, so
/// that neither of them is cut.
pub const ACROSS_BYTES: u64 = 2 * LARGE_BYTES;

/// What a pattern is a variant of; the columns of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    RandomRead,
    SequentialRead,
    RandomWrite,
    SequentialWrite,
}

impl Base {
    pub const ALL: [Base; 4] =
        [Base::RandomRead, Base::SequentialRead, Base::RandomWrite, Base::SequentialWrite];

    pub fn words(self) -> &'static str {
        match self {
            Base::RandomRead => "random read",
            Base::SequentialRead => "sequential read",
            Base::RandomWrite => "random write",
            Base::SequentialWrite => "sequential write",
        }
    }

    pub fn is_write(self) -> bool {
        matches!(self, Base::RandomWrite | Base::SequentialWrite)
    }

    pub fn is_random(self) -> bool {
        matches!(self, Base::RandomRead | Base::RandomWrite)
    }

    /// The same direction in the other order.
    pub fn random(self) -> Base {
        if self.is_write() { Base::RandomWrite } else { Base::RandomRead }
    }
}

/// One pattern with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// 1: requests of the unit.
    Plain,
    /// 1: requests of 4 KiB.
    Large,
    /// 1: requests of this many bytes, for absolute figures.
    Sized(u64),
    /// 2 and 8: on a grid of this many bytes; in order with holes between them.
    Grid(u64),
    /// 2: requests of 4 KiB, this many bytes off their grid.
    Shifted(u64),
    /// 3: a pause after each operation.
    Delay(u64),
    /// 4a: each is followed by the opposite direction at the next address (Iometer's reply).
    Reply,
    /// 4b: the same this many addresses again and again.
    Replay(u32),
    /// 4c: this many addresses that were drawn for this once, in their order.
    First(u32),
    /// 4c: those again in the same order, right behind them.
    Second(u32),
    /// 5: each this many writes are followed by reads of what they wrote.
    WriteRead(u32),
    /// 6: this many at once, then all are waited for.
    Burst(u32),
    /// 7: that, and a pause after each.
    BurstDelay(u32, u64),
    /// 9: this many jumps in a hundred, else in order.
    SemiRandom(u32),
    /// 10: this many writes in a thousand reads and writes, at random or in order.
    Mixed(u32, bool),
    /// 11: one request of 8 KiB in each this many bytes, at the beginning of them.
    Apart(u64),
    /// 11: those of the second length, moved so that they lie across odd multiples of the first.
    Across(u64, u64),
}

impl Pattern {
    /// The row of the map.
    pub fn words(self) -> String {
        match self {
            Pattern::Plain => "smallest requests".into(),
            Pattern::Large => "4 KiB requests".into(),
            Pattern::Sized(bytes) => format!("{} requests", size(bytes)),
            Pattern::Grid(grid) => format!("aligned on {}", size(grid)),
            Pattern::Shifted(by) => format!("4 KiB, shifted by {}", size(by)),
            Pattern::Delay(ns) => format!("pause of {}", pause(ns)),
            Pattern::Reply => "opposite direction next".into(),
            Pattern::Replay(count) => format!("{count} addresses again"),
            Pattern::First(count) => format!("{count} new addresses"),
            Pattern::Second(count) => format!("{count} addresses, second time"),
            Pattern::WriteRead(1) => "read what was written".into(),
            Pattern::WriteRead(count) => format!("read after {count} writes"),
            Pattern::Burst(count) => format!("bursts of {count}"),
            Pattern::BurstDelay(count, ns) => format!("bursts of {count}, pause of {}", pause(ns)),
            Pattern::SemiRandom(share) => format!("{share} % jumps"),
            Pattern::Mixed(share, in_order) => {
                let order = if in_order { "sequential" } else { "random" };
                format!("{} % {order} writes", f64::from(share) / 10.0)
            }
            Pattern::Apart(grid) => format!("8 KiB, one in {}", size(grid)),
            Pattern::Across(bytes, _) => format!("8 KiB across {}", size(bytes)),
        }
    }

    /// The pattern without its value, by which findings are grouped; its number in the slides'
    /// order.
    pub fn family(self) -> u8 {
        match self {
            Pattern::Plain | Pattern::Large | Pattern::Sized(_) => 1,
            Pattern::Grid(_) => 2,
            Pattern::Shifted(_) => 8,
            Pattern::Delay(_) => 3,
            Pattern::Reply | Pattern::Replay(_) | Pattern::First(_) | Pattern::Second(_) => 4,
            Pattern::WriteRead(_) => 5,
            Pattern::Burst(_) => 6,
            Pattern::BurstDelay(..) => 7,
            Pattern::SemiRandom(_) => 9,
            Pattern::Mixed(..) => 10,
            Pattern::Apart(_) | Pattern::Across(..) => 11,
        }
    }

    /// The columns in which it makes sense.
    pub fn bases(self) -> &'static [Base] {
        match self {
            Pattern::Reply | Pattern::Replay(_) | Pattern::First(_) | Pattern::Second(_) => {
                &[Base::RandomRead, Base::RandomWrite]
            }
            Pattern::WriteRead(_) => &[Base::RandomWrite],
            Pattern::SemiRandom(_) => &[Base::SequentialRead, Base::SequentialWrite],
            Pattern::Mixed(..) | Pattern::Apart(_) | Pattern::Across(..) => &[Base::RandomRead],
            _ => &Base::ALL,
        }
    }
}

/// `1 ms`, `100 µs`: pauses are round.
pub fn pause(ns: u64) -> String {
    match ns {
        ns if ns.is_multiple_of(1_000_000) => format!("{} ms", ns / 1_000_000),
        ns if ns.is_multiple_of(1000) => format!("{} µs", ns / 1000),
        ns => time(ns as f64),
    }
}

/// One pattern of one base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    pub pattern: Pattern,
    pub base: Base,
}

impl Cell {
    pub fn of(pattern: Pattern, base: Base) -> Self {
        Cell { pattern, base }
    }

    pub fn name(self) -> String {
        format!("{}, {}", self.base.words(), self.pattern.words())
    }

    /// What must come right before it.
    pub fn before(self) -> Option<Cell> {
        match self.pattern {
            Pattern::Second(count) => Some(Cell::of(Pattern::First(count), self.base)),
            _ => None,
        }
    }

    /// Addresses that it goes through once, where it is a list.
    pub fn listed(self) -> Option<u32> {
        match self.pattern {
            Pattern::First(count) | Pattern::Second(count) => Some(count),
            _ => None,
        }
    }

    pub fn changes_data(self) -> bool {
        let replies = matches!(self.pattern, Pattern::Reply | Pattern::Mixed(..));
        self.base.is_write() || replies
    }
}

const MS: u64 = 1_000_000;

/// All patterns with the values of a scale, in the order of the slides.
pub fn patterns(scale: Scale, unit: u64) -> Vec<Pattern> {
    let is_quick = scale == Scale::Quick;
    let pick = |quick: &[u64], all: &[u64]| -> Vec<u64> {
        if is_quick { quick.to_vec() } else { all.to_vec() }
    };
    let mut patterns = vec![Pattern::Plain];
    if unit < LARGE_BYTES {
        patterns.push(Pattern::Large);
    }
    let grids = pick(&[4096], &[1024, 2048, 4096, 8192, 16_384, 65_536]);
    let wider = |grid: &u64| *grid > unit;
    // The only value of a quick run must be wider than the unit too.
    let grids = if is_quick && unit >= LARGE_BYTES { vec![2 * unit] } else { grids };
    patterns.extend(grids.into_iter().filter(wider).map(Pattern::Grid));
    let shifts = pick(&[512], &[512, 1024, 2048]);
    let fits = |by: &u64| by.is_multiple_of(unit) && *by < LARGE_BYTES;
    patterns.extend(shifts.into_iter().filter(fits).map(Pattern::Shifted));
    let delays = pick(&[MS], &[MS / 10, MS, 5 * MS, 10 * MS, 50 * MS]);
    patterns.extend(delays.into_iter().map(Pattern::Delay));
    patterns.push(Pattern::Reply);
    patterns.extend(pick(&[64], &[64, 1024]).into_iter().map(|it| Pattern::Replay(it as u32)));
    let listed = if is_quick { 512 } else { 4096 };
    patterns.extend([Pattern::First(listed), Pattern::Second(listed)]);
    let writes = pick(&[1, 4], &[1, 2, 4, 16]);
    patterns.extend(writes.into_iter().map(|count| Pattern::WriteRead(count as u32)));
    let bursts = pick(&[5], &[2, 5, 10, 32]);
    patterns.extend(bursts.into_iter().map(|count| Pattern::Burst(count as u32)));
    let pauses = pick(&[MS], &[MS / 10, MS, 10 * MS]);
    patterns.extend(pauses.into_iter().map(|ns| Pattern::BurstDelay(5, ns)));
    let jumps = pick(&[50], &[10, 25, 50, 75, 90]);
    patterns.extend(jumps.into_iter().map(|share| Pattern::SemiRandom(share as u32)));
    for share in pick(&[10], &[1, 10, 50, 100, 300, 500]) {
        patterns.extend([false, true].map(|order| Pattern::Mixed(share as u32, order)));
    }
    let kibibytes = pick(&[16, 32, 64, 128, 256], &[16, 32, 64, 128, 256, 512, 1024]);
    let grid = 2 * kibibytes.iter().max().map_or(0, |most| most << 10);
    patterns.push(Pattern::Apart(grid));
    patterns.extend(kibibytes.into_iter().map(|length| Pattern::Across(length << 10, grid)));
    patterns
}

/// Requests of further sizes, for absolute figures.
pub fn sizes(scale: Scale, unit: u64) -> Vec<Cell> {
    let kibibytes: &[u64] =
        if scale == Scale::Quick { &[16, 64] } else { &[1, 2, 8, 16, 32, 64, 128] };
    let larger = kibibytes.iter().map(|size| size << 10).filter(|bytes| *bytes > unit);
    let of = |bytes| Base::ALL.map(|base| Cell::of(Pattern::Sized(bytes), base));
    larger.flat_map(of).collect()
}

/// All cells, in the order of the map.
pub fn cells(scale: Scale, unit: u64) -> Vec<Cell> {
    let patterns = patterns(scale, unit);
    let of = |pattern: Pattern| pattern.bases().iter().map(move |base| Cell::of(pattern, *base));
    patterns.into_iter().flat_map(of).collect()
}

/// What a cell issues, on the first `region_bytes` of the target, in order from its beginning on.
pub fn stream(setting: &Setting<'_>, cell: Cell, unit: u64, region_bytes: u64) -> Stream {
    let mix = if cell.base.is_write() { Mix::WRITE } else { Mix::READ };
    let pattern = match cell.base.is_random() {
        true => plan::Pattern::Uniform,
        false => plan::Pattern::SEQUENTIAL,
    };
    let plain = Stream {
        pattern,
        size: Size(unit),
        length: Some(Size(region_bytes)),
        ..loads::random(setting, mix, 1)
    };
    match cell.pattern {
        Pattern::Plain => plain,
        Pattern::Large => Stream { size: Size(LARGE_BYTES), ..plain },
        Pattern::Sized(bytes) => Stream { size: Size(bytes), ..plain },
        Pattern::Grid(grid) => Stream { align: Some(Size(grid)), ..plain },
        Pattern::Shifted(by) => Stream { size: Size(LARGE_BYTES), shift: Size(by), ..plain },
        Pattern::Delay(ns) => Stream { arrival: Arrival::thinking(None, Span(ns)), ..plain },
        Pattern::Reply => Stream { reply: Some(Reply::Next), ..plain },
        Pattern::Replay(count) => Stream {
            pattern: plan::Pattern::Replay(addresses(setting, count, unit, region_bytes)),
            ..plain
        },
        Pattern::First(_) | Pattern::Second(_) => {
            Stream { pattern: plan::Pattern::Permutation, ..plain }
        }
        Pattern::WriteRead(count) => {
            Stream { reply: Some(Reply::Same), reply_after: (count > 1).then_some(count), ..plain }
        }
        Pattern::Burst(count) => Stream {
            arrival: Arrival::Closed { burst: Some(count), think: None },
            ..loads::deep(plain, count)
        },
        Pattern::BurstDelay(count, ns) => Stream {
            arrival: Arrival::thinking(Some(count), Span(ns)),
            ..loads::deep(plain, count)
        },
        Pattern::SemiRandom(share) => Stream {
            pattern: plan::Pattern::SemiRandom(Jump::Share(Some(f64::from(share) / 100.0))),
            ..plain
        },
        Pattern::Mixed(share, in_order) => Stream {
            mix: Mix { read: 1000 - share, write: share, trim: 0 },
            writes_in_order: in_order,
            ..plain
        },
        // All of them on one grid: a cache holds as much of each.
        Pattern::Apart(grid) => {
            Stream { size: Size(ACROSS_BYTES), align: Some(Size(grid)), ..plain }
        }
        Pattern::Across(bytes, grid) => Stream {
            size: Size(ACROSS_BYTES),
            align: Some(Size(grid)),
            shift: Size(bytes - LARGE_BYTES),
            ..plain
        },
    }
}

/// Whether a cell goes through the region in order, without jumps.
fn is_in_order(cell: Cell) -> bool {
    !cell.base.is_random() && !matches!(cell.pattern, Pattern::SemiRandom(_))
}

/// The same from another place on, where the cell goes through the region in order: what it
/// reaches in its time may be a small part, and a disk is faster at its beginning than at its end.
/// It goes round all of the region, for a cache would answer for a part that is gone over again.
pub fn beginning(mut stream: Stream, cell: Cell, first: u64) -> Stream {
    if let plan::Pattern::Sequential(sequence) = &mut stream.pattern
        && is_in_order(cell)
    {
        sequence.begin = Some(Size(first));
    }
    stream
}

/// The addresses of a list: others in each round, and the same the first and the second time.
pub fn listing(stream: Stream, cell: Cell, seed: u64, round: u64) -> Stream {
    // What TOML can hold as a whole number.
    let order = cell.listed().map(|_| Domain::Replay.seed(seed, u64::MAX - round) >> 1);
    Stream { order: order.or(stream.order), ..stream }
}

/// Addresses that repeat: one in each of as many parts, so that they lie as uniform ones do.
fn addresses(setting: &Setting<'_>, count: u32, unit: u64, region_bytes: u64) -> Vec<Size> {
    let mut random = Random::new(Domain::Replay.seed(setting.options.seed, u64::from(count)));
    let part = (region_bytes / unit / u64::from(count)).max(1);
    let mut parts: Vec<u64> = (0..u64::from(count)).collect();
    shuffle(&mut parts, setting.options.seed, Domain::Replay as u64);
    parts.into_iter().map(|it| Size((it * part + random.below(part)) * unit)).collect()
}
