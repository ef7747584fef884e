//! Did the machine let the load and the drive do what they can?

use super::Case;
use crate::observed::{IoLimit, LimitedRate};
use crate::quantity::{bandwidth, operations, percent, time};

/// Of the time, a quota that stops us for longer than this shows in the numbers.
const STOPPED_SHARE: f64 = 0.001;
/// A rate this near to a limit is the limit.
const LIMIT_SHARE: f64 = 0.9;
/// Pressure and stolen time are worth a word from these shares on.
const PRESSURE_SHARE: f64 = 0.1;
const STEAL_SHARE: f64 = 0.05;

impl Case<'_> {
    /// Everything about the machine.
    pub(super) fn machine(&mut self) {
        self.cpu_quota();
        self.io_quota();
        self.pressure();
        self.steal();
        self.heat();
        for change in &self.observed.link_changes {
            let text = format!(
                "the link of {} went from {} to {} during the step",
                change.device, change.before, change.after
            );
            self.suspect("link_changed", text);
        }
    }

    fn cpu_quota(&mut self) {
        let Some(throttle) = self.observed.cpu_throttled else {
            return self.unchecked("cpu_quota", "CPU quotas: our control group cannot be read");
        };
        let share = throttle.stopped_us as f64 * 1e3 / self.observed.span_ns.max(1) as f64;
        if share > STOPPED_SHARE {
            let text = format!(
                "a CPU quota of our control group stopped this process in {} periods, {} in all: \
                 the container was measured, not the drive",
                throttle.periods,
                time(throttle.stopped_us as f64 * 1e3)
            );
            self.suspect("cpu_quota", text);
        }
    }

    fn io_quota(&mut self) {
        let (mut found, mut unseen) = (Vec::new(), Vec::new());
        for limit in &self.observed.io_limits {
            let Some(rate) = self.rate_under(limit) else {
                unseen.push(format!(
                    "whether the limit of control group {} on device {} was reached: the kernel \
                     keeps no I/O counters for it",
                    limit.group, limit.device
                ));
                continue;
            };
            if rate > LIMIT_SHARE * limit.per_second as f64 {
                let (most, what) = said(limit);
                found.push(format!(
                    "control group {} allows {most} {what} on this device, and that is what was \
                     reached: the limit was measured, not the drive",
                    limit.group
                ));
            }
        }
        found.into_iter().for_each(|text| self.suspect("io_quota", text));
        unseen.into_iter().for_each(|text| self.unchecked("io_quota", text));
    }

    /// The rate that a limit bounds, from the kernel's counters of its device; `None` where it
    /// does not count.
    fn rate_under(&self, limit: &IoLimit) -> Option<f64> {
        let mut devices = self.end.devices.iter().filter(|device| !device.uncounted);
        let device = devices.find(|device| device.number == limit.device)?;
        let count = match limit.what {
            LimitedRate::ReadBytes => device.read_bytes,
            LimitedRate::WrittenBytes => device.written_bytes,
            LimitedRate::Reads => device.reads,
            LimitedRate::Writes => device.writes,
        };
        Some(count as f64 * 1e9 / self.observed.span_ns.max(1) as f64)
    }

    fn pressure(&mut self) {
        let share = |us: u64| us as f64 * 1e3 / self.observed.span_ns.max(1) as f64;
        let high: Vec<String> = self
            .observed
            .pressure
            .iter()
            // Waiting for I/O is what a measurement does.
            .filter(|span| matches!(span.resource.as_str(), "cpu" | "memory"))
            .filter(|span| share(span.some_us) > PRESSURE_SHARE)
            .map(|span| {
                let what = if span.resource == "cpu" { "a CPU" } else { "memory" };
                format!("{what} {}", percent(share(span.some_us)))
            })
            .collect();
        if !high.is_empty() && self.is_long_enough() {
            let text = format!("programs waited for {} of the time", high.join(" and "));
            self.note("pressure", text);
        }
    }

    fn steal(&mut self) {
        if let Some(share) = self.observed.steal_share.filter(|share| *share > STEAL_SHARE) {
            let text = format!(
                "the hypervisor gave {} of the CPU time to others: latencies include its pauses",
                percent(share)
            );
            self.note("steal", text);
        }
    }

    fn heat(&mut self) {
        let too_hot = |reading: &&crate::observed::Temperature| {
            reading.celsius_max.is_some_and(|most| reading.celsius >= most)
        };
        if let Some(reading) = self.observed.temperatures.iter().find(too_hot) {
            let text = format!(
                "{} reached {:.0} °C, its warning threshold: it may have slowed itself down",
                reading.device, reading.celsius
            );
            self.suspect("hot", text);
        }
        let known = !self.observed.temperatures.is_empty();
        if !known && self.top_device().is_some() {
            self.unchecked("temperature", "the temperature: the drive does not report it");
        }
    }
}

fn said(limit: &IoLimit) -> (String, &'static str) {
    let rate = limit.per_second as f64;
    match limit.what {
        LimitedRate::ReadBytes => (bandwidth(rate), "of reads"),
        LimitedRate::WrittenBytes => (bandwidth(rate), "of writes"),
        LimitedRate::Reads => (operations(rate), "of reads"),
        LimitedRate::Writes => (operations(rate), "of writes"),
    }
}
