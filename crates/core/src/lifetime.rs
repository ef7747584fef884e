//! How long a drive lasts under a load: by what its maker promises, and by what its cells bear.

/// Days until `rated_bytes` of a promise (TBW) are written at `bytes_per_day` of the host; `None`
/// where nothing is written.
pub fn days_of_promise(rated_bytes: f64, bytes_per_day: f64) -> Option<f64> {
    (bytes_per_day > 0.0).then(|| rated_bytes / bytes_per_day)
}

/// The promise of a drive that counts this many percent of it as used after `written_bytes`; `None`
/// where nothing is used yet. It counts whole percents, so this is rough where they are few.
pub fn rated_from_wear(written_bytes: f64, used_percent: u32) -> Option<f64> {
    (used_percent > 0).then(|| written_bytes * 100.0 / f64::from(used_percent))
}

/// Days until all of `flash_bytes` was programmed `cycles` times, when each byte of the host costs
/// `write_amplification` bytes of flash and wear is even; `None` where nothing is written.
pub fn days_of_cells(
    flash_bytes: f64,
    cycles: f64,
    write_amplification: f64,
    bytes_per_day: f64,
) -> Option<f64> {
    days_of_promise(flash_bytes * cycles, write_amplification * bytes_per_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: f64 = 1e9;
    const TB: f64 = 1e12;

    #[test]
    fn a_promise_lasts_as_long_as_its_bytes() {
        // 600 TB of 1024 GB each, at 843 GB a day.
        let days = days_of_promise(600.0 * 1024.0 * GB, 843.0 * GB).unwrap();
        assert!((days - 728.8).abs() < 0.05, "{days}");
        // 2 TB a year.
        let days = days_of_promise(600.0 * TB, 2.0 * TB / 365.0).unwrap();
        assert!((days / 365.0 - 300.0).abs() < 1e-9, "{days}");
        assert_eq!(days_of_promise(600.0 * TB, 0.0), None);
    }

    #[test]
    fn wear_tells_of_the_promise() {
        assert_eq!(rated_from_wear(30.0 * TB, 5), Some(600.0 * TB));
        assert_eq!(rated_from_wear(30.0 * TB, 0), None);
    }

    #[test]
    fn cells_bear_less_where_bytes_are_written_more_than_once() {
        let days = |factor| days_of_cells(1.28 * TB, 1000.0, factor, 640.0 * GB).unwrap();
        assert!((days(1.0) - 2000.0).abs() < 1e-9);
        assert!((days(2.5) - 800.0).abs() < 1e-9);
    }
}
