//! Intervals of counts: against printed tables, and by how often they keep their promise.

use drivelab_stats::{Random, event_rate, poisson_interval};

/// Table of the exact 95 % limits of a Poisson count, as statistics books print it.
#[test]
fn the_ends_are_those_of_the_printed_tables() {
    let table = [
        (0.0, 0.0, 3.6889),
        (1.0, 0.0253, 5.5716),
        (2.0, 0.2422, 7.2247),
        (5.0, 1.6235, 11.6683),
        (10.0, 4.7954, 18.3904),
        (100.0, 81.3640, 121.6271),
    ];
    for (count, low, high) in table {
        let found = poisson_interval(count);
        assert!((found.0 - low).abs() < 1e-3, "{count}: {found:?}");
        assert!((found.1 - high).abs() < 1e-3, "{count}: {found:?}");
    }
}

/// Events of a Poisson process of this mean.
fn events(random: &mut Random, mean: f64) -> u64 {
    let mut left = mean;
    let mut count = 0;
    loop {
        left += libm::log(1.0 - random.unit_f64());
        if left < 0.0 {
            return count;
        }
        count += 1;
    }
}

#[test]
fn at_least_95_of_100_intervals_hold_the_rate() {
    for (each, seed) in [(0.3, 1), (2.0, 2), (20.0, 3)] {
        let mut random = Random::new(seed);
        let holds = |random: &mut Random| {
            let all: Vec<(u64, f64)> = (0..5).map(|_| (events(random, each), 6.0)).collect();
            let found = event_rate(&all).unwrap();
            found.low.unwrap() <= each / 6.0 && each / 6.0 <= found.high.unwrap()
        };
        let held = (0..1000).filter(|_| holds(&mut random)).count();
        assert!(held >= 940, "{held} of 1000 at {each} a repetition");
    }
}

#[test]
fn clumps_widen_the_interval() {
    let even = event_rate(&[(10, 60.0); 5]).unwrap();
    let clumped = event_rate(&[(0, 60.0), (50, 60.0), (0, 60.0), (0, 60.0), (0, 60.0)]).unwrap();
    assert_eq!((even.value, even.n), (clumped.value, 5));
    assert!((even.value - 1.0 / 6.0).abs() < 1e-12);
    assert!(clumped.high.unwrap() > 2.0 * even.high.unwrap(), "{clumped:?}");
    assert!(clumped.low.unwrap() < 0.1 * even.low.unwrap(), "{clumped:?}");
}

#[test]
fn none_seen_is_not_none_there() {
    let found = event_rate(&[(0, 30.0), (0, 30.0)]).unwrap();
    assert_eq!((found.value, found.low), (0.0, Some(0.0)));
    assert!((found.high.unwrap() * 60.0 - 3.6889).abs() < 1e-3);
    assert_eq!(event_rate(&[]), None);
    assert_eq!(event_rate(&[(1, 0.0)]), None);
}
