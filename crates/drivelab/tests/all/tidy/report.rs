//! Inside `report`: what it says is data in `view`, and how it looks is a renderer's own business.

use crate::tidy::circles::used;
use crate::tidy::source::{Tree, Violation};

/// What each module of `report` may use besides itself, from the picture in docs/ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 11] = [
    ("text", &[]),
    ("units", &[]),
    ("errno", &[]),
    ("redact", &[]),
    ("view", &["units", "errno"]),
    ("svg", &["view", "text"]),
    ("html", &["svg", "view", "text"]),
    ("terminal", &["view", "text", "units"]),
    ("csv", &["view"]),
    ("xlsx", &["view"]),
    ("markdown", &["view", "text"]),
];

const SOURCES: &str = "crates/report/src/";

/// Modules of `report` that use another one against the arrows, or that have none.
pub fn modules(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust() {
        let Some(path) = file.path.strip_prefix(SOURCES).filter(|path| *path != "lib.rs") else {
            continue;
        };
        let place: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
        let Some((_, allowed)) = ARROWS.iter().find(|(module, _)| *module == place[0]) else {
            let what = format!("docs/ARCHITECTURE.md has no arrows for `{}` of report", place[0]);
            violations.push(Violation { path: file.path.clone(), line: 0, what });
            continue;
        };
        for (line, used) in used(file, place.len()) {
            if used != place[0] && !allowed.contains(&used) {
                let what = format!("`{}` of report must not use `{used}`", place[0]);
                violations.push(Violation { path: file.path.clone(), line, what });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::one;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let mut texts = vec![("crates/report/src/lib.rs".to_string(), String::new())];
        for (parent, child) in [("svg", "forest"), ("html", "study"), ("text", "")] {
            texts[0].1 += &format!("mod {parent};\n");
            let module = if child.is_empty() { String::new() } else { format!("mod {child};\n") };
            texts.push((format!("crates/report/src/{parent}.rs"), module));
        }
        texts.push((format!("crates/report/src/{path}"), text.to_string()));
        let violations = modules(&Tree::of(texts));
        violations.into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_renderer_that_asks_another_one_is_found() {
        for text in [
            "use crate::terminal;",
            "use crate::terminal::facts;",
            "use crate::{terminal, text};",
            "use crate::{text::{columns, hanging}, terminal::facts,};",
            "fn f() { crate::terminal::change(cell); }",
            "fn f() { super::super::html::page(run); }",
            "use super::super::{html, text};",
        ] {
            assert_eq!(found("svg/forest.rs", text), [1], "{text}");
        }
        assert_eq!(found("svg/forest.rs", "use crate::{\n    text,\n    html,\n};"), [3]);
        assert_eq!(found("html/study.rs", "use crate::csv;\nuse crate::terminal;"), [1, 2]);
        assert_eq!(found("text.rs", "use crate::view;\nuse super::html;"), [1, 2]);
    }

    #[test]
    fn what_the_arrows_allow_is_left_alone() {
        let fine = "use crate::text::escape;\nuse crate::view::{comparison, html};\n\
                    use super::{place, text};\npub(crate) fn f() { super::html(); }\n\
                    // use crate::html;\n#[cfg(test)]\nmod tests { use crate::html; }\n";
        assert!(found("svg/forest.rs", fine).is_empty());
        assert!(found("html/study.rs", "use crate::svg::{forest, heat};").is_empty());
        let other = one("crates/core/src/text.rs", "use crate::view;");
        assert_eq!(modules(&other).len(), 0);
    }

    #[test]
    fn a_module_without_arrows_is_found() {
        assert_eq!(modules(&one("crates/report/src/pdf.rs", "")).len(), 1);
    }
}
