//! Large reads of a drive that was written in random order.

use crate::load::{Bench, KIB, operations, random};
use crate::page::{Table, difference, number, signed_percent};
use drivelab_core::plan::Mix;
use drivelab_sim::flash;
use drivelab_sim::profile::Profile;
use drivelab_stats::Random;

const RECORDS: u64 = 2_000;

/// Most units that one die holds of a record whose units fell on dies at random, on average.
fn fullest_die(units: u64, dies: u64) -> f64 {
    let mut random = Random::new(31);
    let mut sum = 0;
    for _ in 0..RECORDS {
        let mut held = vec![0u64; dies as usize];
        for _ in 0..units {
            held[random.below(dies) as usize] += 1;
        }
        sum += held.into_iter().max().unwrap_or(0);
    }
    sum as f64 / RECORDS as f64
}

/// Fragmentation.
pub fn section() -> Result<String, String> {
    let parameters: flash::Parameters = Profile::embedded("textbook")?.section("parameters")?;
    let dies = u64::from(parameters.dies());
    let mut table = Table::new(&[
        "record",
        "fullest die, units: in order, at random",
        "predicted",
        "simulated, records/s: in order, at random",
        "simulated",
    ]);
    for record in [256 * KIB, 1024 * KIB, 4096 * KIB] {
        let units = record / parameters.map_unit_bytes;
        let (even, uneven) = (units.div_ceil(dies) as f64, fullest_die(units, dies));
        let fixed_ns = parameters.command_ns as f64
            + record as f64 * 1e9 / parameters.link_bytes_per_s as f64
            + parameters.page_bytes as f64 * 1e9 / parameters.channel_bytes_per_s as f64;
        let time = |sensed: f64| fixed_ns + sensed * parameters.read_ns as f64;
        let rate = |state: &str| -> Result<f64, String> {
            let mut bench = Bench::of(&format!("textbook,capacity=4GiB,state={state}"))?;
            Ok(bench.run(random(Mix::READ, record, 1), operations(RECORDS))?.iops())
        };
        let (ordered, scattered) = (rate("filled")?, rate("random-filled")?);
        table.row(&[
            format!("{} KiB", record / KIB),
            format!("{}, {}", number(even), number(uneven)),
            signed_percent(time(even) / time(uneven) - 1.0),
            format!("{}, {}", number(ordered), number(scattered)),
            difference(scattered, ordered),
        ]);
    }
    Ok(format!(
        "### Fragmentation\n\nRandom reads of large records at depth 1: the textbook drive filled \
         in order, where a record lies evenly on its {dies} dies, and filled at random, where the \
         fullest die decides. Predicted: balls thrown into bins, command and link as they are. \
         (Published for an Intel X25-E after a long torture: 13 to 15 % less for random reads of \
         4 MiB and more, 22 to 23 % less for reads with a stride.)\n\n{}",
        table.text()
    ))
}
