//! The drive's volatile write cache, which SNIA's tests fix: on for clients, off for servers.

use super::Setting;
use super::order::is_complete;
use drivelab_core::facts::{DeviceFacts, TargetKind, WriteCache};
use drivelab_core::plan::{Act, Role, Step, Switch};
use drivelab_core::run::Run;

/// The step that sets it.
pub const SET: &str = "write cache";

/// Why it cannot be set here, where it was asked for.
pub fn objection(setting: &Setting<'_>) -> Option<String> {
    let wanted = setting.options.write_cache?;
    let option = format!("--write-cache {}", wanted.word());
    let target = &setting.facts.target;
    let what = match (target.kind, drive(setting)) {
        (TargetKind::BlockDevice, Some(drive)) if drive.drive_write_cache.is_some() => {
            return match (wanted, drive.drive_write_cache) {
                (Switch::On, Some(WriteCache::Absent)) => Some(format!(
                    "{} says that it has no volatile write cache: leave {option} out",
                    drive.name
                )),
                _ => None,
            };
        }
        (TargetKind::BlockDevice, _) => match target.devices.first() {
            Some(device) => format!("{} ({}) does not report one", device.name, device.layer),
            None => "this device does not report one".into(),
        },
        (TargetKind::Simulated, _) => "a simulated drive has none that can be set".into(),
        (TargetKind::Directory | TargetKind::File, _) => "this is a file".into(),
        (TargetKind::Nothing, _) => "there is no drive".into(),
    };
    Some(format!(
        "{option} sets the write cache of a whole NVMe, SATA or SAS drive, and {what}; leave it out"
    ))
}

/// The whole drive that is the target, if it is one.
fn drive<'a>(setting: &Setting<'a>) -> Option<&'a DeviceFacts> {
    setting.facts.target.devices.first().filter(|device| device.layer == "disk")
}

/// The step that sets it, where that was asked for.
pub fn set(setting: &Setting<'_>) -> Option<Step> {
    let act = Some(Act::WriteCache(setting.options.write_cache?));
    Some(Step { name: SET.into(), role: Role::Prepare, act, ..Step::default() })
}

/// How the cache was otherwise than `wanted`, in a sentence; `None` where it was as the method
/// wants it.
pub fn deviation(setting: &Setting<'_>, run: &Run, wanted: Switch) -> Option<String> {
    let is_set = run.steps.iter().any(|step| step.begin.name == SET && is_complete(step));
    let asks = format!("the specification asks for {} here", wanted.word());
    if let Some(set) = setting.options.write_cache.filter(|_| is_set) {
        return (set != wanted).then(|| {
            format!("The volatile write cache was {}, as --write-cache said; {asks}.", set.word())
        });
    }
    if setting.is_simulated() {
        return Some(format!(
            "The write cache of a simulated drive is what its profile says; {asks}."
        ));
    }
    let found = drive(setting);
    match found.and_then(|drive| drive.drive_write_cache) {
        Some(WriteCache::On) if wanted == Switch::On => None,
        Some(WriteCache::Off | WriteCache::Absent) if wanted == Switch::Off => None,
        Some(told) => Some(format!(
            "The volatile write cache was left as it was: {}, says the drive; {asks} \
             (--write-cache {}).",
            told.word(),
            wanted.word()
        )),
        None => {
            let kernel = found.and_then(|drive| drive.write_cache.as_deref());
            let view = kernel.map_or(String::new(), |view| {
                format!(" The kernel treats it as `{view}`, which the drive need not follow.")
            });
            Some(format!(
                "The volatile write cache was left as it was, and its setting is unknown: the \
                 drive was not queried or does not report it; {asks}.{view}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::pts;
    use drivelab_core::facts::Facts;
    use drivelab_core::study::{Profile, Scale, StudyOptions};
    use drivelab_core::units::{Size, Span};

    fn disk(says: Option<WriteCache>) -> Facts {
        let device = DeviceFacts {
            name: "sdq".into(),
            layer: "disk".into(),
            write_cache: Some("write back".into()),
            drive_write_cache: says,
            ..DeviceFacts::default()
        };
        let mut facts = Facts::default();
        facts.target.kind = TargetKind::BlockDevice;
        facts.target.devices = vec![device];
        facts
    }

    fn asked(write_cache: Option<Switch>, profile: Profile) -> StudyOptions {
        StudyOptions {
            name: "pts-tp".into(),
            scale: Scale::Quick,
            budget: Size(10 << 30),
            time: Span(300_000_000_000),
            delta: 0.05,
            bytes: 256 << 20,
            write_cache,
            profile,
            ..StudyOptions::default()
        }
    }

    #[test]
    fn only_a_drive_that_tells_can_be_set() {
        let says = |facts: &Facts, wanted| {
            let options = asked(Some(wanted), Profile::Enterprise);
            objection(&Setting { options: &options, facts })
        };
        assert_eq!(says(&disk(Some(WriteCache::On)), Switch::Off), None);
        assert_eq!(says(&disk(Some(WriteCache::Absent)), Switch::Off), None);
        let refused = [
            (disk(Some(WriteCache::Absent)), Switch::On, "no volatile write cache"),
            (disk(None), Switch::Off, "sdq (disk) does not report one"),
            (Facts::default(), Switch::Off, "this is a file"),
        ];
        for (facts, wanted, text) in refused {
            assert!(says(&facts, wanted).unwrap().contains(text));
        }
        let mut loops = disk(Some(WriteCache::On));
        loops.target.devices[0].layer = "loop".into();
        assert!(says(&loops, Switch::Off).unwrap().contains("(loop) does not report"));
    }

    #[test]
    fn what_the_cache_was_is_a_deviation_or_not() {
        let said = |says, write_cache, profile: Profile| {
            let (facts, options) = (disk(says), asked(write_cache, profile));
            let setting = Setting { options: &options, facts: &facts };
            let run = sample::play(&pts::THROUGHPUT, &setting, "fresh", &|_, _| 10_000.0);
            let sets = run.steps.iter().filter(|step| step.begin.name == SET).count();
            assert_eq!(sets > 0, write_cache.is_some());
            deviation(&setting, &run, profile.write_cache()).unwrap_or_default()
        };
        let (servers, clients) = (Profile::Enterprise, Profile::Client);
        assert_eq!(said(Some(WriteCache::Off), None, servers), "");
        assert_eq!(said(Some(WriteCache::Absent), None, servers), "");
        assert_eq!(said(Some(WriteCache::On), None, clients), "");
        assert_eq!(said(Some(WriteCache::On), Some(Switch::Off), servers), "");
        let left = said(Some(WriteCache::On), None, servers);
        assert!(left.contains("left as it was: on, says the drive"), "{left}");
        let against = said(Some(WriteCache::Off), Some(Switch::On), servers);
        assert!(against.contains("was on, as --write-cache said"), "{against}");
        let unknown = said(None, None, servers);
        assert!(unknown.contains("its setting is unknown") && unknown.contains("`write back`"));
    }
}
