//! When the next operation is due in an open loop.

use crate::op::Time;
use drivelab_stats::Random;

/// Due times of one worker: equal or exponential gaps around the same mean.
#[derive(Debug, Clone)]
pub struct Arrivals {
    mean_gap_ns: f64,
    first_ns: f64,
    count: u64,
    sum_ns: f64,
    poisson: Option<Random>,
}

impl Arrivals {
    /// `rate` operations per second over `workers`; equal gaps of different workers interleave.
    pub fn new(rate: f64, poisson: bool, worker: u32, workers: u32, seed: u64) -> Self {
        let workers = f64::from(workers.max(1));
        let mean_gap_ns = 1e9 * workers / rate;
        Arrivals {
            mean_gap_ns,
            first_ns: mean_gap_ns * f64::from(worker) / workers,
            count: 0,
            sum_ns: 0.0,
            poisson: poisson.then(|| Random::new(seed)),
        }
    }

    /// The next due time, in nanoseconds after the step began.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    #[inline]
    pub fn next(&mut self) -> Time {
        if let Some(random) = &mut self.poisson {
            self.sum_ns += random.exponential(self.mean_gap_ns);
            return self.sum_ns as Time;
        }
        let due = self.first_ns + self.count as f64 * self.mean_gap_ns;
        self.count += 1;
        due as Time
    }
}
