//! Where data lies on the dies, and what the controller pays for: each on and off.

use crate::load::{KIB, MIB, operations, passes, random};
use crate::mechanisms::{Column, Mechanism, Sign};
use drivelab_core::plan::Mix;

/// Mechanisms of placement.
pub fn placement() -> Vec<Mechanism> {
    vec![
        Mechanism {
            name: "stripes of 16 KiB on a die",
            load: "random reads of 32 KiB, depth 1",
            target: "x25-e,capacity=1GiB,state=filled",
            on: "stripe_bytes=16384",
            off: "stripe_bytes=4096",
            stream: || random(Mix::READ, 32 * KIB, 1),
            before: None,
            until: || operations(2_000),
            expected: &[(Column::Iops, Sign::Down)],
            why: "eight pages lie on two or three dies instead of eight, and one senses them one \
                  after the other",
        },
        Mechanism {
            name: "blocks and free lists of each die",
            load: "random writes, erase of 3 ms",
            target: "x25-e,capacity=1GiB,erase_ns=3000000,firmware_write_unit_ns=0,state=filled",
            on: "allocates_by_die=true",
            off: "allocates_by_die=false",
            stream: || random(Mix::WRITE, 4 * KIB, 32),
            before: Some(passes(2)),
            until: || passes(1),
            expected: &[(Column::Tail, Sign::Down)],
            why: "a program goes to a die that is free instead of waiting for the one in turn, \
                  which may be erasing",
        },
        Mechanism {
            name: "controller time of each piece of a read (3.2 µs)",
            load: "random reads of 4 MiB, depth 1, of a drive filled at random",
            target: "x25-e,capacity=1GiB,state=random-filled",
            on: "firmware_piece_ns=3200",
            off: "firmware_piece_ns=0",
            stream: || random(Mix::READ, 4 * MIB, 1),
            before: None,
            until: || operations(500),
            expected: &[(Column::Iops, Sign::Down)],
            why: "nearly each of 1024 pages is a piece of its own, which the controller finds \
                  before the flash is asked",
        },
        Mechanism {
            name: "controller time of copies",
            load: "random writes",
            target: "x25-e,capacity=1GiB,state=steady",
            on: "firmware_copy_unit_ns=19650",
            off: "firmware_copy_unit_ns=0",
            stream: || random(Mix::WRITE, 4 * KIB, 32),
            before: Some(passes(1)),
            until: || passes(1),
            expected: &[(Column::Iops, Sign::Down)],
            why: "the controller is the bound, and places amplification times as many units",
        },
    ]
}
