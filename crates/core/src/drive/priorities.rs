//! Which priority each request has, where a stream gives some of them their own.

use crate::op::Action;
use crate::plan::{RequestPriority, Stream};
use drivelab_stats::{Domain, Random};

/// Draws the priorities of one worker's requests.
#[derive(Debug, Clone)]
pub(crate) struct Priorities {
    /// Each with the percents of all before it of the same action and size, and its own on top.
    ends: Vec<(u64, RequestPriority)>,
    /// Of the others.
    of_thread: u16,
    random: Random,
}

impl Priorities {
    /// Those of a stream; absent where all of its requests have that of their thread.
    pub(crate) fn of(stream: &Stream, worker: u32, base: u64) -> Option<Priorities> {
        let mut ends: Vec<(u64, RequestPriority)> = Vec::new();
        for one in &stream.request_priorities {
            let is_alike =
                |it: &&(u64, RequestPriority)| (it.1.action, it.1.size) == (one.action, one.size);
            let before = ends.iter().rev().find(is_alike).map_or(0, |it| it.0);
            ends.push((before + u64::from(one.percent), one.clone()));
        }
        (!ends.is_empty()).then(|| Priorities {
            ends,
            of_thread: stream.thread_priority(),
            random: Random::new(Domain::Priorities.seed(base, u64::from(worker))),
        })
    }

    /// The kernel's number of the next request's.
    #[inline]
    pub(crate) fn next(&mut self, action: Action, bytes: u32) -> u32 {
        let drawn = self.random.below(100);
        let has_it = |(end, one): &&(u64, RequestPriority)| {
            drawn < *end
                && one.action == action
                && one.size.is_none_or(|size| size.0 == u64::from(bytes))
        };
        let own = self.ends.iter().find(has_it).map(|(_, one)| one.priority.number());
        u32::from(own.unwrap_or(self.of_thread))
    }
}

/// The numbers of all priorities that requests of this kind can have, first that of the thread;
/// none where they are not told apart.
pub(crate) fn numbers(stream: &Stream, kind: Action) -> Vec<u16> {
    if stream.request_priorities.is_empty() || !matches!(kind, Action::Read | Action::Write) {
        return Vec::new();
    }
    let mut numbers = vec![stream.thread_priority()];
    let of_kind = stream.request_priorities.iter().filter(|it| it.action == kind);
    for number in of_kind.filter(|it| it.percent > 0).map(|it| it.priority.number()) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{IoClass, IoPriority, ThreadSettings};
    use crate::units::Size;

    fn share(action: Action, size: Option<u64>, percent: u32, level: u8) -> RequestPriority {
        let priority = IoPriority { class: IoClass::Realtime, level, hint: 0 };
        RequestPriority { action, size: size.map(Size), percent, priority }
    }

    fn counted(priorities: &mut Priorities, action: Action, bytes: u32) -> Vec<(u32, usize)> {
        let mut numbers: Vec<u32> = (0..10_000).map(|_| priorities.next(action, bytes)).collect();
        numbers.sort_unstable();
        numbers.chunk_by(|one, next| one == next).map(|some| (some[0], some.len())).collect()
    }

    #[test]
    fn requests_have_the_priorities_of_their_action_and_size_in_their_shares() {
        let request_priorities = vec![
            share(Action::Read, Some(4096), 25, 1),
            share(Action::Write, Some(4096), 100, 4),
            share(Action::Read, Some(4096), 50, 2),
            share(Action::Read, Some(8192), 0, 3),
        ];
        let level = |level: u8| IoPriority { level, ..IoPriority::default() };
        let thread = ThreadSettings { io_priority: Some(level(5)), ..ThreadSettings::default() };
        let stream = Stream { request_priorities, thread: Some(thread), ..Stream::default() };
        let mut priorities = Priorities::of(&stream, 0, 7).expect("it has priorities");
        let reads = counted(&mut priorities, Action::Read, 4096);
        assert_eq!(reads.iter().map(|it| it.0).collect::<Vec<_>>(), [0x2001, 0x2002, 0x4005]);
        for ((_, count), expected) in reads.iter().zip([2500, 5000, 2500]) {
            assert!(count.abs_diff(expected) < 200, "{reads:?}");
        }
        assert_eq!(counted(&mut priorities, Action::Read, 8192), [(0x4005, 10_000)]);
        assert_eq!(counted(&mut priorities, Action::Write, 4096), [(0x2004, 10_000)]);
        assert_eq!(counted(&mut priorities, Action::Trim, 4096), [(0x4005, 10_000)]);
        assert_eq!(numbers(&stream, Action::Read), [0x4005, 0x2001, 0x2002]);
        assert_eq!(numbers(&stream, Action::Write), [0x4005, 0x2004]);
        assert!(numbers(&stream, Action::Trim).is_empty());
        assert!(Priorities::of(&Stream::default(), 0, 7).is_none());
    }
}
