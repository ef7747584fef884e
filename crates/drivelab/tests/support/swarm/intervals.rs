//! An interval of a rate: it holds what the same line finds with other seeds.

use super::compared::centre;
use super::judged::{Judged, Level, short};
use serde_json::Value;
use std::collections::BTreeMap;

/// Estimates that have a name: of figures, of cells, and of the streams of a single step.
fn estimates(json: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for figure in json["findings"]["figures"].as_array().into_iter().flatten() {
        all.insert(format!("figure {}", short(&figure["name"])), figure["estimate"].clone());
    }
    let mut add = |place: &str, whole: &Value| {
        let streams = whole["streams"].as_array().into_iter().flatten();
        for (number, stream) in streams.enumerate() {
            for kind in ["read", "write", "total"] {
                let name = format!("{place} {}, stream {number}, {kind}", short(&whole["name"]));
                all.insert(name, stream[kind]["iops"].clone());
            }
        }
    };
    for cell in json["cells"].as_array().into_iter().flatten() {
        add("cell", cell);
    }
    if let Some([step]) = json["steps"].as_array().map(Vec::as_slice) {
        add("step", step);
    }
    all
}

/// All intervals, beside the middles of the same line with other seeds.
pub fn judge(json: &Value, others: &[Value], all: &mut Vec<Judged>) {
    let others: Vec<_> = others.iter().map(estimates).collect();
    for (name, claim) in estimates(json) {
        let (Some(low), Some(high)) = (claim["low"].as_f64(), claim["high"].as_f64()) else {
            continue;
        };
        let middle = |all: &BTreeMap<String, Value>| all.get(&name)?["value"].as_f64();
        let logs: Vec<f64> = others.iter().filter_map(middle).map(f64::ln).collect();
        if logs.len() < 3 || low <= 0.0 || logs.iter().any(|log| !log.is_finite()) {
            continue;
        }
        let (mean, error) = centre(&logs);
        let beyond = (low.ln() - mean).max(mean - high.ln());
        // What is constant may differ in its last digits.
        let is_right = beyond <= 2.0 * error + 1e-9;
        let said = format!("{name}: {low:.1} to {high:.1}");
        let truth = format!("{:.1} ± {:.2} % over {} more", mean.exp(), 200.0 * error, logs.len());
        all.push(Judged::held("interval", Level::Alpha, is_right, said, truth));
    }
}
