//! What a byte costs of flash: the same in five more capacities of the same load.

use super::case::{Case, Said};
use super::judged::{Judged, Level};
use super::replay::{for_bytes, performed, replay};
use drivelab_core::inside::Inside;

const OFF: f64 = 0.05;
const CAPACITIES: u64 = 5;

/// What `endurance` said of the load that was done last.
pub fn judge(case: &Case, said: &Said, all: &mut Vec<Judged>) {
    let Some(run) = said.run.as_ref().filter(|_| case.study == "endurance") else { return };
    let Some(last) = run.steps.iter().rfind(|it| !it.plan.streams.is_empty()) else { return };
    let open = said.sentences("unknown").join(" ");
    let figures = said.json.as_ref().and_then(|json| json["findings"]["figures"].as_array());
    let mut claims = figures.into_iter().flatten().filter_map(|figure| {
        let name = figure["name"].as_str()?.strip_prefix("write amplification, ")?;
        Some((name, figure["estimate"]["value"].as_f64()?))
    });
    let Some((name, found)) = claims.next_back() else { return };
    if open.contains("had settled") || !last.begin.name.contains(name) {
        return;
    }
    let Some(bytes) = run.begin.facts.target.bytes else { return };
    let mut steps = performed(&run.steps);
    let before = steps.len();
    // A load in order goes through the drive by the steps of a turn.
    let turn = || performed(&run.steps).into_iter().filter(|step| step.name.contains(name));
    match last.plan.streams[0].length.is_some_and(|length| length.0 < bytes) {
        true => (0..CAPACITIES).for_each(|_| steps.extend(turn())),
        false => steps.push(for_bytes(&last.plan, CAPACITIES * bytes)),
    }
    let Some(long) = replay(case, run, steps) else { return };
    let more = long.steps.iter().skip(before).flat_map(|step| &step.insides);
    let inside = more.fold(Inside::default(), |sum, it| sum.plus(&it.inside));
    let Some(truth) = inside.write_amplification() else { return };
    let is_right = (found / truth - 1.0).abs() <= OFF;
    let words = format!("write amplification, {name}: {found:.3}");
    let truth = format!("{truth:.3} over five more capacities");
    all.push(Judged::held("wear", Level::Certain, is_right, words, truth));
}
