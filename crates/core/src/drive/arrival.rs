//! When the next operation is due in an open loop.

use crate::op::Time;
use crate::plan::{Arrival, Stream};
use drivelab_stats::{Domain, Random};
use std::sync::Arc;

/// Later than anything ends, and far enough from the largest number to be added to a beginning.
const NEVER: Time = Time::MAX / 2;

/// Due times of one worker: equal or exponential gaps around the same mean, or those of a trace.
#[derive(Debug, Clone)]
pub struct Arrivals {
    mean_gap_ns: f64,
    first_ns: f64,
    count: u64,
    sum_ns: f64,
    poisson: Option<Random>,
    traced: Option<Arc<[Time]>>,
}

impl Arrivals {
    /// `rate` operations per second over `workers`; equal gaps of different workers interleave.
    pub fn new(rate: f64, poisson: bool, worker: u32, workers: u32, seed: u64) -> Self {
        let workers = f64::from(workers.max(1));
        let mean_gap_ns = 1e9 * workers / rate;
        debug_assert!(mean_gap_ns.is_finite() && mean_gap_ns > 0.0, "a rate of {rate}");
        debug_assert!(f64::from(worker) < workers, "worker {worker} of {workers}");
        Arrivals {
            mean_gap_ns,
            first_ns: mean_gap_ns * f64::from(worker) / workers,
            count: 0,
            sum_ns: 0.0,
            poisson: poisson.then(|| Random::new(seed)),
            traced: None,
        }
    }

    /// Those of a worker of a stream; `None` in a closed loop.
    pub fn of(stream: &Stream, worker: u32, base: u64) -> Option<Self> {
        let workers = stream.workers.max(1);
        match stream.arrival {
            Arrival::Closed { .. } => None,
            Arrival::Open { rate, poisson } => {
                let seed = Domain::Arrivals.seed(base, u64::from(worker));
                Some(Arrivals::new(rate, poisson, worker, workers, seed))
            }
            Arrival::Trace { pace } => {
                let own = stream.requests().iter().skip(worker as usize);
                let due = own.step_by(workers as usize).map(|it| (it.at_ns as f64 / pace) as Time);
                let traced = Some(due.collect());
                Some(Arrivals { traced, ..Arrivals::new(1.0, false, worker, workers, 0) })
            }
        }
    }

    /// The next due time, in nanoseconds after the step began; behind a trace comes nothing.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    #[inline]
    pub fn next(&mut self) -> Time {
        if let Some(traced) = &self.traced {
            let due = traced.get(self.count as usize).copied();
            self.count += 1;
            return due.unwrap_or(NEVER);
        }
        if let Some(random) = &mut self.poisson {
            let gap_ns = random.exponential(self.mean_gap_ns);
            debug_assert!(gap_ns >= 0.0, "a gap of {gap_ns}");
            self.sum_ns += gap_ns;
            return self.sum_ns as Time;
        }
        let due = self.first_ns + self.count as f64 * self.mean_gap_ns;
        self.count += 1;
        due as Time
    }
}
