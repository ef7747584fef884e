//! Permutations: bijective for every size, and without the patterns of a linear order.

use drivelab_stats::Permutation;
use proptest::prelude::*;

fn assert_bijective(n: u64, key: u64) {
    let permutation = Permutation::new(n, key);
    let mut seen = vec![false; n as usize];
    for index in 0..n {
        let value = permutation.at(index) as usize;
        assert!(!seen[value], "n {n}, key {key}: {value} comes twice");
        seen[value] = true;
    }
}

#[test]
fn every_small_size_is_bijective() {
    for n in 0..=4_096 {
        assert_bijective(n, n.wrapping_mul(0x9e37_79b9));
    }
}

#[test]
fn consecutive_elements_look_independent() {
    for n in [10_007, 100_003, 1 << 17, 1 << 20, 1_000_000] {
        for key in 0..30 {
            let permutation = Permutation::new(n, key);
            let values: Vec<u64> = (0..n.min(50_000)).map(|index| permutation.at(index)).collect();
            let pairs = values.len() as f64 - 1.0;
            let flips = values.windows(2).filter(|pair| (pair[0] ^ pair[1]) & 1 == 1).count();
            let share = flips as f64 / pairs;
            assert!((share - 0.5).abs() < 2.5 / pairs.sqrt(), "n {n}, key {key}: {share}");
            let center = (n - 1) as f64 / 2.0;
            let products =
                values.windows(2).map(|pair| (pair[0] as f64 - center) * (pair[1] as f64 - center));
            let correlation = products.sum::<f64>() / pairs / (n as f64 * n as f64 / 12.0);
            assert!(correlation.abs() < 5.0 / pairs.sqrt(), "n {n}, key {key}: {correlation}");
        }
    }
}

#[test]
fn the_channels_of_a_drive_are_not_walked_in_turn() {
    let permutation = Permutation::new(1 << 20, 9);
    let mut transitions = [[0_u32; 8]; 8];
    for index in 0..64_000 {
        let (from, to) = (permutation.at(index) % 8, permutation.at(index + 1) % 8);
        transitions[from as usize][to as usize] += 1;
    }
    let cells = transitions.as_flattened().iter();
    let squares: f64 = cells.map(|count| (f64::from(*count) - 1e3).powi(2) / 1e3).sum();
    // 63 degrees of freedom: 103.4 is passed once in 1000.
    assert!(squares < 103.4, "{squares}");
}

#[test]
fn orders_of_a_key_never_change() {
    let permutation = Permutation::new(1_000_003, 42);
    let found: Vec<u64> = (0..4).map(|index| permutation.at(index)).collect();
    assert_eq!(found, [184_091, 843_794, 331_108, 829_591]);
    let widest = Permutation::new(u64::MAX, 42);
    assert_eq!(widest.at(u64::MAX - 1), 144_168_691_481_345_185);
    assert_eq!((permutation.len(), permutation.is_empty()), (1_000_003, false));
    assert!(Permutation::new(0, 1).is_empty());
}

#[test]
#[should_panic(expected = "outside of a permutation")]
fn an_index_beyond_the_end_is_refused() {
    Permutation::new(10, 1).at(10);
}

proptest! {
    #[test]
    fn any_size_and_key_is_bijective(n in 1_u64..50_000, key in any::<u64>()) {
        assert_bijective(n, key);
    }

    #[test]
    fn neighbours_of_vast_orders_differ(
        n in 2_u64..=u64::MAX, key in any::<u64>(), at in any::<u64>(),
    ) {
        let permutation = Permutation::new(n, key);
        let index = at % (n - 1);
        let (this, next) = (permutation.at(index), permutation.at(index + 1));
        prop_assert!(this < n && next < n && this != next);
    }
}
