//! When the next operation comes.

use crate::units::Span;

/// When the operations of a stream come.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// Closed loop: each waits for one before it.
    Closed {
        /// Submit this many, wait for all.
        burst: Option<u32>,
        /// Idle time after each burst (or operation).
        think: Option<Think>,
    },
    /// Open loop: when they are due, whatever became of those before.
    Open {
        /// Operations per second of the whole stream.
        rate: f64,
        /// Exponential gaps instead of equal ones.
        poisson: bool,
    },
    /// Open loop: at the times of the trace, once.
    Trace {
        /// How many times as fast as they came.
        pace: f64,
    },
}

/// Idle time of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Think {
    /// How long.
    pub time: Span,
    /// It comes before the first burst, too.
    pub first: bool,
}

impl Default for Arrival {
    fn default() -> Self {
        Arrival::AT_ONCE
    }
}

impl Arrival {
    /// Closed loop: each as soon as there is room for it.
    pub const AT_ONCE: Arrival = Arrival::Closed { burst: None, think: None };

    /// Closed loop with an idle time after each operation or burst; none of 0.
    pub fn thinking(burst: Option<u32>, time: Span) -> Arrival {
        let think = (time.0 > 0).then_some(Think { time, first: false });
        Arrival::Closed { burst, think }
    }

    /// Open loop with equal gaps.
    pub fn paced(rate: f64) -> Arrival {
        Arrival::Open { rate, poisson: false }
    }

    /// Whether operations come when they are due, whatever became of those before.
    pub fn is_open(&self) -> bool {
        !matches!(self, Arrival::Closed { .. })
    }

    /// Operations per second of the whole stream, where they come at a rate.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Arrival::Open { rate, .. } => Some(*rate),
            _ => None,
        }
    }

    /// Operations of a burst.
    pub fn burst(&self) -> Option<u32> {
        match self {
            Arrival::Closed { burst, .. } => *burst,
            _ => None,
        }
    }

    /// Idle time after each operation or burst.
    pub fn think(&self) -> Option<Think> {
        match self {
            Arrival::Closed { think, .. } => *think,
            _ => None,
        }
    }
}
