//! States of simulated drives that take long to compute, kept for the next time in
//! `$XDG_CACHE_HOME/drivelab/states`. What is not as it was written is computed again.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use xxhash_rust::xxh3::xxh3_64;

/// Set to `off`: nothing is kept, and nothing that was kept is used.
const SWITCH: &str = "DRIVELAB_CACHE";
/// Less is computed in a moment.
const BYTES_MIN: usize = 1 << 20;
/// A state that takes more is not kept.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// Limit of all kept states together; the least recently used ones are removed first.
const ALL_BYTES_MAX: u64 = 1 << 30;
/// How a file begins, with the version of its form.
const MAGIC: &[u8] = b"drivelab state 1\n";
const SUFFIX: &str = "state";

/// Kept states.
#[derive(Debug)]
pub struct StateCache {
    directory: PathBuf,
}

impl StateCache {
    /// The one of this user, if there is to be one.
    pub fn of_user() -> Option<Self> {
        if std::env::var_os(SWITCH).is_some_and(|value| value == "off") {
            return None;
        }
        let absolute = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let cache = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
        Some(StateCache { directory: cache.join("drivelab/states") })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{:016x}.{SUFFIX}", xxh3_64(key.as_bytes())))
    }

    /// What was kept under a key, whole and unharmed.
    pub fn find(&self, key: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.path(key)).ok()?;
        let length = file.metadata().ok().filter(|found| found.is_file())?.len();
        if length > FILE_BYTES_MAX {
            return None;
        }
        let mut bytes = Vec::with_capacity(length as usize);
        file.read_to_end(&mut bytes).ok()?;
        let state = unwrapped(bytes, key)?;
        // It was used: others go first.
        let _ = file.set_modified(SystemTime::now());
        Some(state)
    }

    /// Keeps a state; `false`: it is too large. What cannot be written is computed again.
    pub fn keep(&self, key: &str, state: &[u8]) -> bool {
        if state.len() < BYTES_MIN {
            return true;
        }
        let file = wrapped(state, key);
        if file.len() as u64 > FILE_BYTES_MAX {
            return false;
        }
        let path = self.path(key);
        let part = path.with_extension(format!("part-{}", std::process::id()));
        let written = std::fs::create_dir_all(&self.directory)
            .and_then(|()| std::fs::write(&part, &file))
            .and_then(|()| std::fs::rename(&part, &path));
        if written.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        self.evict();
        true
    }

    /// Removes what was not used for longest, as long as all are too large together. What a killed
    /// process left half written counts and goes in the same way.
    fn evict(&self) {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        let known = |path: &Path| {
            let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
            extension == SUFFIX || extension.starts_with("part-")
        };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let found = entry.metadata().ok().filter(|found| found.is_file())?;
                Some((found.modified().ok()?, found.len(), entry.path()))
            })
            .filter(|(_, _, path)| known(path))
            .collect();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files {
            if all <= ALL_BYTES_MAX {
                break;
            }
            if std::fs::remove_file(path).is_ok() {
                all -= bytes;
            }
        }
    }
}

/// Magic, key, state, and a checksum of all three.
fn wrapped(state: &[u8], key: &str) -> Vec<u8> {
    let mut file = Vec::with_capacity(MAGIC.len() + key.len() + state.len() + 24);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&(key.len() as u64).to_le_bytes());
    file.extend_from_slice(key.as_bytes());
    file.extend_from_slice(state);
    let checksum = xxh3_64(&file);
    file.extend_from_slice(&checksum.to_le_bytes());
    file
}

fn unwrapped(mut file: Vec<u8>, key: &str) -> Option<Vec<u8>> {
    let end = file.len().checked_sub(8)?;
    let begin = MAGIC.len() + 8 + key.len();
    let head = [MAGIC, &(key.len() as u64).to_le_bytes(), key.as_bytes()].concat();
    let is_whole = end >= begin
        && file.starts_with(&head)
        && file[end..] == xxh3_64(&file[..end]).to_le_bytes();
    if !is_whole {
        return None;
    }
    file.truncate(end);
    file.drain(..begin);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_it_was_written_is_not_used() {
        let state: Vec<u8> = (0..1000u32).map(|at| at as u8).collect();
        let file = wrapped(&state, "key");
        assert_eq!(unwrapped(file.clone(), "key").as_deref(), Some(&state[..]));
        assert_eq!(unwrapped(file.clone(), "other"), None);
        for length in 0..file.len() {
            assert_eq!(unwrapped(file[..length].to_vec(), "key"), None, "{length}");
        }
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert_eq!(unwrapped(damaged, "key"), None, "{at}");
        }
    }
}
