//! The table of `drivelab compare`: one line a cell, with its interval drawn.

use crate::text::{Flush, columns, hanging, printable};
use drivelab_core::comparison::{Cell, Comparison, Metric};
use drivelab_core::findings::Findings;
use drivelab_stats::{Open, ratio_band};
use std::collections::BTreeMap;

/// Characters of the drawing.
const WIDTH: usize = 31;
/// The drawing reaches to this change at least, and to that at most, as logarithms.
const REACH_MIN: f64 = 0.10;
const REACH_MAX: f64 = 1.0;
/// Cells for which each line is shown; of more, only those that changed or are open.
const CELLS_SHOWN: usize = 40;
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

/// What was compared, the cells from the largest loss to the largest gain, counts, what differs.
pub fn comparison_table(comparison: &Comparison) -> String {
    within(comparison, &Findings::default())
}

/// The same among findings: what they say of suspect cells is not said again.
pub(super) fn within(comparison: &Comparison, findings: &Findings) -> String {
    let mut text = headline(comparison);
    text.push('\n');
    let reach = comparison_reach(&comparison.cells);
    let is_short = comparison.cells.len() > CELLS_SHOWN;
    let is_shown = |cell: &&Cell| !is_short || !matches!(cell.word(), "equivalent" | "identical");
    let shown: Vec<&Cell> = comparison.cells.iter().filter(is_shown).collect();
    let rows: Vec<Vec<String>> = shown.iter().map(|cell| row(cell, comparison, reach)).collect();
    let (left, right) = (Flush::Left, Flush::Right);
    text.push_str(&columns(&rows, &[left, left, right, left, left], 2));
    if shown.len() < comparison.cells.len() {
        let hidden = comparison.cells.len() - shown.len();
        text.push_str(&format!("  and {hidden} that are equivalent\n"));
    }
    text.push_str(&format!("\n{}\n", counts(&comparison.cells)));
    for (cell, why) in kept_out(comparison, findings) {
        text.push_str(&hanging("Suspect", &printable(&format!("{}: {why}", cell.name)), 9));
    }
    for sentence in left_open(comparison) {
        text.push_str(&hanging("Open", &printable(&sentence), 9));
    }
    text.push_str(&others(comparison));
    text
}

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
    let groups: [Group<'_>; 5] = [
        (
            &|cell| is_single(cell),
            "a single value on a side has no noise to be held against, so there is neither an \
             interval nor a verdict. Measure at least 5 a side"
                .into(),
        ),
        (
            &|cell| is_few(cell, Open::TooFew),
            format!(
                "no difference between so few {unit} is certain, however large it is: any order \
                 of them comes by chance too often. Measure at least 5 a side"
            ),
        ),
        (
            &|cell| is_few(cell, Open::TooFewForFamily),
            format!(
                "so few {unit} could show a difference of one cell alone, not of one among {all}. \
                 From 5 a side on the number of cells does not rule it out"
            ),
        ),
        (
            &|cell| is_few(cell, Open::Depends),
            "each value of a side depends on those before it, and together they are worth fewer \
             than five independent ones. Measure longer, or let the sides take turns"
                .into(),
        ),
        (
            &|cell| has_none(cell) && !is_single(cell),
            "no interval, as the values of a side are all equal: what bounds it, such as a limit, \
             has no noise"
                .into(),
        ),
    ];
    let sentence = |(is_of, words): Group<'_>| {
        let of: Vec<&Cell> = cells.iter().copied().filter(|cell| is_of(cell)).collect();
        let named: Vec<String> =
            of.iter().take(NAMED).map(|cell| compared_name(cell, comparison)).collect();
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
    suspect.filter(|(_, why)| !crate::headline::is_said(findings, why)).collect()
}

fn headline(comparison: &Comparison) -> String {
    format!(
        "{} → {}\n{}\n",
        printable(&comparison.before),
        printable(&comparison.after),
        circumstances(comparison)
    )
}

/// How many cells and values, and what counts as unchanged.
fn circumstances(comparison: &Comparison) -> String {
    let count = |of: fn(&Cell) -> usize| {
        let judged = comparison.cells.iter().filter(|cell| cell.suspect.is_none());
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

/// The circumstances, and how many cells have which verdict.
pub(crate) fn comparison_counts(comparison: &Comparison) -> (String, String) {
    (circumstances(comparison), counts(&comparison.cells))
}

/// The name of a cell, with its metric where there are several.
pub(crate) fn compared_name(cell: &Cell, comparison: &Comparison) -> String {
    match several_metrics(comparison) {
        true => format!("{}, {}", cell.name, cell.metric.words()),
        false => cell.name.clone(),
    }
}

/// A cell's change and its interval in words; both empty where it was kept out.
pub(crate) fn change(cell: &Cell) -> (String, String) {
    let Some(ratio) = cell.ratio else { return Default::default() };
    let interval = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("[{}, {}]", percent(low), percent(high)),
        _ => "no interval".into(),
    };
    (format!("{} %", percent(ratio.value)), interval)
}

fn several_metrics(comparison: &Comparison) -> bool {
    let first = comparison.cells.first().map(|cell| cell.metric);
    comparison.cells.iter().any(|cell| Some(cell.metric) != first)
}

/// How far the drawing reaches to each side of "unchanged", as a logarithm of the ratio.
pub(crate) fn comparison_reach(cells: &[Cell]) -> f64 {
    let ends = cells
        .iter()
        .filter_map(|cell| cell.ratio)
        .flat_map(|ratio| [ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value)]);
    let farthest = ends.map(|end| end.ln().abs()).filter(|end| end.is_finite());
    farthest.fold(REACH_MIN, f64::max).min(REACH_MAX)
}

fn row(cell: &Cell, comparison: &Comparison, reach: f64) -> Vec<String> {
    let mut word = cell.word().to_owned();
    if let Some(needs) = cell.needs_n {
        word.push_str(&format!(" (n {needs})"));
    }
    let name = printable(&compared_name(cell, comparison));
    let Some(ratio) = cell.ratio else { return vec![word, name] };
    let (change, interval) = change(cell);
    let ends = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
    vec![word, name, change, interval, drawn(ratio.value, ends, reach)]
}

/// A ratio as a change in percent.
fn percent(ratio: f64) -> String {
    let change = 100.0 * (ratio - 1.0);
    if !change.is_finite() {
        return crate::units::UNKNOWN.to_owned();
    }
    // No "-0.0".
    let change = if change.abs() < 0.05 { 0.0 } else { change };
    format!("{change:+.1}")
}

/// An interval on a line whose middle is "unchanged".
fn drawn(value: f64, (low, high): (f64, f64), reach: f64) -> String {
    let middle = WIDTH / 2;
    let place = |ratio: f64| {
        let share = (ratio.ln() / reach).clamp(-1.0, 1.0);
        (middle as f64 + share * middle as f64).round() as usize
    };
    let mut line = vec![' '; WIDTH];
    line[middle] = '┊';
    let (from, to) = (place(low).min(place(high)), place(low).max(place(high)));
    line[from..=to].fill('─');
    if from < to {
        (line[from], line[to]) = ('├', '┤');
    }
    line[place(value)] = '●';
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn counts(cells: &[Cell]) -> String {
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

/// Cells of one side only, and facts that differ.
fn others(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (label, names) in [("Before", &comparison.only_before), ("After", &comparison.only_after)] {
        if !names.is_empty() {
            let words = format!("only there: {}", names.join(", "));
            text.push_str(&hanging(label, &printable(&words), 9));
        }
    }
    for difference in &comparison.differences {
        text.push_str(&hanging("Differs", &printable(difference), 9));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_stats::{Ratio, Verdict};

    fn cell(name: &str, verdict: Verdict, value: f64, ends: Option<(f64, f64)>) -> Cell {
        let (low, high) = ends.unzip();
        Cell {
            name: name.into(),
            metric: Metric::Iops,
            verdict: Some(verdict),
            ratio: Some(Ratio { value, low, high }),
            p_adjusted: None,
            needs_n: (verdict == Verdict::Inconclusive).then_some(12),
            open: None,
            n: (10, 10),
            suspect: None,
        }
    }

    #[test]
    fn each_cell_is_a_line_and_its_interval_a_drawing() {
        let comparison = Comparison {
            before: "before".into(),
            after: "after".into(),
            cells: vec![
                cell("random read", Verdict::Changed, 0.8, Some((0.78, 0.82))),
                cell("noisy", Verdict::Inconclusive, 0.99, Some((0.85, 1.15))),
                cell("limited", Verdict::Identical, 1.0, None),
            ],
            only_before: vec!["trim".into()],
            only_after: Vec::new(),
            differences: vec!["kernel: 6.1 before, 6.18 after".into()],
            is_by_run: false,
            delta: None,
        };
        let text = comparison_table(&comparison);
        for expected in [
            "before → after\n3 cells, 10 against 10 repetitions, band -5 to +5.3 %, Holm-adjusted",
            "slower              random read  -20.0 %  [-22.0, -18.0]  ├─●┤",
            "cannot tell (n 12)  noisy         -1.0 %  [-15.0, +15.0]",
            "identical           limited       +0.0 %  no interval",
            "1 slower · 1 identical · 1 cannot tell (needs about 12 a side)",
            "Before   only there: trim",
            "Differs  kernel: 6.1 before, 6.18 after",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
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
                cell("limited", Verdict::Identical, 1.0, None),
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
            "random read: no difference between so few repetitions is certain",
            "random write: so few repetitions could show a difference of one cell alone, not of \
             one among 5.",
            "mixed: each value of a side depends on those before it",
            "limited: no interval, as the values of a side are all equal",
        ];
        assert_eq!(sentences.len(), begins.len(), "{sentences:#?}");
        for (sentence, begin) in sentences.iter().zip(begins) {
            assert!(sentence.starts_with(begin), "{sentence}");
        }
        let text = comparison_table(&comparison);
        assert_eq!(text.matches("\nOpen ").count(), 5, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
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
