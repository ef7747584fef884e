//! `study under`: what another load takes, on a volume whose quota says it beforehand.

use crate::cli_user::{User, said};
use serde_json::Value;

fn study(user: &User, target: &str, load: &str) -> Value {
    let line = ["study", "under", target, "--load", load, "--quick", "--seed", "7", "--json"];
    user.types(&line).fine().json()
}

fn row<'a>(json: &'a Value, title: &str, name: &str) -> &'a Value {
    let tables = json["findings"]["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["title"] == title).unwrap();
    let rows = table["rows"].as_array().unwrap();
    rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no {name}: {table}"))
}

/// 3,000 operations a second are all that gp3 does: what one gets the other lacks.
#[test]
fn on_a_quota_a_neighbour_takes_its_rate() {
    let user = User::new();
    for (load, rate) in [("oltp:1000", 1000.0), ("import:600", 600.0)] {
        let json = study(&user, "sim:gp3,capacity=8GiB", load);
        let costs = row(&json, "What the other load costs", "random 70/30 qd64");
        let (alone, beside) = (costs[1].as_f64().unwrap(), costs[2].as_f64().unwrap());
        assert!((alone / 3000.0 - 1.0).abs() < 0.02, "{load}: {costs}");
        assert!((beside / (3000.0 - rate) - 1.0).abs() < 0.03, "{load}: {costs}");
        let got = row(&json, "What it got", "with random 70/30 qd64")[2].as_f64().unwrap();
        assert!((got / rate - 1.0).abs() < 0.05, "{load}: {got}");
        let figures = json["findings"]["figures"].as_array().unwrap();
        let taken = figures[figures.len() - 1]["estimate"]["value"].as_f64().unwrap();
        assert!((taken - 1.0).abs() < 0.06, "{load}: each operation took {taken}");
    }
}

/// Where there is room for both, nothing is taken.
#[test]
fn a_neighbour_that_fits_beside_costs_nothing() {
    let user = User::new();
    let json = study(&user, "sim:nvme-tlc,capacity=64GiB", "oltp:100");
    let verdict = said(&json, "verdict");
    assert!(!verdict.contains("(slower)"), "{verdict}");
    assert!(!verdict.contains("Each operation that oltp got"), "{verdict}");
}

#[test]
fn a_neighbour_is_named_or_refused() {
    let user = User::new();
    let line = |load: &'static str| ["study", "under", "sim:gp3", "--load", load];
    user.types(&line("mysql")).refused(2, "oltp, import");
    user.types(&line("oltp:fast")).refused(2, "operations a second");
    user.types(&["study", "mix", "sim:gp3", "--load", "oltp"])
        .refused(2, "--load is for the study `under`");
}
