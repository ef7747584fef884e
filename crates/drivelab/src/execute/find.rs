//! Files are looked for level by level: the directories of a level are divided over the processes,
//! and all learn of those that are below.

use super::Execution;
use crate::ranks::all_gather;
use drivelab_core::plan::{Find, Found};
use drivelab_core::queue::Trouble;
use drivelab_io::find;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What one process has found in its part of a level.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Share {
    matched: u64,
    total: u64,
    below: Vec<Vec<u8>>,
    failure: Option<String>,
    is_stopped: bool,
}

impl Execution<'_> {
    /// Looks for files below the target; every process learns what all have found.
    pub(super) fn find(&self, wanted: &Find) -> Result<Found, Trouble> {
        let ranks = self.ranks;
        let asked = wanted.processes.unwrap_or(ranks.size());
        let processes = asked.clamp(1, ranks.size()) as usize;
        let mut found = Found::default();
        // The target may be a link to it; no link below is followed.
        let target = &self.recorder.run().begin.target;
        let target = std::fs::canonicalize(target)
            .map_err(|error| Trouble::failed(format!("{target} cannot be read: {error}")))?;
        let mut level = vec![target];
        while !level.is_empty() {
            let mut mine = Share::default();
            let own = level.iter().skip(ranks.rank() as usize).step_by(processes);
            let takes_part = (ranks.rank() as usize) < processes;
            for directory in own.filter(|_| takes_part) {
                self.look(directory, wanted, &mut mine);
            }
            let shares = match ranks.is_alone() {
                true => vec![mine],
                false => all_gather(ranks, Ok(mine)).map_err(|it| Trouble::failed(it.text))?,
            };
            level = Vec::new();
            for share in &shares {
                found.matched += share.matched;
                found.total += share.total;
                let below = share.below.iter().cloned().map(OsString::from_vec);
                level.extend(below.map(PathBuf::from));
            }
            if let Some(failure) = shares.iter().find_map(|share| share.failure.clone()) {
                return Err(Trouble::failed(failure));
            }
            if shares.iter().any(|share| share.is_stopped) {
                break;
            }
        }
        Ok(found)
    }

    fn look(&self, directory: &std::path::Path, wanted: &Find, share: &mut Share) {
        let ranks = self.ranks;
        let goes_on = || !drivelab_io::signal::interrupted() && !ranks.is_asked_to_stop();
        match find::look(directory, wanted, goes_on) {
            Ok(looked) => {
                share.matched += looked.found.matched;
                share.total += looked.found.total;
                share.is_stopped |= looked.is_stopped;
                let bytes = |path: PathBuf| path.as_os_str().as_bytes().to_vec();
                share.below.extend(looked.below.into_iter().map(bytes));
            }
            Err(error) => {
                let text = format!("{} cannot be read: {error}", directory.display());
                share.failure.get_or_insert(text);
            }
        }
    }
}
