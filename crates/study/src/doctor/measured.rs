//! What was measured: the clock, the generator's ceiling, the noise floor.

use super::Checks;
use drivelab_core::fitness::{Noise, Observations};
use drivelab_core::quantity::{count, digits, half_width, operations, time};

/// A reading that costs more than this shows in the latencies of fast drives.
const READ_NS: f64 = 100.0;
/// Coarser steps than this round latencies.
const STEP_NS: u64 = 1_000;
/// Clock sources of the kernel that cost no exit to a device.
const CHEAP_SOURCES: [&str; 4] =
    ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];
/// What one worker should be able to issue, and what it must.
const CEILING: f64 = 1e6;
const CEILING_LOW: f64 = 2e5;
/// Pauses and late wake-ups that are worth a word, and those that spoil tails.
const PAUSE_NOTE_NS: u64 = 1_000_000;
const PAUSE_WARNING_NS: u64 = 10_000_000;
const LATE_NOTE_NS: u64 = 100_000;
const LATE_WARNING_NS: u64 = 1_000_000;

impl Checks {
    /// How time is read.
    pub(super) fn clock(&mut self, seen: &Observations) {
        let clock = &seen.clock;
        let kernel = seen.facts.host.clocksource.as_deref();
        let name = "clock";
        let Some(read_ns) = clock.read_ns else {
            return self.unknown(name, "it was not measured");
        };
        let agreement = match clock.disagreement_ppm {
            Some(ppm) => format!(", {} ppm from the kernel's", digits(ppm.abs())),
            None => String::new(),
        };
        let found = format!(
            "{} ({}), {} a reading{agreement}; kernel clock source {}",
            clock.source,
            clock.reason,
            time(read_ns),
            kernel.unwrap_or("unknown")
        );
        let is_cheap = kernel.is_none_or(|source| CHEAP_SOURCES.contains(&source));
        match (read_ns > READ_NS, is_cheap) {
            (true, _) | (_, false) => self.warning(
                name,
                found,
                "Each I/O is stamped three times: find out why the kernel does not use the TSC.",
            ),
            (false, true) if clock.source == "monotonic" => {
                self.note(name, found, "Stamps cost a little more than with the TSC.");
            }
            (false, true) => self.fine(name, found),
        }
        let name = "clock step";
        match seen.clock_step_ns {
            None => self.bad(name, "the clock did not advance", "No time can be measured here."),
            Some(step) if step > STEP_NS => self.warning(
                name,
                format!("{}: shorter times are rounded", time(step as f64)),
                "Latencies of fast drives are coarse here.",
            ),
            Some(step) => self.fine(name, time(step as f64)),
        }
    }

    /// The generator and the noise floor.
    pub(super) fn measured(&mut self, seen: &Observations) {
        self.ceiling(seen);
        match &seen.noise {
            None => self.unknown("pauses", "the noise could not be measured"),
            Some(noise) => {
                self.pauses(noise);
                self.wake_ups(noise);
            }
        }
    }

    fn ceiling(&mut self, seen: &Observations) {
        let name = "generator ceiling";
        let Some(ceiling) = &seen.ceiling else {
            return self.unknown(name, "the null engine could not be run");
        };
        let found = format!(
            "{} ({}) without a drive, one worker at depth 32",
            operations(ceiling.value),
            half_width(ceiling)
        );
        let advice = "Use more --workers for drives that come near to it.";
        match ceiling.value {
            value if value < CEILING_LOW => self.warning(name, found, advice),
            value if value < CEILING => self.note(name, found, advice),
            _ => self.fine(name, found),
        }
    }

    fn pauses(&mut self, noise: &Noise) {
        let name = "pauses";
        let found = format!(
            "CPU {} was interrupted {} times for more than 100 µs in {} s, at most for {}",
            noise.cpu,
            count(noise.pauses_over_100_us),
            digits(noise.seconds),
            time(noise.pause_ns_longest as f64)
        );
        let advice = "Latencies up to that may be the machine's; keep --cpus free of other work.";
        match noise.pause_ns_longest {
            longest if longest > PAUSE_WARNING_NS => self.warning(name, found, advice),
            longest if longest > PAUSE_NOTE_NS => self.note(name, found, advice),
            _ => self.fine(name, found),
        }
    }

    fn wake_ups(&mut self, noise: &Noise) {
        let name = "wake-ups";
        if noise.wake_ups == 0 {
            return self.unknown(name, "no sleep of 1 ms ended in time");
        }
        let found = format!(
            "{} sleeps of 1 ms ended {} late (median), at worst {}",
            count(noise.wake_ups),
            time(noise.wake_up_late_ns_median as f64),
            time(noise.wake_up_late_ns_max as f64)
        );
        let advice = "An open loop issues that late; its response times count it.";
        let (median, worst) = (noise.wake_up_late_ns_median, noise.wake_up_late_ns_max);
        if median > LATE_WARNING_NS || worst > PAUSE_WARNING_NS {
            self.warning(name, found, advice);
        } else if median > LATE_NOTE_NS || worst > PAUSE_NOTE_NS {
            self.note(name, found, advice);
        } else {
            self.fine(name, found);
        }
    }
}
