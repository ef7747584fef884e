//! What the truth guard says of the numbers: reasons, notes, and what it could not check.

use drivelab_core::summary::{CellSummary, Reason, Summary};
use std::fmt::Write;

use crate::html::escape;

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
pub(super) fn truth(out: &mut String, summary: &Summary) {
    if summary.cells.is_empty() {
        return;
    }
    let count =
        |valid: Option<bool>| summary.cells.iter().filter(|cell| cell.valid == valid).count();
    let _ = write!(
        out,
        "<section><h2>May these numbers be believed?</h2><p>Of {} cells {} are valid, {} are \
         suspect, {} were not checked.</p>",
        summary.cells.len(),
        count(Some(true)),
        count(Some(false)),
        count(None)
    );
    let reasons = gathered(summary, |cell| &cell.reasons);
    let notes = gathered(summary, |cell| &cell.notes);
    let unchecked = gathered(summary, |cell| &cell.unchecked);
    let all = summary.cells.len();
    list(out, "Suspect, because", "bad-list", &reasons, all);
    list(out, "Worth knowing", "", &notes, all);
    list(out, "Not checked", "", &unchecked, all);
    if reasons.is_empty() && notes.is_empty() && unchecked.is_empty() {
        out.push_str("<p class=\"faint\">The run file holds no evidence for or against them.</p>");
    }
    out.push_str("</section>\n");
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
