//! The file system as IOR and mdtest print it.

use drivelab_core::facts::TargetFacts;

const GIBIBYTE: f64 = (1u64 << 30) as f64;
const MEBI: f64 = (1u64 << 20) as f64;
const TEBIBYTE: f64 = (1u64 << 40) as f64;

/// What is printed where there is no file system.
pub(crate) const NOTHING: &str = "0.0 GiB   Used FS: 0.0%   Inodes: 0.0 Mi   Used Inodes: 0.0%";

/// The same in parts: size and share in use, inodes and share in use.
pub(crate) fn nothing() -> ((String, String), (String, String)) {
    (("0.0 GiB".into(), "0.0%".into()), ("0.0 Mi".into(), "0.0%".into()))
}

/// `252.0 GiB   Used FS: 6.6%   Inodes: 16.0 Mi   Used Inodes: 2.5%`: what is known of the file
/// system.
pub(crate) fn in_words(target: &TargetFacts) -> String {
    let (size, used) = figures(target);
    let (inodes, used_inodes) = inodes(target);
    format!("{size}   Used FS: {used}   Inodes: {inodes}   Used Inodes: {used_inodes}")
}

/// Its inodes and the share in use; of one that makes them as it needs them both are unknown.
pub(crate) fn inodes(target: &TargetFacts) -> (String, String) {
    let known = target.filesystem.as_ref().and_then(|system| system.inodes);
    let Some((all, free)) = known.filter(|(all, _)| *all > 0) else {
        return ("unknown".into(), "unknown".into());
    };
    let used = 100.0 * (1.0 - free.min(all) as f64 / all as f64);
    (format!("{:.1} Mi", all as f64 / MEBI), format!("{used:.1}%"))
}

/// Its size and the share in use.
pub(crate) fn figures(target: &TargetFacts) -> (String, String) {
    let system = target.filesystem.as_ref();
    let total = system.and_then(|system| system.total_bytes).filter(|total| *total > 0);
    let size = total.map(|total| total as f64).map(|total| match total >= TEBIBYTE {
        true => format!("{:.1} TiB", total / TEBIBYTE),
        false => format!("{:.1} GiB", total / GIBIBYTE),
    });
    // What is kept for root is not in use.
    let free = system.and_then(|system| system.unused_bytes.or(system.free_bytes));
    let used = total.zip(free).map(|(total, free)| {
        format!("{:.1}%", 100.0 * (1.0 - free.min(total) as f64 / total as f64))
    });
    let unknown = || "unknown".to_owned();
    (size.unwrap_or_else(unknown), used.unwrap_or_else(unknown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::FilesystemFacts;

    #[test]
    fn the_file_system_is_shown_as_far_as_it_is_known() {
        let of = |total_bytes, free_bytes| TargetFacts {
            filesystem: Some(FilesystemFacts { total_bytes, free_bytes, ..Default::default() }),
            ..TargetFacts::default()
        };
        let known = of(Some(252 << 30), Some(189 << 30));
        assert_eq!(
            in_words(&known),
            "252.0 GiB   Used FS: 25.0%   Inodes: unknown   Used Inodes: unknown"
        );
        let mut counted = known.clone();
        counted.filesystem.as_mut().expect("one").inodes = Some((16 << 20, 12 << 20));
        let words = in_words(&counted);
        assert!(words.ends_with("Inodes: 16.0 Mi   Used Inodes: 25.0%"), "{words}");
        let mut reserved = known.clone();
        reserved.filesystem.as_mut().expect("one").unused_bytes = Some(126 << 30);
        assert_eq!(figures(&reserved).1, "50.0%", "what is kept for root is free");
        assert_eq!(figures(&of(Some(3 << 40), None)), ("3.0 TiB".into(), "unknown".into()));
        assert_eq!(figures(&of(Some(0), Some(0))), ("unknown".into(), "unknown".into()));
        assert_eq!(figures(&TargetFacts::default()), ("unknown".into(), "unknown".into()));
    }
}
