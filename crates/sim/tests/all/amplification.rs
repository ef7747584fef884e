//! Write amplification of the page mapping against the formulas, and how it gets there.

use crate::policies::layout::{bare, with_spare};
use drivelab_sim::flash::{Ftl, Layout, Policy, Timeless};
use drivelab_sim::theory;
use drivelab_stats::Random;

/// Blocks of a drive that is large enough for the formulas, which are for any number of them.
const BLOCKS: u32 = 1024;
const SPARES: [f64; 4] = [0.07, 0.12, 0.28, 0.5];

/// Amplification over the last `measured` passes of requests, after `before` others; `request`
/// draws one. The drive is filled in order first.
fn amplification(
    ftl: &mut Ftl,
    before: u32,
    measured: u32,
    mut request: impl FnMut(&mut Ftl),
) -> f64 {
    let units = ftl.layout().logical_units;
    for _ in 0..u64::from(units) * u64::from(before) {
        request(ftl);
    }
    let from = ftl.inside();
    for _ in 0..u64::from(units) * u64::from(measured) {
        request(ftl);
    }
    let change = ftl.inside().since(&from);
    ftl.assert_consistent();
    change.programmed_units() as f64 / change.programmed_host_units as f64
}

fn filled(layout: &Layout) -> Ftl {
    let mut ftl = Ftl::new(layout.clone()).unwrap();
    ftl.fill();
    ftl
}

/// One pass is enough to settle, but not where chance spares some blocks for long.
fn uniform(layout: &Layout, measured: u32) -> f64 {
    let before = match layout.policy {
        Policy::DChoices | Policy::Random => 5,
        _ => 2,
    };
    let mut random = Random::new(5);
    amplification(&mut filled(layout), before, measured, |ftl| {
        let units = u64::from(ftl.layout().logical_units);
        ftl.write(&mut Timeless, random.below(units) as u32);
    })
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = found / expected - 1.0;
    println!("{what}: {found:.4}, by the formula {expected:.4} ({:+.2} %)", 100.0 * error);
    assert!(error.abs() <= tolerance, "{what}: {found:.4} is not {expected:.4}");
}

fn assert_policy(policy: Policy, choices: u32, block_units: u32, formula: impl Fn(f64) -> f64) {
    for spare in SPARES {
        let layout = with_spare(bare(policy, choices, block_units, BLOCKS), spare);
        let what = format!("{policy:?} {choices}, {block_units} units, spare {spare}");
        assert_near(uniform(&layout, 2), formula(spare), 0.01, &what);
    }
}

#[test]
fn greedy_victims_of_64_units_follow_the_formula() {
    assert_policy(Policy::Greedy, 0, 64, |spare| theory::greedy(spare, 64));
}

#[test]
fn greedy_victims_of_128_units_follow_the_formula() {
    assert_policy(Policy::Greedy, 0, 128, |spare| theory::greedy(spare, 128));
}

#[test]
fn greedy_victims_of_256_units_follow_the_formula() {
    assert_policy(Policy::Greedy, 0, 256, |spare| theory::greedy(spare, 256));
}

#[test]
fn fifo_victims_follow_the_formula() {
    assert_policy(Policy::Fifo, 0, 128, theory::fifo);
}

#[test]
fn two_choices_follow_the_formula() {
    assert_policy(Policy::DChoices, 2, 128, |spare| theory::d_choices(spare, 128, 2));
}

#[test]
fn ten_choices_follow_the_formula() {
    assert_policy(Policy::DChoices, 10, 128, |spare| theory::d_choices(spare, 128, 10));
}

#[test]
fn random_victims_follow_the_formula() {
    assert_policy(Policy::Random, 0, 128, theory::random_victims);
}

#[test]
fn trims_leave_the_spare_that_the_formula_says() {
    for (spare, trims) in [(0.12, 0.1), (0.12, 0.3), (0.28, 0.2)] {
        let layout = with_spare(bare(Policy::Greedy, 0, 128, BLOCKS), spare);
        let mut random = Random::new(7);
        // The share in use comes near its end by a factor of e every 1 ÷ (1 − trims) passes.
        let found = amplification(&mut filled(&layout), 10, 2, |ftl| {
            let unit = random.below(u64::from(ftl.layout().logical_units)) as u32;
            if random.unit_f64() >= trims {
                ftl.write(&mut Timeless, unit);
                return;
            }
            // A unit that holds data: the formula's trims never fall on empty ones.
            let units = u64::from(ftl.layout().logical_units);
            let mut unit = unit;
            while ftl.locate(unit) == drivelab_sim::memory::NONE {
                unit = random.below(units) as u32;
            }
            ftl.trim(unit);
        });
        let expected = theory::greedy(theory::spare_with_trims(spare, trims), 128);
        assert_near(found, expected, 0.02, &format!("spare {spare}, {trims} trims"));
    }
}

#[test]
fn two_temperatures_follow_the_formula() {
    for (spare, addresses, writes) in [(0.12, 0.2, 0.8), (0.28, 0.2, 0.8), (0.28, 0.1, 0.9)] {
        // One frontier for all: the formula is for data that is mixed.
        let mixed = Layout { collection_frontiers: 0, ..bare(Policy::Fifo, 0, 128, BLOCKS) };
        let layout = with_spare(mixed, spare);
        let mut random = Random::new(9);
        let found = amplification(&mut filled(&layout), 8, 2, |ftl| {
            let units = u64::from(ftl.layout().logical_units);
            let hot = (units as f64 * addresses) as u64;
            let unit = match random.unit_f64() < writes {
                true => random.below(hot),
                false => hot + random.below(units - hot),
            };
            ftl.write(&mut Timeless, unit as u32);
        });
        let expected = theory::fifo_two_temperatures(spare, addresses, writes);
        let what = format!("spare {spare}, {addresses} of the addresses, {writes} of the writes");
        assert_near(found, expected, 0.02, &what);
    }
}

#[test]
fn a_window_lies_between_the_oldest_and_the_emptiest() {
    let spare = 0.28;
    let of = |policy, choices| uniform(&with_spare(bare(policy, choices, 128, BLOCKS), spare), 3);
    let (oldest, emptiest) = (of(Policy::Fifo, 0), of(Policy::Greedy, 0));
    let (one, some) = (of(Policy::Windowed, 1), of(Policy::Windowed, 100));
    println!("oldest {oldest:.4}, window of 1 {one:.4}, of 100 {some:.4}, emptiest {emptiest:.4}");
    assert_near(one, oldest, 0.002, "a window of one block");
    assert!(emptiest < some && some < oldest);
}

#[test]
fn frontiers_by_temperature_copy_less_where_writes_are_uneven() {
    let of = |collection_frontiers| {
        let low_blocks = 4;
        let one = Layout {
            collection_frontiers,
            low_blocks,
            high_blocks: 6,
            ..bare(Policy::Greedy, 0, 128, BLOCKS)
        };
        let mut random = Random::new(9);
        amplification(&mut filled(&with_spare(one, 0.28)), 6, 2, |ftl| {
            let units = u64::from(ftl.layout().logical_units);
            let hot = units / 10;
            let unit = match random.unit_f64() < 0.9 {
                true => random.below(hot),
                false => hot + random.below(units - hot),
            };
            ftl.write(&mut Timeless, unit as u32);
        })
    };
    let (mixed, separate) = (of(0), of(2));
    println!("copies among host writes {mixed:.3}, in frontiers of their own {separate:.3}");
    // Greedy is within 2 % of FIFO where temperatures are mixed (Desnoyers).
    assert_near(mixed, theory::fifo_two_temperatures(0.28, 0.1, 0.9), 0.02, "mixed");
    assert!(separate < 0.9 * mixed);
}

#[test]
fn a_drive_of_256_blocks_is_like_one_of_4096() {
    for spare in [0.07, 0.28] {
        let of = |blocks: u32, passes: u32| {
            uniform(&with_spare(bare(Policy::Greedy, 0, 128, blocks), spare), passes)
        };
        assert_near(of(256, 24), of(4096, 2), 0.01, &format!("spare {spare}, 256 and 4096 blocks"));
    }
}

#[test]
fn the_placed_steady_state_is_steady_from_the_first_pass() {
    for (policy, spare) in
        [(Policy::Greedy, 0.07), (Policy::Greedy, 0.28), (Policy::Fifo, 0.12), (Policy::Fifo, 0.28)]
    {
        let layout = with_spare(bare(policy, 0, 128, 2048), spare);
        let mut ftl = Ftl::new(layout).unwrap();
        ftl.steady(3);
        ftl.assert_consistent();
        assert_eq!(ftl.mapped_units(), ftl.layout().logical_units);
        let mut random = Random::new(13);
        let found = amplification(&mut ftl, 0, 1, |ftl| {
            let units = u64::from(ftl.layout().logical_units);
            ftl.write(&mut Timeless, random.below(units) as u32);
        });
        let expected = match policy {
            Policy::Greedy => theory::greedy(spare, 128),
            _ => theory::fifo(spare),
        };
        assert_near(found, expected, 0.01, &format!("{policy:?}, spare {spare}, first pass"));
    }
}

#[test]
fn the_write_cliff() {
    for spare in [0.12, 0.28] {
        let layout = with_spare(bare(Policy::Greedy, 0, 128, 2048), spare);
        let steady = theory::greedy(spare, 128);
        let mut ftl = filled(&layout);
        let mut random = Random::new(17);
        let units = u64::from(layout.logical_units);
        let window = units / 100;
        let mut curve = Vec::new();
        for _ in 0..400 {
            let from = ftl.inside();
            for _ in 0..window {
                ftl.write(&mut Timeless, random.below(units) as u32);
            }
            let change = ftl.inside().since(&from);
            curve.push(change.programmed_units() as f64 / change.programmed_host_units as f64);
        }
        // Its place: when the spare is written. All that was free beyond the reserve was spare, but
        // for the halves of open blocks in ρ.
        let cliff = curve.iter().position(|amplification| *amplification > 1.0).unwrap() as f64;
        println!("spare {spare}: the cliff is in hundredth {cliff} of the first pass");
        assert!((cliff / 100.0 - spare).abs() <= 0.01, "{cliff}");
        let mean =
            |from: usize, to: usize| curve[from..to].iter().sum::<f64>() / (to - from) as f64;
        // The blocks that were filled in order are all equally full: none is nearly empty yet, and
        // the victims hold more than they will. Then the many blocks written since are emptier.
        let place = cliff as usize;
        let above = curve[place..place + 20].iter().copied().fold(0.0, f64::max) / steady;
        let below = curve[place + 10..150].iter().copied().fold(f64::MAX, f64::min) / steady;
        println!(
            "overshoot to {above:.3}, then {below:.3} of the steady amplification {steady:.3}"
        );
        assert!((1.10..1.40).contains(&above) && (0.90..0.98).contains(&below));
        // Settled within a pass and a half behind the cliff.
        assert_near(mean(place + 150, 400), steady, 0.01, &format!("spare {spare}, settled"));
    }
}
