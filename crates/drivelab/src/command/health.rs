//! `drivelab health`: what each drive says of itself, on one screen.

mod metrics;
mod self_test;

use crate::cli::health::HealthOptions;
use crate::documents::Healths;
use crate::outcome::{Failure, Status};
use crate::target::{Kind, Missing, ResolvedTarget};
use crate::wall_clock::WallTime;
use crate::{print, store};
use drivelab_core::facts::DeviceFacts;
use drivelab_core::well::{DriveHealth, Seen, State, left, names};
use drivelab_io::facts::{self, System};
use drivelab_report::terminal::health_list;
use std::collections::BTreeMap;
use std::path::Path;

/// Prints the health of the drives that were named, or of all.
pub fn health(options: &HealthOptions) -> Result<Status, Failure> {
    let system = System::live();
    let mut disks: Vec<DeviceFacts> = match options.devices.as_slice() {
        [] => facts::list(&system).into_iter().filter(is_drive).collect(),
        named => below(&system, named)?,
    };
    if let Some(kind) = options.self_test {
        for disk in &mut disks {
            if self_test::test_itself(&system, disk, kind)? == self_test::Waited::Stopped {
                return Ok(Status::interruption());
            }
        }
    }
    let earlier = earlier(options.store.runs.as_deref());
    let now_s = WallTime::now().seconds();
    let drives: Vec<DriveHealth> = disks
        .iter()
        .map(|disk| {
            let seen = key(disk).and_then(|key| earlier.get(&key));
            let left = disk.wear.as_ref().zip(seen).and_then(|(it, seen)| left(now_s, it, seen));
            // What is fetched every minute asks neither the log of events nor another program.
            if options.openmetrics {
                return DriveHealth::of(disk, left);
            }
            let health = match facts::second_witness(&system, disk) {
                Some(told) => DriveHealth::witnessed(disk, left, &told.source, &told.wear),
                None => DriveHealth::of(disk, left),
            };
            health.with_events(facts::events(&system, disk))
        })
        .collect();
    let status = status(&drives, !options.devices.is_empty());
    if options.json {
        print::document(Healths { drives })?;
    } else if options.openmetrics {
        print::verbatim(&metrics::text(&drives));
    } else {
        print::text(&health_list(&drives));
    }
    Ok(match options.self_test {
        Some(_) if status == Status::Fine => self_test::status(&disks),
        _ => status,
    })
}

/// What a drive warns of is a bad finding. That nothing is known is no answer where it was asked
/// for by name, or of all drives: many machines have a card or a virtual drive besides.
fn status(drives: &[DriveHealth], are_named: bool) -> Status {
    let is_unknown = |drive: &DriveHealth| drive.state == State::Unknown;
    if drives.iter().any(|drive| drive.state == State::Failing) {
        return Status::Finding;
    }
    let is_silent = match are_named {
        true => drives.iter().any(is_unknown),
        false => drives.iter().all(is_unknown),
    };
    if is_silent { Status::Invalid } else { Status::Fine }
}

/// A drive that could say something of itself: no layer, and no memory.
fn is_drive(device: &DeviceFacts) -> bool {
    device.layer == "disk"
        && !matches!(device.transport.as_deref(), Some("memory" | "null_blk" | "nbd" | "rbd"))
}

/// The drives below what was named, each once.
fn below(system: &System, named: &[String]) -> Result<Vec<DeviceFacts>, Failure> {
    let mut found: Vec<DeviceFacts> = Vec::new();
    for name in named {
        let missing = Missing::Refused { line: "health", takes_size: false };
        let resolved = ResolvedTarget::look(system, name, missing)?;
        if resolved.kind == Kind::Simulated {
            return Err(Failure::usage(format!("{name} is a simulated drive, which keeps no log"))
                .advise("Name a block device; `drivelab list` shows those of this machine."));
        }
        let disks = resolved.facts.target.devices.into_iter().filter(is_drive);
        let before = found.len();
        for disk in disks {
            if !found.iter().any(|known| known.number == disk.number) {
                found.push(disk);
            }
        }
        if found.len() == before && named.len() == 1 {
            return Err(Failure::usage(format!("no drive can be seen below {name}"))
                .advise("`drivelab list` shows the drives of this machine."));
        }
    }
    Ok(found)
}

/// A drive's own name. Without a serial number another drive may bear it, too.
fn key(disk: &DeviceFacts) -> Option<(String, String)> {
    let names = names(disk);
    Some((names.model?, names.serial?))
}

/// What the runs kept here saw of each drive. Where there are none, nothing was seen.
fn earlier(runs: Option<&Path>) -> BTreeMap<(String, String), Vec<Seen>> {
    let mut found: BTreeMap<_, Vec<Seen>> = BTreeMap::new();
    let Ok(directory) = store::directory(runs) else { return found };
    for (_, begin) in store::begun(&directory).unwrap_or_default() {
        let Some(at_s) = WallTime::of_rfc3339(&begin.started_at).map(WallTime::seconds) else {
            continue;
        };
        for disk in &begin.facts.target.devices {
            let written = disk.wear.as_ref().and_then(|wear| wear.written_bytes);
            if let Some((key, written_bytes)) = key(disk).zip(written) {
                found.entry(key).or_default().push(Seen { at_s, written_bytes });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::WearFacts;

    fn drive(failing: Option<bool>) -> DriveHealth {
        let wear = failing.map(|it| WearFacts { failing: Some(it), ..WearFacts::default() });
        DriveHealth::of(&DeviceFacts { wear, ..DeviceFacts::default() }, None)
    }

    #[test]
    fn a_warning_is_a_finding_and_silence_of_a_named_drive_no_answer() {
        let (well, failing, silent) = (drive(Some(false)), drive(Some(true)), drive(None));
        let all = [well.clone(), failing, silent.clone()];
        assert_eq!(status(&all, false), Status::Finding);
        assert_eq!(status(&all, true), Status::Finding, "a finding that is valid comes first");
        let some = [well.clone(), silent.clone()];
        assert_eq!(status(&some, false), Status::Fine);
        assert_eq!(status(&some, true), Status::Invalid);
        assert_eq!(status(&[silent], false), Status::Invalid);
        assert_eq!(status(&[well], true), Status::Fine);
        assert_eq!(status(&[], false), Status::Invalid);
    }
}
