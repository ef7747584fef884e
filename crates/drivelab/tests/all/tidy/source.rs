//! The tree as text: files, code without comments and strings, functions, the module tree.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Something that should not be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub path: String,
    /// From 1; 0 for the whole file.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// One file.
pub struct Source {
    /// From the root of the workspace, with `/`.
    pub path: String,
    pub text: String,
    /// Rust only: the text with comments and literals blanked, line for line.
    pub code: String,
    /// Rust only: `code` with everything under `#[cfg(test)]` blanked; empty in test files.
    pub shipped: String,
}

/// All text files of the workspace.
pub struct Tree {
    pub files: BTreeMap<String, Source>,
}

const SKIPPED: [&str; 6] = [".git", "target", "artifacts", "corpus", "coverage", "node_modules"];

impl Tree {
    /// Reads everything under `root` that is text.
    pub fn read(root: &Path) -> Tree {
        let mut texts = Vec::new();
        collect(root, "", &mut texts);
        Tree::of(texts)
    }

    /// A tree from paths and texts.
    pub fn of(texts: impl IntoIterator<Item = (String, String)>) -> Tree {
        let mut files = BTreeMap::new();
        for (path, text) in texts {
            let code = if path.ends_with(".rs") { masked(&text) } else { String::new() };
            let shipped = without_tests(&code);
            files.insert(path.clone(), Source { path, text, code, shipped });
        }
        let mut tree = Tree { files };
        for path in tree.test_files() {
            tree.files.get_mut(&path).expect("listed").shipped.clear();
        }
        tree
    }

    /// Files of Rust.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.values().filter(|file| file.path.ends_with(".rs"))
    }

    /// Files of Rust that only tests, benchmarks and fuzzers are built from.
    fn test_files(&self) -> Vec<String> {
        let mut shipped = Vec::new();
        for file in self.rust().filter(|file| is_root(&file.path) && !is_test_root(&file.path)) {
            self.reach(&file.path, &mut shipped, &|file| without_tests(&file.code));
        }
        self.rust().map(|file| file.path.clone()).filter(|path| !shipped.contains(path)).collect()
    }

    /// Adds `path` and every file its modules name to `reached`.
    fn reach(&self, path: &str, reached: &mut Vec<String>, code_of: &dyn Fn(&Source) -> String) {
        if reached.iter().any(|known| known == path) {
            return;
        }
        let Some(file) = self.files.get(path) else { return };
        reached.push(path.to_string());
        let code = code_of(file);
        for (number, line) in code.lines().enumerate() {
            let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
            else {
                continue;
            };
            for candidate in module_paths(path, name.trim(), attribute_path(&file.text, number)) {
                self.reach(&candidate, reached, code_of);
            }
        }
    }
}

/// The text of `#[path = "…"]` among the attributes that stand above line `number` (from 0).
fn attribute_path(text: &str, number: usize) -> Option<&str> {
    let lines: Vec<&str> = text.lines().take(number).map(str::trim).collect();
    let mut attributes = lines.into_iter().rev().take_while(|line| line.starts_with("#["));
    attributes.find_map(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]"))
}

/// Where `mod name;` in the file `path` may lie.
fn module_paths(path: &str, name: &str, attribute: Option<&str>) -> Vec<String> {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    if let Some(attribute) = attribute {
        return vec![resolved(directory, attribute)];
    }
    let stem = file.trim_end_matches(".rs");
    let base = match is_root(path) || stem == "mod" {
        true => directory.to_string(),
        false => format!("{directory}/{stem}"),
    };
    vec![format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]
}

/// `relative` as seen from `directory`, without `..`.
fn resolved(directory: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').collect();
    for part in relative.split('/') {
        match part {
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether cargo builds something from this file by itself.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let [.., folder, file] = parts.as_slice() else { return false };
    match *folder {
        "src" => matches!(*file, "lib.rs" | "main.rs"),
        "bin" | "tests" | "benches" | "examples" | "fuzz_targets" => true,
        _ => *file == "main.rs" || *file == "build.rs",
    }
}

fn is_test_root(path: &str) -> bool {
    ["/tests/", "/benches/", "/examples/", "fuzz/"].iter().any(|part| path.contains(part))
}

/// Rust files that no crate names as a module.
pub fn dead_files(tree: &Tree) -> Vec<Violation> {
    let mut reached = Vec::new();
    for file in tree.rust().filter(|file| is_root(&file.path)) {
        tree.reach(&file.path, &mut reached, &|file| file.code.clone());
    }
    let dead = tree.rust().filter(|file| !reached.contains(&file.path));
    let what = "no crate has this file as a module: name it or remove it";
    dead.map(|file| Violation { path: file.path.clone(), line: 0, what: what.into() }).collect()
}

/// Programs of tests that there may be: one a crate, and what is measured in real time.
const TEST_PROGRAMS: [&str; 3] = ["all", "alone", "drives"];

/// Files that cargo would make one more program of tests of.
pub fn lone_tests(tree: &Tree) -> Vec<Violation> {
    let is_lone = |file: &&Source| match file.path.split('/').collect::<Vec<_>>()[..] {
        ["crates", _, "tests", _] => true,
        ["crates", _, "tests", folder, "main.rs"] => !TEST_PROGRAMS.contains(&folder),
        _ => false,
    };
    let what = "each program of tests is linked once more: name it in tests/all/main.rs";
    let lone = tree.rust().filter(is_lone);
    lone.map(|file| Violation { path: file.path.clone(), line: 0, what: what.into() }).collect()
}

fn collect(root: &Path, below: &str, texts: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(root.join(below))
        .expect("a directory of the workspace")
        .map(|entry| entry.expect("an entry"))
        .collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().expect("names in UTF-8");
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type().expect("a type");
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            collect(root, &path, texts);
        } else if kind.is_file() {
            // What is not UTF-8 is no text.
            texts.extend(std::fs::read_to_string(entry.path()).ok().map(|text| (path, text)));
        }
    }
}

/// Where a literal or comment that begins at `at` ends; `None` if none begins there.
fn end_of_quiet(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let found = |needle: &[u8], from: usize| {
        let place = bytes[from..].windows(needle.len()).position(|part| part == needle);
        place.map_or(bytes.len(), |place| from + place)
    };
    if rest.starts_with(b"//") {
        return Some(found(b"\n", at));
    }
    if rest.starts_with(b"/*") {
        return Some(end_of_block_comment(bytes, at));
    }
    let follows_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    let prefix = rest.iter().take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count();
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let is_raw = prefix > 0 && rest[prefix - 1] == b'r' && !follows_word;
    if is_raw && rest.get(prefix + hashes) == Some(&b'"') {
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        return Some(found(&close, at + prefix + hashes + 1) + close.len());
    }
    match rest.first()? {
        b'"' => Some(end_of_quoted(bytes, at + 1, b'"')),
        // A lifetime has no closing quote two characters on.
        b'\'' if rest.get(1) == Some(&b'\\') => Some(end_of_quoted(bytes, at + 1, b'\'')),
        b'\'' => {
            let width = std::str::from_utf8(&rest[1..rest.len().min(5)])
                .map_or_else(|error| error.valid_up_to().max(1), |text| text.len());
            let first = std::str::from_utf8(&rest[1..1 + width]).ok()?.chars().next()?;
            let close = 1 + first.len_utf8();
            (rest.get(close) == Some(&b'\'')).then_some(at + close + 1)
        }
        _ => None,
    }
}

fn end_of_quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn end_of_block_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// `text` with comments and literals blanked; lines and columns stay.
pub fn masked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match end_of_quiet(bytes, at) {
            Some(end) => {
                blank(&mut code[at..end.min(bytes.len())]);
                at = end.max(at + 1);
            }
            None => at += 1,
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// The end of the item that begins at `from` in masked code: its closing brace or semicolon.
fn end_of_item(code: &[u8], from: usize) -> usize {
    let (mut depth, mut brackets) = (0, 0);
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets -= 1,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 && brackets == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// The string literals of a file that are not in its tests, with their first line: joined where
/// they go on over a line's end.
pub fn literals(file: &Source) -> Vec<(usize, String)> {
    let bytes = file.text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some(end) = end_of_quiet(bytes, at) else {
            at += 1;
            continue;
        };
        let end = end.min(bytes.len()).max(at + 1);
        let text = &file.text[at..end];
        // In a test what stands before a literal is blanked, too.
        let before = file.code[..at].trim_end().len();
        let is_test = before > 0 && file.shipped.as_bytes().get(before - 1) == Some(&b' ');
        if !text.starts_with('/') && !text.starts_with('\'') && !is_test {
            let line = 1 + file.text[..at].matches('\n').count();
            found.push((line, joined(text)));
        }
        at = end;
    }
    found
}

/// A literal without the ends of lines that are escaped.
fn joined(text: &str) -> String {
    let mut pieces = text.split("\\\n");
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |text, piece| text + piece.trim_start())
}

/// Masked code with the items under `#[cfg(test)]` and `#[test]` blanked.
pub fn without_tests(code: &str) -> String {
    let mut shipped = code.as_bytes().to_vec();
    for attribute in ["#[cfg(test)]", "#[test]"] {
        for (at, _) in code.match_indices(attribute) {
            let end = end_of_item(code.as_bytes(), at + attribute.len());
            blank(&mut shipped[at..end]);
        }
    }
    String::from_utf8(shipped).expect("blanks are ASCII")
}

/// A function: its name, its first line (from 1) and how many it has.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// All functions with a body, inner ones too.
pub fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        if word != "fn" {
            continue;
        }
        let Some((_, name)) = words(&code[at + 2..]).next() else { continue };
        let is_pointer = code[at + 2..].trim_start().starts_with('(');
        let end = end_of_item(code.as_bytes(), at);
        if is_pointer || !code[..end].ends_with('}') {
            continue;
        }
        let line = 1 + code[..at].matches('\n').count();
        let lines = 1 + code[at..end].matches('\n').count();
        found.push(Function { name: name.to_string(), line, lines });
    }
    found
}

/// The identifiers and keywords with their byte offsets.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + code[at..].find(is_inside)?;
        let length = code[begin..].find(|c| !is_inside(c)).unwrap_or(code.len() - begin);
        at = begin + length;
        Some((begin, &code[begin..at]))
    })
}

/// The lines (from 1) of `code` that hold `needle` not as part of a longer word.
pub fn lines_with(code: &str, needle: &str) -> Vec<usize> {
    let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let begins_word = is_inside(needle.chars().next());
    let ends_word = is_inside(needle.chars().last());
    let holds = |line: &str| {
        line.match_indices(needle).any(|(at, _)| {
            let before = line[..at].chars().last();
            let after = line[at + needle.len()..].chars().next();
            !(begins_word && is_inside(before) || ends_word && is_inside(after))
        })
    };
    (1..).zip(code.lines()).filter(|(_, line)| holds(line)).map(|(number, _)| number).collect()
}

/// Which crate folder a path lies in (`core` for `crates/core/src/lib.rs`).
pub fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// A tree of one file, for the tests of the rules.
#[cfg(test)]
pub fn one(path: &str, text: &str) -> Tree {
    let mut texts = vec![(path.to_string(), text.to_string())];
    if let Some(name) = crate_of(path).filter(|_| !is_root(path)) {
        let stem = path.rsplit('/').next().unwrap_or("").trim_end_matches(".rs");
        texts.push((format!("crates/{name}/src/lib.rs"), format!("mod {stem};\n")));
    }
    Tree::of(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let text =
            "a // b\nc /* d /* e */ f */ g \"h \\\" i\" j r#\"k \"l\"# m 'n' o '\\'' <'p> b\"q\"";
        let words: Vec<String> = words(&masked(text)).map(|(_, word)| word.to_string()).collect();
        assert_eq!(words, ["a", "c", "g", "j", "m", "o", "p", "b"]);
        assert_eq!(masked("é = 'é'; x").chars().filter(|c| *c == 'x').count(), 1);
    }

    #[test]
    fn tests_are_blanked() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { c(); } }\nfn d() {}\n";
        let shipped = without_tests(code);
        assert!(shipped.contains("fn a") && shipped.contains("fn d") && !shipped.contains("c()"));
        assert!(!without_tests("#[cfg(test)]\nmod far_tests;\nfn d() {}").contains("far"));
    }

    #[test]
    fn functions_are_measured() {
        let code = "fn a(x: [u8; 3]) -> u8 {\n    1\n}\nfn b();\ntype C = fn(u8) -> u8;\n";
        assert_eq!(functions(code), [Function { name: "a".into(), line: 1, lines: 3 }]);
    }

    #[test]
    fn one_more_program_of_tests_is_found() {
        let fine = ["tests/all/main.rs", "tests/all/x.rs", "tests/support/mod.rs", "src/lib.rs"];
        let lone = ["tests/x.rs", "tests/x/main.rs"];
        let paths = fine.iter().chain(&lone);
        let tree = Tree::of(paths.map(|path| (format!("crates/c/{path}"), String::new())));
        let found: Vec<String> = lone_tests(&tree).into_iter().map(|it| it.path).collect();
        assert_eq!(found, lone.map(|path| format!("crates/c/{path}")));
    }

    #[test]
    fn a_dead_file_is_found() {
        let tree = Tree::of([
            ("crates/x/src/lib.rs".to_string(), "mod alive;\n#[cfg(test)]\nmod far;".to_string()),
            ("crates/x/src/alive.rs".to_string(), "pub mod deep;\n// mod ghost;".to_string()),
            ("crates/x/src/alive/deep.rs".to_string(), String::new()),
            ("crates/x/src/far.rs".to_string(), String::new()),
            ("crates/x/src/ghost.rs".to_string(), String::new()),
            (
                "crates/x/tests/all/main.rs".to_string(),
                "#[path = \"../../z.rs\"]\nmod z;\nmod beside;".to_string(),
            ),
            ("crates/x/tests/all/beside.rs".to_string(), String::new()),
            ("crates/x/z.rs".to_string(), String::new()),
        ]);
        let dead: Vec<String> = dead_files(&tree).into_iter().map(|found| found.path).collect();
        assert_eq!(dead, ["crates/x/src/ghost.rs"]);
        assert_eq!(tree.files["crates/x/src/far.rs"].shipped, "");
    }
}
