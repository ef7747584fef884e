//! Random numbers against published vectors, exact laws and pinned values.

use drivelab_stats::{Random, Zipf, derive, splitmix64};
use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

#[test]
fn splitmix64_gives_the_published_numbers() {
    let mut state = 1_234_567;
    let found: Vec<u64> = (0..5).map(|_| splitmix64(&mut state)).collect();
    let published = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    assert_eq!(found, published);
}

#[test]
fn the_generator_gives_the_numbers_of_the_reference_code() {
    let mut seed = [0; 32];
    (seed[0], seed[8], seed[16], seed[24]) = (1, 2, 3, 4);
    let mut generator = Xoshiro256PlusPlus::from_seed(seed);
    let found: Vec<u64> = (0..6).map(|_| generator.next_u64()).collect();
    let published = [
        41_943_041,
        58_720_359,
        3_588_806_011_781_223,
        3_591_011_842_654_386,
        9_228_616_714_210_784_205,
        9_973_669_472_204_895_162,
    ];
    assert_eq!(found, published);
}

#[test]
fn numbers_of_a_seed_never_change() {
    let mut random = Random::new(0);
    assert_eq!(random.next_u64(), 0x5317_5d61_490b_23df);
    assert_eq!(random.next_u64(), 0x61da_6f3d_c380_d507);
    assert_eq!(random.next_u64(), 0x5c0f_df91_ec9a_7bfc);
}

#[test]
fn below_is_uniform_and_within_bounds() {
    let mut random = Random::new(3);
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        counts[random.below(7) as usize] += 1;
    }
    let squares: f64 = counts.iter().map(|count| (f64::from(*count) - 1e4).powi(2) / 1e4).sum();
    // 6 degrees of freedom: 22.5 is passed once in 1000.
    assert!(squares < 22.5, "{counts:?}");
    assert_eq!((random.below(0), random.below(1)), (0, 0));
    // Where a third of all draws must be rejected, the halves still balance.
    let n = 3 << 62;
    let high = (0..10_000).filter(|_| random.below(n) >= n / 2).count();
    assert!((4_800..5_200).contains(&high), "{high}");
}

#[test]
fn unit_numbers_are_in_the_unit_interval() {
    let mut random = Random::new(4);
    let numbers: Vec<f64> = (0..100_000).map(|_| random.unit_f64()).collect();
    assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
    let mean = numbers.iter().sum::<f64>() / 1e5;
    assert!((mean - 0.5).abs() < 0.005, "{mean}");
}

#[test]
fn exponential_numbers_have_their_mean_and_tail() {
    let mut random = Random::new(5);
    let numbers: Vec<f64> = (0..100_000).map(|_| random.exponential(250.0)).collect();
    assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0));
    let mean = numbers.iter().sum::<f64>() / 1e5;
    assert!((mean - 250.0).abs() < 4.0, "{mean}");
    let beyond = numbers.iter().filter(|number| **number > 1_000.0).count();
    // exp(-4) of them.
    assert!((1_700..1_960).contains(&beyond), "{beyond}");
}

#[test]
fn derived_seeds_differ() {
    let mut seeds = Vec::new();
    for seed in 0..10 {
        for stream in 0..20 {
            seeds.extend((0..50).map(|worker| derive(seed, stream, worker)));
        }
    }
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 10 * 20 * 50);
    assert_ne!(derive(1, 2, 3), derive(1, 3, 2));
}

/// Pearson's statistic of 200,000 draws over the first `classes` ranks and the rest, against the
/// exact law.
fn zipf_chi_square(n: u64, theta: f64, classes: usize) -> f64 {
    let zipf = Zipf::new(n, theta).expect("valid limits");
    let mut random = Random::new(6);
    let mut counts = vec![0.0; classes + 1];
    for _ in 0..200_000 {
        let rank = zipf.sample(&mut random);
        assert!(rank < n);
        counts[(rank as usize).min(classes)] += 1.0;
    }
    let weights: Vec<f64> = (1..=n).map(|rank| (rank as f64).powf(-theta)).collect();
    let total: f64 = weights.iter().sum();
    let rest = weights.iter().skip(classes).sum();
    let expected = weights.iter().take(classes).copied().chain([rest]);
    let terms = counts.iter().zip(expected.map(|weight| weight / total * 200_000.0));
    terms.filter(|term| term.1 > 0.0).map(|(found, e)| (found - e).powi(2) / e).sum()
}

#[test]
fn zipf_ranks_follow_the_exact_law() {
    for theta in [0.0, 0.2, 0.5, 0.99, 1.0, 1.000_001, 1.2, 2.0] {
        for n in [50, 1_000, 100_000] {
            let found = zipf_chi_square(n, theta, 20);
            // 20 degrees of freedom: 45.3 is passed once in 1000.
            assert!(found < 45.3, "theta {theta}, n {n}: {found}");
        }
    }
    assert!(zipf_chi_square(1_000_000, 4.9, 2) < 13.8);
}

#[test]
fn zipf_has_limits() {
    let mut random = Random::new(7);
    for theta in [0.0, 0.5, 1.0, 1.2, 4.99] {
        let single = Zipf::new(1, theta).unwrap();
        let vast = Zipf::new(1 << 48, theta).unwrap();
        for _ in 0..10_000 {
            assert_eq!(single.sample(&mut random), 0);
            assert!(vast.sample(&mut random) < 1 << 48);
        }
    }
    for (n, theta) in [(0, 1.0), ((1 << 48) + 1, 1.0), (9, 5.0), (9, -0.1), (9, f64::NAN)] {
        assert_eq!(Zipf::new(n, theta), None);
    }
}

#[test]
fn variates_of_a_seed_never_change() {
    let mut random = Random::new(42);
    let zipf = Zipf::new(1 << 20, 1.2).unwrap();
    let below: Vec<u64> = (0..4).map(|_| random.below(1_000_003)).collect();
    let ranks: Vec<u64> = (0..4).map(|_| zipf.sample(&mut random)).collect();
    let gap = random.exponential(1e6);
    assert_eq!(below, [814_307, 318_821, 983_897, 701_137]);
    assert_eq!(ranks, [1, 6, 3_516, 5]);
    assert_eq!(gap.to_bits(), 0x410c_6c26_c149_b4bb);
    assert_eq!(derive(42, 1, 2), 0xf426_9628_263f_4c12);
}
