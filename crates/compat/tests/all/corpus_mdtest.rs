//! Lines of mdtest and the plans that they are, all of them.

use crate::mpi_world::*;
use drivelab_compat::front::Asked;
use drivelab_compat::mdtest::parse;
use drivelab_core::plan::Step;
use expect_test::expect_file;

/// What may differ between iterations: the number of the test directory.
fn alike(step: &mut Step, iteration: u64) {
    for stream in &mut step.streams {
        *stream = stream.clone().with_names(|names| {
            let form = names.form.take().unwrap_or_default();
            names.form = Some(form.replace(&format!("test-dir.{iteration}-"), "test-dir.R-"));
        });
    }
}

fn translated(line: &str) -> String {
    let (ranks, program, args) = launched(line);
    assert_eq!(program, "mdtest");
    match parse(&args, &Still::with(ranks)) {
        Err(refusal) => refused(&refusal),
        Ok(Asked::Text(text)) => text,
        Ok(Asked::Run { job, options }) => {
            let keys = options.keys.clone();
            assert_eq!(keys.len(), job.plan.steps.len(), "{line}");
            let names: Vec<String> = job.plan.steps.iter().map(|step| step.name.clone()).collect();
            let group = |at: usize| match names[at].ends_with(" the directory") {
                true => u64::MAX,
                false => u64::from(keys[at].sweep) << 32 | u64::from(keys[at].iteration),
            };
            shown(&job, group, |step, group| alike(step, group & 0xffff_ffff))
        }
    }
}

#[test]
fn every_line_of_the_corpus_is_the_plan_that_it_was() {
    let mut out = String::from(HEADING);
    for line in corpus(include_str!("../corpus/mdtest.txt")) {
        out.push_str(&format!("=== {line}\n{}\n", translated(line)));
    }
    expect_file!["../corpus/mdtest.plans"].assert_eq(&out);
}
