//! A comparison in words: changes, verdicts counted, what is left open, all numbers.

use drivelab_core::comparison::{Cell, Comparison, Metric};
use drivelab_core::findings::Findings;
use drivelab_stats::{Open, ratio_band};
use std::collections::BTreeMap;

use crate::units;
use crate::view::amounts::NOTHING;
use crate::view::block::Table;
use crate::view::headline;

/// How far drawings reach to both sides, at least and at most, as logarithms.
const REACH_MIN: f64 = 0.10;
const REACH_MAX: f64 = 1.0;
/// A change of an open cell whose interval reaches farther, as a factor, is printed without it.
const INTERVAL_MAX: f64 = 10.0;
/// A larger ratio is said to be larger.
const RATIO_MAX: f64 = 1000.0;
/// Cells that a sentence names; of more it says how many.
const NAMED: usize = 3;
/// The words of the verdicts, in the order in which they are counted.
const WORDS: [&str; 9] = [
    "slower",
    "faster",
    "equivalent",
    "identical",
    "negligible",
    "size unsettled",
    "cannot tell",
    "no noise",
    "suspect",
];

/// Which cells a reason holds for, and the reason.
type Group<'a> = (&'a dyn Fn(&Cell) -> bool, String);

/// What keeps cells from a word besides noise, or from an interval, a sentence for each reason.
pub(crate) fn left_open(comparison: &Comparison) -> Vec<String> {
    let unit = if comparison.is_by_run { "runs" } else { "repetitions" };
    let cells = comparison.cells.iter().filter(|cell| cell.suspect.is_none());
    let cells: Vec<&Cell> = cells.collect();
    let is_single = |cell: &Cell| cell.n.0.min(cell.n.1) < 2;
    let is_few = |cell: &Cell, open| cell.open == Some(open) && !is_single(cell);
    let has_none = |cell: &Cell| cell.ratio.is_some_and(|ratio| ratio.low.is_none());
    let all = cells.len();
    let groups: [Group<'_>; 6] = [
        (
            &|cell| is_single(cell),
            "a single value on a side has no noise to compare with, so there is neither an \
             interval nor a verdict. Measure at least 5 per side"
                .into(),
        ),
        (
            &|cell| is_few(cell, Open::TooFew),
            format!(
                "no difference between this few {unit} is certain, however large: any order of \
                 them is too likely by chance. Measure at least 5 per side"
            ),
        ),
        (
            &|cell| is_few(cell, Open::TooFewForFamily),
            format!(
                "this few {unit} could show a difference of a single cell, not of one among {all}. \
                 From 5 per side on the number of cells does not rule it out"
            ),
        ),
        (
            &|cell| is_few(cell, Open::Depends),
            "each value of a side depends on those before it, and together they are worth fewer \
             than five independent ones. Measure longer, or let the sides take turns"
                .into(),
        ),
        (
            &|cell| is_few(cell, Open::TooNoisy),
            format!(
                "the {unit} of a side differ so much that more than 1,000 a side would be needed. \
                 Find what disturbs them, or measure longer"
            ),
        ),
        (
            &|cell| has_none(cell) && !is_single(cell) && cell.word() != "identical",
            "no interval, as the values of a side are all equal: what bounds it, such as a limit, \
             has no noise"
                .into(),
        ),
    ];
    let sentence = |(is_of, words): Group<'_>| {
        let of: Vec<&Cell> = cells.iter().copied().filter(|cell| is_of(cell)).collect();
        let named: Vec<String> = of.iter().take(NAMED).map(|cell| name(cell, comparison)).collect();
        let names = match of.len() {
            0 => return None,
            count if count == all && all > NAMED => format!("all {all} cells"),
            count if count > NAMED => format!("{} and {} more", named.join("; "), count - NAMED),
            _ => named.join("; "),
        };
        Some(format!("{names}: {words}."))
    };
    groups.into_iter().filter_map(sentence).collect()
}

/// Cells that were kept out and why, but for those whose reason the findings say.
pub(crate) fn kept_out<'a>(
    comparison: &'a Comparison,
    findings: &Findings,
) -> Vec<(&'a Cell, &'a str)> {
    let suspect = comparison.cells.iter().filter_map(|cell| Some((cell, cell.suspect.as_deref()?)));
    suspect.filter(|(_, why)| !headline::is_said(findings, why)).collect()
}

/// How many cells and values, and what counts as unchanged.
pub(crate) fn circumstances(comparison: &Comparison) -> String {
    let count = |of: fn(&Cell) -> usize| {
        let is_none_sound = comparison.cells.iter().all(|cell| cell.suspect.is_some());
        let judged = comparison.cells.iter().filter(|it| is_none_sound || it.suspect.is_none());
        let all: Vec<usize> = judged.map(of).collect();
        match (all.iter().min(), all.iter().max()) {
            (Some(least), Some(most)) if least == most => least.to_string(),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            _ => "0".into(),
        }
    };
    let unit = if comparison.is_by_run { "runs" } else { "repetitions" };
    let cells = match comparison.cells.len() {
        1 => "1 cell".into(),
        cells => format!("{cells} cells"),
    };
    let of_first = comparison.cells.first().map_or(Metric::Iops, |cell| cell.metric).delta();
    let is_one = comparison.delta.is_some() || !several_metrics(comparison);
    let (low, high) = ratio_band(comparison.delta.unwrap_or(of_first));
    let band = match is_one {
        true => format!("{} to {} %", percent(low), percent(high)).replace(".0", ""),
        false => "by metric".into(),
    };
    format!(
        "{cells}, {} against {} {unit}, band {}, Holm-adjusted",
        count(|cell| cell.n.0),
        count(|cell| cell.n.1),
        band
    )
}

pub(crate) fn counts(cells: &[Cell]) -> String {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    cells.iter().for_each(|cell| *found.entry(cell.word()).or_default() += 1);
    let open = cells.iter().filter(|cell| cell.word() == "cannot tell");
    let needs = open.filter_map(|cell| cell.needs_n);
    let (least, most) = (needs.clone().min(), needs.max());
    let part = |word: &&str| {
        let count = found.get(word)?;
        let more = match (*word, least, most) {
            ("cannot tell", Some(least), Some(most)) if least == most => {
                format!(" (needs about {least} a side)")
            }
            ("cannot tell", Some(least), Some(most)) => {
                format!(" (needs about {least} to {most} a side)")
            }
            ("suspect", ..) => " (kept out)".into(),
            _ => String::new(),
        };
        Some(format!("{count} {word}{more}"))
    };
    WORDS.iter().filter_map(part).collect::<Vec<_>>().join(" · ")
}

/// The name of a cell, with its metric where there are several.
pub(crate) fn name(cell: &Cell, comparison: &Comparison) -> String {
    match several_metrics(comparison) {
        true => format!("{}, {}", cell.name, cell.metric.words()),
        false => cell.name.clone(),
    }
}

/// A cell's change and its interval in words; both empty where it was kept out.
pub(crate) fn change(cell: &Cell) -> (String, String) {
    let Some(ratio) = cell.ratio else { return Default::default() };
    let is_far = |low: f64, high: f64| low < 1.0 / INTERVAL_MAX || high > INTERVAL_MAX;
    let interval = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) if cell.word() == "cannot tell" && is_far(low, high) => {
            "wider than tenfold".into()
        }
        (Some(low), Some(high)) => format!("[{}, {}]", percent(low), percent(high)),
        _ => "no interval".into(),
    };
    (format!("{} %", percent(ratio.value)), interval)
}

/// What both sides measured; empty where only their ratio is known.
pub(crate) fn both(cell: &Cell) -> String {
    let show = |value: f64| match cell.metric {
        Metric::Iops => units::operations(value),
        Metric::Numbers => units::digits(value),
        _ => units::time(value),
    };
    let Some((before, after)) = cell.values else { return String::new() };
    let (before, after) = (show(before), show(after));
    // One unit is enough for both.
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let number = before.split(' ').next().unwrap_or_default();
    match unit(&before) == unit(&after) {
        true => format!("{number} → {after}"),
        false => format!("{before} → {after}"),
    }
}

fn several_metrics(comparison: &Comparison) -> bool {
    let first = comparison.cells.first().map(|cell| cell.metric);
    comparison.cells.iter().any(|cell| Some(cell.metric) != first)
}

/// How far the drawing reaches to each side of "unchanged", as a logarithm of the ratio.
pub(crate) fn reach(cells: &[Cell]) -> f64 {
    let ends = cells
        .iter()
        .filter_map(|cell| cell.ratio)
        .flat_map(|ratio| [ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value)]);
    let farthest = ends.map(|end| end.ln().abs()).filter(|end| end.is_finite());
    farthest.fold(REACH_MIN, f64::max).min(REACH_MAX)
}

/// A ratio as a change in percent.
fn percent(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    if !change.is_finite() {
        return units::UNKNOWN.to_owned();
    }
    if ratio > RATIO_MAX {
        return format!("over {:+.0}", 100.0 * (RATIO_MAX - 1.0));
    }
    // No "-0.0".
    let change = if change.abs() < 0.05 { 0.0 } else { change };
    // Never "-100": something is left.
    let left = 100.0 * ratio;
    let digits =
        if change < -99.9 && left > 0.0 { (-left.log10()).ceil().clamp(1.0, 9.0) } else { 0.0 };
    format!("{change:+.*}", (digits as usize).max(1))
}

/// The column of [`numbers`] with what both sides measured.
const VALUES: usize = 2;

/// Every cell with its numbers.
pub(crate) fn numbers(comparison: &Comparison) -> Table {
    let mut table = Table::headed([
        "cell",
        "verdict",
        "before → after#",
        "change#",
        "95 % interval#",
        "p, adjusted#",
        "n#",
        "needs n#",
    ]);
    let row = |cell: &Cell| {
        let (change, interval) = change(cell);
        let p = cell.p_adjusted.filter(|p| p.is_finite());
        vec![
            name(cell, comparison),
            cell.word().to_owned(),
            both(cell),
            change,
            interval,
            p.map_or(NOTHING.to_owned(), probability),
            format!("{}, {}", cell.n.0, cell.n.1),
            cell.needs_n.map_or(String::new(), |n| n.to_string()),
        ]
    };
    table.rows = comparison.cells.iter().map(row).collect();
    // Of patterns and of results of old only the ratios are known.
    if comparison.cells.iter().all(|cell| cell.values.is_none()) {
        table.heads.remove(VALUES);
        table.rows.iter_mut().for_each(|row| drop(row.remove(VALUES)));
    }
    table
}

fn probability(p: f64) -> String {
    if p < 0.0001 { format!("{p:.0e}") } else { format!("{p:.4}") }
}

/// What must be known besides, a sentence each.
pub(crate) fn remarks(comparison: &Comparison, findings: &Findings) -> Vec<String> {
    let kept_out = kept_out(comparison, findings).into_iter();
    let mut lines: Vec<String> = kept_out
        .map(|(cell, why)| format!("{} is suspect and kept out: {why}", cell.name))
        .collect();
    lines.extend(left_open(comparison));
    let only = |side: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("Only in {side}: {}", names.join(", ")))
    };
    lines.extend(only(&comparison.before, &comparison.only_before));
    lines.extend(only(&comparison.after, &comparison.only_after));
    lines.extend(comparison.differences.iter().map(|it| format!("Differs: {it}")));
    lines
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use drivelab_stats::{Ratio, Verdict};

    #[test]
    fn what_is_left_is_never_called_nothing() {
        let said = [1.0, 0.5, 0.002, 0.0009, 7.70 / 114_000.0].map(percent);
        assert_eq!(said, ["+0.0", "-50.0", "-99.8", "-99.91", "-99.993"]);
        assert!(said.iter().all(|said| !said.starts_with("-100")));
    }

    /// A cell of ten values a side, without a p-value.
    pub(crate) fn cell(name: &str, verdict: Verdict, value: f64, ends: Option<(f64, f64)>) -> Cell {
        let (low, high) = ends.unzip();
        Cell {
            name: name.into(),
            metric: Metric::Iops,
            verdict: Some(verdict),
            ratio: Some(Ratio { value, low, high }),
            p_adjusted: None,
            needs_n: (verdict == Verdict::Inconclusive).then_some(12),
            open: None,
            values: None,
            n: (10, 10),
            suspect: None,
        }
    }

    #[test]
    fn what_keeps_a_cell_from_a_word_is_a_sentence() {
        let open = |name: &str, n: usize, open| Cell {
            n: (n, n),
            open: Some(open),
            ..cell(name, Verdict::Inconclusive, 0.8, Some((0.6, 1.1)))
        };
        let single = Cell { n: (1, 9), ..open("once", 1, Open::TooFew) };
        let comparison = Comparison {
            before: "before".into(),
            after: "after".into(),
            cells: vec![
                open("random read", 3, Open::TooFew),
                open("random write", 4, Open::TooFewForFamily),
                open("mixed", 8, Open::Depends),
                single,
                cell("limited", Verdict::Degenerate, 0.9, None),
                cell("the same", Verdict::Identical, 1.0, None),
            ],
            only_before: Vec::new(),
            only_after: Vec::new(),
            differences: Vec::new(),
            is_by_run: false,
            delta: None,
        };
        let sentences = left_open(&comparison);
        let begins = [
            "once: a single value on a side",
            "random read: no difference between this few repetitions is certain",
            "random write: this few repetitions could show a difference of a single cell, not of \
             one among 6.",
            "mixed: each value of a side depends on those before it",
            "limited: no interval, as the values of a side are all equal",
        ];
        assert_eq!(sentences.len(), begins.len(), "{sentences:#?}");
        for (sentence, begin) in sentences.iter().zip(begins) {
            assert!(sentence.starts_with(begin), "{sentence}");
        }
        let many = Comparison {
            cells: (0..5).map(|at| open(&at.to_string(), 3, Open::TooFew)).collect(),
            ..comparison.clone()
        };
        assert!(left_open(&many)[0].starts_with("all 5 cells: no difference"));
        let settled = Comparison {
            cells: vec![cell("random read", Verdict::Changed, 0.8, Some((0.78, 0.82)))],
            ..comparison
        };
        assert!(left_open(&settled).is_empty());
    }
}
