//! Drives drawn from a seed: what the host may see of them, and what is true of them.

use drivelab_sim::profile::{EMBEDDED, Model, Profile};
use drivelab_stats::Random;
use std::fmt::Write;

const MIB: u64 = 1 << 20;

/// A simulated drive.
#[derive(Debug, Clone)]
pub struct Drive {
    /// What is typed.
    pub target: String,
    /// The file next to the run that `target` names, if it is no drive of `sim list`.
    pub profile: Option<String>,
    /// What is planted.
    pub planted: Planted,
}

impl Drive {
    /// A number of the profile that was drawn.
    pub fn number(&self, key: &str) -> Option<u64> {
        let value =
            |line: &str| line.strip_prefix(key)?.strip_prefix(" = { value = ").map(str::to_string);
        self.profile.as_ref()?.lines().find_map(value)?.split(',').next()?.parse().ok()
    }
}

/// What the inside knows before anything is measured.
#[derive(Debug, Clone, Default)]
pub struct Planted {
    /// The word of the model in profiles.
    pub model: &'static str,
    /// Bytes that a host can address; `None` where the profile says it.
    pub bytes: Option<u64>,
    /// Whether trimmed units are dropped; `None` where the drive has no map to drop them from.
    pub honours_trim: Option<bool>,
    /// Share of its rate that a reader loses once the map is in pieces.
    pub fragmentation: f64,
    /// Cells of one bit serve as a cache.
    pub has_slc: bool,
    /// The host has a page cache.
    pub has_page_cache: bool,
    /// It does nothing for this many milliseconds, each this many seconds.
    pub stall: Option<(u64, u64)>,
}

/// One of these, each as likely as the others.
pub fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

fn chance(random: &mut Random, percent: u64) -> bool {
    random.below(100) < percent
}

/// From `least` to `most`, each power of two as likely as the others.
pub fn between(random: &mut Random, least: u64, most: u64) -> u64 {
    (least as f64 * (most as f64 / least as f64).powf(random.unit_f64())) as u64
}

/// The lines of a profile.
pub struct Text(pub String);

impl Text {
    /// One of a model without parameters yet.
    pub fn of(kind: &str) -> Text {
        Text(format!(
            "name = \"drawn\"\ntitle = \"Drawn\"\nkind = \"{kind}\"\nabout = \"Drawn from a \
             seed.\"\n\n[parameters]\n"
        ))
    }

    /// A parameter.
    pub fn put(&mut self, key: &str, value: impl std::fmt::Display) {
        writeln!(self.0, "{key} = {{ value = {value}, source = \"drawn\", status = \"guess\" }}")
            .expect("a string takes it");
    }
}

impl Drive {
    /// The drive of a seed, of at most this many bytes.
    pub fn draw(random: &mut Random, most: u64) -> Drive {
        let mib = match random.below(22) {
            0..10 => 256,
            10..16 => 512,
            16..19 => 1024,
            19 => 2048,
            20 => 4096,
            _ => 8192,
        };
        let bytes = (MIB * mib).min(most);
        let mut drive = match random.below(20) {
            0..8 => listed(random, bytes),
            8..14 => flash(random, bytes),
            14..16 => log_block(random, bytes),
            16 => block_map(random, bytes),
            17 => disk(random, bytes),
            _ => volume(random, bytes),
        };
        drive.surround(random);
        drive
    }

    fn of_text(text: Text, model: &'static str, bytes: u64, honours: Option<bool>) -> Drive {
        let planted =
            Planted { model, bytes: Some(bytes), honours_trim: honours, ..Planted::default() };
        Drive { target: "sim:./drawn.toml".into(), profile: Some(text.0), planted }
    }

    /// Lets it stall for `length_ms` each `period_s`.
    pub fn stall(&mut self, period_s: u64, length_ms: u64) {
        self.target.push_str(&format!(",stall={period_s}s:{length_ms}ms"));
        self.planted.stall = Some((period_s, length_ms));
    }

    /// What stands in front of the drive, and how it begins.
    fn surround(&mut self, random: &mut Random) {
        let mut add = |text: &str| self.target.push_str(text);
        add(&format!(",seed={}", random.below(1000)));
        if chance(random, 20) {
            let bytes = MIB * one_of(random, &[64, 256, 1024]);
            add(&format!(",page_cache={bytes}"));
            self.planted.has_page_cache = true;
        }
        if chance(random, 8) {
            self.planted.fragmentation = 0.1 * (1 + random.below(5)) as f64;
            add(&format!(",fragmentation={:.1}", self.planted.fragmentation));
        }
        if chance(random, 15) {
            let words: &[&str] = match self.planted.model {
                "flash" => &["filled", "random-filled", "fragmented", "random-steady"],
                "log_block" | "block_map" => &["filled", "fragmented"],
                _ => &["filled"],
            };
            add(&format!(",state={}", one_of(random, words)));
        }
        if chance(random, 10) {
            add(",file_system_ns=4000,journal=0.1");
        }
    }
}

/// A profile of `sim list`.
fn listed(random: &mut Random, bytes: u64) -> Drive {
    let (name, text) = one_of(random, EMBEDDED);
    let profile = Profile::parse(text, name).expect("a profile of the program");
    let mut target = format!("sim:{name}");
    // The size of an array is that of its members.
    let is_array = profile.model == Model::Array;
    let key = if is_array { "member.user_bytes" } else { "capacity" };
    target.push_str(&format!(",{key}={bytes}"));
    let honours = (profile.model == Model::Flash).then(|| !chance(random, 30));
    if honours == Some(false) {
        target.push_str(",honours_trim=false");
    }
    let planted = Planted {
        model: profile.model.word(),
        bytes: (!is_array).then_some(bytes),
        honours_trim: honours,
        has_slc: profile.get("slc_program_ns").is_some(),
        ..Planted::default()
    };
    Drive { target, profile: None, planted }
}

fn flash(random: &mut Random, bytes: u64) -> Drive {
    let mut text = Text::of("flash");
    let unit = one_of(random, &[4096u64, 4096, 4096, 8192, 16_384]);
    let page = unit.max(one_of(random, &[4096, 8192, 16_384]));
    let (channels, per_channel) = (1 << random.below(4), 1 << random.below(3));
    let (planes, at_once) = (1 + random.below(2), one_of(random, &[1u64, 1, 1, 3]));
    let dies = channels * per_channel;
    let program = page * planes * at_once;
    // At least 120 blocks, or collection has no choice.
    let most = (bytes / 120 / (program * dies)).clamp(1, 128);
    let spare = 0.05 + 0.4 * random.unit_f64();
    let honours = chance(random, 65);
    text.put("user_bytes", bytes);
    text.put("spare", format!("{spare:.3}"));
    text.put("map_unit_bytes", unit);
    text.put("channels", channels);
    text.put("dies_per_channel", per_channel);
    text.put("planes", planes);
    text.put("page_bytes", page);
    text.put("pages_per_program", at_once);
    text.put("pages_per_block", at_once * (1 + random.below(most)));
    text.put("read_ns", between(random, 20_000, 100_000));
    text.put("program_ns", between(random, 150_000, 1_500_000));
    text.put("erase_ns", between(random, 500_000, 5_000_000));
    text.put("channel_bytes_per_s", between(random, 40_000_000, 1_600_000_000));
    text.put("link_bytes_per_s", between(random, 100_000_000, 7_000_000_000));
    text.put("command_ns", between(random, 5_000, 100_000));
    text.put("firmware_read_ns", random.below(20_000));
    text.put("firmware_write_ns", random.below(30_000));
    text.put("early_completion", chance(random, 85));
    text.put("honours_trim", honours);
    let policies = ["greedy", "greedy", "d-choices", "fifo", "windowed", "cost-benefit", "random"];
    text.put("collector", format!("\"{}\"", one_of(random, &policies)));
    text.put("collector_choices", 2 + random.below(20));
    let frontiers = random.below(3);
    text.put("collection_frontiers", frontiers);
    let low = 4 + frontiers;
    text.put("collection_low_blocks", low);
    text.put("collection_high_blocks", low + 1 + random.below(4));
    let combining = if chance(random, 20) { unit * (1 + random.below(256)) } else { 0 };
    text.put("combining_bytes", combining);
    text.put("buffer_bytes", program * dies * (2 + random.below(4)) + combining);
    if chance(random, 40) {
        text.put("queue_depth", one_of(random, &[1, 8, 32]));
    }
    if chance(random, 30) {
        text.put("read_cache_bytes", MIB * (1 + random.below(64)));
    }
    if chance(random, 30) {
        text.put("suspend_ns", 20_000);
    }
    if chance(random, 20) {
        text.put("map_cache_bytes", page * (8 + random.below(64)));
    }
    if frontiers > 0 && chance(random, 30) {
        text.put("bits_per_cell", 3);
        text.put("slc_static_bytes", bytes / 100 * random.below(10));
        text.put("slc_dynamic_share", format!("{:.2}", 0.4 * random.unit_f64()));
        text.put("slc_program_ns", 120_000);
        text.put("slc_idle_ns", 1_000_000_000);
        text.put("slc_when_full", one_of(random, &["\"direct\"", "\"fold\""]));
    }
    let has_slc = text.0.contains("slc_program_ns");
    let mut drive = Drive::of_text(text, "flash", bytes, Some(honours));
    drive.planted.has_slc = has_slc;
    drive
}

/// Geometry and times that log blocks and block mapping share; gives the dies.
pub fn blocks(text: &mut Text, random: &mut Random) -> u64 {
    let channels = 1 << random.below(4);
    let dies = channels << random.below(3);
    let block_dies = one_of(random, &[1, channels, dies]);
    text.put("page_bytes", one_of(random, &[2048, 4096]));
    text.put("pages_per_block", one_of(random, &[64, 128]));
    text.put("channels", channels);
    text.put("dies", dies);
    text.put("block_dies", block_dies);
    text.put("read_ns", between(random, 20_000, 80_000));
    text.put("program_ns", between(random, 150_000, 900_000));
    text.put("erase_ns", between(random, 1_000_000, 4_000_000));
    text.put("channel_bytes_per_s", between(random, 30_000_000, 200_000_000));
    text.put("link_bytes_per_s", 300_000_000);
    text.put("command_ns", between(random, 40_000, 300_000));
    text.put("queue_depth", one_of(random, &[1, 1, 8]));
    text.put("copies_per_channel", 1);
    dies
}

/// A profile of this model and this many bytes.
fn of_model(kind: &str, bytes: u64) -> Text {
    let mut text = Text::of(kind);
    text.put("user_bytes", bytes);
    text
}

fn log_block(random: &mut Random, bytes: u64) -> Drive {
    let mut text = of_model("log_block", bytes);
    let dies = blocks(&mut text, random);
    let is_full = chance(random, 50);
    text.put("log_blocks", dies * (2 + random.below(16)));
    text.put("associativity", if is_full { "\"full\"" } else { "\"block\"" });
    text.put("is_merge_paced", is_full && chance(random, 50));
    let has_buffer = chance(random, 50);
    text.put("buffer_flush", if has_buffer { "\"full\"" } else { "\"none\"" });
    text.put("buffer_bytes", if has_buffer { 16_384 << random.below(4) } else { 0 });
    text.put("buffer_group_bytes", 0);
    Drive::of_text(text, "log_block", bytes, None)
}

fn block_map(random: &mut Random, bytes: u64) -> Drive {
    let mut text = of_model("block_map", bytes);
    blocks(&mut text, random);
    text.put("overwrite", one_of(random, &["\"in_place\"", "\"replacement\""]));
    Drive::of_text(text, "block_map", bytes, None)
}

fn disk(random: &mut Random, bytes: u64) -> Drive {
    let mut text = Text::of("disk");
    text.put("user_bytes", bytes);
    text.put("heads", 1 + random.below(4));
    text.put("zones", 4 + random.below(20));
    text.put("rotation_rpm", one_of(random, &[5400, 7200, 10_000, 15_000]));
    text.put("outer_bytes_per_s", between(random, 80_000_000, 250_000_000));
    text.put("inner_bytes_per_s", between(random, 40_000_000, 80_000_000));
    text.put("seek_track_ns", between(random, 300_000, 1_000_000));
    text.put("seek_average_ns", between(random, 3_000_000, 10_000_000));
    text.put("seek_full_ns", 16_000_000);
    text.put("head_switch_ns", 800_000);
    text.put("settle_write_ns", 500_000);
    text.put("command_ns", 50_000);
    text.put("link_bytes_per_s", 300_000_000);
    text.put("queue_depth", one_of(random, &[1, 32]));
    text.put("age_limit_ns", 500_000_000);
    text.put("read_cache_bytes", 8 * MIB);
    text.put("read_cache_segments", 16);
    let has_write_cache = chance(random, 70);
    text.put("write_cache_bytes", if has_write_cache { 4 * MIB } else { 0 });
    text.put("write_cache_runs", if has_write_cache { 64 } else { 0 });
    Drive::of_text(text, "disk", bytes, None)
}

/// A quota of this many operations a second; its credits let it do `times` that for a while.
pub fn quota(text: &mut Text, random: &mut Random, base: u64, times: u64, credits: u64) {
    text.put("iops_base", base);
    text.put("iops_per_gib", 0);
    text.put("iops_min", base);
    text.put("iops_max", 20_000);
    text.put("iops_slack_per_mille", 0);
    text.put("iops_burst", base * times);
    text.put("credits_max", credits);
    text.put("credits_initial", credits);
    text.put("bandwidth_bytes_per_s", between(random, 50_000_000, 500_000_000));
    text.put("bandwidth_burst_bytes", MIB);
    text.put("io_unit_bytes", 262_144);
    text.put("read_ns", between(random, 100_000, 900_000));
    text.put("write_ns", between(random, 100_000, 900_000));
    text.put("jitter_ns", random.below(400_000));
}

/// A quota; with credits it is a cap that comes after a while.
fn volume(random: &mut Random, bytes: u64) -> Drive {
    let mut text = of_model("volume", bytes);
    let base = between(random, 300, 10_000);
    let has_credits = chance(random, 50);
    let times = if has_credits { 2 + random.below(9) } else { 0 };
    let credits = base * between(random, 10, 600);
    quota(&mut text, random, base, times, if has_credits { credits } else { 0 });
    Drive::of_text(text, "volume", bytes, None)
}
