//! Times without a completion while small random writes go on.

use super::super::{
    FREEZE_NS, FSYNC, MIX, RANDOM_WRITE, RANDOM_WRITE_ALONE, STUTTER, STUTTER_SECONDS_MIN,
};
use crate::experiment::waited;
use drivelab_core::quantity;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;

/// Cells with small random writes.
pub(super) const WRITING: [&str; 5] = [STUTTER, RANDOM_WRITE, RANDOM_WRITE_ALONE, FSYNC, MIX];

/// What was seen in all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Freezes {
    /// Seconds of such loads; 0: none can be judged.
    pub(super) seconds: f64,
    /// The longest gap, where known.
    pub(super) longest_ns: Option<u64>,
    /// The cell that it was in.
    longest_in: &'static str,
    /// Gaps that count as freezes.
    pub(super) count: u64,
    /// The longest of those that came while this machine had time for its tasks.
    pub(super) own_ns: Option<u64>,
    /// The share of the time in which some task waited for a CPU, where that was most of it.
    pub(super) busy: Option<f64>,
    /// The same of the cell of that name alone.
    stutter: Option<(u64, u64)>,
}

impl Freezes {
    pub(super) fn of(run: &Run, summary: &Summary) -> Self {
        let mut found = Freezes::default();
        for name in WRITING {
            let cell = summary.cells.iter().find(|cell| cell.name == name);
            let Some(stream) = cell.and_then(|cell| cell.streams.first()) else { continue };
            let Some(count) = stream.gap_count else { continue };
            found.seconds += stream.seconds;
            found.count += count;
            if stream.gap_ns_longest > found.longest_ns {
                (found.longest_ns, found.longest_in) = (stream.gap_ns_longest, name);
            }
            if name == STUTTER {
                found.stutter = stream.gap_ns_longest.map(|longest| (longest, count));
            }
            let freeze = stream.gap_ns_longest.filter(|longest| *longest >= FREEZE_NS);
            let busy = waited::busy(run.steps.iter().filter(|step| step.begin.name == name));
            found.meets(freeze, busy);
        }
        found
    }

    /// The longest freeze of one cell, and the share of its time in which tasks waited for a CPU.
    fn meets(&mut self, freeze: Option<u64>, busy: Option<f64>) {
        let Some(longest) = freeze else { return };
        match busy {
            None => self.own_ns = self.own_ns.max(Some(longest)),
            Some(_) => self.busy = self.busy.or(busy),
        }
    }

    /// A freeze that is the drive's.
    pub(super) fn is_certain(&self) -> bool {
        self.own_ns.is_some()
    }

    /// A freeze that may be the drive's or this machine's.
    pub(super) fn is_open(&self) -> bool {
        self.busy.is_some() && self.own_ns.is_none()
    }

    /// Whether there was time enough for one to come.
    pub(super) fn is_long_enough(&self) -> bool {
        self.seconds >= STUTTER_SECONDS_MIN
    }

    /// What was seen, in words; `None`: nothing was looked at.
    pub(super) fn told(&self) -> Option<String> {
        let seconds = quantity::digits(self.seconds);
        let noun = if self.count == 1 { "freeze" } else { "freezes" };
        let over = FREEZE_NS / 1_000_000;
        (self.seconds > 0.0).then(|| match self.longest_ns {
            Some(longest) => format!(
                "under small random writes the longest time without a completion was {} ({}), with \
                 {} {noun} over {over} ms in {seconds} s",
                quantity::time(longest as f64),
                self.longest_in,
                self.count
            ),
            None => format!(
                "under small random writes there were {} {noun} over {over} ms in {seconds} s",
                self.count
            ),
        })
    }

    /// What stands at the cell that looks for them, where it has none: gaps stand at every cell.
    pub(super) fn remark(&self) -> Option<String> {
        let (longest, _) = self.stutter.filter(|(_, count)| *count == 0)?;
        let (longest, over) = (quantity::time(longest as f64), FREEZE_NS / 1_000_000);
        Some(format!("longest gap in this row {longest}, 0 over {over} ms"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(longest_ns: u64, busy: Option<f64>) -> Freezes {
        let is_freeze = longest_ns >= FREEZE_NS;
        let mut freezes = Freezes {
            seconds: 12.0,
            longest_ns: Some(longest_ns),
            longest_in: STUTTER,
            count: u64::from(is_freeze),
            stutter: Some((longest_ns, u64::from(is_freeze))),
            ..Freezes::default()
        };
        freezes.meets(is_freeze.then_some(longest_ns), busy);
        freezes
    }

    #[test]
    fn a_longer_freeze_on_a_busy_machine_is_not_the_drives() {
        let mut freezes = planted(2 * FREEZE_NS, None);
        freezes.longest_ns = Some(20 * FREEZE_NS);
        freezes.meets(Some(20 * FREEZE_NS), Some(0.9));
        assert_eq!(freezes.own_ns, Some(2 * FREEZE_NS));
        assert!(freezes.is_certain());
    }

    #[test]
    fn a_freeze_while_tasks_waited_for_a_cpu_is_not_certainly_the_drives() {
        let own = planted(2 * FREEZE_NS, None);
        assert!(own.is_certain() && !own.is_open());
        let open = planted(2 * FREEZE_NS, Some(0.9));
        assert!(!open.is_certain() && open.is_open());
        let none = planted(FREEZE_NS - 1, Some(0.9));
        assert!(!none.is_certain() && !none.is_open());
    }

    #[test]
    fn what_was_seen_is_told_in_its_numbers() {
        let told = planted(2 * FREEZE_NS, None).told().expect("seen");
        let expected = format!("200 ms ({STUTTER}), with 1 freeze over 100 ms in 12");
        assert!(told.contains(&expected), "{told}");
        assert_eq!(Freezes::default().told(), None);
        let remark = planted(FREEZE_NS / 2, None).remark().expect("a cell");
        assert_eq!(remark, "longest gap in this row 50.0 ms, 0 over 100 ms");
        assert_eq!(planted(2 * FREEZE_NS, None).remark(), None, "said as of any cell");
    }
}
