//! Which written requests repeat others: a number for each, and equal numbers are equal bytes.

use crate::plan::Dedupe;
use drivelab_stats::{Domain, Random, derive};

/// Marks those who repeat each other, whose numbers do not depend on stream and step.
const SHARED: u64 = 1 << 63;

/// The numbers of what a worker writes, in that order.
#[derive(Debug, Clone)]
pub struct Repeats {
    dedupe: Dedupe,
    random: Random,
    base: u64,
    /// Who it is among all whose numbers follow from the same base.
    own: u64,
    /// How many of its own repeat nothing.
    unique: u64,
}

impl Repeats {
    /// Of a worker, which is this one of this stream and step.
    pub fn new(dedupe: Dedupe, seed: u64, (step, stream, worker): (u32, u32, u32)) -> Self {
        let (step, stream, worker) = (u64::from(step), u64::from(stream), u64::from(worker));
        let content = Domain::Content.seed(seed, u64::MAX);
        let (base, own) = match dedupe.shared {
            Some(shared) => (content, SHARED | (u64::from(shared.first) + worker)),
            None => (derive(content, step, 1), stream << 32 | worker),
        };
        let random = Random::new(derive(derive(content, step, 2), stream, worker));
        Repeats { dedupe, random, base, own, unique: 0 }
    }

    /// The number of the next.
    pub fn number(&mut self) -> u64 {
        let is_repeat = self.random.below(100) < u64::from(self.dedupe.percent);
        match (is_repeat, self.dedupe.of) {
            (true, Some(count)) => {
                let place = self.random.below(count.max(1));
                self.first_of(place, count)
            }
            // Before the first of its own there is nothing to repeat.
            (true, None) if self.unique > 0 => derive(self.base, self.own, self.unique),
            _ => {
                self.unique += 1;
                derive(self.base, self.own, self.unique)
            }
        }
    }

    /// One of the first that repeat nothing: its own, then those of the workers after it.
    fn first_of(&self, place: u64, count: u64) -> u64 {
        let Some(shared) = self.dedupe.shared else {
            return derive(self.base, self.own, place + 1);
        };
        let workers = u64::from(shared.workers.max(1));
        let each = (count / workers).max(1);
        let owner = ((self.own & !SHARED) + place / each) % workers;
        derive(self.base, SHARED | owner, place % each + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::DedupeShare;
    use std::collections::HashSet;

    const NONE: Dedupe = Dedupe { percent: 0, of: None, shared: None };

    fn distinct(dedupe: Dedupe, workers: u32, count: usize) -> usize {
        let of = |worker| Repeats::new(dedupe, 7, (0, 0, worker));
        let mut all = HashSet::new();
        for mut repeats in (0..workers).map(of) {
            all.extend((0..count).map(|_| repeats.number()));
        }
        all.len()
    }

    #[test]
    fn the_share_that_is_asked_for_is_repeated() {
        assert_eq!(distinct(NONE, 2, 1000), 2000);
        assert_eq!(distinct(Dedupe { percent: 100, ..NONE }, 1, 1000), 1);
        let half = distinct(Dedupe { percent: 50, ..NONE }, 2, 10_000);
        assert!((9700..10_300).contains(&half), "{half}");
    }

    #[test]
    fn what_is_repeated_of_a_set_is_written_as_unique_too() {
        let of_set = Dedupe { percent: 50, of: Some(100), ..NONE };
        let count = distinct(of_set, 2, 10_000);
        assert!((9700..10_300).contains(&count), "{count}");
        // Four who have a set of their own each, and four who have one together.
        let all = Dedupe { percent: 100, of: Some(16), ..NONE };
        assert_eq!(distinct(all, 4, 1000), 64);
        let shared = Some(DedupeShare { workers: 4, first: 0 });
        assert_eq!(distinct(Dedupe { shared, ..all }, 4, 1000), 16);
        let some = distinct(Dedupe { percent: 30, shared, ..all }, 4, 10_000);
        assert!((27_400..28_600).contains(&some), "{some}");
    }
}
