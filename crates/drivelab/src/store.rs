//! Run files: where they are, what they are called, and how they are found again.

pub mod pruning;
pub mod reader;
pub mod writer;

use crate::outcome::Failure;
use drivelab_core::record::Begin;
use drivelab_io::scratch::ScratchList;
use drivelab_report::shell_word;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Facts and arguments take far fewer.
const FIRST_LINE_BYTES_MAX: u64 = 1 << 24;
/// The list of scratch files.
const SCRATCH: &str = "scratch.jsonl";
/// The list of files of results, next to it.
const RESULTS: &str = "results.jsonl";

/// The directory of runs: `--runs DIR`, else `$XDG_DATA_HOME/drivelab/runs`, else the same under
/// `~/.local/share`.
pub fn directory(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(directory) = asked {
        return std::path::absolute(directory)
            .map_err(|error| Failure::usage(format!("--runs {}: {error}", directory.display())));
    }
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("drivelab/runs")).ok_or_else(|| {
        Failure::usage("neither XDG_DATA_HOME nor HOME says where runs are kept")
            .advise("Name a directory with --runs DIR.")
    })
}

/// A new run ID: `YYYYMMDD-HHMMSS-xxxx`.
pub fn new_id() -> String {
    format!("{}-{}", crate::wall_clock::WallTime::now().compact(), crate::entropy::four_digits())
}

/// Whether this is the form of a run ID.
pub fn is_id(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut digits = |count: usize, radix: u32| {
        parts
            .next()
            .is_some_and(|part| part.len() == count && part.chars().all(|c| c.is_digit(radix)))
    };
    digits(8, 10) && digits(6, 10) && digits(4, 16) && parts.next().is_none()
}

/// The IDs in a directory, oldest first. A directory that does not exist holds none.
pub fn ids(directory: &Path) -> Result<Vec<String>, Failure> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let text = format!("cannot read the runs in {}: {error}", directory.display());
            return Err(Failure::usage(text));
        }
    };
    let mut ids: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".jsonl").filter(|id| is_id(id)).map(String::from))
        .collect();
    ids.sort();
    Ok(ids)
}

/// The beginnings of all runs that can be read, by ID.
pub fn begun(directory: &Path) -> Result<Vec<(PathBuf, Begin)>, Failure> {
    let read = |id: String| {
        let path = directory.join(format!("{id}.jsonl"));
        let begin = reader::begin(&path).ok()?;
        Some((path, begin))
    };
    Ok(ids(directory)?.into_iter().filter_map(read).collect())
}

/// The latest of several runs: by its ID, and of those that began in one second the last written.
/// One whose ID lies in the future was made while the clock was wrong, and comes before all others;
/// one that was killed before its first record is none.
fn latest(ids: &[String], directory: &Path) -> Option<String> {
    let now = crate::wall_clock::WallTime::now().compact();
    let ids: Vec<&String> =
        ids.iter().filter(|id| has_begun(&directory.join(format!("{id}.jsonl")))).collect();
    let (past, future): (Vec<&String>, Vec<&String>) =
        ids.into_iter().partition(|id| id.get(..15).is_some_and(|second| second <= now.as_str()));
    let ids = if past.is_empty() { future } else { past };
    let second = |id: &str| id.get(..15).map(String::from);
    let last = ids.last()?;
    let rivals = ids.iter().filter(|id| second(id) == second(last));
    let changed = |id: &str| {
        let found = std::fs::metadata(directory.join(format!("{id}.jsonl"))).ok()?;
        found.modified().ok()
    };
    rivals.max_by_key(|id| changed(id)).map(|id| (*id).clone())
}

/// Whether a run file has a whole first line.
fn has_begun(path: &Path) -> bool {
    let mut line = Vec::new();
    let file = std::fs::File::open(path).map(BufReader::new);
    let read = file.and_then(|file| file.take(FIRST_LINE_BYTES_MAX).read_until(b'\n', &mut line));
    read.is_ok() && line.last() == Some(&b'\n')
}

/// The runs with this tag, oldest first.
pub fn with_tag(tag: &str, directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let begun = begun(directory)?.into_iter();
    let tagged = begun.filter(|(_, begin)| begin.tag.as_deref() == Some(tag));
    Ok(tagged.map(|(path, _)| path).collect())
}

/// The file that RUN means: a path, an ID, `last`, or the tag of a single run.
pub fn locate(run: &str, directory: &Path) -> Result<PathBuf, Failure> {
    let in_store = |id: &str| directory.join(format!("{id}.jsonl"));
    if run == "last" {
        let last = latest(&ids(directory)?, directory).ok_or_else(|| {
            Failure::usage(format!("there are no runs in {}", directory.display()))
                .advise("Make one with `drivelab check`, or name another directory with --runs.")
        })?;
        return Ok(in_store(&last));
    }
    if is_id(run) {
        let path = in_store(run);
        return if path.exists() {
            Ok(path)
        } else {
            Err(Failure::usage(format!("there is no run {run} in {}", directory.display()))
                .advise("`drivelab runs` lists them."))
        };
    }
    let path = PathBuf::from(run);
    if path.is_file() {
        return Ok(path);
    }
    match with_tag(run, directory).unwrap_or_default().as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::usage(format!(
            "`{run}` is not a run: there is no such file, and it does not have the form of an ID"
        ))
        .advise("Give a path, an ID or a tag from `drivelab runs`, or `last`.")),
        several => Err(Failure::usage(format!("{} runs have the tag `{run}`", several.len()))
            .advise(format!("Name one of them:  drivelab runs --tag {}", shell_word(run)))),
    }
}

/// The list of our scratch files, next to the runs: `$XDG_DATA_HOME/drivelab/scratch.jsonl`, or
/// among the `runs` where neither that nor HOME is set: what was named is ours to write in, and
/// nothing above it.
///
/// # Errors
/// There is no such place.
pub fn scratch_list(runs: Option<&Path>) -> Result<PathBuf, Failure> {
    match (directory(None), runs) {
        (Ok(own), _) => Ok(own.with_file_name(SCRATCH)),
        (Err(_), Some(runs)) => Ok(runs.join(SCRATCH)),
        (Err(failure), None) => Err(failure),
    }
}

/// The list of the files of results that drivelab wrote.
///
/// # Errors
/// There is no place for it.
pub fn results(runs: Option<&Path>) -> Result<ScratchList, Failure> {
    Ok(ScratchList::at(scratch_list(runs)?.with_file_name(RESULTS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_form() {
        let id = new_id();
        assert!(is_id(&id), "{id}");
        for wrong in ["", "last", "20261120-150312", "20261120-150312-xyzw", "2026-1-1-1"] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }
}
