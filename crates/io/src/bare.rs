//! The same queues without driver and recording: what submitting and reaping alone costs.
//!
//! Benchmarks hold the instrument against it; nothing measures a drive with it.

use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::null::Null;
use crate::queues::{Place, WithQueue, on_queue};
use crate::testbed::Handle;
use crate::watch::Pulse;
use drivelab_core::op::{Action, DataOp, Done, Time};
use drivelab_core::plan::Stream;
use drivelab_core::queue::Trouble;
use drivelab_stats::Random;
use std::sync::Arc;

/// What a bare loop did.
#[derive(Debug, Clone, Copy)]
pub struct Bare {
    /// Completed operations.
    pub operations: u64,
    /// First submission to last completion, in nanoseconds.
    pub nanoseconds: Time,
}

/// Uniform random operations of the stream's first kind, size and depth, for `span_ns`.
///
/// # Errors
/// The queue cannot be set up, or an operation fails.
pub fn run(
    stream: &Stream,
    handle: Handle,
    clock: Clock,
    bytes: u64,
    span_ns: Time,
) -> Result<Bare, Trouble> {
    let size = usize::try_from(stream.size.0).unwrap_or(usize::MAX);
    let buffers = Buffers::new(stream.depth.max(1) as usize, size)?;
    let pulse = Arc::new(Pulse::default());
    let course = Course { stream, clock, bytes, span_ns };
    let (opened, nonblocking) = match handle {
        Handle::Data { opened, nonblocking } => (opened, nonblocking),
        Handle::Nothing => return course.run(Null::new(clock, buffers)),
        Handle::Directory(_) | Handle::Spelt(..) => {
            return Err(Trouble::usage("a bare loop needs data, not names"));
        }
    };
    on_queue(stream, Place { opened, nonblocking, clock, buffers, pulse }, course)
}

struct Course<'a> {
    stream: &'a Stream,
    clock: Clock,
    bytes: u64,
    span_ns: Time,
}

impl WithQueue for Course<'_> {
    type Out = Bare;

    fn run<E: Engine + 'static>(self, mut engine: E) -> Result<Bare, Trouble> {
        let size = self.stream.size.0.max(1);
        let slots = (self.bytes / size).max(1);
        let action = if self.stream.mix.write > 0 { Action::Write } else { Action::Read };
        let least = self.stream.batch_complete.unwrap_or(1).max(1);
        let depth = self.stream.depth.max(1);
        let mut random = Random::new(1);
        let mut free: Vec<u32> = (0..depth).collect();
        let mut done: Vec<Done> = Vec::with_capacity(depth as usize);
        let mut operations = 0;
        let begin = self.clock.now();
        let mut now = begin;
        while now < begin + self.span_ns || (free.len() as u32) < depth {
            while now < begin + self.span_ns
                && let Some(tag) = free.pop()
            {
                let offset = random.below(slots) * size;
                engine.submit(
                    tag,
                    DataOp { action, offset, len: size as u32, ..DataOp::default() }.into(),
                )?;
            }
            done.clear();
            engine.wait(least.min(depth - free.len() as u32), None, &mut done)?;
            for one in &done {
                free.push(one.tag);
                now = one.completed;
                if let Err(errno) = one.result {
                    let error = std::io::Error::from_raw_os_error(errno.0);
                    return Err(Trouble::failed(format!("the bare loop failed: {error}")));
                }
            }
            operations += done.len() as u64;
        }
        Ok(Bare { operations, nanoseconds: now - begin })
    }
}
