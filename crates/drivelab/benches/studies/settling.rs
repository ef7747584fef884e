//! Whether ringing after a sequential fill is taken for a steady state.

use crate::{Bench, true_steady_iops};
use drivelab_stats::steady::{Past, Settled, first_steady_round, windows};
use serde_json::Value;
use std::fmt::Write;

const OFF_MAX: f64 = 0.01;

/// The rounds of random writes that a study did.
#[derive(Default)]
struct Rounds {
    /// Bytes and nanoseconds of each interval, in order.
    intervals: Vec<(f64, f64)>,
    /// Operations a second of each round.
    rates: Vec<f64>,
}

fn rounds_of(bench: &Bench) -> Rounds {
    let text = std::fs::read_to_string(bench.last_run().unwrap()).unwrap();
    let mut rounds = Rounds::default();
    let mut is_round = false;
    let mut bytes = 0.0;
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        match record["record"].as_str().unwrap() {
            "step_begin" => (is_round, bytes) = (record["name"] == "random write", 0.0),
            "tally" if is_round => {
                let kinds = record["kinds"].as_array().unwrap();
                let moved: f64 = kinds.iter().map(|kind| kind["bytes"].as_f64().unwrap()).sum();
                let ns = record["to"].as_f64().unwrap() - record["from"].as_f64().unwrap();
                rounds.intervals.push((moved, ns));
                bytes += moved;
            }
            "step_end" if is_round => {
                let phase = &record["phases"][0];
                let ns = phase["closed"].as_f64().unwrap() - phase["opened"].as_f64().unwrap();
                rounds.rates.push(bytes / 4096.0 / ns * 1e9);
            }
            _ => {}
        }
    }
    rounds
}

/// Mean rates of rounds of this many bytes.
fn rounds(intervals: &[(f64, f64)], bytes: f64) -> Vec<f64> {
    let mut all = Vec::new();
    let (mut sum, mut ns) = (0.0, 0.0);
    for (moved, took) in intervals {
        (sum, ns) = (sum + moved, ns + took);
        if sum >= bytes * (1.0 - 1e-9) {
            all.push(sum / 4096.0 / ns * 1e9);
            (sum, ns) = (0.0, 0.0);
        }
    }
    all
}

pub fn after_a_fill() -> (String, u32) {
    let mut text = "### Ringing after a sequential fill\n\nRandom writes on a drive that was \
                    written once in order begin fast, fall below their steady rate and overshoot \
                    it. What is off is the mean of the first window of five rounds that SNIA's \
                    criterion accepts, for several lengths of a round, and the mean by which \
                    drivelab calls the drive settled.\n\n| drive | rounds of C/8 | C/12 | C/16 | \
                    C/24 | C/32 | C/64 | settled | after, × capacity \
                    |\n|:--|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_string();
    let mut misses = 0;
    for drive in ["", ",spare=0.12", ",spare=0.07", ",collector=fifo"] {
        let target = format!("sim:textbook,capacity=2GiB{drive}");
        let bench = Bench::new();
        bench.types(&["study", "trim", &target, "--seed", "2", "--json"]);
        let truth = true_steady_iops(&target);
        let found = rounds_of(&bench);
        let capacity = f64::from(1u32 << 31);
        let _ = write!(text, "| {} |", target.trim_start_matches("sim:"));
        for part in [8.0, 12.0, 16.0, 24.0, 32.0, 64.0] {
            let rates = rounds(&found.intervals, capacity / part);
            let first = first_steady_round(&[&rates]).ok().flatten();
            let mean = first.map(|round| windows(&rates).unwrap()[round - 5].mean);
            let _ = match mean {
                Some(mean) => write!(text, " {:+.1} % |", 100.0 * (mean / truth - 1.0)),
                None => write!(text, " never |"),
            };
        }
        let rates = &found.rates;
        let settled = Settled::of(rates, &Past::OPEN).map_or(f64::NAN, |settled| settled.mean);
        let off = settled / truth - 1.0;
        misses += u32::from(off.is_nan() || off.abs() > OFF_MAX);
        let _ = writeln!(text, " {:+.2} % | {:.2} |", 100.0 * off, rates.len() as f64 / 8.0);
    }
    let _ = writeln!(text, "\n{misses} of 4 settled means are off by more than 1 %.");
    (text, misses)
}
