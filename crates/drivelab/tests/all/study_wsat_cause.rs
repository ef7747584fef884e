//! Why an empty drive falls early: `wsat` on drives of which the cause is planted. A cause that is
//! named must be the planted one; where none is named, the candidates are told.
//!
//! `DRIVELAB_DRAWS=20 DRIVELAB_SEED=7` draws that many drives of each kind from another seed.

use crate::cli_user::{User, estimate};
use crate::swarm_support::drive::{self, Text, between, one_of};
use drivelab_core::op::Action;
use drivelab_core::run::Run;
use drivelab_stats::Random;
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// What is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    SlcCache,
    WriteBuffer,
    LargeUnit,
    CacheBeforeLargeUnit,
    LogBlock,
    BlockMap,
    Credits,
    /// A fast drive that becomes too warm.
    Heat,
}

const KINDS: [Kind; 8] = [
    Kind::SlcCache,
    Kind::WriteBuffer,
    Kind::LargeUnit,
    Kind::CacheBeforeLargeUnit,
    Kind::LogBlock,
    Kind::BlockMap,
    Kind::Credits,
    Kind::Heat,
];

impl Kind {
    /// The words by which the cause is named.
    fn words(self) -> &'static str {
        match self {
            Kind::SlcCache | Kind::WriteBuffer | Kind::CacheBeforeLargeUnit => "a cache of about",
            Kind::LargeUnit => "takes up",
            Kind::LogBlock | Kind::BlockMap => "rewrite a block",
            Kind::Credits => "the credits of a quota",
            Kind::Heat => "became too warm",
        }
    }
}

/// A drive of this kind, as a profile, and how large the unit is.
fn profile(kind: Kind, random: &mut Random, bytes: u64) -> (String, u64) {
    let model = match kind {
        Kind::LogBlock => "log_block",
        Kind::BlockMap => "block_map",
        Kind::Credits => "volume",
        _ => "flash",
    };
    let mut text = Text::of(model);
    text.put("user_bytes", bytes);
    let mut unit = 4096;
    match kind {
        Kind::LogBlock | Kind::BlockMap => blocks(&mut text, random, kind),
        Kind::Credits => volume(&mut text, random),
        _ => unit = flash(&mut text, random, kind, bytes),
    }
    (text.0, unit)
}

fn flash(text: &mut Text, random: &mut Random, kind: Kind, bytes: u64) -> u64 {
    let is_large = matches!(kind, Kind::LargeUnit | Kind::CacheBeforeLargeUnit);
    let unit = if is_large { 4096 << (1 + random.below(4)) } else { 4096 };
    let page = unit.max(one_of(random, &[4096, 16_384]));
    let (channels, per_channel) = (1 << random.below(3), 1 << random.below(3));
    let program = page * (1 + random.below(2));
    let most = (bytes / 120 / (program * channels * per_channel)).clamp(1, 128);
    let has_slc = matches!(kind, Kind::SlcCache | Kind::CacheBeforeLargeUnit);
    let program_ns = between(random, 400_000, 2_500_000);
    text.put("spare", format!("{:.3}", 0.07 + 0.3 * random.unit_f64()));
    text.put("map_unit_bytes", unit);
    text.put("channels", channels);
    text.put("dies_per_channel", per_channel);
    text.put("planes", program / page);
    text.put("page_bytes", page);
    text.put("pages_per_program", 1);
    text.put("pages_per_block", 1 + random.below(most));
    text.put("read_ns", between(random, 20_000, 100_000));
    text.put("program_ns", program_ns);
    text.put("erase_ns", between(random, 500_000, 5_000_000));
    text.put("channel_bytes_per_s", between(random, 200_000_000, 1_600_000_000));
    text.put("link_bytes_per_s", between(random, 300_000_000, 7_000_000_000));
    text.put("command_ns", between(random, 3_000, 20_000));
    text.put("firmware_read_ns", random.below(5_000));
    text.put("firmware_write_ns", random.below(5_000));
    text.put("early_completion", true);
    text.put("honours_trim", true);
    text.put("collector", one_of(random, &["\"greedy\"", "\"fifo\"", "\"d-choices\""]));
    text.put("collector_choices", 10);
    text.put("collection_frontiers", 1);
    text.put("collection_low_blocks", 5);
    text.put("collection_high_blocks", 8);
    let buffer = match kind {
        Kind::WriteBuffer => between(random, bytes / 12, bytes / 3) / unit * unit,
        _ => program * channels * per_channel * (2 + random.below(4)),
    };
    text.put("combining_bytes", 0);
    text.put("buffer_bytes", buffer);
    if random.below(3) == 0 {
        text.put("idle_collection_ns", 100_000_000);
        text.put("idle_collection_blocks", 8 + random.below(30));
    }
    if has_slc {
        text.put("bits_per_cell", 3 + random.below(2));
        text.put("slc_static_bytes", bytes / 100 * (4 + random.below(12)));
        text.put("slc_dynamic_share", format!("{:.2}", 0.5 * random.unit_f64()));
        text.put("slc_program_ns", program_ns / (4 + random.below(8)));
        text.put("slc_idle_ns", one_of(random, &[10_000_000, 1_000_000_000]));
        text.put("slc_when_full", one_of(random, &["\"direct\"", "\"fold\""]));
    }
    unit
}

fn blocks(text: &mut Text, random: &mut Random, kind: Kind) {
    let dies = drive::blocks(text, random);
    if kind == Kind::BlockMap {
        text.put("overwrite", one_of(random, &["\"in_place\"", "\"replacement\""]));
        return;
    }
    let is_full = random.below(2) == 0;
    text.put("log_blocks", dies * (4 + random.below(60)));
    text.put("associativity", if is_full { "\"full\"" } else { "\"block\"" });
    text.put("is_merge_paced", is_full && random.below(2) == 0);
    text.put("buffer_flush", "\"none\"");
    text.put("buffer_bytes", 0);
    text.put("buffer_group_bytes", 0);
}

fn volume(text: &mut Text, random: &mut Random) {
    let base = between(random, 300, 2000);
    let credits = base * between(random, 10, 100);
    let times = 2 + random.below(9);
    drive::quota(text, random, base, times, credits);
}

/// How the drive warms up: slowly, as drives do, and soon, so that it is not full before.
fn thermal(random: &mut Random) -> String {
    let borne = between(random, 2, 60);
    let throttled = (borne as f64 * (0.05 + 0.8 * random.unit_f64())).max(1.0) as u64;
    format!(",thermal={borne}MB:{}s:{throttled}MB", between(random, 2, 60))
}

fn known(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What one drive was said to be.
enum Said {
    Right,
    Wrong(String),
    Unknown(String),
    /// It did not fall early, so nothing was to be said.
    Nothing,
}

fn try_one(user: &User, kind: Kind, seed: u64) -> Said {
    let mut random = Random::new(seed);
    let drawn = one_of(&mut random, &[256, 512, 1024]);
    // Each write of these copies thousands of pages, which takes the real clock long.
    let is_slow = matches!(kind, Kind::LogBlock | Kind::BlockMap);
    let bytes = MIB * if is_slow { 256 } else { drawn };
    let (text, unit) = profile(kind, &mut random, bytes);
    user.write("drawn.toml", text);
    let word = seed.to_string();
    let heat = if kind == Kind::Heat { thermal(&mut random) } else { String::new() };
    let target = format!("sim:./drawn.toml{heat}");
    let mut line = vec!["study", "wsat", &target, "--seed", &word, "--json"];
    // Fewer operations take less of the real clock.
    match (kind, random.below(3)) {
        (_, 0) => line.push("--quick"),
        (Kind::Credits, _) => line.extend(["--time", "10m"]),
        (Kind::LogBlock | Kind::BlockMap, _) => line.extend(["--time", "20m"]),
        _ => line.extend(["--time", "4h"]),
    }
    let json = user.types(&line).json();
    let sentence = |list: &str, begin: &str| {
        let all = json["findings"][list].as_array().unwrap();
        let mut all = all.iter().map(|words| words.as_str().unwrap());
        all.find(|words| words.starts_with(begin)).map(str::to_owned)
    };
    if let Some(words) = sentence("verdict", "It falls so early because") {
        // A small cache may be full before anything is measured; then the unit shows first.
        let apart = from_collection(user, &json);
        let is_there = apart.is_some_and(|share| (0.9..=1.2).contains(&share));
        let kind = match kind == Kind::CacheBeforeLargeUnit && is_there {
            true => Kind::LargeUnit,
            false => kind,
        };
        let unit_words = format!("takes up {} KiB of flash", unit >> 10);
        let is_unit = kind != Kind::LargeUnit || words.contains(&unit_words);
        return match words.contains(kind.words()) && is_unit {
            true => Said::Right,
            false => Said::Wrong(format!("{words} At {apart:?} of the first collection.")),
        };
    }
    let sizes =
        |table: &&Value| table["title"] == "Random writes by size, when the history had ended";
    let table = json["findings"]["tables"].as_array().and_then(|all| all.iter().find(sizes));
    let rows = table.map_or(String::new(), |table| table["rows"].to_string());
    match sentence("unknown", "Why it falls so early") {
        Some(words) => {
            Said::Unknown(words.split("than it says.").last().unwrap().to_owned() + &rows)
        }
        None => Said::Nothing,
    }
}

/// Bytes until the first fall, by those until the drive first copied a block, by its own records:
/// it begins to copy some blocks before it has none left.
fn from_collection(user: &User, json: &Value) -> Option<f64> {
    let mut run = Run::default();
    for line in std::fs::read_to_string(user.last_run()).unwrap().lines() {
        run.push(serde_json::from_str(line).unwrap()).unwrap();
    }
    let mut insides = run.steps.iter().flat_map(|step| &step.insides);
    let first = insides.find(|it| it.inside.collection_units > 0)?;
    let tallies = run.steps.iter().flat_map(|step| &step.tallies);
    let before = tallies.filter(|tally| tally.to <= first.to).flat_map(|tally| &tally.kinds);
    let writes = before.filter(|kind| kind.kind == Action::Write);
    let collected: u64 = writes.map(|kind| kind.bytes).sum();
    let fell = estimate(json, "falls after")["value"].as_f64().unwrap();
    Some(fell / collected as f64)
}

/// Two drives of which it was once said that a full cache explains the fall.
#[test]
fn heat_is_not_taken_for_a_full_cache() {
    let user = User::new();
    for seed in [3_007_010, 3_007_014] {
        match try_one(&user, Kind::Heat, seed) {
            Said::Unknown(words) => assert!(words.contains("reads, too, were"), "{seed}: {words}"),
            Said::Wrong(words) => panic!("{seed}: {words}"),
            Said::Right | Said::Nothing => panic!("{seed}: it fell, and nothing tells why"),
        }
    }
}

#[test]
fn a_cause_is_named_only_where_it_is_the_planted_one() {
    let user = User::new();
    let (draws, first) = (known("DRIVELAB_DRAWS", 1), known("DRIVELAB_SEED", 1));
    let mut wrong = Vec::new();
    let mut right = 0;
    let only = std::env::var("DRIVELAB_KIND").ok();
    for (at, kind) in KINDS.into_iter().enumerate() {
        if only.as_ref().is_some_and(|only| *only != format!("{kind:?}")) {
            continue;
        }
        let (mut named, mut unknown, mut nothing) = (0, 0, 0);
        for draw in 0..draws {
            let seed = first * 1_000_000 + 1000 * at as u64 + draw;
            match try_one(&user, kind, seed) {
                Said::Right => named += 1,
                Said::Nothing => nothing += 1,
                Said::Unknown(words) => {
                    unknown += 1;
                    println!("  {kind:?} {seed}: {words}");
                }
                Said::Wrong(words) => {
                    println!("  {kind:?} {seed} WRONG: {words}");
                    wrong.push(format!("{kind:?} {seed}: {words}"));
                }
            }
        }
        println!("{kind:?}: named {named}, candidates {unknown}, did not fall early {nothing}");
        right += named;
    }
    println!("from seed {first}: {right} right, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(right > 0, "no cause was ever named");
}
