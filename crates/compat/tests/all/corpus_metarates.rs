//! Lines of Metarates and the plans that they are, all of them.

use crate::mpi_world::*;
use drivelab_compat::front::Asked;
use drivelab_compat::metarates::parse;
use expect_test::expect_file;

fn translated(line: &str) -> String {
    let (ranks, program, args) = launched(line);
    assert!(program.ends_with("metarates"), "{line}");
    match parse(&args, &Still::with(ranks)) {
        Err(refusal) => refused(&refusal),
        Ok(Asked::Text(text)) => text,
        Ok(Asked::Run { job, options }) => {
            assert_eq!(options.keys.len(), job.plan.steps.len(), "{line}");
            shown(&job, |_| 0, |_, _| {})
        }
    }
}

#[test]
fn every_line_of_the_corpus_is_the_plan_that_it_was() {
    let mut out = String::from(HEADING);
    for line in corpus(include_str!("../corpus/metarates.txt")) {
        out.push_str(&format!("=== {line}\n{}\n", translated(line)));
    }
    expect_file!["../corpus/metarates.plans"].assert_eq(&out);
}
