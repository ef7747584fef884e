//! What `drivelab health` says of each drive: who it is, how it is, and what that rests on.

mod farm;

use drivelab_core::events::{DriveEvent, EventCount, EventLog};
use drivelab_core::facts::{SelfTestFacts, WearFacts};
use drivelab_core::quantity::counted;
use drivelab_core::well::{DriveHealth, Left, State};
use drivelab_core::witness::SecondWitness;

use crate::text::{hanging, printable};
use crate::units;

/// Where the words begin.
const INDENT: usize = 20;
/// Events of a drive that its screen shows.
const EVENTS_SHOWN: usize = 3;
const DAY_MS: f64 = 24.0 * 3600.0 * 1000.0;

/// All drives, with an empty line between them.
pub fn health_list(drives: &[DriveHealth]) -> String {
    if drives.is_empty() {
        return "no drive can be seen from here\n".to_owned();
    }
    drives.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(drive: &DriveHealth) -> String {
    let names = [&drive.model, &drive.firmware].map(|it| it.as_deref().unwrap_or("").trim());
    let identity = match names {
        ["", _] => "model unknown".to_owned(),
        [model, ""] => model.to_owned(),
        [model, firmware] => format!("{model} ({firmware})"),
    };
    let further = [
        drive.serial.as_ref().map(|serial| format!("serial {serial}")),
        drive.bytes.map(units::capacity),
        drive.transport.clone(),
    ];
    let further: Vec<String> = further.into_iter().flatten().collect();
    let label = format!("{:<INDENT$}", format!("/dev/{}", drive.name));
    let mut text = hanging(&printable(&label), &printable(&identity), INDENT);
    let rows = [
        vec![("Drive", further.join(", "))],
        vec![("State", state(drive))],
        drive.wear.iter().flat_map(rows).collect(),
        drive.wear.iter().flat_map(farm::rows).collect(),
        drive.events.iter().map(|log| ("Events kept", events(log))).collect(),
        drive.events_unknown.iter().map(|why| ("Events kept", format!("unknown: {why}"))).collect(),
        drive.second.iter().map(|it| ("Second witness", second(it))).collect(),
        drive.left.iter().map(|left| ("At this rate", at_this_rate(left))).collect(),
    ];
    for (name, words) in rows.concat().into_iter().filter(|(_, words)| !words.is_empty()) {
        let label = format!("  {name:<width$}", width = INDENT - 2);
        text.push_str(&hanging(&label, &printable(&words), INDENT));
    }
    text
}

fn state(drive: &DriveHealth) -> String {
    let because = match drive.state {
        State::Well => match drive.wear.as_ref().and_then(|wear| wear.failing) {
            Some(_) => "says of itself that it does not fail".to_owned(),
            None => "warns of nothing".to_owned(),
        },
        State::Failing => [&drive.warnings[..], &drive.cautions[..]].concat().join("; "),
        State::Watch => drive.cautions.join("; "),
        State::Unknown => drive.unknown.clone().unwrap_or_default(),
    };
    let advice = match drive.state {
        State::Failing => ". Save what it holds and replace it.",
        State::Well | State::Watch | State::Unknown => "",
    };
    format!("{}: {because}{advice}", drive.state.word())
}

/// What the drive tells, each with where it comes from if that is not its one log.
fn rows(wear: &WearFacts) -> Vec<(&'static str, String)> {
    let by = |source: &Option<String>| {
        source.as_ref().map_or(String::new(), |source| format!(" ({source})"))
    };
    let life = wear.used_percent.map(|used| {
        let left = 100u32.saturating_sub(used);
        format!("{used} % used, {left} % left{}", by(&wear.used_from))
    });
    let spare = wear.spare_percent.map(|spare| match wear.spare_threshold_percent {
        Some(threshold) => format!("{spare} % left; it warns below {threshold} %"),
        None => format!("{spare} % left"),
    });
    let written = wear
        .written_bytes
        .map(|bytes| format!("{}{}", units::capacity(bytes), by(&wear.written_from)));
    let flash = wear
        .flash_written_bytes
        .map(|bytes| format!("{}{}", units::capacity(bytes), by(&wear.flash_written_from)));
    let rows = [
        ("Rated endurance", life),
        ("Spare blocks", spare),
        ("Written by hosts", written),
        ("Read by hosts", wear.read_bytes.map(units::capacity)),
        ("Written to flash", flash),
        ("Power on", wear.power_on_hours.map(hours)),
        ("Temperature", temperature(wear)),
        ("Media errors", wear.media_errors.map(units::count)),
        ("Sectors", sectors(wear)),
        ("Damaged transfers", wear.link_errors.map(units::count)),
        ("Unsafe shutdowns", wear.unsafe_shutdowns.map(units::count)),
        ("Bad flash blocks", wear.bad_blocks.map(units::count)),
        ("Slowed by heat", slowed(wear)),
        ("Errors noted", errors(wear)),
        ("Self-test", wear.self_test.as_ref().map(self_test)),
    ];
    rows.into_iter().filter_map(|(name, words)| Some((name, words?))).collect()
}

/// What another program reads of it.
fn second(witness: &SecondWitness) -> String {
    let source = &witness.source;
    if witness.is_alone {
        return format!(
            "state and counts are what {source} reads; drivelab itself could not read them"
        );
    }
    match witness.otherwise.as_slice() {
        [] => format!("{source} reads the same: {}", witness.same.join(", ")),
        otherwise => format!("{source} reads otherwise: {}", otherwise.join(", ")),
    }
}

/// How many of each kind it keeps, and the newest few.
fn events(log: &EventLog) -> String {
    let of_kind = |it: &EventCount| {
        let (one, several) = it.kind.words();
        format!("{} {}", units::count(it.count), if it.count == 1 { one } else { several })
    };
    let kinds: Vec<String> = log.counts.iter().map(of_kind).collect();
    let kinds = if kinds.is_empty() { "none that matters".to_owned() } else { kinds.join(", ") };
    let when = |event: &DriveEvent| {
        let ago_ms = log.asked_at_ms.zip(event.at_ms).and_then(|(now, at)| now.checked_sub(at));
        let ago = ago_ms.map(|ms| format!("{} before", units::days(ms as f64 / DAY_MS)));
        format!(" ({})", ago.unwrap_or_else(|| "time unknown".to_owned()))
    };
    let newest = log.newest.iter().take(EVENTS_SHOWN);
    let newest: Vec<String> = newest.map(|it| format!("{}{}", it.what, when(it))).collect();
    let newest = match newest.is_empty() {
        true => String::new(),
        false => format!("; the newest: {}", newest.join("; ")),
    };
    let part = if log.is_whole { "" } else { " in the part that was read" };
    format!("{}: {kinds}{part}{newest}", units::count(log.kept))
}

fn hours(hours: u64) -> String {
    match hours {
        0..=48 => format!("{} h", units::count(hours)),
        _ => format!("{} h ({})", units::count(hours), units::days(hours as f64 / 24.0)),
    }
}

/// What it is now, and what it was in its life where the drive keeps that.
fn temperature(wear: &WearFacts) -> Option<String> {
    let (kept, farm) = (wear.temperatures.as_ref(), wear.farm.as_ref());
    let now = wear.temperature_c.or(farm.and_then(|it| it.temperature_c))?;
    let life = kept.and_then(|it| Some((it.lifetime_min_c?, it.lifetime_max_c?)));
    let life = life.or(farm.and_then(|it| Some((it.lifetime_min_c?, it.lifetime_max_c?))));
    let life = life.map(|(least, most)| format!(", from {least} to {most} °C in its life"));
    let over = kept.and_then(|it| it.over_limit_count).filter(|count| *count > 0);
    let over = over.map(|count| {
        format!("; above its limit in {} of its log", counted(u64::from(count), "interval"))
    });
    Some(format!("{now} °C{}{}", life.unwrap_or_default(), over.unwrap_or_default()))
}

/// What its error log holds, which also has commands that it does not know; nothing where it keeps
/// no entry.
fn errors(wear: &WearFacts) -> Option<String> {
    let newest = wear.errors.first()?;
    let count = units::count(wear.error_entries?);
    Some(format!("{count}, the newest: {}", newest.words()))
}

/// Sectors that were given up, or will be.
fn sectors(wear: &WearFacts) -> Option<String> {
    let counts = [
        ("reallocated", wear.reallocated_sectors),
        ("pending", wear.pending_sectors),
        ("unreadable", wear.unreadable_sectors),
    ];
    let told = counts.into_iter().filter_map(|(name, count)| Some((name, count?)));
    let told: Vec<String> =
        told.map(|(name, count)| format!("{} {name}", units::count(count))).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// How often and how long it was slowed down by its temperature; nothing where it never was.
fn slowed(wear: &WearFacts) -> Option<String> {
    let times = wear.throttled_times.filter(|times| *times > 0)?;
    let times = self::times(times);
    let spans = wear.throttled_s.map(|s| format!(", {} in all", units::time(s as f64 * 1e9)));
    Some(format!("{times}{}", spans.unwrap_or_default()))
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", units::count(count)) }
}

/// The test that goes on, and how the last one ended.
fn self_test(test: &SelfTestFacts) -> String {
    let running = test.is_running.then(|| match test.done_percent {
        Some(percent) => format!("one is going on, {percent} % done"),
        None => "one is going on".to_owned(),
    });
    let last = test.last.as_ref().map(|last| {
        let kind = last.kind.as_ref().map(|kind| format!("{kind} "));
        let at = last.power_on_hours.map(|at| format!(" at {} h", units::count(at)));
        format!("the last {}one {}{}", kind.unwrap_or_default(), last.how, at.unwrap_or_default())
    });
    let told: Vec<String> = running.into_iter().chain(last).collect();
    if told.is_empty() { "none was made".to_owned() } else { told.join("; ") }
}

fn at_this_rate(left: &Left) -> String {
    format!(
        "{} written a day in the last {}: its rated endurance lasts {} [{}, {}]",
        units::capacity(left.written_bytes_per_day as u64),
        units::days(left.over_days),
        units::days(left.days),
        units::days(left.days_low),
        units::days(left.days_high)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::events::EventKind;
    use drivelab_core::facts::{DeviceFacts, ErrorEntry, TemperatureFacts};
    use expect_test::expect;

    fn disk(wear: Option<WearFacts>) -> DeviceFacts {
        DeviceFacts {
            name: "sda".into(),
            model: Some("Samsung SSD 870 EVO 1TB".into()),
            firmware: Some("SVT01B6Q".into()),
            serial: Some("S5Y2NX0R123456".into()),
            bytes: Some(1_000_204_886_016),
            transport: Some("sata".into()),
            wear,
            ..DeviceFacts::default()
        }
    }

    fn shown(wear: WearFacts, left: Option<Left>) -> String {
        let text = health_list(&[DriveHealth::of(&disk(Some(wear)), left)]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        text
    }

    #[test]
    fn a_second_witness_is_named_with_what_it_reads() {
        let ours = WearFacts { power_on_hours: Some(40), used_percent: Some(3), ..worn() };
        let row = |disk: &DeviceFacts, theirs: &WearFacts| {
            let drive = DriveHealth::witnessed(disk, None, "smartctl 7.3", theirs);
            let text = health_list(&[drive]).split_whitespace().collect::<Vec<_>>().join(" ");
            text.split_once("Second witness ").expect("a row").1.to_owned()
        };
        let known = disk(Some(ours.clone()));
        assert_eq!(
            row(&known, &ours),
            "smartctl 7.3 reads the same: whether it warns, hours, percent used"
        );
        let worse = WearFacts { used_percent: Some(30), ..ours.clone() };
        assert_eq!(
            row(&known, &worse),
            "smartctl 7.3 reads otherwise: 30 percent used instead of 3"
        );
        assert_eq!(
            row(&disk(None), &ours),
            "state and counts are what smartctl 7.3 reads; drivelab itself could not read them"
        );
    }

    fn worn() -> WearFacts {
        WearFacts { failing: Some(false), ..WearFacts::default() }
    }

    #[test]
    fn a_drive_that_is_well_says_what_that_rests_on() {
        let wear = WearFacts {
            failing: Some(false),
            used_percent: Some(3),
            used_from: Some("SMART attribute 177".into()),
            written_bytes: Some(30_000_000_000_000),
            written_from: Some("SMART attribute 241".into()),
            power_on_hours: Some(17_520),
            temperature_c: Some(31),
            reallocated_sectors: Some(0),
            pending_sectors: Some(0),
            link_errors: Some(0),
            ..WearFacts::default()
        };
        let left = Left {
            over_days: 28.0,
            written_bytes_per_day: 41e9,
            days: 1500.0,
            days_low: 1100.0,
            days_high: 2100.0,
        };
        expect![[r#"
            /dev/sda            Samsung SSD 870 EVO 1TB (SVT01B6Q)
              Drive             serial S5Y2NX0R123456, 1.00 TB, sata
              State             well: says of itself that it does not fail
              Rated endurance   3 % used, 97 % left (SMART attribute 177)
              Written by hosts  30.0 TB (SMART attribute 241)
              Power on          17,520 h (730 days)
              Temperature       31 °C
              Sectors           0 reallocated, 0 pending
              Damaged transfers 0
              At this rate      41.0 GB written a day in the last 28.0 days: its rated
                                endurance lasts 4.11 years [3.01 years, 5.75 years]
        "#]]
        .assert_eq(&shown(wear, Some(left)));
    }

    #[test]
    fn what_happened_to_it_is_counted_and_the_newest_told() {
        const DAY: u64 = 24 * 3600 * 1000;
        let event = |kind, at_ms, what: &str| DriveEvent { kind, at_ms, what: what.into() };
        let mut log = EventLog {
            kept: 1905,
            asked_at_ms: Some(100 * DAY),
            is_whole: true,
            counts: vec![
                EventCount { kind: EventKind::HardwareError, count: 1 },
                EventCount { kind: EventKind::PowerOnOrReset, count: 40 },
            ],
            newest: vec![
                event(EventKind::HardwareError, Some(97 * DAY), "an error of media or data"),
                event(EventKind::PowerOnOrReset, None, "turned on or reset"),
            ],
            ..EventLog::default()
        };
        let words = "1,905: 1 hardware error, 40 power-ons or resets; the newest: an error of \
                     media or data (3.00 days before); turned on or reset (time unknown)";
        assert_eq!(events(&log), words);
        log = EventLog { kept: 2, ..EventLog::default() };
        assert_eq!(events(&log), "2: none that matters in the part that was read");
        let read_by_others = Err("another program reads it".to_owned());
        let drive = DriveHealth::of(&disk(None), None).with_events(read_by_others);
        let text = health_list(&[drive]);
        assert!(text.contains("  Events kept       unknown: another program reads it"), "{text}");
    }

    #[test]
    fn what_it_keeps_of_heat_and_errors_has_a_row_each() {
        let temperatures = |least, over| {
            Some(TemperatureFacts {
                lifetime_min_c: least,
                lifetime_max_c: Some(61),
                over_limit_count: Some(over),
                ..TemperatureFacts::default()
            })
        };
        let wear = |temperatures| WearFacts {
            temperature_c: Some(41),
            temperatures,
            ..WearFacts::default()
        };
        for (kept, words) in [
            (None, "41 °C"),
            (temperatures(None, 0), "41 °C"),
            (temperatures(Some(-5), 0), "41 °C, from -5 to 61 °C in its life"),
            (temperatures(None, 1), "41 °C; above its limit in 1 interval of its log"),
        ] {
            assert_eq!(temperature(&wear(kept)).as_deref(), Some(words));
        }
        assert_eq!(temperature(&WearFacts::default()), None);
        let noted = WearFacts { error_entries: Some(55), ..WearFacts::default() };
        assert_eq!(errors(&noted), None, "it keeps none of them");
        let entry = ErrorEntry {
            status_type: 2,
            status_code: 0x81,
            status: "data that could not be read".into(),
            lba: Some(5),
            namespace: Some(1),
            ..ErrorEntry::default()
        };
        let words = "55, the newest: data that could not be read (281h) at block 5 of namespace 1";
        let kept = WearFacts { errors: vec![entry], ..noted };
        assert_eq!(errors(&kept).as_deref(), Some(words));
    }

    #[test]
    fn a_drive_that_fails_says_so_first() {
        let wear = WearFacts {
            failing: Some(true),
            failing_because: vec!["SMART attribute 5 is 3, its threshold 10".into()],
            media_errors: Some(12),
            pending_sectors: Some(8),
            ..WearFacts::default()
        };
        expect![[r#"
            /dev/sda            Samsung SSD 870 EVO 1TB (SVT01B6Q)
              Drive             serial S5Y2NX0R123456, 1.00 TB, sata
              State             failing: it says of itself that it fails: SMART attribute 5
                                is 3, its threshold 10; it failed 12 times to read or write
                                data; unreadable, waiting to be replaced: 8 sectors. Save
                                what it holds and replace it.
              Media errors      12
              Sectors           8 pending
        "#]]
        .assert_eq(&shown(wear, None));
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut asked = disk(None);
        (asked.model, asked.firmware) = (None, None);
        asked.wear_unknown = Some("run as root to ask it".into());
        expect![[r#"
            /dev/sda            model unknown
              Drive             serial S5Y2NX0R123456, 1.00 TB, sata
              State             unknown: run as root to ask it
        "#]]
        .assert_eq(&health_list(&[DriveHealth::of(&asked, None)]));
        assert_eq!(health_list(&[]), "no drive can be seen from here\n");
    }
}
