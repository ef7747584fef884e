//! Placing gives what writing gives, and what was kept is what was drawn.

use super::*;
use crate::flash::Parameters;
use crate::profile::{Profile, TomlValue};
use std::collections::BTreeMap;

fn drive(policy: &str) -> Ftl {
    let mut profile = Profile::embedded("textbook").unwrap();
    profile.set("user_bytes", TomlValue::Integer(64 << 20)).unwrap();
    profile.add("collector", TomlValue::String(policy.into()));
    let parameters: Parameters = profile.section("parameters").unwrap();
    Ftl::new(parameters.layout(1).unwrap()).unwrap()
}

fn assert_alike(one: &Ftl, other: &Ftl) {
    let map = |ftl: &Ftl| -> Vec<u32> {
        (0..ftl.layout().logical_units).map(|logical| ftl.locate(logical)).collect()
    };
    assert_eq!(map(one), map(other));
    assert_eq!(one.blocks.valid, other.blocks.valid);
    assert_eq!(one.blocks.state, other.blocks.state);
    assert_eq!(one.blocks.closed_at, other.blocks.closed_at);
    assert_eq!(one.host.next, other.host.next);
    assert_eq!(one.inside(), other.inside());
    one.assert_consistent();
}

/// Both go on in the same way.
fn assert_equal(mut one: Ftl, mut other: Ftl) {
    assert_alike(&one, &other);
    let units = u64::from(one.layout().logical_units);
    for ftl in [&mut one, &mut other] {
        let mut random = Random::new(5);
        for index in 0..units * 2 {
            match index % 64 {
                0 => ftl.trim(random.below(units) as u32),
                _ => {
                    ftl.write(&mut Timeless, random.below(units) as u32);
                }
            }
        }
    }
    assert_alike(&one, &other);
}

#[test]
fn a_drive_that_was_placed_is_one_that_was_written() {
    for policy in ["greedy", "fifo", "windowed", "d-choices", "cost-benefit", "random"] {
        let units = u64::from(drive(policy).layout().logical_units);
        let random = Permutation::new(units, 3);
        for order in [None, Some(&random)] {
            for is_written_down in [false, true] {
                let (mut placed, mut written) = (drive(policy), drive(policy));
                assert!(placed.is_placed_in_order(order), "{policy}");
                if is_written_down {
                    placed.write_down();
                }
                assert_eq!(placed.origin.is_none(), is_written_down);
                for index in 0..units {
                    let logical = order.map_or(index, |order| order.at(index));
                    written.write(&mut Timeless, logical as u32);
                }
                written.forget();
                assert_equal(placed, written);
            }
        }
    }
}

/// The three ways to fill a drive write down where things lie, unless its map is very large.
#[test]
fn a_state_of_a_drive_of_common_size_is_looked_up_not_computed() {
    let mut ftl = drive("greedy");
    ftl.fill();
    assert!(ftl.origin.is_none());
    let mut ftl = drive("greedy");
    ftl.fill_at_random(3);
    assert!(ftl.origin.is_none());
    assert!(steady("greedy", 7, &mut Keeper::default()).origin.is_none());
}

#[test]
fn a_steady_drive_is_the_same_computed_and_written_down() {
    for policy in ["greedy", "fifo"] {
        let mut computed = drive(policy);
        let valid = Valid::new(computed.drawn_places(7, &mut ()));
        computed.place(valid, 7);
        computed.forget();
        assert!(computed.origin.is_some());
        assert_equal(computed, steady(policy, 7, &mut Keeper::default()));
    }
}

/// Keeps in memory, and counts what it is asked.
#[derive(Default)]
struct Keeper {
    kept: BTreeMap<String, Vec<u8>>,
    shares: Vec<f64>,
}

impl Attendant for Keeper {
    fn progress(&mut self, share: f64) {
        self.shares.push(share);
    }
    fn kept(&mut self, key: &str) -> Option<Vec<u8>> {
        self.kept.get(key).cloned()
    }
    fn keep(&mut self, key: &str, bytes: &[u8]) {
        self.kept.insert(key.into(), bytes.to_vec());
    }
}

fn steady(policy: &str, seed: u64, keeper: &mut dyn Attendant) -> Ftl {
    let mut ftl = drive(policy);
    ftl.steady_for(seed, keeper);
    ftl
}

#[test]
fn a_steady_drive_from_what_was_kept_is_the_same() {
    for policy in ["greedy", "fifo"] {
        let mut keeper = Keeper::default();
        let drawn = steady(policy, 7, &mut keeper);
        assert_eq!(keeper.kept.len(), 1);
        let told = keeper.shares.len();
        assert!(told > 10 && keeper.shares.is_sorted(), "{:?}", keeper.shares);
        let kept = steady(policy, 7, &mut keeper);
        assert_eq!(keeper.shares.len(), told, "nothing was drawn");
        assert_equal(drawn, kept);
        steady(policy, 8, &mut keeper);
        assert_eq!(keeper.kept.len(), 2, "another seed is another drive");
    }
}

#[test]
fn what_cannot_be_of_this_drive_is_drawn_again() {
    let mut keeper = Keeper::default();
    let drawn = steady("greedy", 7, &mut keeper);
    let of_drive = keeper.kept.values().next().unwrap().clone();
    let too_full = vec![255; of_drive.len()];
    for foreign in [Vec::new(), of_drive[8..].to_vec(), of_drive[1..].to_vec(), too_full] {
        keeper.kept.values_mut().for_each(|bytes| bytes.clone_from(&foreign));
        let again = steady("greedy", 7, &mut keeper);
        assert_eq!(keeper.kept.values().next(), Some(&of_drive));
        assert_alike(&drawn, &again);
    }
}
