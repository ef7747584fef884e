//! What checking the content of blocks came to.

use crate::op::Action;
use crate::plan::Stream;
use crate::run::{Run, StepRun};
use crate::tally::{KindTally, Tally};

/// What the checks of one step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verified {
    /// Nothing was checked.
    Unchecked,
    /// All of this many units are what was written.
    Right(u64),
    /// Not one of this many units has a stamp of drivelab, and this run wrote none of them: whether
    /// they are intact cannot be told. Data of another program look like this, whole or not.
    Foreign(u64),
    /// Units that do not hold the bytes that the plan names.
    Unlike {
        /// How many of them.
        wrong: u64,
        /// How many were looked at.
        checked: u64,
    },
    /// Units that are not what was written.
    Wrong {
        /// How many of them.
        wrong: u64,
        /// How many were looked at.
        checked: u64,
    },
}

impl Verified {
    /// What the checks of `step`, a step of `run`, came to.
    pub fn of(run: &Run, step: &StepRun) -> Verified {
        let sum = |number: fn(&Tally) -> u64| step.tallies.iter().map(number).sum::<u64>();
        let (checked, wrong) = (sum(|tally| tally.verified), sum(|tally| tally.mismatched));
        match (checked, wrong) {
            (0, 0) => Verified::Unchecked,
            (_, 0) => Verified::Right(checked),
            _ if sum(|tally| tally.unstamped) == checked.max(1) && !stamped_before(run, step) => {
                Verified::Foreign(checked)
            }
            _ if step.plan.streams.iter().any(Stream::has_known_bytes) => {
                Verified::Unlike { wrong, checked }
            }
            _ => Verified::Wrong { wrong, checked },
        }
    }

    /// Units that are not what was written.
    pub fn wrong(self) -> u64 {
        match self {
            Verified::Wrong { wrong, .. } | Verified::Unlike { wrong, .. } => wrong,
            _ => 0,
        }
    }

    /// Units of which nothing can be told.
    pub fn foreign(self) -> u64 {
        if let Verified::Foreign(units) = self { units } else { 0 }
    }

    /// The answer in words where there is none or a bad one.
    pub fn objection(self) -> Option<String> {
        match self {
            Verified::Unchecked | Verified::Right(_) => None,
            Verified::Foreign(units) => Some(format!(
                "cannot tell whether the data is intact: none of {units} blocks has a stamp of \
                 drivelab: they were written without stamps, by drivelab or another program, or \
                 drivelab's data is gone"
            )),
            Verified::Unlike { wrong, checked } => Some(format!(
                "{wrong} of {checked} blocks read do not hold the bytes that they should"
            )),
            Verified::Wrong { wrong, checked } => {
                Some(format!("{wrong} of {checked} blocks read are not what was written"))
            }
        }
    }
}

/// Whether `run` wrote stamped data no later than in `step`.
fn stamped_before(run: &Run, step: &StepRun) -> bool {
    let earlier = run.steps.iter().filter(|other| other.begin.step <= step.begin.step);
    earlier.flat_map(|other| other.tallies.iter().map(move |tally| (other, tally))).any(
        |(other, tally)| {
            let stream = other.plan.streams.get(tally.stream as usize);
            let writes = |kind: &KindTally| kind.kind == Action::Write && kind.ops > 0;
            stream.is_some_and(|stream| stream.stamp) && tally.kinds.iter().any(writes)
        },
    )
}
