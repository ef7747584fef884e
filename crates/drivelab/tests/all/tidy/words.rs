//! Words that should not be there.

use crate::tidy::source::{Tree, Violation, lines_with, words};

/// Panics outside tests.
pub fn giving_up(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust() {
        for word in [
            ".unwrap()",
            ".expect(",
            ".unwrap_err()",
            ".expect_err(",
            "panic!",
            "panic_any(",
            "resume_unwind(",
        ] {
            if word == "resume_unwind(" && file.path.ends_with("core/src/defect.rs") {
                continue;
            }
            for line in lines_with(&file.shipped, word) {
                let what = format!("`{word}` outside tests: say what happened instead");
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

/// Never part of a name.
const HOLLOW: [&str; 5] = ["util", "utils", "manager", "helper", "helpers"];
/// Never a whole name; fine in `greatest_common_divisor`.
const VAGUE: [&str; 3] = ["common", "misc", "stuff"];

/// The part of `name` that says nothing, if there is one.
fn hollow_part(name: &str) -> Option<String> {
    let parts = parts(name);
    let whole = VAGUE.iter().find(|vague| **vague == name.to_lowercase());
    let found = parts.into_iter().find(|part| HOLLOW.contains(&part.as_str()));
    found.or(whole.map(|vague| vague.to_string()))
}

/// The words of an identifier, in lower case.
fn parts(identifier: &str) -> Vec<String> {
    let mut spaced = String::new();
    for c in identifier.chars() {
        if c.is_uppercase() {
            spaced.push('_');
        }
        spaced.extend(c.to_lowercase());
    }
    spaced.split('_').map(str::to_string).collect()
}

/// Files and items with hollow names.
pub fn names(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust() {
        let path = file.path.trim_end_matches(".rs");
        for part in path.split('/').filter_map(hollow_part) {
            let what = format!("`{part}` says nothing: name the file after its subject");
            violations.push(Violation { path: file.path.clone(), line: 0, what });
        }
        let mut previous = "";
        for (at, word) in words(&file.code) {
            let introduces = ["fn", "struct", "enum", "trait", "mod", "type", "const", "static"];
            if introduces.contains(&previous)
                && let Some(hollow) = hollow_part(word)
            {
                let line = 1 + file.code[..at].matches('\n').count();
                let what = format!("`{hollow}` in `{word}` says nothing: name what it is");
                violations.push(Violation { path: file.path.clone(), line, what });
            }
            previous = word;
        }
    }
    violations
}

/// Marks of unfinished work, in any text. Written in two parts: this file is searched too.
pub fn later(tree: &Tree) -> Vec<Violation> {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!("),
        concat!("unimple", "mented!("),
    ];
    let mut violations = Vec::new();
    for file in tree.files.values().filter(|file| file.path != "Cargo.lock") {
        for mark in marks {
            for line in lines_with(&file.text, mark) {
                let what = format!("`{mark}`: do it, or open an issue");
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

/// Paths of places beside the project.
pub fn outside(tree: &Tree) -> Vec<Violation> {
    let places = [
        concat!("..", "/shared"),
        concat!("/wo", "rk/"),
        concat!("shared", "/reference"),
        concat!("shared", "/DESIGN"),
        concat!("shared", "/CONTRACT"),
        concat!("shared", "/vectors"),
        concat!("shared", "/STYLE"),
        concat!("shared", "/UX"),
        concat!("HOT-", "PATH"),
        concat!("METHODOLOGY ", "B."),
    ];
    let mut violations = Vec::new();
    for file in tree.files.values() {
        for place in places {
            let lines = (1..).zip(file.text.lines()).filter(|(_, text)| text.contains(place));
            for (line, _) in lines {
                let what = format!("`{place}` is not part of this project");
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

/// Entries of tests/unavailable.txt that name no test or give no reason.
pub fn unavailable(tree: &Tree) -> Vec<Violation> {
    let path = "tests/unavailable.txt";
    let Some(list) = tree.files.get(path) else {
        return vec![Violation { path: path.into(), line: 0, what: "is missing".into() }];
    };
    let mut violations = Vec::new();
    for (line, text) in (1..).zip(list.text.lines()) {
        if text.starts_with('#') || text.trim().is_empty() {
            continue;
        }
        let (name, reason) = text.split_once(": ").unwrap_or((text, ""));
        let declared = format!("fn {}()", name.trim());
        if !tree.rust().any(|file| file.code.contains(&declared)) {
            let what = format!("no test is called `{name}`");
            violations.push(Violation { path: path.into(), line, what });
        }
        if reason.trim().is_empty() {
            let what = format!("`{name}` needs a reason: `test_name: reason`");
            violations.push(Violation { path: path.into(), line, what });
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::one;

    #[test]
    fn giving_up_is_found() {
        let text = "fn f() { a().unwrap(); b().unwrap_or(0); }";
        assert_eq!(giving_up(&one("crates/core/src/x.rs", text)).len(), 1);
        assert_eq!(giving_up(&one("crates/core/tests/x.rs", text)).len(), 0);
    }

    #[test]
    fn hollow_names_are_found() {
        assert_eq!(names(&one("crates/core/tests/disk_utils.rs", "")).len(), 1);
        assert_eq!(names(&one("crates/core/tests/common/x.rs", "")).len(), 1);
        let text = "struct DiskManager;\nfn common() {}\nfn in_common_use() { uncommon() }";
        assert_eq!(names(&one("crates/core/src/x.rs", text)).len(), 2);
        assert_eq!(names(&one("crates/core/src/x.rs", "fn uncommon() {}")).len(), 0);
    }

    #[test]
    fn marks_and_places_are_found() {
        let text = concat!("// TO", "DO: later\n");
        assert_eq!(later(&one("crates/core/src/x.rs", text)).len(), 1);
        let text = concat!("see ..", "/shared/X.md and /wo", "rk/main\n");
        assert_eq!(outside(&one("README.md", text)).len(), 2);
    }

    #[test]
    fn bad_entries_of_the_list_are_found() {
        let list = |text: &str| {
            let texts = [("tests/unavailable.txt", text), ("crates/x/tests/y.rs", "fn real() {}")];
            Tree::of(texts.map(|(path, text)| (path.to_string(), text.to_string())))
        };
        assert_eq!(unavailable(&list("# nothing\n")).len(), 0);
        assert_eq!(unavailable(&list("real: no loop devices here\n")).len(), 0);
        assert_eq!(unavailable(&list("real\n")).len(), 1);
        assert_eq!(unavailable(&list("ghost: why\n")).len(), 1);
    }
}
