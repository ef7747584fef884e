//! The documentation lists every option as the program treats it.

use drivelab_compat::TOOLS;

#[test]
fn every_option_is_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COMPATIBILITY.md");
    let text = std::fs::read_to_string(path).unwrap();
    for tool in TOOLS {
        let (word, Some(table)) = (tool.word(), tool.table) else { continue };
        let section = text.split(&format!("<!-- {word}-options:begin -->")).nth(1);
        let section = section.unwrap_or_else(|| panic!("no section {word}-options"));
        let section = section.split(&format!("<!-- {word}-options:end -->")).next().unwrap();
        assert_eq!(
            section.trim(),
            table().trim(),
            "cargo run -p drivelab-compat --example options {word} | \
             scripts/write-section docs/COMPATIBILITY.md {word}-options"
        );
    }
}
