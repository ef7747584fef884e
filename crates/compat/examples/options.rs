//! Prints the options of a tool as the documentation lists them: `cargo run --example options fio`.

use drivelab_compat::{fio, ior, iostat, iozone, mdtest, metarates};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("fio") => print!("{}", fio::known::table()),
        Some("iozone") => print!("{}", iozone::markdown()),
        Some("iostat") => print!("{}", iostat::markdown()),
        Some("ior") => print!("{}", ior::known::table()),
        Some("mdtest") => print!("{}", mdtest::known::table()),
        Some("metarates") => print!("{}", metarates::known::table()),
        other => eprintln!("no table of {other:?}"),
    }
}
