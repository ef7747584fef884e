//! Which run files may go: the oldest first, never one with a tag, never the latest, never one that
//! is being written, never one that cannot be read.

use super::reader;
use crate::outcome::Failure;
use std::path::{Path, PathBuf};

/// A run file as it lies in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Run ID.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Why it stays whatever is asked.
    pub protected: Option<Protection>,
}

/// Why a run file stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// It has this tag.
    Tagged(String),
    /// It is the latest.
    Last,
    /// A process still writes it.
    Open,
    /// It is not a run file that this version can read.
    Unreadable,
}

/// What is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits<'a> {
    /// Runs that began before this moment go: `YYYYMMDD-HHMMSS`.
    pub before: Option<&'a str>,
    /// The oldest go until all files together have at most so many bytes.
    pub bytes_max: Option<u64>,
}

/// The run files in a directory, oldest first.
///
/// # Errors
/// The directory cannot be read.
pub fn stored(directory: &Path) -> Result<Vec<Stored>, Failure> {
    let ids = super::ids(directory)?;
    let last = super::latest(&ids, directory);
    let one = |id: String| {
        let path = directory.join(format!("{id}.jsonl"));
        // A link leads to a file that is not of the store.
        let found = std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let protected = match reader::begin(&path) {
            Err(_) => Some(Protection::Unreadable),
            Ok(_) if last.as_ref() == Some(&id) => Some(Protection::Last),
            Ok(_) if reader::still_goes_on(&path) => Some(Protection::Open),
            Ok(begin) => begin.tag.map(Protection::Tagged),
        };
        Some(Stored { id, path, bytes: found.len(), protected })
    };
    Ok(ids.into_iter().filter_map(one).collect())
}

/// Those that go, oldest first.
pub fn to_remove<'a>(stored: &'a [Stored], limits: Limits<'_>) -> Vec<&'a Stored> {
    let mut left: u64 = stored.iter().map(|run| run.bytes).sum();
    let mut gone = Vec::new();
    for run in stored.iter().filter(|run| run.protected.is_none()) {
        let is_old = limits.before.is_some_and(|moment| run.id.as_str() < moment);
        let is_over = limits.bytes_max.is_some_and(|most| left > most);
        if is_old || is_over {
            left -= run.bytes;
            gone.push(run);
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, bytes: u64, protected: Option<Protection>) -> Stored {
        let id = format!("202611{id}-120000-0000");
        Stored { path: PathBuf::from(&id), id, bytes, protected }
    }

    fn days(stored: &[Stored], before: Option<&str>, bytes_max: Option<u64>) -> Vec<String> {
        let gone = to_remove(stored, Limits { before, bytes_max });
        gone.iter().map(|run| run.id[6..8].to_string()).collect()
    }

    #[test]
    fn the_oldest_go_until_both_limits_are_kept_and_what_is_protected_stays() {
        let tagged = Some(Protection::Tagged("before firmware 5B2Q".into()));
        let stored = [
            run("01", 10, None),
            run("02", 40, tagged),
            run("03", 20, None),
            run("04", 10, Some(Protection::Open)),
            run("05", 10, None),
            run("06", 10, Some(Protection::Last)),
        ];
        assert_eq!(days(&stored, Some("20261104-000000"), None), ["01", "03"]);
        assert_eq!(
            days(&stored, Some("20261101-120000"), None),
            [""; 0],
            "a second is not before itself"
        );
        assert_eq!(days(&stored, None, Some(100)), [""; 0]);
        assert_eq!(days(&stored, None, Some(99)), ["01"]);
        assert_eq!(days(&stored, None, Some(90)), ["01"]);
        assert_eq!(days(&stored, None, Some(89)), ["01", "03"]);
        assert_eq!(days(&stored, None, Some(0)), ["01", "03", "05"], "more must not go");
        assert_eq!(days(&stored, Some("20261102-000000"), Some(80)), ["01", "03"]);
    }
}
