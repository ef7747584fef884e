//! This many operations in order, then a new place.

use crate::support::{SEED, reads};
use drivelab_core::offsets::Offsets;
use drivelab_core::op::DataOp;
use drivelab_core::plan::{Jump, Pattern, Stream};

const BLOCKS: u64 = 1000;

#[test]
fn only_the_first_of_a_run_goes_elsewhere() {
    for run in [1, 2, 7] {
        let stream = Stream { ..reads(Pattern::SemiRandom(Jump::Run(run))) };
        let mut offsets = Offsets::new(&stream, 0, BLOCKS * 4096, SEED).unwrap();
        let blocks: Vec<u64> = (0..70_000)
            .map(|_| DataOp::try_from(offsets.next().0).unwrap().offset / 4096)
            .collect();
        let mut sum = 0;
        for (at, pair) in (1..).zip(blocks.windows(2)) {
            let goes_on = pair[1] == pair[0] + 1;
            let is_last = pair[0] + 1 == BLOCKS;
            assert!(goes_on || is_last || at % run == 0, "{run}: {pair:?} at {at}");
            sum += u64::from(goes_on);
        }
        // By chance alone a new place is the next one once in a thousand.
        let wanted = 70_000 - 70_000 / run;
        assert!(sum.abs_diff(wanted) < 700, "{run}: {sum} of {wanted}");
        let first: Vec<u64> = blocks.iter().step_by(run as usize).copied().collect();
        let mean = first.iter().sum::<u64>() as f64 / first.len() as f64;
        assert!((mean - 500.0).abs() < 15.0, "{run}: {mean}");
    }
}
