//! A cloud volume: token buckets in front of a service that is never busy itself.
//!
//! Operations are admitted in order of arrival, each when the limits on operations, on credits and
//! on bytes have what it takes, and end a base latency later; any number are in service at once.
//! Tokens are counted in billionths, which a whole number of operations a second adds each
//! nanosecond without remainder: the second in which credits run out is exact.

use crate::drive::{Drive, Ends, Ticket, Way};
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::stages::Stage;
use drivelab_stats::Random;
use serde::{Deserialize, Serialize};

/// Billionths of a token in a token.
const BILLION: i128 = 1_000_000_000;

/// The parameters of a volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeParameters {
    /// Bytes a host can address.
    pub user_bytes: u64,
    /// Operations a second that a volume of any size has.
    pub iops_base: u64,
    /// Operations a second that each GiB adds.
    pub iops_per_gib: u64,
    /// Least operations a second.
    pub iops_min: u64,
    /// Most operations a second.
    pub iops_max: u64,
    /// What the limiter lets through above the promise, in thousandths.
    pub iops_slack_per_mille: u64,
    /// Operations a second while there are credits; 0: no more than without.
    pub iops_burst: u64,
    /// Most credits, each worth one operation.
    pub credits_max: u64,
    /// Credits at the beginning.
    pub credits_initial: u64,
    /// Bytes a second.
    pub bandwidth_bytes_per_s: u64,
    /// Bytes that may pass at once after a pause.
    pub bandwidth_burst_bytes: u64,
    /// A longer operation counts as several of this length.
    pub io_unit_bytes: u64,
    /// Time of a read without any limit.
    pub read_ns: u64,
    /// Time of a write without any limit.
    pub write_ns: u64,
    /// Most that is added to these; uniform from 0 on.
    pub jitter_ns: u64,
}

impl VolumeParameters {
    /// Operations a second that this volume sustains.
    pub fn iops(&self) -> u64 {
        let of_size = self.iops_base + self.iops_per_gib * (self.user_bytes >> 30);
        let promised = of_size.clamp(self.iops_min, self.iops_max);
        promised * (1_000 + self.iops_slack_per_mille) / 1_000
    }

    /// Whether every value is in its range.
    ///
    /// # Errors
    /// Names the first that is not, and its constraint.
    pub fn validate(&self) -> Result<(), String> {
        for (name, value, least, most) in [
            ("user_bytes", self.user_bytes, 1 << 20, 1 << 60),
            ("iops_base", self.iops_base, 0, 1_000_000_000),
            ("iops_per_gib", self.iops_per_gib, 0, 1_000_000),
            ("iops_min", self.iops_min, 1, self.iops_max),
            ("iops_max", self.iops_max, 1, 1_000_000_000),
            ("iops_slack_per_mille", self.iops_slack_per_mille, 0, 10_000),
            ("iops_burst", self.iops_burst, 0, 1_000_000_000),
            ("credits_max", self.credits_max, 0, 1 << 50),
            ("credits_initial", self.credits_initial, 0, self.credits_max),
            ("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, 1, 1 << 50),
            ("bandwidth_burst_bytes", self.bandwidth_burst_bytes, 1, 1 << 50),
            ("io_unit_bytes", self.io_unit_bytes, 512, 1 << 40),
            ("read_ns", self.read_ns, 1, 60_000_000_000),
            ("write_ns", self.write_ns, 1, 60_000_000_000),
            ("jitter_ns", self.jitter_ns, 0, 60_000_000_000),
        ] {
            if value < least || value > most {
                return Err(format!("{name} must be from {least} to {most}; it is {value}"));
            }
        }
        if (self.iops_burst > 0) != (self.credits_max > 0) {
            return Err(format!(
                "iops_burst and credits_max must both be 0 or both above; they are {} and {}",
                self.iops_burst, self.credits_max
            ));
        }
        Ok(())
    }
}

/// A bucket into which tokens fall evenly.
#[derive(Debug, Clone)]
struct Bucket {
    /// Tokens a second, which is billionths a nanosecond.
    rate: i128,
    /// Billionths that it holds at most.
    capacity: i128,
    /// Billionths that it held at `at`; below 0 after an operation that takes more than it holds.
    level: i128,
    at: Time,
}

impl Bucket {
    fn new(rate: u64, capacity: u64, initial: u64) -> Self {
        Self {
            rate: i128::from(rate),
            capacity: i128::from(capacity) * BILLION,
            level: i128::from(initial) * BILLION,
            at: 0,
        }
    }

    fn level_at(&self, now: Time) -> i128 {
        let fallen = i128::from(now.saturating_sub(self.at)) * self.rate;
        // Waits are whole nanoseconds: what fell beyond the need in the last of them must stay.
        (self.level + fallen).min(self.capacity + self.rate - 1).max(self.level)
    }

    /// The first time from `now` on at which it has `tokens`, or is full where it holds fewer.
    fn ready_at(&self, now: Time, tokens: u64) -> Time {
        let need = (i128::from(tokens) * BILLION).min(self.capacity);
        let lack = need - self.level_at(now);
        match lack > 0 {
            true => now + ((lack + self.rate - 1) / self.rate) as u64,
            false => now,
        }
    }

    fn take(&mut self, at: Time, tokens: u64) {
        self.level = self.level_at(at) - i128::from(tokens) * BILLION;
        self.at = at;
    }
}

/// A cloud volume.
#[derive(Debug, Clone)]
pub struct Volume {
    parameters: VolumeParameters,
    /// Operations a second that are let through in any case.
    operations: Bucket,
    /// Credits, where a burst draws on them.
    credits: Option<Bucket>,
    bytes: Bucket,
    /// When the last operation was admitted.
    admitted_at: Time,
    random: Random,
    inside: Inside,
}

impl Volume {
    /// A volume; the seed draws the jitter.
    ///
    /// # Errors
    /// Names the parameter that is out of range and its constraint.
    pub fn new(parameters: VolumeParameters, seed: u64) -> Result<Self, String> {
        parameters.validate()?;
        let sustained = parameters.iops();
        let bursts = parameters.iops_burst > sustained;
        let peak = if bursts { parameters.iops_burst } else { sustained };
        let burst_bytes = parameters.bandwidth_burst_bytes;
        Ok(Self {
            operations: Bucket::new(peak, 1, 1),
            credits: bursts.then(|| {
                Bucket::new(sustained, parameters.credits_max, parameters.credits_initial)
            }),
            bytes: Bucket::new(parameters.bandwidth_bytes_per_s, burst_bytes, burst_bytes),
            admitted_at: 0,
            random: Random::new(seed),
            inside: Inside::default(),
            parameters,
        })
    }

    /// When an operation of `tokens` and `bytes` that came at `now` is admitted.
    fn admit(&mut self, now: Time, tokens: u64, bytes: u64) -> Time {
        let now = now.max(self.admitted_at);
        let mut at = self.operations.ready_at(now, tokens).max(self.bytes.ready_at(now, bytes));
        if let Some(credits) = &self.credits {
            at = at.max(credits.ready_at(now, tokens));
        }
        self.operations.take(at, tokens);
        self.bytes.take(at, bytes);
        if let Some(credits) = &mut self.credits {
            credits.take(at, tokens);
        }
        self.admitted_at = at;
        at
    }
}

impl Drive for Volume {
    fn bytes(&self) -> u64 {
        self.parameters.user_bytes
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, _way: Way, ends: &mut Ends) {
        let bytes = u64::from(op.len);
        let moved = match op.action {
            Action::Read | Action::Write => bytes,
            _ => 0,
        };
        // A flush has nothing to wait for: what has ended is durable.
        let admitted_at = match op.action {
            Action::Flush => now,
            _ => {
                let tokens = moved.div_ceil(self.parameters.io_unit_bytes).max(1);
                self.admit(now, tokens, moved)
            }
        };
        let base_ns = match op.action {
            Action::Read => self.parameters.read_ns,
            _ => self.parameters.write_ns,
        };
        if op.action == Action::Write {
            self.inside.host_units += bytes.div_ceil(512);
        }
        let service_ns = base_ns + self.random.below(self.parameters.jitter_ns + 1);
        let cause = if admitted_at - now > service_ns { Cause::Credits } else { Cause::Network };
        let total_ns = admitted_at + service_ns - now;
        ends.tell(ticket, total_ns, &[(Stage::Network, service_ns)]);
        ends.push(admitted_at + service_ns, ticket, cause);
    }

    fn inside(&mut self, now: Time) -> Inside {
        let level = self.credits.as_ref().map_or(0, |credits| credits.level_at(now));
        let left = level.clamp(0, i128::from(self.parameters.credits_max) * BILLION);
        Inside { credits: left as f64 / BILLION as f64, ..self.inside }
    }
}
