//! Long series without losing their spikes.

/// At most two points for each of `columns` equal parts of the horizontal range: the smallest and
/// the largest `y`, in the order in which they came. A short series comes back as it is. Points
/// that are not finite are left out.
pub fn min_max_per_column(points: &[(f64, f64)], columns: usize) -> Vec<(f64, f64)> {
    let finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let points: Vec<(f64, f64)> = points.iter().filter(finite).copied().collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return points };
    let columns = columns.max(1);
    if points.len() <= 2 * columns {
        return points;
    }
    let width = (last.0 - first.0).max(f64::MIN_POSITIVE) / columns as f64;
    let column = |point: &(f64, f64)| (((point.0 - first.0) / width) as usize).min(columns - 1);
    let mut kept = Vec::with_capacity(2 * columns);
    for part in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (part.iter().min_by(by_y), part.iter().max_by(by_y)) else {
            continue;
        };
        let mut pair = [*low, *high];
        pair.sort_by(|a, b| a.0.total_cmp(&b.0));
        kept.push(pair[0]);
        if pair[0] != pair[1] {
            kept.push(pair[1]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spike_survives() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 5.0)).collect();
        points[777].1 = 90.0;
        points[8_123].1 = -3.0;
        let kept = min_max_per_column(&points, 100);
        assert!(kept.len() <= 200);
        assert!(kept.contains(&(777.0, 90.0)));
        assert!(kept.contains(&(8_123.0, -3.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn a_short_series_is_kept_and_nan_is_not() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)];
        assert_eq!(min_max_per_column(&points, 10), [(0.0, 1.0), (2.0, 3.0)]);
        assert_eq!(min_max_per_column(&[], 10), []);
    }
}
