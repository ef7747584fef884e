//! Files of results that a line asked for. What is there already and is no such file stays.

use crate::outcome::Failure;
use crate::print;
use drivelab_compat::front::{Existing, Job, LOOKED_AT_BYTES, OutputFile, ResultFile};
use drivelab_io::scratch::{Entry, Identity, Ledger, ScratchKind};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Names that are no files.
const STREAMS: [&str; 3] = ["/dev/stdout", "/dev/stderr", "/dev/null"];

/// When a file of results is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Before anything is run.
    Before,
    /// When there are results.
    After,
}

/// Looks whether results could be written, before what they are of is run.
///
/// # Errors
/// As [`write()`] would end: what is there is not ours, or nothing can be written there.
pub fn check(job: &Job, list: &Ledger, touches_nothing: bool) -> Result<(), Failure> {
    for place in &job.results {
        let path = Path::new(&place.path);
        if is_stream(path) {
            continue;
        }
        let failed = |error: Error| failed(path, &error, When::Before);
        let is_there = is_there(place, list, When::Before)?;
        if is_data(path, job) {
            return Err(failed(Error::other("the line's own data goes there")));
        }
        if !std::fs::metadata(directory(path)).map_err(failed)?.is_dir() {
            return Err(failed(Error::from(ErrorKind::NotADirectory)));
        }
        if !touches_nothing {
            try_out(place, is_there).map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes a file of results, in the place of or behind what may be there.
///
/// # Errors
/// What is there is not ours, or nothing can be written there.
pub fn write(file: &OutputFile, list: &Ledger) -> Result<(), Failure> {
    let path = Path::new(&file.place.path);
    if is_stream(path) {
        let text = String::from_utf8_lossy(&file.bytes);
        match path.ends_with("null") {
            true => {}
            false if path.ends_with("stderr") => print::error(text.trim_end()),
            false => print::text(&text),
        }
        return Ok(());
    }
    let is_there = is_there(&file.place, list, When::After)?;
    let written = replace(&file.place, is_there, list).and_then(|mut opened| {
        if !appends(&file.place) {
            enter(path, &opened, list);
        }
        opened.write_all(&file.bytes)
    });
    written.map_err(|error| failed(path, &error, When::After))
}

/// What results are written to, after what was there is gone if it is to go.
fn replace(place: &ResultFile, is_there: bool, list: &Ledger) -> std::io::Result<File> {
    let path = Path::new(&place.path);
    if is_there && !appends(place) {
        let identity = File::open(path).and_then(Identity::of);
        std::fs::remove_file(path)?;
        // An entry that stays behind is of a file that is no more.
        let _ = identity.and_then(|identity| list.forget(identity));
    }
    opened(place, is_there, path)
}

/// Puts a new file on the list. One that is not there is known by what it holds, or not at all.
fn enter(path: &Path, file: &File, list: &Ledger) {
    let entry = |identity| Entry::new(ScratchKind::File, path, identity, true);
    let _ = Identity::of(file).and_then(|identity| list.record(&entry(identity)));
}

/// Whether a file is on the list.
fn is_listed(path: &Path, list: &Ledger) -> bool {
    let identity = File::open(path).and_then(Identity::of);
    identity.and_then(|identity| list.ours(identity)).is_ok_and(|found| found.is_some())
}

fn is_stream(path: &Path) -> bool {
    STREAMS.iter().any(|stream| path == Path::new(stream))
}

fn failed(path: &Path, error: &Error, when: When) -> Failure {
    let text = format!("the results cannot be written to {}: {error}", path.display());
    Failure::usage(text).advise(match when {
        When::Before => "Nothing was run; name another file.",
        When::After => "They are in the run file; `drivelab report` shows them again.",
    })
}

/// Whether a path is one of the files that the line measures.
fn is_data(path: &Path, job: &Job) -> bool {
    let plain = |path: PathBuf| -> PathBuf {
        path.components().filter(|part| part.as_os_str() != ".").collect()
    };
    let target = Path::new(&job.target);
    let mut files = job.plan.files.iter().map(|file| plain(target.join(&file.name)));
    let path = plain(path.to_path_buf());
    let is_target = path == plain(target.to_path_buf()) && !path.as_os_str().is_empty();
    is_target || files.any(|file| file == path)
}

/// Whether something is there, which then may be written.
fn is_there(place: &ResultFile, list: &Ledger, when: When) -> Result<bool, Failure> {
    let path = Path::new(&place.path);
    let begin = beginning(path).map_err(|error| failed(path, &error, when))?;
    let Some(begin) = begin else { return Ok(false) };
    if place.existing.takes(&begin, is_listed(path, list)) {
        return Ok(true);
    }
    let text = format!("refused: {} exists and holds no results of this kind", path.display());
    Err(Failure::refused(text).advise(match when {
        When::Before => "Nothing was run, and it was left as it is; name another file.",
        When::After => "It was left as it is; name another file. The results are in the run file.",
    }))
}

/// The first bytes of what is there; `None`: nothing is.
fn beginning(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    if !found.is_file() {
        return Err(Error::other("it is no regular file"));
    }
    let mut begin = Vec::new();
    File::open(path)?.take(LOOKED_AT_BYTES as u64).read_to_end(&mut begin)?;
    Ok(Some(begin))
}

/// The directory that a file is in.
fn directory(path: &Path) -> &Path {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

fn appends(place: &ResultFile) -> bool {
    matches!(place.existing, Existing::AppendAfter(_))
}

/// What results are written to: what is there, or a new file of that name.
fn opened(place: &ResultFile, is_there: bool, new: &Path) -> std::io::Result<File> {
    match is_there && appends(place) {
        true => File::options().append(true).open(&place.path),
        false => File::create_new(new),
    }
}

/// Does as writing will, and leaves no trace.
fn try_out(place: &ResultFile, is_there: bool) -> std::io::Result<()> {
    let path = Path::new(&place.path);
    // Whether a file can be replaced is whether its directory takes another one.
    let new = match is_there {
        true => directory(path).join(format!(".drivelab-{}", std::process::id())),
        false => path.to_path_buf(),
    };
    opened(place, is_there, &new)?;
    if is_there && appends(place) { Ok(()) } else { std::fs::remove_file(new) }
}
