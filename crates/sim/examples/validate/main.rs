//! The simulated drives against theory and the documents' figures, as a page of Markdown.
//! `make validate` writes it into docs/SIMULATOR.md. Everything printed comes from a run.

mod ablation;
mod cliff;
mod documents;
mod fragmentation;
mod laws;
mod load;
mod measures;
mod mechanisms;
mod page;
mod parameters;
mod placement;
mod policies;
mod ranges;
mod refit;
mod theory;

use std::process::ExitCode;

/// A section of the page.
type Section = fn() -> Result<String, String>;

/// All but the grid, in the order of the page.
const SECTIONS: &[(&str, Section)] = &[
    ("theory", theory::section),
    ("cliff", cliff::section),
    ("laws", laws::section),
    ("fragmentation", fragmentation::section),
    ("documents", documents::section),
    ("refit", refit::section),
    ("parameters", parameters::section),
    ("ranges", ranges::section),
    ("ablation", ablation::section),
];

/// The grid of policies takes longer than all others, and stands in a section of its own.
const GRID: (&str, Section) = ("policies", policies::section);

fn main() -> ExitCode {
    let asked = std::env::args().nth(1);
    let is_asked = |name: &str| asked.as_deref().map_or(name != GRID.0, |asked| asked == name);
    for (_, section) in SECTIONS.iter().chain([&GRID]).filter(|(name, _)| is_asked(name)) {
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
