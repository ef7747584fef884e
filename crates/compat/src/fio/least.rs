//! `rate_min`, `rate_iops_min` and `ratecycle`: a job that fails when its rate falls below.

use super::settings::Settings;
use super::translate::Whole;
use super::words::{STATUS, unsupported};
use crate::front::{Refusal, World};
use drivelab_core::op::SECOND;
use drivelab_core::plan::{Rate, RateMin};
use drivelab_core::units::Span;

/// fio lets a job settle for so long before it looks at its rate.
const SETTLES_NS: u64 = 2 * SECOND;

/// What a job says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// `rate_min`, bytes a second of reads, writes and trims.
    pub bytes: [u64; 3],
    /// `rate_iops_min`.
    pub operations: [u64; 3],
    /// `ratecycle`, in milliseconds.
    pub cycle_ms: u32,
}

impl Default for Asked {
    /// fio's own: off, and a second.
    fn default() -> Self {
        Asked { bytes: [0; 3], operations: [0; 3], cycle_ms: 1000 }
    }
}

impl Asked {
    /// Whether a rate must be kept.
    pub fn is_given(&self) -> bool {
        self.bytes.iter().chain(&self.operations).any(|rate| *rate > 0)
    }
}

/// The option that is printed where a rate was too low, and its unit there.
pub fn words(rate_min: &RateMin) -> [&'static str; 3] {
    match rate_min.of {
        Rate::Bytes => ["rate_min", "B/s", "B/s"],
        Rate::Operations | Rate::Latency => ["rate_iops_min", "", " IOPS"],
    }
}

/// The bound of a job.
///
/// # Errors
/// What fio refuses, and what does not go with it here.
pub fn rate_min(whole: &Whole<'_>, world: &dyn World) -> Result<Option<RateMin>, Refusal> {
    let settings = whole.settings;
    let Asked { bytes, operations, cycle_ms } = settings.turns.least;
    let (of, least) = match (bytes, operations) {
        ([0, 0, 0], [0, 0, 0]) => return Ok(None),
        ([0, 0, 0], operations) => (Rate::Operations, operations),
        (bytes, [0, 0, 0]) => (Rate::Bytes, bytes),
        _ => {
            return Err(Refusal::new(
                STATUS,
                "fio: rate and rate_iops are mutually exclusive",
                "Say rate_min or rate_iops_min.",
            ));
        }
    };
    check(settings, [bytes, operations])?;
    let is_on = |value: &Option<String>| value.as_deref() != Some("0");
    let ends_all = whole
        .job
        .words()
        .filter(|word| word.name == "exitall_on_error")
        .last()
        .is_some_and(|word| is_on(&word.value));
    if ends_all {
        return Err(unsupported(
            "exitall_on_error with rate_min or rate_iops_min",
            "use exitall, by which every end of the job ends the others",
        ));
    }
    // Of what a job does not do nothing is asked.
    let asked = |place: usize| if settings.rw.kinds[place] { least[place] } else { 0 };
    let [read, write, trim] = [asked(0), asked(1), asked(2)];
    let times = world.scale_time();
    let every = Span(times.of(u64::from(cycle_ms) * 1_000_000, 1_000_000).max(1_000_000));
    let after = Span(times.of(SETTLES_NS, 1_000_000));
    let rate_min = RateMin { of, read, write, trim, every, after };
    Ok(Some(rate_min).filter(|it| it.least() != [0; 3]))
}

fn check(settings: &Settings, [bytes, operations]: [[u64; 3]; 2]) -> Result<(), Refusal> {
    let limits = [(settings.rate, bytes), (settings.rate_iops, operations)];
    for place in 0..3 {
        let is_beyond =
            |(most, least): &([u64; 3], [u64; 3])| most[place] > 0 && most[place] < least[place];
        if limits.iter().any(is_beyond) {
            return Err(Refusal::new(
                STATUS,
                format!("fio: minimum rate exceeds rate, ddir {place}"),
                "Let rate_min be at most rate, and rate_iops_min at most rate_iops.",
            ));
        }
    }
    let is_rated = settings.rate.iter().chain(&settings.rate_iops).any(|rate| *rate > 0);
    if is_rated && settings.rw.is_mixed() {
        return Err(unsupported(
            "rate_min or rate_iops_min of a mix with rate or rate_iops",
            "give each direction a job: of a mix they are drawn here, and a second may have fewer",
        ));
    }
    match settings.marks.verify.is_some() {
        true => Err(unsupported(
            "rate_min or rate_iops_min with verify",
            "write with the one, and read back in a line of its own with the other",
        )),
        false => Ok(()),
    }
}
