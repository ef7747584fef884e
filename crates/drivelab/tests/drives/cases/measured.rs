//! What may be said of a good run on an emulated machine.

use crate::support::binary::Outcome;
use serde_json::Value;

/// Of an emulated machine that is busy, or of blocks that nobody has written: nothing that data or
/// counters say.
const HARMLESS: [&str; 3] = ["depth_not_reached", "generator_saturated", "unwritten_blocks"];

pub fn last_step(outcome: &Outcome) -> Value {
    outcome.json()["steps"].as_array().expect("steps").last().expect("a step").clone()
}

/// A run with `--json` that came to its end, which must be a good one.
#[track_caller]
pub fn good(outcome: Outcome) -> Outcome {
    assert!(matches!(outcome.status, Some(0 | 4)), "{outcome:?}");
    assert_eq!(outcome.json()["complete"], true, "{outcome:?}");
    let reasons = last_step(&outcome)["reasons"].clone();
    let codes = reasons.as_array().expect("a list").iter().map(|reason| &reason["code"]);
    assert!(codes.clone().all(|code| HARMLESS.iter().any(|it| code == it)), "{reasons}");
    outcome
}
