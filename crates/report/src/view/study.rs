//! What a study found besides its verdict, as tables and sentences.

use drivelab_core::findings::{self, Figure, HeatMap, HeatRow, Remark};
use drivelab_core::gathering::{Gathered, Gathering};

use crate::units;
use crate::view::amounts;
use crate::view::block::{Head, Table};
use crate::view::heat;

/// All figures with their intervals and notes.
pub(crate) fn figures(figures: &[Figure]) -> Table {
    let mut table = Table::headed(["figure", "value#", "95 % interval#", "n#", "note"]);
    let row = |figure: &Figure| {
        vec![
            figure.name.clone(),
            amounts::show(figure.estimate.value, figure.unit),
            amounts::margin(figure).unwrap_or_else(|| "none".to_owned()),
            units::count(figure.estimate.n),
            figure.note.clone(),
        ]
    };
    table.rows = figures.iter().map(row).collect();
    table
}

/// A table of findings, its numbers with their units.
pub(crate) fn table(table: &findings::Table) -> Table {
    let head = |(column, name)| Head { name, is_number: amounts::is_numeric(table, column) };
    Table {
        title: table.title.clone(),
        heads: amounts::heads(table).into_iter().enumerate().map(head).collect(),
        rows: amounts::rows(table),
        note: table.note.clone(),
    }
}

/// A heat map as a table: a ratio with its mark for each field, `·` where there is none.
pub(crate) fn heat_map(map: &HeatMap) -> Table {
    let head = |name: &String| Head { name: name.clone(), is_number: true };
    let names = Head { name: String::new(), is_number: false };
    let row = |row: &HeatRow| {
        let fields = row.cells.iter().map(|cell| cell.as_ref().map_or("·".into(), heat::entry));
        std::iter::once(row.name.clone()).chain(fields).collect()
    };
    // Of several maps in a row the last one says what they mean.
    let note = match map.note.is_empty() {
        true => String::new(),
        false => format!("{} {}", heat::marks(map), map.note),
    };
    Table {
        title: map.title.clone(),
        heads: std::iter::once(names).chain(map.columns.iter().map(head)).collect(),
        rows: map.rows.iter().map(row).collect(),
        note,
    }
}

/// The runs of several targets, and how each ended.
pub(crate) fn runs(gathering: &Gathering) -> Table {
    let mut table = Table::headed(["target", "run", ""]);
    let row = |run: &Gathered| {
        let word = match (run.complete, run.no_answer) {
            (false, _) => "incomplete",
            (true, true) => "no valid answer",
            (true, false) => "",
        };
        vec![run.target.clone(), run.run.clone(), word.to_owned()]
    };
    table.rows = gathering.runs.iter().map(row).collect();
    table
}

/// What does not apply, a sentence each.
pub(crate) fn not_applicable(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(|remark| format!("{}: {}", remark.cell, remark.text)).collect()
}
