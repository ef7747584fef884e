//! The options of `drivelab run`: the whole grammar of a stream, grouped as a person thinks.

use super::{LiveOptions, SafetyOptions, StoreOptions, TagOption};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use drivelab_core::op::Action;
use drivelab_core::plan::{
    Content, Engine, Files, IoMode, Mix, PatternName, Reply, Sharing, Sync, SyncTiming,
    WeightedSize, Zone,
};
use drivelab_core::units::{Size, Span};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as WordError, StrDeserializer};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drivelab run . --rw randread --bs 4k --depth 32 --runtime 10
  drivelab run /mnt/data --size 4GiB --rw randrw --mix 70:30 --bs 4k --depth 8 --workers 4
  drivelab run . --rw randread --bs 4k --depth 64 --rate 20000 --poisson
                                    an open loop
  drivelab run . --rw write --bs 4k --engine psync --sync fsync:1
                                    durable commits
  drivelab run ./f --size 1g --rw write --bs 128k --passes 1 --stamp --keep --seed 7
  drivelab run ./f --rw read --bs 128k --passes 1 --verify --seed 7
                                    is it still intact?
  drivelab run . --pattern names --actions create,stat,unlink --names 1000
                                    metadata
  drivelab run . --trace load.blktrace --pace 2.5
                                    a recorded trace
  drivelab run . --rw randread --dry-run > my.toml
                                    a plan to edit
  drivelab run my.toml /dev/sdb
  drivelab run write-cliff sim:textbook,capacity=1GiB        a built-in plan

Built-in plans: nvme-protocol, write-cliff. `drivelab run NAME TARGET
--dry-run` prints one.

Sizes: 4k is 4 KiB; KiB to TiB and kB to TB are exact. Times: 10 is 10 s;
500ms, 2m, 1h.";

/// How operations are chosen on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential, half and half unless `--mix` says otherwise.
    ReadWrite,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random, half and half unless `--mix` says otherwise.
    RandReadWrite,
    /// Sequential discards.
    Trim,
    /// Random discards.
    RandTrim,
}

impl Kind {
    const WORDS: [(&'static str, Kind); 10] = [
        ("read", Kind::Read),
        ("write", Kind::Write),
        ("rw", Kind::ReadWrite),
        ("readwrite", Kind::ReadWrite),
        ("randread", Kind::RandRead),
        ("randwrite", Kind::RandWrite),
        ("randrw", Kind::RandReadWrite),
        ("randreadwrite", Kind::RandReadWrite),
        ("trim", Kind::Trim),
        ("randtrim", Kind::RandTrim),
    ];

    /// The word to show.
    pub fn word(self) -> &'static str {
        Kind::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    fn parser() -> impl TypedValueParser<Value = Kind> {
        let shown = Kind::WORDS.map(|(word, _)| {
            clap::builder::PossibleValue::new(word).hide(word.ends_with("readwrite"))
        });
        PossibleValuesParser::new(shown).try_map(|text: String| {
            let found = Kind::WORDS.iter().find(|(word, _)| *word == text);
            found.map(|(_, kind)| *kind).ok_or_else(|| format!("`{text}` is not a kind of load"))
        })
    }
}

/// A parser for the words that a plan knows for `T`, with suggestions.
fn words<T>(known: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + std::marker::Sync + 'static,
{
    PossibleValuesParser::new(known).try_map(|text: String| from_word::<T>(&text))
}

fn from_word<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    T::deserialize(StrDeserializer::<WordError>::new(text)).map_err(|error| error.to_string())
}

/// How fast a trace is replayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Faster by this factor.
    Times(f64),
    /// As fast as the depth allows.
    Max,
}

fn pace(text: &str) -> Result<Pace, String> {
    if text == "max" {
        return Ok(Pace::Max);
    }
    let factor: Option<f64> = text.parse().ok();
    factor
        .filter(|factor| *factor > 0.0 && factor.is_finite())
        .map(Pace::Times)
        .ok_or_else(|| "use a factor above 0, such as 1 or 2.5, or max".to_string())
}

/// Words of patterns, as in plans.
const PATTERNS: &[&str] = &[
    "sequential",
    "uniform",
    "permutation",
    "random-map",
    "semi-random",
    "zipf",
    "hot-zones",
    "segments",
    "replay",
    "trace",
    "names",
];

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "drivelab run [OPTIONS] [PLAN] TARGET")]
pub struct RunOptions {
    /// A directory (for a scratch file in it), a file, or a block device; a plan comes
    /// before it: a file, or one of drivelab by its name
    #[arg(value_name = "TARGET", num_args = 1..=2, required = true)]
    pub operands: Vec<String>,
    #[command(flatten, next_help_heading = "What to do")]
    #[allow(missing_docs)]
    pub what: WhatOptions,
    #[command(flatten, next_help_heading = "Where, and in which order")]
    #[allow(missing_docs)]
    pub place: PlaceOptions,
    #[command(flatten, next_help_heading = "How hard")]
    #[allow(missing_docs)]
    pub load: LoadOptions,
    #[command(flatten, next_help_heading = "How long (the first that is reached ends it)")]
    #[allow(missing_docs)]
    pub span: SpanOptions,
    #[command(flatten, next_help_heading = "What is written, and whether it is right")]
    #[allow(missing_docs)]
    pub data: DataOptions,
    #[command(flatten, next_help_heading = "On what")]
    #[allow(missing_docs)]
    pub safety: SafetyOptions,
    /// Size of the file to create, if there is none [default: 1GiB, less on a small disk]
    #[arg(long, value_name = "SIZE", help_heading = "On what")]
    pub size: Option<Size>,
    #[command(flatten, next_help_heading = "How it is recorded")]
    #[allow(missing_docs)]
    pub record: RecordOptions,
}

/// What to do.
#[derive(Debug, Args)]
pub struct WhatOptions {
    /// Kind and order of the I/O [default: read]
    #[arg(long, value_name = "KIND", value_parser = Kind::parser())]
    pub rw: Option<Kind>,
    /// Shares of reads, writes and trims, such as 70:30 or 60:30:10
    #[arg(long, value_name = "R:W[:T]", value_parser = mix)]
    pub mix: Option<Mix>,
    /// Request size in bytes, or sizes with weights: 4k:9,64k:1 [default: 4k]
    #[arg(long, value_name = "SIZE", value_parser = sizes)]
    pub bs: Option<Sizes>,
    /// How I/O reaches the kernel; falloc and ftruncate change a file and move no data [default:
    /// io_uring]
    #[arg(long, value_name = "ENGINE", value_parser = words::<Engine>(&Engine::WORDS))]
    pub engine: Option<Engine>,
    /// Bypass the page cache or not [default: direct; mmap, stdio, falloc and ftruncate: buffered]
    #[arg(long, value_name = "MODE", value_parser = words::<IoMode>(&["direct", "buffered"]))]
    pub io: Option<IoMode>,
    /// After each completion, issue the opposite operation at the same or the next address
    #[arg(long, value_name = "WHERE", value_parser = words::<Reply>(&["same", "next"]))]
    pub reply: Option<Reply>,
    /// Metadata actions, comma-separated: create open stat utime rename unlink mkdir
    #[arg(long, value_name = "LIST", value_parser = actions)]
    pub actions: Option<Actions>,
    /// Names of each worker for metadata actions [default: 1000]
    #[arg(long, value_name = "COUNT")]
    pub names: Option<u32>,
    /// One directory for the names of all workers, or one each [default: one]
    #[arg(long, value_name = "WHICH", value_parser = words::<Files>(&["one", "each"]))]
    pub directories: Option<Files>,
    /// Name of the load in tables and reports
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

/// Where, and in which order.
#[derive(Debug, Args)]
pub struct PlaceOptions {
    /// Order of the addresses, instead of the one that --rw implies
    #[arg(long, value_name = "PATTERN", value_parser = words::<PatternName>(PATTERNS))]
    pub pattern: Option<PatternName>,
    /// Sequential: step in blocks; negative is backward, 0 stays in place [default: 1]
    #[arg(long, value_name = "BLOCKS", allow_negative_numbers = true)]
    pub stride: Option<i64>,
    /// Semi-random: probability of a jump, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub share: Option<f64>,
    /// Zipf: exponent, 0 to below 5 [default: 1.1]
    #[arg(long, value_name = "EXPONENT", allow_negative_numbers = true)]
    pub theta: Option<f64>,
    /// Hot zones: shares of addresses and accesses, such as 0.1:0.9,0.2:0.05
    #[arg(long, value_name = "A:B,…", value_parser = zones)]
    pub zones: Option<Zones>,
    /// Segments: bytes that a worker owns in each segment
    #[arg(long, value_name = "SIZE")]
    pub block: Option<Size>,
    /// Segments: how many [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub segments: Option<u64>,
    /// Replay: a file of byte offsets, one a line
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Replay a trace of blktrace or an iolog of fio: its kinds, sizes, offsets and times
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "rw", "mix", "bs", "reply", "actions", "pattern", "stride", "share", "theta", "zones",
        "block", "replay", "rate", "burst", "think", "sync", "verify"])]
    pub trace: Option<PathBuf>,
    /// Trace: speed-up factor, or `max` to ignore its times [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "trace", value_parser = pace)]
    pub pace: Option<Pace>,
    /// First byte of the region [default: 0]
    #[arg(long, value_name = "SIZE")]
    pub offset: Option<Size>,
    /// Bytes of the region [default: to the end]
    #[arg(long, value_name = "SIZE", alias = "region")]
    pub length: Option<Size>,
    /// Put every offset on a multiple of this [default: the request size]
    #[arg(long, value_name = "SIZE")]
    pub align: Option<Size>,
    /// Add this to every offset [default: 0]
    #[arg(long, value_name = "SIZE")]
    pub shift: Option<Size>,
    /// Workers share the region or split it [default: disjoint if sequential, else shared]
    #[arg(long, value_name = "HOW", value_parser = words::<Sharing>(&["shared", "disjoint"]))]
    pub regions: Option<Sharing>,
    /// One file for all workers, or one each [default: one]
    #[arg(long, value_name = "WHICH", value_parser = words::<Files>(&["one", "each"]))]
    pub files: Option<Files>,
}

/// How hard.
#[derive(Debug, Args)]
pub struct LoadOptions {
    /// Operations in flight, per worker [default: 1; of a trace 64]
    #[arg(long, value_name = "COUNT", alias = "iodepth")]
    pub depth: Option<u32>,
    /// Workers, one thread each [default: 1]
    #[arg(long, value_name = "COUNT", alias = "numjobs")]
    pub workers: Option<u32>,
    /// Open loop: operations a second, all workers together
    #[arg(long, value_name = "PER_SECOND", allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Open loop: exponential gaps instead of equal ones
    #[arg(long)]
    pub poisson: bool,
    /// Submit this many at once, wait for all, then think
    #[arg(long, value_name = "COUNT")]
    pub burst: Option<u32>,
    /// Idle time after each burst or operation [default: 0]
    #[arg(long, value_name = "TIME")]
    pub think: Option<Span>,
    /// Think before the first burst too
    #[arg(long)]
    pub think_first: bool,
    /// Operations that one submitting call may carry [default: the depth]
    #[arg(long, value_name = "COUNT")]
    pub batch_submit: Option<u32>,
    /// Completions that one reaping call waits for [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub batch_complete: Option<u32>,
    /// io_uring: a kernel thread polls the submission queue
    #[arg(long)]
    pub sqpoll: bool,
    /// io_uring: poll the device for completions
    #[arg(long)]
    pub iopoll: bool,
    /// io_uring: plain buffers and files instead of registered ones
    #[arg(long)]
    pub unregistered: bool,
    /// io_uring_cmd: writes to zones are appends, so that a zone can take several at once
    #[arg(long)]
    pub zone_append: bool,
    /// CPUs that the workers may use, such as 0-3,8 [default: any]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
}

/// How long.
#[derive(Debug, Args)]
pub struct SpanOptions {
    /// Time after the ramp [default: 10s if no bound is given]
    #[arg(long, value_name = "TIME", alias = "time")]
    pub runtime: Option<Span>,
    /// Operations, all workers together
    #[arg(long, value_name = "COUNT")]
    pub operations: Option<u64>,
    /// Bytes, all workers together
    #[arg(long, value_name = "SIZE")]
    pub bytes: Option<Size>,
    /// Passes over the region [default for names: 1]
    #[arg(long, value_name = "COUNT")]
    pub passes: Option<u64>,
    /// The first worker that ends stops the others
    #[arg(long)]
    pub stonewall: bool,
    /// Time before the measurement begins; left out of the results [default: 0]
    #[arg(long, value_name = "TIME")]
    pub ramp: Option<Span>,
    /// First run this load until its rate is steady, for at most this time; not part of the result
    #[arg(long, value_name = "TIME")]
    pub precondition: Option<Span>,
    /// Repetitions; from two on, intervals come from them [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub repeat: Option<u32>,
}

/// What is written, and whether it is right.
#[derive(Debug, Args)]
pub struct DataOptions {
    /// When data must be durable: none, dsync, fsync:N, fdatasync:N, end [default: none]
    ///
    /// fsync:N follows every N writes of a worker; at depth > 1 its other writes stay in flight.
    #[arg(long, value_name = "WHEN")]
    pub sync: Option<Sync>,
    /// Whether fsync is part of the measured time [default: inside]
    #[arg(long, value_name = "WHERE", value_parser = words::<SyncTiming>(&["inside", "outside"]))]
    pub sync_timing: Option<SyncTiming>,
    /// What blocks hold: random, compressible:PERCENT, zero [default: random]
    #[arg(long, value_name = "WHAT")]
    pub content: Option<Content>,
    /// Stamp each 4 KiB with address, seed, pass and checksum
    #[arg(long)]
    pub stamp: bool,
    /// Check the stamps of what is read; needs the --seed that wrote it
    #[arg(long)]
    pub verify: bool,
    /// Number of the first pass in stamps; with --verify the pass expected everywhere
    #[arg(long, value_name = "NUMBER")]
    pub pass: Option<u64>,
}

/// How it is recorded.
#[derive(Debug, Args)]
pub struct RecordOptions {
    /// Length of the recording intervals, 10ms to 60s [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Span>,
    /// List gaps without a completion of at least this length [default: 100ms]
    #[arg(long, value_name = "TIME")]
    pub gap_over: Option<Span>,
    /// Seed of everything random [default: random, printed]
    #[arg(long, value_name = "NUMBER", value_parser = seed)]
    pub seed: Option<u64>,
    /// Abort if an operation takes longer than this
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub stuck_after: Span,
    /// Also write the HTML report to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print the plan, the bytes and the time, and touch nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub live: LiveOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub called: TagOption,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

/// Request sizes with weights.
#[derive(Debug, Clone)]
pub struct Sizes(pub Vec<WeightedSize>);

/// Zones in order.
#[derive(Debug, Clone)]
pub struct Zones(pub Vec<Zone>);

/// Metadata actions in order.
#[derive(Debug, Clone)]
pub struct Actions(pub Vec<Action>);

/// A seed that also fits a plan file, whose integers end at 2^63 − 1.
pub fn seed(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(seed) if i64::try_from(seed).is_ok() => Ok(seed),
        _ => Err(format!("`{text}` is not a seed; use an integer from 0 to {}", i64::MAX)),
    }
}

fn mix(text: &str) -> Result<Mix, String> {
    let bad = || format!("`{text}` is not a mix; give shares of reads and writes, such as 70:30");
    let shares: Result<Vec<u32>, _> = text.split(':').map(str::parse).collect();
    match shares.map_err(|_| bad())?.as_slice() {
        [read, write] => Ok(Mix { read: *read, write: *write, trim: 0 }),
        [read, write, trim] => Ok(Mix { read: *read, write: *write, trim: *trim }),
        _ => Err(bad()),
    }
}

fn sizes(text: &str) -> Result<Sizes, String> {
    let one = |part: &str| -> Result<WeightedSize, String> {
        let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
        let weight = weight.parse().map_err(|_| {
            format!("`{weight}` is not a weight; give sizes with weights, such as 4k:9,64k:1")
        })?;
        Ok(WeightedSize { size: size.parse()?, weight, kind: None })
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Sizes)
}

fn zones(text: &str) -> Result<Zones, String> {
    let bad = || {
        format!("`{text}` is not a list of zones; give address share:access share, such as 0.1:0.9")
    };
    let one = |part: &str| -> Result<Zone, String> {
        let (addresses, accesses) = part.split_once(':').ok_or_else(bad)?;
        Ok(Zone {
            addresses: addresses.parse().map_err(|_| bad())?,
            accesses: accesses.parse().map_err(|_| bad())?,
        })
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Zones)
}

fn actions(text: &str) -> Result<Actions, String> {
    let one = |word: &str| {
        let is_one = |action: &Action| action.is_metadata() || *action == Action::Flush;
        from_word::<Action>(word).ok().filter(is_one).ok_or_else(|| {
            format!(
                "`{word}` is not a metadata action; use create, open, stat, utime, rename, unlink, \
                 mkdir, or flush for an fsync of each name"
            )
        })
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Actions)
}
