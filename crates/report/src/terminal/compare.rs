//! The table of `drivelab compare`: one line a cell, with its interval drawn.

use crate::text::{Flush, aligned, columns, columns_max, hanging, printable, width};
use crate::view::comparison as words;
use drivelab_core::comparison::{Cell, Comparison};
use drivelab_core::findings::Findings;

/// Characters of the drawing, at most; where fewer than the least are left there is none.
const DRAWN_MAX: usize = 31;
const DRAWN_MIN: usize = 19;
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
    let is_short = comparison.cells.len() > CELLS_SHOWN;
    let is_shown = |cell: &&Cell| !is_short || !matches!(cell.word(), "equivalent" | "identical");
    let shown: Vec<&Cell> = comparison.cells.iter().filter(is_shown).collect();
    text.push_str(&table(&shown, comparison));
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

/// A line a cell. What both sides measured stands in it where there is room, and where there is
/// still room the interval is drawn.
fn table(shown: &[&Cell], comparison: &Comparison) -> String {
    let (left, right) = (Flush::Left, Flush::Right);
    let mut flush = vec![left, left, left, right, left];
    let heads = ["", "", "before → after", "change", "95 % interval"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    rows.extend(shown.iter().map(|cell| row(cell, comparison)));
    let used = |rows: &[Vec<String>], flush: &[Flush]| {
        aligned(rows, flush, 2).lines().map(width).max().unwrap_or(0) + 2
    };
    let has_values = shown.iter().any(|cell| cell.values.is_some());
    if !has_values || used(&rows, &flush) > columns_max() + 2 {
        flush.remove(VALUES);
        for row in rows.iter_mut().filter(|row| row.len() > VALUES) {
            row.remove(VALUES);
        }
    }
    let room = columns_max().saturating_sub(used(&rows, &flush)).min(DRAWN_MAX);
    if room < DRAWN_MIN {
        return columns(&rows, &flush, 2);
    }
    let drawing = Drawing { middle: (room - 1) / 2, reach: words::reach(&comparison.cells) };
    rows[0].push(drawing.head());
    for (row, cell) in rows.iter_mut().skip(1).zip(shown) {
        if let (true, Some(drawn)) = (row.len() == flush.len(), drawing.of(cell)) {
            row.push(drawn);
        }
    }
    flush.push(left);
    columns(&rows, &flush, 2)
}

/// The column of [`row`] with what both sides measured.
const VALUES: usize = 2;

fn row(cell: &Cell, comparison: &Comparison) -> Vec<String> {
    let mut word = cell.word().to_owned();
    if let Some(needs) = cell.needs_n {
        word.push_str(&format!(" (n {needs})"));
    }
    let name = printable(&words::name(cell, comparison));
    if cell.ratio.is_none() {
        return vec![word, name, words::both(cell)];
    }
    let (change, interval) = words::change(cell);
    vec![word, name, words::both(cell), change, interval]
}

/// Intervals on a line whose middle is "unchanged"; better is always to the right.
struct Drawing {
    /// Characters on either side of the middle.
    middle: usize,
    /// The logarithm at either end.
    reach: f64,
}

impl Drawing {
    fn head(&self) -> String {
        let width = 2 * self.middle + 1;
        let (worse, better) = ("← worse", "better →");
        let gap = width - worse.chars().count() - better.chars().count();
        let mut line: Vec<char> = format!("{worse}{}{better}", " ".repeat(gap)).chars().collect();
        line[self.middle] = '┊';
        line.into_iter().collect()
    }

    fn of(&self, cell: &Cell) -> Option<String> {
        let ratio = cell.ratio?;
        let gain = |ratio: f64| if cell.metric.is_rate() { ratio.ln() } else { -ratio.ln() };
        let place = |ratio: f64| {
            let share = (gain(ratio) / self.reach).clamp(-1.0, 1.0);
            (self.middle as f64 * (1.0 + share)).round() as usize
        };
        let (low, high) = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
        let mut line = vec![' '; 2 * self.middle + 1];
        let (from, to) = (place(low).min(place(high)), place(low).max(place(high)));
        line[from..=to].fill('─');
        line[self.middle] = '┊';
        if from < to {
            // An interval that goes on has an arrow.
            let is_over = |end: f64| gain(end).abs() > self.reach * 1.001;
            let ends = if gain(low) <= gain(high) { (low, high) } else { (high, low) };
            line[from] = if is_over(ends.0) { '◂' } else { '├' };
            line[to] = if is_over(ends.1) { '▸' } else { '┤' };
        }
        line[place(ratio.value)] = '●';
        Some(line.into_iter().collect::<String>().trim_end().to_owned())
    }
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
    use drivelab_stats::{Open, Verdict};

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
            "                         change  95 % interval   ← worse        ┊       better →",
            "slower              random read  -20.0 %  [-22.0, -18.0]  ├─●┤           ┊",
            "cannot tell (n 12)  noisy         -1.0 %  [-15.0, +15.0]",
            "identical           limited       +0.0 %  no interval                    ●",
            "1 slower · 1 identical · 1 cannot tell (needs about 12 a side)",
            "Before   only there: trim",
            "Differs  kernel: 6.1 before, 6.18 after",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("Open"), "what is identical is settled: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let latency = Cell {
            metric: drivelab_core::comparison::Metric::P99Ns,
            ..cell("read", Verdict::Changed, 1.25, Some((1.2, 1.3)))
        };
        let of_latency = Comparison { cells: vec![latency], ..comparison.clone() };
        let text = comparison_table(&of_latency);
        let line = text.lines().find(|line| line.contains("+25.0 %")).unwrap_or_default();
        let (dot, middle) = (line.find('●'), line.find('┊'));
        assert!(dot.is_some() && dot < middle, "a longer time is drawn on the worse side: {text}");
        let noisy = cell("noisy", Verdict::Inconclusive, 0.5, Some((1e-9, 3.8e11)));
        let absurd = Cell { needs_n: None, open: Some(Open::TooNoisy), ..noisy };
        let text = comparison_table(&Comparison { cells: vec![absurd], ..comparison });
        assert!(text.contains("cannot tell  noisy  -50.0 %  wider than tenfold  ◂──"), "{text}");
        assert!(text.contains("so much that more than 1,000 a side"), "{text}");
    }
}
