//! Estimates, batch means and supported percentiles against vectors and synthetic samples.

use drivelab_stats::{
    Estimate, Histogram, NoAnswer, Random, batch_means, batch_means_of_length, centred, centred_at,
    effective_sample_size_geyer, samples_needed, supported, supported_quantile,
};
use serde_json::Value;

fn vector(id: &str) -> Value {
    let vectors: Value =
        serde_json::from_str(include_str!("../data/statistics.json")).expect("vectors");
    vectors[id].clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).expect("numbers")
}

fn assert_close(found: f64, expected: &Value) {
    let expected = expected.as_f64().expect("a number");
    let difference = (found - expected).abs();
    assert!(difference <= 1e-8 * expected.abs().max(1.0), "{found}, expected {expected}");
}

/// About normal, by the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit_f64()).sum::<f64>() - 6.0
}

fn autoregressive(random: &mut Random, memory: f64, length: usize) -> Vec<f64> {
    let mut level = normal(random) / (1.0 - memory * memory).sqrt();
    let step = |_| {
        level = memory * level + normal(random);
        500.0 + level
    };
    (0..length).map(step).collect()
}

fn contains(low: Option<f64>, high: Option<f64>, value: f64) -> Option<bool> {
    Some(low? <= value && value <= high?)
}

#[test]
fn mean_of_matches_the_vector() {
    let vector = vector("mean-ci-A");
    let estimate = Estimate::mean_of(&numbers(&vector["input"]["x"])).unwrap();
    assert_close(estimate.low.unwrap(), &vector["expected"]["ci"][0]);
    assert_close(estimate.high.unwrap(), &vector["expected"]["ci"][1]);
    assert_close(estimate.relative_half_width().unwrap(), &vector["expected"]["rel_half_width"]);
    assert_eq!(estimate.n, 10);
}

#[test]
fn relative_half_width_matches_the_sequential_vector() {
    let vector = vector("sequential-stop");
    let values = numbers(&vector["input"]["x"]);
    for step in vector["expected"]["trace"].as_array().unwrap() {
        let n = step["n"].as_u64().unwrap() as usize;
        let estimate = Estimate::mean_of(&values[..n]).unwrap();
        let percent = 100.0 * estimate.relative_half_width().unwrap();
        assert_close(percent, &step["rel_half_width_pct"]);
    }
}

#[test]
fn no_spread_means_no_interval() {
    assert_eq!(Estimate::mean_of(&[5.0]), Some(Estimate::point(5.0, 1)));
    assert_eq!(Estimate::mean_of(&[5.0; 9]), Some(Estimate::point(5.0, 9)));
    let rounded = Estimate::mean_of(&[0.1; 7]).unwrap();
    assert_eq!((rounded.low, rounded.high, rounded.n), (None, None, 7));
    // The more are added up, the more is rounded.
    for value in [0.1, 1.0 / 3.0, 800.0 / 1200.0, 1e9 / 7.0] {
        for count in 2..=3_000 {
            assert_eq!(Estimate::mean_of(&vec![value; count]).unwrap().low, None, "{count}");
        }
    }
    assert_eq!(Estimate::mean_of(&[0.0; 3]), Some(Estimate::point(0.0, 3)));
    assert_eq!(rounded.relative_half_width(), None);
    for unusable in [&[][..], &[f64::NAN, 1.0], &[1.0, f64::INFINITY]] {
        assert_eq!(Estimate::mean_of(unusable), None);
    }
}

#[test]
fn a_rate_is_total_count_by_total_time() {
    let estimate = Estimate::rate_of(&[(100.0, 1.0), (100.0, 3.0)]).unwrap();
    assert_eq!((estimate.value, estimate.low, estimate.n), (50.0, None, 2), "beyond 1.5");
    let estimate = Estimate::rate_of(&[(51.0, 1.0), (149.0, 3.0), (99.0, 2.0)]).unwrap();
    assert!(estimate.low.unwrap() < estimate.value && estimate.high.unwrap() > estimate.value);
    let constant = Estimate::rate_of(&[(300.0, 3.0), (100.0, 1.0), (70.0, 0.7)]).unwrap();
    assert_eq!((constant.value.round(), constant.low), (100.0, None));
    for unusable in [&[][..], &[(1.0, 0.0)], &[(-1.0, 1.0)], &[(f64::NAN, 1.0)]] {
        assert_eq!(Estimate::rate_of(unusable), None);
    }
}

#[test]
fn a_rate_over_equal_times_is_the_mean_of_the_rates() {
    let counts = [990.0, 1_004.0, 1_013.0, 998.0];
    let rates = counts.map(|count| count / 2.0);
    let repeats = counts.map(|count| (count, 2.0));
    let (rate, mean) = (Estimate::rate_of(&repeats).unwrap(), Estimate::mean_of(&rates).unwrap());
    assert!((rate.value - mean.value).abs() < 1e-9);
    // On the logarithm both ends lie a little higher.
    assert!((0.0..0.5).contains(&(rate.low.unwrap() - mean.low.unwrap())));
    assert!((0.0..0.5).contains(&(rate.high.unwrap() - mean.high.unwrap())));
}

/// `fsync … -416 to 1738 IOPS`: two repetitions of which one did next to nothing.
#[test]
fn a_rate_has_no_negative_interval() {
    let estimate = Estimate::rate_of(&[(577.0, 1.0), (745.0, 1.0)]).unwrap();
    assert_eq!((estimate.value, estimate.low, estimate.n), (661.0, None, 2), "beyond 1.5");
    let estimate = Estimate::rate_of(&[(640.0, 1.0), (680.0, 1.0), (660.0, 1.0)]).unwrap();
    let (low, high) = (estimate.low.unwrap(), estimate.high.unwrap());
    assert!(0.0 < low && low < 660.0 && 660.0 < high);
    assert!((low * high - 660.0 * 660.0).abs() < 1e-6, "as far down as up");
}

#[test]
fn one_number_stands_for_all_repetitions() {
    let repeats = [(900.0, 1.0), (3_000.0, 3.0), (10.0, 0.5)];
    let values = centred(&repeats).unwrap();
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    let centre = Estimate::rate_of(&repeats).unwrap().value;
    assert!(((logs / 3.0).exp() / centre - 1.0).abs() < 1e-12);
    assert_eq!(centred(&[(0.0, 1.0)]), Err(NoAnswer::NotPositive));
    let moved = centred_at(&[10.0, 40.0], 30.0).unwrap();
    assert!((moved[0] - 15.0).abs() < 1e-9 && (moved[1] - 60.0).abs() < 1e-9);
}

#[test]
fn an_estimate_survives_json() {
    for estimate in [Estimate::point(2.5, 1), Estimate::mean_of(&[1.0, 2.0, 4.0]).unwrap()] {
        let text = serde_json::to_string(&estimate).unwrap();
        assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap(), estimate);
    }
    let text = serde_json::to_string(&Estimate::point(2.5, 1)).unwrap();
    assert_eq!(text, r#"{"value":2.5,"low":null,"high":null,"n":1}"#);
}

#[test]
fn intervals_of_the_mean_cover_it_as_often_as_they_say() {
    let mut random = Random::new(11);
    let mut covered = 0;
    for _ in 0..2_000 {
        let sample: Vec<f64> = (0..10).map(|_| normal(&mut random)).collect();
        let estimate = Estimate::mean_of(&sample).unwrap();
        covered += u32::from(contains(estimate.low, estimate.high, 0.0).unwrap());
    }
    assert!((1_870..=1_930).contains(&covered), "{covered} of 2000");
}

#[test]
fn batch_means_match_the_vector() {
    let vector = vector("batchmeans-ar1");
    let series = numbers(&vector["input"]["x"]);
    let result = batch_means_of_length(&series, 20).unwrap();
    assert_eq!((result.batches, result.batch_length, result.samples), (10, 20, 200));
    assert_close(result.mean, &vector["expected"]["mean"]);
    assert_close(result.low.unwrap(), &vector["expected"]["ci"][0]);
    assert_close(result.high.unwrap(), &vector["expected"]["ci"][1]);
    assert_close(result.effective_sample_size.unwrap(), &vector["expected"]["ess"]);
    assert_eq!((result.estimate().value, result.estimate().n), (result.mean, 10));
    let single = batch_means_of_length(&series, 1).unwrap();
    let expected = &self::vector("von-neumann-ar1")["expected"]["vn"];
    assert_close(single.von_neumann_ratio.unwrap(), expected);
}

#[test]
fn geyer_matches_the_vector() {
    let series = numbers(&vector("batchmeans-ar1")["input"]["x"]);
    let found = effective_sample_size_geyer(&series).unwrap();
    assert_close(found, &vector("ess-geyer-ar1")["expected"]["ess"]);
    assert_eq!(effective_sample_size_geyer(&[3.0; 50]), None);
    assert_eq!(effective_sample_size_geyer(&[1.0, 2.0, 3.0]), None);
    let alternating: Vec<f64> = (0..50).map(|index| f64::from(index % 2)).collect();
    assert_eq!(effective_sample_size_geyer(&alternating), Some(50.0));
}

#[test]
fn batches_grow_until_they_are_independent() {
    let series = numbers(&vector("batchmeans-ar1")["input"]["x"]);
    let result = batch_means(&series).unwrap();
    assert!(result.low.is_some() && (10..=30).contains(&result.batches));
    let naive = Estimate::mean_of(&series).unwrap();
    let width = result.high.unwrap() - result.low.unwrap();
    assert!(width > 1.3 * (naive.high.unwrap() - naive.low.unwrap()));
    assert!(result.effective_sample_size.unwrap() < 150.0);
}

#[test]
fn too_short_too_correlated_or_constant_series_have_no_interval() {
    let short = batch_means(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).unwrap();
    assert_eq!((short.mean, short.low, short.batches), (5.0, None, 0));
    let ramp: Vec<f64> = (0..500).map(f64::from).collect();
    let ramp = batch_means(&ramp).unwrap();
    assert_eq!((ramp.low, ramp.effective_sample_size, ramp.batches), (None, None, 10));
    assert!(ramp.von_neumann_ratio.unwrap() < 0.5);
    let constant = batch_means(&[7.0; 100]).unwrap();
    assert_eq!((constant.mean, constant.low, constant.von_neumann_ratio), (7.0, None, None));
    assert_eq!(batch_means(&[]), None);
    assert_eq!(batch_means(&[f64::NAN; 40]), None);
}

#[test]
fn batch_means_cover_the_mean_of_correlated_series() {
    let mut random = Random::new(5);
    for (memory, length, least) in [(0.0, 300, 0.92), (0.6, 300, 0.88), (0.9, 3_000, 0.88)] {
        let (mut covered, mut given) = (0, 0);
        for _ in 0..500 {
            let result = batch_means(&autoregressive(&mut random, memory, length)).unwrap();
            let hit = contains(result.low, result.high, 500.0);
            given += u32::from(hit.is_some());
            covered += u32::from(hit == Some(true));
        }
        let share = f64::from(covered) / f64::from(given);
        println!("memory {memory}: {given} intervals, {share}");
        assert!(given >= 400, "memory {memory}: only {given} intervals");
        assert!((least..=0.98).contains(&share), "memory {memory}: {share}");
    }
}

#[test]
fn samples_needed_are_those_of_the_vectors() {
    for id in ["orderstat-min-n", "orderstat-one-sided-min-n"] {
        let vector = vector(id);
        for (p, n) in numbers(&vector["input"]["p"]).iter().zip(numbers(&vector["expected"]["n"])) {
            assert_eq!(samples_needed(*p), n as u64, "{p}");
            assert!(supported(*p, n as u64) && !supported(*p, n as u64 - 1));
        }
    }
    assert_eq!(samples_needed(0.1), 29);
    for never in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        assert_eq!(samples_needed(never), u64::MAX);
    }
}

#[test]
fn samples_needed_is_the_smallest_number() {
    let confidence = |p: f64, n: u64| 1.0 - p.powi(n as i32) - (1.0 - p).powi(n as i32);
    for step in 1..1_000_u64 {
        let p = step as f64 / 1_000.0;
        let n = samples_needed(p);
        assert!(confidence(p, n) >= 0.95 && confidence(p, n - 1) < 0.95, "{p}: {n}");
    }
}

#[test]
fn unsupported_quantiles_are_not_given() {
    let mut histogram = Histogram::new();
    histogram.record_n(1_000, 298);
    assert_eq!(supported_quantile(&histogram, 0.99), None);
    assert_eq!(supported_quantile(&histogram, 0.5), Some(1_000));
    histogram.record(1_500);
    assert_eq!(supported_quantile(&histogram, 0.99), Some(1_000));
    assert_eq!(supported_quantile(&histogram, 1.0), None);
}
