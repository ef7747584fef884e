//! One stream of I/O: what it does, to what, in which order and when.

use super::{
    Arrival, Content, Data, Dedupe, Engine, Files, Flow, IoMode, IoPriority, Mix, Names, Pattern,
    Reply, Request, RequestPriority, Sharing, StreamText, Sync, SyncTiming, ThreadSettings, Until,
    WeightedSize, Window, Zoned,
};
use crate::op::Action;
use crate::units::{Size, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest stamped unit in bytes.
pub const STAMP_UNIT_BYTES: usize = 4096;

/// Most I/Os of a step that are kept one by one: 50 MB of memory.
pub const REQUESTS_MAX: usize = 1 << 20;

/// One stream: workers of one kind on one region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StreamText", into = "StreamText")]
pub struct Stream {
    /// Name, needed only where a step has several.
    pub name: String,
    /// How I/O reaches the kernel.
    pub engine: Engine,
    /// Direct or buffered.
    pub io: IoMode,
    /// When data must be durable.
    pub sync: Sync,
    /// Whether the time of fsync counts.
    pub sync_timing: SyncTiming,
    /// What they are done to, and in which order.
    pub pattern: Pattern,
    /// Shares of reads, writes and trims.
    pub mix: Mix,
    /// Each write goes where the last one ended, whatever the order of the reads.
    pub writes_in_order: bool,
    /// Each I/O is kept by itself, up to [`REQUESTS_MAX`] of a step.
    pub keep_requests: bool,
    /// The time from the return of the submitting call to the completion has a histogram of its
    /// own, where an engine tells the two apart.
    pub keep_completion: bool,
    /// Each completion is followed by the opposite direction.
    pub reply: Option<Reply>,
    /// Bytes of a reply, where it is not as long as its request.
    pub reply_size: Option<Size>,
    /// Requests that complete before their replies are issued, in the same order; 1 if absent.
    pub reply_after: Option<u32>,
    /// Request size.
    pub size: Size,
    /// Several request sizes; then `size` is not used.
    pub sizes: Vec<WeightedSize>,
    /// Every offset is a multiple of this; the (smallest) request size if absent.
    pub align: Option<Size>,
    /// Added to every offset.
    pub shift: Size,
    /// First byte of the region.
    pub offset: Size,
    /// Bytes of the region; to the end of the target if absent.
    pub length: Option<Size>,
    /// The zones of the drive: offsets are of what they hold, one zone after the other.
    pub zoned: Option<Zoned>,
    /// The part of the region that it keeps to before it moves on.
    pub window: Option<Window>,
    /// Writes to zones are appends: the drive chooses where in its zone each one lands, so that
    /// several can be in flight.
    pub zone_append: bool,
    /// Shared or disjoint; by default disjoint for sequential, shared for the rest.
    pub regions: Option<Sharing>,
    /// One file or one each.
    pub files: Files,
    /// Operations in flight, per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// When they come.
    pub arrival: Arrival,
    /// The share its workers have in the operations of a group of streams; any if absent.
    pub flow: Option<Flow>,
    /// Most operations one submitting call carries; `depth` if absent.
    pub batch_submit: Option<u32>,
    /// Completions a reaping call waits for.
    pub batch_complete: Option<u32>,
    /// io_uring: kernel thread polls the submission queue.
    pub sqpoll: bool,
    /// io_uring: poll the device for completions.
    pub iopoll: bool,
    /// Buffered: the kernel is told whether addresses come in order or at random
    /// (posix_fadvise(2)), which decides how far it reads ahead.
    pub advise: bool,
    /// Buffered: cached pages of its files are dropped before each pass after the first.
    pub drop_cached_each_pass: bool,
    /// io_uring: plain buffers and files instead of registered ones.
    pub unregistered: bool,
    /// Direct: the drive is to write each request whole or not at all (RWF_ATOMIC).
    pub atomic: bool,
    /// What the kernel is told of its workers' threads; nothing if absent.
    pub thread: Option<ThreadSettings>,
    /// Requests with a priority of their own; the rest has that of its thread.
    pub request_priorities: Vec<RequestPriority>,
    /// What written blocks hold.
    pub content: Content,
    /// Bytes that written blocks repeat, and that reads which verify expect, instead of stamps.
    pub data: Option<Data>,
    /// Which written blocks repeat others; none if absent.
    pub dedupe: Option<Dedupe>,
    /// Each 4 KiB (or request, if smaller) carries address, seed, pass and checksum.
    pub stamp: bool,
    /// Reads check the stamps.
    pub verify: bool,
    /// Reads only where a stream that is the same but for this mix, and ends by the same bounds,
    /// has written, in the order of its writes.
    pub read_back: Option<Mix>,
    /// Number of the first pass in stamps; verify: the pass expected everywhere.
    pub pass: Option<u64>,
    /// Its own bounds instead of the step's.
    pub until: Option<Until>,
    /// Index of the first of the plan's files that it uses; the workers' own files follow it.
    pub first_file: u32,
    /// Files that each worker uses in turn, one operation each; one if absent.
    pub files_in_turn: Option<u32>,
    /// Addresses follow from this number instead of the plan's seed and the number of the step:
    /// streams that have the same go the same way.
    pub order: Option<u64>,
    /// Added to the offset of each worker as often as its number says.
    pub offset_each: Size,
    /// Each works on what belongs to the worker this many after it: its file, block or names.
    pub neighbour: u32,
    /// Each address is trimmed, and then written: a mix of as many trims as writes, in pairs.
    pub trim_first: bool,
    /// Ends when the other streams of the step have ended.
    pub background: bool,
    /// Begins this long after the step.
    pub start_after: Span,
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
            pattern: Pattern::SEQUENTIAL,
            mix: Mix::READ,
            writes_in_order: false,
            keep_requests: false,
            keep_completion: false,
            reply: None,
            reply_size: None,
            reply_after: None,
            size: Size(4096),
            sizes: Vec::new(),
            align: None,
            shift: Size(0),
            offset: Size(0),
            length: None,
            zoned: None,
            window: None,
            zone_append: false,
            regions: None,
            files: Files::default(),
            depth: 1,
            workers: 1,
            arrival: Arrival::AT_ONCE,
            flow: None,
            batch_submit: None,
            batch_complete: None,
            sqpoll: false,
            iopoll: false,
            unregistered: false,
            atomic: false,
            thread: None,
            request_priorities: Vec::new(),
            content: Content::default(),
            data: None,
            dedupe: None,
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
            advise: false,
            drop_cached_each_pass: false,
            trim_first: false,
            background: false,
            start_after: Span(0),
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

    /// The kernel's number of the priority of its threads' I/O; 0: none was given.
    pub fn thread_priority(&self) -> u16 {
        let thread = self.thread.as_ref().and_then(|thread| thread.io_priority);
        thread.map_or(0, IoPriority::number)
    }

    /// The smallest request in bytes.
    pub fn size_min(&self) -> u64 {
        self.weighted_sizes().iter().map(|entry| entry.size.0).min().unwrap_or(0)
    }

    /// The largest request in bytes, replies included.
    pub fn size_max(&self) -> u64 {
        self.request_max().max(self.reply_size.map_or(0, |size| size.0))
    }

    /// The memory that its largest request needs in bytes: of a trim that is none.
    pub fn memory_max(&self) -> u64 {
        let moves = |request: &&Request| request.action != Action::Trim;
        match &self.pattern {
            Pattern::Trace(requests) => {
                requests.iter().filter(moves).map(|it| u64::from(it.bytes)).max().unwrap_or(0)
            }
            _ => self.size_max(),
        }
    }

    /// The largest request in bytes that is no reply.
    pub fn request_max(&self) -> u64 {
        self.weighted_sizes().iter().map(|entry| entry.size.0).max().unwrap_or(0)
    }

    /// The grid of offsets in bytes.
    pub fn alignment(&self) -> u64 {
        self.align.map_or(self.size_min(), |align| align.0)
    }

    /// Whether it goes over the same bytes of the same files as another one.
    pub fn has_region_of(&self, other: &Stream) -> bool {
        self.offset == other.offset
            && self.offset_each == other.offset_each
            && self.length == other.length
            && self.shift == other.shift
            && self.files == other.files
            && (self.first_file, self.files_in_turn) == (other.first_file, other.files_in_turn)
    }

    /// Whether what its blocks hold is named by the plan, whoever wrote them.
    pub fn has_known_bytes(&self) -> bool {
        self.data.is_some() || matches!(self.content, Content::Counting(_))
    }

    /// The unit of its data that carries a stamp, in bytes: 4 KiB, or less if requests or the grid
    /// are smaller; always a power of two.
    pub fn stamp_unit_bytes(&self) -> usize {
        let sizes = self.weighted_sizes();
        let step = sizes
            .iter()
            .fold(self.alignment(), |all, entry| greatest_common_divisor(all, entry.size.0));
        let others = [self.shift.0, self.reply_size.map_or(0, |size| size.0)];
        let step = others.into_iter().fold(step, greatest_common_divisor);
        let unit = greatest_common_divisor(step, STAMP_UNIT_BYTES as u64);
        usize::try_from(unit).unwrap_or(STAMP_UNIT_BYTES)
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
        self.regions.unwrap_or(match &self.pattern {
            Pattern::Sequential(_) | Pattern::RandomMap => Sharing::Disjoint,
            _ => Sharing::Shared,
        })
    }

    /// The kinds this stream can issue, in index order.
    pub fn kinds(&self) -> Vec<Action> {
        if let Pattern::Names(names) = &self.pattern {
            let mut kinds = names.actions.clone();
            kinds.sort();
            kinds.dedup();
            return kinds;
        }
        let both = self.reply.is_some();
        let flushes = matches!(self.sync, Sync::Fsync(_) | Sync::Fdatasync(_) | Sync::End)
            || self.requests().iter().any(|request| request.action == Action::Flush);
        [
            (Action::Read, self.mix.read > 0 || both),
            (Action::Write, self.mix.write > 0 || both),
            (Action::Trim, self.mix.trim > 0),
            (Action::Flush, flushes),
            (Action::Reset, self.writes_zones()),
            (Action::Finish, self.zoned.is_some_and(|zoned| zoned.finish_after.is_some())),
        ]
        .into_iter()
        .filter_map(|(kind, issued)| issued.then_some(kind))
        .collect()
    }

    /// Whether it writes zones, each of which it empties first.
    pub fn writes_zones(&self) -> bool {
        self.zoned.is_some() && self.mix.write > 0
    }

    /// Whether operations come when they are due, whatever became of those before.
    pub fn is_open(&self) -> bool {
        self.arrival.is_open()
    }

    /// The metadata actions, where it has no addresses.
    pub fn names(&self) -> Option<&Names> {
        match &self.pattern {
            Pattern::Names(names) => Some(names),
            _ => None,
        }
    }

    /// The same with other names, where it is of names.
    #[must_use]
    pub fn with_names(mut self, change: impl FnOnce(&mut Names)) -> Self {
        if let Pattern::Names(names) = &mut self.pattern {
            change(names);
        }
        self
    }

    /// Whether it works on names in a directory instead of on data.
    pub fn is_metadata(&self) -> bool {
        matches!(self.pattern, Pattern::Names(_))
    }

    /// Whether its kinds come one after the other, each for all names: then the rate of one says
    /// nothing over the time of all.
    pub fn takes_turns(&self) -> bool {
        self.names().is_some_and(|names| names.actions.len() > 1)
    }

    /// Whether each flush makes durable what was written since the last one, and nothing else is
    /// under way meanwhile: what a database calls a commit.
    pub fn commits(&self) -> bool {
        let is_flushed = matches!(self.sync, Sync::Fsync(_) | Sync::Fdatasync(_));
        is_flushed && self.depth <= 1 && self.files_of_worker() <= 1 && !self.is_metadata()
    }

    /// The requests of a trace; none of any other stream.
    pub fn requests(&self) -> &[Request] {
        match &self.pattern {
            Pattern::Trace(requests) => requests,
            _ => &[],
        }
    }

    /// Whether addresses come in order, one block after the other or with a stride.
    pub fn is_sequential(&self) -> bool {
        self.pattern.is_sequential()
    }

    /// The stride in blocks that a sequential order was given.
    pub fn stride(&self) -> Option<i64> {
        self.pattern.sequence().and_then(|sequence| sequence.stride)
    }

    /// Whether reads, writes and trims each go on behind their own last one.
    pub fn is_each_kind_in_order(&self) -> bool {
        self.pattern.sequence().is_some_and(|sequence| sequence.each_kind_in_order)
    }

    /// Idle time of the closed loop, 0 if it has none.
    pub fn think_time(&self) -> Span {
        self.arrival.think().map_or(Span(0), |think| think.time)
    }

    /// Whether it can change what the target stores.
    pub fn changes_data(&self) -> bool {
        let changes_all = self.reaches_target() && self.engine.traits().changes_files;
        changes_all || self.kinds().iter().any(|kind| kind.changes_data())
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
