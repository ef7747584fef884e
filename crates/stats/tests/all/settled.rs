//! A steady state must be proved, and not be guessed from five rounds.

use drivelab_stats::Random;
use drivelab_stats::steady::{Holder, Past, Settled, Unsettled, first_steady_round, windows};

/// Noise of about this share, the sum of twelve uniform draws.
fn noise(random: &mut Random, share: f64) -> f64 {
    let uniform = |random: &mut Random| random.below(1 << 32) as f64 / f64::from(u32::MAX);
    let sum: f64 = (0..12).map(|_| uniform(random)).sum();
    1.0 + share * (sum - 6.0)
}

/// Where a series is first called settled, and the mean it is settled at.
fn settles(series: &[f64]) -> Option<(usize, Settled)> {
    (1..=series.len()).find_map(|end| Some((end, Settled::of(&series[..end], &Past::OPEN).ok()?)))
}

#[test]
fn a_slow_decline_is_steady_for_snia_and_not_settled() {
    // 1 % a round: within SNIA's 10 % over a window, for ever.
    let series: Vec<f64> = (0..60).map(|round| 1e5 * 0.99_f64.powi(round)).collect();
    assert_eq!(first_steady_round(&[&series]).unwrap(), Some(5));
    for end in 16..=series.len() {
        assert!(Settled::of(&series[..end], &Past::OPEN).is_err(), "{end} rounds");
    }
}

#[test]
fn the_way_down_after_a_cliff_is_waited_for() {
    let mut random = Random::new(11);
    for (rate, share) in [(0.15, 0.002), (0.10, 0.004), (0.20, 0.01), (0.12, 0.02)] {
        let series: Vec<f64> = (0..400)
            .map(|round| {
                let level = 1.0 + 2.0 * (-rate * f64::from(round)).exp();
                1e5 * level * noise(&mut random, share)
            })
            .collect();
        let snia = first_steady_round(&[&series]).unwrap().unwrap();
        let early = windows(&series).unwrap()[snia - 5].mean / 1e5 - 1.0;
        assert!(early > 0.05, "rate {rate}: SNIA's first window is only {early} off");
        let (round, settled) = settles(&series).unwrap();
        let off = (settled.mean / 1e5 - 1.0).abs();
        assert!(off < 0.01, "rate {rate}, noise {share}: {off} off after {round} rounds");
        assert!(settled.low < settled.mean && settled.mean < settled.high);
    }
}

#[test]
fn ringing_is_waited_for() {
    let mut random = Random::new(5);
    let ring = |round: i32| {
        let phase = std::f64::consts::TAU * f64::from(round) / 8.0;
        1.0 + 0.5 * (-0.12 * f64::from(round)).exp() * phase.cos()
    };
    let series: Vec<f64> =
        (0..200).map(|round| 1e5 * ring(round) * noise(&mut random, 0.003)).collect();
    let (_, settled) = settles(&series).unwrap();
    assert!((settled.mean / 1e5 - 1.0).abs() < 0.01, "{}", settled.mean);
}

#[test]
fn what_is_missing_is_said() {
    let of = |rounds: &[f64]| Settled::of(rounds, &Past::OPEN);
    let flat = [1e5; 40];
    assert_eq!(of(&flat[..15]), Err(Unsettled::TooShort));
    let settled = of(&flat).unwrap();
    assert_eq!((settled.mean, settled.rounds, settled.relative_half_width()), (1e5, 20, 0.0));
    let step: Vec<f64> = (0..16).map(|round| if round < 8 { 1e5 } else { 0.98e5 }).collect();
    assert!(matches!(of(&step), Err(Unsettled::Halves(apart)) if apart > 0.01));
    let rough: Vec<f64> =
        (0..16).map(|round| if round % 2 == 0 { 1.03e5 } else { 0.97e5 }).collect();
    assert!(matches!(of(&rough), Err(Unsettled::Drift(drift)) if drift > 0.03));
    let torn = [vec![1e5; 15], vec![2e5]].concat();
    assert_eq!(of(&torn), Err(Unsettled::Window));
    assert_eq!(of(&[f64::NAN; 20]), Err(Unsettled::Window));
}

#[test]
fn a_trend_vetoes_only_where_it_could_matter() {
    let rising = |by: f64| -> Vec<f64> {
        (0..16).map(|round| 1e5 * (1.0 + by / 15.0 * f64::from(round))).collect()
    };
    // 0.5 % over two turns, without any noise: a trend beyond doubt, and of no account.
    assert!(Settled::of(&rising(0.005), &Past::OPEN).is_ok());
    assert!(matches!(
        Settled::of(&rising(0.025), &Past::OPEN),
        Err(Unsettled::Halves(apart)) if apart > 0.01
    ));
}

#[test]
fn a_level_rate_proves_nothing_while_there_may_be_spare_flash() {
    let flat = [18_181.8; 80];
    let past = |turns, is_filled| Past { turns, turn: 1.0, is_filled, holder: Holder::Spare };
    let first = |past: &Past| (1..=flat.len()).find(|end| Settled::of(&flat[..*end], past).is_ok());
    // Four capacities if it was filled: one of them filled it.
    assert_eq!(first(&past(1.0, true)), Some(24));
    assert_eq!(first(&past(3.0, true)), Some(16), "never fewer than two turns");
    // By chance alone the last blocks are met after eight.
    assert_eq!(first(&past(0.0, false)), Some(64));
    assert_eq!(
        Settled::of(&flat[..16], &past(1.0, true)),
        Err(Unsettled::Spare(3.0, 4.0)),
        "what was written, and what it takes"
    );
    // Rounds in a tenth of a drive that was never written take it as a whole.
    let part = Past { turn: 0.1 * 4.0 / 1.5, ..past(0.0, true) };
    assert_eq!(first(&part), None);
    // A disk has none.
    assert_eq!(first(&Past { holder: Holder::Nothing, ..past(0.0, false) }), Some(16));
    let credits = Past { holder: Holder::Credits, ..past(4.0, true) };
    assert_eq!(Settled::of(&flat, &credits), Err(Unsettled::Credits));
    let fallen = [vec![3000.0; 10], vec![300.0; 20]].concat();
    assert_eq!(Settled::of(&fallen, &credits).unwrap().mean, 300.0);
}

#[test]
fn noise_alone_is_seldom_taken_for_unsettled() {
    let mut random = Random::new(21);
    let mut missed = 0;
    for _ in 0..200 {
        let series: Vec<f64> = (0..120).map(|_| 1e5 * noise(&mut random, 0.02)).collect();
        match settles(&series) {
            Some((_, settled)) => assert!((settled.mean / 1e5 - 1.0).abs() < 0.02),
            None => missed += 1,
        }
    }
    assert!(missed <= 20, "{missed} of 200 did not settle within fifteen turns");
}
