//! What the terminal shows: results as aligned text, without colours that carry meaning.

mod accept;
mod cell;
mod check;
mod compare;
mod curve;
mod doctor;
mod facts;
mod health;
mod heat;
mod history;
mod lists;
mod run;
mod study;
mod table;

pub use accept::claims_table;
pub use cell::cell_line;
pub use check::check_table;
pub use compare::comparison_table;
pub use doctor::{doctor_table, leftovers_list, set_up_table};
pub use facts::facts;
pub use health::health_list;
pub use history::history_table;
pub use lists::{RunRow, device_list, runs_table};
pub use run::run_summary;
pub use study::{gathering_table, study_table};

use crate::text::{hanging, printable};
use crate::view::{drives, header};
use drivelab_core::record::Warning;
use drivelab_core::summary::Summary;

/// What stands at the end of every result: what the drives counted of themselves, then warnings.
fn closing(summary: &Summary) -> String {
    let drive = |change| hanging("Drive", &printable(&drives::sentence(change)?), 9).into();
    let told: Vec<String> = summary.health.iter().filter_map(drive).collect();
    let parts = [told.concat(), warnings(&summary.warnings)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The warnings that are more than notes, each as a paragraph.
pub fn alarms(all: &[Warning]) -> String {
    let (alarms, _) = header::alarms_and_notes(all);
    warnings(&alarms.into_iter().cloned().collect::<Vec<_>>())
}

/// Warnings with their advice, each as a paragraph; then what is merely to be noted.
pub fn warnings(warnings: &[Warning]) -> String {
    let mut text = String::new();
    let (alarms, notes) = header::alarms_and_notes(warnings);
    for (label, warning) in
        alarms.into_iter().map(|it| ("Warning", it)).chain(notes.into_iter().map(|it| ("Note", it)))
    {
        let words = printable(&format!("{} {}", warning.text, warning.advice));
        text.push_str(&hanging(label, &words, 9));
    }
    text
}
