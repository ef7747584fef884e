//! What the pages of docs/articles say of each item of their article: its commands on simulated
//! drives run and end as the row says, its tests are in the tree, and no item is left out.
//!
//! A row is `| # | Place | What | Command or test | State |`. In the fourth column stand commands
//! and names of tests (`module::function`) as code; a status other than 0 stands behind its
//! command, as in "(status 1)". A state begins with `works`, `differs: ` or `not done: `.

use crate::cli_user::User;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HEAD: &str = "| # | Place | What | Command or test | State |";
/// What a row ends in: one of these, the last two with a reason.
const STATES: [&str; 3] = ["works", "differs: ", "not done: "];

#[derive(Debug)]
struct Row {
    document: String,
    number: usize,
    evidence: String,
    state: String,
}

/// A command as it is typed, and the status that its row promises.
type Command = (String, i32);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of one page, or what is wrong with one.
fn rows(document: &str, text: &str) -> Result<Vec<Row>, String> {
    let after = text.split_once(HEAD).ok_or(format!("{document} has no `{HEAD}`"))?.1;
    let lines = after.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [number, place, what, evidence, state] = cells[..] else {
            return Err(format!("{document}: {} cells in {line}", cells.len()));
        };
        let Ok(number) = number.parse() else {
            return Err(format!("{document}: {number} is no number of an item"));
        };
        let has_reason = |it: &&str| state.starts_with(*it) && state.len() > it.len();
        let is_known = state == STATES[0] || STATES.iter().any(has_reason);
        if place.is_empty() || what.is_empty() || !is_known {
            return Err(format!("{document}, item {number}: `{place}`, `{what}`, `{state}`"));
        }
        if state.starts_with(STATES[0]) && evidence.is_empty() {
            return Err(format!("{document}, item {number} works: nothing says by what"));
        }
        let (evidence, state) = (evidence.to_string(), state.to_string());
        Ok(Row { document: document.into(), number, evidence, state })
    };
    lines.map(row).collect()
}

/// The rows of all pages, in the order of their names.
fn all_rows() -> Vec<Row> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs/articles"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    let of_page = |page: PathBuf| {
        let name = page.file_name().unwrap().to_str().unwrap().to_string();
        rows(&name, &std::fs::read_to_string(page).unwrap()).unwrap()
    };
    pages.into_iter().flat_map(of_page).collect()
}

/// The first row whose number is not the next one.
fn gap(rows: &[Row]) -> Option<&Row> {
    rows.iter().enumerate().find(|(at, row)| row.number != at + 1).map(|(_, row)| row)
}

/// Code in a cell, and what stands behind it.
fn code(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts: Vec<&str> = cell.split('`').collect();
    let last = parts.len();
    (1..last).step_by(2).map(move |at| (parts[at], parts.get(at + 1).copied().unwrap_or("")))
}

fn commands(row: &Row) -> impl Iterator<Item = Command> {
    let is_simulated = |typed: &str| typed.starts_with("drivelab ") && typed.contains("sim:");
    code(&row.evidence).filter(move |(typed, _)| is_simulated(typed)).map(|(typed, behind)| {
        let status =
            behind.trim_start().strip_prefix("(status ").and_then(|it| it.split(')').next());
        (typed.to_string(), status.map_or(0, |it| it.parse().unwrap()))
    })
}

/// Names of tests: words without a blank, with a module before them.
fn tests(row: &Row) -> impl Iterator<Item = &str> {
    let is_test = |name: &&str| name.contains("::") && !name.contains(' ');
    code(&row.evidence).map(|(name, _)| name).filter(is_test)
}

/// Whether one of these texts has the test `module::function`: in a file of that path, or a `mod`.
fn is_there(name: &str, sources: &[(PathBuf, String)]) -> bool {
    let (modules, function) = name.rsplit_once("::").unwrap();
    let wanted = format!("fn {function}(");
    let is_module = |path: &Path, text: &str, module: &str| {
        path.iter().any(|part| part.to_str().unwrap().trim_end_matches(".rs") == module)
            || text.contains(&format!("mod {module} {{"))
    };
    let has = |(path, text): &(PathBuf, String)| {
        text.find(&wanted).is_some_and(|at| text[..at].trim_end().ends_with(']'))
            && modules.split("::").all(|module| is_module(path, text, module))
    };
    sources.iter().any(has)
}

fn sources(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

#[test]
fn no_item_of_an_article_is_left_out() {
    let all = all_rows();
    assert!(all.len() >= 80, "{} items", all.len());
    if let Some(row) = gap(&all) {
        panic!("{}: item {} comes where another was due", row.document, row.number);
    }
}

#[test]
fn tests_that_the_items_name_are_there() {
    let mut found = Vec::new();
    sources(&root().join("crates"), &mut found);
    let mut wrong = Vec::new();
    for row in all_rows() {
        wrong.extend(
            tests(&row)
                .filter(|name| !is_there(name, &found))
                .map(|name| format!("{}, item {}: {name}", row.document, row.number)),
        );
    }
    assert!(wrong.is_empty(), "no such test:\n{}", wrong.join("\n"));
}

#[test]
fn commands_that_the_items_name_end_as_they_say() {
    let mut typed: BTreeMap<Command, Vec<String>> = BTreeMap::new();
    for row in all_rows() {
        for command in commands(&row) {
            typed.entry(command).or_default().push(format!("{} {}", row.document, row.number));
        }
    }
    assert!(typed.len() >= 10, "{} commands", typed.len());
    let mut wrong = Vec::new();
    for ((line, status), items) in &typed {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let said = User::new().types(&words);
        if said.status != Some(*status) || said.err.contains("panicked") {
            wrong.push(format!("{items:?}: {line}: {:?}\n{}{}", said.status, said.out, said.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_wrong_with_a_table_is_found() {
    let page = |lines: &str| rows("x.md", &format!("text\n\n{HEAD}\n|---|---|\n{lines}\n\nmore |"));
    let good = "| 1 | set-up | it | `drivelab run sim:x` (status 1), `a::b_c` | works |\n\
                | 3 | set-up | it |  | not done: no price |";
    let found = page(good).unwrap();
    assert_eq!(commands(&found[0]).collect::<Vec<_>>(), [("drivelab run sim:x".to_string(), 1)]);
    assert_eq!(tests(&found[0]).collect::<Vec<_>>(), ["a::b_c"]);
    assert_eq!(gap(&found).map(|row| row.number), Some(3));
    assert!(found[1].state.ends_with("no price"));
    for bad in [
        "| 1 | set-up | it | `x` | fine |",
        "| 1 | set-up | it | | works |",
        "| 1 | set-up | it | `x` | differs: |",
        "| one | set-up | it | `x` | works |",
        "| 1 | set-up | it | works |",
    ] {
        assert!(page(bad).is_err(), "{bad}");
    }
    let source = |path: &str, text: &str| (PathBuf::from(path), text.to_string());
    let tree = [source("tests/all/a.rs", "#[test]\nfn b_c() {}\nfn helper() {}")];
    assert!(is_there("a::b_c", &tree));
    assert!(!is_there("a::helper", &tree), "no test");
    assert!(is_there("all::a::b_c", &tree) && !is_there("z::a::b_c", &tree));
    assert!(!is_there("z::b_c", &tree) && !is_there("a::b", &tree));
}
