//! Whether ringing after a sequential fill is taken for a steady state.

use crate::{Bench, true_steady_iops};
use drivelab_stats::steady::{Settled, first_steady_round, windows};
use serde_json::Value;
use std::fmt::Write;

const OFF_MAX: f64 = 0.01;

/// Bytes and nanoseconds of each interval of the rounds of random writes, in order.
fn intervals(bench: &Bench) -> Vec<(f64, f64)> {
    let text = std::fs::read_to_string(bench.last_run().unwrap()).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut rounds = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    for record in records {
        let step = record["step"].as_u64();
        match record["record"].as_str().unwrap() {
            "step_begin" if record["name"] == "random write" => {
                rounds.extend(step);
            }
            "tally" if step.is_some_and(|step| rounds.contains(&step)) => {
                let bytes: f64 = record["kinds"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|kind| kind["bytes"].as_f64().unwrap())
                    .sum();
                let ns = record["to"].as_f64().unwrap() - record["from"].as_f64().unwrap();
                all.push((bytes, ns));
            }
            _ => {}
        }
    }
    all
}

/// Mean rates of rounds of so many bytes.
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
                    criterion accepts, for three lengths of a round, and the mean by which \
                    drivelab calls the drive settled.\n\n| drive | rounds of C/8 | C/16 | C/32 | \
                    settled | after, × capacity |\n|:--|--:|--:|--:|--:|--:|\n"
        .to_string();
    let mut misses = 0;
    for drive in ["", ",spare=0.12", ",spare=0.07", ",collector=fifo"] {
        let target = format!("sim:textbook,capacity=2GiB{drive}");
        let bench = Bench::new();
        bench.types(&["study", "trim", &target, "--seed", "2", "--json"]);
        let truth = true_steady_iops(&target);
        let intervals = intervals(&bench);
        let capacity = f64::from(1u32 << 31);
        let _ = write!(text, "| {} |", target.trim_start_matches("sim:"));
        for part in [8.0, 16.0, 32.0] {
            let rates = rounds(&intervals, capacity / part);
            let first = first_steady_round(&[&rates]).ok().flatten();
            let mean = first.map(|round| windows(&rates).unwrap()[round - 5].mean);
            let _ = match mean {
                Some(mean) => write!(text, " {:+.1} % |", 100.0 * (mean / truth - 1.0)),
                None => write!(text, " never |"),
            };
        }
        let rates = rounds(&intervals, capacity / 8.0);
        let settled = Settled::of(&rates).map_or(f64::NAN, |settled| settled.mean);
        let off = settled / truth - 1.0;
        misses += u32::from(off.is_nan() || off.abs() > OFF_MAX);
        let _ = writeln!(text, " {:+.2} % | {:.2} |", 100.0 * off, rates.len() as f64 / 8.0);
    }
    let _ = writeln!(text, "\n{misses} of 4 settled means are off by more than 1 %.");
    (text, misses)
}
