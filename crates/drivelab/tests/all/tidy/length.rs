//! Lengths of files, functions and lines. Exceptions stand in a list that may only shrink.

use crate::tidy::source::{Tree, Violation, functions};
use std::collections::BTreeMap;

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;
const LINE_COLUMNS: usize = 100;

/// What is too long: `file PATH`, `function PATH NAME` or `wide PATH`, and its length (for `wide`
/// the number of lines that are too wide).
fn too_long(tree: &Tree) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for file in tree.rust() {
        let lines = file.text.lines().count();
        if lines > FILE_LINES {
            found.insert(format!("file {}", file.path), lines);
        }
        for function in functions(&file.code) {
            if function.lines > FUNCTION_LINES {
                let key = format!("function {} {}", file.path, function.name);
                let longest = found.entry(key).or_default();
                *longest = function.lines.max(*longest);
            }
        }
        let wide = file.text.lines().filter(|line| line.chars().count() > LINE_COLUMNS).count();
        if wide > 0 {
            found.insert(format!("wide {}", file.path), wide);
        }
    }
    found
}

/// What is too long and not listed, and what the list allows beyond need. A line of the list is
/// `KEY LENGTH`; `#` begins a comment.
pub fn ratchet(tree: &Tree, list: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let found = too_long(tree);
    let mut listed = BTreeMap::new();
    for (line, text) in (1..).zip(list.lines()) {
        if text.starts_with('#') || text.trim().is_empty() {
            continue;
        }
        let parsed =
            text.rsplit_once(' ').and_then(|(key, length)| Some((key, length.parse().ok()?)));
        match parsed {
            Some((key, length)) => {
                listed.insert(key.to_string(), (line, length));
            }
            None => violations.push(entry(line, "not `KEY LENGTH`".into())),
        }
    }
    for (key, (line, allowed)) in &listed {
        match found.get(key) {
            None => violations.push(entry(*line, format!("`{key}` is short now: remove this"))),
            Some(length) if length < allowed => {
                violations.push(entry(*line, format!("`{key}` has {length} now: lower this")));
            }
            Some(_) => {}
        }
    }
    for (key, length) in &found {
        let allowed = listed.get(key).map_or(0, |(_, allowed)| *allowed);
        if *length > allowed {
            let path = key.split(' ').nth(1).unwrap_or(key).to_string();
            let limits = format!("{FILE_LINES} a file, {FUNCTION_LINES} a function");
            let what = format!("`{key}` has {length} ({limits}, {LINE_COLUMNS} columns): split it");
            violations.push(Violation { path, line: 0, what });
        }
    }
    violations
}

fn entry(line: usize, what: String) -> Violation {
    Violation { path: "crates/drivelab/tests/tidy_ratchet.txt".into(), line, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::one;

    #[test]
    fn lengths_are_found_and_only_shrink() {
        let path = "crates/core/src/x.rs";
        let long_file = one(path, &"const A: u8 = 1;\n".repeat(501));
        assert_eq!(ratchet(&long_file, "").len(), 1);
        assert_eq!(ratchet(&long_file, "# why\nfile crates/core/src/x.rs 501\n").len(), 0);
        assert_eq!(ratchet(&long_file, "file crates/core/src/x.rs 502\n").len(), 1);
        assert_eq!(ratchet(&long_file, "file crates/core/src/x.rs 500\n").len(), 1);
        let long_function = one(path, &format!("fn f() {{\n{}}}\n", "g();\n".repeat(69)));
        assert_eq!(ratchet(&long_function, "").len(), 1);
        assert_eq!(ratchet(&long_function, "function crates/core/src/x.rs f 71\n").len(), 0);
        let wide = one(path, &format!("// {}\n", "w".repeat(98)));
        assert_eq!(ratchet(&wide, "").len(), 1);
        let fine = one(path, "fn f() {}\n");
        assert_eq!(ratchet(&fine, "").len(), 0);
        assert_eq!(ratchet(&fine, "file crates/core/src/x.rs 600\n").len(), 1);
        assert_eq!(ratchet(&fine, "nonsense\n").len(), 1);
    }
}
