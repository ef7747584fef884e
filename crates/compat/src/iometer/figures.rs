//! What one worker did in one test, and what several did together.

use super::Place;
use drivelab_core::op::Action;
use drivelab_core::run::StepRun;
use drivelab_core::tally::{KindTally, Phase};

/// Upper ends of the bins of latency in nanoseconds; one more bin holds the rest.
pub const BIN_ENDS_NS: [u64; 20] = [
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    20_000_000,
    30_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    4_700_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// I/Os of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Direction {
    /// Completed.
    pub ios: u64,
    /// Failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of their response times.
    pub total_ns: u128,
    /// The longest.
    pub longest_ns: u64,
}

/// Figures of a worker, or of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Length of the measured window; the longest of several.
    pub run_ns: u64,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// A second, the sums over workers: I/Os and bytes of reads, of writes, and transactions.
    pub rates: [f64; 5],
    /// Requests with their replies, or I/Os where there are none.
    pub transactions: u64,
    /// The longest of them; an upper bound where there are replies.
    pub longest_transaction_ns: u64,
    /// I/Os in each bin of latency.
    pub bins: [u64; BIN_ENDS_NS.len() + 1],
}

impl Direction {
    fn add(&mut self, other: &Direction) {
        self.ios += other.ios;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.total_ns += other.total_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    fn account(&mut self, kind: &KindTally) {
        self.add(&Direction {
            ios: kind.ops,
            errors: kind.error_count(),
            bytes: kind.bytes,
            total_ns: kind.service.sum(),
            longest_ns: kind.service.max(),
        });
    }

    /// Mean response time; 0 without I/Os.
    pub fn mean_ns(&self) -> f64 {
        ratio(self.total_ns as f64, self.ios)
    }
}

fn ratio(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}

impl Figures {
    /// Those of the worker at `place`.
    pub fn of(step: &StepRun, place: &Place) -> Self {
        let mut found = Figures::default();
        let is_mine = |stream: u32, worker: u32| stream == place.stream && worker == place.number;
        let phases = step.end.iter().flat_map(|end| &end.phases);
        for phase in phases.filter(|phase| is_mine(phase.stream, phase.worker)) {
            found.run_ns = window_ns(phase);
        }
        let tallies = step.tallies.iter().filter(|tally| !tally.ramp);
        for tally in tallies.filter(|tally| is_mine(tally.stream, tally.worker)) {
            for kind in &tally.kinds {
                match kind.kind {
                    Action::Read => found.read.account(kind),
                    Action::Write => found.write.account(kind),
                    _ => continue,
                }
                for (low, high, count) in kind.service.iter_nonzero() {
                    // At most 0.1 % wide; a bucket that an end falls into goes by its middle.
                    let middle = low + (high - low) / 2;
                    found.bins[BIN_ENDS_NS.partition_point(|end| *end <= middle)] += count;
                }
            }
        }
        found.transact(place.replies);
        found
    }

    fn transact(&mut self, replies: bool) {
        let ios = self.read.ios + self.write.ios;
        let (reads, writes) = (self.read.longest_ns, self.write.longest_ns);
        (self.transactions, self.longest_transaction_ns) = match replies {
            true => (ios / 2, reads.saturating_add(writes)),
            false => (ios, reads.max(writes)),
        };
        let seconds = self.run_ns as f64 / 1e9;
        let counts =
            [self.read.ios, self.read.bytes, self.write.ios, self.write.bytes, self.transactions];
        self.rates = counts.map(|count| if self.run_ns > 0 { count as f64 / seconds } else { 0.0 });
    }

    /// Those of several together.
    pub fn sum<'a>(several: impl IntoIterator<Item = &'a Figures>) -> Self {
        let mut sum = Figures::default();
        for one in several {
            sum.run_ns = sum.run_ns.max(one.run_ns);
            sum.read.add(&one.read);
            sum.write.add(&one.write);
            for (sum, rate) in sum.rates.iter_mut().zip(one.rates) {
                *sum += rate;
            }
            sum.transactions += one.transactions;
            sum.longest_transaction_ns = sum.longest_transaction_ns.max(one.longest_transaction_ns);
            for (sum, count) in sum.bins.iter_mut().zip(one.bins) {
                *sum += count;
            }
        }
        sum
    }

    /// Both directions together.
    pub fn both(&self) -> Direction {
        let mut both = self.read;
        both.add(&self.write);
        both
    }

    /// Mean time of a transaction; 0 without one.
    pub fn transaction_mean_ns(&self) -> f64 {
        ratio(self.both().total_ns as f64, self.transactions)
    }
}

/// The measured window of a worker.
fn window_ns(phase: &Phase) -> u64 {
    let whole = phase.closed.saturating_sub(phase.measured_from);
    whole.saturating_sub(phase.excluded_ns)
}
