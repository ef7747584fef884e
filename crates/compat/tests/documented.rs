//! The documentation lists every option as the program treats it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use drivelab_compat::{fio, ior, iostat, iozone, mdtest, metarates};

fn documented(tool: &str, table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COMPATIBILITY.md");
    let text = std::fs::read_to_string(path).unwrap();
    let is_missing = |line: &&str| !text.lines().any(|known| known == *line);
    let missing: Vec<&str> = table.lines().filter(is_missing).collect();
    assert!(
        missing.is_empty(),
        "cargo run -p drivelab-compat --example options {tool} | \
         scripts/write-section docs/COMPATIBILITY.md {tool}-options\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_option_of_fio_is_documented() {
    documented("fio", &fio::known::table());
}

#[test]
fn every_option_of_iozone_is_documented() {
    documented("iozone", &iozone::markdown());
}

#[test]
fn every_option_of_iostat_is_documented() {
    documented("iostat", &iostat::markdown());
}

#[test]
fn every_option_of_the_tools_under_mpirun_is_documented() {
    documented("ior", &ior::known::table());
    documented("mdtest", &mdtest::known::table());
    documented("metarates", &metarates::known::table());
}
