//! What to type where `--quick` is too little for a simulated drive.

use super::Studied;
use crate::target::{Missing, ResolvedTarget};
use drivelab_core::facts::{Bound, TargetKind};
use drivelab_core::study::{Scale, StudyOptions};
use drivelab_core::units::Size;
use drivelab_io::facts::System;
use drivelab_study::experiment::Setting;

/// The least that is offered: 64 MiB.
const LEAST_EXPONENT: u32 = 26;
/// So much of a drive can be overwritten eight times in what a quick study writes.
const ENOUGH: u64 = 1 << 30;

fn is_quick_and_simulated(inquiry: &Studied) -> bool {
    let is_simulated = inquiry.facts.target.kind == TargetKind::Simulated;
    inquiry.options.scale == Scale::Quick && is_simulated
}

/// The line that does a quick study of a simulated drive which is too large for it: the same drive
/// with less capacity. `None`: that is not what is wrong.
pub fn smaller(inquiry: &Studied, system: &System, target: &str) -> Option<String> {
    let most = inquiry.options.bytes.checked_ilog2().unwrap_or(0);
    let name = without_capacity(target);
    let quick = is_quick_and_simulated(inquiry);
    let fitting = (LEAST_EXPONENT..=most)
        .rev()
        .filter(|_| quick)
        .find_map(|exponent| part(inquiry, system, &name, 1 << exponent))?;
    Some(format!(
        "{target} is too large for --quick. A smaller part of it fits:  drivelab study {} \
         {}{} --quick",
        inquiry.options.name,
        fitting.target,
        also_typed(&inquiry.options, fitting.bytes)
    ))
}

/// What may have an answer where a quick study of a simulated drive had none.
pub fn way_out(inquiry: &Studied) -> Option<String> {
    if !is_quick_and_simulated(inquiry) {
        return None;
    }
    let (study, target) = (&inquiry.options.name, &inquiry.facts.target.path);
    let name = without_capacity(target);
    let more = also_typed(&inquiry.options, inquiry.options.bytes);
    // The quota of a volume goes by its size, and a smaller disk takes as long for each write.
    let bound = inquiry.facts.target.simulated.map(|known| known.bound).unwrap_or_default();
    let less = (inquiry.options.bytes > ENOUGH && bound == Bound::Flash)
        .then(|| part(inquiry, &System::live(), &name, ENOUGH))
        .flatten()
        .map(|part| {
            let (target, more) = (part.target, also_typed(&inquiry.options, part.bytes));
            format!(", or a smaller drive: `drivelab study {study} {target}{more} --quick`")
        });
    Some(format!(
        "A longer study may tell, and virtual time costs little: `drivelab study {study} \
         {target}{more}`{}.",
        less.unwrap_or_default()
    ))
}

/// What was said of the use of the drive, to be typed again for a part of it: a part is sold for
/// its share of the writes, and is given its share.
fn also_typed(options: &StudyOptions, bytes: u64) -> String {
    let share = |size: Size| {
        let of_part = u128::from(size.0) * u128::from(bytes) / u128::from(options.bytes.max(1));
        decimal(u64::try_from(of_part).unwrap_or(size.0))
    };
    let rated = options.rated.map(|rated| format!(" --rated {}", share(rated)));
    let per_day = options.per_day.map(|per_day| format!(" --per-day {}", share(per_day)));
    [rated, per_day].into_iter().flatten().collect()
}

/// Bytes as makers count them, in the largest unit that leaves two digits.
fn decimal(bytes: u64) -> String {
    let unit = |unit: u64| (bytes >= 10 * unit || bytes.is_multiple_of(unit)).then_some(unit);
    let units = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000)];
    let found = units.into_iter().find(|(_, size)| bytes >= *size && unit(*size).is_some());
    found.map_or_else(|| Size(bytes).to_string(), |(word, size)| format!("{}{word}", bytes / size))
}

fn without_capacity(target: &str) -> String {
    let keys = target.split(',').filter(|key| !key.trim().starts_with("capacity"));
    keys.collect::<Vec<_>>().join(",")
}

/// The same drive with less capacity.
struct Part {
    target: String,
    bytes: u64,
}

/// This drive with less capacity, where it can be made and nothing is said against the study.
fn part(inquiry: &Studied, system: &System, name: &str, bytes: u64) -> Option<Part> {
    let target = format!("{name},capacity={}", Size(bytes));
    let resolved = ResolvedTarget::look(system, &target, Missing::Made).ok()?;
    let options = StudyOptions { bytes: resolved.file_bytes, ..inquiry.options.clone() };
    let setting = Setting { options: &options, facts: &resolved.facts };
    let is_built = resolved.simulated.as_ref().is_some_and(|it| it.build().is_ok());
    let bytes = options.bytes;
    ((inquiry.study.objection)(&setting).is_none() && is_built).then_some(Part { target, bytes })
}
