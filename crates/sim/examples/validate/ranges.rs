//! What a parameter may physically be, by the kind of drive, and where that is from.

use crate::page::Table;
use drivelab_sim::profile::{EMBEDDED, Model, Parameter, Profile, TomlValue};

/// What decides which range holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Flash with this many bits a cell.
    Bits(i64),
    /// Any flash.
    Flash,
    /// A disk with heads.
    Disk,
    /// A link of this name.
    Link(&'static str),
}

/// One range.
struct Range {
    parameter: &'static str,
    kind: Kind,
    least: f64,
    most: f64,
    source: &'static str,
}

const fn range(
    parameter: &'static str,
    kind: Kind,
    least: f64,
    most: f64,
    source: &'static str,
) -> Range {
    Range { parameter, kind, least, most, source }
}

use Kind::{Bits, Disk, Flash, Link};

const HP: &str = "HP white paper on SLC, MLC and TLC NAND, table 1";

const RANGES: &[Range] = &[
    range(
        "read_ns",
        Bits(1),
        20e3,
        30e3,
        "SSDSim 20 µs; Agrawal and others, USENIX 2008, and HP 25 µs",
    ),
    range(
        "read_ns",
        Bits(2),
        40e3,
        75e3,
        "SimpleSSD 40 and 65 µs, Micron L95B in FEMU 48 and 64, HP 50, MQSim 75",
    ),
    range(
        "read_ns",
        Bits(3),
        40e3,
        106e3,
        "ISSCC 2019 to 2021 by AnandTech 16491: 40 to 58 µs; FEMU 56.5 to 106 by page",
    ),
    range("read_ns", Bits(4), 59e3, 170e3, "FEMU, nand.h (its authors extrapolate)"),
    range("program_ns", Bits(1), 200e3, 300e3, HP),
    range(
        "program_ns",
        Bits(2),
        600e3,
        1575e3,
        "HP 600 to 900 µs; mean of a fast and a slow page: SimpleSSD 900, \
         Micron L95B (850 and 2300) 1575",
    ),
    range(
        "program_ns",
        Bits(3),
        800e3,
        5734e3,
        "one shot of three pages, ISSCC by AnandTech 16491: 1.07 to 1.73 ms, HP \
         0.9 to 1.35; FEMU 0.82 to 5.73 by page",
    ),
    range(
        "program_ns",
        Bits(4),
        860e3,
        36_800e3,
        "FEMU, nand.h: 0.86 to 9.2 ms a page, four of them in one go",
    ),
    range(
        "slc_program_ns",
        Flash,
        100e3,
        300e3,
        "dense cells with one bit: SLC of HP, and half of that, as \
         NVMeVirt's fit of a fast drive (185 µs of two bits) needs",
    ),
    range("erase_ns", Bits(1), 1.5e6, 2e6, HP),
    range("erase_ns", Bits(2), 1.5e6, 4e6, "HP 3 ms, SimpleSSD 3.5, MQSim 3.8"),
    range(
        "erase_ns",
        Bits(3),
        3e6,
        10e6,
        "FEMU 3 ms, HP 4.5; no ISSCC paper prints it, the upper end is an estimate",
    ),
    range("erase_ns", Bits(4), 3e6, 10e6, "FEMU 3 ms; the upper end is an estimate"),
    range(
        "channel_bytes_per_s",
        Flash,
        40e6,
        2.4e9,
        "from one byte in 25 ns (2008) to ONFI 5.0, 2400 MT/s",
    ),
    range("endurance_cycles", Bits(1), 50e3, 100e3, "HP: 100,000; half of that was promised too"),
    range("endurance_cycles", Bits(2), 3e3, 10e3, "HP 3000 to 5000; 10,000 about 2009"),
    range(
        "endurance_cycles",
        Bits(3),
        1e3,
        10e3,
        "HP 1000 to 3000 for planar cells; three-dimensional ones for \
         servers are sold for up to 10,000",
    ),
    range("endurance_cycles", Bits(4), 100.0, 1e3, "an estimate of its years"),
    range(
        "suspend_ns",
        Flash,
        5e3,
        100e3,
        "MQSim: 100 µs for a program that is suspended; the lower end is an estimate",
    ),
    range("rotation_rpm", Disk, 4200.0, 15e3, "what disks are sold with"),
    range(
        "seek_average_ns",
        Disk,
        2.5e6,
        15e6,
        "manuals of Ultrastar 15K450 (3.3 ms), Savvio 10K.4 (3.8); disks of laptops 10 to 14",
    ),
    range("outer_bytes_per_s", Disk, 30e6, 300e6, "manuals and reviews of 2004 to 2024"),
    range(
        "link_bytes_per_s",
        Link("SATA 1.5 Gb/s"),
        75e6,
        150e6,
        "8b/10b coding; at least half of it",
    ),
    range("link_bytes_per_s", Link("SATA 3 Gb/s"), 150e6, 300e6, "the same"),
    range("link_bytes_per_s", Link("SATA 6 Gb/s"), 300e6, 600e6, "the same"),
    range(
        "link_bytes_per_s",
        Link("PCIe 3.0 x4"),
        1.97e9,
        3.94e9,
        "128b/130b coding, 985 MB/s a lane; at least half of it",
    ),
    range("link_bytes_per_s", Link("PCIe 3.0 x8"), 3.94e9, 7.88e9, "the same"),
    range(
        "link_bytes_per_s",
        Link("PCIe 4.0 x4"),
        3.94e9,
        7.88e9,
        "1969 MB/s a lane; at least half of it",
    ),
];

/// The link of each flash drive or disk that is a drive of its own.
const LINKS: &[(&str, &str)] = &[
    ("x25-e", "SATA 3 Gb/s"),
    ("x25-m", "SATA 3 Gb/s"),
    ("ocz-core", "SATA 3 Gb/s"),
    ("samsung-slc", "SATA 3 Gb/s"),
    ("pqi", "SATA 3 Gb/s"),
    ("zhou-intel", "SATA 3 Gb/s"),
    ("zhou-ocz", "SATA 3 Gb/s"),
    ("zhou-hdd", "SATA 3 Gb/s"),
    ("momentus-7200", "SATA 1.5 Gb/s"),
    ("sata-mlc", "SATA 6 Gb/s"),
    ("pblaze5-c916", "PCIe 3.0 x8"),
    ("nvme-tlc", "PCIe 4.0 x4"),
    ("nvme-qlc", "PCIe 3.0 x4"),
];

/// Bits a cell of drives whose profile does not say it.
const CELLS: &[(&str, i64)] = &[
    ("x25-e", 1),
    ("x25-m", 2),
    ("ocz-core", 2),
    ("samsung-slc", 1),
    ("pqi", 1),
    ("zhou-intel", 2),
    ("zhou-ocz", 2),
];

/// No drive, and meant to be beyond any: theory holds where nothing but the map costs time.
const NO_DRIVE: &str = "textbook";

fn is_flash(profile: &Profile) -> bool {
    matches!(profile.model, Model::Flash | Model::LogBlock | Model::BlockMap)
}

fn bits(profile: &Profile) -> Option<i64> {
    let listed = CELLS.iter().find(|(name, _)| *name == profile.name);
    let told = profile.get("bits_per_cell").and_then(TomlValue::as_integer);
    told.or(listed.map(|(_, bits)| *bits))
}

fn is_meant(range: &Range, profile: &Profile) -> bool {
    match range.kind {
        Bits(count) => is_flash(profile) && bits(profile) == Some(count),
        Flash => is_flash(profile),
        Disk => !is_flash(profile),
        Link(link) => LINKS.contains(&(profile.name.as_str(), link)),
    }
}

fn number_of(parameter: &Parameter) -> Option<f64> {
    let value = &parameter.value;
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// A sentence for each parameter that no such drive can have; 0 is "it has none".
fn complaints(profile: &Profile) -> Vec<String> {
    let mut wrong = Vec::new();
    if profile.name == NO_DRIVE {
        return wrong;
    }
    for range in RANGES.iter().filter(|range| is_meant(range, profile)) {
        let sections = profile.sections.values();
        let found = sections.filter_map(|section| number_of(section.get(range.parameter)?));
        for value in found.filter(|value| *value != 0.0) {
            if !(range.least..=range.most).contains(&value) {
                wrong.push(format!(
                    "{}: {} is {value}, and between {} and {} is possible ({})",
                    profile.name, range.parameter, range.least, range.most, range.source
                ));
            }
        }
    }
    wrong
}

/// The ranges, and what lies outside.
pub fn section() -> Result<String, String> {
    let mut table = Table::new(&["parameter", "of", "least", "most", "source"]);
    for range in RANGES {
        let kind = match range.kind {
            Bits(bits) => ["SLC", "MLC", "TLC", "QLC"][bits as usize - 1].to_owned(),
            Flash => "flash".to_owned(),
            Disk => "disks".to_owned(),
            Link(link) => link.to_owned(),
        };
        table.row(&[
            format!("`{}`", range.parameter),
            kind,
            worded(range.parameter, range.least),
            worded(range.parameter, range.most),
            range.source.to_owned(),
        ]);
    }
    let mut outside = Vec::new();
    for (name, _) in EMBEDDED {
        outside.extend(complaints(&Profile::embedded(name)?));
    }
    let outside = match outside.is_empty() {
        true => "No parameter of a profile lies outside.".to_owned(),
        false => format!("Outside: {}.", outside.join("; ")),
    };
    Ok(format!(
        "### What a parameter may be\n\nA test refuses a profile with a parameter outside its \
         range, fitted or not; `{NO_DRIVE}` is not a real drive and is left out. No source gives \
         a range for the time of firmware or of a command. {outside}\n\n{}",
        table.text()
    ))
}

fn worded(parameter: &str, value: f64) -> String {
    let (unit, by) = match parameter {
        name if name.ends_with("_bytes_per_s") => ("MB/s", 1e6),
        name if name.ends_with("_ns") && value >= 1e6 => ("ms", 1e6),
        name if name.ends_with("_ns") => ("µs", 1e3),
        "rotation_rpm" => ("turns a minute", 1.0),
        _ => ("", 1.0),
    };
    format!("{} {unit}", value / by).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_parameter_of_a_profile_lies_outside_what_is_possible() {
        let all =
            EMBEDDED.iter().flat_map(|(name, _)| complaints(&Profile::embedded(name).unwrap()));
        assert_eq!(all.collect::<Vec<_>>(), [] as [String; 0]);
    }

    #[test]
    fn a_parameter_that_no_such_drive_can_have_is_refused() {
        let with = |name: &str, key: &str, value: i64| {
            let mut profile = Profile::embedded(name).unwrap();
            profile.set(key, TomlValue::Integer(value)).unwrap();
            complaints(&profile)
        };
        let slow = with("x25-e", "program_ns", 900_000);
        assert!(slow[0].starts_with("x25-e: program_ns is 900000"), "{slow:?}");
        assert_eq!(with("ocz-core", "program_ns", 250_000).len(), 1, "SLC in a drive of MLC");
        assert_eq!(with("pblaze5-c916", "link_bytes_per_s", 3_500_000_000).len(), 1);
        assert_eq!(with("momentus-7200", "rotation_rpm", 20_000).len(), 1);
        assert_eq!(with("x25-e", "program_ns", 300_000), [] as [String; 0]);
    }

    #[test]
    fn every_drive_has_its_link_and_its_cells() {
        for (name, _) in EMBEDDED.iter().filter(|(name, _)| *name != NO_DRIVE) {
            let profile = Profile::embedded(name).unwrap();
            let is_own = !matches!(profile.model, Model::Array | Model::Volume);
            let is_listed = LINKS.iter().any(|(listed, _)| listed == name);
            assert_eq!(is_own, is_listed, "{name}");
            assert_eq!(is_flash(&profile), bits(&profile).is_some(), "{name}");
        }
    }
}
