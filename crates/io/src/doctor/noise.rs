//! The restlessness of the machine: how long a thread that never waits is stopped, and how late
//! one that sleeps is woken.

use crate::clock::{Clock, pause};
use crate::cpus;
use drivelab_core::fitness::Noise;
use drivelab_core::queue::Trouble;
use std::num::NonZeroU64;

const LOOP_NS: u64 = 2_000_000_000;
const SLEEPS_NS: u64 = 1_500_000_000;
const SLEEP_NS: u64 = 1_000_000;
/// Pauses are counted from this length on.
const PAUSE_NS: u64 = 100_000;
/// Readings for the step of the clock.
const READINGS: u32 = 20_000;

/// The smallest difference between two readings that is not 0; `None` where all were equal.
pub fn clock_step_ns(clock: &Clock) -> Option<u64> {
    let mut last = clock.now();
    let mut least = None;
    for _ in 0..READINGS {
        let now = clock.now();
        let step = now.saturating_sub(last);
        if step > 0 {
            least = Some(least.map_or(step, |known: u64| known.min(step)));
        }
        last = now;
    }
    least
}

/// Measures on a thread of its own, on the last CPU that may be used; takes about 3.5 s.
///
/// # Errors
/// No thread can be started or confined to a CPU.
pub fn noise(clock: &Clock) -> Result<Noise, Trouble> {
    let clock = *clock;
    let failed = |what: &str| Trouble::failed(format!("the noise of the machine: {what}"));
    let cpu = cpus::allowed().last().copied().ok_or_else(|| failed("no CPU may be used"))?;
    let thread = std::thread::Builder::new().name("noise".into()).spawn(move || {
        cpus::confine(&[cpu])?;
        Ok(measure(&clock, cpu))
    });
    let thread = thread.map_err(|error| failed(&error.to_string()))?;
    thread.join().unwrap_or_else(|_| Err(failed("the thread that measures it panicked")))
}

fn measure(clock: &Clock, cpu: usize) -> Noise {
    let mut noise = Noise { cpu, ..Noise::default() };
    let begin = clock.now();
    let mut last = begin;
    while last - begin < LOOP_NS {
        let now = clock.now();
        let gap = now.saturating_sub(last);
        noise.pause_ns_longest = noise.pause_ns_longest.max(gap);
        noise.pauses_over_100_us += u64::from(gap > PAUSE_NS);
        last = now.max(last);
    }
    noise.seconds = (last - begin) as f64 / 1e9;
    // As the workers do: the kernel's slack of 50 µs would be added to each sleep. What cannot be
    // set shows in the figure.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut late = Vec::with_capacity((SLEEPS_NS / SLEEP_NS) as usize);
    let begin = clock.now();
    while clock.now() - begin < SLEEPS_NS {
        let due = clock.now() + SLEEP_NS;
        pause(SLEEP_NS);
        late.push(clock.now().saturating_sub(due));
    }
    late.sort_unstable();
    noise.wake_ups = late.len() as u64;
    noise.wake_up_late_ns_median = late.get(late.len() / 2).copied().unwrap_or(0);
    noise.wake_up_late_ns_max = late.last().copied().unwrap_or(0);
    noise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_measured_and_possible() {
        let (clock, _) = Clock::calibrate();
        let noise = noise(&clock).expect("a CPU");
        assert!(cpus::allowed().contains(&noise.cpu), "{noise:?}");
        assert!((2.0..2.5).contains(&noise.seconds), "{noise:?}");
        assert!(noise.pause_ns_longest > 0 && noise.wake_ups > 100, "{noise:?}");
        assert!(noise.wake_up_late_ns_max >= noise.wake_up_late_ns_median, "{noise:?}");
        let counted = noise.pauses_over_100_us > 0;
        assert_eq!(counted, noise.pause_ns_longest > PAUSE_NS, "{noise:?}");
    }

    #[test]
    fn a_clock_moves_in_small_steps() {
        let (clock, _) = Clock::calibrate();
        let step = clock_step_ns(&clock).expect("time passes");
        assert!(step < 1_000_000, "{step} ns");
    }
}
