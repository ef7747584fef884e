//! Steps of a plan for the tests of IOzone.

use super::line::{Durable, Line};
use super::options::{Cell, Throughput};
use super::test::{Load, Test};
use drivelab_core::plan::{
    Act, Arrival, Content, Engine, Files, IoMode, Mix, Pattern, Role, Sequence, Sharing, Step,
    Stream, Sync, SyncTiming, Think, Until,
};
use drivelab_core::units::{Size, Span};

/// The order of all random tests of all runs; IOzone's is that of `srand48(0)`.
const ORDER: u64 = 0;
/// Percent of each block that is zeros: IOzone's blocks are eight bytes and zeros.
const ZERO_PERCENT: u32 = 99;
const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

/// What an act is for.
pub(super) fn act(name: &str, act: Act) -> Step {
    let role = if matches!(act, Act::Idle(_)) { Role::Idle } else { Role::Prepare };
    Step { name: name.to_owned(), role, act: Some(act), ..Step::default() }
}

/// What comes before the step of a test: a rest, dropped pages, an empty file.
pub(super) fn before(line: &Line, test: Test, is_drive: bool, is_first: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    if line.pause_s > 0 && !is_first {
        let span = Span(line.pause_s.saturating_mul(SECOND_NS));
        steps.push(act("rest", Act::Idle(span)));
    }
    if test == Test::Write && !is_drive && !line.over_old_blocks {
        let all = Act::Trim { offset: Size(0), length: None };
        steps.push(act("new file", all));
    }
    if line.remount.is_some() {
        steps.push(act("drop caches", Act::DropCaches));
    }
    steps
}

/// The step of one test by one process.
pub(super) fn of_test(line: &Line, test: Test, cell: Cell, name: String) -> Step {
    Step {
        name,
        until: until(line, test, cell),
        cpus: cpus(line, 1),
        streams: vec![stream(line, test, cell)],
        ..Step::default()
    }
}

/// The step of one load by `count` processes.
pub(super) fn of_load(line: &Line, layout: &Throughput, load: Load, count: u32) -> Step {
    let (test, cell) = (load.test(), layout.cell(count));
    let of = |test: Test, workers: u32, first_file: u32| Stream {
        workers,
        first_file: if line.one_file { 0 } else { first_file },
        files: if line.one_file || count == 1 { Files::One } else { Files::Each },
        regions: Some(Sharing::Whole),
        ..stream(line, test, cell)
    };
    let mut streams = Vec::new();
    if load == Load::Mixed {
        let readers = layout.readers(count);
        let in_order = |test: Test, plain: Test| if line.mix_in_order { plain } else { test };
        if readers > 0 {
            let test = in_order(Test::RandomRead, Test::Read);
            streams.push(Stream { name: "readers".to_owned(), ..of(test, readers, 0) });
        }
        if readers < count {
            let test = in_order(Test::RandomWrite, Test::Rewrite);
            let writers = of(test, count - readers, readers);
            streams.push(Stream { name: "writers".to_owned(), ..writers });
        }
    } else {
        streams.push(of(test, count, 0));
    }
    let stonewall = !line.no_stonewall && count > 1 && !test.is_stdio();
    Step {
        name: Throughput::step(load, count),
        until: Until { stonewall, ..until(line, test, cell) },
        cpus: cpus(line, count),
        streams,
        ..Step::default()
    }
}

/// The step after a load that fills the files for the first time and was cut short by a stonewall:
/// IOzone's processes go on until their files are whole, and count only what came before.
pub(super) fn rest_of_files(line: &Line, layout: &Throughput, load: Load, count: u32) -> Step {
    let mut step = of_load(line, layout, load, count);
    step.name = format!("rest of the files, {count} at once");
    step.role = Role::Prepare;
    step.until.stonewall = false;
    step
}

fn until(line: &Line, test: Test, cell: Cell) -> Until {
    let in_place = test == Test::StrideRead && cell.records() <= line.stride;
    match test == Test::RecordRewrite || in_place {
        // In place there is no pass of the region.
        true => Until { operations: Some(cell.records()), ..Until::default() },
        false => Until { passes: Some(1), ..Until::default() },
    }
}

fn stream(line: &Line, test: Test, cell: Cell) -> Stream {
    let mapped = line.mapped && !test.is_stdio();
    let engine = match (test.is_stdio(), mapped) {
        (true, _) => Engine::Stdio,
        (false, true) => Engine::Mmap,
        (false, false) => Engine::Psync,
    };
    let cached = test.is_stdio() || mapped || !line.direct;
    let (sync, sync_timing) = sync(line, test, mapped);
    let strided = |stride| Pattern::Sequential(Sequence { stride, ..Sequence::default() });
    let (pattern, order) = match test {
        Test::RandomRead | Test::RandomWrite => (Pattern::Permutation, Some(ORDER)),
        Test::BackwardRead => (strided(Some(-1)), None),
        Test::RecordRewrite => (strided(Some(0)), None),
        Test::StrideRead => {
            let steps = if cell.records() <= line.stride { 0 } else { line.stride };
            (strided(i64::try_from(steps).ok()), None)
        }
        _ => (Pattern::SEQUENTIAL, None),
    };
    let writes = test.writes();
    Stream {
        engine,
        io: if cached { IoMode::Buffered } else { IoMode::Direct },
        sync,
        sync_timing,
        order,
        mix: if writes { Mix::WRITE } else { Mix::READ },
        size: Size(cell.record_bytes()),
        length: Some(Size(cell.bytes())),
        content: if writes { Content::Compressible(ZERO_PERCENT) } else { Content::Random },
        stamp: writes && line.verify,
        verify: !writes && line.verify,
        pattern,
        arrival: Arrival::Closed {
            burst: None,
            think: (line.think_ms > 0).then(|| Think {
                time: Span(line.think_ms.saturating_mul(MILLISECOND_NS)),
                first: true,
            }),
        },
        ..Stream::default()
    }
}

/// When writes are durable. Neither stdio nor a mapping is reached by O_SYNC.
fn sync(line: &Line, test: Test, mapped: bool) -> (Sync, SyncTiming) {
    if !test.writes() {
        return (Sync::None, SyncTiming::Inside);
    }
    if mapped && line.sync_mapping {
        return (Sync::Fsync(1), SyncTiming::Inside);
    }
    let reached = !mapped && !test.is_stdio();
    match (line.durable, line.flush) {
        (Some(Durable::Synchronous | Durable::DataSynchronous), _) if reached => {
            (Sync::Dsync, SyncTiming::Inside)
        }
        (_, true) => (Sync::End, SyncTiming::Inside),
        (_, false) => (Sync::End, SyncTiming::Outside),
    }
}

/// The CPUs that `count` processes are bound to, from `-P` on and around.
fn cpus(line: &Line, count: u32) -> String {
    let Some(first) = line.first_cpu else { return String::new() };
    let around = if line.host_cpus > 0 { line.host_cpus } else { u32::MAX };
    let mut numbers: Vec<u32> = (0..count.clamp(1, around))
        .map(|process| (first % around).wrapping_add(process) % around)
        .collect();
    numbers.sort_unstable();
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    words.join(",")
}
