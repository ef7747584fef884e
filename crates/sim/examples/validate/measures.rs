//! Figures that calibration rows and predictions are made of.

use crate::load::{Bench, GIB, KIB, Outcome, operations, random, sequential};
use drivelab_core::plan::{Mix, Pattern, Stream};
use drivelab_core::units::Size;
use drivelab_stats::Random;

/// Mean latency in milliseconds.
pub fn latency_ms(outcome: &Outcome) -> Result<f64, String> {
    Ok(outcome.mean_ns()? / 1e6)
}

/// Bandwidth.
pub fn mib_per_s(outcome: &Outcome) -> f64 {
    outcome.bytes as f64 / outcome.seconds / (1024.0 * 1024.0)
}

/// Writes a fresh drive in order: MB/s of the first tenth, GB until the rate has fallen half the
/// way (by ratio) to the last tenth, MB/s of the last tenth.
pub fn fill_rates(target: &str, gibibytes: u64) -> Result<Vec<f64>, String> {
    let mut bench = Bench::of(target)?;
    let size = 128 * KIB;
    let rates: Result<Vec<f64>, String> = (0..gibibytes)
        .map(|part| {
            let stream = Stream {
                offset: Size(part * GIB),
                length: Some(Size(GIB)),
                ..sequential(Mix::WRITE, size, 32)
            };
            Ok(mib_per_s(&bench.run(stream, operations(GIB / size))?) * 1.048_576)
        })
        .collect();
    let rates = rates?;
    let tenth = rates.len() / 10;
    let mean = |part: &[f64]| part.len() as f64 / part.iter().map(|rate| 1.0 / rate).sum::<f64>();
    let (first, last) = (mean(&rates[..tenth]), mean(&rates[rates.len() - tenth..]));
    let middle = libm::sqrt(first * last);
    let fast = rates.iter().take_while(|rate| **rate > middle).count();
    Ok(vec![first, fast as f64 * 1.073_741_824, last])
}

/// Change of the rate in percent between a drive filled in order and the same one after half a pass
/// of random writes.
pub fn changed_by_torture(profile: &str, stream: &Stream) -> Result<f64, String> {
    let rate = |state: &str| {
        let mut bench = Bench::of(&format!("{profile},state={state}"))?;
        // An eighth of the drive, by each stream as a whole.
        let share = bench.bytes() / 8 / stream.size.0 / u64::from(stream.workers);
        Ok::<f64, String>(bench.run(stream.clone(), operations(share.max(1)))?.iops())
    };
    Ok(100.0 * (rate("fragmented")? / rate("filled")? - 1.0))
}

/// One write of ten goes anywhere, the others follow each other, whatever lies between them.
pub fn mostly_sequential(bytes: u64, count: u64) -> Stream {
    let pages = bytes / (4 * KIB);
    let (mut random_place, mut next) = (Random::new(11), 0);
    let offsets = (0..count).map(|_| {
        let page = if random_place.below(10) == 0 {
            random_place.below(pages)
        } else {
            next += 1;
            (next - 1) % pages
        };
        Size(page * 4 * KIB)
    });
    let offsets = offsets.collect();
    Stream { pattern: Pattern::Replay(offsets), ..random(Mix::WRITE, 4 * KIB, 1) }
}
