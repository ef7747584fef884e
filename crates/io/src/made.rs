//! Directories that one command makes, and takes away again where they are empty.

use crate::identity::Identity;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Directories that were made, each after the one that it is in.
#[derive(Debug, Default)]
pub struct Made {
    all: Vec<(PathBuf, Identity)>,
}

impl Made {
    /// Makes a directory and those above it that are missing.
    ///
    /// # Errors
    /// One cannot be made, or what is there is none.
    pub fn make(&mut self, path: &Path) -> Result<()> {
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => return Ok(()),
            Ok(_) => return Err(Error::from(ErrorKind::NotADirectory)),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
            self.make(above)?;
        }
        std::fs::create_dir(path)?;
        self.all.push((path.to_owned(), Identity::of(File::open(path)?)?));
        Ok(())
    }

    /// Takes those away that are still the same and empty, the last one first. What is in one is
    /// never looked at: the kernel refuses to remove a directory that holds anything.
    pub fn remove_empty(self) {
        for (path, identity) in self.all.into_iter().rev() {
            let is_same = File::open(&path).and_then(Identity::of).is_ok_and(|it| it == identity);
            if is_same {
                // One that holds something stays, and is named by the caller.
                let _ = std::fs::remove_dir(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_and_is_empty_goes() {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir(at("old")).expect("a directory");
        let mut made = Made::default();
        for name in ["old/new/a", "old/new/b", "old/other"] {
            made.make(&at(name)).expect("it is made");
        }
        std::fs::write(at("old/new/b/foreign"), "x").expect("a file");
        std::fs::remove_dir(at("old/other")).expect("it is empty");
        std::fs::create_dir(at("old/other")).expect("another one");
        made.remove_empty();
        assert!(!at("old/new/a").exists());
        assert!(at("old/new/b/foreign").exists(), "nobody looks into it");
        assert!(at("old").exists() && at("old/other").exists(), "both are none of them");
        let mut made = Made::default();
        let error = made.make(&at("old/new/b/foreign")).expect_err("a file");
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
        assert!(made.make(&at("old/new/b/foreign/below")).is_err());
    }
}
