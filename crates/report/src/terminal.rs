//! What the terminal shows: results as aligned text, without colours that carry meaning.

mod accept;
mod check;
mod compare;
mod doctor;
mod facts;
mod heat;
mod lists;
mod run;
mod study;

pub use accept::claims_table;
pub use check::check_table;
pub use compare::comparison_table;
pub(crate) use compare::{change, compared_name, comparison_counts, comparison_reach};
pub use doctor::{doctor_table, leftovers_list, set_up_table};
pub use facts::facts;
pub(crate) use facts::groups as fact_groups;
pub use lists::{RunRow, device_list, runs_table};
pub use run::run_summary;
pub use study::{gathering_table, study_table};

use drivelab_core::record::Warning;

/// Warnings with their advice, each as a paragraph.
pub fn warnings(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for warning in warnings {
        let words = crate::text::printable(&format!("{} {}", warning.text, warning.advice));
        text.push_str(&crate::text::hanging("Warning", &words, 9));
    }
    text
}
