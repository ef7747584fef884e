//! Workers that keep their operations in a ratio, by counts that they share.

use crate::op::Time;
use crate::plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A worker that has had its share looks again no earlier than this.
const PAUSE_NS_MIN: Time = 1_000;

/// What the workers of one group that still run have issued and weigh together.
#[derive(Debug, Default)]
pub struct Group {
    issued: AtomicU64,
    weight: AtomicU64,
}

/// One worker of a group.
#[derive(Debug)]
pub struct Member {
    group: Arc<Group>,
    weight: u64,
    pause_ns: Time,
    issued: u64,
    is_in: bool,
    /// When it began to wait.
    since: Option<Time>,
    waited_ns: Time,
}

impl Member {
    /// A worker that does not count yet.
    pub fn new(of: plan::Flow, group: Arc<Group>) -> Self {
        let pause_ns = of.pause.0.max(PAUSE_NS_MIN);
        Member {
            group,
            weight: u64::from(of.weight),
            pause_ns,
            issued: 0,
            is_in: false,
            since: None,
            waited_ns: 0,
        }
    }

    /// From now on the others wait for it.
    pub fn join(&mut self) {
        if !std::mem::replace(&mut self.is_in, true) {
            self.group.weight.fetch_add(self.weight, Ordering::Relaxed);
        }
    }

    /// Nobody waits for it any more, and what it has issued counts no longer.
    pub fn leave(&mut self) {
        if std::mem::take(&mut self.is_in) {
            self.group.issued.fetch_sub(self.issued, Ordering::Relaxed);
            self.group.weight.fetch_sub(self.weight, Ordering::Relaxed);
        }
    }

    /// Counts one more operation, unless it has had more than its share.
    #[inline]
    pub fn take(&mut self) -> bool {
        // One more than were issued: so there is always one who may go on.
        let all = u128::from(self.group.issued.load(Ordering::Relaxed)) + 1;
        let weights = u128::from(self.group.weight.load(Ordering::Relaxed));
        let has_share = u128::from(self.issued) * weights <= u128::from(self.weight) * all;
        if has_share {
            self.issued += 1;
            self.group.issued.fetch_add(1, Ordering::Relaxed);
        }
        has_share
    }

    /// It waits; returns when to look again.
    pub fn wait(&mut self, now: Time) -> Time {
        self.since.get_or_insert(now);
        now.saturating_add(self.pause_ns)
    }

    /// Whether it has waited until now.
    #[inline]
    pub fn waits(&self) -> bool {
        self.since.is_some()
    }

    /// It waits no longer.
    pub fn go_on(&mut self, now: Time) {
        self.waited_ns += self.since.take().map_or(0, |since| now.saturating_sub(since));
    }

    /// How long it has waited in all, in nanoseconds.
    pub fn waited_ns(&self) -> Time {
        self.waited_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn members(weights: &[u32]) -> Vec<Member> {
        let group = Arc::new(Group::default());
        let of = |weight| plan::Flow { weight, group: 0, pause: Span(0) };
        let mut members: Vec<Member> =
            weights.iter().map(|weight| Member::new(of(*weight), Arc::clone(&group))).collect();
        members.iter_mut().for_each(Member::join);
        members
    }

    /// As often as anyone may; returns what each has taken.
    fn taken(members: &mut [Member], rounds: usize) -> Vec<u64> {
        let before: Vec<u64> = members.iter().map(|member| member.issued).collect();
        for _ in 0..rounds {
            members.iter_mut().for_each(|member| {
                member.take();
            });
        }
        members.iter().zip(before).map(|(member, before)| member.issued - before).collect()
    }

    #[test]
    fn counts_are_in_the_ratio_of_the_weights() {
        let mut of_three = members(&[1, 5, 10]);
        let counts = taken(&mut of_three, 16_000);
        let all: u64 = counts.iter().sum();
        for (count, weight) in counts.iter().zip([1, 5, 10]) {
            assert!(count.abs_diff(all * weight / 16) <= 16, "{counts:?}");
        }
    }

    #[test]
    fn who_stands_still_holds_the_others_and_who_leaves_does_not() {
        let mut of_three = members(&[1, 2, 3]);
        taken(&mut of_three, 6_000);
        let (running, still) = of_three.split_at_mut(2);
        let held = taken(running, 1_000);
        assert!(held.iter().sum::<u64>() <= 12, "they wait for the third: {held:?}");
        still[0].leave();
        still[0].leave();
        let counts = taken(running, 6_000);
        assert!(counts[0] > 1_000 && counts[1].abs_diff(2 * counts[0]) <= 12, "{counts:?}");
    }

    #[test]
    fn one_alone_is_never_held() {
        let mut alone = members(&[7]);
        assert_eq!(taken(&mut alone, 1_000), [1_000]);
        assert_eq!((alone[0].waits(), alone[0].waited_ns()), (false, 0));
    }

    #[test]
    fn waiting_is_timed_from_its_beginning_to_its_end() {
        let mut member = members(&[1]).remove(0);
        assert_eq!((member.wait(500), member.wait(1_500)), (1_500, 2_500));
        member.go_on(3_000);
        member.go_on(9_000);
        assert_eq!((member.waits(), member.waited_ns()), (false, 2_500));
    }
}
