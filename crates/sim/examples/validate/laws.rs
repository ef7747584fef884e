//! Laws that hold whatever a drive is made of.

use crate::load::{Bench, KIB, operations, random, virtual_seconds};
use crate::page::{Table, difference, number};
use drivelab_core::lifetime::days_of_promise;
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::plan::Mix;
use drivelab_sim::array::{Array, ArrayParameters};
use drivelab_sim::drive::{Drive, Ends};
use drivelab_sim::flash;
use drivelab_sim::profile::{EMBEDDED, Model, Profile};
use drivelab_sim::target::SimTarget;

const OPERATIONS: u64 = 20_000;
/// Maps larger than this are scaled down, with the drive.
const MAP_BYTES_MAX: u64 = 1 << 30;

/// The profile, filled, and smaller where its map is very large.
fn target_of(name: &str) -> Result<String, String> {
    let parsed = SimTarget::parse(&format!("sim:{name}"), |file| Err(file.to_owned()))?;
    Ok(match parsed.memory_bytes()? > MAP_BYTES_MAX {
        true => format!("{name},capacity=256GiB,state=filled"),
        false => format!("{name},state=filled"),
    })
}

/// Little's law for every profile, and the sum of stages for page-mapped ones.
fn little_and_stages() -> Result<String, String> {
    let mut table = Table::new(&[
        "drive",
        "reads, depth 1",
        "reads, depth 32",
        "writes, depth 1",
        "writes, depth 32",
    ]);
    let mut stages =
        Table::new(&["drive", "sum of stages, µs", "simulated mean, µs", "difference"]);
    let (mut beyond, mut runs) = (0, 0);
    for (name, _) in EMBEDDED {
        let target = target_of(name)?;
        let mut bench = Bench::of(&target)?;
        let mut cells = vec![format!("`{target}`")];
        for (mix, depth) in [(Mix::READ, 1), (Mix::READ, 32), (Mix::WRITE, 1), (Mix::WRITE, 32)] {
            let outcome = bench.run(random(mix, 4 * KIB, depth), operations(OPERATIONS))?;
            let found = outcome.iops() * outcome.mean_ns()? / 1e9;
            let is_beyond = (found / f64::from(depth) - 1.0).abs() > 0.01;
            beyond += u32::from(is_beyond);
            runs += 1;
            let mark = if is_beyond { " **beyond**" } else { "" };
            cells.push(format!("{found:.3}{mark}"));
            let profile = Profile::embedded(name)?;
            if runs % 4 == 1 && profile.model == Model::Flash {
                let expected = stages_ns(&profile.section("parameters")?) / 1e3;
                let found = outcome.mean_ns()? / 1e3;
                let change = difference(found, expected);
                stages.row(&[format!("`{name}`"), number(expected), number(found), change]);
            }
        }
        table.row(&cells);
    }
    Ok(format!(
        "**Little's law**: what is in flight is the rate times the mean latency; random 4 KiB, \
         {OPERATIONS} operations each. Beyond 1 %: {beyond} of {runs}. (At the end of a run the \
         depth falls, which is all that may be missing.)\n\n{}\n\
         **Sum of stages**: a random 4 KiB read at depth 1 of a drive at rest costs command, \
         controller, sensing, channel and link, one after the other. What misses the cache of the \
         map costs more.\n\n{}",
        table.text(),
        stages.text()
    ))
}

/// What a read at depth 1 must cost: its stages one after the other.
fn stages_ns(parameters: &flash::Parameters) -> f64 {
    let units = (4 * KIB).div_ceil(parameters.map_unit_bytes);
    let moved = |bytes: u64, rate: u64| bytes as f64 * 1e9 / rate as f64;
    (parameters.command_ns
        + parameters.firmware_read_ns
        + parameters.firmware_unit_ns * units
        + parameters.read_ns) as f64
        + moved(parameters.map_unit_bytes * units, parameters.channel_bytes_per_s)
        + moved(4 * KIB, parameters.link_bytes_per_s)
}

fn bound() -> Result<String, String> {
    let mut table = Table::new(&["spare ρ", "amplification", "bound, IOPS", "simulated", "share"]);
    let parameters: flash::Parameters = Profile::embedded("textbook")?.section("parameters")?;
    for spare in [0.12, 0.28] {
        let target = format!("textbook,capacity=4GiB,spare={spare},state=steady");
        let mut bench = Bench::of(&target)?;
        let units = bench.bytes() / (4 * KIB);
        // What fills the write buffer first is written before.
        let stream = || random(Mix::WRITE, 4 * KIB, 32);
        bench.run(stream(), operations(units / 10))?;
        let outcome = bench.run(stream(), operations(units))?;
        let amplification = outcome.amplification()?;
        // One program each, and for each copy a read and a program, over all dies.
        let die_ns = parameters.program_ns as f64 * amplification
            + parameters.read_ns as f64 * (amplification - 1.0);
        let bound = f64::from(parameters.dies()) * 1e9 / die_ns;
        table.row(&[
            format!("{:.0} %", 100.0 * spare),
            number(amplification),
            number(bound),
            number(outcome.iops()),
            format!("{:.4}", outcome.iops() / bound),
        ]);
    }
    Ok(format!(
        "**The work-conserving bound**: random writes of the textbook drive in its steady state \
         against the rate at which no die would ever rest, dies ÷ (program × A + read × (A − 1)). \
         At least 0.98 is asked for.\n\n{}",
        table.text()
    ))
}

/// The second in which a gp2 volume has spent its credits, from how much it did in a time.
fn knee() -> Result<String, String> {
    const SECONDS: u64 = 2_500;
    let stream = || random(Mix::READ, 4 * KIB, 32);
    let before = Bench::of("gp2")?.run(stream(), virtual_seconds(100))?;
    let mut bench = Bench::of("gp2")?;
    let whole = bench.run(stream(), virtual_seconds(SECONDS))?;
    let after = bench.run(stream(), virtual_seconds(100))?;
    let [fast, slow] = [before.iops(), after.iops()];
    let knee = (whole.ops as f64 - slow * SECONDS as f64) / (fast - slow);
    Ok(format!(
        "**The knee of gp2**: credits ÷ (burst − base rate) = 5,400,000 ÷ (3,000 − 300) = 2,000 s; \
         simulated {knee:.1} s, {fast:.1} operations a second before it and {slow:.1} after.\n"
    ))
}

/// What a small write costs the members of the RAID 5 without its write cache.
fn small_write() -> Result<String, String> {
    const WRITES: u64 = 1_000;
    let profile = Profile::embedded("sas-raid5")?;
    let mut parameters: ArrayParameters = profile.section("parameters")?;
    parameters.write_cache_bytes = 0;
    let mut array = Array::of_disks(parameters, &profile.section("member")?, 1)?;
    let (mut ends, mut now) = (Ends::default(), 0);
    let mut random = drivelab_stats::Random::new(1);
    for _ in 0..WRITES {
        let offset = random.below(array.bytes() / (4 * KIB)) * 4 * KIB;
        let op = DataOp { action: Action::Write, offset, len: 4096, ..DataOp::default() };
        array.submit(now, 0, &op, &mut ends);
        while !ends.is_empty() || array.next_event() < Time::MAX {
            now = now.max(ends.next_at().min(array.next_event()));
            array.advance(now, &mut ends);
            while ends.pop(now).is_some() {}
        }
    }
    let ops = array.member_ops();
    Ok(format!(
        "**The small write of RAID 5**: {WRITES} random writes of 4 KiB past the cache of \
         `sas-raid5` were {} reads and {} writes of its members: {} and {} each, as old data and \
         old parity must be read.\n",
        ops.reads,
        ops.writes,
        ops.reads as f64 / WRITES as f64,
        ops.writes as f64 / WRITES as f64
    ))
}

/// How long a promise lasts.
fn lifetime() -> String {
    let days = |bytes: f64, by_day: f64| days_of_promise(bytes, by_day).unwrap_or(f64::NAN);
    format!(
        "**Lifetime** by bytes of the host: 600 TB of 1024 GB each at 843 GB a day last {:.1} \
         days; 600 TB at 2 TB a year last {:.0} years.\n",
        days(600.0 * 1024e9, 843e9),
        days(600e12, 2e12 / 365.0) / 365.0
    )
}

/// Little's law, sum of stages, the bound of all die time, a token bucket's knee, RAID 5's small
/// write, lifetime.
pub fn section() -> Result<String, String> {
    Ok(format!(
        "### Laws\n\n{}\n{}\n{}\n{}\n{}",
        little_and_stages()?,
        bound()?,
        knee()?,
        small_write()?,
        lifetime()
    ))
}
