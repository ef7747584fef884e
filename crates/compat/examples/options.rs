//! Prints the options of a tool as the documentation lists them: `cargo run --example options fio`.

use drivelab_compat::fio;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("fio") => print!("{}", fio::known::table()),
        other => eprintln!("no table of {other:?}; there is one of fio"),
    }
}
