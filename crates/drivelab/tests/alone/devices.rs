//! Block devices with planted behaviour: a FUSE file below a loop device. What the real program
//! says of each is compared with what the device itself counted. Longer ones, drawn from fresh
//! seeds, are tried by `cargo bench --bench devices`.

use crate::planted::case::{Case, Kind};
use crate::planted::judged::Class;
use crate::planted::plant::{Asked, Cache, Cap, Clockwork, Flash, Plant, Stalls};
use crate::planted::{Tried, all_of, table};
use crate::support::machine::{alone, is_unavailable, require_root};
use crate::support::neighbours::judge;
use std::time::Duration;

/// What could be told and is not: the list only shrinks.
const OPEN: &[(Kind, &str)] = &[(Kind::Cache, "why it falls")];
/// Of all kinds, what fits two minutes.
const SMALL: [Kind; 8] = [
    Kind::TrimHonoured,
    Kind::TrimIgnored,
    Kind::Cache,
    Kind::CapOfWsat,
    Kind::Stalls,
    Kind::CapOfRun,
    Kind::FartherOfRun,
    Kind::StallsOfRun,
];
/// Devices at a time: they mostly sleep.
const AT_A_TIME: usize = 3;
const MS: u64 = 1_000_000;
const BLOCK: u64 = 4096;

#[test]
fn what_is_planted_in_a_device_is_told() {
    let test = "what_is_planted_in_a_device_is_told";
    if is_unavailable(test) {
        return;
    }
    require_root(test);
    let _alone = alone();
    judge(test, || {
        let cases: Vec<Case> = SMALL.into_iter().map(Case::small).collect();
        let all = all_of(&cases, AT_A_TIME, |tried| println!("{}", table::story(tried)));
        assert_eq!(all.len(), SMALL.len());
        all.iter().for_each(assert_honest);
        for tried in &all {
            for judged in &tried.judged {
                let known = OPEN.contains(&(tried.case.kind, judged.about));
                let is_fine = matches!(judged.class, Class::Right | Class::Unknown);
                assert!(is_fine || known, "{}", table::remarkable(&all));
            }
        }
        // Some answers must be there, or the test would hold of a program that says nothing.
        let told = |kind: Kind| {
            let tried = all.iter().find(|tried| tried.case.kind == kind).expect("it was tried");
            assert!(tried.count(Class::Right) > 0, "{}", table::story(tried));
        };
        [Kind::Stalls, Kind::StallsOfRun, Kind::FartherOfRun].into_iter().for_each(told);
    });
}

/// The device did what was planted, by its own count.
fn assert_honest(tried: &Tried) {
    let (plant, counted) = (&tried.case.plant, &tried.counted);
    let story = || table::story(tried);
    if let Some(stalls) = plant.stalls {
        assert!(counted.stalls.len() >= 3, "{}", story());
        let length = stalls.length.as_nanos() as u64;
        assert!(counted.stalls.iter().all(|stall| stall.1 - stall.0 == length), "{}", story());
        let is_none_answered =
            |stall: &(u64, u64)| !counted.answered.iter().any(|at| stall.0 < *at && *at < stall.1);
        assert!(counted.stalls.iter().all(is_none_answered), "{}", story());
    }
    if let Some(cache) = plant.cache {
        assert!(counted.full_at.first().is_some_and(|at| *at >= cache.bytes), "{}", story());
        assert!(counted.full_writes > 1000, "{}", story());
    }
    if plant.flash.is_some() {
        assert_eq!(counted.trimmed_bytes, plant.bytes, "{}", story());
        assert!(counted.collected > 1000, "{}", story());
    }
    if let Some(cap) = plant.cap {
        let change = counted.origin + cap.at.as_nanos() as u64;
        let end = counted.answered.iter().copied().max().expect("answers");
        let before = counted.rate(change - 1000 * MS, change);
        let after = counted.rate(change, end);
        assert!(before <= 1.01 * cap.first && after <= 1.01 * cap.then, "{}", story());
        assert!(before > 1.5 * after, "{}", story());
    }
    if plant.farther > 1.0 {
        let (begin, end) = (counted.answered[0], counted.answered[counted.answered.len() - 1]);
        let quarter = (end - begin) / 4;
        let first = counted.rate(begin, begin + quarter);
        assert!(counted.rate(end - quarter, end) < 0.6 * first, "{}", story());
    }
}

fn device(plant: Plant) -> Clockwork {
    let mut device = Clockwork::new(plant, 0);
    device.begin(0);
    device
}

/// One server that takes a millisecond for anything.
fn even() -> Plant {
    let ms = Duration::from_millis(1);
    Plant { servers: 1, read: ms, write: ms, bytes_per_s: f64::INFINITY, ..Plant::default() }
}

#[test]
fn a_stall_holds_back_what_it_meets() {
    let stalls = Stalls { every: Duration::from_secs(1), length: Duration::from_millis(300) };
    let mut device = device(Plant { stalls: Some(stalls), ..even() });
    assert_eq!(device.ask(10 * MS, Asked::Read, 0, BLOCK), 11 * MS);
    // From 500 to 800 ms.
    assert_eq!(device.ask(499 * MS + MS / 2, Asked::Read, 0, BLOCK), 800 * MS + MS / 2);
    assert_eq!(device.ask(700 * MS, Asked::Read, 0, BLOCK), 801 * MS + MS / 2, "behind it");
    assert_eq!(device.ask(1600 * MS, Asked::Read, 0, BLOCK), 1801 * MS);
    assert_eq!(device.counted.stalls, [(500 * MS, 800 * MS), (1500 * MS, 1800 * MS)]);
}

#[test]
fn a_cache_is_fast_until_it_is_full_and_after_a_rest() {
    let cache = Cache {
        bytes: 10 * BLOCK,
        full: Duration::from_millis(5),
        rest: Duration::from_millis(100),
        drain_bytes_per_s: 40.0 * BLOCK as f64,
    };
    let mut device = device(Plant { cache: Some(cache), ..even() });
    let mut now = 0;
    let mut took = |device: &mut Clockwork, rest: u64| {
        let begin = now + rest;
        now = device.ask(begin, Asked::Write, 0, BLOCK);
        (now - begin) / MS
    };
    let times: Vec<u64> = (0..12).map(|_| took(&mut device, 0)).collect();
    assert_eq!(times, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 5]);
    // After 100 ms of rest a block leaves it each 25 ms.
    assert_eq!(took(&mut device, 150 * MS), 1);
    assert_eq!([took(&mut device, 0), took(&mut device, 0)], [1, 5]);
    let full = 10 * BLOCK;
    assert_eq!(device.counted.full_at[0], full);
    let end = device.ask(1_000 * MS, Asked::Flush, 0, 0);
    assert!(end >= 1_000 * MS && device.counted.flushes == 1);
}

#[test]
fn flash_is_used_up_and_a_trim_gives_it_back_where_it_is_honoured() {
    for honours_trim in [true, false] {
        let flash = Flash { spare: 4 * BLOCK, collecting: 3.0 };
        let plant = Plant { bytes: 8 * BLOCK, flash: Some(flash), honours_trim, ..even() };
        let mut device = device(plant);
        let mut now = 0;
        let mut took = |device: &mut Clockwork, block: u64| {
            let begin = now;
            now = device.ask(begin, Asked::Write, block * BLOCK, BLOCK);
            (now - begin) / MS
        };
        let times: Vec<u64> = (0..14).map(|number| took(&mut device, number % 8)).collect();
        assert_eq!(times, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3]);
        assert_eq!(device.counted.free_bytes, Some(12 * BLOCK));
        device.ask(0, Asked::Trim, 0, 8 * BLOCK);
        let after: Vec<u64> = (0..13).map(|number| took(&mut device, number % 8)).collect();
        let expected = if honours_trim { [&[1; 12][..], &[3]].concat() } else { vec![3; 13] };
        assert_eq!(after, expected);
        assert_eq!((device.counted.trims, device.counted.trimmed_bytes), (1, 8 * BLOCK));
    }
}

#[test]
fn caps_addresses_and_stripes_are_kept() {
    let cap = Cap { first: 100.0, at: Duration::from_millis(50), then: 10.0 };
    let mut capped = device(Plant { servers: 8, cap: Some(cap), ..even() });
    let ends: Vec<u64> = (0..8).map(|_| capped.ask(0, Asked::Read, 0, BLOCK) / MS).collect();
    assert_eq!(ends, [1, 11, 21, 31, 41, 51, 151, 251]);
    assert_eq!(capped.counted.idle, [0], "the others waited");
    let mut far = device(Plant { bytes: 100 * BLOCK, farther: 3.0, ..even() });
    assert_eq!(far.ask(0, Asked::Read, 0, BLOCK), MS);
    assert_eq!(far.ask(10 * MS, Asked::Read, 50 * BLOCK, BLOCK), 12 * MS);
    let mut striped = device(Plant { stripe: Some(65_536), ..even() });
    assert_eq!(striped.ask(0, Asked::Write, 0, 65_536), MS);
    assert_eq!(striped.ask(10 * MS, Asked::Write, 512, 65_536), 12 * MS);
    assert_eq!(striped.counted.crossings, 1);
}
