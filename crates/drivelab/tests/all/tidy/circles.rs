//! Between the modules below a crate's root: which of them names which, and that no way leads back.

use crate::tidy::source::{Source, Tree, Violation, crate_of, words};
use std::collections::{BTreeMap, BTreeSet};

/// The modules below the root of the crate that a file names whose own module is so many levels
/// below it, with their lines; what is no module there is named too.
pub fn used(file: &Source, depth: usize) -> Vec<(usize, &str)> {
    let code = file.shipped.as_str();
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let is_first = !code[..at].ends_with("::");
        let up = code[at..].split("::").take_while(|part| *part == "super").count();
        let from = match word {
            "crate" => at + "crate".len(),
            "super" if up >= depth => at + up * "super::".len() - "::".len(),
            _ => continue,
        };
        let Some(rest) = code[from..].strip_prefix("::").filter(|_| is_first) else { continue };
        let line = |more: usize| 1 + code[..from + 2 + more].matches('\n').count();
        found.extend(first_names(rest).into_iter().map(|(more, name)| (line(more), name)));
    }
    found
}

/// The name that a path begins with, or the first names of all paths in its braces.
fn first_names(path: &str) -> Vec<(usize, &str)> {
    if !path.starts_with('{') {
        return words(path).take(1).collect();
    }
    let mut depth = 0;
    let mut names = Vec::new();
    for (at, c) in path.char_indices() {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(c, '{' | ',') {
            let name = words(&path[at..]).next().map(|(more, name)| (at + more, name));
            // Nothing follows the last comma.
            names.extend(name.filter(|(begin, _)| !path[at..*begin].contains('}')));
        }
    }
    names
}

/// One crate: its modules, and what its root gives to them.
#[derive(Default)]
struct Modules<'a> {
    names: BTreeSet<&'a str>,
    /// Names that the root takes from a module and hands on, with that module.
    handed_on: BTreeMap<&'a str, &'a str>,
    /// Modules that the root itself makes use of, besides.
    of_root: BTreeSet<&'a str>,
    /// Where a module names another one.
    arrows: BTreeMap<(&'a str, &'a str), (&'a str, usize)>,
}

/// Which file of a crate's sources this is: the parts of its path below `src`, without the `mod`
/// of `folder/mod.rs`; none for the root.
fn place(path: &str) -> Option<Vec<&str>> {
    let below = path.strip_prefix("crates/")?.split_once("/src/")?.1;
    let mut parts: Vec<&str> = below.strip_suffix(".rs")?.split('/').collect();
    parts.retain(|part| *part != "mod");
    Some(if matches!(parts[..], ["lib" | "main"]) { Vec::new() } else { parts })
}

impl<'a> Modules<'a> {
    fn of(tree: &'a Tree, name: &str) -> Self {
        let mut modules = Modules::default();
        let own = || tree.rust().filter(|file| crate_of(&file.path) == Some(name));
        let files: Vec<_> = own().filter_map(|file| Some((file, place(&file.path)?))).collect();
        modules.names = files.iter().filter_map(|(_, place)| place.first().copied()).collect();
        for (root, _) in files.iter().filter(|(_, place)| place.is_empty()) {
            modules.read_root(&root.shipped);
        }
        for (file, place) in files.iter().filter(|(_, place)| !place.is_empty()) {
            for (line, used) in used(file, place.len()) {
                for to in modules.behind(used) {
                    if to != place[0] {
                        modules.arrows.entry((place[0], to)).or_insert((&file.path, line));
                    }
                }
            }
        }
        modules
    }

    fn read_root(&mut self, code: &'a str) {
        for statement in code.split(';') {
            let all: Vec<(usize, &str)> = words(statement).collect();
            let is_use = |at: &usize| all[*at].1 == "use" && at + 1 < all.len();
            let (before, after) = all.split_at((0..all.len()).find(is_use).unwrap_or(all.len()));
            let module = after.get(1).and_then(|(_, from)| self.names.get(from).copied());
            let names = after.iter().skip(2).map(|(_, name)| *name);
            self.handed_on.extend(names.filter_map(|name| Some((name, module?))));
            let is_path = |at: usize, word: &str| statement[at + word.len()..].starts_with("::");
            let named = before.iter().filter(|(at, word)| is_path(*at, word));
            self.of_root.extend(named.filter_map(|(_, word)| self.names.get(word).copied()));
        }
    }

    /// The modules that one names with a name below the root.
    fn behind(&self, name: &'a str) -> Vec<&'a str> {
        match self.names.get(name).or_else(|| self.handed_on.get(name)) {
            Some(module) => vec![*module],
            None => self.of_root.iter().copied().collect(),
        }
    }

    /// The shortest way from one module to another one, if there is any.
    fn way(&self, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
        let mut ways = vec![vec![from]];
        let mut at = 0;
        while let Some(way) = ways.get(at).cloned() {
            let end = way.last().copied().unwrap_or(from);
            if end == to {
                return Some(way);
            }
            for (_, next) in self.arrows.keys().filter(|(begin, _)| *begin == end) {
                if !ways.iter().any(|known| known.contains(next)) {
                    ways.push([&way[..], &[*next]].concat());
                }
            }
            at += 1;
        }
        None
    }
}

/// Modules below the root of one crate that name each other in a circle.
pub fn circles(tree: &Tree) -> Vec<Violation> {
    let crates: BTreeSet<&str> = tree.rust().filter_map(|file| crate_of(&file.path)).collect();
    let mut violations = Vec::new();
    for name in crates {
        let modules = Modules::of(tree, name);
        for (&(from, to), &(path, line)) in &modules.arrows {
            if let Some(way) = modules.way(to, from) {
                let what = format!("a circle in `{name}`: {from} → {}", way.join(" → "));
                violations.push(Violation { path: path.into(), line, what });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Circles of a crate with a root of this text and these files.
    fn found(root: &str, files: &[(&str, &str)]) -> Vec<String> {
        let all = std::iter::once(("lib.rs", root)).chain(files.iter().copied());
        let texts = all.map(|(path, text)| (format!("crates/core/src/{path}"), text.to_string()));
        circles(&Tree::of(texts)).iter().map(ToString::to_string).collect()
    }

    const ROOT: &str = "mod a;\nmod b;\nmod c;\n";

    #[test]
    fn a_circle_is_found_at_every_arrow_of_it() {
        let b = ("b.rs", "mod deep;\n");
        let deep = ("b/deep.rs", "\nuse super::super::{c::Z, d};\n");
        for c in ["fn f() { crate::a::g(); }", "use super::a;", "use crate::{\na::{self, X},\n};"] {
            let files = [("a.rs", "use crate::b::Y;"), b, deep, ("c.rs", c)];
            let circle = found(ROOT, &files);
            assert_eq!(circle.len(), 3, "{c}: {circle:?}");
            let arrow = "crates/core/src/b/deep.rs:2: a circle in `core`: b → c → a → b";
            assert_eq!(circle[1], arrow, "{c}");
            assert!(found(ROOT, &files[..3]).is_empty());
        }
    }

    #[test]
    fn what_the_root_hands_on_is_of_its_module() {
        let a = |text| [("a.rs", text), ("b/mod.rs", "use crate::a;"), ("c.rs", "")];
        let root = format!("{ROOT}pub use b::{{Y, inner as Z}};\npub const ALL: [u8; 1] = [b::N];");
        for text in ["use crate::Y;", "use crate::Z;", "fn f() { crate::ALL; }"] {
            assert_eq!(found(&root, &a(text)).len(), 2, "{text}");
        }
        for text in ["use crate::c;", "use super::c;", "use std::b;", "// crate::b"] {
            assert_eq!(found(&root, &a(text)).len(), 0, "{text}");
        }
    }

    #[test]
    fn tests_may_look_back() {
        let tested = "#[cfg(test)]\nmod tests { use crate::b; }\n#[cfg(test)]\nmod far;\n";
        let files = [("a.rs", tested), ("a/far.rs", "use crate::b;"), ("b.rs", "use crate::a;")];
        assert!(found("mod a;\nmod b;\n", &files).is_empty());
    }
}
