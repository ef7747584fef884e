//! `apps` on several drives: their scores against one of them, and what they cost.

use crate::cli_user::{User, figure, said};
use serde_json::Value;

const ONE: &str = "sim:x25-m";
const OTHER: &str = "sim:momentus-7200";

fn scores(user: &User, targets: &[&str], more: &[&str]) -> Value {
    let line = [&["study", "apps"], targets, &["--quick", "--seed", "7", "--json"], more].concat();
    user.types(&line).fine().json()
}

fn score(json: &Value, load: &str) -> f64 {
    let rows = json["findings"]["heat_maps"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == load).unwrap();
    row["cells"][0]["ratio"]["value"].as_f64().unwrap()
}

#[test]
fn scores_turn_round_with_the_reference_and_are_ratios_of_the_runs_own_times() {
    let user = User::new();
    let json = scores(&user, &[ONE, OTHER], &[]);
    let turned = scores(&user, &[ONE], &["--reference", OTHER]);
    let verdict = said(&json, "verdict");
    assert!(verdict.contains("Overall score, x25-m is 1: x25-m 1 > momentus-7200 0."), "{verdict}");
    let verdict = said(&turned, "verdict");
    assert!(verdict.contains("score, momentus-7200 is 1: x25-m "), "{verdict}");
    for load in ["overall", "boot", "desktop", "log", "media"] {
        assert!((score(&json, load) * score(&turned, load) - 1.0).abs() < 1e-6, "{load}");
    }
    let start = |target: &str| {
        let line = ["study", "apps", target, "--quick", "--seed", "7", "--json"];
        figure(&user.types(&line).fine().json(), "program start")
    };
    let expected = start(ONE) / start(OTHER);
    assert!((score(&json, "program start") / expected - 1.0).abs() < 1e-6);
    user.types(&["study", "rank", ONE, OTHER, "--reference", ONE])
        .refused(2, "--reference is for the study `apps`");
}

fn costs(json: &Value) -> Option<Vec<Vec<Value>>> {
    let tables = json["findings"]["tables"].as_array().unwrap();
    let is_it = |table: &&Value| table["title"] == "What it costs";
    assert!(tables.iter().filter(is_it).count() <= 1, "prices stand there twice");
    let table = tables.iter().find(is_it)?;
    let rows = table["rows"].as_array().unwrap().iter();
    Some(rows.map(|row| row.as_array().unwrap().clone()).collect())
}

#[test]
fn prices_stand_beside_a_ranking_and_nothing_does_without_one() {
    let user = User::new();
    let targets = ["sim:x25-m,capacity=1GiB", "sim:x25-e,capacity=1GiB"];
    let rank = |more: &[&str]| {
        let line = [&["study", "rank"], &targets[..], &["--quick", "--seed", "7", "--json"], more];
        user.types(&line.concat()).fine().json()
    };
    assert_eq!(costs(&rank(&[])), None);
    let json = rank(&["--price", "107.3741824USD,53.6870912USD"]);
    let rows = costs(&json).unwrap();
    assert_eq!(rows[0][1..], ["107 USD", "53.7 USD"]);
    assert_eq!(rows[1][0], "per GB");
    assert_eq!(rows[1][1..], ["100 USD", "50.0 USD"]);
    let named = costs(&rank(&["--price", "x25-e=53.6870912USD"])).unwrap();
    assert!(named[1][1].is_null() && named[1][2] == "50.0 USD", "{named:?}");
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(
        names[2..4],
        ["per 1,000 IOPS, random read qd32", "per 1,000 IOPS, random write qd32"]
    );
}

#[test]
fn a_published_price_is_of_the_unchanged_drive_only() {
    let user = User::new();
    let rank = |core: &str, more: &[&str]| {
        let line = ["study", "rank", core, "sim:momentus-7200", "--quick", "--seed", "7", "--json"];
        costs(&user.types(&[&line[..], more].concat()).json())
    };
    let rows = rank("sim:ocz-core,state=filled", &[]).unwrap();
    assert_eq!(rows[0][1], "300 USD");
    assert_eq!(rows[1][1], "4.69 USD");
    assert!(rows[0][2].is_null());
    assert_eq!(rank("sim:ocz-core,capacity=1GiB", &[]), None);
    let said = rank("sim:ocz-core,state=filled", &["--price", "ocz-core=64"]).unwrap();
    assert_eq!(said[1][1], "1.00");
}

#[test]
fn prices_that_make_no_sense_are_refused() {
    let user = User::new();
    let targets = ["study", "rank", "sim:ocz-core", "sim:x25-m", "--quick", "--price"];
    for (price, why) in [
        ("300", "is 1 price for 2 targets"),
        ("300,650,3", "is 3 prices for 2 targets"),
        ("300,x", "is not a price"),
        ("300,-1", "is not a price"),
        ("300,0", "a price must be above 0"),
        ("ocz-core=300,7", "names for some and not all"),
        ("foo=3", "none of the targets"),
        ("ocz-core=3,ocz-core=4", "two prices"),
    ] {
        user.types(&[&targets[..], &[price]].concat()).refused(2, why);
    }
}
