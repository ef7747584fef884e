//! Where the time of operations goes, added up while a step runs.

use drivelab_core::driver::Driver;
use drivelab_core::facts::Facts;
use drivelab_core::stages::{KindStages, Stage, Staged};

/// What was noted so far.
#[derive(Debug)]
pub(super) struct Watched {
    kinds: Vec<KindStages>,
    /// What an operation is counted as whose stages were not told.
    whole: Stage,
}

impl Watched {
    pub(super) fn new(facts: &Facts) -> Self {
        let known = facts.target.simulated;
        let whole = match known {
            Some(known) if known.has_file_system => Stage::FileSystem,
            Some(known) if known.page_cache_bytes.is_some() => Stage::PageCache,
            _ => Stage::Drive,
        };
        Watched { kinds: Vec::new(), whole }
    }

    /// Notes the operation that `driver` has just taken back, if it kept a stamp of it: then it has
    /// more of them than `before`.
    pub(super) fn note(&mut self, driver: &Driver, before: usize, staged: Option<Staged>) {
        let (count, Some(stamp)) = driver.latest_stamp() else { return };
        if count == before {
            return;
        }
        let total_ns = stamp.completed - stamp.issued;
        debug_assert!(staged.is_none_or(|it| it.total_ns() <= total_ns), "more than the whole");
        let staged = staged.filter(|staged| staged.total_ns() <= total_ns);
        let mut staged = staged.unwrap_or_else(|| Staged::of(total_ns, &[(self.whole, total_ns)]));
        // Before the drive had it, it waited in the line of its caller.
        staged.0[Stage::Queue as usize] += total_ns - staged.total_ns();
        let kind = match self.kinds.iter_mut().position(|known| known.kind == stamp.action) {
            Some(place) => &mut self.kinds[place],
            None => {
                self.kinds.push(KindStages::new(stamp.action));
                let last = self.kinds.len() - 1;
                &mut self.kinds[last]
            }
        };
        kind.add(total_ns, &staged);
    }

    /// Takes what was noted.
    pub(super) fn take(&mut self) -> Vec<KindStages> {
        std::mem::take(&mut self.kinds)
    }
}
