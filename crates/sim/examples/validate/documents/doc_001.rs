//! Document 001: Da Zhou, Understanding IO patterns of SSDs, slides 21 and 22.

use super::Published::Value;
use super::Tolerance::Share;
use super::{Document, Load, Role, predicted};
use crate::load::{Bench, KIB, Outcome, operations, random, virtual_seconds};
use drivelab_core::plan::Mix;

pub const DOCUMENT: Document = Document {
    name: "001",
    title: "Understanding IO patterns of SSDs (Da Zhou), 99 % reads and 1 % writes",
    left_out: "slides 2 to 20 are charts without numbers; the \"18 reads, 84 %, 72 %\" printed on \
               the slides follow from their three rates",
    loads: &[PQI, INTEL],
};

const NOT_SAID: &str = "not said; taken as that of a drive in use";

const PQI: Load = Load {
    profile: "pqi",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "random 4 KiB, depth 1",
    figures: &[
        predicted("slide 21", "reads/s", Value(3360.399), Share(0.1))
            .of_role(Role::Fitted("command_ns")),
        predicted("slide 21", "writes/s", Value(190.2775), Share(0.1))
            .of_role(Role::Fitted("log_blocks")),
        predicted("slide 21", "with 1 % writes, operations/s", Value(2441.968), Share(0.1))
            .of_role(Role::Fitted("buffer_group_bytes")),
        predicted("slide 21", "a write among reads costs, in reads", Value(38.6), Share(0.1))
            .of_role(Role::Restates("its three rates")),
    ],
    measure: reads_writes_mixed,
};

const INTEL: Load = Load {
    profile: "zhou-intel",
    state: "fragmented",
    state_source: NOT_SAID,
    load: "random 4 KiB, depth 1",
    figures: &[
        predicted("slide 22", "reads/s", Value(11_753.65), Share(0.1))
            .of_role(Role::Fitted("firmware_read_ns")),
        predicted("slide 22", "writes/s", Value(4954.68), Share(0.1))
            .of_role(Role::Fitted("program_ns")),
        predicted("slide 22", "with 1 % writes, operations/s", Value(8200.149), Share(0.1))
            .expecting(
                10_930.0,
                11_695.0,
                "one read in a hundred waits for a program at most; the published cost of a write \
                 is 19 times its own and has no mechanism here: expected to be missed",
            ),
        predicted("slide 22", "a write among reads costs, in reads", Value(44.3), Share(0.1))
            .of_role(Role::Restates("its three rates")),
    ],
    measure: reads_writes_mixed,
};

/// Reads alone, writes alone, both, and what a write among reads costs in reads.
fn reads_writes_mixed(target: &str) -> Result<Vec<f64>, String> {
    let (reads, writes, both) = (reads(target)?, writes(target)?, mixed(target)?);
    let (read, written) = (both.reads.count() as f64, both.writes.count() as f64);
    let cost = (both.seconds * reads - read) / written.max(1.0);
    Ok(vec![reads, writes, both.iops(), cost])
}

/// Reads alone, a second.
pub fn reads(target: &str) -> Result<f64, String> {
    alone(target, Mix::READ)
}

/// Writes alone, a second.
pub fn writes(target: &str) -> Result<f64, String> {
    alone(target, Mix::WRITE)
}

/// Both together, a second.
pub fn together(target: &str) -> Result<f64, String> {
    Ok(mixed(target)?.iops())
}

fn alone(target: &str, mix: Mix) -> Result<f64, String> {
    Ok(Bench::of(target)?.run(random(mix, 4 * KIB, 1), virtual_seconds(60))?.iops())
}

fn mixed(target: &str) -> Result<Outcome, String> {
    let mix = Mix { read: 99, write: 1, trim: 0 };
    Bench::of(target)?.run(random(mix, 4 * KIB, 1), operations(200_000))
}
