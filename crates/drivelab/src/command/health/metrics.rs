//! The health of drives as OpenMetrics text (OpenMetrics 1.0), for a node exporter.

use crate::live::{escaped, family};
use drivelab_core::facts::WearFacts;
use drivelab_core::well::{DriveHealth, State};
use std::fmt::Write as _;

/// Name, type, unit, help, and the value where a drive tells it.
type Family =
    (&'static str, &'static str, &'static str, &'static str, fn(&WearFacts) -> Option<f64>);

const FAMILIES: [Family; 17] = [
    ("used_ratio", "gauge", "ratio", "Rated endurance that is used", |it| {
        it.used_percent.map(|percent| f64::from(percent) / 100.0)
    }),
    ("spare_ratio", "gauge", "ratio", "Spare blocks that are left", |it| {
        it.spare_percent.map(|percent| f64::from(percent) / 100.0)
    }),
    ("written_bytes", "counter", "bytes", "Written by hosts", |it| number(it.written_bytes)),
    ("read_bytes", "counter", "bytes", "Read by hosts", |it| number(it.read_bytes)),
    ("power_on_seconds", "counter", "seconds", "Time under power", |it| {
        number(it.power_on_hours.map(|hours| hours.saturating_mul(3600)))
    }),
    ("temperature_celsius", "gauge", "celsius", "Temperature", |it| {
        it.temperature_c.map(f64::from)
    }),
    ("media_errors", "counter", "", "Times that it could not read or write data", |it| {
        number(it.media_errors)
    }),
    ("unsafe_shutdowns", "counter", "", "Times that power went away without notice", |it| {
        number(it.unsafe_shutdowns)
    }),
    ("reallocated_sectors", "gauge", "", "Sectors replaced by others", |it| {
        number(it.reallocated_sectors)
    }),
    ("pending_sectors", "gauge", "", "Unreadable sectors that wait to be replaced", |it| {
        number(it.pending_sectors)
    }),
    ("unreadable_sectors", "gauge", "", "Sectors that its own scan could not read", |it| {
        number(it.unreadable_sectors)
    }),
    ("damaged_transfers", "counter", "", "Transfers damaged on the cable", |it| {
        number(it.link_errors)
    }),
    ("flash_written_bytes", "counter", "bytes", "Written to its flash", |it| {
        number(it.flash_written_bytes)
    }),
    ("throttled_seconds", "counter", "seconds", "Time slowed down by its temperature", |it| {
        number(it.throttled_s)
    }),
    ("bad_blocks", "gauge", "", "Blocks of its flash that it gave up", |it| number(it.bad_blocks)),
    ("self_test_failed", "gauge", "", "1 where its last self-test found something wrong", |it| {
        it.self_test_failed.map(|failed| f64::from(u8::from(failed)))
    }),
    ("hot_seconds", "counter", "seconds", "Time above its critical temperature", |it| {
        number(it.hot_minutes.map(|minutes| 60 * u64::from(minutes)))
    }),
];

fn number(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}

/// All drives, and the end of the text.
pub fn text(drives: &[DriveHealth]) -> String {
    let mut text = String::new();
    let word = |value: &Option<String>| escaped(value.as_deref().unwrap_or("").trim());
    let labels = |drive: &DriveHealth| {
        let (name, serial) = (escaped(&drive.name), word(&drive.serial));
        format!("device=\"{name}\",serial=\"{serial}\"")
    };
    let help = "Always 1; what the drive calls itself";
    family(&mut text, "drivelab_drive", "info", "", help);
    for drive in drives {
        let (model, firmware) = (word(&drive.model), word(&drive.firmware));
        let more = format!("model=\"{model}\",firmware=\"{firmware}\"");
        let _ = writeln!(text, "drivelab_drive_info{{{},{more}}} 1", labels(drive));
    }
    let name = "drivelab_drive_warns";
    let help = "1 where the drive warns of itself, 0 where it does not; absent where unknown";
    family(&mut text, name, "gauge", "", help);
    for drive in drives.iter().filter(|drive| drive.state != State::Unknown) {
        let warns = u8::from(drive.state == State::Failing);
        let _ = writeln!(text, "{name}{{{}}} {warns}", labels(drive));
    }
    for (name, kind, unit, help, of) in FAMILIES {
        let name = format!("drivelab_drive_{name}");
        let told = |drive: &DriveHealth| Some((labels(drive), of(drive.wear.as_ref()?)?));
        let rows: Vec<(String, f64)> = drives.iter().filter_map(told).collect();
        if rows.is_empty() {
            continue;
        }
        family(&mut text, &name, kind, unit, help);
        let suffix = if kind == "counter" { "_total" } else { "" };
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{suffix}{{{labels}}} {value}");
        }
    }
    text + "# EOF\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::DeviceFacts;

    #[test]
    fn what_is_not_told_has_no_sample() {
        let wear = WearFacts {
            failing: Some(true),
            written_bytes: Some(5_000_000_000_000),
            temperature_c: Some(31),
            ..WearFacts::default()
        };
        let disk = DeviceFacts {
            name: "sda".into(),
            model: Some("A \"quoted\" drive".into()),
            serial: Some("S1".into()),
            wear: Some(wear),
            ..DeviceFacts::default()
        };
        let silent = DeviceFacts { name: "vda".into(), ..DeviceFacts::default() };
        let drives = [DriveHealth::of(&disk, None), DriveHealth::of(&silent, None)];
        let text = text(&drives);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with("# T")).collect();
        let has = |line: &str| assert!(samples.contains(&line), "{line} is not in {text}");
        let labels = "device=\"sda\",serial=\"S1\"";
        has(&format!(
            "drivelab_drive_info{{{labels},model=\"A \\\"quoted\\\" drive\",firmware=\"\"}} 1"
        ));
        has(&format!("drivelab_drive_warns{{{labels}}} 1"));
        has(&format!("drivelab_drive_written_bytes_total{{{labels}}} 5000000000000"));
        has(&format!("drivelab_drive_temperature_celsius{{{labels}}} 31"));
        assert!(!text.contains("drivelab_drive_warns{device=\"vda\""), "{text}");
        assert!(!text.contains("used_ratio") && text.ends_with("# EOF\n"), "{text}");
    }
}
