//! Loads that stand for those of benchmarks of applications, as far as these were described.
//!
//! Shares of reads, counts and mean sizes were published; what was not (the sizes behind a mean,
//! how many at a time, the rests of a processor that has work) is a guess, and each model says
//! which is which.

use crate::experiment::used::within;
use crate::experiment::{Setting, loads};
use drivelab_core::plan::{Arrival, Jump, Mix, Pattern, Stream, WeightedSize};
use drivelab_core::units::{Size, Span};

const KIBIBYTE: u64 = 1 << 10;
/// Bytes a second of a film of standard definition: the most that DVD-Video allows, 9.8 Mbit/s.
const STANDARD_FILM_BYTES_PER_S: f64 = 9.8e6 / 8.0;

/// One load.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name in the run and in the findings.
    pub name: &'static str,
    /// The same at the beginning of a sentence.
    pub title: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Where its numbers come from, and which are guesses.
    pub by: &'static str,
    /// What runs together.
    pub parts: &'static [Part],
}

/// One stream of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name; empty where it is alone.
    pub name: &'static str,
    /// Shares of reads and writes, as weights.
    pub mix: (u32, u32),
    /// Sizes in KiB, each with its weight.
    pub sizes: &'static [(u64, u32)],
    /// How many of a hundred requests go somewhere else than where the one before ended.
    pub jumps_percent: u32,
    /// Requests at a time.
    pub depth: u32,
    /// When they come.
    pub pace: Pace,
    /// Its requests in the fixed piece of work.
    pub requests: u64,
}

/// When the requests of a part come.
#[derive(Debug, PartialEq, Eq)]
pub enum Pace {
    /// As soon as there is room.
    AtOnce,
    /// This many microseconds after the one before.
    Rest(u64),
    /// At the set times of a film of standard definition.
    Film,
}

const ALONE: Part = Part {
    name: "",
    mix: (100, 0),
    sizes: &[],
    jumps_percent: 0,
    depth: 1,
    pace: Pace::AtOnce,
    requests: 0,
};

pub static BOOT: Model = Model {
    name: "boot",
    title: "Boot",
    what: "18 KiB on average (4, 16 and 64 KiB), 85 % reads, 95 % random, 4 at a time, no \
         rest",
    by: "85 % reads: PCMark Vantage's start of Windows Vista, as AnandTech reported it in \
         2008; 95 % random, 19 kB on average and 20,000 requests: a boot of Windows recorded by \
         a user of EduGeek; the three sizes, 4 at a time, no rest: guesses",
    parts: &[Part {
        mix: (85, 15),
        sizes: &[(4, 60), (16, 20), (64, 20)],
        jumps_percent: 95,
        depth: 4,
        requests: 20_000,
        ..ALONE
    }],
};

pub static PROGRAM_START: Model = Model {
    name: "program start",
    title: "Program start",
    what: "23 KiB on average (4, 16 and 64 KiB), 87 % reads, 97 % random, one at a time, no \
         rest",
    by: "87 % reads: PCMark Vantage's loading of applications, as AnandTech reported it in \
         2008; 97 % random, 24 kB a read and 5,407 requests: PCMark 8's record of Word, counted \
         by Tom's Hardware in 2015; the three sizes, the same for writes, one at a time, no \
         rest: guesses",
    parts: &[Part {
        mix: (87, 13),
        sizes: &[(4, 50), (16, 22), (64, 28)],
        jumps_percent: 97,
        requests: 5407,
        ..ALONE
    }],
};

pub static GAMING_LOAD: Model = Model {
    name: "gaming load",
    title: "Gaming load",
    what: "17 KiB on average (4, 16 and 64 KiB), 99 % reads, 88 % random, 4 at a time, no \
         rest",
    by: "99 % reads, 88 % random, 18 kB a read and 49,918 requests: PCMark 8's record of \
         Battlefield 3, counted by Tom's Hardware in 2015 (PCMark Vantage's has 99.95 % reads, \
         AnandTech 2008); the three sizes, 4 at a time, no rest: guesses",
    parts: &[Part {
        mix: (99, 1),
        sizes: &[(4, 60), (16, 22), (64, 18)],
        jumps_percent: 88,
        depth: 4,
        requests: 49_918,
        ..ALONE
    }],
};

pub static VIDEO_CREATION: Model = Model {
    name: "video creation",
    title: "Video creation",
    what: "sequential 64 KiB, one stream read and one written, one at a time, rests of 1.85 and \
           2.17 ms",
    by: "54 reads to 46 writes, which is what the rests give on a drive that answers at once: \
         PCMark Vantage's Movie Maker, as AnandTech reported it in 2008; size, order, one at a \
         time, a thousand requests a second at most: guesses",
    parts: &[
        Part { name: "source", sizes: &[(64, 1)], pace: Pace::Rest(1850), requests: 5400, ..ALONE },
        Part {
            name: "result",
            mix: (0, 100),
            sizes: &[(64, 1)],
            pace: Pace::Rest(2170),
            requests: 4600,
            ..ALONE
        },
    ],
};

pub static VIRUS_SCAN: Model = Model {
    name: "virus scan",
    title: "Virus scan",
    what: "22 KiB on average (4, 16 and 64 KiB), 99.5 % reads, 50 % random, 2 at a time, no \
         rest",
    by: "99.5 % reads: PCMark Vantage's Windows Defender, as AnandTech reported it in 2008; \
         several threads: X-bit labs; half of the requests small: half of all files on PCs have \
         at most 4 KiB (Agrawal and others, FAST 2007); 2 at a time, the sizes, the order, no \
         rest: guesses",
    parts: &[Part {
        mix: (199, 1),
        sizes: &[(4, 50), (16, 25), (64, 25)],
        jumps_percent: 50,
        depth: 2,
        requests: 20_000,
        ..ALONE
    }],
};

pub static PHOTO_IMPORT: Model = Model {
    name: "photo import",
    title: "Photo import",
    what: "64 KiB read sequentially, 3 % jumps, rests of 1 ms; 16 KiB written, half of them at \
           random, rests of 5.25 ms; one at a time each",
    by: "84 reads to 16 writes, which is what the rests give on a drive that answers at once: \
         PCMark Vantage's Photo Gallery, as AnandTech reported it in 2008; all else: guesses",
    parts: &[
        Part {
            name: "pictures",
            sizes: &[(64, 1)],
            jumps_percent: 3,
            pace: Pace::Rest(1000),
            requests: 8400,
            ..ALONE
        },
        Part {
            name: "library",
            mix: (0, 100),
            sizes: &[(16, 1)],
            jumps_percent: 50,
            pace: Pace::Rest(5250),
            requests: 1600,
            ..ALONE
        },
    ],
};

const FILM: Part = Part { sizes: &[(128, 1)], depth: 4, pace: Pace::Film, requests: 560, ..ALONE };

pub static MEDIA_CENTRE: Model = Model {
    name: "media centre",
    title: "Media centre",
    what: "two films are read, one is written: sequential 128 KiB, 1.2 MB/s each, at set times",
    by: "one film plays, one goes to another device, one is recorded, of standard definition: \
         PCMark Vantage's Media Center, as AnandTech reported it in 2008; rate: 9.8 Mbit/s, the \
         most of DVD-Video; size: read-ahead of Linux; a minute of it: our choice",
    parts: &[
        Part { name: "play", ..FILM },
        Part { name: "send", ..FILM },
        Part { name: "record", mix: (0, 100), ..FILM },
    ],
};

impl Model {
    /// Its streams, each on a part of the first bytes of the target for itself.
    pub fn streams(&self, setting: &Setting<'_>, region: u64) -> Vec<Stream> {
        let grain = 128 * KIBIBYTE;
        let count = self.parts.len() as u64;
        let each = region / count / grain * grain;
        let one = |(index, part): (u64, &Part)| {
            let stream = part.stream(setting);
            match count {
                1 => within(setting, region, stream),
                _ => Stream { offset: Size(index * each), length: Some(Size(each)), ..stream },
            }
        };
        (0..).zip(self.parts).map(one).collect()
    }
}

impl Part {
    fn stream(&self, setting: &Setting<'_>) -> Stream {
        let mix = Mix { read: self.mix.0, write: self.mix.1, trim: 0 };
        let bytes = |kibibytes: u64| Size(kibibytes * KIBIBYTE);
        let sizes = match self.sizes {
            [_] => Vec::new(),
            several => several
                .iter()
                .map(|(size, weight)| WeightedSize {
                    size: bytes(*size),
                    weight: *weight,
                    kind: None,
                })
                .collect(),
        };
        let largest = self.sizes.iter().map(|(size, _)| *size).max().unwrap_or(4);
        let pattern = match self.jumps_percent {
            0 => Pattern::SEQUENTIAL,
            percent => Pattern::SemiRandom(Jump::Share(Some(f64::from(percent) / 100.0))),
        };
        let rate = STANDARD_FILM_BYTES_PER_S / bytes(largest).0 as f64;
        let arrival = match self.pace {
            Pace::AtOnce => Arrival::AT_ONCE,
            Pace::Rest(microseconds) => Arrival::thinking(None, Span(microseconds * 1000)),
            Pace::Film => Arrival::paced(rate),
        };
        let name = self.name.into();
        let plain = loads::random(setting, mix, self.depth);
        Stream { name, pattern, size: bytes(largest), sizes, arrival, ..plain }
    }
}
