//! A small swarm over studies with fixed seeds: no sentence of it may be wrong. Fresh seeds are
//! drawn by `cargo bench --bench swarm`; one of these is replayed in full by
//! `cargo bench --bench swarm -- --seed N`.

use crate::swarm_support::case::Case;
use crate::swarm_support::{judged::Class, swarm, table};
use std::collections::BTreeSet;
use std::time::Duration;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=24;

/// Promises that are not kept yet, by seed: the list only shrinks. What is mended is struck here,
/// for the test fails where an entry is right by now.
const OPEN: &[(u64, &str)] = &[];

#[test]
fn no_sentence_of_a_small_swarm_is_wrong() {
    let cases: Vec<Case> = SEEDS.map(Case::small).collect();
    let all = swarm(&cases, Duration::MAX, |_| {});
    assert_eq!(all.len(), cases.len());
    println!("{}", table::table(&all));
    let wrong: BTreeSet<(u64, &str)> = all
        .iter()
        .flat_map(|tried| tried.judged.iter().map(|judged| (tried.case.seed, judged)))
        .filter(|(_, judged)| judged.class == Class::Wrong)
        .map(|(seed, judged)| (seed, judged.about))
        .collect();
    assert_eq!(wrong, OPEN.iter().copied().collect(), "{}", table::wrong(&all));
}
