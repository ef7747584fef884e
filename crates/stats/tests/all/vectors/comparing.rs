//! Comparisons of two samples, and families of them.

use super::check::Vector;
use drivelab_stats::{
    Equivalence, NoAnswer, Pair, Verdict, Welch, any_false_alarm, benjamini_hochberg,
    false_alarms_of_error_bars, fieller, hodges_lehmann, hodges_lehmann_ratio, holm, judge,
    kolmogorov_smirnov, mann_whitney, permutation_test, ratio_band,
};
use serde_json::json;

pub fn passes(vector: &Vector) -> bool {
    let name = vector.id.split('-').next().unwrap_or_default();
    match name {
        "welch" => welch(vector),
        "logratio" => log_ratio(vector),
        "fieller" => ratio_of_means(vector),
        "mannwhitney" => ranks(vector),
        "hodges" => shift(vector),
        "permutation" => permutation(vector),
        "holm" | "bh" => family(vector),
        "tost" => equivalence(vector),
        "degenerate" | "too" => no_test(vector),
        "ks" => distributions(vector),
        "article" => error_bars(vector),
        _ => return false,
    }
    true
}

fn samples(vector: &Vector) -> (Vec<f64>, Vec<f64>) {
    (vector.numbers("x"), vector.numbers("y"))
}

fn welch(vector: &Vector) {
    let (x, y) = samples(vector);
    let found = Welch::of(&x, &y).unwrap();
    vector.near(&[
        ("diff", found.difference),
        ("se", found.standard_error),
        ("t", found.t()),
        ("df", found.freedom),
    ]);
    vector.near_p(&[("p_two_sided", found.p())]);
    vector.near_pair("ci", found.interval(vector.number("cl")));
}

fn log_ratio(vector: &Vector) {
    let (x, y) = samples(vector);
    let found = Welch::of_logarithms(&x, &y).unwrap();
    let (low, high) = found.interval(vector.number("cl"));
    vector.near(&[
        ("ratio_y_over_x", found.difference.exp()),
        ("t", found.t()),
        ("df", found.freedom),
        ("se_log", found.standard_error),
    ]);
    vector.near_p(&[("p_two_sided", found.p())]);
    vector.near_pair("ci", (low.exp(), high.exp()));
}

fn ratio_of_means(vector: &Vector) {
    let (x, y) = samples(vector);
    let found = fieller(&x, &y, vector.number("cl"));
    vector.equal(&[("bounded", json!(found.is_ok()))]);
    match found {
        Ok((ratio, low, high)) => {
            vector.near(&[("ratio", ratio)]);
            vector.near_pair("ci", (low, high));
        }
        Err(error) => assert_eq!(error, NoAnswer::Unbounded),
    }
}

fn ranks(vector: &Vector) {
    let (x, y) = samples(vector);
    let found = mann_whitney(&x, &y).unwrap();
    assert!(found.is_exact);
    vector.near(&[("U", found.u)]);
    vector.near_p(&[("p_exact", found.p)]);
}

fn shift(vector: &Vector) {
    let (x, y) = samples(vector);
    let level = vector.number("cl");
    let found = if vector.id.contains("ratio") {
        let found = hodges_lehmann_ratio(&x, &y, level).unwrap();
        vector.near(&[("ratio", found.value)]);
        found
    } else {
        let found = hodges_lehmann(&x, &y, level).unwrap();
        vector.near(&[("shift", found.value)]);
        vector.equal(&[("order_index_1based", json!(found.rank))]);
        found
    };
    vector.near_pair("ci", found.interval.unwrap());
    vector.near(&[("coverage", found.coverage)]);
}

fn permutation(vector: &Vector) {
    let (x, y) = samples(vector);
    let found = permutation_test(&x, &y, 1).unwrap();
    assert!(found.is_exact);
    vector.near(&[("obs_diff", found.difference)]);
    vector.equal(&[("count_ge", json!(found.as_large)), ("total", json!(found.splits))]);
    vector.near_p(&[("p", found.p())]);
}

fn family(vector: &Vector) {
    let p: Vec<Option<f64>> = vector.numbers("p").into_iter().map(Some).collect();
    let is_holm = vector.id.starts_with("holm");
    let adjusted = if is_holm { holm(&p) } else { benjamini_hochberg(&p) };
    let adjusted: Vec<f64> = adjusted.into_iter().flatten().collect();
    vector.near_list("adjusted", &adjusted);
    if is_holm {
        let rejected: Vec<usize> =
            (0..adjusted.len()).filter(|index| adjusted[*index] <= 0.05).collect();
        vector.equal(&[("rejected_at_0_05", json!(rejected))]);
    }
}

fn equivalence(vector: &Vector) {
    let (x, y) = samples(vector);
    let delta = vector.number("delta");
    let welch = Welch::of_logarithms(&x, &y).unwrap();
    let found = Equivalence::of_ratio(&welch, delta);
    let exp = |(low, high): (f64, f64)| (low.exp(), high.exp());
    vector.near_pair("band", ratio_band(delta));
    vector.near(&[
        ("ratio", welch.difference.exp()),
        ("t_lower", found.t_lower),
        ("t_upper", found.t_upper),
        ("df", welch.freedom),
    ]);
    vector.near_p(&[("p_lower", found.p_lower), ("p_upper", found.p_upper), ("p_tost", found.p())]);
    vector.near_pair("ci90", exp(welch.interval(0.90)));
    vector.near_pair("ci95", exp(welch.interval(0.95)));
    let judged = judge(&[Pair { before: &x, after: &y, delta }]).unwrap()[0];
    vector.equal(&[
        ("equivalent", json!(found.p() <= 0.05)),
        ("different", json!(welch.p() <= 0.05)),
        ("verdict", json!(judged.verdict)),
    ]);
    vector.near_p(&[("p_tost", judged.equivalence_p_adjusted.unwrap())]);
}

fn no_test(vector: &Vector) {
    let (x, y) = samples(vector);
    let judged = judge(&[Pair { before: &x, after: &y, delta: 0.05 }]).unwrap()[0];
    assert!(vector.expects_null("p_two_sided"));
    assert_eq!(judged.p_adjusted, None, "{}", vector.id);
    vector.equal(&[("verdict", json!(judged.verdict))]);
    assert_ne!(judged.verdict, Verdict::Changed);
}

fn distributions(vector: &Vector) {
    let x = vector.numbers("x");
    let y: Vec<f64> = x.iter().map(|value| value * vector.number("factor")).collect();
    let (distance, p) = kolmogorov_smirnov(&x, &y).unwrap();
    vector.near(&[("D", distance)]);
    vector.near_p(&[("p", p)]);
}

fn error_bars(vector: &Vector) {
    let counts: Vec<u64> = serde_json::from_value(vector.input("n").clone()).unwrap();
    for (index, n) in counts.into_iter().enumerate() {
        vector.near_p(&[
            (&format!("fpr_1sd.{index}"), false_alarms_of_error_bars(n, 1.0)),
            (&format!("fpr_no_overlap.{index}"), false_alarms_of_error_bars(n, 2.0)),
        ]);
    }
    let one = false_alarms_of_error_bars(10, 1.0);
    vector.near(&[
        ("expected_false_positives_77_comparisons_n10", 77.0 * one),
        ("fwer_77_n10_if_independent", any_false_alarm(one, 77)),
    ]);
}
