//! Why measured cells cannot be believed, in a line for each reason.

use crate::outcome::Failure;
use drivelab_core::run::Run;
use drivelab_core::summary::{CellSummary, Suspicion, summarise, suspicions};

/// More names than that are counted.
const NAMES_MAX: usize = 6;

/// What is said of the cells that are suspect, if any is.
pub fn of(run: &Run) -> Option<Failure> {
    let mut lines = lines(&summarise(run).cells).into_iter();
    let failure = Failure::invalid(lines.next()?);
    let others: Vec<String> = lines.collect();
    Some(if others.is_empty() { failure } else { failure.advise(others.join("\n  ")) })
}

/// A line for each kind of reason, in the order in which they come up.
fn lines(cells: &[CellSummary]) -> Vec<String> {
    suspicions(cells).iter().map(|suspicion| line(suspicion, cells.len())).collect()
}

fn line(suspicion: &Suspicion<'_>, all: usize) -> String {
    let cells = &suspicion.cells;
    let (names, tail) = apart(&cells.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let between = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    let shown = names[..names.len().min(NAMES_MAX)].join(between);
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let share = match (cells.len(), all) {
        (_, 1) => String::new(),
        (count, all) if count == all => format!(" (all {all})"),
        (count, all) => format!(" ({count} of {all})"),
    };
    let (_, others) = suspicion.names();
    let example = if others.is_empty() { "" } else { "of the first, " };
    format!("suspect: {shown}{more}{tail}{share}: {example}{}", suspicion.text())
}

/// Names, and what follows the first comma where that is the same in all of several names.
fn apart<'a>(names: &[&'a str]) -> (Vec<&'a str>, String) {
    let tail = |name: &'a str| name.split_once(", ").map_or("", |(_, tail)| tail);
    let first = names.first().map_or("", |name| tail(name));
    match names.len() > 1 && !first.is_empty() && names.iter().all(|name| tail(name) == first) {
        true => {
            let heads = names.iter().map(|name| name.split_once(", ").map_or(*name, |it| it.0));
            (heads.collect(), format!(", each {first}"))
        }
        false => (names.to_vec(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::summary::Reason;

    fn cell(name: &str, reasons: &[(&str, &str)]) -> CellSummary {
        let reason = |(code, text): &(&str, &str)| Reason {
            code: (*code).to_string(),
            text: (*text).to_string(),
        };
        CellSummary {
            name: name.into(),
            repetitions: 1,
            incomplete: 0,
            suspect: 0,
            steps: Vec::new(),
            state: String::new(),
            valid: Some(reasons.is_empty()),
            reasons: reasons.iter().map(reason).collect(),
            drifts: Vec::new(),
            notes: Vec::new(),
            unchecked: Vec::new(),
            streams: Vec::new(),
        }
    }

    #[test]
    fn each_reason_has_one_line_with_its_cells() {
        let outside = ("not_on_device", "vda took 0 B of 64 MiB");
        let cells = [
            cell("write", &[outside, ("other_io", "vda was busy")]),
            cell("rewrite", &[("not_on_device", "vda took 1 MiB of 64 MiB")]),
            cell("stride", &[]),
            cell("read", &[("other_io", "vda was busy")]),
        ];
        assert_eq!(
            lines(&cells),
            [
                "suspect: write, rewrite (2 of 4): of the first, vda took 0 B of 64 MiB",
                "suspect: write, read (2 of 4): vda was busy",
            ]
        );
        assert_eq!(lines(&cells[..1])[0], "suspect: write: vda took 0 B of 64 MiB");
        assert!(lines(&cells[2..3]).is_empty());
        let tests = ["write, 64 kB", "read, 64 kB"].map(|name| cell(name, &[outside]));
        assert_eq!(
            lines(&tests),
            ["suspect: write, read, each 64 kB (all 2): vda took 0 B of 64 MiB"]
        );
        let mixed = ["write, 64 kB", "read, 4 kB"].map(|name| cell(name, &[outside]));
        assert!(lines(&mixed)[0].starts_with("suspect: write, 64 kB; read, 4 kB (all 2): "));
        let many: Vec<CellSummary> = (0..8).map(|at| cell(&at.to_string(), &[outside])).collect();
        assert_eq!(
            lines(&many),
            ["suspect: 0, 1, 2, 3, 4, 5 and 2 more (all 8): vda took 0 B of 64 MiB"]
        );
    }
}
