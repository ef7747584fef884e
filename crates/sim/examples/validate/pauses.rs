//! What a drive does of its own accord, and what bounds its link: each on and off.

use crate::load::{KIB, operations, passes, random};
use crate::mechanisms::{Column, Mechanism, Sign, zone};
use drivelab_core::plan::{Arrival, Mix, Stream};
use drivelab_core::units::Span;

/// Mechanisms that take a die or the buffer.
pub fn pauses() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "the buffer is flushed in a rest",
            load: "random 4 KiB writes with 10 ms between them, four units a program",
            target: "textbook,capacity=1GiB,page_bytes=16KiB,pages_per_block=1,state=filled",
            on: "idle_flush_ns=1000000",
            off: "idle_flush_ns=0",
            stream: || Stream {
                arrival: Arrival::thinking(Some(1), Span(10_000_000)),
                ..random(Mix::WRITE, 4 * KIB, 1)
            },
            before: None,
            until: || operations(20_000),
            expected: &[(Column::Amplification, Sign::Up)],
            why: "each write is programmed alone, and three units of four stay empty",
        },
        Mechanism {
            name: "blocks moved by the clock (refresh: 4 ms each 10 ms)",
            load: "random reads, depth 1",
            target: "textbook,capacity=1GiB,state=filled",
            on: "relocation_ns=4000000,relocation_interval_ns=10000000",
            off: "relocation_ns=0,relocation_interval_ns=0",
            stream: || random(Mix::READ, 4 * KIB, 1),
            before: None,
            until: || operations(100_000),
            expected: &[(Column::ReadTail, Sign::Up), (Column::Iops, Sign::Down)],
            why: "one die of 64 is taken for two fifths of the time, and a read that meets it \
                  waits for the rest of 4 ms",
        },
        Mechanism {
            name: "blocks moved by writes (wear levelling: 4 ms each 1000 units)",
            load: "random, half reads, depth 1, steady",
            target: "textbook,capacity=1GiB,state=steady",
            on: "relocation_ns=4000000,relocation_interval_units=1000",
            off: "relocation_ns=0,relocation_interval_units=0",
            stream: || random(Mix { read: 50, write: 50, trim: 0 }, 4 * KIB, 1),
            before: None,
            until: || operations(200_000),
            expected: &[(Column::ReadTail, Sign::Up)],
            why: "2000 operations take some 60 ms, of which a die is taken for 4: one read in a \
                  thousand meets it",
        },
        Mechanism {
            name: "each die erases for itself",
            load: "random, half reads, depth 8, erase of 3 ms",
            target: "textbook,capacity=1GiB,erase_ns=3000000,state=steady",
            on: "erases_by_die=true",
            off: "erases_by_die=false",
            stream: || random(Mix { read: 50, write: 50, trim: 0 }, 4 * KIB, 8),
            before: Some(passes(1)),
            until: || passes(1),
            expected: &[(Column::ReadTail, Sign::Up)],
            why: "an erase that is one operation keeps a read for up to 3 ms; as background work \
                  it gives way after the time of a program",
        },
    ]
}

/// Mechanisms that bound the link, and moves for wear of drives with log blocks.
pub fn credits_and_moves() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "credits of the link (256 KiB)",
            load: "random reads of 128 KiB, depth 32",
            target: "textbook,capacity=1GiB,state=filled",
            on: "link_credit_bytes=262144",
            off: "link_credit_bytes=0",
            stream: || random(Mix::READ, 128 * KIB, 32),
            before: None,
            until: || operations(20_000),
            expected: &[(Column::Iops, Sign::Down)],
            why: "two commands of 32 pages are under way instead of 32, and leave dies idle",
        },
        Mechanism {
            name: "blocks of a log-block drive are moved for wear",
            load: "random 4 KiB writes, depth 1",
            target: "samsung-slc,state=fragmented",
            on: "wear_swap_erases=256",
            off: "wear_swap_erases=0",
            stream: || random(Mix::WRITE, 4 * KIB, 1),
            before: None,
            until: || operations(20_000),
            expected: &[(Column::Tail, Sign::Up)],
            why: "a move comes on top of a merge in more than one write of a thousand",
        },
        Mechanism {
            name: "the same, often",
            load: "90 % of the writes to 10 % of the addresses",
            target: "samsung-slc,capacity=2GiB,log_blocks=64,state=fragmented",
            on: "wear_swap_erases=8",
            off: "wear_swap_erases=0",
            stream: || Stream { depth: 1, ..zone(0.1, 0.9) },
            before: None,
            until: || operations(100_000),
            expected: &[(Column::WearSpread, Sign::Down), (Column::Iops, Sign::Down)],
            why: "cold blocks take places that were erased often, and free their own; each move \
                  copies a block",
        },
    ]
}
