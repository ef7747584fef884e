//! Series in time: warm-up, memory, drift, steadiness, changes.

use super::check::Vector;
use drivelab_stats::steady::{Window, fio_criteria, first_steady_round, windows};
use drivelab_stats::{
    Estimate, Welch, autocorrelation, batch_means_of_length, divergences,
    effective_sample_size_geyer, knee, period, strongest_change, trend, von_neumann, warm_up,
};
use serde_json::json;

pub fn passes(vector: &Vector) -> bool {
    match vector.id.as_str() {
        id if id.starts_with("mser5-") => warming_up(vector),
        "snia-sequence" => rounds(vector),
        id if id.starts_with("snia-") => window(vector),
        "fio-criteria-contrast" => {
            let (farthest, slope) = fio_criteria(&vector.numbers("window")).unwrap();
            let percent =
                [("max_deviation_pct", 100.0 * farthest), ("slope_pct_per_sample", 100.0 * slope)];
            vector.near(&percent);
        }
        "batchmeans-ar1" => batches(vector),
        "acf-ar1" => {
            let lags = vector.input("max_lag").as_u64().unwrap() as usize;
            vector.near_list("acf", &autocorrelation(&vector.numbers("x"), lags).unwrap());
        }
        "ess-geyer-ar1" => {
            let series = vector.numbers("x");
            let size = effective_sample_size_geyer(&series).unwrap();
            vector.near(&[("ess", size), ("tau", series.len() as f64 / size)]);
        }
        "von-neumann-ar1" => {
            vector.near(&[("vn", von_neumann(&vector.numbers("x")).unwrap())]);
        }
        "edivisive-one-change" => change(vector),
        "knee-slc" => step(vector),
        "period-spikes" => spikes(vector),
        "mann-kendall-drift" => drift(vector),
        _ => return false,
    }
    true
}

fn warming_up(vector: &Vector) {
    let length = vector.input("m").as_u64().unwrap() as usize;
    let found = warm_up(&vector.numbers("x"), length).unwrap();
    vector.equal(&[
        ("batches", json!(found.batches)),
        ("d_batches", json!(found.batches_cut)),
        ("truncate_raw", json!(found.values_cut)),
        ("at_boundary", json!(found.is_unsettled)),
    ]);
    vector.near(&[("mser_at_d", found.statistic[found.batches_cut]), ("mean_after", found.mean)]);
    vector.near_list("mser_first5", &found.statistic[..5]);
}

fn window(vector: &Vector) {
    let first_round = vector.input("first_round").as_u64().unwrap() as usize;
    let found = Window::of(&vector.numbers("window"), first_round).unwrap();
    vector.near(&[
        ("average", found.mean),
        ("range", found.range),
        ("range_pct", 100.0 * found.range / found.mean),
        ("allowed_range", found.range_allowed()),
        ("slope", found.slope),
        ("intercept", found.intercept),
        ("slope_excursion", found.slope_excursion),
        ("slope_excursion_pct", 100.0 * found.slope_excursion / found.mean),
        ("allowed_slope_excursion", found.slope_excursion_allowed()),
    ]);
    vector.equal(&[
        ("range_ok", json!(found.is_range_met())),
        ("slope_ok", json!(found.is_slope_met())),
        ("steady", json!(found.is_steady())),
    ]);
    match found.correlation {
        Some(correlation) => vector.near(&[("correlation", correlation)]),
        None => assert!(vector.expects_null("correlation")),
    }
}

fn rounds(vector: &Vector) {
    let rounds = vector.numbers("rounds");
    let first = first_steady_round(&[&rounds]).unwrap();
    vector.equal(&[("first_steady_round", json!(first))]);
    for (index, window) in windows(&rounds).unwrap().iter().enumerate() {
        let at = |name: &str| format!("windows.{index}.{name}");
        vector.equal(&[
            (&at("round"), json!(window.last_round)),
            (&at("steady"), json!(window.is_steady())),
        ]);
        vector.near(&[
            (&at("range_pct"), 100.0 * window.range / window.mean),
            (&at("slope_excursion_pct"), 100.0 * window.slope_excursion / window.mean),
        ]);
    }
}

fn batches(vector: &Vector) {
    let series = vector.numbers("x");
    let length = vector.input("batch").as_u64().unwrap() as usize;
    let found = batch_means_of_length(&series, length).unwrap();
    let naive = Estimate::mean_of(&series).unwrap();
    vector.equal(&[("batches", json!(found.batches))]);
    vector.near(&[("mean", found.mean), ("ess", found.effective_sample_size.unwrap())]);
    vector.near_pair("ci", (found.low.unwrap(), found.high.unwrap()));
    vector.near_pair("naive_ci", (naive.low.unwrap(), naive.high.unwrap()));
}

fn change(vector: &Vector) {
    let series = vector.numbers("x");
    for (index, (at, q)) in divergences(&series).unwrap().into_iter().enumerate() {
        vector.equal(&[(&format!("Q_at.{index}.tau"), json!(at))]);
        vector.near(&[(&format!("Q_at.{index}.Q"), q)]);
    }
    let found = strongest_change(&series).unwrap();
    vector.equal(&[("tau_hat", json!(found.at))]);
    vector.near(&[("Q_max", found.q)]);
    vector.near_p(&[("welch_p", found.p.unwrap())]);
    assert_eq!(found.p, Some(Welch::of(&series[..found.at], &series[found.at..]).unwrap().p()));
}

fn step(vector: &Vector) {
    let series = vector.numbers("mbps");
    let found = knee(&series).unwrap();
    let cache = series[..found.split].iter().sum::<f64>() * vector.number("dt_s");
    vector.equal(&[("split", json!(found.split))]);
    vector.near(&[
        ("sse", found.squares),
        ("mean_left", found.left),
        ("mean_right", found.right),
        ("ratio", found.right / found.left),
        ("cache_mb", cache),
    ]);
}

fn spikes(vector: &Vector) {
    let found = period(&vector.numbers("lat_us")).unwrap();
    let bytes = found.length.unwrap() as u64 * vector.input("bs").as_u64().unwrap();
    vector.equal(&[
        ("spikes", json!(found.spikes)),
        ("mode_gap", json!(found.length)),
        ("buffer_bytes_if_4k", json!(bytes)),
    ]);
    vector.near(&[("threshold", found.threshold), ("mode_share", found.share)]);
}

fn drift(vector: &Vector) {
    let found = trend(&vector.numbers("x")).unwrap();
    vector.near(&[
        ("S", found.s),
        ("var", found.variance),
        ("z", found.z),
        ("theil_sen", found.slope),
    ]);
    vector.near_p(&[("p", found.p)]);
}
