//! Plans on drives whose zones take writes only in order.

use crate::outcome::Failure;
use crate::session::intent::intent_of;
use crate::target::{Kind, ResolvedTarget};
use drivelab_core::facts::ZoneFacts;
use drivelab_core::plan::{Act, Pattern, Plan, Step, Stream, Zoned};
use drivelab_core::units::Size;
use drivelab_io::guard::Intent;
use drivelab_io::ranks::Ranks;
use drivelab_report::units::counted;

/// Lays the streams of a plan out over the zones of the drive, where it has such, or says why a
/// plan cannot write there. A study knows zones by itself, or does not write them.
pub fn fit(
    plan: &mut Plan,
    resolved: &ResolvedTarget,
    ranks: Ranks,
    is_study: bool,
) -> Result<(), Failure> {
    let device = resolved.facts.target.devices.first();
    let zones = device.and_then(|device| device.zones.as_ref()).filter(|it| it.needs_order());
    let (Some(zones), Kind::Device) = (zones, resolved.kind) else { return Ok(()) };
    let path = resolved.path.display().to_string();
    let streams = || plan.steps.iter().flat_map(|step| &step.streams);
    let is_laid_out = streams().filter(|it| it.mix.write > 0).all(|it| it.zoned.is_some());
    let writes = !matches!(intent_of(plan, resolved), Intent::Read);
    if (writes && is_study && !is_laid_out) || plan.steps.iter().any(ignores_zones) {
        return Err(of_whole_drives(&path, zones));
    }
    if !is_study {
        let shape = shape(zones);
        let streams = plan.steps.iter_mut().flat_map(|step| &mut step.streams);
        for stream in streams.filter(|it| it.reaches_target() && it.zoned.is_none()) {
            match shape {
                Some((zoned, from)) => lay_out(stream, zoned, from),
                None if stream.changes_data() => {
                    return Err(Failure::usage(format!(
                        "{path} is a {} zoned drive, and what its zones hold cannot be read, so \
                         that nothing can be written in order. Nothing was written",
                        zones.model
                    ))
                    .advise("Run as root: the zones are asked of the drive itself."));
                }
                None => {}
            }
        }
    }
    at_once(plan, zones, &path, ranks.is_alone())
}

/// Whether an act needs a drive that is written anywhere.
fn ignores_zones(step: &Step) -> bool {
    matches!(step.act, Some(Act::Mkfs(_) | Act::Mount(_) | Act::Trim { .. }))
}

/// A study, a file system or a trim that would write otherwise than in order.
fn of_whole_drives(path: &str, zones: &ZoneFacts) -> Failure {
    let size = zones
        .zone_bytes
        .map_or_else(String::new, |bytes| format!(" of {}", drivelab_report::units::size(bytes)));
    Failure::usage(format!(
        "{path} is a {} zoned drive: each of its zones{size} takes writes only in order, and this \
         line would not keep to that. Nothing was written",
        zones.model
    ))
    .advise(format!(
        "Zones are written by: drivelab study zones {path}, or drivelab run {path} --rw write. For \
         all else make a file system for zones (f2fs, btrfs, zonefs) on it and give a directory of \
         that."
    ))
}

/// The zones of a drive, and where the first of them begins.
fn shape(zones: &ZoneFacts) -> Option<(Zoned, u64)> {
    let (size, capacity) = (zones.zone_bytes?, zones.capacity_bytes?);
    let capacity = (capacity < size).then_some(Size(capacity));
    let zoned = Zoned { size: Size(size), capacity, finish_after: None };
    Some((zoned, zones.ordered_from_bytes.unwrap_or(0)))
}

/// Writes are laid out whatever they ask, and are refused with their reasons where that cannot be.
/// Reads may go anywhere; those that cannot be laid out do.
fn lay_out(stream: &mut Stream, zoned: Zoned, from: u64) {
    let writes = stream.changes_data();
    let grid = stream.alignment().max(1);
    let has_order = matches!(
        stream.pattern,
        Pattern::Sequential(_) | Pattern::Uniform | Pattern::Permutation | Pattern::Zipf { .. }
    );
    let is_plain = stream.reply.is_none() && stream.shift.0 == 0 && stream.offset_each.0 == 0;
    let fits = stream.sizes.is_empty()
        && grid >= stream.size.0
        && zoned.holds().is_multiple_of(grid)
        && stream.offset.0.is_multiple_of(zoned.size.0)
        && stream.length.is_none_or(|length| length.0.is_multiple_of(zoned.size.0));
    let can_be = has_order && is_plain && fits;
    if !writes && !can_be {
        return;
    }
    stream.zoned = Some(zoned);
    if stream.offset.0 == 0 && stream.length.is_none() {
        stream.offset = Size(from);
    }
}

/// A drive keeps a limited number of zones open.
fn at_once(plan: &Plan, zones: &ZoneFacts, path: &str, is_alone: bool) -> Result<(), Failure> {
    for step in &plan.steps {
        let writers = step.streams.iter().filter(|stream| stream.writes_zones());
        let count: u32 = writers.map(|stream| stream.workers).sum();
        if count > 0 && !is_alone {
            return Err(Failure::usage(format!(
                "the zones of {path} are written by one process only: several could finish \
                 zones that another one writes"
            ))
            .advise("Leave the launcher out, and use --workers."));
        }
        for stream in step.streams.iter().filter(|stream| stream.zone_append) {
            appendable(stream.size, zones, path)?;
        }
        if let Some(most) = zones.open_at_once().filter(|most| count > *most) {
            return Err(Failure::usage(format!(
                "{path} keeps at most {} open, and {} would write as many at once",
                counted(u64::from(most), "zone"),
                counted(u64::from(count), "worker")
            ))
            .advise(format!("Use at most --workers {most}.")));
        }
    }
    Ok(())
}

/// A drive takes an append only up to a length.
fn appendable(size: Size, zones: &ZoneFacts, path: &str) -> Result<(), Failure> {
    match zones.append_bytes_max {
        Some(0) => Err(Failure::usage(format!("the zones of {path} take no appends"))
            .advise("Leave --zone-append out.")),
        Some(most) if size.0 > most => Err(Failure::usage(format!(
            "{path} takes appends of at most {} at once, and this line would write {size}",
            Size(most)
        ))
        .advise(format!("Use at most --bs {}.", Size(most)))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
