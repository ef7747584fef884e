//! Orders over zones: what is written where, behind which resets, and what is read back.

use crate::support;
use drivelab_core::driver::drivers_of;
use drivelab_core::facts::TargetKind;
use drivelab_core::op::{Action, DataOp};
use drivelab_core::plan::{
    Arrival, Engine, IoMode, Mix, Pattern, Plan, Sequence, Sharing, Step, Stream, Sync, Until,
    Zoned,
};
use drivelab_core::queue::{Sink, Testbed};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_core::validate::{Geometry, validate};
use drivelab_core::virtual_bed::VirtualTestbed;
use drivelab_stats::Random;
use std::collections::BTreeMap;

type Change<'a> = &'a dyn Fn(&mut Stream);

struct Nobody;

impl Sink for Nobody {
    fn tally(&mut self, _: &Tally) {}
}

fn zoned(size: u64, capacity: u64, finish_after: Option<u64>) -> Zoned {
    let capacity = (capacity < size).then_some(Size(capacity));
    Zoned { size: Size(size), capacity, finish_after: finish_after.map(Size) }
}

/// All operations of a step, each with its worker.
fn done(stream: Stream, until: Until, file_bytes: u64, seed: u64) -> Vec<(u32, DataOp)> {
    let step = Step { until, streams: vec![stream], ..Step::default() };
    let mut bed = VirtualTestbed::new(1000, 3);
    bed.keep_log = true;
    let drivers = drivers_of(&step, 0, seed, Span(1_000_000_000), file_bytes).expect("it fits");
    bed.run(drivers, &mut Nobody).expect("it runs");
    let data = |(_, worker, op): &(u32, u32, _)| (*worker, DataOp::try_from(*op).expect("data"));
    bed.log.iter().map(data).collect()
}

fn passes(passes: u64) -> Until {
    Until { passes: Some(passes), ..Until::default() }
}

/// Zones as a drive keeps them: it fails what a real one would fail.
#[derive(Default)]
struct Drive {
    zone: u64,
    capacity: u64,
    pointers: BTreeMap<u64, u64>,
    resets: u64,
    finished: u64,
}

impl Drive {
    fn take(&mut self, op: &DataOp) {
        let (zone, within) = (op.offset / self.zone, op.offset % self.zone);
        let pointer = self.pointers.entry(zone).or_insert(self.capacity);
        match op.action {
            Action::Reset => {
                assert_eq!((within, op.len), (0, 0), "{op:?}");
                *pointer = 0;
                self.resets += 1;
            }
            Action::Finish => {
                assert!(within == 0 && *pointer > 0, "{op:?}");
                *pointer = self.capacity;
                self.finished += 1;
            }
            Action::Write => {
                assert_eq!(within, *pointer, "a write that is not at the pointer: {op:?}");
                *pointer += u64::from(op.len);
                assert!(*pointer <= self.capacity, "{op:?}");
            }
            _ => assert!(within + u64::from(op.len) <= self.capacity, "between zones: {op:?}"),
        }
    }
}

/// Random shapes of drives and streams: no write is refused by the drive, and each pass writes each
/// byte that the zones hold.
#[test]
fn every_write_is_at_its_pointer() {
    let mut random = Random::new(11);
    for round in 0..300 {
        let request = 512 << random.below(4);
        let capacity = request * (1 + random.below(6));
        let zone = capacity + request * random.below(3);
        let zones = 1 + random.below(9);
        let workers = 1 + random.below(zones.min(4)) as u32;
        let offset = zone * random.below(3);
        let finish =
            (random.below(3) == 0).then(|| request * (1 + random.below(capacity / request)));
        let count = 1 + random.below(3);
        let stream = Stream {
            mix: Mix::WRITE,
            size: Size(request),
            workers,
            zoned: Some(zoned(zone, capacity, finish)),
            offset: Size(offset),
            length: Some(Size(zones * zone)),
            ..Stream::default()
        };
        let bytes = offset + zones * zone + random.below(zone);
        let geometry = Geometry {
            kind: TargetKind::BlockDevice,
            file_bytes: Some(bytes / 512 * 512),
            logical_block_bytes: 512,
            lacks_page_cache: false,
            memory_bytes: None,
        };
        let step = Step { until: passes(count), streams: vec![stream.clone()], ..Step::default() };
        let plan = Plan { steps: vec![step], ..Plan::default() };
        assert_eq!(validate(&plan, &geometry), Ok(()), "round {round}: {stream:?}");
        let ops = done(stream, passes(count), bytes, round);
        let mut drive = Drive { zone, capacity, ..Drive::default() };
        let mut written = 0;
        for (_, op) in &ops {
            drive.take(op);
            assert!((offset..offset + zones * zone).contains(&op.offset), "{op:?}");
            written += if op.action == Action::Write { u64::from(op.len) } else { 0 };
        }
        assert_eq!(written, count * zones * finish.unwrap_or(capacity), "round {round}");
        assert_eq!(drive.resets, count * zones, "round {round}");
        assert_eq!(drive.finished, if finish.is_some() { count * zones } else { 0 });
        // A zone is one worker's.
        let mut owners = BTreeMap::new();
        for (worker, op) in &ops {
            assert_eq!(owners.entry(op.offset / zone).or_insert(*worker), worker, "{op:?}");
        }
    }
}

/// Random shapes of appends on a drive that serves them in any order: none comes to a zone that is
/// not empty yet or is full, and what empties or finishes a zone is alone in flight.
#[test]
fn appends_go_together_and_resets_alone() {
    let mut random = Random::new(12);
    let mut deepest = 0;
    for round in 0..300 {
        let (request, zones) = (4096, 1 + random.below(6));
        let capacity = request * (1 + random.below(40));
        let zone = capacity + request * random.below(3);
        let finish =
            (random.below(3) == 0).then(|| request * (1 + random.below(capacity / request)));
        let (depth, workers) = (1 + random.below(16) as u32, 1 + random.below(zones.min(3)) as u32);
        let stream = Stream {
            mix: Mix::WRITE,
            engine: Engine::IoUringCmd,
            size: Size(request),
            depth,
            workers,
            zoned: Some(zoned(zone, capacity, finish)),
            zone_append: true,
            ..Stream::default()
        };
        let step = Step { until: passes(2), streams: vec![stream], ..Step::default() };
        let plan = Plan { steps: vec![step.clone()], ..Plan::default() };
        let geometry = Geometry {
            kind: TargetKind::BlockDevice,
            file_bytes: Some(zones * zone),
            logical_block_bytes: 4096,
            lacks_page_cache: false,
            memory_bytes: None,
        };
        assert_eq!(validate(&plan, &geometry), Ok(()), "round {round}");
        let drivers = drivers_of(&step, 0, round, Span(1_000_000_000), zones * zone);
        let any_order =
            |now, op: &DataOp, _: &mut [u8]| (now + 1 + random.below(9_999), Ok(op.len));
        let mut issues = support::run(drivers.expect("it fits"), any_order).issues;
        deepest = deepest.max(issues.iter().map(|it| it.depth).max().unwrap_or(0));
        for (at, alone) in issues.iter().enumerate() {
            if alone.op.action == Action::Write {
                assert_eq!(alone.op.offset % zone, 0, "an append names its zone: {alone:?}");
                continue;
            }
            assert_eq!(alone.depth, 1, "round {round}: {alone:?}");
            let mut later = issues[at + 1..].iter().filter(|it| it.worker == alone.worker);
            assert!(later.all(|it| it.at >= alone.completed), "round {round}: {alone:?}");
        }
        issues.sort_by_key(|it| it.completed);
        let mut drive = Drive { zone, capacity, ..Drive::default() };
        for issue in &issues {
            // The drive puts it at its pointer.
            let number = issue.op.offset / zone;
            let pointer = *drive.pointers.entry(number).or_insert(capacity);
            let landed = if issue.op.action == Action::Write { pointer } else { 0 };
            drive.take(&DataOp { offset: number * zone + landed, ..issue.op });
        }
        let full = drive.pointers.values().filter(|pointer| **pointer == capacity).count();
        assert_eq!(full as u64, zones, "round {round}");
        assert_eq!(drive.resets, 2 * zones, "round {round}");
        assert_eq!(drive.finished, if finish.is_some() { 2 * zones } else { 0 });
    }
    assert_eq!(deepest, 16);
}

#[test]
fn reads_stay_on_what_zones_hold_and_reach_all_of_it() {
    for (pattern, sharing) in [
        (Pattern::Uniform, None),
        (Pattern::Permutation, None),
        (Pattern::Permutation, Some(Sharing::Disjoint)),
        (Pattern::SEQUENTIAL, None),
        (Pattern::SEQUENTIAL, Some(Sharing::Whole)),
        (Pattern::Zipf { theta: Some(0.5) }, None),
    ] {
        let stream = Stream {
            pattern: pattern.clone(),
            regions: sharing,
            depth: 4,
            workers: 2,
            zoned: Some(zoned(1 << 16, 3 << 12, None)),
            offset: Size(1 << 16),
            length: Some(Size(4 << 16)),
            ..Stream::default()
        };
        let until = Until { operations: Some(2_000), ..Until::default() };
        let mut drive = Drive { zone: 1 << 16, capacity: 3 << 12, ..Drive::default() };
        let mut seen = BTreeMap::new();
        for (_, op) in done(stream, until, 6 << 16, 5) {
            assert_eq!(op.action, Action::Read);
            assert!((1 << 16..5 << 16).contains(&op.offset), "{op:?}");
            drive.take(&op);
            *seen.entry(op.offset).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 12, "{pattern:?}: {seen:?}");
    }
}

const DRIVE: Geometry = Geometry {
    kind: TargetKind::BlockDevice,
    file_bytes: Some(64 << 20),
    logical_block_bytes: 4096,
    lacks_page_cache: false,
    memory_bytes: None,
};

/// What is wrong with a stream, changed so, that writes zones of 1 MiB which hold 768 KiB.
fn said(geometry: &Geometry, change: Change<'_>) -> String {
    let mut stream =
        Stream { mix: Mix::WRITE, zoned: Some(zoned(1 << 20, 3 << 18, None)), ..Stream::default() };
    change(&mut stream);
    let step = Step { until: passes(1), streams: vec![stream], ..Step::default() };
    let plan = Plan { steps: vec![step], ..Plan::default() };
    let problems = validate(&plan, geometry).err().unwrap_or_default();
    problems.iter().map(|it| format!("{}: {}", it.key, it.text)).collect::<Vec<_>>().join("; ")
}

#[test]
fn what_cannot_be_appended_is_refused() {
    let appends = |s: &mut Stream| {
        (s.depth, s.zone_append, s.engine) = (8, true, Engine::IoUringCmd);
    };
    assert_eq!(said(&DRIVE, &appends), "");
    let refused: [(Change<'_>, &str); 5] = [
        (&|s| s.engine = Engine::IoUring, "zone_append: only an NVMe command appends"),
        (&|s| s.stamp = true, "stamp: a stamp names its place"),
        (&|s| s.arrival = Arrival::Open { rate: 9.0, poisson: false }, "leave rate, burst"),
        (&|s| s.sync = Sync::Fsync(4), "leave rate, burst, think and fsync out"),
        (&|s| s.zoned = None, "zone_append: only writes to the zones of a drive"),
    ];
    for (change, words) in refused {
        let text = said(&DRIVE, &|s| {
            appends(s);
            change(s);
        });
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_zones_cannot_take_is_refused() {
    let geometry = DRIVE;
    assert_eq!(said(&geometry, &|_| {}), "");
    let refused: [(Change<'_>, &str); 17] = [
        (&|s| s.pattern = Pattern::Uniform, "pattern: a zone takes writes only in order"),
        (&|s| s.pattern = Pattern::strided(2), "pattern: a zone takes writes only in order"),
        (&|s| s.mix = Mix { read: 50, write: 50, trim: 0 }, "in a stream of its own"),
        (&|s| s.mix = Mix { read: 0, write: 0, trim: 1 }, "mix: zones are reset, not trimmed"),
        (&|s| s.depth = 2, "depth: a zone takes one write at a time here, and depth 2"),
        (&|s| s.regions = Some(Sharing::Shared), "regions: each worker writes zones of its own"),
        (&|s| s.io = IoMode::Buffered, "io: the page cache does not write zones in order"),
        (&|s| s.iopoll = true, "iopoll: iopoll can only read and write, and zones are reset"),
        (&|s| s.size = Size(5 << 16), "size: zones of 768KiB do not hold a whole number"),
        (&|s| s.align = Some(Size(1024)), "do not hold a whole number"),
        (&|s| s.offset = Size(4096), "offset: offset 4KiB is not a whole number of zones"),
        (&|s| s.length = Some(Size(5 << 18)), "length: length 1280KiB is not a whole number"),
        (&|s| s.shift = Size(4096), "have no replies, shift"),
        (&|s| s.zoned = Some(zoned(0, 0, None)), "zone_size: a zone of 0 bytes holds nothing"),
        (&|s| s.zoned = Some(zoned(1 << 20, 1 << 19, Some(3 << 18))), "cannot hold"),
        (&|s| s.workers = 65, "workers: the region holds 64 zones, too few for 65 workers"),
        (
            &|s| {
                s.mix = Mix::READ;
                s.zoned = Some(zoned(1 << 20, 3 << 18, Some(4096)));
            },
            "only zones that are written are finished",
        ),
    ];
    for (change, words) in refused {
        let text = said(&geometry, change);
        assert!(text.contains(words), "{words}: {text}");
    }
    let replay: &dyn Fn(&mut Stream) = &|s| {
        s.mix = Mix::READ;
        s.pattern = Pattern::Replay(vec![Size(0)]);
    };
    assert!(said(&geometry, replay).contains("replay order is not laid out over zones"));
    for kind in [TargetKind::File, TargetKind::Simulated] {
        let text = said(&Geometry { kind, ..geometry }, &|_| {});
        assert!(text.contains("zone_size: only drives have zones"), "{text}");
    }
    let first = Sequence { begin: Some(Size(4096)), ..Sequence::default() };
    assert!(said(&geometry, &|s| s.pattern = Pattern::Sequential(first)).contains("only in order"));
    let paced: &dyn Fn(&mut Stream) = &|s| s.arrival = Arrival::Open { rate: 10.0, poisson: false };
    assert_eq!(said(&geometry, paced), "", "a rate is kept by resets and writes alike");
}

#[test]
fn zones_are_written_in_a_plan_as_they_are_read() {
    let stream = Stream { zoned: Some(zoned(1 << 20, 3 << 18, Some(4096))), ..Stream::default() };
    let text = serde_json::to_value(&stream).expect("a table");
    assert_eq!(text["zone_size"], "1MiB", "{text}");
    assert_eq!(text["zone_capacity"], "768KiB", "{text}");
    assert_eq!(text["zone_finish_after"], "4KiB", "{text}");
    assert_eq!(serde_json::from_value::<Stream>(text.clone()).expect("a stream"), stream);
    assert!(text.get("zone_append").is_none(), "{text}");
    let appends = Stream { zone_append: true, ..stream };
    let text = serde_json::to_value(&appends).expect("a table");
    assert_eq!(text["zone_append"], true, "{text}");
    assert_eq!(serde_json::from_value::<Stream>(text).expect("a stream"), appends);
    let plain = serde_json::to_value(Stream::default()).expect("a table");
    assert!(plain.get("zone_size").is_none(), "{plain}");
    let stray = serde_json::json!({ "zone_capacity": "1MiB" });
    let said = serde_json::from_value::<Stream>(stray).expect_err("no size").to_string();
    assert!(said.contains("zone_capacity is of the zones of a drive; add zone_size"), "{said}");
}
