//! Files of results that a line asked for. What is there already and is no such file stays.

use crate::outcome::Failure;
use crate::print;
use drivelab_compat::front::{Existing, OutputFile};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Writes a file of results, in the place of or behind what may be there.
pub fn write(file: &OutputFile) -> Result<(), Failure> {
    let path = Path::new(&file.path);
    let failed = |error: std::io::Error| {
        Failure::usage(format!("the results cannot be written to {}: {error}", path.display()))
            .advise("They are in the run file; `drivelab report` shows them again.")
    };
    if ["/dev/stdout", "/dev/stderr", "/dev/null"].iter().any(|stream| path == Path::new(stream)) {
        let text = String::from_utf8_lossy(&file.bytes);
        match path.ends_with("null") {
            true => {}
            false if path.ends_with("stderr") => print::error(text.trim_end()),
            false => print::text(&text),
        }
        return Ok(());
    }
    let Some(begin) = beginning(path, &file.existing).map_err(failed)? else {
        let mut new = File::create_new(path).map_err(failed)?;
        return new.write_all(&file.bytes).map_err(failed);
    };
    let (marks, appends) = match &file.existing {
        Existing::AppendAfter(marks) => (marks, true),
        Existing::ReplaceOwn(marks) => (marks, false),
    };
    if !begin.is_empty() && !begin.starts_with(marks) {
        let text = format!("refused: {} exists and holds no results of this kind", path.display());
        return Err(Failure::refused(text)
            .advise("It was left as it is; name another file. The results are in the run file."));
    }
    if appends {
        let mut old = File::options().append(true).open(path).map_err(failed)?;
        return old.write_all(&file.bytes).map_err(failed);
    }
    std::fs::remove_file(path).map_err(failed)?;
    File::create_new(path).and_then(|mut new| new.write_all(&file.bytes)).map_err(failed)
}

/// The first bytes of what is there, as many as the marks have; `None`: nothing is.
fn beginning(path: &Path, existing: &Existing) -> std::io::Result<Option<Vec<u8>>> {
    let (Existing::AppendAfter(marks) | Existing::ReplaceOwn(marks)) = existing;
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    if !found.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut begin = Vec::new();
    File::open(path)?.take(marks.len().max(1) as u64).read_to_end(&mut begin)?;
    Ok(Some(begin))
}
