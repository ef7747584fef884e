//! A plain run: its gaps, its step.

use super::case::{Case, Place, Said};
use super::judged::{Judged, Level};
use super::numbers::prefixed;
use serde_json::Value;

/// Gaps that are shown are longer than 100 ms; so much longer must a stall be to be one of them.
const SURELY_MS: f64 = 130.0;
/// Where a drive was at its slowest its operations took this many times as long as on average.
const SLOWER: f64 = 2.0;
/// Levels next to a step are those of runs that end before it and begin behind it, within this.
const NEAR: f64 = 0.15;

/// What the run said of its time line.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(json) = said.json.as_ref().filter(|_| case.study == "run") else { return };
    let stream = &json["steps"][0]["streams"][0];
    gaps(case, stream, all);
    step(case, stream, all);
}

fn gaps(case: &Case, stream: &Value, all: &mut Vec<Judged>) {
    let Some((period_s, length_ms)) = case.drive.planted.stall else { return };
    let (Some(count), Some(seconds)) =
        (stream["gaps"]["count"].as_u64(), stream["seconds"].as_f64())
    else {
        return;
    };
    let mean_s = stream["total"]["iops"]["value"].as_f64().map_or(1.0, |rate| 1.0 / rate);
    // What was in flight when the stall began still comes to its end in it.
    let depth = case.after.iter().position(|word| word == "--depth");
    let depth = depth.and_then(|at| case.after[at + 1].parse::<f64>().ok()).unwrap_or(1.0);
    let in_flight_ms = 1000.0 * depth * mean_s * SLOWER;
    if (length_ms as f64) < SURELY_MS + in_flight_ms || mean_s > 0.01 {
        return;
    }
    let whole = seconds / period_s as f64;
    let is_right = count as f64 >= whole.floor() - 1.0;
    let said = format!("{count} gaps over 100 ms");
    let truth = format!("{length_ms} ms each {period_s} s in {seconds:.1} s");
    all.push(Judged::held("gaps", Level::Certain, is_right, said, truth));
}

/// "a step at 7.00 s: 2.96k IOPS before it, 100 IOPS from there on; …"
fn parsed(text: &str) -> Option<(f64, f64, f64)> {
    let words: Vec<&str> = text.split([' ', ':', ',']).collect();
    let after = |word: &str, nth: usize| {
        words.iter().position(|it| *it == word).and_then(|at| words.get(at + nth))
    };
    let rate = |from: usize| -> Option<f64> {
        (*words.get(from + 1)? == "IOPS").then(|| prefixed(words.get(from)?))?
    };
    let at: f64 = after("at", 1)?.parse().ok()?;
    let before = words.iter().position(|word| *word == "before")?.checked_sub(2)?;
    let behind = words.iter().position(|word| *word == "from")?.checked_sub(2)?;
    Some((at, rate(before)?, rate(behind)?))
}

/// The rate of the same line with other words for its time.
fn rate(case: &Case, words: &[String]) -> Option<f64> {
    let mut other = case.reseeded(9)?;
    let at = other.after.iter().position(|word| word == "--runtime")?;
    other.after.splice(at..at + 2, words.iter().cloned());
    let json = Said::json_of(&other, &Place::of(&other.drive)).json?;
    json["steps"][0]["streams"][0]["total"]["iops"]["value"].as_f64()
}

fn step(case: &Case, stream: &Value, all: &mut Vec<Judged>) {
    let total = &stream["total"];
    if total["no_interval"]["code"] != "step" {
        return;
    }
    let words = total["no_interval"]["text"].as_str().unwrap_or_default();
    let (Some((at, before, behind)), Some(seconds)) = (parsed(words), stream["seconds"].as_f64())
    else {
        return;
    };
    let text = |time: f64| format!("{time:.3}s");
    let early = rate(case, &["--runtime".into(), text(at)]);
    let late = [String::from("--ramp"), text(at), "--runtime".into(), text(seconds - at)];
    let (Some(early), Some(late)) = (early, rate(case, &late)) else { return };
    let is_near = |one: f64, two: f64| (one / two).ln().abs() <= NEAR;
    let is_right = is_near(before, early) && is_near(behind, late);
    let truth = format!("{early:.0} IOPS until then, {late:.0} IOPS behind it");
    all.push(Judged::held("step", Level::Alpha, is_right, words, truth));
}
