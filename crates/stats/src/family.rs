//! Many questions asked at once.

use crate::estimate::student_lower_tail;

/// p-values adjusted so that the chance of any false alarm in the family stays below the level
/// (Holm 1979), in the order of `p`. A missing value is no question, and stays missing.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p);
    let mut adjusted = vec![None; p.len()];
    let mut largest: f64 = 0.0;
    for (place, (index, value)) in order.iter().enumerate() {
        largest = largest.max(((order.len() - place) as f64 * value).min(1.0));
        adjusted[*index] = Some(largest);
    }
    adjusted
}

/// p-values adjusted so that the expected share of false alarms among the alarms stays below the
/// level (Benjamini and Hochberg 1995): to look around, never for a verdict.
pub fn benjamini_hochberg(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p);
    let mut adjusted = vec![None; p.len()];
    let mut least: f64 = 1.0;
    for (place, (index, value)) in order.iter().enumerate().rev() {
        least = least.min(order.len() as f64 / (place + 1) as f64 * value);
        adjusted[*index] = Some(least);
    }
    adjusted
}

fn ascending(p: &[Option<f64>]) -> Vec<(usize, f64)> {
    let mut order: Vec<(usize, f64)> =
        p.iter().enumerate().filter_map(|(index, value)| Some((index, (*value)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    order
}

/// How often the means of two samples of `n` values without a difference lie more than `bars`
/// standard deviations apart: the error of judging by error bars. With `bars` = 1, "differs by more
/// than the bar"; with 2, "the bars do not overlap".
pub fn false_alarms_of_error_bars(n: u64, bars: f64) -> f64 {
    let t = bars * (n as f64 / 2.0).sqrt();
    2.0 * student_lower_tail(-t, 2.0 * n as f64 - 2.0)
}

/// How likely at least one of `count` independent questions raises a false alarm, when each does
/// with `share`.
pub fn any_false_alarm(share: f64, count: u32) -> f64 {
    -libm::expm1(f64::from(count) * libm::log1p(-share))
}
