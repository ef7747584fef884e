//! The queue of each engine: the one place where all engines are matched.

use crate::buffer::Buffers;
use crate::clock::Clock;
use crate::engine::{Engine, Opened};
use crate::libaio::Libaio;
use crate::map::Map;
use crate::null::Null;
use crate::opening::Advice;
use crate::space::{Falloc, Ftruncate};
use crate::sync::{Psync, Stdio, SyncQueue};
use crate::uring::Uring;
use crate::uring::commands::Commands;
use crate::uring::requests::Requests;
use crate::watch::Pulse;
use drivelab_core::plan::{self, Stream};
use drivelab_core::queue::Trouble;
use std::sync::Arc;

/// What is done with a queue, whatever its type.
pub trait WithQueue {
    /// What comes of it.
    type Out;

    /// Does it.
    ///
    /// # Errors
    /// Whatever the queue refuses.
    fn run<E: Engine + 'static>(self, queue: E) -> Result<Self::Out, Trouble>;
}

/// What a queue is made on.
#[derive(Debug)]
pub struct Place {
    /// The open files of the worker.
    pub opened: Opened,
    /// They were opened non-blocking, so that io_uring serves them inline.
    pub nonblocking: bool,
    /// The clock of all stamps.
    pub clock: Clock,
    /// The memory of all tags.
    pub buffers: Buffers,
    /// Where the worker shows what it is about to do.
    pub pulse: Arc<Pulse>,
}

/// Builds the queue that a stream of data asks for, and does `work` with it.
///
/// # Errors
/// The queue cannot be set up here, or the work fails.
pub fn on_queue<W: WithQueue>(stream: &Stream, place: Place, work: W) -> Result<W::Out, Trouble> {
    let Place { opened, nonblocking, clock, buffers, pulse } = place;
    let writes = stream.changes_data();
    match stream.engine {
        plan::Engine::IoUring => {
            let ring = Uring::<Requests>::new(stream, opened, nonblocking, clock, buffers)?;
            work.run(ring)
        }
        plan::Engine::IoUringCmd => {
            work.run(Uring::<Commands>::new(stream, opened, false, clock, buffers)?)
        }
        plan::Engine::Libaio => work.run(Libaio::new(stream, opened, clock, buffers)?),
        plan::Engine::Psync => {
            work.run(SyncQueue::new(Psync::new(opened, stream.atomic), clock, buffers, pulse))
        }
        plan::Engine::Mmap => {
            let map = Map::new(opened, writes, Advice::of(stream))?;
            work.run(SyncQueue::new(map, clock, buffers, pulse))
        }
        plan::Engine::Stdio => {
            let record = usize::try_from(stream.size_max()).unwrap_or(4096);
            let stdio = Stdio::new(opened, record, writes)?;
            work.run(SyncQueue::new(stdio, clock, buffers, pulse))
        }
        plan::Engine::Falloc => {
            work.run(SyncQueue::new(Falloc::new(opened), clock, buffers, pulse))
        }
        plan::Engine::Ftruncate => {
            work.run(SyncQueue::new(Ftruncate::new(opened), clock, buffers, pulse))
        }
        plan::Engine::Null => work.run(Null::new(clock, buffers)),
    }
}
