//! `dedupe_percentage` and what belongs to it: written requests that repeat others.

use super::settings::Settings;
use super::translate::Whole;
use super::value::Amount;
use super::words::{STATUS, unsupported};
use crate::front::Refusal;
use drivelab_core::plan::{Dedupe, DedupeShare, Stream};

/// `dedupe_percentage` and what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// `dedupe_percentage`.
    pub percent: u32,
    /// `dedupe_mode=working_set`.
    pub of_set: bool,
    /// `dedupe_working_set_percentage`.
    pub set_percent: u32,
    /// `dedupe_global`.
    pub shared: bool,
}

impl Default for Repeats {
    /// fio's own.
    fn default() -> Self {
        Repeats { percent: 0, of_set: false, set_percent: 5, shared: false }
    }
}

/// Has a stream repeat what the job asks for; `index` is its job among all.
///
/// # Errors
/// What cannot be, in fio or here.
pub fn apply(jobs: &[Whole<'_>], index: usize, stream: &mut Stream) -> Result<(), Refusal> {
    let settings = jobs[index].settings;
    let repeats = settings.turns.repeats;
    let is_zero = stream.content == drivelab_core::plan::Content::Zero;
    if repeats.percent == 0 || stream.mix.write == 0 || is_zero {
        return Ok(());
    }
    if stream.stamp || stream.verify || stream.data.is_some() {
        return Err(unsupported(
            "dedupe_percentage with verify or buffer_pattern",
            "leave one of them out: blocks that are checked are all different",
        ));
    }
    let (of, shared) = match repeats.of_set {
        true => (Some(set_of(jobs, index)?), repeats.shared.then(|| share(jobs, index))),
        false => (None, None),
    };
    stream.dedupe = Some(Dedupe { percent: repeats.percent, of, shared });
    Ok(())
}

/// Requests of the working set.
fn set_of(jobs: &[Whole<'_>], index: usize) -> Result<u64, Refusal> {
    let (settings, place) = (jobs[index].settings, jobs[index].place);
    let repeats = settings.turns.repeats;
    let refused = |text: &str, way: &str| Err(Refusal::new(STATUS, text, way));
    if settings.size.is_none() {
        return refused(
            "fio: dedupe_mode=working_set without size=",
            "Say a size: the set is a share of it.",
        );
    }
    if place.per_clone != 1 {
        return refused(
            "fio: dedupe_mode=working_set over several files of a job",
            "Use one file a job.",
        );
    }
    if repeats.set_percent + repeats.percent > 100 {
        return refused(
            &format!(
                "fio: dedupe_percentage={} and a working set of {} % of the size are more than all \
                 blocks",
                repeats.percent, repeats.set_percent
            ),
            "Let both together be at most 100.",
        );
    }
    let size = match settings.size {
        Some(Amount::Bytes(bytes)) => bytes,
        _ => place.size,
    };
    let bytes = u128::from(size) * u128::from(repeats.set_percent) / 100;
    let count = u64::try_from(bytes).unwrap_or(u64::MAX) / least_write(settings).max(1);
    Ok(count.max(1))
}

fn least_write(settings: &Settings) -> u64 {
    match (&settings.bssplit, settings.bsrange) {
        (Some(split), _) => split[1].iter().map(|(bytes, _)| *bytes).min().unwrap_or(1),
        (None, Some(range)) => range[1].0,
        (None, None) => settings.bs[1],
    }
}

/// Who repeats each other: all clones of all jobs that say so.
fn share(jobs: &[Whole<'_>], index: usize) -> DedupeShare {
    let clones = |whole: &Whole<'_>| {
        let repeats = whole.settings.turns.repeats;
        let is_one = repeats.shared && repeats.of_set && repeats.percent > 0;
        if is_one { whole.settings.numjobs } else { 0 }
    };
    DedupeShare {
        workers: jobs.iter().map(clones).sum(),
        first: jobs.iter().take(index).map(clones).sum(),
    }
}
