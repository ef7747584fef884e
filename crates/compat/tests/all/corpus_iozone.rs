//! Command lines of IOzone as people type them, each with the plan and the notes it comes to.

use crate::pretended::{Pretended, lines, told, words};
use drivelab_compat::front::Asked;
use drivelab_compat::iozone::{Cell, Layout, Options, parse};
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::Role;
use drivelab_core::validate::{Geometry, validate};
use expect_test::expect_file;

const CORPUS: &str = include_str!("../corpus/iozone.txt");

/// The rows of the table, where there are several.
fn rows(options: &Options) -> String {
    match &options.layout {
        Layout::Table(table) if table.cells.len() > 1 => {
            let row = |cell: &Cell| format!(" {}/{}", cell.file_kb, cell.record_kb);
            let rows: String = table.cells.iter().map(row).collect();
            format!("rows{rows}\n")
        }
        _ => String::new(),
    }
}

fn understood(line: &str) -> String {
    match parse(&words(line), &Pretended::default()) {
        Ok(Asked::Run { job, options }) => format!("{}{}", told(&job), rows(&options)),
        Ok(Asked::Text(text)) => format!("prints {} lines\n", text.lines().count()),
        Err(refusal) => format!(
            "ends with {}: {}\nadvice: {}\n",
            refusal.status,
            refusal.text.trim(),
            refusal.advice
        ),
    }
}

#[test]
fn every_line_is_understood() {
    let told: Vec<String> =
        lines(CORPUS).map(|line| format!("## {line}\n{}", understood(line))).collect();
    expect_file!["../corpus/iozone.plans"].assert_eq(&told.join("\n"));
}

#[test]
fn the_corpus_is_large_enough_and_has_the_lines_of_the_articles() {
    assert!(lines(CORPUS).count() >= 40, "{}", lines(CORPUS).count());
    for size in ["1M", "4M", "8M", "16M"] {
        let line = format!("./IOzone -Rb spreadsheet_output_{size}.wks -s 16G -r {size}");
        assert!(CORPUS.lines().any(|found| found == line), "{line}");
    }
    for size in ["4K", "8K", "32K", "64K"] {
        let line = format!(
            "./iozone -Rb spreadsheet_output_{size}.wks -O -i 0 -i 1 -i 2 -e -+n -r {size} -s 16G"
        );
        assert!(CORPUS.lines().any(|found| found == line), "{line}");
    }
}

#[test]
fn every_plan_is_one_that_can_be_run() {
    for line in lines(CORPUS) {
        let Ok(Asked::Run { job, .. }) = parse(&words(line), &Pretended::default()) else {
            continue;
        };
        let drive = || {
            if job.target.starts_with("sim:") {
                TargetKind::Simulated
            } else {
                TargetKind::BlockDevice
            }
        };
        let file = job.plan.files.first();
        let geometry = Geometry {
            kind: if file.is_some() { TargetKind::Directory } else { drive() },
            file_bytes: Some(file.map_or(1 << 40, |file| file.size.0)),
            logical_block_bytes: 512,
            lacks_page_cache: false,
            memory_bytes: Some(62 << 30),
        };
        assert_eq!(validate(&job.plan, &geometry), Ok(()), "{line}");
        let mut names: Vec<&str> = job
            .plan
            .steps
            .iter()
            .filter(|step| step.role == Role::Measure)
            .map(|step| step.name.as_str())
            .collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{line}: names of measured steps are told apart");
    }
}
