//! Files of results that a line asked for. What is there already and is not as drivelab wrote it
//! stays.

use crate::outcome::Failure;
use crate::print;
use drivelab_compat::front::{Existing, Job, LOOKED_AT_BYTES, OutputFile, ResultFile};
use drivelab_io::results::{self, There};
use drivelab_io::scratch::ScratchList;
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
pub fn check(job: &Job, list: &ScratchList, touches_nothing: bool) -> Result<(), Failure> {
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
            let there = if is_there { There::Own } else { There::Nothing };
            let is_pipe = results::look(path, Some(list)).is_ok_and(|there| there == There::Pipe);
            results::try_out(path, if is_pipe { There::Pipe } else { there }).map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes a file of results, in the place of or behind what may be there.
///
/// # Errors
/// What is there is not ours, or nothing can be written there.
pub fn write(file: &OutputFile, list: &ScratchList) -> Result<(), Failure> {
    let path = Path::new(&file.place.path);
    if is_stream(path) {
        let text = String::from_utf8_lossy(&file.bytes);
        match path.ends_with("null") {
            true => {}
            false if path.ends_with("stderr") => print::error(text.trim_end()),
            false => print::verbatim(&text),
        }
        return Ok(());
    }
    let is_there = is_there(&file.place, list, When::After)?;
    let written = match is_there && appends(&file.place) {
        true => File::options()
            .append(true)
            .open(path)
            .and_then(|mut opened| opened.write_all(&file.bytes)),
        false => results::write(path, &file.bytes, Some(list)),
    };
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
    let is_target = path == plain(target.to_path_buf()) && !path.as_os_str().is_empty();
    is_target || files.any(|file| file == path)
}

/// Whether something is there, which then may be written.
fn is_there(place: &ResultFile, list: &ScratchList, when: When) -> Result<bool, Failure> {
    let path = Path::new(&place.path);
    let failed = |error: Error| failed(path, &error, when);
    let there = results::look(path, Some(list)).map_err(failed)?;
    match there {
        There::Nothing => return Ok(false),
        There::Pipe => return Ok(true),
        There::NoFile => return Err(failed(Error::other("it is not a regular file"))),
        There::Empty | There::Own | There::Foreign => {}
    }
    if place.existing.takes(&beginning(path).map_err(failed)?, there == There::Own) {
        return Ok(true);
    }
    let shown = path.display();
    let text = format!("refused: {shown} exists and is not as drivelab wrote it");
    Err(Failure::refused(text).advise(match when {
        When::Before => "Nothing was run, and it was left as it is; name another file.",
        When::After => "It was left as it is; name another file. The results are in the run file.",
    }))
}

/// The first bytes of what is there.
fn beginning(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    File::open(path)?.take(LOOKED_AT_BYTES as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

/// The directory that a file is in.
fn directory(path: &Path) -> &Path {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

fn appends(place: &ResultFile) -> bool {
    matches!(place.existing, Existing::AppendAfter(_))
}
