//! Tests and intervals that shuffle or redraw the data themselves.

use crate::data::{NoAnswer, average, binomial_coefficient, enough, possible};
use crate::descriptive::quantile_sorted;
use crate::estimate::{normal_lower_tail, normal_quantile};
use crate::random::Random;

/// Splits up to which all are looked at.
const EXACT_SPLITS_MAX: f64 = 200_000.0;
/// Splits drawn where there are more.
const DRAWS: u64 = 100_000;

/// A permutation test of two samples (Fisher 1935).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PermutationTest {
    /// Mean of `y` less mean of `x`.
    pub difference: f64,
    /// Splits whose means differ by as much or more.
    pub as_large: u64,
    /// Splits that were looked at.
    pub splits: u64,
    /// Whether those were all there are.
    pub is_exact: bool,
}

impl PermutationTest {
    /// The two-sided p-value, never 0: drawn splits count the observed one too.
    pub fn p(&self) -> f64 {
        match self.is_exact {
            true => possible(self.as_large as f64 / self.splits as f64),
            false => (self.as_large as f64 + 1.0) / (self.splits as f64 + 1.0),
        }
    }
}

/// The least p-value that a permutation test of this many values can give. Three against three can
/// never be significant at 5 %.
pub fn least_permutation_p(nx: usize, ny: usize) -> f64 {
    let both = if nx == ny { 2.0 } else { 1.0 };
    (both / binomial_coefficient(nx + ny, nx)).min(1.0)
}

/// Tests whether the means of `x` and `y` differ: over all splits of the data where these are at
/// most 200,000, else over 100,000 drawn from `seed`.
///
/// # Errors
/// An empty sample or a value that is not finite.
pub fn permutation_test(x: &[f64], y: &[f64], seed: u64) -> Result<PermutationTest, NoAnswer> {
    enough(x, 1)?;
    enough(y, 1)?;
    let pool = [x, y].concat();
    let difference = average(y) - average(x);
    let total: f64 = pool.iter().sum();
    let (nx, ny) = (x.len() as f64, y.len() as f64);
    let scale = pool.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    // Sums in another order differ by rounding.
    let least = difference.abs() - 64.0 * f64::EPSILON * scale;
    // The smaller side is drawn, the other is what remains.
    let draws_y = y.len() <= x.len();
    let is_as_large = |drawn: f64| {
        let sum_y = if draws_y { drawn } else { total - drawn };
        (sum_y / ny - (total - sum_y) / nx).abs() >= least
    };
    let smaller = x.len().min(y.len());
    let is_exact = binomial_coefficient(pool.len(), x.len()) <= EXACT_SPLITS_MAX;
    let (as_large, splits) = match is_exact {
        true => all_splits(&pool, smaller, is_as_large),
        false => drawn_splits(&pool, smaller, seed, is_as_large),
    };
    Ok(PermutationTest { difference, as_large, splits, is_exact })
}

/// Goes through all choices of `count` values; returns how many sums satisfy `counts`, and how many
/// choices there are.
fn all_splits(pool: &[f64], count: usize, counts: impl Fn(f64) -> bool) -> (u64, u64) {
    let mut chosen: Vec<usize> = (0..count).collect();
    let (mut found, mut splits) = (0, 0);
    loop {
        splits += 1;
        found += u64::from(counts(chosen.iter().map(|index| pool[*index]).sum()));
        // The next choice in lexicographic order.
        let movable = (0..count).rev().find(|place| chosen[*place] < pool.len() - count + place);
        let Some(place) = movable else { return (found, splits) };
        chosen[place] += 1;
        for later in place + 1..count {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

fn drawn_splits(pool: &[f64], count: usize, seed: u64, counts: impl Fn(f64) -> bool) -> (u64, u64) {
    let (mut random, mut pool, mut found) = (Random::new(seed), pool.to_vec(), 0);
    for _ in 0..DRAWS {
        for place in 0..count {
            let other = place + random.below((pool.len() - place) as u64) as usize;
            pool.swap(place, other);
        }
        found += u64::from(counts(pool[..count].iter().sum()));
    }
    (found, DRAWS)
}

/// The interval of `statistic(x runs, y runs)` by redrawing whole runs: each run is one cluster of
/// values that belong together (Davison and Hinkley 1997, §3.8). Bias-corrected and accelerated
/// (Efron 1987). Fewer than eight runs a side are too few for more than a hint.
///
/// # Errors
/// Fewer than two runs a side, a value that is not finite, or a statistic that does not vary.
pub fn cluster_bootstrap(
    x: &[Vec<f64>],
    y: &[Vec<f64>],
    statistic: impl Fn(&[f64], &[f64]) -> f64,
    (draws, level, seed): (usize, f64, u64),
) -> Result<(f64, f64), NoAnswer> {
    for side in [x, y] {
        if side.len() < 2 {
            return Err(NoAnswer::TooFew { needed: 2, got: side.len() });
        }
        side.iter().try_for_each(|run| enough(run, 1))?;
    }
    let of = |x: &[&Vec<f64>], y: &[&Vec<f64>]| {
        let flat = |runs: &[&Vec<f64>]| -> Vec<f64> {
            runs.iter().flat_map(|run| run.iter().copied()).collect()
        };
        statistic(&flat(x), &flat(y))
    };
    let (all_x, all_y): (Vec<_>, Vec<_>) = (x.iter().collect(), y.iter().collect());
    let observed = of(&all_x, &all_y);
    let mut random = Random::new(seed);
    let mut drawn: Vec<f64> = (0..draws)
        .map(|_| of(&redraw(&all_x, &mut random), &redraw(&all_y, &mut random)))
        .collect();
    drawn.sort_by(f64::total_cmp);
    if !observed.is_finite() || drawn.iter().any(|value| !value.is_finite()) {
        return Err(NoAnswer::NotFinite);
    }
    if drawn.first() == drawn.last() {
        return Err(NoAnswer::Constant);
    }
    let left_out: Vec<f64> = (0..x.len())
        .map(|index| of(&without(&all_x, index), &all_y))
        .chain((0..y.len()).map(|index| of(&all_x, &without(&all_y, index))))
        .collect();
    let acceleration = acceleration(&left_out);
    // Ties count half.
    let below = drawn.partition_point(|value| *value < observed);
    let tied = drawn.partition_point(|value| *value <= observed) - below;
    let share = (below as f64 + tied as f64 / 2.0) / draws as f64;
    let bias = normal_quantile(share.clamp(0.5 / draws as f64, 1.0 - 0.5 / draws as f64));
    let end = |tail: f64| {
        let z = bias + normal_quantile(tail);
        let corrected = bias + z / (1.0 - acceleration * z);
        quantile_sorted(&drawn, normal_lower_tail(corrected))
    };
    let tail = (1.0 - level) / 2.0;
    Ok((end(tail), end(1.0 - tail)))
}

fn redraw<'a>(runs: &[&'a Vec<f64>], random: &mut Random) -> Vec<&'a Vec<f64>> {
    runs.iter().map(|_| runs[random.below(runs.len() as u64) as usize]).collect()
}

fn without<'a>(runs: &[&'a Vec<f64>], index: usize) -> Vec<&'a Vec<f64>> {
    let kept = runs.iter().enumerate().filter(|(place, _)| *place != index);
    kept.map(|(_, run)| *run).collect()
}

/// Efron's acceleration from the statistics without each run.
fn acceleration(left_out: &[f64]) -> f64 {
    let mean = average(left_out);
    let power = |n: i32| left_out.iter().map(|value| (mean - value).powi(n)).sum::<f64>();
    let squares = power(2);
    if squares > 0.0 { power(3) / (6.0 * squares.powf(1.5)) } else { 0.0 }
}
