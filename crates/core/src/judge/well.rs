//! One drive as its owner wants to know it: whether it is well, and how long it will last.

use crate::events::EventLog;
use crate::facts::{DeviceFacts, OwnNames, WearFacts};
use crate::witness::SecondWitness;
use schemars::JsonSchema;
use serde::Serialize;

/// How a drive is, by what it says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It says that it does not fail, and counts nothing to worry about.
    Well,
    /// It does not warn, but counts something to watch or to act on.
    Watch,
    /// It warns of itself.
    Failing,
    /// It was not read, or tells nothing from which this follows.
    Unknown,
}

impl State {
    /// The state in one word.
    pub fn word(self) -> &'static str {
        match self {
            State::Well => "well",
            State::Watch => "to be watched",
            State::Failing => "failing",
            State::Unknown => "unknown",
        }
    }
}

/// The health of one drive.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DriveHealth {
    /// Its kernel name (`nvme0n1`).
    pub name: String,
    /// Model string.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Size in bytes.
    pub bytes: Option<u64>,
    /// Its bus, as in `list`.
    pub transport: Option<String>,
    /// How it is.
    pub state: State,
    /// What it warns of itself.
    pub warnings: Vec<String>,
    /// What to watch or to act on although it does not warn.
    pub cautions: Vec<String>,
    /// Why its health is not known; null where it is.
    pub unknown: Option<String>,
    /// What it says of itself; null where that could not be read.
    pub wear: Option<WearFacts>,
    /// What it keeps of what happened to it; absent where it keeps no such log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventLog>,
    /// Why that is not known although it keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_unknown: Option<String>,
    /// What another program reads of it; absent where none was asked or it knows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondWitness>,
    /// How long its rated endurance lasts at the rate of the last weeks; null where the runs kept
    /// here do not say.
    pub left: Option<Left>,
}

impl DriveHealth {
    /// Of a disk that was asked, and what earlier runs say of it.
    pub fn of(disk: &DeviceFacts, left: Option<Left>) -> DriveHealth {
        let wear = disk.wear.clone();
        let (warnings, cautions) =
            wear.as_ref().map_or_else(Default::default, |it| (it.warnings(), it.cautions()));
        let (state, unknown) = match &wear {
            _ if !warnings.is_empty() => (State::Failing, None),
            _ if !cautions.is_empty() => (State::Watch, None),
            Some(wear) if wear.failing.is_some() || wear.used_percent.is_some() => {
                (State::Well, None)
            }
            Some(_) => (State::Unknown, Some("it does not say whether it fails".to_owned())),
            None => {
                let reason = disk.wear_unknown.as_deref().unwrap_or("it was not asked");
                (State::Unknown, Some(reason.to_owned()))
            }
        };
        let names = names(disk);
        DriveHealth {
            name: disk.name.clone(),
            model: names.model,
            serial: names.serial,
            firmware: names.firmware,
            bytes: disk.bytes,
            transport: disk.transport.clone(),
            state,
            warnings,
            cautions,
            unknown,
            wear,
            events: None,
            events_unknown: None,
            second: None,
            left,
        }
    }

    /// Of a disk of which another program, `source`, reads this, and what earlier runs say of it.
    /// What that reads stands in where the disk itself was not understood.
    pub fn witnessed(
        disk: &DeviceFacts,
        left: Option<Left>,
        source: &str,
        theirs: &WearFacts,
    ) -> DriveHealth {
        match &disk.wear {
            Some(ours) => DriveHealth {
                second: SecondWitness::of(source, ours, theirs),
                ..DriveHealth::of(disk, left)
            },
            None => {
                let wear = Some(theirs.clone());
                let disk = DeviceFacts { wear, wear_unknown: None, ..disk.clone() };
                let second = Some(SecondWitness::alone(source));
                DriveHealth { second, ..DriveHealth::of(&disk, left) }
            }
        }
    }

    /// With what it keeps of what happened to it, where that was asked for.
    #[must_use]
    pub fn with_events(self, told: Result<Option<EventLog>, String>) -> DriveHealth {
        match told {
            Ok(events) => DriveHealth { events, ..self },
            Err(reason) => DriveHealth { events_unknown: Some(reason), ..self },
        }
    }
}

/// What a disk calls itself, and else what the kernel calls it.
pub fn names(disk: &DeviceFacts) -> OwnNames {
    let DeviceFacts { model, serial, firmware, .. } = disk.clone();
    let own = disk.wear.as_ref().and_then(|wear| wear.names.clone()).unwrap_or_default();
    own.or(OwnNames { model, serial, firmware })
}

/// How long a drive's rated endurance lasts at a rate that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Left {
    /// Days between the run that was seen first and now.
    pub over_days: f64,
    /// Bytes that hosts wrote a day in these.
    pub written_bytes_per_day: f64,
    /// Days until the drive counts its rated endurance as used up.
    pub days: f64,
    /// The least of these days, as the drive counts whole percents.
    pub days_low: f64,
    /// The most of these days.
    pub days_high: f64,
}

/// What a run kept here had seen of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// When, in seconds since 1970.
    pub at_s: i64,
    /// Bytes that hosts had written to it.
    pub written_bytes: u64,
}

/// The rate is that of at most these last days, and of at least so many.
const DAYS_MAX: f64 = 30.0;
const DAYS_MIN: f64 = 7.0;
const DAY_S: f64 = 86_400.0;
/// Below this a count of whole percents is too coarse to divide by.
const PERCENT_MIN: u32 = 2;
/// Bytes come in units of up to 1 GiB: fewer than a hundred of these are no rate.
const WRITTEN_MIN: u64 = 100 << 30;

/// How long the rated endurance lasts, from what earlier runs saw; `None` where they saw too
/// little: no run of the last 30 days that is a week old, hardly anything written since, or a drive
/// that has used less than 2 % so far.
pub fn left(now_s: i64, wear: &WearFacts, earlier: &[Seen]) -> Option<Left> {
    let written = wear.written_bytes?;
    let used = wear.used_percent.filter(|used| (PERCENT_MIN..100).contains(used))?;
    let age_days = |seen: &Seen| (now_s - seen.at_s) as f64 / DAY_S;
    let is_usable = |seen: &&Seen| (DAYS_MIN..=DAYS_MAX).contains(&age_days(seen));
    let first = earlier.iter().filter(is_usable).min_by_key(|seen| seen.at_s)?;
    let since = written.checked_sub(first.written_bytes).filter(|bytes| *bytes >= WRITTEN_MIN)?;
    let over_days = age_days(first);
    let per_day = since as f64 / over_days;
    // What stands for a counted percent lies within one percent of it on either side.
    let days = |used: f64| written as f64 * (100.0 - used) / used / per_day;
    let used = f64::from(used);
    Some(Left {
        over_days,
        written_bytes_per_day: per_day,
        days: days(used),
        days_low: days(used + 1.0),
        days_high: days(used - 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TB: u64 = 1_000_000_000_000;
    const NOW: i64 = 2_000_000_000;

    fn ago(days: i64, written_bytes: u64) -> Seen {
        Seen { at_s: NOW - days * 86_400, written_bytes }
    }

    fn worn(used_percent: u32, written_bytes: u64) -> WearFacts {
        WearFacts {
            used_percent: Some(used_percent),
            written_bytes: Some(written_bytes),
            ..WearFacts::default()
        }
    }

    #[test]
    fn the_rate_is_that_of_the_last_weeks() {
        let seen = [ago(400, 0), ago(20, 28 * TB), ago(10, 29 * TB)];
        let left = left(NOW, &worn(10, 30 * TB), &seen).unwrap();
        assert_eq!((left.over_days, left.written_bytes_per_day), (20.0, TB as f64 / 10.0));
        assert!((left.days - 2700.0).abs() < 1e-6, "270 TB at 0.1 TB a day: {left:?}");
        assert!(left.days_low < left.days && left.days < left.days_high, "{left:?}");
    }

    #[test]
    fn what_is_too_little_gives_no_number() {
        let now = worn(10, 30 * TB);
        for seen in [vec![], vec![ago(3, 20 * TB)], vec![ago(31, 20 * TB)]] {
            assert_eq!(left(NOW, &now, &seen), None, "{seen:?}");
        }
        assert_eq!(left(NOW, &now, &[ago(20, 30 * TB - (1 << 30))]), None, "one unit");
        assert_eq!(left(NOW, &now, &[ago(20, 31 * TB)]), None, "another drive's count");
        for used in [0, 1, 100, 101] {
            assert_eq!(left(NOW, &worn(used, 30 * TB), &[ago(20, 20 * TB)]), None, "{used}");
        }
    }

    #[test]
    fn a_drive_is_called_well_only_by_its_own_word() {
        let of = |wear: Option<WearFacts>| {
            let disk = DeviceFacts { wear, ..DeviceFacts::default() };
            DriveHealth::of(&disk, None).state
        };
        assert_eq!(of(None), State::Unknown);
        let warm = WearFacts { temperature_c: Some(30), ..WearFacts::default() };
        assert_eq!(of(Some(warm)), State::Unknown);
        assert_eq!(of(Some(worn(3, TB))), State::Well);
        assert_eq!(of(Some(worn(103, TB))), State::Watch);
        let fails = WearFacts { failing: Some(true), ..worn(3, TB) };
        assert_eq!(of(Some(fails)), State::Failing);
        let disk = DeviceFacts { wear_unknown: Some("run as root".into()), ..Default::default() };
        assert_eq!(DriveHealth::of(&disk, None).unknown.as_deref(), Some("run as root"));
    }

    #[test]
    fn another_program_stands_in_only_where_the_drive_was_not_understood() {
        let theirs = WearFacts { power_on_hours: Some(9), ..worn(40, TB) };
        let silent = DeviceFacts { wear_unknown: Some("no log".into()), ..Default::default() };
        let told = DriveHealth::witnessed(&silent, None, "smartctl 7.3", &theirs);
        assert_eq!((told.state, told.wear.unwrap().used_percent), (State::Well, Some(40)));
        assert!(told.second.unwrap().is_alone);
        let ours = WearFacts { power_on_hours: Some(5), ..worn(3, TB) };
        let disk = DeviceFacts { wear: Some(ours), ..DeviceFacts::default() };
        let told = DriveHealth::witnessed(&disk, None, "smartctl 7.3", &theirs);
        assert_eq!(told.wear.unwrap().used_percent, Some(3), "its own word goes first");
        assert_eq!(told.second.unwrap().otherwise.len(), 2);
    }

    #[test]
    fn a_drive_behind_a_bridge_has_its_own_name() {
        let own = OwnNames { serial: Some("S1".into()), ..OwnNames::default() };
        let wear = Some(WearFacts { names: Some(own), ..WearFacts::default() });
        let (serial, model) = (Some("of the bridge".into()), Some("Bridge".into()));
        let disk = DeviceFacts { wear, serial, model, ..DeviceFacts::default() };
        let health = DriveHealth::of(&disk, None);
        assert_eq!(
            (health.serial.as_deref(), health.model.as_deref()),
            (Some("S1"), Some("Bridge"))
        );
    }
}
