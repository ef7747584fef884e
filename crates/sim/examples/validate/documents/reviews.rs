//! Reviews of drives that no document is about, but which stand for a kind of drive.

use super::Published::Value;
use super::Tolerance::Share;
use super::{Document, Load, Role, predicted};
use crate::load::{Bench, KIB, operations, sequential};
use crate::measures::fill_rates;
use drivelab_core::plan::Mix;

pub const DOCUMENT: Document = Document {
    name: "reviews",
    title: "reviews of drives beyond the documents",
    left_out: "all that the profiles were not held against",
    loads: &[USED, TLC, QLC],
};

const LOAD: &str = "filled from fresh in order, 128 KiB, depth 32";

const TLC: Load = Load {
    profile: "nvme-tlc",
    state: "fresh",
    state_source: "",
    load: LOAD,
    figures: &[
        predicted("TechPowerUp, 980 Pro, page 6", "MB/s at first", Value(4000.0), Share(0.1))
            .of_role(Role::Fitted("slc_program_ns")),
        predicted("the same", "GB until it falls", Value(113.0), Share(0.1))
            .of_role(Role::Fitted("slc_dynamic_share")),
        predicted("the same", "MB/s then", Value(1500.0), Share(0.1))
            .of_role(Role::Fitted("program_ns")),
    ],
    measure: |target| fill_rates(target, 150),
};

const QLC: Load = Load {
    profile: "nvme-qlc",
    state: "fresh",
    state_source: "",
    load: LOAD,
    figures: &[
        predicted("evantechbook on the 660p", "MB/s at first", Value(1800.0), Share(0.2))
            .of_role(Role::Fitted("slc_program_ns")),
        predicted("AnandTech 13078, page 9", "GB until it falls", Value(140.0), Share(0.2))
            .of_role(Role::Given("slc_dynamic_share")),
        predicted("evantechbook on the 660p", "MB/s then", Value(100.0), Share(0.2))
            .of_role(Role::Fitted("program_ns")),
    ],
    measure: |target| fill_rates(target, 200),
};

const USED: Load = Load {
    profile: "x25-m",
    state: "",
    state_source: "",
    load: "written in order, 128 KiB, after half a pass at random, by a drive filled in order",
    figures: &[predicted(
        "PC Perspective, February 2009",
        "share of the bandwidth",
        Value(0.5),
        Share(0.1),
    )
    .expecting(
        0.3,
        0.8,
        "blocks that were holed by random writes are still half valid when their turn comes, and \
         are copied once",
    )],
    measure: |target| {
        let write = |state: &str| {
            let mut bench = Bench::of(&format!("{target},state={state}"))?;
            let eighth = bench.bytes() / 8 / (128 * KIB);
            let stream = sequential(Mix::WRITE, 128 * KIB, 4);
            let outcome = bench.run(stream, operations(eighth))?;
            Ok::<f64, String>(outcome.bytes as f64 / outcome.seconds)
        };
        Ok(vec![write("fragmented")? / write("filled")?])
    },
};
