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
mod pauses;
mod placement;
mod policies;
mod ranges;
mod refit;
mod theory;

use std::process::ExitCode;

/// A section of the page.
type Section = fn() -> Result<String, String>;

/// Those of the page, in its order.
const SECTIONS: &[(&str, Section)] = &[
    ("theory", theory::section),
    ("cliff", cliff::section),
    ("laws", laws::section),
    ("fragmentation", fragmentation::section),
    ("documents", documents::section),
    ("parameters", parameters::section),
    ("ranges", ranges::section),
    ("ablation", ablation::section),
];

/// Those that take longer than all others together, and are written when they are asked for.
const APART: &[(&str, Section)] = &[("policies", policies::section), ("refit", refit::section)];

fn main() -> ExitCode {
    let asked = std::env::args().nth(1);
    let chosen: Vec<Section> = match &asked {
        None => SECTIONS.iter().map(|(_, section)| *section).collect(),
        Some(asked) => {
            let all = SECTIONS.iter().chain(APART);
            all.filter(|(name, _)| name == asked).map(|(_, section)| *section).collect()
        }
    };
    if chosen.is_empty() {
        let names: Vec<&str> = SECTIONS.iter().chain(APART).map(|(name, _)| *name).collect();
        eprintln!("validate: no such section; give none, or one of {}", names.join(", "));
        return ExitCode::from(2);
    }
    for section in chosen {
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
