//! What the manifests say: which crate may use which, and why each dependency is there.

use crate::tidy::source::{Tree, Violation, crate_of};

/// What each crate may use, from the picture in docs/ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 8] = [
    ("stats", &[]),
    ("core", &["stats"]),
    ("io", &["core", "stats"]),
    ("sim", &["core", "stats"]),
    ("study", &["core", "stats"]),
    ("compat", &["core", "stats"]),
    ("report", &["core", "stats"]),
    ("drivelab", &["stats", "core", "io", "sim", "study", "compat", "report"]),
];

/// A dependency as a manifest writes it.
struct Entry<'a> {
    line: usize,
    section: &'a str,
    name: &'a str,
    text: &'a str,
}

/// The entries of all sections of dependencies, dotted keys and sub-tables included.
fn entries(manifest: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (line, text) in (1..).zip(manifest.lines()) {
        let text = text.split('#').next().unwrap_or("").trim();
        if let Some(header) = text.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
            if let Some((_, name)) = section.rsplit_once("dependencies.") {
                found.push(Entry { line, section, name, text });
            }
        } else if section.ends_with("dependencies")
            && let Some((key, _)) = text.split_once('=')
        {
            let name = key.trim().split('.').next().unwrap_or("");
            found.push(Entry { line, section, name, text });
        }
    }
    found
}

/// Arrows between crates that are not in the picture.
pub fn direction(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.files.values().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let Some(name) = crate_of(&file.path) else { continue };
        let allowed = ARROWS.iter().find(|(from, _)| *from == name);
        if allowed.is_none() {
            let what = format!("crate `{name}` is not in the picture of docs/ARCHITECTURE.md");
            violations.push(Violation { path: file.path.clone(), line: 0, what });
        }
        let allowed = allowed.map_or(&[][..], |(_, to)| to);
        for entry in entries(&file.text) {
            let Some(used) = entry.name.strip_prefix("drivelab-") else { continue };
            if !allowed.contains(&used) {
                let what = format!("`{name}` must not use `{used}` ([{}])", entry.section);
                violations.push(Violation { path: file.path.clone(), line: entry.line, what });
            }
        }
    }
    violations
}

/// Dependencies without a line of reason, or chosen outside the workspace's one list.
pub fn reasons(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let reasons = tree.files.get("docs/ARCHITECTURE.md").map_or("", |file| file.text.as_str());
    if let Some(file) = tree.files.get("Cargo.toml") {
        for entry in entries(&file.text) {
            let is_ours = entry.name.starts_with("drivelab-");
            if !is_ours && !reasons.contains(&format!("`{}`", entry.name)) {
                let what = format!("docs/ARCHITECTURE.md gives no reason for `{}`", entry.name);
                violations.push(Violation { path: file.path.clone(), line: entry.line, what });
            }
        }
    }
    for file in tree.files.values().filter(|file| crate_of(&file.path).is_some()) {
        if !file.path.ends_with("/Cargo.toml") {
            continue;
        }
        for entry in entries(&file.text) {
            if !entry.text.contains("workspace") {
                let what = format!("`{}` belongs into [workspace.dependencies]", entry.name);
                violations.push(Violation { path: file.path.clone(), line: entry.line, what });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of([(path.to_string(), text.to_string())]);
        direction(&tree).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn wrong_arrows_are_found() {
        let wrong = "[dependencies]\ndrivelab-io.workspace = true\n";
        assert_eq!(found("crates/core/Cargo.toml", wrong), [2]);
        assert!(found("crates/drivelab/Cargo.toml", wrong).is_empty());
        let hidden = "[target.'cfg(unix)'.dev-dependencies]\ndrivelab-study = { path = \"x\" }\n";
        assert_eq!(found("crates/report/Cargo.toml", hidden), [2]);
        assert_eq!(found("crates/stats/Cargo.toml", "[dependencies.drivelab-core]\n"), [1]);
        assert_eq!(found("crates/extra/Cargo.toml", ""), [0]);
    }

    #[test]
    fn unargued_dependencies_are_found() {
        let tree = |reason: &str, manifest: &str| {
            let root = "[workspace.dependencies]\nserde = \"1\"\n";
            let texts = [
                ("Cargo.toml", root),
                ("docs/ARCHITECTURE.md", reason),
                ("crates/core/Cargo.toml", manifest),
            ];
            Tree::of(texts.map(|(path, text)| (path.to_string(), text.to_string())))
        };
        assert_eq!(reasons(&tree("- `serde`: text in and out", "")).len(), 0);
        assert_eq!(reasons(&tree("- serde_json", "")).len(), 1);
        let own = "[dependencies]\nserde = \"2\"\n";
        assert_eq!(reasons(&tree("- `serde`: text in and out", own)).len(), 1);
    }
}
