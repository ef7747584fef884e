//! What is measured of programs, and where each of the numbers comes from: five loads that are
//! described here, and the models of `models`.

use super::models::{self, Model};
use crate::experiment::used::within;
use crate::experiment::{Setting, loads};
use drivelab_core::plan::{Arrival, Engine, Jump, Mix, Pattern, Stream, Sync};
use drivelab_core::units::{Size, Span};

/// Bytes a second of one film: the most that a disc of Ultra HD Blu-ray delivers.
pub const FILM_BYTES_PER_S: f64 = 128e6 / 8.0;
/// Bytes that Linux reads ahead where nobody says otherwise.
const READ_AHEAD: u64 = 128 << 10;
/// Pieces of a minute of one film.
const FILM_REQUESTS: u64 = (60.0 * FILM_BYTES_PER_S) as u64 / READ_AHEAD;
/// Bytes of a page of a database and of its log.
const PAGE: u64 = 8 << 10;
/// Between two keys of a skilled typist.
const KEYSTROKE: Span = Span(200_000_000);

/// One use of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum App {
    /// One person works.
    Desktop,
    /// One film is recorded while another plays.
    Media,
    /// Everything is read once: a backup, a search for viruses.
    Scan,
    /// Many short transactions.
    Database,
    /// Each transaction is made durable, one after the other.
    Log,
    /// What a benchmark of applications does, as far as it was described.
    Modelled(&'static Model),
}

impl App {
    /// All of them, in the order they are read.
    pub const ALL: [App; 12] = [
        App::Desktop,
        App::Modelled(&models::BOOT),
        App::Modelled(&models::PROGRAM_START),
        App::Modelled(&models::GAMING_LOAD),
        App::Modelled(&models::VIDEO_CREATION),
        App::Modelled(&models::VIRUS_SCAN),
        App::Modelled(&models::PHOTO_IMPORT),
        App::Modelled(&models::MEDIA_CENTRE),
        App::Media,
        App::Scan,
        App::Database,
        App::Log,
    ];

    /// Its name in the run and in the findings.
    pub fn name(self) -> &'static str {
        match self {
            App::Desktop => "desktop",
            App::Media => "media",
            App::Scan => "scan",
            App::Database => "database",
            App::Log => "log",
            App::Modelled(model) => model.name,
        }
    }

    /// What it does, and where its numbers come from.
    pub fn sources(self) -> [&'static str; 2] {
        match self {
            App::Desktop => [
                "8 KiB, 80 % reads, 80 % random, 4 at a time, then 0.2 s of rest; at the same time \
                 4 KiB writes, 10 % random, as often",
                "sizes and mix: access pattern Workstation of Intel's Iometer, as StorageReview \
                 used it; 4 at a time and the writes: AnandTech, September 2008, of what a desktop \
                 does; rest: a keystroke of Card, Moran and Newell, 1980",
            ],
            App::Media => [
                "one film is read, one is written: sequential 128 KiB, 16 MB/s each, at set times",
                "rate: 128 Mbit/s of Ultra HD Blu-ray; size: read-ahead of Linux (read_ahead_kb \
                 128); one of each: our choice",
            ],
            App::Scan => [
                "sequential 128 KiB, one at a time",
                "size: read-ahead of Linux (read_ahead_kb 128), and io_combine_limit of PostgreSQL",
            ],
            App::Database => [
                "8 KiB, 67 % reads, all random, 16 at a time, no rest",
                "sizes and mix: access pattern Database of Intel's Iometer; 16 at a time: \
                 effective_io_concurrency of PostgreSQL 18; no rest: its users wait for it",
            ],
            App::Log => [
                "sequential 8 KiB, fdatasync after each, no rest",
                "size and fdatasync: the log of PostgreSQL on Linux (XLOG_BLCKSZ, \
                 wal_sync_method); no rest: its users wait for it",
            ],
            App::Modelled(model) => [model.what, model.by],
        }
    }

    /// A fixed piece of its work, such as a minute of it: how many requests of which streams. What
    /// runs in the background is no work that anybody waits for.
    pub fn work(self) -> Vec<(usize, u64)> {
        match self {
            App::Desktop => vec![(0, 1200)],
            App::Media => vec![(0, FILM_REQUESTS), (1, FILM_REQUESTS)],
            App::Scan => vec![(0, 8192)],
            App::Database => vec![(0, 10_000)],
            App::Log => vec![(0, 1000)],
            App::Modelled(model) => {
                model.parts.iter().map(|part| part.requests).enumerate().collect()
            }
        }
    }

    /// What runs together, on the first bytes of the target.
    pub fn streams(self, setting: &Setting<'_>, region: u64) -> Vec<Stream> {
        let random = |mix, depth| within(setting, region, loads::random(setting, mix, depth));
        let in_order = |name: &str, mix, size| Stream {
            name: name.into(),
            pattern: Pattern::SEQUENTIAL,
            size: Size(size),
            ..random(mix, 1)
        };
        match self {
            App::Desktop => {
                let bursts = |name: &str, share, stream: Stream| Stream {
                    name: name.into(),
                    pattern: Pattern::SemiRandom(Jump::Share(Some(share))),
                    arrival: Arrival::thinking(Some(stream.depth), KEYSTROKE),
                    ..stream
                };
                let mix = Mix { read: 80, write: 20, trim: 0 };
                let work = Stream { size: Size(PAGE), ..random(mix, 4) };
                vec![bursts("work", 0.8, work), bursts("background", 0.1, random(Mix::WRITE, 4))]
            }
            App::Media => {
                let arrival = Arrival::paced(FILM_BYTES_PER_S / READ_AHEAD as f64);
                let film = |name: &str, mix, half: u64| {
                    let part = region / 2 / READ_AHEAD * READ_AHEAD;
                    Stream {
                        arrival: arrival.clone(),
                        offset: Size(half * part),
                        length: Some(Size(part)),
                        ..loads::deep(in_order(name, mix, READ_AHEAD), 4)
                    }
                };
                vec![film("play", Mix::READ, 0), film("record", Mix::WRITE, 1)]
            }
            App::Scan => vec![in_order("", Mix::READ, READ_AHEAD)],
            App::Database => {
                let mix = Mix { read: 67, write: 33, trim: 0 };
                vec![Stream { size: Size(PAGE), ..random(mix, 16) }]
            }
            App::Log => vec![Stream {
                engine: Engine::Psync,
                sync: Sync::Fdatasync(1),
                ..in_order("", Mix::WRITE, PAGE)
            }],
            App::Modelled(model) => model.streams(setting, region),
        }
    }
}
