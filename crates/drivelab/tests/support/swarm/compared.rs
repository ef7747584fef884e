//! "Faster", "slower", "equivalent": the ratio over runs of the same line with other seeds.

use super::judged::{Judged, Level};
use serde_json::Value;

/// *Equivalent* is wrong beyond this many bands.
const BANDS: f64 = 1.5;

/// A compared cell: where it stands, its verdict, its ratio, and the band.
struct Compared {
    name: String,
    verdict: String,
    ratio: f64,
    band: f64,
}

fn compared(json: &Value) -> Vec<Compared> {
    let findings = &json["findings"];
    let mut all = Vec::new();
    let mut add = |prefix: &str, cell: &Value, band: f64| {
        let (Some(verdict), Some(ratio)) =
            (cell["verdict"].as_str(), cell["ratio"]["value"].as_f64())
        else {
            return;
        };
        let (name, metric) = (cell["name"].as_str(), cell["metric"].as_str());
        all.push(Compared {
            name: format!("{prefix}{} {}", name.unwrap_or(""), metric.unwrap_or("")),
            verdict: verdict.into(),
            ratio,
            band,
        });
    };
    let comparison = &findings["comparison"];
    let band = comparison["delta"].as_f64().unwrap_or(0.05);
    for cell in comparison["cells"].as_array().into_iter().flatten() {
        add("", cell, band);
    }
    for map in findings["heat_maps"].as_array().into_iter().flatten() {
        for row in map["rows"].as_array().into_iter().flatten() {
            let names = map["columns"].as_array().into_iter().flatten();
            let cells = row["cells"].as_array().into_iter().flatten();
            for (column, cell) in names.zip(cells) {
                let prefix = format!("{} / {} / {column}: ", map["title"], row["name"]);
                add(&prefix, cell, band);
            }
        }
    }
    all
}

/// Mean and standard error of the logarithm of a ratio.
pub fn centre(logs: &[f64]) -> (f64, f64) {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let square = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (square / n).sqrt())
}

/// Whether anything is compared.
pub fn is_there(json: &Value) -> bool {
    !compared(json).is_empty()
}

/// All comparisons of the findings, next to those of the same line with other seeds.
pub fn judge(json: &Value, others: &[Value], all: &mut Vec<Judged>) {
    let others: Vec<Vec<Compared>> = others.iter().map(compared).collect();
    for claim in &compared(json) {
        let same = |all: &Vec<Compared>| {
            all.iter().find(|other| other.name == claim.name).map(|other| other.ratio.ln())
        };
        let logs: Vec<f64> = others.iter().filter_map(same).filter(|it| it.is_finite()).collect();
        if logs.len() >= 3 {
            all.extend(judged(claim, &logs));
        }
    }
}

fn judged(claim: &Compared, logs: &[f64]) -> Option<Judged> {
    let (mean, error) = centre(logs);
    let said = format!("{}: {}, × {:.3}", claim.name, claim.verdict, claim.ratio);
    let truth = format!("× {:.3} ± {:.3} over {} more runs", mean.exp(), 2.0 * error, logs.len());
    let band = (1.0 + claim.band).ln();
    match claim.verdict.as_str() {
        "changed" | "changed_negligible" | "changed_maybe_relevant" => {
            // What is negligible either way has no wrong sign.
            let is_turned = claim.verdict != "changed_negligible"
                && claim.ratio.ln() * mean < 0.0
                && mean.abs() > 3.0 * error;
            let is_nothing = claim.verdict == "changed" && mean.abs() + 3.0 * error < band / 2.0;
            let is_right = !is_turned && !is_nothing;
            Some(Judged::held("faster or slower", Level::Alpha, is_right, said, truth))
        }
        "equivalent" | "identical" => {
            let is_wrong = mean.abs() - 3.0 * error > BANDS * band;
            Some(Judged::held("equivalent", Level::Alpha, !is_wrong, said, truth))
        }
        "inconclusive" => {
            let is_plain = mean.abs() > 3.0 * band && mean.abs() > 10.0 * error;
            Some(Judged::open("comparison", is_plain, said, truth))
        }
        _ => None,
    }
}
