//! What each layer must leave alone: memory, clocks, files, the terminal.

use crate::tidy::source::{Source, Tree, Violation, crate_of, lines_with};

fn at(file: &Source, line: usize, what: impl Into<String>) -> Violation {
    Violation { path: file.path.clone(), line, what: what.into() }
}

/// Every line of the code that `code_of` gives with one of `needles`, in the crates that match.
fn found(
    tree: &Tree,
    is_bound: impl Fn(&str) -> bool,
    code_of: impl Fn(&Source) -> &str,
    needles: &[&str],
    why: &str,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|file| crate_of(&file.path).is_some_and(&is_bound)) {
        for needle in needles {
            for line in lines_with(code_of(file), needle) {
                violations.push(at(file, line, format!("`{needle}`: {why}")));
            }
        }
    }
    violations
}

/// How far above an `unsafe` its sentence may stand.
const SAFETY_LINES: usize = 3;

/// The one other file that may: prefetching and huge pages of a simulated drive's tables.
const UNSAFE_IN_SIM: &str = "crates/sim/src/memory.rs";

/// `unsafe` outside io and one file of sim, without its sentence, or not forbidden elsewhere.
pub fn unsafe_code(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust() {
        let lines: Vec<&str> = file.text.lines().collect();
        for line in lines_with(&file.code, "unsafe") {
            let above = &lines[line.saturating_sub(1 + SAFETY_LINES)..line];
            let is_argued =
                above.iter().any(|text| text.contains("SAFETY:") || text.contains("# Safety"));
            // The lint is named `unsafe_code`; it allows and forbids, and does nothing unsafe.
            // The type of a function pointer does nothing either: whoever calls it argues.
            let is_type = lines[line - 1].contains("unsafe extern \"C\" fn(");
            if lines[line - 1].contains("unsafe_code")
                || is_type && file.path.starts_with("crates/io/")
            {
                continue;
            }
            if !file.path.starts_with("crates/io/") && file.path != UNSAFE_IN_SIM {
                violations.push(at(file, line, "`unsafe` belongs into crates/io"));
            } else if !is_argued {
                violations.push(at(file, line, "`unsafe` needs a SAFETY sentence just above"));
            }
        }
        let name = crate_of(&file.path).unwrap_or("io");
        let is_entrance = ["lib.rs", "main.rs"]
            .iter()
            .any(|entrance| file.path == format!("crates/{name}/src/{entrance}"));
        // `deny` can be lifted in one file, `forbid` nowhere.
        let lint = if name == "sim" { "#![deny(unsafe_code)]" } else { "#![forbid(unsafe_code)]" };
        if is_entrance && name != "io" && !file.code.contains(lint) {
            violations.push(at(file, 0, format!("`{lint}` is missing")));
        }
    }
    violations
}

/// Clocks outside io and drivelab.
pub fn clocks(tree: &Tree) -> Vec<Violation> {
    let needles = [
        "Instant",
        "SystemTime",
        "UNIX_EPOCH",
        "std::time",
        "clock_gettime",
        "_rdtsc",
        "__rdtscp",
        "rdtsc",
    ];
    let is_bound = |name: &str| !matches!(name, "io" | "drivelab");
    found(tree, is_bound, |file| &file.code, &needles, "time comes in as data here")
}

/// Files, environment, threads and processes in the pure crates, outside their tests.
pub fn surroundings(tree: &Tree) -> Vec<Violation> {
    let needles = [
        "std::fs",
        "fs::",
        "File::",
        "std::env",
        "env::",
        "std::net",
        "std::process",
        "std::thread",
        "thread::",
        "stdin",
        "stdout",
        "stderr",
        "libc",
        "rustix",
    ];
    let is_bound = |name: &str| matches!(name, "core" | "stats" | "report" | "study" | "compat");
    found(tree, is_bound, |file| &file.shipped, &needles, "a pure crate gets this as data")
}

/// Numbers that studies take from elsewhere than `core::sound::Sound`, which has none of cells that
/// are suspect or drift.
pub fn sound_only(tree: &Tree) -> Vec<Violation> {
    let why = "a study judges what `Sound` holds";
    found(tree, |name| name == "study", |file| &file.shipped, &["summarise"], why)
}

/// Printing in libraries, and `dbg!` anywhere.
pub fn printing(tree: &Tree) -> Vec<Violation> {
    let needles = ["println!", "eprintln!", "print!", "eprint!", "stdout()", "stderr()"];
    let why = "only drivelab/src/print.rs prints, and lets nothing through that steers a terminal";
    let mut violations = found(tree, |_| true, |file| &file.shipped, &needles, why);
    violations.retain(|violation| {
        // What a build script prints is said to cargo.
        let to_cargo = violation.path.ends_with("/build.rs");
        let example = violation.path.contains("/examples/") || violation.path.contains("/benches/");
        !to_cargo && !example && violation.path != "crates/drivelab/src/print.rs"
    });
    violations.extend(found(tree, |_| true, |file| &file.code, &["dbg!"], "left over"));
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::one;

    #[test]
    fn stray_unsafe_is_found() {
        let stray = one("crates/core/src/x.rs", "fn f() { unsafe { g() } }");
        assert!(unsafe_code(&stray).iter().any(|found| found.line == 1));
        let bare = one("crates/io/src/x.rs", "fn f() {\n    unsafe { g() }\n}");
        assert_eq!(unsafe_code(&bare).len(), 1);
        let argued = "fn f() {\n    // SAFETY: g has no conditions.\n    unsafe { g() }\n}";
        assert_eq!(unsafe_code(&one("crates/io/src/x.rs", argued)).len(), 0);
        assert_eq!(unsafe_code(&one("crates/core/src/lib.rs", "//! Nothing.")).len(), 1);
        let forbidden = "#![forbid(unsafe_code)]";
        assert_eq!(unsafe_code(&one("crates/core/src/lib.rs", forbidden)).len(), 0);
    }

    #[test]
    fn a_stray_clock_is_found() {
        let text = "use std::time::Duration;\nfn f() { Instant::now(); }\n// Instant\n";
        let lines: Vec<usize> =
            clocks(&one("crates/study/src/x.rs", text)).iter().map(|found| found.line).collect();
        assert_eq!(lines, [2, 1]);
        assert_eq!(clocks(&one("crates/io/src/x.rs", text)).len(), 0);
    }

    #[test]
    fn stray_files_and_environment_are_found() {
        for text in ["use std::fs;", "fn f() { File::open(p); }", "fn f() { std::env::var(x); }"] {
            assert!(!surroundings(&one("crates/report/src/x.rs", text)).is_empty(), "{text}");
            assert!(surroundings(&one("crates/drivelab/src/x.rs", text)).is_empty(), "{text}");
            let tested = format!("#[cfg(test)]\nmod tests {{ {text} }}");
            assert!(surroundings(&one("crates/report/src/x.rs", &tested)).is_empty(), "{text}");
        }
        let compiled_in = "const V: &str = env!(\"CARGO_PKG_VERSION\");";
        assert!(surroundings(&one("crates/core/src/x.rs", compiled_in)).is_empty());
    }

    #[test]
    fn numbers_past_the_sound_ones_are_found() {
        for text in ["fn f() { summarise(run); }", "use drivelab_core::summary::summarise as s;"] {
            assert_eq!(sound_only(&one("crates/study/src/x.rs", text)).len(), 1, "{text}");
            assert_eq!(sound_only(&one("crates/report/src/x.rs", text)).len(), 0, "{text}");
            let tested = format!("#[cfg(test)]\nmod tests {{ {text} }}");
            assert_eq!(sound_only(&one("crates/study/src/x.rs", &tested)).len(), 0, "{text}");
        }
    }

    #[test]
    fn stray_printing_is_found() {
        let text = "fn f() { println!(\"x\"); }";
        assert_eq!(printing(&one("crates/io/src/x.rs", text)).len(), 1);
        assert_eq!(printing(&one("crates/drivelab/src/x.rs", text)).len(), 1);
        assert_eq!(printing(&one("crates/drivelab/src/print.rs", text)).len(), 0);
        let other = "fn f() { let _ = writeln!(std::io::stderr(), \"x\"); }";
        assert_eq!(printing(&one("crates/drivelab/src/x.rs", other)).len(), 1);
        assert_eq!(printing(&one("crates/drivelab/src/x.rs", "fn f() { dbg!(x); }")).len(), 1);
    }
}
