//! One stream of I/O, as plain data.

use super::{
    Content, Engine, Files, IoMode, Mix, PatternName, Reply, Request, Sharing, Sync, SyncTiming,
    Until, WeightedSize, Zone, is_default, is_zero, is_zero_size, is_zero_span,
};
use crate::op::Action;
use crate::units::{Size, Span};
use serde::{Deserialize, Serialize};

/// One stream: workers of one kind on one region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    /// Name, needed only where a step has several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How I/O reaches the kernel.
    pub engine: Engine,
    /// Direct or buffered.
    pub io: IoMode,
    /// When data must be durable.
    pub sync: Sync,
    /// Whether the time of fsync counts.
    #[serde(skip_serializing_if = "is_default")]
    pub sync_timing: SyncTiming,
    /// Which addresses follow each other.
    pub pattern: PatternName,
    /// Sequential: step in blocks; negative goes backward, 0 stays in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<i64>,
    /// Sequential: where in the region the first pass begins; it goes on to the region's end and
    /// then from its first byte on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin: Option<Size>,
    /// Semi-random: probability of a jump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Semi-random: jumps after so many operations, and at the end of the region, instead of by
    /// chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Zipf: exponent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// Self-similar: the share of addresses that has all but that share of the accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
    /// Bell: width of the draw that moves it, as a share of the region, at most 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau: Option<f64>,
    /// Hot zones, from the start of the region; the rest of both shares is one more zone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// Segments: bytes a worker owns in each segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Size>,
    /// Segments: how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Replay: byte offsets, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<Size>,
    /// Trace: the requests, in order of time; `mix` and `sizes` name their kinds and sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// Trace: open loop, so many times as fast as they came, once; absent: in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<f64>,
    /// Names: actions, each done on all names before the next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// Names: how many each worker has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<u32>,
    /// Names: one directory for all workers or one each.
    #[serde(skip_serializing_if = "is_default")]
    pub directories: Files,
    /// Shares of reads, writes and trims.
    pub mix: Mix,
    /// Each write goes where the last one ended, whatever the order of the reads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes_in_order: bool,
    /// Each completion is followed by the opposite direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Request size.
    pub size: Size,
    /// Several request sizes; then `size` is not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<WeightedSize>,
    /// Every offset is a multiple of this; the (smallest) request size if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
    /// Added to every offset.
    #[serde(skip_serializing_if = "is_zero_size")]
    pub shift: Size,
    /// First byte of the region.
    #[serde(skip_serializing_if = "is_zero_size")]
    pub offset: Size,
    /// Bytes of the region; to the end of the target if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Size>,
    /// Shared or disjoint; by default disjoint for sequential, shared for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<Sharing>,
    /// One file or one each.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Files,
    /// Operations in flight, per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// Open loop: operations per second of the whole stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open loop: exponential gaps instead of equal ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub poisson: bool,
    /// Closed loop: submit this many, wait for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Closed loop: idle time after each burst (or operation).
    #[serde(skip_serializing_if = "is_zero_span")]
    pub think: Span,
    /// The first think time comes before the first burst.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub think_first: bool,
    /// Most operations one submitting call carries; `depth` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_submit: Option<u32>,
    /// Completions a reaping call waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_complete: Option<u32>,
    /// io_uring: kernel thread polls the submission queue.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sqpoll: bool,
    /// io_uring: poll the device for completions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub iopoll: bool,
    /// Buffered: the kernel is told whether addresses come in order or at random
    /// (posix_fadvise(2)), which decides how far it reads ahead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub advise: bool,
    /// Buffered: cached pages of its files are dropped before each pass after the first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_cached_each_pass: bool,
    /// io_uring: plain buffers and files instead of registered ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unregistered: bool,
    /// What written blocks hold.
    pub content: Content,
    /// Each 4 KiB (or request, if smaller) carries address, seed, pass and checksum.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stamp: bool,
    /// Reads check the stamps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// Reads only where a stream that is the same but for this mix, and ends by the same bounds,
    /// has written, in the order of its writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<Mix>,
    /// Number of the first pass in stamps; verify: the pass expected everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<u64>,
    /// Its own bounds instead of the step's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Index of the first of the plan's files that it uses; the workers' own files follow it.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_file: u32,
    /// Files that each worker uses in turn, one operation each; one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_in_turn: Option<u32>,
    /// Addresses follow from this number instead of the plan's seed and the number of the step:
    /// streams that have the same go the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Added to the offset of each worker as often as its number says.
    #[serde(skip_serializing_if = "is_zero_size")]
    pub offset_each: Size,
    /// Each works on what belongs to the worker so many after it: its file, block or names.
    #[serde(skip_serializing_if = "is_zero")]
    pub neighbour: u32,
    /// Sequential: reads, writes and trims each go on behind their own last one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub each_kind_in_order: bool,
    /// Each address is trimmed, and then written: a mix of as many trims as writes, in pairs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trim_first: bool,
    /// Names: how they are spelt in the target directory itself, as in `n{worker}f{name}`. They
    /// stay from step to step, and are made by an action of a step. Absent: names of drivelab's
    /// own in a directory of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Names: they are of directories, which mkdir makes and unlink removes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_directories: bool,
    /// Names: bytes that create writes and open reads in the same operation.
    #[serde(skip_serializing_if = "is_zero_size")]
    pub name_bytes: Size,
    /// Ends when the other streams of the step have ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Gaps without a completion are listed from this length on.
    pub gap_over: Span,
}

impl Default for Stream {
    fn default() -> Self {
        Stream {
            name: String::new(),
            engine: Engine::default(),
            io: IoMode::default(),
            sync: Sync::default(),
            sync_timing: SyncTiming::default(),
            pattern: PatternName::default(),
            stride: None,
            begin: None,
            share: None,
            run: None,
            theta: None,
            skew: None,
            plateau: None,
            zones: Vec::new(),
            block: None,
            segments: None,
            offsets: Vec::new(),
            requests: Vec::new(),
            pace: None,
            actions: Vec::new(),
            names: None,
            directories: Files::default(),
            mix: Mix::READ,
            writes_in_order: false,
            reply: None,
            size: Size(4096),
            sizes: Vec::new(),
            align: None,
            shift: Size(0),
            offset: Size(0),
            length: None,
            regions: None,
            files: Files::default(),
            depth: 1,
            workers: 1,
            rate: None,
            poisson: false,
            burst: None,
            think: Span(0),
            think_first: false,
            batch_submit: None,
            batch_complete: None,
            sqpoll: false,
            iopoll: false,
            unregistered: false,
            content: Content::default(),
            stamp: false,
            verify: false,
            read_back: None,
            pass: None,
            until: None,
            first_file: 0,
            files_in_turn: None,
            order: None,
            offset_each: Size(0),
            neighbour: 0,
            each_kind_in_order: false,
            advise: false,
            drop_cached_each_pass: false,
            trim_first: false,
            form: None,
            of_directories: false,
            name_bytes: Size(0),
            background: false,
            gap_over: Span(100_000_000),
        }
    }
}

impl Stream {
    /// The request sizes with their weights; at least one.
    pub fn weighted_sizes(&self) -> Vec<WeightedSize> {
        if self.sizes.is_empty() {
            vec![WeightedSize { size: self.size, weight: 1, kind: None }]
        } else {
            self.sizes.clone()
        }
    }

    /// The smallest request in bytes.
    pub fn size_min(&self) -> u64 {
        self.weighted_sizes().iter().map(|entry| entry.size.0).min().unwrap_or(0)
    }

    /// The largest request in bytes.
    pub fn size_max(&self) -> u64 {
        self.weighted_sizes().iter().map(|entry| entry.size.0).max().unwrap_or(0)
    }

    /// The grid of offsets in bytes.
    pub fn alignment(&self) -> u64 {
        self.align.map_or(self.size_min(), |align| align.0)
    }

    /// The worker on whose part of the files, blocks or names this worker works.
    pub fn part_of(&self, worker: u32) -> u32 {
        let workers = u64::from(self.workers.max(1));
        ((u64::from(worker) + u64::from(self.neighbour)) % workers) as u32
    }

    /// Files that each worker uses in turn.
    pub fn files_of_worker(&self) -> u32 {
        self.files_in_turn.unwrap_or(1).max(1)
    }

    /// Index of the first file of a worker among those of the plan.
    pub fn first_file_of(&self, worker: u32) -> u32 {
        let own = match self.files {
            Files::One => 0,
            Files::Each => self.part_of(worker).saturating_mul(self.files_of_worker()),
        };
        self.first_file.saturating_add(own)
    }

    /// Whether one of its workers uses the plan's file of this index.
    pub fn uses_file(&self, index: u32) -> bool {
        (self.first_file..self.files_needed()).contains(&index)
    }

    /// Files that its workers use, those before its first included.
    pub fn files_needed(&self) -> u32 {
        let last = match self.files {
            Files::One => 0,
            Files::Each => self.workers.max(1) - 1,
        };
        let each = self.files_of_worker();
        last.saturating_mul(each).saturating_add(each).saturating_add(self.first_file)
    }

    /// Whether the workers share the region.
    pub fn sharing(&self) -> Sharing {
        self.regions.unwrap_or(match self.pattern {
            PatternName::Sequential => Sharing::Disjoint,
            _ => Sharing::Shared,
        })
    }

    /// The kinds this stream can issue, in index order.
    pub fn kinds(&self) -> Vec<Action> {
        if self.pattern == PatternName::Names {
            let mut kinds = self.actions.clone();
            kinds.sort();
            kinds.dedup();
            return kinds;
        }
        let both = self.reply.is_some();
        let flushes = matches!(self.sync, Sync::Fsync(_) | Sync::Fdatasync(_) | Sync::End)
            || self.requests.iter().any(|request| request.action == Action::Flush);
        [
            (Action::Read, self.mix.read > 0 || both),
            (Action::Write, self.mix.write > 0 || both),
            (Action::Trim, self.mix.trim > 0),
            (Action::Flush, flushes),
        ]
        .into_iter()
        .filter_map(|(kind, issued)| issued.then_some(kind))
        .collect()
    }

    /// Whether operations come when they are due, whatever became of those before.
    pub fn is_open(&self) -> bool {
        self.rate.is_some() || self.pace.is_some()
    }

    /// Whether it can change what the target stores.
    pub fn changes_data(&self) -> bool {
        self.kinds().iter().any(|kind| kind.changes_data())
    }
}
