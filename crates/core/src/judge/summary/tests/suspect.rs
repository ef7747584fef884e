//! Which repetitions a cell rests on when some are suspect.

use super::*;
use crate::facts::TargetKind;
use crate::observed::Observed;

/// Repetitions with 100, 110, … operations, during the first `suspect` of which the clock strayed.
fn partly_suspect(suspect: usize, all: usize) -> Bench {
    let counts: Vec<u64> = (0..all as u64).map(|place| 100 + 10 * place).collect();
    let mut bench = repeated(&counts);
    bench.run.begin.facts.target.kind = TargetKind::BlockDevice;
    for step in &mut bench.run.steps[..suspect] {
        let observed = Observed { clock_strayed_ns: Some(1_000_000_000), ..Observed::default() };
        step.end.as_mut().unwrap().observed = Some(observed);
    }
    bench
}

#[test]
fn suspect_repetitions_are_left_out_where_three_others_stand_and_are_the_larger_part() {
    let cell = &partly_suspect(2, 5).summary().cells[0];
    assert_eq!((cell.repetitions, cell.suspect, cell.valid), (3, 2, None));
    assert_eq!(cell.steps, [2, 3, 4]);
    let read = &cell.streams[0].kinds[&Action::Read];
    assert_eq!((read.rates.ops, read.merged.service_ns.unwrap().count), (390, 390));
    near(read.rates.iops.unwrap().value, 130.0);
    assert_eq!(cell.reasons, []);
    assert_eq!(cell.notes[0].code, "suspect_left_out");
    assert!(cell.notes[0].text.starts_with("2 of 5 repetitions were suspect and left out: "));

    let cell = &partly_suspect(1, 3).summary().cells[0];
    assert_eq!((cell.repetitions, cell.suspect, cell.valid), (3, 0, Some(false)));
    let cell = &partly_suspect(3, 6).summary().cells[0];
    assert_eq!((cell.repetitions, cell.suspect, cell.valid), (6, 0, Some(false)));

    let mut corrupt = partly_suspect(2, 5);
    corrupt.run.steps[0].tallies[0].mismatched = 1;
    let cell = &corrupt.summary().cells[0];
    assert_eq!((cell.repetitions, cell.suspect, cell.valid), (5, 0, Some(false)));
}
