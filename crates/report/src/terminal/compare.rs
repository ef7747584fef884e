//! The table of `drivelab compare`: one line a cell, with its interval drawn.

use crate::text::{Flush, columns_without, hanging, printable};
use crate::view::comparison as words;
use drivelab_core::comparison::{Cell, Comparison};
use drivelab_core::findings::Findings;

/// Characters of the drawing.
const WIDTH: usize = 31;
/// Cells for which each line is shown; of more, only those that changed or are open.
const CELLS_SHOWN: usize = 40;

/// What was compared, the cells from the largest loss to the largest gain, counts, what differs.
pub fn comparison_table(comparison: &Comparison) -> String {
    within(comparison, &Findings::default())
}

/// The same among findings: what they say of suspect cells is not said again.
pub(super) fn within(comparison: &Comparison, findings: &Findings) -> String {
    let mut text = headline(comparison);
    text.push('\n');
    let reach = words::reach(&comparison.cells);
    let is_short = comparison.cells.len() > CELLS_SHOWN;
    let is_shown = |cell: &&Cell| !is_short || !matches!(cell.word(), "equivalent" | "identical");
    let shown: Vec<&Cell> = comparison.cells.iter().filter(is_shown).collect();
    let rows: Vec<Vec<String>> = shown.iter().map(|cell| row(cell, comparison, reach)).collect();
    let (left, right) = (Flush::Left, Flush::Right);
    // A narrow screen does without the drawing: its numbers stand there.
    text.push_str(&columns_without(&rows, &[left, left, right, left, left], 2, &[&[4]]).0);
    if shown.len() < comparison.cells.len() {
        let hidden = comparison.cells.len() - shown.len();
        text.push_str(&format!("  and {hidden} that are equivalent\n"));
    }
    text.push_str(&format!("\n{}", hanging("", &words::counts(&comparison.cells), 0)));
    for (cell, why) in words::kept_out(comparison, findings) {
        text.push_str(&hanging("Suspect", &printable(&format!("{}: {why}", cell.name)), 9));
    }
    for sentence in words::left_open(comparison) {
        text.push_str(&hanging("Open", &printable(&sentence), 9));
    }
    text.push_str(&others(comparison));
    text
}

fn headline(comparison: &Comparison) -> String {
    format!(
        "{} → {}\n{}\n",
        printable(&comparison.before),
        printable(&comparison.after),
        words::circumstances(comparison)
    )
}

fn row(cell: &Cell, comparison: &Comparison, reach: f64) -> Vec<String> {
    let mut word = cell.word().to_owned();
    if let Some(needs) = cell.needs_n {
        word.push_str(&format!(" (n {needs})"));
    }
    let name = printable(&words::name(cell, comparison));
    let Some(ratio) = cell.ratio else { return vec![word, name] };
    let (change, interval) = words::change(cell);
    let ends = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
    vec![word, name, change, interval, drawn(ratio.value, ends, reach)]
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
    use crate::view::comparison::tests::cell;
    use drivelab_stats::Verdict;

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
        crate::Screen::of(Some(100), false).set();
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
        assert!(!text.contains("Open"), "what is identical is settled: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
