//! Mechanisms of a drive, each on and off. The sign of what switching on does was written down,
//! with its reason, before the first run.

use crate::load::{KIB, MIB, operations, passes, random, sequential};
use crate::pauses::{credits_and_moves, pauses};
use crate::placement::placement;
use drivelab_core::plan::{Arrival, Mix, Pattern, Stream, Until, Zone};
use drivelab_core::units::Span;

/// A column of the table.
#[derive(Clone, Copy, PartialEq)]
pub enum Column {
    Amplification,
    Iops,
    Tail,
    ReadTail,
    WearSpread,
}

impl Column {
    pub fn words(self) -> &'static str {
        match self {
            Column::Amplification => "amplification",
            Column::Iops => "IOPS",
            Column::Tail => "p99.9",
            Column::ReadTail => "p99.9 of reads",
            Column::WearSpread => "erase spread",
        }
    }
}

/// Which way a column goes when the mechanism is switched on.
#[derive(Clone, Copy, PartialEq)]
pub enum Sign {
    Up,
    Down,
}

/// One mechanism.
pub struct Mechanism {
    pub name: &'static str,
    pub load: &'static str,
    /// What both targets share.
    pub target: &'static str,
    pub on: &'static str,
    pub off: &'static str,
    pub stream: fn() -> Stream,
    /// Before anything counts; none where the beginning is what counts.
    pub before: Option<Until>,
    pub until: fn() -> Until,
    pub expected: &'static [(Column, Sign)],
    pub why: &'static str,
}

fn passes_before(count: u64) -> Option<Until> {
    (count > 0).then(|| passes(count))
}

fn writes() -> Stream {
    random(Mix::WRITE, 4 * KIB, 32)
}

pub fn zone(addresses: f64, accesses: f64) -> Stream {
    let zones = vec![Zone { addresses, accesses }];
    Stream { pattern: Pattern::HotZones(zones), ..writes() }
}

/// All of them.
pub fn all() -> Vec<Mechanism> {
    [
        space(),
        collection(),
        buffers(),
        caches(),
        cells_and_firmware(),
        placement(),
        pauses(),
        credits_and_moves(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn space() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "TRIM honoured",
            load: "random writes, a quarter of what counts trims",
            target: "textbook,capacity=1GiB,spare=0.12,state=filled",
            on: "honours_trim=true",
            off: "honours_trim=false",
            stream: || random(Mix { read: 0, write: 2, trim: 1 }, 4 * KIB, 32),
            before: passes_before(4),
            until: || passes(1),
            expected: &[(Column::Amplification, Sign::Down), (Column::Iops, Sign::Up)],
            why: "what is trimmed need not be copied, and its room works as spare",
        },
        Mechanism {
            name: "more spare (28 % against 7 %)",
            load: "random writes",
            target: "textbook,capacity=1GiB,state=steady",
            on: "spare=0.28",
            off: "spare=0.07",
            stream: writes,
            before: passes_before(1),
            until: || passes(1),
            expected: &[
                (Column::Amplification, Sign::Down),
                (Column::Iops, Sign::Up),
                (Column::Tail, Sign::Down),
            ],
            why: "victims hold less that is valid when there are more blocks to wait in",
        },
    ]
}

fn collection() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "paced collection",
            load: "random writes, erase of 3 ms, buffer of 2 MiB",
            target: "textbook,capacity=1GiB,erase_ns=3000000,buffer_bytes=2MiB,state=steady",
            on: "paces_collection=true",
            off: "paces_collection=false",
            stream: writes,
            before: passes_before(1),
            until: || passes(1),
            expected: &[(Column::Tail, Sign::Down)],
            why: "the copies of a victim are spread over the writes that it makes room for, \
                  instead of falling on one of them",
        },
        Mechanism {
            name: "a frontier for copies",
            load: "80 % of the writes to 20 % of the addresses",
            target: "textbook,capacity=1GiB,spare=0.12,state=filled",
            on: "collection_frontiers=1",
            off: "collection_frontiers=0",
            stream: || zone(0.2, 0.8),
            before: passes_before(4),
            until: || passes(2),
            expected: &[(Column::Amplification, Sign::Down), (Column::Iops, Sign::Up)],
            why: "what was copied is colder than what the host writes; apart, hot blocks empty \
                  themselves",
        },
        Mechanism {
            name: "wear levelling",
            load: "90 % of the writes to 10 % of the addresses",
            target: "textbook,capacity=512MiB,spare=0.12,collection_low_blocks=3,\
                     collection_high_blocks=5,state=filled",
            on: "levels_wear=true,wear_difference_max=8",
            off: "levels_wear=false",
            stream: || zone(0.1, 0.9),
            before: passes_before(0),
            until: || passes(25),
            expected: &[(Column::WearSpread, Sign::Down), (Column::Amplification, Sign::Up)],
            why: "blocks with cold data are erased too, and their data must be copied for it",
        },
        Mechanism {
            name: "program and erase suspended for reads",
            load: "random, half reads, depth 8, erase of 3 ms",
            target: "textbook,capacity=1GiB,erase_ns=3000000,state=steady",
            on: "suspend_ns=20000",
            off: "",
            stream: || random(Mix { read: 50, write: 50, trim: 0 }, 4 * KIB, 8),
            before: passes_before(1),
            until: || passes(1),
            expected: &[(Column::ReadTail, Sign::Down)],
            why: "a read that meets a program or background work waits 20 µs instead of for its \
                  end",
        },
    ]
}

fn buffers() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "combining in the buffer",
            load: "half of the writes to 0.1 % of the addresses",
            target: "textbook,capacity=1GiB,spare=0.12,state=filled",
            on: "combining_bytes=4MiB",
            off: "combining_bytes=0",
            stream: || zone(0.001, 0.5),
            before: passes_before(2),
            until: || passes(1),
            expected: &[(Column::Amplification, Sign::Down), (Column::Iops, Sign::Up)],
            why: "what is written again while it waits is programmed once",
        },
        Mechanism {
            name: "combining, four units a program",
            load: "half of the writes to 0.1 % of the addresses",
            target: "textbook,capacity=1GiB,spare=0.12,page_bytes=16KiB,pages_per_block=1,\
                     state=filled",
            on: "combining_bytes=4MiB",
            off: "combining_bytes=0",
            stream: || zone(0.001, 0.5),
            before: passes_before(2),
            until: || passes(1),
            expected: &[(Column::Amplification, Sign::Down), (Column::Iops, Sign::Up)],
            why: "a unit waits for its three neighbours, and is written again meanwhile",
        },
    ]
}

fn caches() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "SLC cache",
            load: "64 MiB in order onto a fresh drive of three bits a cell",
            target: "textbook,capacity=1GiB,read_ns=50000,program_ns=1500000,\
                     pages_per_program=3,pages_per_block=6,bits_per_cell=3,\
                     slc_program_ns=200000,state=fresh",
            on: "slc_static_bytes=128MiB",
            off: "slc_static_bytes=0",
            stream: || sequential(Mix::WRITE, 4 * KIB, 32),
            before: passes_before(0),
            until: || operations(64 * MIB / (4 * KIB)),
            expected: &[(Column::Iops, Sign::Up), (Column::Tail, Sign::Down)],
            why: "a program of one bit a cell takes 0.2 ms a page instead of 0.5 ms, and what is \
                  folded later is not waited for",
        },
        Mechanism {
            name: "prefetch",
            load: "4 KiB reads in order, depth 1",
            target: "textbook,capacity=1GiB,state=filled",
            on: "prefetch_bytes=256KiB,prefetch_streams=4",
            off: "prefetch_bytes=0",
            stream: || sequential(Mix::READ, 4 * KIB, 1),
            before: passes_before(0),
            until: || operations(100_000),
            expected: &[(Column::Iops, Sign::Up), (Column::Tail, Sign::Down)],
            why: "the next units are sensed by other dies while the host takes the last",
        },
        Mechanism {
            name: "read cache",
            load: "4 KiB reads, depth 1, addresses by Zipf's law with exponent 1.1",
            target: "textbook,capacity=1GiB,state=filled",
            on: "read_cache_bytes=64MiB",
            off: "read_cache_bytes=0",
            stream: || Stream {
                pattern: Pattern::Zipf { theta: None },
                ..random(Mix::READ, 4 * KIB, 1)
            },
            before: passes_before(1),
            until: || operations(100_000),
            expected: &[(Column::Iops, Sign::Up)],
            why: "a few addresses are most of the reads, and stay in memory",
        },
        Mechanism {
            name: "collection in rest",
            load: "bursts of 32 MiB of random 4 KiB writes, 2 s of rest between them, steady",
            target: "textbook,capacity=1GiB,state=steady",
            on: "idle_collection_blocks=64",
            off: "idle_collection_blocks=0",
            stream: || Stream {
                arrival: Arrival::thinking(Some(8192), Span(2_000_000_000)),
                ..writes()
            },
            before: passes_before(1),
            until: || passes(2),
            expected: &[(Column::Tail, Sign::Down), (Column::Amplification, Sign::Up)],
            why: "the burst finds free blocks; but what is copied early would partly have been \
                  overwritten before it had to be",
        },
    ]
}

fn cells_and_firmware() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "first and second pages of two bits",
            load: "4 KiB sequential writes, each on the flash before the next (mean of both kept)",
            target: "textbook,capacity=1GiB,pages_per_block=64,early_completion=false,state=fresh",
            on: "program_ns=850000,slow_program_ns=2300000",
            off: "program_ns=1575000",
            stream: || sequential(Mix::WRITE, 4 * KIB, 1),
            before: passes_before(0),
            until: || operations(20_000),
            expected: &[(Column::Tail, Sign::Up)],
            why: "half of the rows take 2.3 ms instead of the mean; as many take 0.85 ms, so that \
                  the rate stays",
        },
        Mechanism {
            name: "the map is saved",
            load: "random writes, depth 1, steady, 16 MiB saved each 4096 units",
            target: "textbook,capacity=1GiB,state=steady",
            on: "map_save_units=4096,map_save_bytes=16777216",
            off: "map_save_units=0,map_save_bytes=0",
            stream: || random(Mix::WRITE, 4 * KIB, 1),
            before: passes_before(1),
            until: || passes(1),
            expected: &[(Column::Iops, Sign::Down)],
            why: "one write of 4096 waits until as much again is programmed through all dies",
        },
    ]
}
