//! Names that a stream spells.

use crate::names::Spelling;
use drivelab_core::op::Action;
use drivelab_core::plan::Stream;
use std::path::Path;

/// Names that a stream spells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeltNames {
    /// How.
    pub form: String,
    /// Workers, each with names of its own.
    pub workers: u32,
    /// Names of each worker.
    pub names: u32,
    /// They are of directories.
    pub of_directories: bool,
    /// They are there already, of an earlier run.
    pub existing: bool,
    /// The stream makes, renames or removes them.
    pub removes: bool,
    /// Bytes that the stream writes into each of them.
    pub bytes: u64,
}

impl SpeltNames {
    /// Those of a stream, if it spells any.
    pub fn of(stream: &Stream) -> Option<Self> {
        let of = stream.names()?;
        let form = of.form.clone()?;
        let (workers, names) = (stream.workers.max(1), of.count());
        let (of_directories, existing) = (of.of_directories, of.existing);
        let is_look =
            |action: &Action| matches!(action, Action::Open | Action::Stat | Action::Flush);
        let removes = !of.actions.iter().all(is_look);
        let bytes = if of.actions.contains(&Action::Create) { of.name_bytes.0 } else { 0 };
        Some(SpeltNames { form, workers, names, of_directories, existing, removes, bytes })
    }

    /// Bytes that all of them need.
    pub(super) fn bytes_needed(&self) -> u64 {
        self.bytes.saturating_mul(u64::from(self.names)).saturating_mul(u64::from(self.workers))
    }

    /// Whether a path below the directory is one of them.
    pub(super) fn holds(&self, path: &Path) -> bool {
        self.number(path).is_some()
    }

    /// The worker and the number of a path that is one of them.
    pub(super) fn number(&self, path: &Path) -> Option<(u32, u32)> {
        let text = path.as_os_str().as_encoded_bytes();
        let workers = if self.form.contains("{worker}") { self.workers } else { 1 };
        (0..workers).find_map(|worker| {
            let name = Spelling::new(&self.form, worker).number(text)?;
            (name < self.names).then_some((worker, name))
        })
    }

    /// Levels of directories above the names.
    pub(super) fn depth(&self) -> usize {
        self.form.matches('/').count()
    }
}
