use super::*;
use crate::health_log::DriveReading;

const UNIT: u64 = 512_000;

fn reading(steps: u32, opens: bool, wear: WearFacts) -> HealthReading {
    let drives = vec![DriveReading { device: "nvme0n1".into(), wear, kernel_written_bytes: None }];
    HealthReading { steps, opens, drives }
}

/// A drive that counts hosts' bytes in units of 512,000 and its own in bytes.
fn written(units: u64, flash: u64) -> WearFacts {
    WearFacts {
        written_bytes: Some(units * UNIT),
        written_unit_bytes: Some(UNIT),
        flash_written_bytes: Some(flash),
        flash_written_unit_bytes: Some(1),
        ..WearFacts::default()
    }
}

fn one(before: WearFacts, after: WearFacts) -> HealthChange {
    let mut all = changes(&[reading(0, true, before), reading(1, false, after)]);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn a_ratio_has_the_bounds_of_its_units() {
    let change = one(written(5000, 7), written(5100, 7 + 150 * UNIT));
    assert_eq!(change.written_bytes, Some(100 * UNIT));
    assert_eq!(change.flash_written_bytes, Some(150 * UNIT));
    let found = change.write_amplification.unwrap();
    assert_eq!(found.value, 1.5);
    let (low, high) = (150.0 / 101.0, 150.0 / 99.0);
    assert!((found.low - low).abs() < 1e-4 && (found.high - high).abs() < 1e-4, "{found:?}");
    assert!(found.low < 1.5 && 1.5 < found.high);
}

/// Whatever a drive wrote, its counts are whole units: the true ratio lies within the bounds.
#[test]
fn the_true_ratio_lies_within_the_bounds() {
    let (mut told, mut untold) = (0, 0);
    for host in (0..60).map(|step| 30_000 + step * 777_777) {
        for (start, factor) in [(0, 1.0), (511_999, 1.0), (300_000, 3.7), (1, 1.03)] {
            let flash = (host as f64 * factor) as u64;
            let count = |bytes: u64| bytes.div_ceil(UNIT);
            let before = WearFacts {
                flash_written_unit_bytes: Some(UNIT),
                ..written(count(start), count(start) * UNIT)
            };
            let after = WearFacts {
                flash_written_unit_bytes: Some(UNIT),
                ..written(count(start + host), count(start + flash) * UNIT)
            };
            match one(before, after).write_amplification {
                Some(found) => {
                    told += 1;
                    assert!(
                        found.low <= factor && factor <= found.high,
                        "{host} {factor} {found:?}"
                    );
                }
                None => untold += 1,
            }
        }
    }
    assert!(told > 150 && untold > 10, "told {told}, not told {untold}");
}

#[test]
fn one_unit_of_difference_is_no_ratio() {
    for (units, flash) in [(0, 0), (0, UNIT), (1, UNIT), (2, 2 * UNIT), (100, 0)] {
        let change = one(written(10, 0), written(10 + units, flash));
        assert_eq!(change.write_amplification, None, "{units} units");
    }
    let backwards = one(written(10, 0), written(9, 5));
    assert_eq!((backwards.written_bytes, backwards.write_amplification), (None, None));
}

#[test]
fn what_was_written_while_the_target_was_closed_is_left_out() {
    let all = [
        reading(0, true, written(100, 0)),
        reading(1, false, written(200, 0)),
        reading(1, true, written(900, 0)),
        reading(2, false, written(1000, 0)),
    ];
    assert_eq!(changes(&all)[0].written_bytes, Some(200 * UNIT));
}

/// A run file may hold anything.
#[test]
fn absurd_counts_give_no_number_and_no_panic() {
    let most = |bytes| WearFacts {
        written_bytes: Some(bytes),
        written_unit_bytes: Some(u64::MAX),
        flash_written_bytes: Some(bytes),
        flash_written_unit_bytes: Some(u64::MAX),
        ..WearFacts::default()
    };
    let all = [
        reading(0, true, most(0)),
        reading(1, false, most(u64::MAX)),
        reading(1, true, most(0)),
        reading(2, false, most(u64::MAX)),
    ];
    for readings in [&all[..2], &all[..]] {
        let change = &changes(readings)[0];
        assert_eq!(change.write_amplification, None, "{change:?}");
        assert_eq!(change.written_bytes, (readings.len() == 2).then_some(u64::MAX));
    }
}

fn said(before: WearFacts, after: WearFacts) -> Vec<(String, bool)> {
    let events = one(before, after).events;
    events.into_iter().map(|event| (event.text, event.is_suspicious)).collect()
}

#[test]
fn what_grew_is_said_and_what_did_not_is_not() {
    let before = WearFacts {
        media_errors: Some(3),
        link_errors: Some(900),
        pending_sectors: Some(8),
        power_cycles: Some(5),
        throttled_s: Some(10),
        error_entries: Some(4),
        critical_warning: 0b100,
        failing: Some(false),
        ..WearFacts::default()
    };
    assert!(said(before.clone(), before.clone()).is_empty());
    let after = WearFacts {
        media_errors: Some(4),
        pending_sectors: Some(0),
        throttled_s: Some(44),
        error_entries: Some(6),
        critical_warning: 0b110,
        failing: Some(true),
        ..before.clone()
    };
    let expected = [
        ("failed once to read or write data", true),
        ("was slowed down for 34 seconds by its temperature", true),
        ("noted 2 errors in its log", false),
        ("began to warn: it is, or was, too hot or too cold", true),
        ("began to say of itself that it fails", true),
    ];
    let expected = expected.map(|(text, is_suspicious)| (text.to_owned(), is_suspicious));
    assert_eq!(said(before.clone(), after), expected);
    let unheard = WearFacts { media_errors: None, ..before.clone() };
    assert!(said(unheard, before).is_empty(), "what was not told before has not grown");
}

/// Each count that grows by one, alone: what is said, and whether numbers are suspect for it.
#[test]
fn each_count_has_its_own_words() {
    type Planted = (fn(&mut WearFacts, u64), &'static str, bool);
    let all: [Planted; 13] = [
        (|it, n| it.media_errors = Some(n), "failed once to read or write data", true),
        (|it, n| it.reallocated_sectors = Some(n), "replaced 1 sector", true),
        (|it, n| it.pending_sectors = Some(n), "could not read 1 sector", true),
        (|it, n| it.unreadable_sectors = Some(n), "could not read 1 sector in a scan", true),
        (|it, n| it.link_errors = Some(n), "had 1 transfer damaged on the way", true),
        (|it, n| it.throttled_times = Some(n), "slowed itself down once", true),
        (|it, n| it.throttled_s = Some(n), "was slowed down for 1 second", true),
        (|it, n| it.warm_minutes = Some(n as u32), "above its warning temperature for 1", true),
        (|it, n| it.hot_minutes = Some(n as u32), "above its critical temperature for 1", true),
        (|it, n| it.unsafe_shutdowns = Some(n), "lost its power once without notice", true),
        (|it, n| it.power_cycles = Some(n), "was turned on once", true),
        (|it, n| it.bad_blocks = Some(n), "gave up 1 block of its flash", false),
        (|it, n| it.error_entries = Some(n), "noted 1 error in its log", false),
    ];
    for (plant, words, is_suspicious) in all {
        let wear = |count| {
            let mut wear = WearFacts::default();
            plant(&mut wear, count);
            wear
        };
        let said = said(wear(7), wear(8));
        assert_eq!(said.len(), 1, "{words}: {said:?}");
        assert!(said[0].0.contains(words) && said[0].1 == is_suspicious, "{said:?}");
    }
}

/// What is new in the log of errors is told: no more than was counted, and nothing that was there.
#[test]
fn errors_that_came_meanwhile_are_those_of_the_log() {
    let entry = |number: u64| ErrorEntry {
        number,
        status_code: 2,
        status: "a field that it does not take".into(),
        namespace: Some(1),
        ..ErrorEntry::default()
    };
    let wear = |count: u64, numbers: &[u64]| WearFacts {
        error_entries: Some(count),
        errors: numbers.iter().map(|number| entry(*number)).collect(),
        ..WearFacts::default()
    };
    let words = "a field that it does not take (002h) on namespace 1";
    let told = |before: WearFacts, after: WearFacts| said(before, after).remove(0).0;
    let single = told(wear(7, &[7, 6]), wear(8, &[8, 7, 6]));
    assert_eq!(single, format!("noted 1 error in its log: {words}"));
    let two = told(wear(7, &[7]), wear(9, &[9, 8, 7]));
    assert_eq!(two, format!("noted 2 errors in its log, the newest: {words}"));
    assert_eq!(told(wear(7, &[7]), wear(8, &[7])), "noted 1 error in its log", "none is new");
    assert_eq!(told(wear(0, &[]), wear(1, &[])), "noted 1 error in its log", "it keeps none");
    assert_eq!(one(wear(7, &[7]), wear(9, &[9, 8, 7])).errors, [entry(9), entry(8)]);
    assert_eq!(one(wear(7, &[]), wear(8, &[8, 7, 6])).errors, [entry(8)], "one was counted");
    assert_eq!(one(wear(7, &[7]), wear(7, &[7])).errors, []);
}

#[test]
fn what_the_kernel_sent_is_added_over_the_times_that_the_target_was_open() {
    let mut all = [
        reading(0, true, written(10, 0)),
        reading(1, false, written(20, 0)),
        reading(1, true, written(30, 0)),
        reading(2, false, written(31, 0)),
    ];
    let sent = [100, 100 + 10 * UNIT, 7, 7 + 9 * UNIT].map(Some);
    for (reading, sent) in all.iter_mut().zip(sent) {
        reading.drives[0].kernel_written_bytes = sent;
    }
    let change = changes(&all).remove(0);
    assert_eq!(change.kernel_written_bytes, Some(19 * UNIT));
    let codes: Vec<&str> = change.events.iter().map(|event| event.code.as_str()).collect();
    assert_eq!(codes, ["counted_less"], "the second time");
    all[2].drives[0].kernel_written_bytes = None;
    let change = changes(&all).remove(0);
    assert_eq!((change.kernel_written_bytes, change.events), (None, vec![]));
}
