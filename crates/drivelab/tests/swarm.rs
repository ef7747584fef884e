//! A small swarm over studies with fixed seeds: no sentence of it may be wrong. Fresh seeds are
//! drawn by `cargo bench --bench swarm`; one of these is replayed in full by
//! `cargo bench --bench swarm -- --seed N`.

#[path = "support/swarm/mod.rs"]
mod swarm;

use std::time::Duration;
use swarm::case::Case;
use swarm::{judged::Class, table};

const SEEDS: std::ops::Range<u64> = 1..41;

#[test]
fn no_sentence_of_a_small_swarm_is_wrong() {
    let cases: Vec<Case> = SEEDS.map(Case::small).collect();
    let limit = Duration::from_secs(110);
    let all = swarm::swarm(&cases, limit, |_| {});
    println!("{} of {} cases\n{}", all.len(), cases.len(), table::table(&all));
    assert!(all.len() >= 5, "only {} cases in {limit:?}", all.len());
    let wrong = all.iter().flat_map(|tried| &tried.judged).filter(|it| it.class == Class::Wrong);
    assert_eq!(wrong.count(), 0, "{}", table::wrong(&all));
}
