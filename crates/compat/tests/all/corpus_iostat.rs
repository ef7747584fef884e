//! Command lines of iostat as people type them, each with what it asks for and its notes.

use crate::pretended::{Pretended, lines, told_note, words};
use drivelab_compat::iostat::{Asked, parse};
use expect_test::expect_file;

const CORPUS: &str = include_str!("../corpus/iostat.txt");
const DISKSTATS: &str = "8 0 sda 1 0 8 1 0 0 0 0 0 1 1
8 16 sdb 1 0 8 1 0 0 0 0 0 1 1
259 0 nvme0n1 1 0 8 1 0 0 0 0 0 1 1
259 1 nvme1n1 1 0 8 1 0 0 0 0 0 1 1
";

fn understood(line: &str) -> String {
    let mut world = Pretended::default();
    world.texts.insert("/proc/diskstats".to_owned(), DISKSTATS.to_owned());
    match parse(&words(line), &world) {
        Ok(Asked::Reports { options, notes }) => {
            let notes: String = notes.iter().map(told_note).collect();
            format!("{options:?}\n{notes}")
        }
        Ok(Asked::Text(text)) => format!("prints {text}"),
        Err(refusal) => format!(
            "ends with {}: {}\nadvice: {}\n",
            refusal.status,
            refusal.text.lines().next().unwrap_or_default(),
            refusal.advice
        ),
    }
}

#[test]
fn every_line_is_understood() {
    let told: Vec<String> =
        lines(CORPUS).map(|line| format!("## {line}\n{}", understood(line))).collect();
    expect_file!["../corpus/iostat.plans"].assert_eq(&told.join("\n"));
}

#[test]
fn the_corpus_is_large_enough_and_has_the_lines_of_the_articles() {
    assert!(lines(CORPUS).count() >= 15);
    for line in ["iostat -d sfdv0n1 3 -x", "iostat -x nvme1n1 1"] {
        assert!(CORPUS.lines().any(|found| found == line), "{line}");
    }
}
