//! Prints the options of a tool as the documentation lists them: `cargo run --example options fio`.

use drivelab_compat::{fio, iostat, iozone};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("fio") => print!("{}", fio::known::table()),
        Some("iozone") => print!("{}", iozone::markdown()),
        Some("iostat") => print!("{}", iostat::markdown()),
        other => eprintln!("no table of {other:?}; there are those of fio, iozone and iostat"),
    }
}
