//! Which addresses follow each other, each order with what it needs.

use super::{Files, KindShares, Request, Zone};
use crate::op::Action;
use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The word of a [`Pattern`], without what it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatternName {
    /// One after the other, or every `stride`-th.
    #[default]
    Sequential,
    /// Each address equally likely, with repetition.
    Uniform,
    /// Every block once a pass, in random order.
    Permutation,
    /// Every block of the smallest size once a pass, in random order; larger requests are cut to
    /// the blocks that are left.
    RandomMap,
    /// Jumps with probability `share`, else goes on.
    SemiRandom,
    /// Zipf-distributed popularity with exponent `theta`, scattered over the region.
    Zipf,
    /// A share `skew` of the addresses has all but that share of the accesses, and so has that
    /// share of that share (Gray et al., SIGMOD 1994); scattered over the region.
    SelfSimilar,
    /// Popularity is a bell: the sum of twelve uniform draws, each over a twelfth of the region,
    /// moved by one over `plateau` of it; scattered over the region.
    Bell,
    /// `zones`: shares of addresses and of accesses.
    HotZones,
    /// `block` and `segments`: the layout of parallel files.
    Segments,
    /// The literal list `offsets`, again and again.
    Replay,
    /// The literal list `requests`: their kinds, sizes and offsets, in their order.
    Trace,
    /// Metadata `actions` on `names`.
    Names,
}

impl PatternName {
    /// The word, as in plans.
    pub fn word(self) -> &'static str {
        match self {
            PatternName::Sequential => "sequential",
            PatternName::Uniform => "uniform",
            PatternName::Permutation => "permutation",
            PatternName::RandomMap => "random-map",
            PatternName::SemiRandom => "semi-random",
            PatternName::Zipf => "zipf",
            PatternName::SelfSimilar => "self-similar",
            PatternName::Bell => "bell",
            PatternName::HotZones => "hot-zones",
            PatternName::Segments => "segments",
            PatternName::Replay => "replay",
            PatternName::Trace => "trace",
            PatternName::Names => "names",
        }
    }
}

/// What the operations of a stream are done to, and in which order.
///
/// ```
/// use drivelab_core::plan::{Pattern, PatternName, Sequence};
///
/// let backward = Pattern::Sequential(Sequence { stride: Some(-1), ..Sequence::default() });
/// assert_eq!(backward.name(), PatternName::Sequential);
/// assert_ne!(backward, Pattern::SEQUENTIAL);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// One address after the other.
    Sequential(Sequence),
    /// Each address equally likely, with repetition.
    Uniform,
    /// Every block once a pass, in random order.
    Permutation,
    /// [`PatternName::RandomMap`].
    RandomMap,
    /// Goes on from where the last operation ended, and jumps at times.
    SemiRandom(Jump),
    /// Zipf-distributed popularity, scattered over the region.
    Zipf {
        /// The exponent, from 0 (uniform) to below 5; 1.1 if absent.
        theta: Option<f64>,
    },
    /// [`PatternName::SelfSimilar`].
    SelfSimilar {
        /// The share of addresses that has all but that share of the accesses; 0.2 if absent.
        skew: Option<f64>,
    },
    /// [`PatternName::Bell`].
    Bell {
        /// Width of the draw that moves it, as a share of the region, at most 0.5; 0 if absent.
        plateau: Option<f64>,
    },
    /// Zones from the start of the region; the rest of both shares is one more zone.
    HotZones(Vec<Zone>),
    /// The layout of parallel files: each segment holds a block of each worker.
    Segments {
        /// Bytes a worker owns in each segment.
        block: Size,
        /// How many; 1 if absent.
        segments: Option<u64>,
    },
    /// Byte offsets, in order, again and again.
    Replay(Vec<Size>),
    /// Requests, in order of time; `mix` and `sizes` of the stream name their kinds and sizes.
    Trace(Vec<Request>),
    /// Metadata actions: no addresses at all.
    Names(Names),
}

/// An order of addresses without chance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Step in blocks; negative goes backward, 0 stays in place; 1 if absent.
    pub stride: Option<i64>,
    /// Where in the region the first pass begins; it goes on to the region's end and then from its
    /// first byte on.
    pub begin: Option<Size>,
    /// A pass ends at the end of the region, and the next begins where it began, so that a stride
    /// leaves the same places out each time.
    pub restart: bool,
    /// Reads, writes and trims each go on behind their own last one.
    pub each_kind_in_order: bool,
}

impl Sequence {
    /// Blocks from one operation to the next.
    pub fn stride(&self) -> i64 {
        self.stride.unwrap_or(1)
    }
}

/// When a semi-random order jumps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Jump {
    /// Before each operation with this probability; 0.5 if absent.
    Share(Option<f64>),
    /// The same of each kind, which goes on behind its own last operation.
    Shares(KindShares),
    /// After this many operations, and at the end of the region.
    Run(u64),
}

/// Metadata actions, each done on all names before the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// What is done, in order.
    pub actions: Vec<Action>,
    /// How many names each worker has; 1000 if absent.
    pub names: Option<u32>,
    /// One directory for all workers or one each.
    pub directories: Files,
    /// How they are spelt in the target directory itself, as in `n{worker}f{name}`; their numbers
    /// begin at 20 with `{name+20}`. They stay from step to step, and are made by an action of a
    /// step. Absent: names of drivelab's own in a directory of its own.
    pub form: Option<String>,
    /// They are of directories, which mkdir makes and unlink removes.
    pub of_directories: bool,
    /// Bytes that create writes and open reads in the same operation.
    pub name_bytes: Size,
    /// They are there already, of an earlier run; only those of our own are removed.
    pub existing: bool,
}

impl Names {
    /// Names of each worker; 1000 if absent.
    pub fn count(&self) -> u32 {
        self.names.unwrap_or(1000)
    }
}

impl Default for Pattern {
    fn default() -> Self {
        Pattern::SEQUENTIAL
    }
}

impl Pattern {
    /// Every block in order, from the first byte on.
    pub const SEQUENTIAL: Pattern = Pattern::Sequential(Sequence {
        stride: None,
        begin: None,
        restart: false,
        each_kind_in_order: false,
    });

    /// In order, from block to block with this stride.
    pub fn strided(stride: i64) -> Pattern {
        Pattern::Sequential(Sequence { stride: Some(stride), ..Sequence::default() })
    }

    /// Which of the orders it is.
    pub fn name(&self) -> PatternName {
        match self {
            Pattern::Sequential(_) => PatternName::Sequential,
            Pattern::Uniform => PatternName::Uniform,
            Pattern::Permutation => PatternName::Permutation,
            Pattern::RandomMap => PatternName::RandomMap,
            Pattern::SemiRandom(_) => PatternName::SemiRandom,
            Pattern::Zipf { .. } => PatternName::Zipf,
            Pattern::SelfSimilar { .. } => PatternName::SelfSimilar,
            Pattern::Bell { .. } => PatternName::Bell,
            Pattern::HotZones(_) => PatternName::HotZones,
            Pattern::Segments { .. } => PatternName::Segments,
            Pattern::Replay(_) => PatternName::Replay,
            Pattern::Trace(_) => PatternName::Trace,
            Pattern::Names(_) => PatternName::Names,
        }
    }

    /// Whether it is sequential, with whatever stride.
    pub fn is_sequential(&self) -> bool {
        matches!(self, Pattern::Sequential(_))
    }

    /// The order of a sequential pattern.
    pub fn sequence(&self) -> Option<&Sequence> {
        match self {
            Pattern::Sequential(sequence) => Some(sequence),
            _ => None,
        }
    }
}
