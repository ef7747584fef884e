//! The simulated drives against theory, calibration rows and predictions, as a page of Markdown.
//! `make validate` writes it into docs/SIMULATOR.md. Everything printed comes from a run.

mod ablation;
mod calibration;
mod cliff;
mod fragmentation;
mod laws;
mod load;
mod measures;
mod mechanisms;
mod page;
mod parameters;
mod placement;
mod policies;
mod predictions;
mod rows;
mod theory;

use std::process::ExitCode;

/// A section of the page.
type Section = fn() -> Result<String, String>;

const SECTIONS: &[Section] = &[
    theory::section,
    cliff::section,
    laws::section,
    fragmentation::section,
    calibration::section,
    predictions::section,
    parameters::section,
    ablation::section,
];

/// The grid of policies takes longer than all others, and stands in a section of its own.
const GRID: &str = "policies";

fn main() -> ExitCode {
    let sections: &[Section] = match std::env::args().nth(1).as_deref() {
        Some(GRID) => &[policies::section],
        Some("ablation") => &[ablation::section],
        _ => SECTIONS,
    };
    for section in sections {
        match section() {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("validate: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
