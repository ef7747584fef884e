//! The run that another process writes while `watch` looks: its cells as they fill.

use crate::store;
use crate::store::reader::{read, still_goes_on};
use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_report::terminal::cell_line;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Larger files take too long to read again and again.
const BYTES_MAX: u64 = 64 << 20;
/// The newest files that are asked whether somebody writes them.
const LOOKED_AT: usize = 8;

/// A run that goes on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Followed {
    /// Its ID, study or command, and target.
    pub title: String,
    /// The step that runs, and how many ended.
    pub step: String,
    /// Each cell in one line, in the order of the run; whether it is suspect.
    pub cells: Vec<(String, bool)>,
}

/// Looks for such a run from time to time.
pub struct Follower {
    directory: Option<PathBuf>,
    every: Duration,
    last: Option<Instant>,
    seen: Option<(PathBuf, SystemTime)>,
}

impl Follower {
    /// Looks in this directory, that often.
    pub fn new(directory: Option<PathBuf>, every: Duration) -> Self {
        Follower { directory, every, last: None, seen: None }
    }

    /// The run that is being written, `None` within where there is none; `None` where nothing
    /// changed or it is too early to look.
    pub fn look(&mut self, now: Instant) -> Option<Option<Followed>> {
        if self.last.is_some_and(|last| now - last < self.every) {
            return None;
        }
        self.last = Some(now);
        let Some(path) = self.directory.as_deref().and_then(being_written) else {
            self.seen = None;
            return Some(None);
        };
        let about = path.metadata().ok()?;
        let written = about.modified().ok()?;
        if self.seen.as_ref().is_some_and(|(seen, at)| *seen == path && *at == written) {
            return None;
        }
        self.seen = Some((path.clone(), written));
        if about.len() > BYTES_MAX {
            let title = format!("{}: too large to be followed", path.display());
            return Some(Some(Followed { title, ..Followed::default() }));
        }
        read(&path).ok().map(|run| Some(told(&run)))
    }
}

/// The newest run file that a living process holds.
fn being_written(directory: &Path) -> Option<PathBuf> {
    let ids = store::ids(directory).ok()?;
    let newest = ids.iter().rev().take(LOOKED_AT);
    let mut paths = newest.map(|id| directory.join(format!("{id}.jsonl")));
    paths.find(|path| still_goes_on(path))
}

fn told(run: &Run) -> Followed {
    let summary = summarise(run);
    let what = run.begin.study.as_ref().map_or("run", |study| study.name.as_str());
    let done = run.steps.iter().filter(|step| step.end.is_some()).count();
    let step = match run.steps.last() {
        Some(step) if step.end.is_none() => {
            format!("{done} steps done; now {}", step.begin.name)
        }
        _ => format!("{done} steps done"),
    };
    Followed {
        title: format!("{what} of {}  {}", summary.target, run.begin.run),
        step,
        cells: summary
            .cells
            .iter()
            .map(|cell| (cell_line(cell), cell.valid == Some(false)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::record::{Begin, Record};
    use std::fs;

    #[test]
    fn only_a_file_that_a_process_holds_is_followed() {
        let root = tempfile::tempdir().expect("a directory");
        let mut follower = Follower::new(Some(root.path().into()), Duration::ZERO);
        assert_eq!(follower.look(Instant::now()), Some(None), "no file");
        let path = root.path().join("20261126-010203-abcd.jsonl");
        let begin = Begin { format: 1, run: "r".into(), ..Begin::default() };
        let line = serde_json::to_string(&Record::Begin(Box::new(begin))).expect("JSON");
        fs::write(&path, line + "\n").expect("a run");
        assert_eq!(follower.look(Instant::now()), Some(None), "nobody writes it");
        let holder = fs::File::open(&path).expect("a run");
        holder.lock().expect("held as its writer holds it");
        let seen = follower.look(Instant::now()).flatten().expect("it is followed");
        assert!(seen.title.starts_with("run of ") && seen.title.ends_with(" r"), "{seen:?}");
        assert_eq!((seen.step.as_str(), seen.cells.len()), ("0 steps done", 0));
        assert_eq!(follower.look(Instant::now()), None, "it did not grow");
        drop(holder);
        assert_eq!(follower.look(Instant::now()), Some(None), "it ended");
    }
}
