//! What drives said of their own health while a run went on.

use crate::facts::WearFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The drives below the target, asked between two steps, before the first, or after the last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthReading {
    /// Executed steps that had ended.
    pub steps: u32,
    /// It is the first one since the target was opened: what happened before it is not of this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opens: bool,
    /// What each of them said; one that could not be asked is missing.
    pub drives: Vec<DriveReading>,
}

/// What one drive said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriveReading {
    /// Kernel name.
    pub device: String,
    /// What it said of itself, without its names.
    pub wear: WearFacts,
    /// Bytes that this kernel had sent the drive to write by then, zeros by command among them;
    /// absent where something was in flight, where other ways lead to the drive, or where the
    /// kernel does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_written_bytes: Option<u64>,
}

/// The first and the last time that a drive was asked without a break in between.
#[derive(Debug, Clone, Copy)]
pub struct Span<'run> {
    /// The drive.
    pub device: &'run str,
    /// What it said first.
    pub before: &'run WearFacts,
    /// What it said last.
    pub after: &'run WearFacts,
    /// Bytes that this kernel sent it to write between the two, where that is known.
    pub kernel_written_bytes: Option<u64>,
    /// Steps that had ended at the earlier reading and at the later one.
    pub steps: (u32, u32),
}

/// What each drive said around step `step`: at the last reading before it and at the first one
/// after it. Empty where there is none after it, or where the target was closed in between.
pub fn around(readings: &[HealthReading], step: u32) -> Vec<Span<'_>> {
    let Some(after) = readings.iter().position(|reading| reading.steps > step) else {
        return Vec::new();
    };
    match after.checked_sub(1) {
        Some(before) if !readings[after].opens => between(&readings[before], &readings[after]),
        _ => Vec::new(),
    }
}

/// The whole run, one span for each time that its target was opened and each drive.
pub fn whole(readings: &[HealthReading]) -> Vec<Span<'_>> {
    readings
        .chunk_by(|_, next| !next.opens)
        .filter_map(|sitting| Some((sitting.first()?, sitting.last()?)))
        .flat_map(|(first, last)| between(first, last))
        .filter(|span| span.steps.1 > span.steps.0)
        .collect()
}

fn between<'run>(before: &'run HealthReading, after: &'run HealthReading) -> Vec<Span<'run>> {
    let span = |earlier: &'run DriveReading| {
        let later = after.drives.iter().find(|later| later.device == earlier.device)?;
        let (first, last) = (earlier.kernel_written_bytes, later.kernel_written_bytes);
        Some(Span {
            device: &earlier.device,
            before: &earlier.wear,
            after: &later.wear,
            kernel_written_bytes: first.zip(last).and_then(|(first, last)| last.checked_sub(first)),
            steps: (before.steps, after.steps),
        })
    };
    before.drives.iter().filter_map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(steps: u32, opens: bool, hours: u64) -> HealthReading {
        let wear = WearFacts { power_on_hours: Some(hours), ..WearFacts::default() };
        let drives =
            vec![DriveReading { device: "nvme0n1".into(), wear, kernel_written_bytes: None }];
        HealthReading { steps, opens, drives }
    }

    fn hours(spans: &[Span<'_>]) -> Vec<(u64, u64)> {
        let of = |wear: &WearFacts| wear.power_on_hours.unwrap();
        spans.iter().map(|span| (of(span.before), of(span.after))).collect()
    }

    #[test]
    fn a_step_lies_between_the_readings_next_to_it() {
        let all = [reading(0, true, 1), reading(3, false, 2), reading(4, false, 3)];
        for (step, expected) in [(0, vec![(1, 2)]), (2, vec![(1, 2)]), (3, vec![(2, 3)])] {
            assert_eq!(hours(&around(&all, step)), expected, "step {step}");
        }
        assert!(around(&all, 4).is_empty(), "nobody looked after it");
        assert!(around(&[], 0).is_empty());
        assert_eq!(hours(&whole(&all)), [(1, 3)]);
    }

    #[test]
    fn what_happened_while_the_target_was_closed_is_not_counted() {
        let all =
            [reading(0, true, 1), reading(2, false, 2), reading(3, true, 9), reading(4, false, 10)];
        assert!(around(&all, 2).is_empty(), "broken off in step 2");
        assert_eq!(hours(&around(&all, 3)), [(9, 10)]);
        assert_eq!(hours(&whole(&all)), [(1, 2), (9, 10)]);
        assert!(whole(&[reading(0, true, 1)]).is_empty(), "no step was done");
    }

    #[test]
    fn a_drive_that_was_not_heard_again_has_no_span() {
        let mut gone = reading(1, false, 2);
        gone.drives.clear();
        assert!(whole(&[reading(0, true, 1), gone]).is_empty());
    }
}
