//! The write cliff: from a drive that was filled in order to the steady state.

use crate::load::{Bench, operations, random};
use crate::page::{Table, number, signed_percent};
use drivelab_core::plan::Mix;
use drivelab_sim::target::SimTarget;
use drivelab_sim::theory;

const WINDOWS: usize = 500;
const WINDOWS_BY_PASS: u64 = 100;
/// Windows taken together before an extreme is looked for.
const SMOOTHED: usize = 5;
/// Windows taken together before a drive is called settled.
const SETTLED: usize = 20;

/// Amplification in each hundredth of a pass.
fn curve(target: &str) -> Result<Vec<f64>, String> {
    let mut bench = Bench::of(target)?;
    let window = bench.bytes() / 4096 / WINDOWS_BY_PASS;
    (0..WINDOWS)
        .map(|_| bench.run(random(Mix::WRITE, 4096, 32), operations(window))?.amplification())
        .collect()
}

fn means(curve: &[f64], length: usize) -> Vec<f64> {
    curve.windows(length).map(|part| part.iter().sum::<f64>() / length as f64).collect()
}

/// The highest and lowest points in turn, as far as they are beyond 1 % of the steady state.
fn ringing(smooth: &[f64], cliff: usize, steady: f64) -> Vec<(usize, f64)> {
    let mut extremes: Vec<(usize, f64)> = Vec::new();
    let mut side = 0;
    for (place, value) in smooth.iter().enumerate().skip(cliff) {
        let share = value / steady - 1.0;
        if share.abs() <= 0.01 {
            continue;
        }
        let now = if share > 0.0 { 1 } else { -1 };
        // Before the first peak, the climb itself is no swing.
        if extremes.is_empty() && now < 0 {
            continue;
        }
        match extremes.last_mut() {
            Some(last) if side == now && share.abs() > last.1.abs() => *last = (place, share),
            Some(_) if side == now => {}
            _ => extremes.push((place, share)),
        }
        side = now;
    }
    extremes
}

fn settled_from(smooth: &[f64], steady: f64) -> Option<usize> {
    let last_outside = smooth.iter().rposition(|value| (value / steady - 1.0).abs() > 0.01)?;
    (last_outside + 1 < smooth.len()).then_some(last_outside + 1)
}

/// The write cliff.
pub fn section() -> Result<String, String> {
    let mut table = Table::new(&[
        "spare ρ",
        "cliff at units written ÷ U",
        "steady, formula",
        "swings around it: at pass, by",
        "within 1 % from pass",
        "mean of the last pass",
    ]);
    for spare in [0.12, 0.28] {
        let target = format!("textbook,capacity=4GiB,spare={spare},state=filled");
        let parsed = SimTarget::parse(&format!("sim:{target}"), |file| Err(file.to_owned()))?;
        let figures = parsed.figures(None)?;
        let block_units = figures.iter().find(|figure| figure.name == "block_units");
        let block_units = block_units.map_or(0.0, |figure| figure.value);
        let steady = theory::greedy(spare, block_units as u32);
        let curve = curve(&target)?;
        let cliff = curve.iter().position(|value| *value > 1.0 + 1e-9);
        let Some(cliff) = cliff else { return Err(format!("{target}: no cliff")) };
        let smooth = means(&curve, SMOOTHED);
        let pass = |window: usize, length: usize| {
            format!("{:.2}", (window as f64 + length as f64 / 2.0) / WINDOWS_BY_PASS as f64)
        };
        let swings: Vec<String> = ringing(&smooth, cliff, steady)
            .iter()
            .map(|(place, share)| format!("{}: {}", pass(*place, SMOOTHED), signed_percent(*share)))
            .collect();
        let settled = settled_from(&means(&curve, SETTLED), steady);
        let last = means(&curve, WINDOWS_BY_PASS as usize).last().copied().unwrap_or(f64::NAN);
        table.row(&[
            format!("{:.0} %", 100.0 * spare),
            format!("{:.2}", cliff as f64 / WINDOWS_BY_PASS as f64),
            number(steady),
            swings.join("; "),
            settled.map_or("not within 5 passes".to_owned(), |place| pass(place, SETTLED)),
            number(last),
        ]);
    }
    Ok(format!(
        "### The write cliff\n\nThe textbook drive of 4 GiB with greedy victims is filled in order \
         and then written at random, {WINDOWS} hundredths of a pass. The cliff comes when the \
         spare is used up, so at ρ. Swings are means of {SMOOTHED} hundredths, those beyond 1 %; a \
         drive is settled when means of {SETTLED} hundredths stay within 1 %.\n\n{}",
        table.text()
    ))
}
