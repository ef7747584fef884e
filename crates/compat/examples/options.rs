//! Prints the options of a tool as the documentation lists them: `cargo run --example options fio`.

use drivelab_compat::tools;

fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
    match tools::named(&word).and_then(|tool| tool.table) {
        Some(table) => print!("{}", table()),
        None => eprintln!("no table of `{word}`"),
    }
}
