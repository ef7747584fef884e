//! What was published of an Intel X25-E, IT168 of 4 January 2011, figure by figure.
//!
//! Where before and after lay within their standard deviations of each other, the article says that
//! nothing can be told; here that counts as "no difference". Whether "13 % higher" is a share of
//! the higher or of the lower value it does not say: both readings count.

use crate::battery::{self, Cell};
use drivelab_core::comparison::Comparison;
use drivelab_core::facts::Facts;
use drivelab_core::findings::{Entry, Head, Table};
use drivelab_stats::Verdict;

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

/// A change that was published: the row, the places, least and greatest percentage by which one
/// side was the higher, and whether that side was *after*.
struct Published {
    row: &'static str,
    places: &'static [u64],
    percent: (f64, f64),
    is_gain: bool,
}

const fn lost(row: &'static str, places: &'static [u64], least: f64, most: f64) -> Published {
    Published { row, places, percent: (least, most), is_gain: false }
}

const fn gained(row: &'static str, places: &'static [u64], by: f64) -> Published {
    Published { row, places, percent: (by, by), is_gain: true }
}

const PUBLISHED: [Published; 14] = [
    lost("rewrite", &[4 * MIB], 3.5, 3.5),
    lost("random read", &[4 * MIB, 8 * MIB, 16 * MIB], 13.0, 15.0),
    lost("random write", &[4 * MIB], 20.0, 20.0),
    lost("backward read", &[4 * MIB, 8 * MIB, 16 * MIB], 17.0, 20.0),
    lost("strided read", &[4 * MIB, 8 * MIB, 16 * MIB], 22.0, 23.0),
    lost("freread", &[4 * MIB, 8 * MIB, 16 * MIB], 9.0, 13.0),
    lost("random write IOPS", &[32 * KIB], 10.82, 10.82),
    lost("random write IOPS", &[64 * KIB], 8.73, 8.73),
    gained("random read IOPS", &[32 * KIB], 14.26),
    gained("random read IOPS", &[64 * KIB], 12.6),
    lost("create/close, one directory", &[4], 9.0, 9.0),
    gained("stat", &[1], 3.88),
    gained("stat, one directory", &[2], 6.58),
    gained("stat, one directory", &[4], 3.44),
];

/// Points by which a single published percentage may be missed.
const POINTS: f64 = 0.02;

/// A published change as ratios of after to before, the least and the greatest.
pub fn ratios(row: &str, place: u64) -> Option<(f64, f64)> {
    let found = PUBLISHED.iter().find(|it| it.row == row && it.places.contains(&place))?;
    let (least, most) = (found.percent.0 / 100.0, found.percent.1 / 100.0);
    Some(match found.is_gain {
        true => (1.0 + least, 1.0 + most),
        false => (1.0 - most, 1.0 / (1.0 + least)),
    })
}

/// Whether the run is about that drive.
pub fn is_meant(facts: &Facts) -> bool {
    let path = facts.target.path.as_str();
    path == "sim:x25-e" || path.starts_with("sim:x25-e,")
}

/// Why nothing here is called a hit or a miss: it is not the drive as its profile has it.
pub fn unlike(facts: &Facts) -> Option<String> {
    let keys = facts.target.path.split(',').skip(1);
    let changed: Vec<&str> = keys.filter(|key| !key.trim().starts_with("seed=")).collect();
    (!changed.is_empty()).then(|| format!("it was changed by {}", changed.join(", ")))
}

/// Every figure of the article next to this run, and how many were hit of how many; of a drive that
/// is `unlike` that one none is judged.
pub fn table(
    cells: &[&Cell],
    comparison: &Comparison,
    unlike: Option<&str>,
) -> (Table, usize, usize) {
    let (mut rows, mut hits, mut judged) = (Vec::new(), 0, 0);
    let is_stated = |cell: &&&Cell| ratios(&cell.row, cell.column).is_some();
    let (stated, silent): (Vec<&&Cell>, Vec<&&Cell>) = cells.iter().partition(is_stated);
    for cell in stated.into_iter().chain(silent) {
        let found = comparison.cells.iter().find(|known| known.name == cell.name);
        let here = found.filter(|found| found.ratio.is_some());
        let published = ratios(&cell.row, cell.column);
        // An interval that reaches everywhere reaches what was published too.
        let is_told = |found: &&drivelab_core::comparison::Cell| {
            unlike.is_none() && found.verdict != Some(Verdict::Inconclusive)
        };
        let judged_here = here.filter(is_told);
        let is_hit = judged_here.map(|found| is_hit(found, published));
        judged += usize::from(is_hit.is_some());
        hits += usize::from(is_hit == Some(true));
        let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0)).replace('-', "−");
        let said = match published {
            None => "within its deviation".into(),
            Some((low, high)) if low == high => percent(low),
            Some((low, high)) => format!("{} to {}", percent(low), percent(high)),
        };
        let word = match is_hit {
            None if here.is_some() => "",
            None => "not measured",
            Some(true) => "hit",
            Some(false) => "miss",
        };
        rows.push(vec![
            Entry::Text(cell.name.clone()),
            Entry::Text(said),
            here.map_or(Entry::Nothing, |found| Entry::Text(battery::change(found))),
            here.map_or(Entry::Nothing, |found| Entry::Text(found.word().into())),
            Entry::Text(word.into()),
        ]);
    }
    let head = |name: &str| Head { name: name.into(), unit: None };
    let table = Table {
        title: "Compared with the published figures of an Intel X25-E".into(),
        note: note(unlike),
        heads: ["cell", "published", "here", "word", ""].map(head).to_vec(),
        rows,
    };
    (table, hits, judged)
}

fn note(unlike: Option<&str>) -> String {
    let source = "IT168, 4 January 2011; ten repetitions before and after one torture.";
    match unlike {
        Some(why) => {
            format!("{source} Not compared, because it is not the drive of the profile: {why}.")
        }
        None => format!(
            "{source} A hit: the interval reaches to within 2 points of what was published; where \
             the article found no more than its deviation, no change by more than the band. Where \
             the result is inconclusive it is neither. The published figures are not a target: no \
             parameter of the profile was chosen by them."
        ),
    }
}

fn is_hit(found: &drivelab_core::comparison::Cell, published: Option<(f64, f64)>) -> bool {
    let Some(ratio) = found.ratio else { return false };
    let (low, high) = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
    match published {
        Some((least, most)) => low <= most + POINTS && high >= least - POINTS,
        None => match found.verdict {
            Some(Verdict::Degenerate) => (ratio.value.ln()).abs() <= -(0.95f64.ln()),
            verdict => matches!(
                verdict,
                Some(Verdict::Identical | Verdict::Equivalent | Verdict::ChangedNegligible)
            ),
        },
    }
}
