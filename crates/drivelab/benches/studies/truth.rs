//! `wsat` and `trim` against what the simulated drive itself knows.

use crate::{Bench, figure, true_steady_iops};
use serde_json::Value;
use std::fmt::Write;

/// What an answer may be off.
const OFF_MAX: f64 = 0.03;

const DRIVES: [(&str, &str); 10] = [
    ("0.07", "greedy"),
    ("0.12", "greedy"),
    ("0.28", "greedy"),
    ("0.50", "greedy"),
    ("0.07", "fifo"),
    ("0.15", "fifo"),
    ("0.28", "fifo"),
    ("0.10", "d-choices"),
    ("0.20", "random"),
    ("0.40", "random"),
];

/// Bytes that the host had written before the drive first had to collect.
fn first_collection_bytes(bench: &Bench) -> f64 {
    let text = std::fs::read_to_string(bench.last_run().unwrap()).unwrap();
    let mut units = 0;
    for line in text.lines().filter(|line| line.starts_with("{\"record\":\"inside\"")) {
        let inside = serde_json::from_str::<Value>(line).unwrap()["inside"].clone();
        units += inside["host_units"].as_u64().unwrap_or(0);
        if inside["collection_units"].as_u64().unwrap_or(0) > 0 {
            return units as f64 * 4096.0;
        }
    }
    f64::NAN
}

pub fn wsat() -> (String, u32) {
    let mut text =
        "### `wsat` on ten simulated drives\n\nThe cliff is compared with the interval in \
                    which the drive first copied a block, the steady level against a drive that \
                    the model puts into its steady state.\n\n| spare | collector | cliff, × \
                    capacity | truth | off | steady, k IOPS | truth | off |\n|--:|:--|--:|--:|--:\
                    |--:|--:|--:|\n"
            .to_string();
    let mut misses = 0;
    for (spare, collector) in DRIVES {
        let d = if collector == "d-choices" { ",d=5" } else { "" };
        let target = format!("sim:textbook,capacity=1GiB,spare={spare},collector={collector}{d}");
        let bench = Bench::new();
        let (_, json) = bench.types(&["study", "wsat", &target, "--seed", "5", "--json"]);
        let capacity = f64::from(1 << 30);
        let cliff = figure(&json, "cliff after").unwrap_or(f64::NAN);
        let true_cliff = first_collection_bytes(&bench);
        let steady = figure(&json, "steady state").unwrap_or(f64::NAN);
        let true_steady = true_steady_iops(&target);
        let off = [cliff / true_cliff - 1.0, steady / true_steady - 1.0];
        misses +=
            off.iter().map(|off| u32::from(off.abs().is_nan() || off.abs() > OFF_MAX)).sum::<u32>();
        let _ = writeln!(
            text,
            "| {spare} | {collector} | {:.3} | {:.3} | {:+.2} % | {:.1} | {:.1} | {:+.2} % |",
            cliff / capacity,
            true_cliff / capacity,
            100.0 * off[0],
            steady / 1e3,
            true_steady / 1e3,
            100.0 * off[1]
        );
    }
    let _ = writeln!(text, "\n{misses} of 20 are off by more than 3 %.");
    (text, misses)
}

pub fn trim() -> (String, u32) {
    let mut text = "### `trim` on drives that honour TRIM and on drives that ignore it\n\n\
                    | drive | honours TRIM | found | of fresh, after TRIM |\n|:--|:--|:--|--:|\n"
        .to_string();
    let mut misses = 0;
    for spare in ["0.07", "0.15", "0.28"] {
        for collector in ["greedy", "fifo"] {
            for honours in ["true", "false"] {
                let target = format!(
                    "sim:textbook,capacity=512MiB,spare={spare},collector={collector},\
                     honours_trim={honours}"
                );
                let bench = Bench::new();
                let (status, json) =
                    bench.types(&["study", "trim", &target, "--seed", "3", "--json"]);
                let verdicts = json["findings"]["verdict"].to_string();
                let works = verdicts.contains("TRIM works");
                let found = match (works, status) {
                    (true, 0) => "works",
                    (false, 1) => "ignored",
                    _ => "neither",
                };
                let wanted = if honours == "true" { "works" } else { "ignored" };
                misses += u32::from(found != wanted);
                let back = figure(&json, "of fresh").unwrap_or(f64::NAN);
                let _ = writeln!(
                    text,
                    "| spare {spare}, {collector} | {honours} | {found} | {:.0} % |",
                    100.0 * back
                );
            }
        }
    }
    let _ = writeln!(text, "\n{misses} of 12 are told wrongly.");
    (text, misses)
}
