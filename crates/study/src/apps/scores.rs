//! Several drives against one of them: a score for each load, and one for all.

use super::loads::App;
use super::work::worked;
use crate::across::short;
use crate::compare::{Side, compare};
use crate::experiment::order::unbroken;
use drivelab_core::comparison::{Cell, Comparison, Metric, Sample};
use drivelab_core::findings::{Findings, HeatMap, HeatRow};
use drivelab_core::gathering::Member;
use drivelab_core::quantity::{digits, percent};
use drivelab_core::sound::{Rules, Sound};
use drivelab_stats::{Verdict, centred, centred_at};

/// The score of all loads.
const OVERALL: &str = "overall";

/// One drive.
struct Drive {
    name: String,
    /// Pieces of work a second of waiting, one value for each repetition, by load.
    loads: Vec<Option<Vec<f64>>>,
    /// Why a load was kept out, by load.
    reasons: Vec<Option<String>>,
}

impl Drive {
    fn of(member: &Member<'_>, name: String) -> Self {
        let sound = Sound::of(member.run, Rules::STRICT).part(unbroken);
        let of_app = |app: &App| {
            let worked = worked(sound.summary(), &sound, *app)?;
            centred(&worked.waiting).ok()
        };
        let reasons = App::ALL.iter().map(|app| sound.why_kept_out(app.name())).collect();
        Drive { name, loads: App::ALL.iter().map(of_app).collect(), reasons }
    }

    /// The geometric mean over all loads, round by round as far as all have one, moved to that of
    /// all their rounds; `None`: one of them has no sound number.
    fn overall(&self) -> Option<Vec<f64>> {
        let all: Vec<&Vec<f64>> = self.loads.iter().flatten().collect();
        if all.len() < App::ALL.len() {
            return None;
        }
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let of_round = |round: usize| {
            let logs: Vec<f64> = all.iter().filter_map(|it| Some(it.get(round)?.ln())).collect();
            mean(&logs).exp()
        };
        let of_load =
            |values: &&Vec<f64>| mean(&values.iter().map(|it| it.ln()).collect::<Vec<_>>());
        let centre = mean(&all.iter().map(of_load).collect::<Vec<_>>()).exp();
        let rounds = all.iter().map(|values| values.len()).min()?;
        let values: Vec<f64> = (0..rounds).map(of_round).collect();
        centred_at(&values, centre).ok()
    }

    fn missing(&self) -> Vec<&'static str> {
        let with = App::ALL.iter().zip(&self.loads);
        with.filter(|(_, values)| values.is_none()).map(|(app, _)| app.name()).collect()
    }

    /// One sample a load, and one of all, under the names of `of`.
    fn samples(&self, of: &str) -> Vec<Sample> {
        let each = App::ALL.iter().zip(self.loads.iter().zip(&self.reasons));
        let mut samples: Vec<Sample> = each
            .filter(|(_, (values, reason))| values.is_some() || reason.is_some())
            .map(|(app, (values, reason))| {
                sample(cell_of(of, app.name()), values.clone(), reason.clone())
            })
            .collect();
        let overall = self.overall();
        let has_overall = overall.is_some();
        samples.extend(has_overall.then(|| sample(cell_of(of, OVERALL), overall, None)));
        samples
    }
}

fn sample(name: String, values: Option<Vec<f64>>, suspect: Option<String>) -> Sample {
    let values = values.unwrap_or_default();
    Sample { name, metric: Metric::Numbers, values, is_ordered: false, suspect }
}

fn cell_of(drive: &str, load: &str) -> String {
    format!("{drive} · {load}")
}

fn side(name: &str, samples: Vec<Sample>) -> Side {
    Side { name: name.into(), samples, facts: Vec::new(), is_by_run: false }
}

/// What the runs on several drives say together.
pub fn across(members: &[Member<'_>]) -> Findings {
    let mut findings = Findings::default();
    let names = short(&members.iter().map(|member| member.target).collect::<Vec<_>>());
    let drives: Vec<Drive> =
        members.iter().zip(names).map(|(member, name)| Drive::of(member, name)).collect();
    let asked = |member: &Member<'_>| member.run.begin.study.clone()?.reference;
    let named = members.first().and_then(asked);
    let place = members.iter().position(|member| Some(member.target) == named.as_deref());
    let Some(reference) = drives.get(place.unwrap_or(0)) else { return findings };
    let others: Vec<&Drive> =
        drives.iter().filter(|drive| !std::ptr::eq(*drive, reference)).collect();
    let held = |drive: &&Drive| (reference.samples(&drive.name), drive.samples(&drive.name));
    let (before, after): (Vec<_>, Vec<_>) = others.iter().map(held).unzip();
    let scores =
        compare(&side(&reference.name, before.concat()), &side("the others", after.concat()), None);
    if let Ok(scores) = scores {
        findings.heat_maps.push(map(reference, &others, &scores));
        findings.verdict = in_order(reference, &drives, &scores);
    }
    for drive in drives.iter().filter(|drive| !drive.missing().is_empty()) {
        let whose = match std::ptr::eq(drive, reference) {
            true => "Any overall score: all drives are compared with",
            false => "The overall score of",
        };
        findings.unknown.push(format!(
            "{whose} {}, which has no valid numbers of {}.",
            drive.name,
            drive.missing().join(", ")
        ));
    }
    findings
}

/// The scores as a table: rows are loads, columns drives.
fn map(reference: &Drive, others: &[&Drive], scores: &Comparison) -> HeatMap {
    let find = |drive: &Drive, load: &str| -> Option<Cell> {
        let name = cell_of(&drive.name, load);
        scores.cells.iter().find(|cell| cell.name == name).cloned()
    };
    let row = |load: &str| HeatRow {
        name: load.into(),
        against: reference.name.clone(),
        cells: others.iter().map(|drive| find(drive, load)).collect(),
    };
    let loads = App::ALL.iter().map(|app| app.name()).chain([OVERALL]);
    HeatMap {
        title: format!("Scores, {} is 1", reference.name),
        note: format!(
            "A score is the time that a load's fixed work waits for {}, by the time that it waits \
             for this drive: 2 is twice as fast. Overall is the geometric mean of all.",
            reference.name
        ),
        columns: others.iter().map(|drive| drive.name.clone()).collect(),
        rows: loads.map(row).filter(|row| row.cells.iter().any(Option::is_some)).collect(),
    }
}

/// The drives by their overall score, and what is known of each and the next.
fn in_order(reference: &Drive, drives: &[Drive], scores: &Comparison) -> Vec<String> {
    let score = |drive: &Drive| -> Option<(f64, String)> {
        if std::ptr::eq(drive, reference) {
            return reference.overall().map(|_| (1.0, "1".into()));
        }
        let name = cell_of(&drive.name, OVERALL);
        let ratio = scores.cells.iter().find(|cell| cell.name == name)?.ratio?;
        let interval = ratio.low.zip(ratio.high);
        let interval = interval.map(|(low, high)| format!(" ({} to {})", few(low), few(high)));
        Some((ratio.value, format!("{}{}", few(ratio.value), interval.unwrap_or_default())))
    };
    let mut placed: Vec<(&Drive, f64, String)> = drives
        .iter()
        .filter_map(|drive| score(drive).map(|(value, words)| (drive, value, words)))
        .collect();
    placed.sort_by(|one, other| other.1.total_cmp(&one.1));
    let neighbours = neighbours(&placed);
    if neighbours.is_empty() {
        return Vec::new();
    }
    let mut order = String::new();
    let mut open = Vec::new();
    for (index, (drive, _, words)) in placed.iter().enumerate() {
        let word = index.checked_sub(1).and_then(|before| neighbours.get(before));
        order.push_str(match word {
            None => "",
            Some(Some(Verdict::Changed)) => " > ",
            Some(_) => " ≈ ",
        });
        order.push_str(&format!("{} {words}", drive.name));
        let before = index.checked_sub(1).map(|before| placed[before].0);
        open.extend(before.and_then(|before| undecided(before, drive, word.copied().flatten())));
    }
    let mut verdict = vec![format!("Overall score, {} is 1: {order}.", reference.name)];
    verdict.extend(open);
    verdict
}

/// Each drive against the one before it, as one family.
fn neighbours(placed: &[(&Drive, f64, String)]) -> Vec<Option<Verdict>> {
    let overall = |place: &(&Drive, f64, String)| place.0.overall().unwrap_or_default();
    let name = |index: usize| index.to_string();
    let of_place = |index: usize, place: &(&Drive, f64, String)| {
        sample(name(index), Some(overall(place)), None)
    };
    let pairs = placed.windows(2).enumerate();
    let (before, after): (Vec<_>, Vec<_>) =
        pairs.map(|(index, pair)| (of_place(index, &pair[0]), of_place(index, &pair[1]))).unzip();
    let count = before.len();
    let Ok(judged) = compare(&side("before", before), &side("after", after), None) else {
        return Vec::new();
    };
    let of = |index: usize| {
        let cell = judged.cells.iter().find(|cell| cell.name == name(index));
        cell.and_then(|cell| cell.verdict)
    };
    (0..count).map(of).collect()
}

/// Why two neighbours share a place.
fn undecided(faster: &Drive, slower: &Drive, verdict: Option<Verdict>) -> Option<String> {
    let (faster, slower, band) = (&faster.name, &slower.name, percent(Metric::Numbers.delta()));
    match verdict? {
        Verdict::Changed => None,
        Verdict::Identical | Verdict::Equivalent | Verdict::ChangedNegligible => {
            Some(format!("{faster} and {slower} are the same within {band} over all loads."))
        }
        Verdict::Degenerate => Some(format!(
            "{faster} and {slower} differ over all loads, with no noise in either by which to \
             judge it."
        )),
        Verdict::ChangedMaybeRelevant | Verdict::Inconclusive => Some(format!(
            "Whether {faster} is faster than {slower} by more than {band} over all loads cannot be \
             determined."
        )),
    }
}

/// A ratio with at least two digits that say something.
fn few(ratio: f64) -> String {
    if !(1e-9..0.0995).contains(&ratio) {
        return digits(ratio);
    }
    let places = (1.0 - ratio.log10()).ceil() as usize;
    format!("{ratio:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive that is this many times as fast in every load, with a little noise of its own.
    fn drive(name: &str, speed: f64, noise: u64) -> Drive {
        let value = |round: u64| speed * (1.0 + (round * 7919 * noise % 13) as f64 / 2000.0);
        let loads = App::ALL.iter().map(|_| Some((1..=5).map(value).collect())).collect();
        Drive { name: name.into(), loads, reasons: vec![None; App::ALL.len()] }
    }

    fn scored(drives: &[Drive]) -> (Vec<String>, HeatMap) {
        let reference = &drives[0];
        let held = |it: &Drive| (reference.samples(&it.name), it.samples(&it.name));
        let (before, after): (Vec<_>, Vec<_>) = drives[1..].iter().map(held).unzip();
        let (before, after) = (side("a", before.concat()), side("others", after.concat()));
        let scores = compare(&before, &after, None).unwrap();
        let others: Vec<&Drive> = drives[1..].iter().collect();
        (in_order(reference, drives, &scores), map(reference, &others, &scores))
    }

    #[test]
    fn a_drive_twice_as_fast_scores_two_and_one_that_is_alike_shares_its_place() {
        let drives = [drive("a", 1.0, 1), drive("b", 2.0, 2), drive("c", 1.001, 3)];
        let (verdict, map) = scored(&drives);
        assert!(verdict[0].starts_with("Overall score, a is 1: b 2.00 ("), "{verdict:?}");
        assert!(
            verdict[0].contains(" > c 1.00 (") && verdict[0].contains(" ≈ a 1."),
            "{verdict:?}"
        );
        assert_eq!(verdict[1], "c and a are the same within 5.0 % over all loads.");
        let overall = map.rows.last().unwrap();
        let ratio = overall.cells[0].as_ref().unwrap().ratio.unwrap();
        assert!((ratio.value - 2.0).abs() < 0.01 && ratio.low.unwrap() > 1.95, "{ratio:?}");
        assert_eq!((map.rows.len(), map.columns.len()), (App::ALL.len() + 1, 2));
    }

    #[test]
    fn overall_is_the_geometric_mean_of_all_scores_even_where_a_round_is_missing() {
        let mut fast = drive("b", 1.0, 2);
        for (index, load) in fast.loads.iter_mut().flatten().enumerate() {
            load.iter_mut().for_each(|value| *value *= (index + 1) as f64);
        }
        fast.loads[3].as_mut().unwrap().pop();
        let (_, map) = scored(&[drive("a", 1.0, 1), fast]);
        let ratio = |row: &HeatRow| row.cells[0].as_ref().unwrap().ratio.unwrap().value.ln();
        let (overall, loads) = map.rows.split_last().unwrap();
        let mean = loads.iter().map(ratio).sum::<f64>() / loads.len() as f64;
        assert!((ratio(overall) - mean).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_sound_number_has_no_score_and_no_overall_one() {
        let mut lame = drive("b", 2.0, 2);
        (lame.loads[2], lame.reasons[2]) = (None, Some("its rate drifted".into()));
        let (verdict, map) = scored(&[drive("a", 1.0, 1), lame, drive("c", 3.0, 3)]);
        assert!(verdict[0].starts_with("Overall score, a is 1: c 3.0"), "{verdict:?}");
        assert!(!verdict[0].contains('b'), "{verdict:?}");
        assert_eq!(map.rows[2].cells[0].as_ref().unwrap().word(), "suspect");
        assert_eq!(map.rows.last().unwrap().cells[0], None);
    }

    #[test]
    fn small_scores_keep_two_digits() {
        assert_eq!(few(0.0672), "0.067");
        assert_eq!(few(0.00123), "0.0012");
        assert_eq!((few(0.5), few(32.08)), ("0.50".into(), "32.1".into()));
    }
}
