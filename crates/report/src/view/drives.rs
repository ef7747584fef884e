//! What the drives counted of themselves while a run went on.

use drivelab_core::facts::ErrorEntry;
use drivelab_core::health_change::HealthChange;

use crate::units;
use crate::view::facts::Group;

/// Places of a ratio at most.
const PLACES_MAX: i32 = 5;

/// What one drive counted, row by row.
pub(crate) fn counted(change: &HealthChange) -> Group {
    let written = change.written_bytes.map(|bytes| {
        let unit = change.written_unit_bytes.filter(|unit| *unit > 1);
        let unit = unit.map(|unit| format!(", in units of {}", units::capacity(unit)));
        format!("{}{}", amount(change.written_unit_bytes, bytes), unit.unwrap_or_default())
    });
    let flash = change.flash_written_bytes.map(|bytes| {
        let source = change.flash_written_from.iter();
        let source: String = source.map(|source| format!(" ({source})")).collect();
        format!("{}{source}", amount(change.flash_written_unit_bytes, bytes))
    });
    let used = change.used_percent.map(|(before, after)| match before == after {
        true => format!("{after} % used"),
        false => format!("{before} % used before, {after} % after"),
    });
    let rows = [
        ("written by hosts", written),
        ("sent by this kernel", change.kernel_written_bytes.map(units::capacity)),
        ("read by hosts", change.read_bytes.map(|bytes| amount(change.written_unit_bytes, bytes))),
        ("written to flash", flash),
        ("write amplification", amplification(change)),
        ("temperature", change.temperature_c.map(degrees)),
        ("rated endurance", used),
    ];
    let mut rows: Vec<(&'static str, String)> =
        rows.into_iter().filter_map(|(name, words)| Some((name, words?))).collect();
    rows.extend(change.events.iter().map(|event| ("event", event.text.clone())));
    let error =
        |entry: &ErrorEntry| ("noted", format!("error {}: {}", entry.number, entry.words()));
    rows.extend(change.errors.iter().map(error));
    (format!("{} by its own count", change.device), rows)
}

/// The same in a sentence; `None` where it counts nothing that is told here.
pub(crate) fn sentence(change: &HealthChange) -> Option<String> {
    let flash = change.flash_written_bytes;
    let amounts = [
        change
            .written_bytes
            .map(|bytes| format!("{} written", amount(change.written_unit_bytes, bytes))),
        change.read_bytes.map(|bytes| format!("{} read", amount(change.written_unit_bytes, bytes))),
        flash.map(|bytes| {
            format!("{} to its flash", amount(change.flash_written_unit_bytes, bytes))
        }),
        amplification(change).map(|words| format!("write amplification {words}")),
        change.temperature_c.map(degrees),
    ];
    let events = change.events.iter().map(|event| format!("it {}", event.text));
    let parts: Vec<String> = amounts.into_iter().flatten().chain(events).collect();
    (!parts.is_empty()).then(|| format!("{}: {}", change.device, parts.join("; ")))
}

/// What was moved; less than one unit of a counter shows in it as nothing.
fn amount(unit_bytes: Option<u64>, bytes: u64) -> String {
    match unit_bytes {
        Some(unit) if bytes == 0 && unit > 1 => format!("under {}", units::capacity(unit)),
        _ => units::capacity(bytes),
    }
}

fn amplification(change: &HealthChange) -> Option<String> {
    if let Some(found) = change.write_amplification {
        // As many places as the interval needs to be seen.
        let is_seen = |places: &i32| found.high - found.low >= 10f64.powi(-places);
        let places = (2..PLACES_MAX).find(is_seen).unwrap_or(PLACES_MAX) as usize;
        let words = |ratio: f64| format!("{ratio:.places$}");
        let [value, low, high] = [found.value, found.low, found.high].map(words);
        return Some(format!("{value} [{low}, {high}]"));
    }
    // A counter that stands still tells no more than one that is too coarse.
    let is_counted = change.flash_written_bytes.is_some() && change.written_bytes.is_some();
    is_counted.then(|| "unknown: its counters moved too little".to_owned())
}

fn degrees((before, after): (i32, i32)) -> String {
    match before == after {
        true => format!("{after} °C"),
        false => format!("{before} °C before, {after} °C after"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::health_change::{HealthEvent, WriteAmplification};

    fn change() -> HealthChange {
        HealthChange {
            device: "nvme0n1".into(),
            written_bytes: Some(51_200_000),
            written_unit_bytes: Some(512_000),
            temperature_c: Some((41, 63)),
            ..HealthChange::default()
        }
    }

    #[test]
    fn a_drive_that_counts_its_flash_has_an_amplification_or_a_reason() {
        let counts = HealthChange { flash_written_bytes: Some(60_000_000), ..change() };
        let words = "nvme0n1: 51.2 MB written; 60.0 MB to its flash; write amplification unknown: \
                     its counters moved too little; 41 °C before, 63 °C after";
        assert_eq!(sentence(&counts).unwrap(), words);
        let found = WriteAmplification { value: 1.172, low: 1.16, high: 1.18 };
        let told = HealthChange { write_amplification: Some(found), ..counts };
        let coarse = Some(32 << 20);
        let still = HealthChange {
            flash_written_bytes: Some(0),
            flash_written_unit_bytes: coarse,
            ..change()
        };
        let words = "51.2 MB written; under 33.6 MB to its flash; write amplification unknown: its";
        assert!(sentence(&still).unwrap().contains(words), "{:?}", sentence(&still));
        let (title, rows) = counted(&told);
        assert_eq!(title, "nvme0n1 by its own count");
        assert!(rows.contains(&("write amplification", "1.17 [1.16, 1.18]".into())), "{rows:?}");
        let narrow = WriteAmplification { value: 1.1722, low: 1.1719, high: 1.1725 };
        let told = HealthChange { write_amplification: Some(narrow), ..told };
        assert!(
            sentence(&told).unwrap().contains("1.1722 [1.1719, 1.1725]"),
            "ends are told apart"
        );
        assert!(rows.contains(&("written by hosts", "51.2 MB, in units of 512 kB".into())));
        let status = "an internal error".to_owned();
        let entry = ErrorEntry { number: 9, status_code: 6, status, ..ErrorEntry::default() };
        let kernel_written_bytes = Some(51_000_000);
        let noted = HealthChange { errors: vec![entry], kernel_written_bytes, ..change() };
        let (_, rows) = counted(&noted);
        assert!(rows.contains(&("noted", "error 9: an internal error (006h)".into())), "{rows:?}");
        assert!(rows.contains(&("sent by this kernel", "51.0 MB".into())), "{rows:?}");
    }

    #[test]
    fn one_that_does_not_count_its_flash_says_nothing_of_it() {
        assert_eq!(
            sentence(&change()).unwrap(),
            "nvme0n1: 51.2 MB written; 41 °C before, 63 °C after"
        );
        let little = HealthChange { read_bytes: Some(0), written_bytes: Some(0), ..change() };
        let words = "nvme0n1: under 512 kB written; under 512 kB read; 41 °C before, 63 °C after";
        assert_eq!(sentence(&little).unwrap(), words, "172 kB are no unit");
        assert_eq!(sentence(&HealthChange::default()), None);
        let event = HealthEvent {
            code: "media_errors".into(),
            text: "failed once to read or write data".into(),
            is_suspicious: true,
        };
        let failed = HealthChange { events: vec![event], ..HealthChange::default() };
        assert_eq!(sentence(&failed).unwrap(), ": it failed once to read or write data");
    }
}
