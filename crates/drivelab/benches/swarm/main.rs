//! The swarm over studies with fresh seeds. Prints a section of docs/METHODOLOGY.md; `make
//! validate` puts it there. Ends with status 1 where a sentence was wrong.
//!
//! `--seed N` replays one case and prints all of it; `--from N --cases N --minutes N` say which
//! are tried and how long, `--study NAME` that only those of one study are.

#[path = "../../tests/support/given.rs"]
mod given;
#[path = "../../tests/support/swarm/mod.rs"]
mod swarm;

use std::time::Duration;
use swarm::case::Case;
use swarm::judged::Class;
use swarm::table;

fn main() {
    if let Some(seed) = given::number("--seed") {
        println!("{}", table::story(&swarm::tried(Case::draw(seed))));
        return;
    }
    let from = given::number("--from").unwrap_or_else(|| given::fresh(10_000));
    let cases = given::number("--cases").unwrap_or(2000);
    let minutes = given::number("--minutes").unwrap_or(60);
    eprintln!("seeds {from} to {}, at most {minutes} min", from + cases - 1);
    let only = given::word("--study");
    let is_asked = |case: &Case| only.as_ref().is_none_or(|only| case.study == only.as_str());
    let cases: Vec<Case> = (from..from + cases).map(Case::draw).filter(is_asked).collect();
    let all = swarm::swarm(&cases, Duration::from_secs(60 * minutes), |tried| {
        let (case, took) = (&tried.case, tried.took.as_secs_f64());
        eprintln!("seed {} {:?} {took:.1} s {}", case.seed, tried.status, case.line());
        for judged in tried.judged.iter().filter(|judged| judged.class == Class::Wrong) {
            eprintln!("  WRONG {}: \"{}\"; {}", judged.about, judged.said, judged.truth);
        }
    });
    println!("{} cases, seeds from {from} on.\n", all.len());
    println!("{}", table::table(&all));
    if all.iter().flat_map(|tried| &tried.judged).any(|it| it.class == Class::Wrong) {
        eprintln!("some sentences are wrong");
        std::process::exit(1);
    }
}
