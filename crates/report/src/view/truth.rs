//! What the truth guard says of the numbers: reasons, notes, and what it could not check.

use drivelab_core::findings::Findings;
use drivelab_core::summary::{CellSummary, Reason, Summary};

use crate::view::headline;

/// Where the findings say what makes cells suspect.
pub(crate) const SAID_ABOVE: &str = "The top of this page says what makes cells suspect.";
/// Where there is neither.
pub(crate) const SILENT: &str = "The run file holds no evidence for or against them.";

/// Whether the numbers may be believed.
pub(crate) struct Truth {
    /// How many of the cells are what, in a sentence.
    pub(crate) judged: String,
    /// Whether the findings say already what makes cells suspect.
    pub(crate) is_said_above: bool,
    /// Whether nothing speaks for or against them.
    pub(crate) is_silent: bool,
    /// What makes cells suspect, but for what the findings say.
    pub(crate) reasons: Vec<String>,
    /// What is worth knowing.
    pub(crate) notes: Vec<String>,
    /// What could not be checked.
    pub(crate) unchecked: Vec<String>,
}

impl Truth {
    /// The lists under their titles, in their order.
    pub(crate) fn lists(&self) -> [(&'static str, &[String]); 3] {
        [
            ("Suspect, because", &self.reasons),
            ("Worth knowing", &self.notes),
            ("Not checked", &self.unchecked),
        ]
    }
}

/// What is said of the cells; `None` where there are none.
pub(crate) fn truth(summary: &Summary, findings: &Findings) -> Option<Truth> {
    if summary.cells.is_empty() {
        return None;
    }
    let (said, reasons): (Vec<_>, Vec<_>) = gathered(summary, |cell| &cell.reasons)
        .into_iter()
        .partition(|reason| headline::is_said(findings, reason.text));
    let all = summary.cells.len();
    let words = |said: Vec<Said<'_>>| said.iter().map(|one| one.words(all)).collect::<Vec<_>>();
    let (reasons, notes, unchecked) = (
        words(reasons),
        words(gathered(summary, |cell| &cell.notes)),
        words(gathered(summary, |cell| &cell.unchecked)),
    );
    let is_judged = summary.cells.iter().any(|cell| cell.valid.is_some());
    let is_silent = !is_judged && reasons.is_empty() && notes.is_empty() && unchecked.is_empty();
    let is_said_above = !said.is_empty();
    let judged = judged(&summary.cells.iter().map(|cell| cell.valid).collect::<Vec<_>>());
    Some(Truth { judged, is_said_above, is_silent, reasons, notes, unchecked })
}

/// A text and the cells that it is about.
struct Said<'summary> {
    text: &'summary str,
    cells: Vec<&'summary str>,
}

impl Said<'_> {
    fn words(&self, all: usize) -> String {
        let cells = match self.cells.len() == all && all > 1 {
            true => "all cells".to_owned(),
            false => self.cells.join(", "),
        };
        format!("{cells}: {}", self.text)
    }
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
