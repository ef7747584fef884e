//! Prints the tables of docs/METHODOLOGY.md that `check` judges by: `uses` or `classes`.

use drivelab_study::check::{classes, uses};

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "uses" => print!("{}", uses::table()),
        "classes" => print!("{}", classes::table()),
        _ => eprintln!("name one of them: uses, classes"),
    }
}
