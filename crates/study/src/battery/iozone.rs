//! The thirteen tests of `IOzone` and the four of its IOPS mode, by what they do.

use super::{Cell, Group, Load, Quantity, Shape, allocates, durable};
use crate::experiment::Setting;
use drivelab_core::op::Action;
use drivelab_core::plan::{Act, Engine, Mix, Pattern, Stream};
use drivelab_core::quantity::size;
use drivelab_core::units::Size;

/// Records of the throughput tests.
pub const LARGE: [u64; 4] = [1 << 20, 4 << 20, 8 << 20, 16 << 20];
/// Records of the IOPS tests.
pub const SMALL: [u64; 4] = [4 << 10, 8 << 10, 32 << 10, 64 << 10];
/// The strided read takes every n-th record.
const STRIDE: i64 = 17;

/// One test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// In order, to blocks that the file system allocates now.
    Write,
    /// In order, to blocks that are there.
    Rewrite,
    /// In order.
    Read,
    /// The same again.
    Reread,
    /// Every record once, in random order.
    RandomRead,
    /// Every record once, in random order.
    RandomWrite,
    /// From the last record to the first.
    Backward,
    /// The first record, as often as there are records.
    RecordRewrite,
    /// Every seventeenth record, then those behind them, until all were read.
    Strided,
    /// As write, by the C library.
    Fwrite,
    /// As rewrite, by the C library.
    Frewrite,
    /// As read, by the C library.
    Fread,
    /// As reread, by the C library.
    Freread,
}

impl Test {
    /// In the order in which a file goes through them.
    pub const ALL: [Test; 13] = [
        Test::Write,
        Test::Rewrite,
        Test::Read,
        Test::Reread,
        Test::RandomRead,
        Test::RandomWrite,
        Test::Backward,
        Test::RecordRewrite,
        Test::Strided,
        Test::Fwrite,
        Test::Frewrite,
        Test::Fread,
        Test::Freread,
    ];
    /// Those of the IOPS mode.
    pub const OPERATIONS: [Test; 4] =
        [Test::Write, Test::Read, Test::RandomRead, Test::RandomWrite];

    /// Its name.
    pub fn words(self) -> &'static str {
        match self {
            Test::Write => "write",
            Test::Rewrite => "rewrite",
            Test::Read => "read",
            Test::Reread => "reread",
            Test::RandomRead => "random read",
            Test::RandomWrite => "random write",
            Test::Backward => "backward read",
            Test::RecordRewrite => "record rewrite",
            Test::Strided => "strided read",
            Test::Fwrite => "fwrite",
            Test::Frewrite => "frewrite",
            Test::Fread => "fread",
            Test::Freread => "freread",
        }
    }

    /// Whether it goes through the C library, and so through a page cache.
    pub fn is_stdio(self) -> bool {
        matches!(self, Test::Fwrite | Test::Frewrite | Test::Fread | Test::Freread)
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        use Test::{Frewrite, Fwrite, RandomWrite, RecordRewrite, Rewrite, Write};
        matches!(self, Write | Rewrite | RandomWrite | RecordRewrite | Fwrite | Frewrite)
    }

    /// Whether it writes a new file.
    fn is_first(self) -> bool {
        matches!(self, Test::Write | Test::Fwrite)
    }

    fn action(self) -> Action {
        if self.writes() { Action::Write } else { Action::Read }
    }

    fn stream(self, shape: &Shape, record: u64) -> Stream {
        // In the page cache one record again and again would never reach the drive.
        let is_cached = shape.is_cached && self != Test::RecordRewrite;
        let mix = if self.writes() { Mix::WRITE } else { Mix::READ };
        let mut stream =
            Stream { mix, size: Size(record), ..shape.stream(is_cached || self.is_stdio()) };
        match self {
            Test::RandomRead | Test::RandomWrite => stream.pattern = Pattern::Permutation,
            Test::Backward => stream.pattern = Pattern::strided(-1),
            Test::RecordRewrite => stream.pattern = Pattern::strided(0),
            Test::Strided => stream.pattern = Pattern::strided(STRIDE),
            _ if self.is_stdio() => stream.engine = Engine::Stdio,
            _ => {}
        }
        durable(stream)
    }
}

/// Some of the thirteen tests with one record size, values in bytes a second.
pub fn throughput(setting: &Setting<'_>, shape: &Shape, record: u64, tests: &[Test]) -> Group {
    let mut group = Group::default();
    for test in tests.iter().filter(|test| shape.has_cache || !test.is_stdio()) {
        let name = format!("{} {}", test.words(), size(record));
        let mut acts = Vec::new();
        if test.is_first() && allocates(setting) {
            acts.push(Act::Trim { offset: Size(0), length: Some(Size(shape.file_bytes)) });
        }
        let mut load = load(shape, *test, record, name.clone(), acts);
        if test.is_first() {
            // What is cut short would leave holes for the reads behind it.
            load.until.elapsed = None;
        }
        let action = test.action();
        let (row, quantity) = (test.words().to_string(), Quantity::Bytes(record));
        group.loads.push(load);
        group.cells.push(Cell { load: name.clone(), name, action, quantity, row, column: record });
    }
    group
}

/// Some of the four tests of the IOPS mode with one record size, values in operations a second.
pub fn operations(shape: &Shape, record: u64, tests: &[Test]) -> Group {
    let mut group = Group::default();
    for test in tests {
        let name = format!("{} IOPS {}", test.words(), size(record));
        group.loads.push(load(shape, *test, record, name.clone(), Vec::new()));
        let (action, row) = (test.action(), format!("{} IOPS", test.words()));
        let quantity = Quantity::Operations;
        group.cells.push(Cell { load: name.clone(), name, action, quantity, row, column: record });
    }
    group
}

fn load(shape: &Shape, test: Test, record: u64, name: String, mut acts: Vec<Act>) -> Load {
    let stream = test.stream(shape, record);
    let is_cached = stream.io == drivelab_core::plan::IoMode::Buffered;
    if is_cached && !test.writes() {
        acts.push(Act::DropCaches);
    }
    Load { name, acts, stream, until: shape.until() }
}

/// The cells that need a page cache where there is none.
pub fn without_cache(records: &[u64]) -> Vec<String> {
    let stdio = Test::ALL.into_iter().filter(|test| test.is_stdio());
    stdio
        .flat_map(|test| {
            records.iter().map(move |record| format!("{} {}", test.words(), size(*record)))
        })
        .collect()
}
