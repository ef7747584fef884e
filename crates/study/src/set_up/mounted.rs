//! Discard and mount options, and what they do to a measurement.

use super::check;
use drivelab_core::facts::{DeviceFacts, FilesystemFacts};
use drivelab_core::fitness::{Check, Severity};

/// Options, how much they matter to a measurement, and why. An option with a value is named with
/// its `=`; then every value counts unless it is here.
const OPTIONS: [(&str, Severity, &str); 17] = [
    ("noatime", Severity::Fine, "reads write nothing"),
    ("relatime", Severity::Fine, "a file's first read in a day writes its time of access"),
    ("strictatime", Severity::Warning, "each read writes a time of access"),
    ("lazytime", Severity::Fine, "times are written late"),
    ("discard", Severity::Warning, "trims are sent while files are deleted and are measured too"),
    ("discard=async", Severity::Note, "trims are sent in the background, at any time"),
    ("nobarrier", Severity::Warning, "fsync does not flush the drive's cache: fast and not safe"),
    ("barrier=0", Severity::Warning, "fsync does not flush the drive's cache: fast and not safe"),
    ("data=journal", Severity::Warning, "all data are written twice, and direct I/O is not direct"),
    ("data=writeback", Severity::Note, "metadata may be on the drive before its data"),
    ("data=ordered", Severity::Fine, "data are on the drive before their metadata"),
    ("sync", Severity::Warning, "each write waits until it is durable"),
    ("dirsync", Severity::Note, "each change of a directory waits until it is durable"),
    ("commit=", Severity::Note, "the journal is written at this interval in seconds"),
    ("logbsize=", Severity::Note, "bytes of the log written at once"),
    ("stripe=", Severity::Note, "the allocator's hint, in blocks"),
    ("compress", Severity::Warning, "less is written than was asked for"),
];

/// The options in use that a measurement feels.
pub fn options(filesystem: &FilesystemFacts) -> Check {
    let given: Vec<&str> = filesystem.options.split(',').collect();
    let known = |option: &&str| {
        OPTIONS.iter().find(|(name, _, _)| match name.strip_suffix('=') {
            Some(key) => option.split_once('=').is_some_and(|(known, _)| known == key),
            None => name == option || (*name == "compress" && option.starts_with("compress")),
        })
    };
    let mut worst = Severity::Fine;
    let mut told: Vec<String> = Vec::new();
    for option in &given {
        let Some((_, severity, why)) = known(option) else { continue };
        let text = format!("{option} ({why})");
        if !told.contains(&text) {
            told.push(text);
        }
        worst = if *severity == Severity::Warning || worst == Severity::Fine {
            *severity
        } else {
            worst
        };
    }
    let found = match told.is_empty() {
        true => "none that affects a measurement".to_owned(),
        false => told.join("; "),
    };
    let advice = match worst {
        Severity::Warning => {
            "State it with every figure, or mount without it to measure the drive."
        }
        _ => "",
    };
    check("mount options", worst, found, advice)
}

/// Whether the drive is told what was deleted, and when.
pub fn discard(device: &DeviceFacts, filesystem: Option<&FilesystemFacts>) -> Check {
    let name = "discard";
    let mounts = filesystem.is_some_and(|found| {
        found.options.split(',').any(|option| option == "discard" || option == "discard=async")
    });
    match device.discard_max_bytes {
        None => check(name, Severity::Unknown, "the kernel does not show it".into(), ""),
        Some(0) => check(
            name,
            Severity::Note,
            format!(
                "{} takes none: neither fstrim nor the mount option does anything",
                device.name
            ),
            "A flash drive below it never learns what was deleted, and ages faster.",
        ),
        Some(_) if mounts => check(
            name,
            Severity::Note,
            format!("{} takes it, and the mount option sends it with each deletion", device.name),
            "fstrim.timer sends it once a week instead, when nothing is measured.",
        ),
        Some(_) => check(
            name,
            Severity::Note,
            format!("{} takes it; no mount option sends it", device.name),
            "fstrim.timer should (systemctl status fstrim.timer), and not while you measure.",
        ),
    }
}
