//! Engines driven by hand: what their stamps mean, how they batch, and that nothing is allocated
//! between the first and the last operation.

use crate::conformance_support::*;
use drivelab_core::driver::{Driver, Next};
use drivelab_core::op::{self, Done, Time};
use drivelab_core::plan::{Arrival, Engine, Mix, Pattern, Reply, Stream, Sync};
use drivelab_core::queue::Trouble;
use drivelab_core::units::{Size, Span};
use drivelab_io::buffer::Buffers;
use drivelab_io::engine;
use drivelab_io::queues::{self, WithQueue, on_queue};
use drivelab_io::watch::Pulse;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// Counts what the calling thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is passed to the system's allocator as it came; the counter is a plain cell
// without a destructor, which itself allocates nothing.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the contract of `alloc` is the caller's, and passed on.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: the contract of `dealloc` is the caller's, and passed on.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    // SAFETY: the contract of `realloc` is the caller's, and passed on.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The queue of a variant, as the testbed builds it.
fn queue(place: &Place, variant: &Variant, stream: &Stream) -> Box<dyn engine::Engine> {
    let (clock, pulse) = (clock(), Arc::new(Pulse::default()));
    let size = stream.size_max() as usize;
    let buffers = Buffers::new(stream.depth as usize, size).unwrap();
    let opened = open(&place.path, stream, variant.nonblocking, None);
    let nonblocking = variant.nonblocking;
    on_queue(stream, queues::Place { opened, nonblocking, clock, buffers, pulse }, Boxed).unwrap()
}

struct Boxed;

impl WithQueue for Boxed {
    type Out = Box<dyn engine::Engine>;

    fn run<E: engine::Engine + 'static>(self, queue: E) -> Result<Self::Out, Trouble> {
        Ok(Box::new(queue))
    }
}

/// What one waiting call brought.
struct Wait {
    called: Time,
    returned: Time,
    least: u32,
    flying: u32,
    submits: u64,
    done: Vec<Done>,
}

/// Runs one driver by hand and keeps every completion.
fn waits(place: &Place, variant: &Variant, stream: &Stream, count: u64) -> Vec<Wait> {
    let mut queue = queue(place, variant, stream);
    let mut all = drivers(stream.clone(), operations(count), Span(1_000_000_000), TARGET_BYTES);
    let mut driver = all.remove(0);
    driver.prefill(queue.as_mut());
    driver.open(queue.now());
    let mut waits = Vec::new();
    loop {
        let called = queue.now();
        let next = driver.pump(queue.as_mut()).unwrap();
        let (least, until) = match next {
            Next::Completion | Next::Drain => {
                (stream.batch_complete.unwrap_or(1).min(driver.in_flight()), None)
            }
            Next::Wake(at) => (1, Some(at)),
            Next::Finished => break,
        };
        let (mut done, flying) = (Vec::new(), driver.in_flight());
        let submits = queue.wait(least, until, &mut done).unwrap().submit;
        let returned = queue.now();
        for one in &done {
            let data = queue.buffer(one.tag);
            driver.reap(one, data);
        }
        waits.push(Wait { called, returned, least, flying, submits, done });
    }
    assert_eq!(driver.failure(), None, "{}", variant.name);
    waits
}

/// Each engine in its plain way, and io_uring in the others.
fn variants() -> impl Iterator<Item = Variant> {
    let rings = [IO_URING_UNREGISTERED, IO_URING_SQPOLL, IO_URING_NONBLOCKING, IO_URING_BUFFERED];
    let is_file_engine = |it: &Engine| it.moves_data() && !it.traits().is_passthrough;
    let engines = Engine::ALL.into_iter().filter(is_file_engine);
    engines.map(Variant::of).chain(rings)
}

const BOTH: Mix = Mix { read: 50, write: 50, trim: 0 };

#[test]
fn stamps_are_in_order_and_lie_within_the_calls_that_they_stand_for() {
    let place = tmpfs();
    for variant in variants() {
        let stream = variant.stream(Pattern::Uniform, BOTH);
        let waits = waits(&place, &variant, &stream, 5000);
        let mut count = 0;
        let mut issued_last = 0;
        for wait in &waits {
            count += wait.done.len();
            for one in &wait.done {
                let name = variant.name;
                assert!(one.issued <= one.submitted && one.submitted <= one.completed, "{name}");
                assert!(one.completed <= wait.returned, "{name}");
                if variant.depth == 1 {
                    assert!(one.issued >= wait.called, "{name}: no reading from before the call");
                    assert!(one.issued >= issued_last, "{name}");
                    assert_eq!(one.submitted, one.completed, "{name}: the call is the I/O");
                    issued_last = one.completed;
                }
            }
        }
        assert_eq!(count, 5000, "{}", variant.name);
    }
}

#[test]
fn no_clock_reading_serves_two_submitting_calls() {
    let place = tmpfs();
    for variant in [IO_URING, IO_URING_UNREGISTERED, LIBAIO] {
        for batch in [1, 3, 8] {
            let stream =
                Stream { batch_submit: Some(batch), ..variant.stream(Pattern::Uniform, Mix::READ) };
            let waits = waits(&place, &variant, &stream, 3000);
            let mut readings = std::collections::BTreeMap::new();
            for one in waits.iter().flat_map(|wait| &wait.done) {
                *readings.entry(one.issued).or_insert(0u32) += 1;
            }
            let calls: u64 = waits.iter().map(|wait| wait.submits).sum();
            assert_eq!(calls, readings.len() as u64, "{}: each call is counted", variant.name);
            let most = readings.values().max().copied().unwrap();
            assert!(most <= batch, "{}: {most} with one reading, batch {batch}", variant.name);
            if batch == 8 {
                assert!(most > 1, "{}: batches of one", variant.name);
            }
        }
    }
}

#[test]
fn a_reaping_call_waits_for_as_many_as_it_is_told() {
    let place = tmpfs();
    for variant in [IO_URING, IO_URING_SQPOLL, LIBAIO] {
        let stream =
            Stream { batch_complete: Some(4), ..variant.stream(Pattern::Uniform, Mix::READ) };
        for wait in waits(&place, &variant, &stream, 2000) {
            let got = wait.done.len() as u32;
            assert!(got >= wait.least && got <= wait.flying, "{}: {got}", variant.name);
        }
    }
}

/// Runs a driver to its end as a worker does, and counts what is allocated meanwhile.
fn allocations(mut driver: Driver, queue: &mut dyn engine::Engine) -> (u64, Driver) {
    let mut done = Vec::with_capacity(driver.stream().depth as usize);
    driver.prefill(queue);
    driver.open(queue.now());
    let before = ALLOCATIONS.get();
    loop {
        let (least, until) = match driver.pump(queue).unwrap() {
            Next::Completion | Next::Drain => (1, None),
            Next::Wake(at) => (1, Some(at)),
            Next::Finished => break,
        };
        done.clear();
        queue.wait(least, until, &mut done).unwrap();
        for one in &done {
            let data = queue.buffer(one.tag);
            driver.reap(one, data);
        }
        while let Some(tally) = driver.take_interval() {
            driver.recycle(tally);
        }
    }
    (ALLOCATIONS.get() - before, driver)
}

#[test]
fn the_counting_allocator_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn nothing_is_allocated_between_the_first_and_the_last_operation() {
    let place = tmpfs();
    let variants = variants().chain([Variant { name: "null", engine: Engine::Null, ..IO_URING }]);
    for variant in variants {
        let plain = Stream { gap_over: Span(1), ..variant.stream(Pattern::Uniform, BOTH) };
        let mut streams = vec![
            plain.clone(),
            Stream { pattern: Pattern::Permutation, stamp: true, mix: Mix::WRITE, ..plain.clone() },
            Stream { verify: true, pattern: Pattern::SEQUENTIAL, mix: Mix::READ, ..plain.clone() },
            Stream { sync: Sync::Fsync(2), reply: Some(Reply::Next), ..plain.clone() },
            Stream { arrival: Arrival::Open { rate: 50_000.0, poisson: true }, ..plain.clone() },
            Stream { arrival: Arrival::thinking(Some(variant.depth), Span(1000)), ..plain.clone() },
        ];
        if !variant.is_cached_only() {
            let mix = Mix { read: 10, write: 10, trim: 10 };
            streams.push(Stream { mix, size: Size(8192), ..plain });
        }
        for (number, stream) in streams.into_iter().enumerate() {
            if variant.engine == Engine::Null && stream.verify {
                continue;
            }
            let mut queue = queue(&place, &variant, &stream);
            // Intervals of 10 ms, so that they are handed over while it runs.
            let all = drivers(stream, elapsed(Span(60_000_000)), Span(10_000_000), TARGET_BYTES);
            for driver in all {
                let (count, driver) = allocations(driver, queue.as_mut());
                assert_eq!(driver.failure(), None, "{} {number}", variant.name);
                assert_eq!(count, 0, "{}, stream {number}", variant.name);
            }
        }
    }
}

/// A page behind the end of a file raises SIGBUS: an I/O error, not the end of the process.
#[test]
fn a_mapping_that_lost_its_file_gives_an_error() {
    let place = tmpfs();
    let stream = MMAP.stream(Pattern::SEQUENTIAL, Mix::READ);
    let mut queue = queue(&place, &MMAP, &stream);
    std::fs::OpenOptions::new().write(true).open(&place.path).unwrap().set_len(MIB).unwrap();
    let mut driver = drivers(stream, passes(1), Span(1_000_000_000), TARGET_BYTES).remove(0);
    driver.prefill(queue.as_mut());
    let (_, driver) = allocations(driver, queue.as_mut());
    let failure = driver.failure().unwrap();
    assert_eq!(failure.errno.map(|errno| errno.0), Some(libc::EIO));
    assert_eq!(failure.op.place(), op::Place::Data { offset: MIB });
}
