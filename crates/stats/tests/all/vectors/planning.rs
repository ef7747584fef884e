//! How many repetitions, on how many levels; loads and their mixtures.

use super::check::Vector;
use drivelab_stats::{
    Mixture, TwoLevels, half_widths, mean_interval, operations_in_flight, repetitions_for_mean,
    stops_at,
};
use serde_json::json;

pub fn passes(vector: &Vector) -> bool {
    match vector.id.as_str() {
        "n-for-mean-ci" => {
            let (mean, deviation) = (vector.number("mean"), vector.number("sd"));
            let share = vector.number("r_pct") / 100.0;
            let n = repetitions_for_mean(mean, deviation, share, vector.number("z"));
            vector.equal(&[("n", json!(n))]);
        }
        "sequential-stop" => stopping(vector),
        "two-level" => levels(vector),
        "mix-PQI" => mixture(vector),
        "littles-law" => {
            let latency_s = vector.number("mean_lat_us") / 1e6;
            let depth = operations_in_flight(vector.number("iops"), latency_s);
            vector.near(&[("qd_obs", depth), ("ratio", depth / vector.number("qd_set"))]);
        }
        _ => return false,
    }
    true
}

fn stopping(vector: &Vector) {
    let values = vector.numbers("x");
    for (index, width) in half_widths(&values, 0.95).unwrap().into_iter().enumerate() {
        vector.equal(&[(&format!("trace.{index}.n"), json!(index + 3))]);
        vector.near(&[(&format!("trace.{index}.rel_half_width_pct"), 100.0 * width.unwrap())]);
    }
    let n_min = vector.input("n_min").as_u64().unwrap() as usize;
    let stop = stops_at(&values, vector.number("target_pct") / 100.0, n_min).unwrap();
    vector.equal(&[("stop_n", json!(stop))]);
}

fn levels(vector: &Vector) {
    let cycles: Vec<Vec<f64>> = serde_json::from_value(vector.input("rows").clone()).unwrap();
    let found = TwoLevels::of(&cycles).unwrap();
    vector.near(&[
        ("S1_sq", found.within),
        ("S2_sq", found.of_means),
        ("T1_sq", found.within),
        ("T2_sq", found.between),
        ("grand_mean", found.mean),
    ]);
    vector.near_pair("ci", (found.low, found.high));
    vector.near_pair("naive_ci_all_15", mean_interval(&cycles.concat(), 0.95).unwrap());
    let rounds = found.best_rounds(vector.number("c1_seconds"), vector.number("c2_seconds"));
    vector.equal(&[("r1_opt", json!(rounds))]);
}

fn mixture(vector: &Vector) {
    let found = Mixture {
        reads: vector.number("RR"),
        writes: vector.number("RW"),
        together: vector.number("real"),
        write_share: vector.number("w"),
    };
    vector.near(&[
        ("write_cost_in_reads", found.write_cost()),
        ("ideal_fraction_of_RR", found.ideal_share()),
        ("ideal_iops", found.reads * found.ideal_share()),
        ("real_fraction_of_RR", found.together / found.reads),
        ("efficiency", found.efficiency()),
        ("effective_write_cost_in_reads", found.write_cost_together()),
        ("interference_factor", found.interference()),
    ]);
}
