//! "Settled": ten more capacities of the same load stay within the band.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use super::replay::{for_bytes, iops, performed, replay};
use drivelab_core::run::Run;

const BAND: f64 = 0.05;
const CAPACITIES: usize = 10;

/// A level that was claimed, behind this many steps.
struct Claim {
    steps: usize,
    level: f64,
    words: String,
}

const ROUND: &str = "random write";

fn claim(case: &Case, said: &Said, run: &Run) -> Option<Claim> {
    if case.study == "wsat" {
        let words = said.sentences("verdict").into_iter().find(|it| it.starts_with("Settled"))?;
        let level = said.figure("steady state")?;
        // Larger writes that look for a cause behind it leave the drive in another state.
        let of_load = |name: &str| name == ROUND || name == "steady random write";
        let steps = run.steps.iter().rposition(|step| of_load(&step.begin.name))? + 1;
        return Some(Claim { steps, level, words: words.into() });
    }
    let (steps, found) = run.established.iter().find(|(_, it)| it.state == "random-steady")?;
    let rounds: Vec<f64> =
        run.steps[..*steps].iter().filter(|step| step.begin.name == ROUND).map(iops).collect();
    let last = &rounds[rounds.len().saturating_sub(8)..];
    let level = last.iter().sum::<f64>() / last.len().max(1) as f64;
    Some(Claim { steps: *steps, level, words: found.because.clone() })
}

/// Rates of ten more capacities.
fn further(case: &Case, run: &Run, steps: usize) -> Option<Vec<f64>> {
    let rounds = run.steps[..steps].iter().rev();
    let load = rounds.clone().find(|step| step.begin.name == ROUND)?;
    let bytes = run.begin.facts.target.bytes?;
    let mut all = performed(&run.steps[..steps]);
    let more = for_bytes(&load.plan, bytes);
    all.extend(std::iter::repeat_n(more, CAPACITIES));
    let run = replay(case, run, all)?;
    let from = run.steps.len().checked_sub(CAPACITIES)?;
    Some(run.steps[from..].iter().map(iops).collect())
}

/// What the study said of a steady state.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = &said.run else { return };
    let Some(claim) = claim(case, said, run) else {
        return unsettled(case, said, run, all);
    };
    let Some(rates) = further(case, run, claim.steps) else { return };
    let off = |rate: &f64| rate / claim.level - 1.0;
    let mut offs: Vec<f64> = rates.iter().map(off).collect();
    offs.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // A capacity with a planted stall in it is slower by the stall, and level all the same.
    let place = if case.drive.planted.stall.is_some() { offs.len() / 2 } else { offs.len() - 1 };
    let worst = offs.get(place).copied().unwrap_or(0.0);
    let shown: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
    all.push(Judged::held(
        "settled",
        Level::Certain,
        worst.abs() <= BAND,
        format!("{} ({:.0} IOPS)", claim.words, claim.level),
        format!("{:+.1} %: ten more capacities at {} IOPS", 100.0 * worst, shown.join(", ")),
    ));
}

/// No claim: the level of the last two turns would have been one, had it been that of ever after.
fn unsettled(case: &Case, said: &Said, run: &Run, all: &mut Vec<Judged>) {
    if case.study != "wsat" || said.status != Some(4) {
        return;
    }
    let rounds: Vec<f64> =
        run.steps.iter().filter(|step| step.begin.name == ROUND).map(iops).collect();
    let said = said.sentences("unknown").join(" ");
    if rounds.len() < 48 {
        all.push(Judged::open("settled", false, said, format!("{} rounds", rounds.len())));
        return;
    }
    let Some(rates) = further(case, run, run.steps.len()) else { return };
    let level = rates.iter().sum::<f64>() / rates.len() as f64;
    let last = &rounds[rounds.len() - 16..];
    let is_flat = rates.iter().chain(last).all(|rate| (rate / level - 1.0).abs() < BAND / 2.0);
    let truth = format!("{} rounds; ten more capacities at {level:.0} IOPS", rounds.len());
    all.push(Judged::open("settled", is_flat, said, truth));
}
