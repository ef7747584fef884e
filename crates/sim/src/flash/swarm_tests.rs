//! Drives and loads drawn from printed seeds, against an oracle: what was written is read, and a
//! power cut takes what it may and nothing else.

use super::collector::Policy;
use super::drive::FlashDrive;
use super::parameters::{Parameters, WhenFull};
use crate::drive::{Drive, Ends, Way};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_stats::Random;
use std::collections::{BTreeMap, BTreeSet};

const UNIT: u64 = 4096;
const OPERATIONS: u32 = 2500;

fn parameters(random: &mut Random) -> Parameters {
    let mut text = String::new();
    let mut add = |key: &str, value: u64| text.push_str(&format!("{key} = {value}\n"));
    let (planes, pages_per_program) = (1 + random.below(2), [1, 3][random.below(2) as usize]);
    let page_bytes = UNIT << random.below(2);
    let program_bytes = page_bytes * planes * pages_per_program;
    let (channels, dies_per_channel) = (1 + random.below(3), 1 + random.below(2));
    add("user_bytes", UNIT * (1000 + random.below(2000)));
    add("map_unit_bytes", UNIT);
    add("channels", channels);
    add("dies_per_channel", dies_per_channel);
    add("planes", planes);
    add("page_bytes", page_bytes);
    add("pages_per_program", pages_per_program);
    add("pages_per_block", pages_per_program * (1 + random.below(3)));
    add("read_ns", 50_000);
    add("program_ns", 600_000);
    add("erase_ns", 3_000_000);
    add("channel_bytes_per_s", 200_000_000);
    add("link_bytes_per_s", 500_000_000);
    add("command_ns", 5_000);
    add("firmware_read_ns", 2_000);
    add("firmware_write_ns", 3_000);
    let ring_bytes = program_bytes * (2 + random.below(12));
    let combining_bytes = UNIT * random.below(40) * random.below(2);
    add("buffer_bytes", ring_bytes + combining_bytes);
    add("combining_bytes", combining_bytes);
    let group_programs = random.below(3).min(channels * dies_per_channel);
    add("write_group_bytes", program_bytes * group_programs);
    if random.below(4) == 0 {
        add("map_save_units", 1 + random.below(200));
        add("map_save_bytes", UNIT * (1 + random.below(40)));
    }
    if random.below(3) == 0 {
        add("prefetch_bytes", UNIT * (1 + random.below(16)));
        add("prefetch_streams", 1 + random.below(4));
    }
    add("queue_depth", random.below(3) * 16);
    add("map_cache_bytes", random.below(2) * page_bytes);
    add("collection_low_blocks", 4);
    add("collection_high_blocks", 5 + random.below(3));
    add("endurance_cycles", random.below(2) * 5);
    add("bits_per_cell", 3);
    let mut parameters: Parameters = toml::from_str(&format!(
        "{text}spare = {}\nearly_completion = {}\n",
        0.25 + random.unit_f64() * 0.5,
        random.below(4) > 0
    ))
    .unwrap();
    parameters.power_loss_protection = random.below(4) == 0;
    parameters.collector = Policy::ALL[random.below(6) as usize].0;
    parameters.collection_frontiers = random.below(3) as u32;
    parameters.paces_collection = random.below(2) == 0;
    parameters.levels_wear = random.below(2) == 0;
    parameters.wear_difference_max = (random.below(2) == 0).then_some(4);
    parameters.slow_program_ns = random.below(2) * 2_000_000;
    if parameters.collection_frontiers > 0 && random.below(3) == 0 {
        parameters.slc_static_bytes = UNIT * random.below(400);
        parameters.slc_dynamic_share = random.unit_f64();
        parameters.slc_program_ns = 100_000;
        parameters.slc_idle_ns = 1_000_000;
        parameters.slc_when_full = [WhenFull::Direct, WhenFull::Fold][random.below(2) as usize];
    } else if random.below(3) == 0 {
        place_by_die(&mut parameters);
    }
    stripe(&mut parameters, program_bytes, random);
    work_of_its_own(&mut parameters, random);
    parameters
}

fn stripe(parameters: &mut Parameters, program_bytes: u64, random: &mut Random) {
    let is_striped = u64::from(random.below(3) == 0);
    let programs = parameters.pages_per_block / parameters.pages_per_program;
    parameters.stripe_bytes = is_striped * program_bytes * u64::from(programs);
}

fn work_of_its_own(parameters: &mut Parameters, random: &mut Random) {
    let mut one_of_three = |value: u64| value * u64::from(random.below(3) == 0);
    parameters.idle_flush_ns = one_of_three(3_000_000);
    parameters.erases_by_die = one_of_three(1) == 1;
    parameters.link_credit_bytes = one_of_three(2 * UNIT);
    parameters.relocation_interval_ns = one_of_three(5_000_000);
    parameters.relocation_interval_units = one_of_three(20);
    let relocates = parameters.relocation_interval_ns + parameters.relocation_interval_units > 0;
    parameters.relocation_ns = 1_000_000 * u64::from(relocates);
}

fn place_by_die(parameters: &mut Parameters) {
    parameters.allocates_by_die = true;
    parameters.firmware_piece_ns = 100;
    parameters.firmware_copy_unit_ns = 100;
}

impl FlashDrive {
    /// What a read of a unit would return.
    fn version(&self, logical: u32) -> Option<u32> {
        match self.combining.as_ref().filter(|combining| combining.holds(logical)) {
            Some(combining) => combining.versions.get(&logical).copied(),
            None => self.ftl.version(logical),
        }
    }
}

/// What happened to one unit since it was last known for sure, oldest first.
type History = Vec<(u64, Option<u32>)>;

struct Swarm {
    drive: FlashDrive,
    random: Random,
    now: Time,
    ends: Ends,
    histories: BTreeMap<u32, History>,
    /// Writes before this event were flushed, at this time.
    flushes: Vec<(u64, Time)>,
    events: u64,
    version: u32,
    lost: u64,
}

impl Swarm {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let parameters = parameters(&mut random);
        let drive = FlashDrive::new(parameters.clone(), seed)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}: {parameters:?}"));
        Swarm {
            drive,
            random,
            now: 0,
            ends: Ends::default(),
            histories: BTreeMap::new(),
            flushes: Vec::new(),
            events: 0,
            version: 0,
            lost: 0,
        }
    }

    fn units(&self) -> u64 {
        self.drive.bytes() / UNIT
    }

    fn latest(&self, logical: u32) -> Option<u32> {
        self.histories.get(&logical).and_then(|history| history.last()?.1)
    }

    fn note(&mut self, logical: u32, version: Option<u32>) {
        self.histories.entry(logical).or_default().push((self.events, version));
    }

    /// One operation; mostly the next one comes when it has ended.
    fn step(&mut self) {
        self.events += 1;
        let units = self.units();
        // Half of all falls on a small part, so that units are written again and again.
        let span = if self.random.below(2) == 0 { units } else { units / 16 };
        let first = self.random.below(span);
        let count = (1 + self.random.below(8)).min(units - first);
        let op = |action| DataOp {
            action,
            offset: first * UNIT,
            len: (count * UNIT) as u32,
            ..DataOp::default()
        };
        let action = match self.random.below(100) {
            0..70 => Action::Write,
            70..80 => Action::Read,
            80..90 => Action::Trim,
            90..94 => Action::Flush,
            _ => {
                self.now += self.random.below(30_000_000);
                return;
            }
        };
        let range = first as u32..(first + count) as u32;
        let is_durable = action == Action::Write && self.random.below(10) == 0;
        match action {
            Action::Write => {
                self.version += 1;
                self.drive.ftl.contents.0 = self.version;
                range.clone().for_each(|logical| self.note(logical, Some(self.version)));
            }
            Action::Trim => range.clone().for_each(|logical| self.note(logical, None)),
            _ => {}
        }
        let way = Way { is_durable, ..Way::default() };
        self.drive.submit_by(self.now, 0, &op(action), way, &mut self.ends);
        let end = self.ends.pop(Time::MAX).unwrap().at;
        assert!(end > self.now, "an operation takes time");
        if action == Action::Flush {
            self.flushes.push((self.events, end));
        }
        if self.random.below(4) > 0 {
            self.now = end;
        }
        range.for_each(|logical| self.assert_read(logical));
    }

    fn assert_read(&self, logical: u32) {
        assert_eq!(self.drive.version(logical), self.latest(logical), "unit {logical}");
    }

    fn cut(&mut self) {
        let flushed = self.flushes.iter().filter(|(_, end)| *end <= self.now);
        let flushed = flushed.map(|(event, _)| *event).max().unwrap_or(0);
        let is_protected = self.drive.parameters.power_loss_protection;
        let mut at_risk: BTreeSet<u32> =
            self.drive.buffer.unfinished(self.now).iter().map(|place| place.logical).collect();
        let held = self.drive.combining.iter().flat_map(|combining| combining.versions.keys());
        at_risk.extend(held);
        self.drive.power_cut(self.now);
        self.drive.ftl.assert_consistent();
        for logical in 0..self.units() as u32 {
            let found = self.drive.version(logical);
            let latest = self.latest(logical);
            if is_protected || !at_risk.contains(&logical) {
                assert_eq!(found, latest, "unit {logical} was not at risk");
            }
            self.lost += u64::from(found != latest);
            let history = self.histories.remove(&logical).unwrap_or_default();
            let durable = history.iter().rposition(|(event, _)| *event < flushed);
            let may_be = &history[durable.unwrap_or(0)..];
            let was_empty = durable.is_none() && found.is_none();
            assert!(
                was_empty || may_be.iter().any(|(_, version)| *version == found),
                "unit {logical} holds {found:?}, not one of {may_be:?}"
            );
            if found.is_some() {
                self.histories.insert(logical, vec![(0, found)]);
            }
        }
        self.flushes.clear();
    }

    fn digest(&mut self) -> String {
        let inside = self.drive.inside(self.now);
        format!("{} {inside:?}", self.now)
    }
}

fn run(seed: u64, with_cuts: bool) -> Swarm {
    println!("seed {seed}");
    let mut swarm = Swarm::new(seed);
    for step in 0..OPERATIONS {
        swarm.step();
        if with_cuts && (step + 1) % 250 == 0 {
            swarm.cut();
        }
    }
    for logical in 0..swarm.units() as u32 {
        swarm.assert_read(logical);
    }
    swarm.drive.ftl.assert_consistent();
    swarm
}

#[test]
fn what_was_written_is_read() {
    let (mut collected, mut merged, mut retired) = (0, 0, 0);
    for seed in 0..60 {
        let mut swarm = run(seed, false);
        let now = swarm.now;
        let inside = swarm.drive.inside(now);
        collected += u64::from(inside.collection_units > 0);
        merged += u64::from(inside.programmed_host_units < inside.host_units);
        retired += u64::from(swarm.drive.ftl.retired_blocks() > 0);
    }
    println!("{collected} drives collected, {merged} combined, {retired} retired blocks");
    assert!(collected > 40 && merged > 10 && retired > 0);
}

#[test]
fn a_power_cut_takes_what_was_not_flushed_and_nothing_else() {
    let (mut losing, mut lost) = (0, 0);
    for seed in 1000..1060 {
        let swarm = run(seed, true);
        if swarm.drive.parameters.power_loss_protection {
            assert_eq!(swarm.lost, 0, "the buffer was protected");
        }
        losing += u64::from(swarm.lost > 0);
        lost += swarm.lost;
    }
    println!("{losing} of 60 drives lost {lost} units that were not flushed");
    assert!(losing > 20);
}

#[test]
fn equal_seeds_give_equal_ends() {
    for seed in 2000..2010 {
        assert_eq!(run(seed, true).digest(), run(seed, true).digest());
        assert_ne!(run(seed, true).digest(), run(seed + 500, true).digest());
    }
}
