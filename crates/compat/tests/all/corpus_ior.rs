//! Lines of IOR and the plans that they are, all of them.

use crate::mpi_world::*;
use drivelab_compat::front::{Asked, World};
use drivelab_compat::ior::{Key, parse};
use drivelab_core::plan::{Content, Files, Step};
use expect_test::expect_file;

/// What data counts from in the first repetition, where the line does not say it.
const SIGNATURE: i32 = 0x494F_5200;

/// What may differ between repetitions: the number in the stamps or in the data, and with a
/// file for each repetition which one it is.
fn alike(step: &mut Step, repetition: u64, multi_file: bool) {
    for stream in &mut step.streams {
        if stream.pass == Some(repetition) {
            stream.pass = Some(0);
        }
        if stream.content == Content::Counting(SIGNATURE + repetition as i32) {
            stream.content = Content::Counting(SIGNATURE);
        }
        if multi_file {
            let each = if stream.files == Files::Each { stream.workers } else { 1 };
            stream.first_file -= each * repetition as u32;
        }
    }
}

fn translated(line: &str) -> String {
    let (ranks, program, args) = launched(line);
    let world = Still::with(ranks);
    assert_eq!(world.ranks(), ranks);
    match parse(&program, &args, &world) {
        Err(refusal) => refused(&refusal),
        Ok(Asked::Text(text)) => text,
        Ok(Asked::Run { job, options }) => {
            let keys: Vec<Key> = options.keys.clone();
            assert_eq!(keys.len(), job.plan.steps.len(), "{line}");
            let group = |at: usize| u64::from(keys[at].test) << 32 | u64::from(keys[at].repetition);
            let multi = options.tests[0].settings.multi_file;
            shown(&job, group, |step, group| alike(step, group & 0xffff_ffff, multi))
        }
    }
}

#[test]
fn every_line_of_the_corpus_is_the_plan_that_it_was() {
    let mut out = String::from(HEADING);
    for line in corpus(include_str!("../corpus/ior.txt")) {
        out.push_str(&format!("=== {line}\n{}\n", translated(line)));
    }
    expect_file!["../corpus/ior.plans"].assert_eq(&out);
}
