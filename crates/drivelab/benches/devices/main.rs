//! Block devices with planted behaviour, drawn from seeds, and what the studies say of them. Prints
//! a section of docs/METHODOLOGY.md; `make validate` puts it there. Ends with status 1 where a
//! sentence was wrong.
//!
//! `--from N` names the first seed, `--cases N` how many of each kind, `--kind NAME` one kind only;
//! `--small` tries the cases of the test instead.

#[path = "../../tests/support/given.rs"]
mod given;
#[path = "../../tests/support/planted/mod.rs"]
mod planted;
#[path = "../../tests/support/mod.rs"]
mod support;

use planted::case::{Case, Kind};
use planted::judged::Class;
use planted::table;

fn main() {
    let from = given::number("--from").unwrap_or_else(|| given::fresh(100));
    let cases = given::number("--cases").unwrap_or(3);
    let wanted = given::word("--kind");
    let is_wanted = |kind: &Kind| wanted.as_ref().is_none_or(|it| *it == format!("{kind:?}"));
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(is_wanted).collect();
    let is_small = std::env::args().any(|word| word == "--small");
    let of = |kind: &Kind| -> Vec<Case> {
        match is_small {
            true => vec![Case::small(*kind)],
            false => (from..from + cases).map(|seed| Case::draw(*kind, seed)).collect(),
        }
    };
    let all: Vec<Case> = kinds.iter().flat_map(of).collect();
    eprintln!("{} devices, seeds from {from} on", all.len());
    let all = planted::all_of(&all, 2, |tried| eprintln!("{}", table::story(tried)));
    println!("{} devices, {cases} of each kind, seeds from {from} on.\n", all.len());
    println!("{}", table::table(&all));
    if all.iter().any(|tried| tried.count(Class::Wrong) > 0) {
        eprintln!("some sentences are wrong");
        std::process::exit(1);
    }
}
