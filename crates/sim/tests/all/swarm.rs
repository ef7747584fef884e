//! Drives and plans drawn from printed seeds: whatever is asked of whatever drive, every operation
//! ends, the counts agree with each other, and the same seed gives the same bytes.

use drivelab_core::driver::drivers_of;
use drivelab_core::inside::{Inside, InsideInterval};
use drivelab_core::op::Action;
use drivelab_core::plan::{
    Act, Arrival, Engine, IoMode, Jump, Mix, Pattern, Step, Stream, Sync, Until,
};
use drivelab_core::queue::{Sink, Testbed};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_sim::target::SimTarget;
use drivelab_stats::Random;

const SEEDS: u64 = 60;
const OPERATIONS_MAX: u64 = 400;

/// What a drive is called, and what may stand behind it.
const DRIVES: [(&str, &[&str]); 16] = [
    ("textbook,capacity=64MiB", &["collector=fifo", "collector=random", "spare=0.07", "d=3"]),
    (
        "textbook,capacity=64MiB,map_unit_bytes=16384,page_bytes=16384",
        &[
            "spare=0.5",
            "erases_by_die=true,erase_ns=1000000,link_credit_bytes=65536",
            "idle_flush_ns=1000000,relocation_ns=1000000,relocation_interval_ns=3000000",
        ],
    ),
    ("x25-e,capacity=2GiB", &["honours_trim=false", "combining_bytes=64KiB"]),
    ("x25-m,capacity=4GiB", &["read_cache_bytes=1MiB", "prefetch_bytes=0,prefetch_streams=0"]),
    ("zhou-intel,capacity=4GiB", &["paces_collection=false"]),
    ("sata-mlc,capacity=16GiB", &["worn_cycles=2500", "power_loss_protection=true"]),
    ("nvme-tlc,capacity=64GiB", &["slc_idle_ns=1000000"]),
    ("nvme-qlc,capacity=64GiB", &["map_cache_bytes=1MiB"]),
    ("ocz-core,capacity=2GiB", &[]),
    ("samsung-slc,capacity=2GiB", &[]),
    ("pqi,capacity=2GiB", &[]),
    ("momentus-7200", &[]),
    ("sas-raid5", &[]),
    ("sas-raid10", &[]),
    ("san", &[]),
    ("gp2", &[]),
];

fn one_of<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize].clone()
}

fn target(random: &mut Random) -> String {
    let (name, more) = one_of(random, &DRIVES);
    let state = one_of(random, &["fresh", "filled", "filled"]);
    let mut name = format!("sim:{name},state={state},seed={}", random.below(1000));
    if !more.is_empty() && random.below(2) == 0 {
        name = format!("{name},{}", one_of(random, more));
    }
    if random.below(3) == 0 {
        name.push_str(",page_cache=16MiB");
    }
    name
}

fn stream(random: &mut Random, has_page_cache: bool) -> Stream {
    let pattern = one_of(
        random,
        &[
            Pattern::SEQUENTIAL,
            Pattern::Uniform,
            Pattern::Permutation,
            Pattern::SemiRandom(Jump::Share(None)),
            Pattern::Zipf { theta: None },
        ],
    );
    let (io, engine) = match has_page_cache && random.below(2) == 0 {
        true => (IoMode::Buffered, one_of(random, &[Engine::IoUring, Engine::Stdio, Engine::Mmap])),
        false => (IoMode::Direct, one_of(random, &[Engine::IoUring, Engine::Psync])),
    };
    let can_trim = io == IoMode::Direct;
    let mix = Mix {
        read: random.below(3) as u32,
        write: random.below(3) as u32,
        trim: if can_trim { random.below(6).saturating_sub(4) as u32 } else { 0 },
    };
    let is_still = mix.read + mix.write + mix.trim == 0;
    let is_open = random.below(4) == 0;
    Stream {
        engine,
        io,
        pattern,
        mix: if is_still { Mix::READ } else { mix },
        size: Size(512 << random.below(12)),
        offset: Size(one_of(random, &[0, 0, 4096, 512])),
        length: (random.below(2) == 0).then_some(Size(32 << 20)),
        depth: if engine == Engine::IoUring { 1 + random.below(40) as u32 } else { 1 },
        workers: 1 + random.below(3) as u32,
        arrival: arrival(random, is_open),
        sync: one_of(random, &[Sync::None, Sync::None, Sync::Fsync(7), Sync::End]),
        ..Stream::default()
    }
}

fn arrival(random: &mut Random, is_open: bool) -> Arrival {
    match is_open {
        true => Arrival::Open {
            rate: 10.0 + random.below(20_000) as f64,
            poisson: random.below(2) == 0,
        },
        false => {
            let burst = (random.below(4) == 0).then(|| 1 + random.below(8) as u32);
            let think_ns = if random.below(4) == 0 { random.below(5_000_000) } else { 0 };
            Arrival::thinking(burst, Span(think_ns))
        }
    }
}

fn steps(random: &mut Random, has_page_cache: bool) -> Vec<Step> {
    let step = |random: &mut Random| {
        if random.below(6) == 0 {
            let trim = Act::Trim { offset: Size(0), length: Some(Size(8 << 20)) };
            let idle = Act::Idle(Span(random.below(20_000_000_000)));
            let act = [&trim, &idle, &Act::DropCaches][random.below(3) as usize].clone();
            return Step { act: Some(act), ..Step::default() };
        }
        let streams = (0..=random.below(3)).map(|_| stream(random, has_page_cache)).collect();
        let operations = Some(1 + random.below(OPERATIONS_MAX));
        Step { streams, until: Until { operations, ..Until::default() }, ..Step::default() }
    };
    (0..3).map(|_| step(random)).collect()
}

/// Everything that would be recorded.
#[derive(Default)]
struct Book {
    tallies: Vec<Tally>,
    insides: Vec<InsideInterval>,
}

impl Sink for Book {
    fn tally(&mut self, tally: &Tally) {
        self.tallies.push(tally.clone());
    }

    fn inside(&mut self, interval: &InsideInterval) {
        self.insides.push(*interval);
    }
}

fn assert_sound(name: &str, inside: &Inside) {
    assert!(inside.erases_min <= inside.erases_max, "{name}: {inside:?}");
    assert!((0.0..=1.0).contains(&inside.buffer_fill), "{name}: {inside:?}");
    assert!(inside.write_amplification().is_none_or(|factor| factor > 0.0), "{name}: {inside:?}");
}

/// Runs a step; every operation that was issued must have ended.
fn run(testbed: &mut dyn Testbed, name: &str, number: u32, step: &Step, book: &mut Book) {
    if let Some(act) = &step.act {
        testbed.act(act).unwrap().unwrap();
        return;
    }
    let bytes = testbed.facts().target.bytes.unwrap();
    let drivers = drivers_of(step, number, 7, Span(10_000_000), bytes).unwrap();
    let from = book.tallies.len();
    let finished = testbed.run(drivers, book).unwrap();
    for (index, stream) in step.streams.iter().enumerate() {
        let own = |tally: &&Tally| tally.stream == index as u32;
        let kinds = book.tallies[from..].iter().filter(own).flat_map(|tally| &tally.kinds);
        let ops: u64 = kinds.filter(|kind| kind.kind != Action::Flush).map(|kind| kind.ops).sum();
        let latency_ns: u128 = book.tallies[from..]
            .iter()
            .filter(own)
            .flat_map(|tally| &tally.kinds)
            .map(|kind| kind.service.sum())
            .sum();
        let workers = u64::from(stream.workers);
        let asked = step.until.operations.unwrap();
        assert!(ops >= 1 && ops <= asked + workers, "{name}: {ops} of {asked}: {stream:?}");
        // Little's law: no more than the depth was in flight.
        let phases = finished.iter().filter(|one| one.phase.stream == index as u32);
        let span_ns: u128 = phases
            .map(|one| u128::from(one.phase.closed.max(one.phase.last) - one.phase.opened))
            .sum();
        assert!(latency_ns <= u128::from(stream.depth) * span_ns, "{name}: {stream:?}");
    }
}

fn record(name: &str, seed: u64) -> String {
    let mut random = Random::new(seed);
    let target = SimTarget::parse(name, |_| Err("no file".into())).unwrap();
    let mut testbed = target.build().unwrap_or_else(|error| panic!("{name}: {error}"));
    let steps = steps(&mut random, target.page_cache_bytes.is_some());
    let mut book = Book::default();
    for (number, step) in steps.iter().enumerate() {
        run(testbed.as_mut(), name, number as u32, step, &mut book);
    }
    let total = testbed.inside().unwrap();
    assert_sound(name, &total);
    // Of an interval this need not hold: what it programs may have come before it.
    assert!(total.programmed_host_units <= total.host_units, "{name}: {total:?}");
    book.insides.iter().for_each(|interval| assert_sound(name, &interval.inside));
    format!("{:?} {:?}", book.tallies, book.insides)
}

#[test]
fn any_plan_runs_on_any_drive_and_again_the_same() {
    for seed in 1..=SEEDS {
        let name = target(&mut Random::new(seed ^ 0xD21E));
        println!("seed {seed}: {name}");
        let first = record(&name, seed);
        assert!(first == record(&name, seed), "seed {seed}: {name} differs from itself");
    }
}
