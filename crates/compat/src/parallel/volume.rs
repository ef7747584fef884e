//! The file system as IOR and mdtest print it.

use drivelab_core::facts::TargetFacts;

const GIBIBYTE: f64 = (1u64 << 30) as f64;
const TEBIBYTE: f64 = (1u64 << 40) as f64;

/// `252.0 GiB   Used FS: 6.6%   Inodes: unknown   Used Inodes: unknown`: what is known of the file
/// system, without the inodes, which nobody counted.
pub(crate) fn in_words(target: &TargetFacts) -> String {
    let (size, used) = figures(target);
    format!("{size}   Used FS: {used}   Inodes: unknown   Used Inodes: unknown")
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
        let mut reserved = known.clone();
        reserved.filesystem.as_mut().expect("one").unused_bytes = Some(126 << 30);
        assert_eq!(figures(&reserved).1, "50.0%", "what is kept for root is free");
        assert_eq!(figures(&of(Some(3 << 40), None)), ("3.0 TiB".into(), "unknown".into()));
        assert_eq!(figures(&of(Some(0), Some(0))), ("unknown".into(), "unknown".into()));
        assert_eq!(figures(&TargetFacts::default()), ("unknown".into(), "unknown".into()));
    }
}
