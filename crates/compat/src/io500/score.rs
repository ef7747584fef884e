//! The score: the geometric mean of a kind's results, and the square root of both kinds'.

use super::phase::{Group, Phase};
use crate::suite::Outcome;

/// The score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Score {
    /// GiB/s.
    pub bandwidth: f64,
    /// kIOPS.
    pub metadata: f64,
    /// The square root of their product.
    pub total: f64,
}

impl Score {
    /// Of these phases. As in the suite, one that measured nothing is left out, and marks the score
    /// as invalid.
    pub fn of(outcomes: &[Outcome]) -> Score {
        let bandwidth = mean(outcomes, Group::Bandwidth);
        let metadata = mean(outcomes, Group::Metadata);
        Score { bandwidth, metadata, total: (bandwidth * metadata).sqrt() }
    }
}

fn mean(outcomes: &[Outcome], group: Group) -> f64 {
    let own = outcomes.iter().filter(|outcome| Phase::at(outcome.done.phase).group() == group);
    let scores: Vec<f64> =
        own.map(|outcome| outcome.figure().score).filter(|score| *score > 0.0).collect();
    if scores.is_empty() {
        return 0.0;
    }
    let sum: f64 = scores.iter().map(|score| score.ln()).sum();
    (sum / scores.len() as f64).exp()
}
