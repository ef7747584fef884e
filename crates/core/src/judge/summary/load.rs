//! What a stream was told to do: the labels of its numbers.

use crate::plan::{Engine, Flow, IoMode, PatternName, Stream, Sync};
use schemars::JsonSchema;
use serde::Serialize;

/// What a stream was told to do: the labels of its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Load {
    /// Name of the stream; empty where a step has one.
    pub name: String,
    /// How I/O reached the kernel.
    pub engine: Engine,
    /// Direct or buffered.
    pub io: IoMode,
    /// When data had to be durable.
    pub sync: Sync,
    /// Which addresses followed each other.
    pub pattern: PatternName,
    /// Smallest request in bytes.
    pub size_bytes_min: u64,
    /// Largest request in bytes.
    pub size_bytes_max: u64,
    /// Operations in flight asked for, per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// Open loop: operations asked for per second; `None` in a closed loop.
    pub rate: Option<f64>,
    /// The share its workers had in the operations of a group of streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Bytes from one zone of the drive to the next, where it was laid out over zones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_bytes: Option<u64>,
    /// Bytes of each of these that are used, where that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_used_bytes: Option<u64>,
    /// Its writes are appends: the drive chooses their places.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub zone_append: bool,
    /// Bytes of the part of its region that it keeps to before it moves on, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u64>,
    /// Bytes moved there before it moves on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_moved_bytes: Option<u64>,
    /// Bytes by which it moves on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_step_bytes: Option<u64>,
}

impl Load {
    /// The labels of a planned stream.
    pub fn of(stream: &Stream) -> Self {
        // Names have no direct I/O, and one at a time they are calls whatever the engine.
        let names = stream.is_metadata();
        Load {
            name: stream.name.clone(),
            engine: if names && stream.depth <= 1 { Engine::Psync } else { stream.engine },
            io: if names { IoMode::Buffered } else { stream.io },
            sync: stream.sync,
            pattern: stream.pattern.name(),
            size_bytes_min: stream.size_min(),
            size_bytes_max: stream.size_max(),
            depth: stream.depth,
            workers: stream.workers,
            rate: stream.arrival.rate(),
            flow: stream.flow,
            zone_bytes: stream.zoned.map(|zoned| zoned.size.0),
            zone_used_bytes: stream
                .zoned
                .map(|zoned| (zoned.used(), zoned.size.0))
                .and_then(|(used, size)| (used < size).then_some(used)),
            zone_append: stream.zone_append,
            window_bytes: stream.window.map(|window| window.size.0),
            window_moved_bytes: stream.window.map(|window| window.moved()),
            window_step_bytes: stream.window.map(|window| window.step()),
        }
    }

    /// Whether it works on names and not on bytes.
    pub fn is_of_names(&self) -> bool {
        self.pattern == PatternName::Names
    }
}
