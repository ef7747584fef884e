//! How fast simulated time passes: host I/Os a second of one core, the whole driver path with every
//! latency recorded. Prints a section of docs/SIMULATOR.md; `make bench-sim` puts it there.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use drivelab_core::driver::drivers_of;
use drivelab_core::inside::InsideInterval;
use drivelab_core::plan::{Engine, Mix, Pattern, Step, Stream, Until};
use drivelab_core::queue::{Sink, Testbed};
use drivelab_core::tally::Tally;
use drivelab_core::units::{Size, Span};
use drivelab_sim::target::SimTarget;
use std::time::Instant;

const ROUNDS: u64 = 5;
/// I/Os of a round on a drive that is too large for a pass each.
const OPERATIONS_MAX: u64 = 1 << 24;

/// Counts, and keeps nothing.
#[derive(Default)]
struct Counted {
    operations: u64,
}

impl Sink for Counted {
    fn tally(&mut self, tally: &Tally) {
        self.operations += tally.ops();
    }

    fn inside(&mut self, _interval: &InsideInterval) {}
}

/// One load: millions of I/Os a second of real time, and I/Os a second of virtual time.
fn load(testbed: &mut dyn Testbed, mix: Mix, bytes: u64, round: u32) -> (f64, f64) {
    let operations = (bytes / 4096).min(OPERATIONS_MAX);
    let stream = Stream {
        engine: Engine::IoUring,
        mix,
        pattern: Pattern::Uniform,
        size: Size(4096),
        depth: 32,
        ..Stream::default()
    };
    let until = Until { operations: Some(operations), ..Until::default() };
    let step = Step { name: "load".into(), streams: vec![stream], until, ..Step::default() };
    let drivers = drivers_of(&step, round, 7, Span(1_000_000_000), bytes).unwrap();
    let mut counted = Counted::default();
    let begin = Instant::now();
    let finished = testbed.run(drivers, &mut counted).unwrap();
    let wall_s = begin.elapsed().as_secs_f64();
    assert_eq!(counted.operations, operations);
    let phase = finished[0].phase;
    let virtual_s = (phase.closed - phase.opened) as f64 / 1e9;
    (operations as f64 / wall_s / 1e6, operations as f64 / virtual_s)
}

/// Median, smallest and largest.
fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[0], values[values.len() - 1]);
    format!("{:.2} [{low:.2}–{high:.2}]", values[values.len() / 2])
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

fn row(name: &str) {
    let begin = Instant::now();
    let target = SimTarget::parse(name, |file| Err(format!("{file} is not read here"))).unwrap();
    let before = resident_bytes().unwrap_or(0);
    let mut testbed = target.build().unwrap();
    let built_s = begin.elapsed().as_secs_f64();
    let memory = resident_bytes().unwrap_or(0).saturating_sub(before);
    let bytes = testbed.facts().target.bytes.unwrap();
    let (mut writes, mut reads, mut amplification, mut rate) = (vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS as u32 {
        let from = testbed.inside().unwrap();
        let (real, simulated) = load(testbed.as_mut(), Mix::WRITE, bytes, 2 * round);
        writes.push(real);
        let change = testbed.inside().unwrap().since(&from);
        let factor = change.write_amplification().unwrap_or(0.0);
        amplification.push(factor);
        // 64 dies; a program each, and for each copy a read and a program (the textbook's times).
        let bound = 64e9 / (200_000.0 * factor + 50_000.0 * (factor - 1.0));
        rate.push(simulated / bound);
        reads.push(load(testbed.as_mut(), Mix::READ, bytes, 2 * round + 1).0);
    }
    println!(
        "| `{name}` | {} | {} | {} | {} | {built_s:.1} s | {:.2} GB, {:.2} B a unit |",
        spread(writes),
        spread(reads),
        spread(amplification),
        spread(rate),
        memory as f64 / 1e9,
        memory as f64 / (bytes as f64 / 4096.0),
    );
}

/// The textbook drive with each mechanism of page-mapped drives that goes with the others, on
/// blocks as long as a die's are, since each die has its own.
const ALL_ON: &str = "textbook,pages_per_block=256,erase_ns=3ms,erases_by_die=true,\
     allocates_by_die=true,stripe_bytes=16KiB,suspend_ns=20us,firmware_read_ns=100,\
     firmware_write_ns=100,firmware_unit_ns=50,firmware_piece_ns=50,firmware_copy_unit_ns=50,\
     queue_depth=32,link_credit_bytes=1MiB,read_cache_bytes=1MiB,idle_flush_ns=1ms,\
     prefetch_bytes=128KiB,prefetch_streams=4,paces_collection=true,idle_collection_blocks=64,\
     levels_wear=true,relocation_ns=2ms,relocation_interval_units=100000,map_cache_bytes=32MiB,\
     bits_per_cell=3,endurance_cycles=3000,read_retries=1,state=steady";

fn main() {
    println!(
        "4 KiB at random, queue depth 32, one core, every latency recorded; median \
         [smallest–largest] of {ROUNDS} rounds. The bound is what all dies together can do: their \
         time ÷ the die time of one write and its copies.\n"
    );
    println!(
        "| target | writes, million/s | reads, million/s | amplification | virtual rate ÷ bound | \
         built in | memory |\n|---|---|---|---|---|---|---|"
    );
    // A name behind `--` is measured alone.
    let named: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let all = ["textbook,state=steady", ALL_ON, "textbook,capacity=3200GB,state=steady"]
        .map(String::from);
    for name in if named.is_empty() { all.as_slice() } else { &named } {
        row(name);
    }
}
