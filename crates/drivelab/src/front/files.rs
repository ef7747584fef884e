//! Files of results that a line asked for. What is there already and is no such file stays.

use crate::outcome::Failure;
use crate::print;
use drivelab_compat::front::{Existing, Job, LOOKED_AT_BYTES, OutputFile, ResultFile};
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
pub fn check(job: &Job, touches_nothing: bool) -> Result<(), Failure> {
    for place in &job.results {
        let path = Path::new(&place.path);
        if is_stream(path) {
            continue;
        }
        let failed = |error: Error| failed(path, &error, When::Before);
        let is_there = is_there(place, When::Before)?;
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
pub fn write(file: &OutputFile) -> Result<(), Failure> {
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
    let is_there = is_there(&file.place, When::After)?;
    let replaced = match is_there && !appends(&file.place) {
        true => std::fs::remove_file(path),
        false => Ok(()),
    };
    let opened = replaced.and_then(|()| opened(&file.place, is_there, path));
    let written = opened.and_then(|mut opened| opened.write_all(&file.bytes));
    written.map_err(|error| failed(path, &error, When::After))
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
    path == plain(target.to_path_buf()) || files.any(|file| file == path)
}

/// Whether something is there, which then may be written.
fn is_there(place: &ResultFile, when: When) -> Result<bool, Failure> {
    let path = Path::new(&place.path);
    let begin = beginning(path).map_err(|error| failed(path, &error, when))?;
    let Some(begin) = begin else { return Ok(false) };
    if place.existing.takes(&begin) {
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
