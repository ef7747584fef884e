//! What an NVMe drive says of a namespace, in rows.

use drivelab_core::facts::{Apst, BlockFormat, NvmeFacts};

use crate::units;

/// A name and what is known under it.
type Row = (&'static str, String);

/// What is known; what is not has no row.
pub(crate) fn rows(nvme: &NvmeFacts) -> Vec<Row> {
    let names = [("EUI-64", &nvme.eui64), ("NGUID", &nvme.nguid), ("UUID", &nvme.uuid)];
    let names: Vec<String> = names
        .into_iter()
        .filter_map(|(kind, name)| Some(format!("{kind} {}", name.as_ref()?)))
        .collect();
    let formats: Vec<String> = nvme.block_formats.iter().map(format_words).collect();
    let protection = nvme.protection_type.map(|kind| match kind {
        0 => "none".to_owned(),
        kind => format!("type {kind}"),
    });
    let atomic = nvme.atomic_writes.map(|atomic| {
        let (all, kept) = (units::size(atomic.write_bytes), atomic.power_fail_write_bytes);
        format!("{all}, {} when power is lost", units::size(kept))
    });
    let yes_no = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
    let rows = [
        ("identifiers", Some(names.join(", "))),
        ("block formats", Some(formats.join("; "))),
        ("protected blocks", protection),
        ("atomic write", atomic),
        ("sleeps by itself", nvme.apst.map(sleeps)),
        ("places data (FDP)", nvme.places_data.map(yes_no)),
        ("emptied by", nvme.purges.as_deref().map(purges)),
    ];
    let told =
        |(name, words): (_, Option<String>)| Some((name, words.filter(|it| !it.is_empty())?));
    rows.into_iter().filter_map(told).collect()
}

/// What `--purge` takes for it, but for `discard`.
fn purges(known: &[String]) -> String {
    if known.is_empty() { "discard only".to_owned() } else { known.join(", ") }
}

fn sleeps(apst: Apst) -> String {
    match apst {
        Apst::On => "yes (APST)",
        Apst::Off => "no, APST is turned off",
        Apst::Absent => "no, it has no APST",
    }
    .to_owned()
}

/// `1: 4096 + 8 bytes (best, in use)`.
fn format_words(format: &BlockFormat) -> String {
    let metadata = match format.metadata_bytes {
        0 => String::new(),
        bytes => format!(" + {bytes}"),
    };
    let in_use = if format.is_in_use { ", in use" } else { "" };
    let (number, bytes) = (format.number, format.data_bytes);
    format!("{number}: {bytes}{metadata} bytes ({}{in_use})", format.performance.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::{AtomicWrites, Performance};

    #[test]
    fn what_the_drive_says_of_a_namespace_has_a_row_each() {
        let format = |number, metadata_bytes, is_in_use| BlockFormat {
            number,
            data_bytes: 4096,
            metadata_bytes,
            performance: Performance::Best,
            is_in_use,
        };
        let nvme = NvmeFacts {
            eui64: Some("dead000000000001".into()),
            uuid: Some("5c1f".into()),
            block_formats: vec![format(0, 0, true), format(3, 8, false)],
            protection_type: Some(0),
            atomic_writes: Some(AtomicWrites {
                write_bytes: 65_536,
                power_fail_write_bytes: 4096,
                ..AtomicWrites::default()
            }),
            apst: Some(Apst::Off),
            places_data: Some(false),
            purges: Some(vec!["nvme-format".into(), "nvme-sanitize".into()]),
            ..NvmeFacts::default()
        };
        let expected = [
            ("identifiers", "EUI-64 dead000000000001, UUID 5c1f"),
            ("block formats", "0: 4096 bytes (best, in use); 3: 4096 + 8 bytes (best)"),
            ("protected blocks", "none"),
            ("atomic write", "64 KiB, 4 KiB when power is lost"),
            ("sleeps by itself", "no, APST is turned off"),
            ("places data (FDP)", "no"),
            ("emptied by", "nvme-format, nvme-sanitize"),
        ];
        assert_eq!(rows(&nvme), expected.map(|(name, words)| (name, words.to_owned())));
        for (apst, words) in [(Apst::On, "yes (APST)"), (Apst::Absent, "no, it has no APST")] {
            let told = NvmeFacts { apst: Some(apst), ..NvmeFacts::default() };
            assert_eq!(rows(&told), [("sleeps by itself", words.to_owned())]);
        }
        let protected = NvmeFacts { protection_type: Some(2), ..NvmeFacts::default() };
        assert_eq!(rows(&protected), [("protected blocks", "type 2".to_owned())]);
    }
}
