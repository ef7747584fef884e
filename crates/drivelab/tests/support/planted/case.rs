//! What is planted, and the command that should tell it.

use super::plant::{Cache, Cap, Flash, Plant, Stalls};
use drivelab_stats::{Random, derive};
use std::time::Duration;

/// What is asked of which device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Stalls,
    NoStalls,
    StallsOfRun,
    Cache,
    Constant,
    TrimHonoured,
    TrimIgnored,
    CapOfRun,
    CapOfWsat,
    CapOfSteady,
    FartherOfRun,
    FartherOfPatterns,
    Stripe,
}

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::Stalls,
        Kind::NoStalls,
        Kind::StallsOfRun,
        Kind::Cache,
        Kind::Constant,
        Kind::TrimHonoured,
        Kind::TrimIgnored,
        Kind::CapOfRun,
        Kind::CapOfWsat,
        Kind::CapOfSteady,
        Kind::FartherOfRun,
        Kind::FartherOfPatterns,
        Kind::Stripe,
    ];

    /// What is planted, and who should tell.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Stalls => "stalls, `stutter`",
            Kind::NoStalls => "no stalls, `stutter`",
            Kind::StallsOfRun => "stalls, `run`",
            Kind::Cache => "volatile cache, `wsat`",
            Kind::Constant => "nothing, `wsat`",
            Kind::TrimHonoured => "TRIM honoured, `trim`",
            Kind::TrimIgnored => "TRIM ignored, `trim`",
            Kind::CapOfRun => "cap that changes, `run`",
            Kind::CapOfWsat => "cap that changes, `wsat`",
            Kind::CapOfSteady => "cap that changes, `steady`",
            Kind::FartherOfRun => "slower with the address, `run`",
            Kind::FartherOfPatterns => "slower with the address, `patterns`",
            Kind::Stripe => "stripe, `patterns`",
        }
    }
}

/// A device and a command.
#[derive(Debug, Clone)]
pub struct Case {
    pub kind: Kind,
    pub seed: u64,
    pub plant: Plant,
    /// Without device and token.
    pub line: Vec<String>,
    /// The command must end by then.
    pub limit: Duration,
}

const MS: u64 = 1_000_000;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn line(text: &str, seed: u64) -> Vec<String> {
    let words = text.split(' ').map(String::from);
    words.chain(["--json".into(), "--seed".into(), seed.to_string()]).collect()
}

impl Case {
    /// A case that is over in less than a minute.
    pub fn small(kind: Kind) -> Case {
        let seed = 1;
        let (plant, text, limit) = small(kind);
        Case { kind, seed, plant, line: line(text, seed), limit }
    }

    /// A case with what a seed draws, at the lengths that people use.
    pub fn draw(kind: Kind, seed: u64) -> Case {
        let mut random = Random::new(derive(seed, 0x6465_7669_6365, kind as u64));
        let mut among = |least: u64, most: u64| least + random.below(most - least + 1);
        let (mut plant, text, limit) = long(kind);
        plant.read = Duration::from_micros(among(600, 1200));
        plant.write = plant.read;
        if let Some(stalls) = &mut plant.stalls {
            stalls.every = ms(among(2000, 8000));
            stalls.length = ms(among(150, 600));
        }
        if let Some(cache) = &mut plant.cache {
            cache.bytes = among(4, 16) << 20;
            cache.full = cache.full.mul_f64(among(75, 200) as f64 / 100.0);
            plant.write = Duration::from_micros(400);
        }
        if let Some(flash) = &mut plant.flash {
            flash.spare = plant.bytes * among(10, 40) / 100;
            flash.collecting = among(20, 60) as f64 / 10.0;
        }
        if let Some(cap) = &mut plant.cap {
            cap.first = among(2000, 4000) as f64;
            cap.then = cap.first * among(15, 60) as f64 / 100.0;
            plant.servers = 8;
        }
        if plant.farther > 1.0 {
            plant.farther = among(20, 50) as f64 / 10.0;
        }
        Case { kind, seed, plant, line: line(text, seed), limit }
    }
}

/// What is planted where nothing is drawn.
fn plant(kind: Kind) -> Plant {
    let base = Plant::default();
    let flash = Flash { spare: 16 << 20, collecting: 4.0 };
    let cap = Cap { first: 3000.0, at: ms(12_000), then: 800.0 };
    match kind {
        Kind::Stalls | Kind::StallsOfRun => {
            Plant { stalls: Some(Stalls { every: ms(2000), length: ms(300) }), ..base }
        }
        Kind::NoStalls | Kind::Constant => base,
        Kind::Cache => Plant {
            servers: 1,
            write: Duration::from_micros(400),
            cache: Some(Cache {
                bytes: 8 << 20,
                full: ms(2),
                rest: ms(100),
                drain_bytes_per_s: 2e6,
            }),
            ..base
        },
        Kind::TrimHonoured => Plant { flash: Some(flash), ..base },
        Kind::TrimIgnored => Plant { flash: Some(flash), honours_trim: false, ..base },
        Kind::CapOfRun => Plant { servers: 8, cap: Some(cap), ..base },
        // What they look at and let rest before the first write takes a dozen seconds.
        Kind::CapOfWsat | Kind::CapOfSteady => {
            Plant { servers: 8, cap: Some(Cap { at: ms(18_000), ..cap }), ..base }
        }
        Kind::FartherOfRun => {
            Plant { servers: 1, write: Duration::from_nanos(3 * MS), farther: 4.0, ..base }
        }
        Kind::FartherOfPatterns => Plant { servers: 1, farther: 3.0, ..base },
        Kind::Stripe => Plant { servers: 1, stripe: Some(64 << 10), ..base },
    }
}

fn small(kind: Kind) -> (Plant, &'static str, Duration) {
    let text = match kind {
        Kind::Stalls | Kind::NoStalls => "study stutter --time 45s",
        Kind::StallsOfRun => "run --rw randwrite --bs 4k --depth 1 --runtime 11",
        Kind::Cache => "study wsat --time 40s",
        Kind::Constant | Kind::CapOfWsat => "study wsat --time 45s",
        Kind::TrimHonoured | Kind::TrimIgnored => "study trim --quick --time 90s",
        Kind::CapOfRun => "run --rw randwrite --bs 4k --depth 32 --runtime 24",
        Kind::CapOfSteady => "study steady --time 55s",
        Kind::FartherOfRun => "run --rw write --bs 32k --depth 1 --passes 1 --interval 200ms",
        Kind::FartherOfPatterns | Kind::Stripe => "study patterns --quick --time 80s",
    };
    (plant(kind), text, Duration::from_secs(120))
}

fn long(kind: Kind) -> (Plant, &'static str, Duration) {
    let (mut plant, text, _) = small(kind);
    if let Some(cap) = &mut plant.cap {
        cap.at = ms(20_000);
    }
    let text = match kind {
        Kind::Stalls => "study stutter --quick",
        Kind::NoStalls => "study stutter --quick --time 290s",
        Kind::StallsOfRun => "run --rw randwrite --bs 4k --depth 1 --runtime 40",
        Kind::Cache | Kind::Constant | Kind::CapOfWsat => "study wsat --time 180s",
        Kind::TrimHonoured | Kind::TrimIgnored => "study trim --quick --time 120s",
        Kind::CapOfRun => "run --rw randwrite --bs 4k --depth 32 --runtime 60",
        Kind::CapOfSteady => "study steady --time 180s",
        Kind::FartherOfPatterns | Kind::Stripe => "study patterns --quick --time 200s",
        Kind::FartherOfRun => text,
    };
    (plant, text, Duration::from_secs(400))
}
