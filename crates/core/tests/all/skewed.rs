//! Popularity by the self-similar law and by a bell: the shares that they promise.

use crate::support::{SEED, reads};
use drivelab_core::offsets::Offsets;
use drivelab_core::op::DataOp;
use drivelab_core::plan::{Pattern, Stream};

const BLOCKS: usize = 1000;
const DRAWS: u64 = 400_000;

/// Shares of the accesses by block, most popular first.
fn shares(stream: &Stream) -> Vec<f64> {
    let mut offsets = Offsets::new(stream, 0, BLOCKS as u64 * 4096, SEED).unwrap();
    let mut counts = vec![0_u64; BLOCKS];
    for _ in 0..DRAWS {
        counts[(DataOp::try_from(offsets.next().0).unwrap().offset / 4096) as usize] += 1;
    }
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts.into_iter().map(|count| count as f64 / DRAWS as f64).collect()
}

fn of_first(shares: &[f64], share: f64) -> f64 {
    shares[..(share * BLOCKS as f64) as usize].iter().sum()
}

#[test]
fn a_share_of_the_blocks_has_all_but_that_share_of_the_accesses() {
    for skew in [0.05, 0.2, 0.35] {
        let stream = Stream { ..reads(Pattern::SelfSimilar { skew: Some(skew) }) };
        let shares = shares(&stream);
        let first = of_first(&shares, skew);
        assert!((first - (1.0 - skew)).abs() < 0.01, "{skew}: {first}");
        // And so within itself.
        let inner = of_first(&shares, skew * skew);
        assert!((inner - (1.0 - skew).powi(2)).abs() < 0.03, "{skew}: {inner}");
    }
    let absent = shares(&reads(Pattern::SelfSimilar { skew: None }));
    assert!((of_first(&absent, 0.2) - 0.8).abs() < 0.01, "0.2 where nothing is said");
}

/// Of a unimodal, symmetric law the most popular blocks lie within a distance of its middle.
#[test]
fn a_bell_has_its_deviation() {
    for (plateau, within_one_deviation) in [(0.0, 0.682), (0.2, 0.673), (0.5, 0.645)] {
        let stream = Stream { ..reads(Pattern::Bell { plateau: Some(plateau) }) };
        let shares = shares(&stream);
        let deviation = ((1.0 + 12.0 * plateau * plateau) / 144.0_f64).sqrt();
        let found = of_first(&shares, 2.0 * deviation);
        assert!((found - within_one_deviation).abs() < 0.015, "{plateau}: {found}");
    }
}

#[test]
fn popular_blocks_are_scattered() {
    for pattern in [Pattern::SelfSimilar { skew: None }, Pattern::Bell { plateau: None }] {
        let mut offsets =
            Offsets::new(&reads(pattern.clone()), 0, BLOCKS as u64 * 4096, SEED).unwrap();
        let mut eighths = [0_u64; 8];
        let mut known = std::collections::BTreeSet::new();
        for _ in 0..DRAWS {
            let block = DataOp::try_from(offsets.next().0).unwrap().offset / 4096;
            if known.insert(block) {
                eighths[(block * 8 / BLOCKS as u64) as usize] += 1;
            }
        }
        assert!(eighths.iter().all(|count| *count > 50), "{pattern:?}: {eighths:?}");
    }
}
