//! The end of a target: scratch is removed, and of what stays the list is told how it was left.

use std::io;
use std::path::PathBuf;

use super::Target;
use super::create::no_list;
use crate::guard::Refusal;
use crate::scratch::{Entry, Scratch};

impl Target {
    /// Says in the list that the files of ours that were there before are written from now on.
    pub(super) fn take(&mut self) -> Result<(), Refusal> {
        let Some(list) = &self.list else { return Ok(()) };
        let mut taken = Vec::new();
        for entry in self.files.iter_mut().filter_map(|file| file.stays.as_mut()) {
            if let Some(left) = entry.left.take() {
                entry.bytes = Some(left.bytes);
                taken.push(entry.clone());
            }
        }
        list.take(&taken).map_err(|error| no_list(list, &error))
    }

    /// Files of this run that go with it.
    pub fn scratch_paths(&self) -> Vec<PathBuf> {
        let goes = |scratch: &&Scratch| scratch.kept().is_none();
        self.scratch.iter().filter(goes).map(Scratch::path).collect()
    }

    /// Removes scratch, notes how what stays was left, and releases everything. Nothing of the run
    /// may write to it any more, in this process or in another rank.
    ///
    /// # Errors
    /// When scratch cannot be removed, or the list cannot be written: then a file that stays is
    /// as that of a run that was killed. The rest is done all the same.
    pub fn close(mut self) -> io::Result<()> {
        self.end()
    }

    /// [`Target::close`] while an operation is still on its way, which may yet write: how files are
    /// left is not known.
    ///
    /// # Errors
    /// When scratch cannot be removed.
    pub fn abandon(mut self) -> io::Result<()> {
        self.list = None;
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        for scratch in std::mem::take(&mut self.scratch) {
            let path = scratch.path();
            if let Err(error) = scratch.remove() {
                let text = format!("{} could not be removed: {error}", path.display());
                outcome = Err(io::Error::new(error.kind(), text));
            }
        }
        let Some(list) = self.list.take() else { return outcome };
        let stays = |entry: &&Entry| entry.left.is_none();
        let left = self.files.iter().filter_map(|file| {
            let entry = file.stays.as_ref().filter(stays)?;
            Some((&file.pinned, entry))
        });
        let told = list.leave(left).map_err(|error| {
            let text = format!(
                "{} may be mistaken for somebody else's, because {} cannot be written: {error}",
                self.path.display(),
                list.path().display()
            );
            io::Error::new(error.kind(), text)
        });
        outcome.and(told)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Workers may still be writing.
            self.list = None;
        }
        // Nobody is left to tell; `close` reports.
        let _ = self.end();
    }
}
