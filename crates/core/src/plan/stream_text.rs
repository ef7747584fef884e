//! A stream as plans write it: one flat table of keys.
//!
//! What it means, and which keys contradict each other, is in `convert`.

use super::{
    Content, Data, Dedupe, Engine, Files, Flow, IoMode, KindShares, Mix, PatternName, Reply,
    Request, RequestPriority, Sharing, Sync, SyncTiming, ThreadSettings, Until, WeightedSize,
    Window, Zone,
};
use crate::op::Action;
use crate::units::{Size, Span, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use convert::Contradiction;

mod convert;

/// A stream as plans write it: each key by itself, absent ones as in [`StreamText::absent`]. The
/// `Default` has nothing in any key, which no plan can run: conversions begin with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default = "StreamText::absent")]
pub struct StreamText {
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
    /// Semi-random: the same of reads, writes and trims, which each go on behind their own last
    /// one; stands instead of `share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<KindShares>,
    /// Semi-random: jumps after this many operations, and at the end of the region, instead of by
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
    /// Trace: open loop, this many times as fast as they came, once; absent: in a closed loop.
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
    /// Each I/O is kept by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_requests: bool,
    /// The time from the return of the submitting call to the completion has a histogram of its
    /// own, where an engine tells the two apart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_completion: bool,
    /// Each completion is followed by the opposite direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Bytes of a reply, where it is not as long as its request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_size: Option<Size>,
    /// Requests that complete before their replies are issued, in the same order; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_after: Option<u32>,
    /// Request size.
    pub size: Size,
    /// Several request sizes; then `size` is not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<WeightedSize>,
    /// Every offset is a multiple of this; the (smallest) request size if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
    /// Added to every offset.
    #[serde(skip_serializing_if = "is_default")]
    pub shift: Size,
    /// First byte of the region.
    #[serde(skip_serializing_if = "is_default")]
    pub offset: Size,
    /// Bytes of the region; to the end of the target if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Size>,
    /// The part of the region that it keeps to before it moves on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Zoned drives: bytes from the start of one zone to that of the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_size: Option<Size>,
    /// Zoned drives: bytes that a zone holds; all of it if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_capacity: Option<Size>,
    /// Zoned drives: bytes written to a zone before it is finished; it is filled if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_finish_after: Option<Size>,
    /// Zoned drives: writes are appends, several of them in flight; the drive chooses their places.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub zone_append: bool,
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
    #[serde(skip_serializing_if = "is_default")]
    pub think: Span,
    /// The first think time comes before the first burst.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub think_first: bool,
    /// The share its workers have in the operations of a group of streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
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
    /// Direct: the drive is to write each request whole or not at all (RWF_ATOMIC).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// What the kernel is told of its workers' threads: priorities, and NUMA nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadSettings>,
    /// io_uring and libaio: requests with a priority of their own, such as 20 percent of the reads;
    /// each priority has its own latencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub request_priorities: Vec<RequestPriority>,
    /// What written blocks hold.
    pub content: Content,
    /// Bytes that written blocks repeat, and that reads which verify expect, instead of stamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// Which written blocks repeat others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Dedupe>,
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
    #[serde(skip_serializing_if = "is_default")]
    pub first_file: u32,
    /// Files that each worker uses in turn, one operation each; one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_in_turn: Option<u32>,
    /// Addresses follow from this number instead of the plan's seed and the number of the step:
    /// streams that have the same go the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Added to the offset of each worker as often as its number says.
    #[serde(skip_serializing_if = "is_default")]
    pub offset_each: Size,
    /// Each works on what belongs to the worker this many after it: its file, block or names.
    #[serde(skip_serializing_if = "is_default")]
    pub neighbour: u32,
    /// Sequential: a pass ends at the end of the region, and the next begins where it began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
    /// Sequential: reads, writes and trims each go on behind their own last one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub each_kind_in_order: bool,
    /// Each address is trimmed, and then written: a mix of as many trims as writes, in pairs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trim_first: bool,
    /// Names: how they are spelt in the target directory itself, as in `n{worker}f{name}`; their
    /// numbers begin at 20 with `{name+20}`. They stay from step to step, and are made by an action
    /// of a step. Absent: names of drivelab's own in a directory of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Names: they are of directories, which mkdir makes and unlink removes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_directories: bool,
    /// Names: bytes that create writes and open reads in the same operation.
    #[serde(skip_serializing_if = "is_default")]
    pub name_bytes: Size,
    /// Names: they are there already, of an earlier run; only those of our own are removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Ends when the other streams of the step have ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Begins this long after the step.
    #[serde(skip_serializing_if = "is_default")]
    pub start_after: Span,
    /// Gaps without a completion are listed from this length on.
    pub gap_over: Span,
}
