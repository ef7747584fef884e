//! What every engine must do alike, on tmpfs, on ext4 and on block devices.

use crate::conformance_support::*;
use drivelab_core::op::{Action, DataOp};
use drivelab_core::plan::{Arrival, Engine, Mix, Pattern, Reply, Stream, Sync};
use drivelab_core::queue::Testbed;
use drivelab_core::units::{Size, Span};
use std::io::{Read, Seek, SeekFrom};

const BOTH: Mix = Mix { read: 50, write: 50, trim: 0 };
const TRIM: Mix = Mix { read: 0, write: 0, trim: 100 };

/// An engine that is not the one under test.
fn another(variant: &Variant) -> Variant {
    if variant.engine == Engine::Psync { LIBAIO } else { PSYNC }
}

/// Writes stamps everywhere.
fn write_stamps(place: &Place, variant: &Variant, stream: Stream, passes_count: u64) {
    let ran = run(place, variant, Stream { stamp: true, ..stream }, passes(passes_count));
    assert_eq!(ran.sum.total().bytes(), passes_count * TARGET_BYTES, "{}", variant.name);
}

/// Reads everything and checks the stamps; returns how many were right and the first wrong one.
fn read_stamps(place: &Place, variant: &Variant, size: u64, pass: u64) -> u64 {
    let stream = Stream {
        verify: true,
        pass: Some(pass),
        size: Size(size),
        ..variant.stream(Pattern::SEQUENTIAL, Mix::READ)
    };
    let ran = run(place, variant, stream, passes(1));
    let total = ran.sum.total();
    let wrong = ran.finished.iter().flat_map(|one| one.driver.mismatches()).next();
    assert_eq!((total.mismatched, wrong), (0, None), "read by {}", variant.name);
    assert_eq!(total.bytes(), TARGET_BYTES);
    total.verified
}

fn what_is_written_is_there(place: &Place, variant: &Variant) {
    for (pattern, workers) in [(Pattern::Permutation, 2), (Pattern::SEQUENTIAL, 1)] {
        let stream = Stream { workers, ..variant.stream(pattern, Mix::WRITE) };
        write_stamps(place, variant, stream, 2);
        assert_eq!(read_stamps(place, &another(variant), 65536, 1), TARGET_BYTES / 4096);
        assert_eq!(read_stamps(place, variant, 65536, 1), TARGET_BYTES / 4096);
    }
}

fn sizes_from_the_sector_to_a_mebibyte(place: &Place, variant: &Variant) {
    for (pass, size) in (10..).zip([512, 4096, 20_480, MIB]) {
        if size < u64::from(place.block) {
            continue;
        }
        let stream = Stream {
            size: Size(size),
            pass: Some(pass),
            ..variant.stream(Pattern::SEQUENTIAL, Mix::WRITE)
        };
        // 20 KiB do not divide the file: what is left over at the end is not touched.
        let whole = TARGET_BYTES / size * size;
        let stream = Stream { length: Some(Size(whole)), stamp: true, ..stream };
        let ran = run(place, variant, stream.clone(), passes(1));
        assert_eq!(ran.sum.total().bytes(), whole, "{} {size}", variant.name);
        let other = another(variant);
        let check = Stream {
            engine: other.engine,
            io: other.io,
            depth: other.depth,
            sqpoll: false,
            iopoll: false,
            unregistered: false,
            stamp: false,
            verify: true,
            mix: Mix::READ,
            ..stream
        };
        let ran = run(place, &other, check, passes(1));
        assert_eq!(ran.sum.total().mismatched, 0, "{} {size}", variant.name);
        assert_eq!(ran.sum.total().verified, whole / size.min(4096));
    }
}

fn a_mix_is_counted_and_its_depth_kept(place: &Place, variant: &Variant) {
    let stream = Stream { workers: 2, ..variant.stream(Pattern::Uniform, BOTH) };
    let ran = run(place, variant, stream.clone(), operations(2000));
    let (reads, writes) = (ran.sum.ops(Action::Read), ran.sum.ops(Action::Write));
    assert_eq!((reads + writes, ran.issued()), (2000, 2000), "{}", variant.name);
    assert!(reads > 850 && writes > 850, "{reads} {writes}");
    let total = ran.sum.total();
    let submitted: u64 = total.depth_levels.iter().sum();
    assert_eq!(submitted, 2000, "{}: each is in one level", variant.name);
    let full = (variant.depth.ilog2() as usize).min(total.depth_levels.len() - 1);
    let deepest = total.depth_levels.iter().rposition(|count| *count > 0);
    assert_eq!(deepest, Some(full), "{}: {:?}", variant.name, total.depth_levels);
    assert!(total.in_flight_sum <= 2000 * u64::from(variant.depth), "{}", variant.name);
    if variant.depth > 1 {
        assert!(total.in_flight_sum > 2000, "{} never had two in flight", variant.name);
    }
    for tally in &total.kinds {
        assert_eq!(tally.service.count(), tally.ops);
        assert_eq!(tally.submit.is_some(), variant.depth > 1, "{}", variant.name);
        if let Some(submit) = &tally.submit {
            assert_eq!(submit.count(), tally.ops);
            assert!(submit.max() <= tally.service.max(), "{}", variant.name);
        }
    }
    for one in &ran.finished {
        let phase = one.phase;
        assert!(phase.opened <= phase.first && phase.first < phase.last, "{phase:?}");
        assert!(phase.cpu_ns.is_some_and(|ns| ns > 0) && phase.closed == phase.last);
        assert!(phase.system_cpu_ns.is_some() && phase.system_cpu_ns <= phase.cpu_ns);
        assert!(phase.page_faults.is_some());
        for slow in one.driver.slowest() {
            assert!(slow.issued >= phase.first && slow.issued + slow.latency_ns <= phase.last);
        }
    }
    let reply = Stream { reply: Some(Reply::Same), mix: Mix::READ, ..stream };
    let ran = run(place, variant, reply, operations(400));
    assert_eq!(ran.issued(), 400, "{}", variant.name);
    assert!(ran.sum.ops(Action::Write) >= 180, "{}", variant.name);
}

fn trimmed_blocks_read_as_zeros(place: &Place, variant: &Variant) {
    if variant.is_cached_only() || variant.iopoll {
        return;
    }
    write_stamps(place, variant, variant.stream(Pattern::SEQUENTIAL, Mix::WRITE), 1);
    let stream = Stream {
        size: Size(65536),
        offset: Size(MIB),
        length: Some(Size(MIB)),
        ..variant.stream(Pattern::Permutation, TRIM)
    };
    let ran = run(place, variant, stream, passes(1));
    assert_eq!((ran.sum.ops(Action::Trim), ran.sum.total().bytes()), (16, MIB));
    let mut file = std::fs::File::open(&place.path).unwrap();
    let mut data = vec![1; 3 * MIB as usize];
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_exact(&mut data).unwrap();
    let zeros = |from: u64, to: u64| data[from as usize..to as usize].iter().all(|byte| *byte == 0);
    assert!(zeros(MIB, 2 * MIB), "{}", variant.name);
    assert!(!zeros(MIB - 4096, MIB) && !zeros(2 * MIB, 2 * MIB + 4096), "{}", variant.name);
}

fn flushes_are_counted(place: &Place, variant: &Variant) {
    for (sync, expected) in
        [(Sync::Fsync(7), 14), (Sync::Fdatasync(10), 10), (Sync::End, 1), (Sync::Dsync, 0)]
    {
        if variant.engine.traits().is_mapping && sync == Sync::Dsync {
            continue;
        }
        let stream = Stream { sync, ..variant.stream(Pattern::Uniform, Mix::WRITE) };
        let ran = run(place, variant, stream, operations(100));
        let counts = (ran.sum.ops(Action::Write), ran.sum.ops(Action::Flush));
        assert_eq!(counts, (100, expected), "{} {sync}", variant.name);
    }
}

fn the_end_of_the_target_is_a_clear_failure(place: &Place, variant: &Variant) {
    // The driver believes in twice the bytes.
    let stream = Stream {
        offset: Size(TARGET_BYTES - 65536),
        ..variant.stream(Pattern::SEQUENTIAL, Mix::READ)
    };
    let drivers = drivers(stream, passes(1), Span(100_000_000), 2 * TARGET_BYTES);
    let mut testbed = testbed(&place.path, variant.nonblocking, None);
    let mut sum = Sum::default();
    let finished = testbed.run(drivers, &mut sum).unwrap();
    let failure = finished[0].driver.failure();
    let failure = failure.unwrap_or_else(|| panic!("{}: no failure", variant.name));
    let op = DataOp::try_from(failure.op).unwrap();
    assert!(op.offset >= TARGET_BYTES, "{}: {failure:?}", variant.name);
    assert!(failure.errno.is_some() || failure.moved < op.len);
    assert!(sum.ops(Action::Read) >= 16, "{}: what was there was read", variant.name);
}

fn an_open_loop_issues_what_is_due(place: &Place, variant: &Variant) {
    for poisson in [false, true] {
        let stream = Stream {
            workers: 2,
            arrival: Arrival::Open { rate: 2000.0, poisson },
            ..variant.stream(Pattern::Uniform, BOTH)
        };
        let ran = run(place, variant, stream, elapsed(Span(200_000_000)));
        let unissued: u64 = ran.finished.iter().map(|one| one.driver.unissued()).sum();
        let due = ran.issued() + unissued;
        assert!(if poisson { (250..550).contains(&due) } else { due == 400 }, "{due}");
        let total = ran.sum.total();
        assert_eq!(total.ops(), ran.issued(), "{}", variant.name);
        for tally in &total.kinds {
            let response = tally.response.as_ref().expect("responses of an open loop");
            assert_eq!(response.count(), tally.ops);
            assert!(response.max() >= tally.service.max() && response.sum() >= tally.service.sum());
        }
        for one in &ran.finished {
            assert!(one.phase.closed >= one.phase.opened + 200_000_000);
        }
    }
}

fn a_stop_ends_soon_and_loses_nothing(place: &Place, variant: &Variant) {
    let begin = std::time::Instant::now();
    let stream = Stream { workers: 2, ..variant.stream(Pattern::Uniform, BOTH) };
    let sink = Sum { patience: Some(4), ..Sum::default() };
    let ran = try_run(place, variant, stream, elapsed(Span(60_000_000_000)), sink).unwrap();
    assert!(begin.elapsed().as_secs() < 30, "{}", variant.name);
    assert_eq!(ran.sum.total().ops(), ran.issued(), "{}", variant.name);
}

fn suite(test: &str, place: fn() -> Place, variant: Variant) {
    if is_unavailable(test) {
        return;
    }
    let place = place();
    what_is_written_is_there(&place, &variant);
    sizes_from_the_sector_to_a_mebibyte(&place, &variant);
    a_mix_is_counted_and_its_depth_kept(&place, &variant);
    trimmed_blocks_read_as_zeros(&place, &variant);
    flushes_are_counted(&place, &variant);
    the_end_of_the_target_is_a_clear_failure(&place, &variant);
    an_open_loop_issues_what_is_due(&place, &variant);
    a_stop_ends_soon_and_loses_nothing(&place, &variant);
}

macro_rules! conformance {
    ($($test:ident: $variant:ident on $place:ident;)*) => {
        $(#[test]
        fn $test() {
            suite(stringify!($test), $place, $variant);
        })*
    };
}

conformance! {
    io_uring_on_tmpfs: IO_URING on tmpfs;
    io_uring_unregistered_on_tmpfs: IO_URING_UNREGISTERED on tmpfs;
    io_uring_sqpoll_on_tmpfs: IO_URING_SQPOLL on tmpfs;
    io_uring_nonblocking_on_tmpfs: IO_URING_NONBLOCKING on tmpfs;
    io_uring_buffered_on_tmpfs: IO_URING_BUFFERED on tmpfs;
    libaio_on_tmpfs: LIBAIO on tmpfs;
    psync_on_tmpfs: PSYNC on tmpfs;
    psync_buffered_on_tmpfs: PSYNC_BUFFERED on tmpfs;
    mmap_on_tmpfs: MMAP on tmpfs;
    stdio_on_tmpfs: STDIO on tmpfs;
    io_uring_on_ext4: IO_URING on ext4;
    io_uring_unregistered_on_ext4: IO_URING_UNREGISTERED on ext4;
    io_uring_sqpoll_on_ext4: IO_URING_SQPOLL on ext4;
    io_uring_nonblocking_on_ext4: IO_URING_NONBLOCKING on ext4;
    io_uring_buffered_on_ext4: IO_URING_BUFFERED on ext4;
    libaio_on_ext4: LIBAIO on ext4;
    psync_on_ext4: PSYNC on ext4;
    psync_buffered_on_ext4: PSYNC_BUFFERED on ext4;
    mmap_on_ext4: MMAP on ext4;
    stdio_on_ext4: STDIO on ext4;
    io_uring_on_a_loop_device: IO_URING on loop_device;
    io_uring_unregistered_on_a_loop_device: IO_URING_UNREGISTERED on loop_device;
    io_uring_sqpoll_on_a_loop_device: IO_URING_SQPOLL on loop_device;
    io_uring_buffered_on_a_loop_device: IO_URING_BUFFERED on loop_device;
    libaio_on_a_loop_device: LIBAIO on loop_device;
    psync_on_a_loop_device: PSYNC on loop_device;
    psync_buffered_on_a_loop_device: PSYNC_BUFFERED on loop_device;
    mmap_on_a_loop_device: MMAP on loop_device;
    stdio_on_a_loop_device: STDIO on loop_device;
    io_uring_on_zram: IO_URING on zram;
    io_uring_nonblocking_on_zram: IO_URING_NONBLOCKING on zram;
    libaio_on_zram: LIBAIO on zram;
    psync_on_zram: PSYNC on zram;
    mmap_on_zram: MMAP on zram;
}

/// An engine that is new has the whole suite before anybody names it here.
#[test]
fn every_other_engine_on_tmpfs() {
    let named = [IO_URING, LIBAIO, PSYNC, MMAP, STDIO].map(|variant| variant.engine);
    // Commands go to no file: the emulated machine has drives for them.
    let is_file_engine = |it: &Engine| it.moves_data() && !it.traits().is_passthrough;
    let others = Engine::ALL.into_iter().filter(|it| is_file_engine(it) && !named.contains(it));
    let unnamed: Vec<Engine> = others
        .inspect(|engine| suite("every_other_engine_on_tmpfs", tmpfs, Variant::of(*engine)))
        .collect();
    assert_eq!(unnamed, [], "they do what the suite asks; name them above, on every target");
}

/// Polled completions exist only on some devices; elsewhere the first operation must say so.
#[test]
fn io_uring_iopoll_works_or_says_why_not() {
    let place = tmpfs();
    let stream = IO_URING_IOPOLL.stream(Pattern::Uniform, Mix::READ);
    let drivers = drivers(stream, operations(100), Span(100_000_000), TARGET_BYTES);
    let mut sum = Sum::default();
    match testbed(&place.path, false, None).run(drivers, &mut sum) {
        Ok(finished) => match finished[0].driver.failure() {
            None => assert_eq!(sum.ops(Action::Read), 100),
            Some(failure) => {
                let errno = failure.errno.map(|errno| errno.0);
                assert!(matches!(errno, Some(libc::EOPNOTSUPP | libc::EINVAL)), "{failure:?}");
            }
        },
        Err(trouble) => assert!(trouble.text.contains("io_uring"), "{trouble}"),
    }
}
