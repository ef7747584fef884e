//! drivelab against fio, measured alternately on memory-backed targets: the generators' own speed.
//!
//! Writes docs/BENCHMARKS.md. `make bench` runs everything (about 25 minutes); a word after it
//! (`make bench ONLY=zram`) runs the cells whose name contains it, and only prints.
#![forbid(unsafe_code)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod agreement;
mod cells;
mod contestants;
mod document;
mod measure;
mod setting;

use setting::Setting;

fn main() {
    // cargo passes `--bench`; what is left is our own.
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let setting = Setting::prepare();
    let mut results = Vec::new();
    for cell in cells::all() {
        if only.as_ref().is_some_and(|word| !cell.name().contains(word)) {
            continue;
        }
        eprintln!("{}", cell.name());
        results.push(cell.measure(&setting));
    }
    let agreement = match only {
        Some(_) => None,
        None => Some(agreement::measure()),
    };
    let text = document::text(&setting, &results, agreement.as_ref());
    println!("{text}");
    if only.is_none() {
        document::write(&text);
    }
    if results.iter().any(|result| result.is_any_missed()) {
        println!("Some targets are MISSED: see above.");
    }
}
