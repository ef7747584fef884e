//! A line understood: what the output needs of it.

use super::line::Unit;
use super::test::{Load, Test};

/// A size of file with a size of record, in kB of 1024 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Of the file.
    pub file_kb: u64,
    /// Of a record.
    pub record_kb: u64,
}

impl Cell {
    /// Whole records in the file.
    pub fn records(&self) -> u64 {
        self.file_kb / self.record_kb.max(1)
    }

    /// Bytes of a record.
    pub fn record_bytes(&self) -> u64 {
        self.record_kb.saturating_mul(1024)
    }

    /// Bytes that a test goes over: the whole records.
    pub fn bytes(&self) -> u64 {
        self.records().saturating_mul(self.record_bytes())
    }
}

/// Which columns the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// The thirteen.
    Thirteen,
    /// Those and pwrite and pread (`-E`).
    Extended,
    /// Without stdio (`-B`).
    Mapped,
    /// Write and read alone (`-A`).
    Four,
}

impl Columns {
    /// The tests in their order.
    pub fn tests(self) -> &'static [Test] {
        let count = match self {
            Columns::Thirteen => 13,
            Columns::Extended => 17,
            Columns::Mapped => 9,
            Columns::Four => 4,
        };
        &Test::ALL[..count]
    }
}

/// One process, one test after the other, a row for each size.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Which columns there are.
    pub columns: Columns,
    /// The tests that were selected, in their order; others are blank.
    pub tests: Vec<Test>,
    /// Whether second passes run; where not they are printed as 0.
    pub retests: bool,
    /// The rows.
    pub cells: Vec<Cell>,
    /// The records over the columns of the report, in kB.
    pub records_kb: Vec<u64>,
}

impl Table {
    /// Whether a test runs, as opposed to being printed as 0.
    pub fn runs(&self, test: Test) -> bool {
        self.retests || !test.is_retest()
    }

    /// What the step of a test is called.
    pub fn step(test: Test, cell: Cell) -> String {
        format!("{}, {} kB in {} kB", test.word(), cell.file_kb, cell.record_kb)
    }
}

/// Several processes at once (`-t`).
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput {
    /// The numbers of processes, one after the other.
    pub counts: Vec<u32>,
    /// `-l` and `-u`, where they were given.
    pub range: Option<(u32, u32)>,
    /// Whether they are called threads.
    pub threads: bool,
    /// The file of each process; with `-+k` its share is smaller with more of them.
    pub file_kb: u64,
    /// A record.
    pub record_kb: u64,
    /// The loads, in their order.
    pub loads: Vec<Load>,
    /// Whether second passes run; where not the report has 0.
    pub retests: bool,
    /// Whether each process is listed.
    pub children: bool,
    /// Percent of the processes that read in the mix; every other one where absent.
    pub read_percent: Option<u32>,
    /// Whether `file_kb` is the size of all files together.
    pub size_of_all: bool,
}

impl Throughput {
    /// Whether a load runs.
    pub fn runs(&self, load: Load) -> bool {
        self.retests || !load.test().is_retest()
    }

    /// What the step of a load is called.
    pub fn step(load: Load, count: u32) -> String {
        format!("{}, {count} at once", load.who().1)
    }

    /// Processes that read in the mix; the others write.
    pub fn readers(&self, count: u32) -> u32 {
        match self.read_percent {
            Some(percent) => (u64::from(count) * u64::from(percent) / 100) as u32,
            None => count.div_ceil(2),
        }
    }

    /// The file of each of `count` processes.
    pub fn cell(&self, count: u32) -> Cell {
        let parts = if self.size_of_all { u64::from(count.max(1)) } else { 1 };
        Cell { file_kb: self.file_kb / parts, record_kb: self.record_kb }
    }
}

/// What is printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// The table.
    Table(Table),
    /// The blocks of the throughput mode.
    Throughput(Throughput),
}

/// A line of IOzone, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Its words.
    pub command: Vec<String>,
    /// What IOzone says to its options, in their order.
    pub splash: Vec<String>,
    /// The unit of the values.
    pub unit: Unit,
    /// Whether the report for Excel is printed.
    pub report: bool,
    /// The worksheet to write.
    pub sheet: Option<String>,
    /// kB of the processor's cache, as printed.
    pub cache_kb: u64,
    /// Bytes of a cache line, as printed.
    pub cache_line_bytes: u64,
    /// Records of a stride.
    pub stride: u64,
    /// Whether think time is taken out: then only the time inside of operations counts.
    pub only_service: bool,
    /// What is printed.
    pub layout: Layout,
}
