//! Iometer's configuration file (`.icf`): four sections, each optional and in any order, of
//! headings that begin with an apostrophe and values on the lines behind them.
//!
//! As the Iometer User's Guide 1.1.0 has it (chapter 20): white space around a line and the case
//! of headings mean nothing, values are parted by commas or white space, and the first line names
//! the version that wrote the file. Versions before 1.1.0 lack the columns of fixed seeds and of
//! data patterns.

mod machines;
mod reader;
mod sections;
mod values;

pub use reader::{IcfError, parse};

/// Bytes of a sector, in which Iometer counts places on a disk.
pub const SECTOR_BYTES: u64 = 512;
/// Most lines of one access specification.
pub const LINES_MAX: usize = 100;
/// Largest request: 1023 MB + 1023 KB + 1023 bytes.
pub const REQUEST_BYTES_MAX: u64 = (1 << 30) - 1;

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Icf {
    /// Version that wrote it, as in `1.1.0` or `2006.07.27`.
    pub version: String,
    /// Section TEST SETUP; Iometer's defaults where it is absent.
    pub setup: Setup,
    /// Line on which section RESULTS DISPLAY asks for the results of each update as well.
    pub update_results_line: Option<usize>,
    /// Whether there is a section RESULTS DISPLAY.
    pub has_display: bool,
    /// Section ACCESS SPECIFICATIONS.
    pub specifications: Vec<Specification>,
    /// Section MANAGER LIST; `None` where it is absent.
    pub machines: Option<Vec<Machine>>,
}

/// Section TEST SETUP.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Any text.
    pub description: String,
    /// Seconds of each test; 0: until someone stops it.
    pub run_time_s: u64,
    /// Seconds before the first result.
    pub ramp_up_s: u64,
    /// Disk workers that are made where no list names them.
    pub disk_workers: Spawned,
    /// Network workers, likewise.
    pub network_workers: Spawned,
    /// What is recorded.
    pub record: Recorded,
    /// How the number of workers grows, in test types that let it.
    pub workers: Cycle,
    /// How the number of targets grows, in test types that let it.
    pub targets: Cycle,
    /// How the number of outstanding I/Os grows, in test types that let it.
    pub outstanding: Cycle,
    /// Last number of outstanding I/Os of a cycling test.
    pub outstanding_end: u32,
    /// Which of them grow.
    pub test: TestType,
    /// Line of the test type; 0 where it is not given.
    pub test_line: usize,
}

/// A number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spawned {
    /// One for each processor.
    Cpus,
    /// A fixed number of workers.
    Count(u32),
}

/// Which rows are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recorded {
    /// No results are recorded.
    Nothing,
    /// Only the sum of all.
    NoMachines,
    /// That, and each manager.
    NoWorkers,
    /// Those, and each worker.
    NoTargets,
    /// All rows.
    All,
}

/// How a number grows from test to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// The first.
    pub start: u32,
    /// Added, or multiplied with.
    pub step: u32,
    /// Which of both.
    pub growth: Growth,
}

/// How a number grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// By adding the step.
    Linear,
    /// By multiplying with it.
    Exponential,
}

/// Which numbers grow from test to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestType {
    /// None: one test for each access specification.
    Normal,
    /// Targets of each worker.
    CycleTargets,
    /// Workers.
    CycleWorkers,
    /// Targets of each manager, worker by worker.
    IncrementTargetsParallel,
    /// Targets of all managers, one after the other.
    IncrementTargetsSerial,
    /// Workers, and for each number of them the targets.
    CycleWorkersAndTargets,
    /// Outstanding I/Os.
    CycleOutstandingIos,
    /// Targets, and for each number of them the outstanding I/Os.
    CycleOutstandingIosAndTargets,
}

impl TestType {
    /// All of them with their words, in the order of their numbers in files of results.
    pub const ALL: [(TestType, &'static str); 8] = [
        (TestType::Normal, "NORMAL"),
        (TestType::CycleTargets, "CYCLE_TARGETS"),
        (TestType::CycleWorkers, "CYCLE_WORKERS"),
        (TestType::IncrementTargetsParallel, "INCREMENT_TARGETS_PARALLEL"),
        (TestType::IncrementTargetsSerial, "INCREMENT_TARGETS_SERIAL"),
        (TestType::CycleWorkersAndTargets, "CYCLE_WORKERS_AND_TARGETS"),
        (TestType::CycleOutstandingIos, "CYCLE_OUTSTANDING_IOS"),
        (TestType::CycleOutstandingIosAndTargets, "CYCLE_OUTSTANDING_IOS_AND_TARGETS"),
    ];

    /// The word of the value in a configuration file.
    pub fn word(self) -> &'static str {
        TestType::ALL.iter().find(|(test, _)| *test == self).map_or("", |(_, word)| word)
    }

    /// Its number in files of results.
    pub fn number(self) -> usize {
        TestType::ALL.iter().position(|(test, _)| *test == self).unwrap_or(0)
    }
}

/// What kind of I/O is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification {
    /// Its name.
    pub name: String,
    /// Which workers get it where no list says so.
    pub assignment: Assignment,
    /// At least one; their shares sum to 100.
    pub lines: Vec<Access>,
}

/// Which workers get a specification by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// None of them.
    Nobody,
    /// Workers of each kind.
    All,
    /// Disk workers.
    Disk,
    /// Network workers.
    Network,
}

impl Assignment {
    /// All of them with their words, in the order of their numbers in files of results.
    pub const ALL: [(Assignment, &'static str); 4] = [
        (Assignment::Nobody, "NONE"),
        (Assignment::All, "ALL"),
        (Assignment::Disk, "DISK"),
        (Assignment::Network, "NET"),
    ];

    /// Its number in files of results.
    pub fn number(self) -> usize {
        Assignment::ALL.iter().position(|(known, _)| *known == self).unwrap_or(0)
    }
}

/// One line of an access specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Line of the configuration file, from 1.
    pub line: usize,
    /// Bytes of a request.
    pub size: u64,
    /// Percent of the I/Os that it is drawn for.
    pub share: u32,
    /// Percent of them that are reads.
    pub reads: u32,
    /// Percent of them that jump to a random place.
    pub random: u32,
    /// Milliseconds before each burst.
    pub delay_ms: u64,
    /// I/Os (with their replies) of a burst.
    pub burst: u64,
    /// Bytes on whose multiples I/Os begin; 0: sectors.
    pub align: u64,
    /// Bytes of the reply, in the opposite direction; 0: none.
    pub reply: u64,
}

/// One entry of the manager list: a copy of Dynamo, usually one on each machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Line of the configuration file, from 1.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// Its network address; may be empty.
    pub address: String,
    /// Its workers.
    pub workers: Vec<Worker>,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Line of the configuration file, from 1.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// Words of its type where it is no disk worker; nothing else of such a worker is read.
    pub network: Option<String>,
    /// I/Os that it keeps outstanding on each target.
    pub outstanding: u32,
    /// Transactions between opening and closing a target, where it does so.
    pub connection: Option<(usize, u64)>,
    /// Where its random numbers begin, if that is given.
    pub seed: Option<u64>,
    /// Sectors that it uses; 0: all.
    pub maximum_sectors: u64,
    /// The first of them.
    pub starting_sector: u64,
    /// What it writes.
    pub pattern: DataPattern,
    /// Names of its access specifications, in order, with their lines.
    pub assigned: Vec<(usize, String)>,
    /// Names of its targets, with their lines.
    pub targets: Vec<(usize, String)>,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataPattern {
    /// The file does not say: it is from before 1.1.0.
    #[default]
    Unsaid,
    /// One byte again and again.
    RepeatingBytes,
    /// One buffer of random bytes again and again.
    PseudoRandom,
    /// Parts of 16 MB of random bytes.
    FullRandom,
}

impl Default for Setup {
    fn default() -> Self {
        let one = Cycle { start: 1, step: 1, growth: Growth::Linear };
        Setup {
            description: String::new(),
            run_time_s: 0,
            ramp_up_s: 0,
            disk_workers: Spawned::Cpus,
            network_workers: Spawned::Count(0),
            record: Recorded::All,
            workers: one,
            targets: one,
            outstanding: Cycle { start: 1, step: 2, growth: Growth::Exponential },
            outstanding_end: 32,
            test: TestType::Normal,
            test_line: 0,
        }
    }
}

impl Worker {
    /// A disk worker as Iometer makes it.
    pub fn disk(line: usize, name: impl Into<String>) -> Self {
        Worker {
            line,
            name: name.into(),
            network: None,
            outstanding: 1,
            connection: None,
            seed: None,
            maximum_sectors: 0,
            starting_sector: 0,
            pattern: DataPattern::default(),
            assigned: Vec::new(),
            targets: Vec::new(),
        }
    }
}
