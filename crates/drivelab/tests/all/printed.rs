//! Every example in the documents that runs on a simulated drive was really printed: it is run
//! again, and each of its lines must come, in this order. `…` stands for what was left out.

use crate::cli_user::User;
use drivelab_study::check::{classes, uses};
use drivelab_study::{STUDIES, registry};
use std::path::Path;

/// What was typed, and the lines that were printed.
struct Example {
    typed: Vec<String>,
    lines: Vec<String>,
}

/// The examples of one document, by its fenced blocks.
fn examples(text: &str) -> Vec<Example> {
    let blocks = text.split("```").skip(1).step_by(2);
    let is_simulated = |example: &Example| {
        example.typed.iter().any(|word| word.starts_with("sim:") || word == "sim")
    };
    blocks.flat_map(of_block).filter(is_simulated).collect()
}

fn of_block(block: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_typing = false;
    for line in block.lines() {
        let typed = line.strip_prefix("$ ").or(is_typing.then_some(line));
        match (typed, examples.last_mut()) {
            (Some(typed), last) => {
                let words = typed.trim_end_matches('\\').split_whitespace().map(String::from);
                match last.filter(|_| is_typing) {
                    Some(last) => last.typed.extend(words),
                    None => examples.push(Example { typed: words.collect(), lines: Vec::new() }),
                }
                is_typing = typed.ends_with('\\');
            }
            (None, Some(last)) => last.lines.push(line.trim_end().to_string()),
            (None, None) => {}
        }
    }
    examples
}

/// Lines that no second run can print: the name of a run, and where its report lies.
fn is_of_one_run(line: &str) -> bool {
    line.starts_with("run ") || line.starts_with("Report") || line.contains("drivelab-20")
}

/// The first line that did not come after those before it.
fn missing<'a>(example: &'a Example, printed: &str) -> Option<&'a String> {
    let mut rest = printed.lines().map(str::trim_end);
    let wanted = |line: &&String| !line.is_empty() && line.trim() != "…" && !is_of_one_run(line);
    example.lines.iter().filter(wanted).find(|line| !rest.any(|one| one == line.as_str()))
}

fn check(documents: &[&str], least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for name in documents {
        for example in examples(&std::fs::read_to_string(root.join(name)).unwrap()) {
            seen += 1;
            let (program, line) = example.typed.split_first().unwrap();
            assert_eq!(program, "drivelab", "{name}");
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let said = User::new().types(&line);
            assert!(matches!(said.status, Some(0 | 1)), "{}\n{}", said.line, said.err);
            if let Some(line) = missing(&example, &said.out) {
                wrong.push(format!("{name}: {}\n  did not print: {line}", said.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= least, "{seen} examples were found");
}

#[test]
fn examples_of_the_readme_are_printed_so() {
    check(&["README.md", "docs/GUIDE.md", "docs/METHODOLOGY.md"], 6);
}

#[test]
fn examples_of_the_pages_for_users_are_printed_so() {
    check(&["docs/TUTORIAL.md", "docs/RECIPES.md"], 8);
}

#[test]
fn examples_of_the_exercises_are_printed_so() {
    check(&["docs/STUDENT.md"], 8);
}

#[test]
fn examples_of_the_simulator_are_printed_so() {
    check(&["docs/SIMULATOR.md"], 4);
}

#[test]
fn examples_of_the_models_are_printed_so() {
    check(&["docs/MODELS.md"], 9);
}

#[test]
fn examples_of_the_article_on_patterns_are_printed_so() {
    check(&["docs/articles/001.md"], 2);
}

#[test]
fn examples_of_the_article_on_stutter_are_printed_so() {
    check(&["docs/articles/003.md"], 2);
}

#[test]
fn examples_of_the_article_on_kinds_of_storage_are_printed_so() {
    check(&["docs/articles/004.md"], 4);
}

#[test]
fn an_example_that_was_not_printed_is_found() {
    let text =
        "```\n$ drivelab run sim:x \\\n    --rw read\none\n  …\nthree\n\n```\nno\n```\nplain\n```";
    let found = examples(text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].typed, ["drivelab", "run", "sim:x", "--rw", "read"]);
    assert_eq!(missing(&found[0], "one\ntwo\nthree\n"), None);
    assert_eq!(missing(&found[0], "three\none\n").unwrap(), "three", "the order counts");
    assert_eq!(missing(&found[0], "one\ntwo\n").unwrap(), "three");
}

#[test]
fn the_limits_of_a_check_are_those_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/METHODOLOGY.md");
    let text = std::fs::read_to_string(path).expect("a document");
    for (name, table) in [("uses", uses::table()), ("classes", classes::table())] {
        let section = text.split_once(&format!("<!-- {name}:begin -->\n\n")).expect("a section").1;
        let section = section.split_once(&format!("\n<!-- {name}:end -->")).expect("its end").0;
        assert_eq!(section, table, "`make sections` writes it");
    }
}

#[test]
fn the_tables_of_studies_ask_what_the_studies_ask() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        std::fs::read_to_string(path).expect("a document")
    };
    let (guide, methodology) = (read("docs/GUIDE.md"), read("docs/METHODOLOGY.md"));
    let section = guide.split_once("<!-- studies:begin -->\n\n").expect("a section").1;
    let section = section.split_once("\n<!-- studies:end -->").expect("its end").0;
    assert_eq!(section, registry::table(), "`make sections` writes it");
    for study in STUDIES {
        // Some share a row there.
        let row = format!("\n| `{}` | {} |", study.name, study.question);
        let alone = format!("\n| `{}` | ", study.name);
        assert!(!methodology.contains(&alone) || methodology.contains(&row), "{row}");
        assert!(methodology.contains(&format!("`{}`", study.name)), "{}", study.name);
    }
}
