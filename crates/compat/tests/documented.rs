//! The documentation lists every option as the program treats it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use drivelab_compat::fio;

#[test]
fn every_option_of_fio_is_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COMPATIBILITY.md");
    let text = std::fs::read_to_string(path).unwrap();
    let missing: Vec<String> = fio::known::table()
        .lines()
        .filter(|line| !text.lines().any(|known| known == *line))
        .map(String::from)
        .collect();
    assert!(
        missing.is_empty(),
        "cargo run -p drivelab-compat --example options fio | \
         scripts/write-section docs/COMPATIBILITY.md fio-options\n{}",
        missing.join("\n")
    );
}
