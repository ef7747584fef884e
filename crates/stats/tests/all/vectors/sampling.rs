//! One sample: descriptions, intervals, quantiles.

use super::check::Vector;
use drivelab_stats::{
    Description, Histogram, harrell_davis, maritz_jarrett, mean_interval, quantile_ranks,
    quantile_ranks_normal, samples_needed, samples_needed_one_sided,
};
use serde_json::json;

pub fn passes(vector: &Vector) -> bool {
    match vector.id.as_str() {
        id if id.starts_with("desc-") => description(vector),
        "mean-ci-A" => mean(vector),
        "orderstat-min-n" => vector.equal(&[("n", json!(needed(vector, samples_needed)))]),
        "orderstat-one-sided-min-n" => {
            vector.equal(&[("n", json!(needed(vector, samples_needed_one_sided)))]);
        }
        id if id.starts_with("orderstat-") => order_statistics(vector),
        "maritz-jarrett-p0.5" => {
            let error = maritz_jarrett(&vector.numbers("x"), vector.number("p")).unwrap();
            vector.near(&[("se", error)]);
        }
        "harrell-davis-p0.5" => {
            let quantile = harrell_davis(&vector.numbers("x"), vector.number("p")).unwrap();
            vector.near(&[("q", quantile)]);
        }
        "coordinated-omission" => corrected(vector),
        _ => return false,
    }
    true
}

fn description(vector: &Vector) {
    let found = Description::of(&vector.numbers("x")).unwrap();
    vector.equal(&[("n", json!(found.n))]);
    vector.near(&[
        ("mean", found.mean),
        ("sd", found.deviation.unwrap()),
        ("cv", found.cv().unwrap()),
        ("sem", found.standard_error().unwrap()),
        ("min", found.min),
        ("max", found.max),
        ("q1", found.q1),
        ("median", found.median),
        ("q3", found.q3),
        ("mad_raw", found.mad),
        ("mad_scaled", found.mad_scaled()),
        ("geomean", found.geometric_mean.unwrap()),
        ("harmean", found.harmonic_mean.unwrap()),
    ]);
    vector.near_pair("tukey_mild", found.fences(1.5));
    vector.near_pair("tukey_severe", found.fences(3.0));
}

fn mean(vector: &Vector) {
    let values = vector.numbers("x");
    let (low, high) = mean_interval(&values, vector.number("cl")).unwrap();
    let half_width = (high - low) / 2.0;
    let mean = Description::of(&values).unwrap().mean;
    vector.near_pair("ci", (low, high));
    vector.near(&[("half_width", half_width), ("rel_half_width", half_width / mean)]);
}

fn needed(vector: &Vector, of: fn(f64) -> u64) -> Vec<u64> {
    vector.numbers("p").into_iter().map(of).collect()
}

fn order_statistics(vector: &Vector) {
    let (n, share) = (vector.input("n").as_u64().unwrap(), vector.number("p"));
    let level = vector.number("cl");
    let found = quantile_ranks(n, share, level);
    vector.equal(&[("exists", json!(found.is_some()))]);
    match found {
        Some(found) => {
            vector.equal(&[("j", json!(found.low)), ("k", json!(found.high))]);
            vector.near(&[("coverage", found.coverage)]);
        }
        None => assert!(vector.expects_null("j") && vector.expects_null("k")),
    }
    let (low, high) = quantile_ranks_normal(n, share, level);
    let normal = [("le_boudec_normal.j", json!(low)), ("le_boudec_normal.k", json!(high))];
    vector.equal(&normal);
}

fn corrected(vector: &Vector) {
    let value = |name: &str| vector.input(name).as_u64().unwrap();
    let mut histogram = Histogram::new();
    histogram.record_corrected(value("value"), value("interval"));
    let mut recorded: Vec<u64> = histogram.iter_nonzero().map(|(low, ..)| low).collect();
    recorded.reverse();
    vector.equal(&[("recorded", json!(recorded)), ("count", json!(histogram.count()))]);
    vector.near(&[("mean", histogram.mean().unwrap())]);
}
