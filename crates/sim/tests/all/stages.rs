//! Where the time of an I/O goes: the stages of every drive add up to it exactly, and asking for
//! them changes nothing.

use drivelab_core::driver::drivers_of;
use drivelab_core::plan::{Act, IoMode, Mix, Pattern, Step, Stream, Sync, Until};
use drivelab_core::queue::Sink;
use drivelab_core::stages::{KindStages, Stage};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_sim::profile::{EMBEDDED, Model, Profile};
use drivelab_sim::target::SimTarget;

const OPERATIONS: u64 = 400;
const REGION: u64 = 64 << 20;

#[derive(Default)]
struct Nothing;

impl Sink for Nothing {
    fn tally(&mut self, _: &Tally) {}
}

fn stream(mix: Mix, size: u64, depth: u32) -> Stream {
    Stream {
        pattern: Pattern::Uniform,
        mix,
        size: Size(size),
        length: Some(Size(REGION)),
        depth,
        ..Stream::default()
    }
}

/// Fills the region and runs a stream; returns what was noted and every stamp.
fn run(name: &str, stream: &Stream, is_watched: bool) -> (Vec<KindStages>, Vec<(u64, u64)>) {
    let target = SimTarget::parse(name, |_| Err(String::new())).unwrap();
    let mut bed = target.build().unwrap_or_else(|error| panic!("{name}: {error}"));
    let bytes = bed.facts().target.bytes.unwrap();
    let fill = Stream {
        pattern: Pattern::SEQUENTIAL,
        mix: Mix::WRITE,
        size: Size(128 << 10),
        length: Some(Size(REGION)),
        depth: 8,
        io: IoMode::Direct,
        ..Stream::default()
    };
    let fill = Step {
        until: Until { passes: Some(1), ..Until::default() },
        streams: vec![fill],
        ..Step::default()
    };
    let step = Step {
        until: Until { operations: Some(OPERATIONS), ..Until::default() },
        streams: vec![stream.clone()],
        ..Step::default()
    };
    let mut stamps = Vec::new();
    for (number, step) in [fill, step].iter().enumerate() {
        let interval = Span(1_000_000_000);
        let mut drivers = drivers_of(step, number as u32, 7, interval, bytes).unwrap();
        drivers.iter_mut().for_each(|driver| driver.keep_stamps(OPERATIONS as usize));
        bed.watch_stages(is_watched && number == 1);
        // What the fill left in buffers is written.
        bed.act(&Act::Idle(Span(60_000_000_000))).unwrap().unwrap();
        let finished = bed.run(drivers, &mut Nothing).unwrap();
        if number == 1 {
            for mut one in finished {
                let (own, _) = one.driver.take_stamps();
                stamps.extend(own.iter().map(|stamp| (stamp.issued, stamp.completed)));
            }
        }
    }
    (bed.take_stages(), stamps)
}

fn assert_exact(name: &str, stream: &Stream) -> Vec<KindStages> {
    let (kinds, stamps) = run(name, stream, true);
    let (none, plain) = run(name, stream, false);
    assert!(none.is_empty(), "{name}");
    assert_eq!(stamps, plain, "{name}: asking changed when something ended");
    let operations: u64 = kinds.iter().map(|kind| kind.operations).sum();
    assert_eq!(operations, OPERATIONS, "{name}");
    let total: u64 = stamps.iter().map(|(issued, completed)| completed - issued).sum();
    assert_eq!(kinds.iter().map(|kind| kind.total_ns).sum::<u64>(), total, "{name}");
    for kind in &kinds {
        assert_eq!(kind.parts_ns.values().sum::<u64>(), kind.total_ns, "{name}: {kind:?}");
    }
    kinds
}

#[test]
fn the_stages_of_every_profile_add_up_exactly() {
    for (name, _) in EMBEDDED {
        // Maps of a terabyte would be most of the work.
        let is_large = Profile::embedded(name).unwrap().model == Model::Flash;
        let name = &format!("{name}{}", if is_large { ",capacity=4GiB" } else { "" });
        for (mix, size, depth) in [
            (Mix::READ, 4096, 1),
            (Mix::READ, 65_536, 8),
            (Mix::WRITE, 4096, 1),
            (Mix::WRITE, 2048, 32),
            (Mix { read: 60, write: 30, trim: 10 }, 16_384, 4),
        ] {
            for kind in assert_exact(name, &stream(mix, size, depth)) {
                let whole = kind.parts_ns.get(&Stage::Drive);
                assert_eq!(whole, None, "{name} tells its stages: {kind:?}");
            }
        }
        let durable = Stream { sync: Sync::Dsync, ..stream(Mix::WRITE, 4096, 2) };
        assert_exact(name, &durable);
    }
}

#[test]
fn what_stands_around_a_drive_counts_as_one_stage() {
    let only = |name: &str, stream: &Stream, stage: Stage| {
        for kind in assert_exact(name, stream) {
            let parts: Vec<Stage> = kind.parts_ns.keys().copied().collect();
            assert_eq!(parts, [stage], "{name}: {kind:?}");
        }
    };
    let reads = stream(Mix::READ, 4096, 1);
    only("textbook,capacity=1GiB,stall=100ms:10ms", &reads, Stage::Drive);
    only("sas-raid10", &reads, Stage::Array);
    let buffered = Stream { io: IoMode::Buffered, ..reads };
    only("textbook,capacity=1GiB,page_cache=64MiB", &buffered, Stage::PageCache);
}

/// One read at a time of a drive without waits: each stage has what its profile says.
#[test]
fn a_read_alone_takes_in_each_stage_what_the_profile_says() {
    let kinds = assert_exact("textbook,capacity=1GiB", &stream(Mix::READ, 4096, 1));
    let expected = [
        (Stage::Command, 5000),
        (Stage::Link, 4096 * 1_000_000_000 / 16_000_000_000),
        (Stage::Flash, 50_000 + 4096 * 1_000_000_000 / 1_600_000_000),
    ];
    let found: Vec<(Stage, u64)> =
        kinds[0].parts_ns.iter().map(|(stage, ns)| (*stage, ns / OPERATIONS)).collect();
    assert_eq!(found, expected);
    // At a depth they wait for each other, and all else stays.
    let deep = assert_exact("textbook,capacity=1GiB", &stream(Mix::READ, 4096, 64));
    assert!(deep[0].mean_ns(Stage::Queue) > 1000.0, "{deep:?}");
    for (stage, ns) in expected {
        assert!((deep[0].mean_ns(stage) - ns as f64).abs() < 1.0, "{deep:?}");
    }
}

/// One read at a time of a disk at rest: nothing but its arm and the turn.
#[test]
fn a_disk_spends_its_time_on_seeks_and_turns() {
    let kinds = assert_exact("momentus-7200", &stream(Mix::READ, 4096, 1));
    let mean = |stage| kinds[0].mean_ns(stage);
    let all = kinds[0].total_ns as f64 / OPERATIONS as f64;
    assert!(mean(Stage::Seek) + mean(Stage::Rotation) > 0.8 * all, "{kinds:?}");
    assert!(mean(Stage::Command) < 0.05 * all, "{kinds:?}");
}
