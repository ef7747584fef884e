//! What the truth guard says of the numbers: reasons, notes, and what it could not check.

use drivelab_core::findings::Findings;
use drivelab_core::summary::{CellSummary, Reason, Summary};
use std::fmt::Write;

use crate::text::escape;
use crate::view::headline;

/// A text and the cells that it is about.
struct Said<'summary> {
    text: &'summary str,
    cells: Vec<&'summary str>,
}

/// Each text once, with the cells it belongs to, in their order.
fn gathered<'summary>(
    summary: &'summary Summary,
    list: impl Fn(&'summary CellSummary) -> &'summary [Reason],
) -> Vec<Said<'summary>> {
    let mut all: Vec<Said<'summary>> = Vec::new();
    for cell in &summary.cells {
        for reason in list(cell) {
            match all.iter_mut().find(|said| said.text == reason.text) {
                Some(said) => said.cells.push(&cell.name),
                None => all.push(Said { text: &reason.text, cells: vec![&cell.name] }),
            }
        }
    }
    all
}

/// Below the table of cells.
pub(super) fn truth(out: &mut String, summary: &Summary, findings: &Findings) {
    if summary.cells.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<section><h2>May these numbers be believed?</h2><p>{}</p>",
        judged(&summary.cells.iter().map(|cell| cell.valid).collect::<Vec<_>>())
    );
    let (said, reasons): (Vec<_>, Vec<_>) = gathered(summary, |cell| &cell.reasons)
        .into_iter()
        .partition(|reason| headline::is_said(findings, reason.text));
    let notes = gathered(summary, |cell| &cell.notes);
    let unchecked = gathered(summary, |cell| &cell.unchecked);
    let all = summary.cells.len();
    if !said.is_empty() {
        out.push_str("<p>What makes cells suspect is said at the top of this page.</p>");
    }
    list(out, "Suspect, because", "bad-list", &reasons, all);
    list(out, "Worth knowing", "", &notes, all);
    list(out, "Not checked", "", &unchecked, all);
    let is_judged = summary.cells.iter().any(|cell| cell.valid.is_some());
    if !is_judged && reasons.is_empty() && notes.is_empty() && unchecked.is_empty() {
        out.push_str("<p class=\"faint\">The run file holds no evidence for or against them.</p>");
    }
    out.push_str("</section>\n");
}

/// How many of the cells are what, in a sentence.
fn judged(cells: &[Option<bool>]) -> String {
    let words = [(Some(true), "valid"), (Some(false), "suspect"), (None, "not checked")];
    let count = |valid| cells.iter().filter(|cell| **cell == valid).count();
    let found: Vec<(usize, &str)> = words
        .into_iter()
        .map(|(valid, word)| (count(valid), word))
        .filter(|(count, _)| *count > 0)
        .collect();
    match (found.as_slice(), cells.len()) {
        ([(_, word)], 1) => format!("The one cell is {word}."),
        ([(_, word)], all) => format!("All {all} cells are {word}."),
        (several, all) => {
            let parts: Vec<String> =
                several.iter().map(|(count, word)| format!("{count} {word}")).collect();
            format!("Of {all} cells: {}.", parts.join(", "))
        }
    }
}

fn list(out: &mut String, title: &str, class: &str, said: &[Said<'_>], all: usize) {
    if said.is_empty() {
        return;
    }
    let _ = write!(out, "<h3>{title}</h3><ul class=\"{class}\">");
    for Said { text, cells } in said {
        let cells = match cells.len() == all && all > 1 {
            true => "all cells".to_owned(),
            false => cells.join(", "),
        };
        let _ = write!(out, "<li>{}: {}", escape(&cells), escape(text));
    }
    out.push_str("</ul>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_in_words_that_fit_their_number() {
        assert_eq!(judged(&[Some(true)]), "The one cell is valid.");
        assert_eq!(judged(&[None, None]), "All 2 cells are not checked.");
        assert_eq!(
            judged(&[Some(true), None, Some(false), Some(true)]),
            "Of 4 cells: 2 valid, 1 suspect, 1 not checked."
        );
    }
}
