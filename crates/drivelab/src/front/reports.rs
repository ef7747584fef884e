//! What the kernel counts, interval by interval, in a tool's own layout. Nothing is issued.

use super::drivelab_options::Notes;
use super::world::RealWorld;
use crate::outcome::Failure;
use crate::print;
use drivelab_compat::counters::{Counters, parse_cpu, parse_diskstats, parse_uptime};
use drivelab_compat::front::Note;
use drivelab_compat::front_end::Reports;
use std::time::{Duration, Instant};

/// How often a waiting loop looks for Ctrl-C.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Prints the reports that were asked for. Gives the exit status.
pub fn print(
    reports: &dyn Reports,
    notes: &[Note],
    wanted: Notes,
    world: &RealWorld,
) -> Result<u8, Failure> {
    if wanted != Notes::None {
        notes.iter().for_each(|note| print::error(&format!("note: {note}")));
    }
    if wanted == Notes::Only {
        return Ok(0);
    }
    let host = world.host_now();
    print::verbatim(&reports.opening(&host));
    let begin = Instant::now();
    let mut before = None;
    let mut after = counters()?;
    let mut seconds = after.uptime_s;
    let mut shown = 0u64;
    for sample in 1u32.. {
        let is_reference = sample == 1 && reports.skips_first();
        if !is_reference {
            if shown > 0 {
                print::verbatim(reports.between());
            }
            let host = world.host_now();
            print::verbatim(&reports.report(&host, before.as_ref(), &after, seconds));
            shown += 1;
        }
        let Some(interval_s) = reports.interval_s() else { break };
        let is_over = reports.count().is_some_and(|count| shown >= count) || !print::is_heard();
        if is_over || !wait(begin, interval_s, sample) {
            break;
        }
        let next = counters()?;
        seconds = next.uptime_s - after.uptime_s;
        before = Some(std::mem::replace(&mut after, next));
    }
    print::verbatim(reports.closing());
    Ok(0)
}

/// Waits for the time of a sample; false if it was interrupted.
fn wait(begin: Instant, interval_s: u64, sample: u32) -> bool {
    let until = due(begin, interval_s, sample);
    while !drivelab_io::signal::interrupted() {
        let now = Instant::now();
        // What is beyond the clock never comes.
        let left = until.map_or(LOOK_AROUND, |until| until.saturating_duration_since(now));
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK_AROUND));
    }
    false
}

/// When a sample is taken; absent where the clock does not go that far.
fn due(begin: Instant, interval_s: u64, sample: u32) -> Option<Instant> {
    begin.checked_add(Duration::from_secs(interval_s).checked_mul(sample)?)
}

fn counters() -> Result<Counters, Failure> {
    let text = |path: &str| {
        std::fs::read_to_string(path)
            .map_err(|error| Failure::invalid(format!("{path} cannot be read: {error}")))
    };
    let mut devices = parse_diskstats(&text("/proc/diskstats")?);
    for device in devices.iter_mut().filter(|device| device.name.starts_with("dm-")) {
        let name = text(&format!("/sys/block/{}/dm/name", device.name)).ok();
        device.mapped_name = name.map(|name| name.trim().to_string());
    }
    Ok(Counters {
        devices,
        cpu: parse_cpu(&text("/proc/stat")?),
        uptime_s: parse_uptime(&text("/proc/uptime")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_may_be_longer_than_the_clock() {
        let begin = Instant::now();
        assert_eq!(due(begin, 2, 3), Some(begin + Duration::from_secs(6)));
        assert_eq!(due(begin, u64::MAX, 1), None);
        assert_eq!(due(begin, u64::MAX, 2), None);
    }
}
