//! Files of results: reports, tables, and what the lines of other tools ask for. What is there and
//! is not drivelab's own, as drivelab left it, stays.

use crate::identity::Identity;
use crate::scratch::{Entry, Left, ScratchKind, ScratchList};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// A page is read so far to see whether it is as it was written.
const PAGE_BYTES_MAX: u64 = 1 << 26;
/// What a page of drivelab ends with: a mark, and the hash of what stands before it.
const MARK_BEGIN: &str = "<!-- drivelab ";
const MARK_END: &str = " -->\n";

/// The same of a text of metrics, which must end otherwise.
const METRICS_MARK_BEGIN: &str = "drivelab_file_mark{hash=\"";
const METRICS_MARK_END: &str = "\"} 1\n# EOF\n";

/// What stands where results are to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There {
    /// No file exists there.
    Nothing,
    /// A regular file without content; it is filled, and its mode kept.
    Empty,
    /// Results that drivelab wrote and nobody has changed since.
    Own,
    /// Somebody reads it: a pipe.
    Pipe,
    /// Something else.
    Foreign,
    /// No file to write to: a directory, a device, a link.
    NoFile,
}

/// Looks at what is there, and changes nothing.
///
/// # Errors
/// It cannot be looked at.
pub fn look(path: &Path, list: Option<&ScratchList>) -> Result<There> {
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(There::Nothing),
        other => other?,
    };
    if std::fs::metadata(path).is_ok_and(|behind| behind.file_type().is_fifo()) {
        return Ok(There::Pipe);
    }
    if !found.is_file() {
        return Ok(There::NoFile);
    }
    if found.len() == 0 {
        return Ok(There::Empty);
    }
    let mut file = File::open(path)?;
    Ok(match is_listed(&file, list) || is_marked(&mut file)? {
        true => There::Own,
        false => There::Foreign,
    })
}

/// Whether drivelab wrote it, and nobody has changed it since.
fn is_listed(file: &File, list: Option<&ScratchList>) -> bool {
    let known = Identity::of(file).and_then(|identity| match list {
        Some(list) => list.ours(identity),
        None => Ok(None),
    });
    let left = known.ok().flatten().and_then(|entry| entry.left);
    left.is_some() && Left::of(file).is_ok_and(|now| now == left)
}

/// A page with the mark at its end by which it is known again, wherever it was taken.
pub fn marked(mut page: String) -> String {
    let hash = hash(page.as_bytes());
    page.push_str(&format!("{MARK_BEGIN}{hash:016x}{MARK_END}"));
    page
}

/// A text of metrics with the mark by which it is known again, and the end that it needs.
pub fn marked_metrics(mut text: String) -> String {
    let hash = hash(text.as_bytes());
    text.push_str(&format!("{METRICS_MARK_BEGIN}{hash:016x}{METRICS_MARK_END}"));
    text
}

fn is_marked(file: &mut File) -> Result<bool> {
    let mut bytes = Vec::new();
    file.take(PAGE_BYTES_MAX).read_to_end(&mut bytes)?;
    let ends_with_mark = |begin: &str, end: &str| {
        let length = begin.len() + 16 + end.len();
        let Some(at) = bytes.len().checked_sub(length) else { return false };
        let (text, mark) = bytes.split_at(at);
        mark == format!("{begin}{:016x}{end}", hash(text)).as_bytes()
    };
    Ok(ends_with_mark(MARK_BEGIN, MARK_END) || ends_with_mark(METRICS_MARK_BEGIN, METRICS_MARK_END))
}

/// FNV-1a (draft-eastlake-fnv): tells a page that somebody has edited, not one that was forged.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Writes results, after another look. What is empty or drivelab's own keeps its mode.
///
/// # Errors
/// Of the kind `AlreadyExists`: something else is there; nothing was changed. Others as writing.
pub fn write(path: &Path, bytes: &[u8], list: Option<&ScratchList>) -> Result<()> {
    let mut file = begin(path, list)?;
    file.write_all(bytes)?;
    if file.metadata()?.is_file() {
        enter(path, &file, list);
    }
    Ok(())
}

/// Opens a file of results that grows; one that is drivelab's own is emptied.
///
/// # Errors
/// As for [`write`].
pub fn begin(path: &Path, list: Option<&ScratchList>) -> Result<File> {
    match look(path, list)? {
        There::Nothing => File::create_new(path),
        There::Pipe => File::options().write(true).open(path),
        There::Empty | There::Own => again(path, list),
        There::Foreign | There::NoFile => Err(Error::from(ErrorKind::AlreadyExists)),
    }
}

/// Puts results in the place of what drivelab wrote there, at once: a reader sees the old ones or
/// the new ones. What is there keeps its mode.
///
/// # Errors
/// Of the kind `AlreadyExists`: something else is there; nothing was changed. Others as writing.
pub fn replace(path: &Path, bytes: &[u8], list: Option<&ScratchList>) -> Result<()> {
    let there = look(path, list)?;
    if !matches!(there, There::Nothing | There::Empty | There::Own) {
        return Err(Error::from(ErrorKind::AlreadyExists));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let next = path.with_file_name(format!(".{name}.drivelab-{}", std::process::id()));
    let written = File::create_new(&next).and_then(|mut file| {
        if there != There::Nothing {
            file.set_permissions(std::fs::metadata(path)?.permissions())?;
        }
        file.write_all(bytes)?;
        std::fs::rename(&next, path)
    });
    if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) {
        let _ = std::fs::remove_file(&next);
    }
    written
}

/// Opens what was seen to be empty or our own, sees it again, and empties it.
fn again(path: &Path, list: Option<&ScratchList>) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.open(path)?;
    let found = file.metadata()?;
    let is_ours =
        found.is_file() && (found.len() == 0 || is_listed(&file, list) || is_marked(&mut file)?);
    if !is_ours {
        return Err(Error::from(ErrorKind::AlreadyExists));
    }
    file.set_len(0)?;
    std::io::Seek::rewind(&mut file)?;
    Ok(file)
}

/// Puts what was written on the list, as it is now. One that is not there is known by its mark, or
/// not at all.
pub fn enter(path: &Path, file: &File, list: Option<&ScratchList>) {
    let (Some(list), Ok(identity)) = (list, Identity::of(file)) else { return };
    let Ok(path) = std::path::absolute(path) else { return };
    let entry = Entry::new(ScratchKind::File, &path, identity, true);
    let _ = list.leave([(file, &entry)].into_iter());
}

/// Does as writing will, and leaves no trace.
///
/// # Errors
/// Nothing can be made or written there.
pub fn try_out(path: &Path, there: There) -> Result<()> {
    match there {
        There::Nothing => {
            File::create_new(path)?;
            std::fs::remove_file(path)
        }
        There::Empty | There::Own => File::options().append(true).open(path).map(drop),
        There::Pipe | There::Foreign | There::NoFile => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_by_its_mark_until_it_is_edited() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page");
        assert_eq!(look(&path, None).unwrap(), There::Nothing);
        write(&path, marked("<!doctype html>one".into()).as_bytes(), None).unwrap();
        assert_eq!(look(&path, None).unwrap(), There::Own);
        write(&path, marked("two".into()).as_bytes(), None).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("two<!-- drivelab "), "{text}");
        std::fs::write(&path, text.replace("two", "my notes on drivelab")).unwrap();
        assert_eq!(look(&path, None).unwrap(), There::Foreign);
        let refused = write(&path, b"three", None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("my notes"));
    }

    #[test]
    fn metrics_are_replaced_at_once_and_only_where_they_are_drivelabs_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("drivelab.prom");
        let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
        replace(&path, marked_metrics("one 1\n".into()).as_bytes(), None).unwrap();
        let first = inode();
        replace(&path, marked_metrics("two 2\n".into()).as_bytes(), None).unwrap();
        assert_ne!(first, inode(), "another file was put in its place");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("two 2\ndrivelab_file_mark{"), "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
        std::fs::write(&path, text.replace("two 2", "two 3")).unwrap();
        let refused = replace(&path, b"three", None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("two 3"));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left");
    }

    #[test]
    fn a_file_without_a_mark_is_known_by_the_list_until_it_is_edited() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cells.csv");
        let list = ScratchList::at(directory.path().join("results.jsonl"));
        write(&path, b"1,2\n", Some(&list)).unwrap();
        write(&path, b"3,4\n", Some(&list)).unwrap();
        assert_eq!(look(&path, Some(&list)).unwrap(), There::Own);
        assert_eq!(look(&path, None).unwrap(), There::Foreign);
        std::fs::write(&path, "3,4,a note of mine\n").unwrap();
        assert_eq!(look(&path, Some(&list)).unwrap(), There::Foreign);
    }
}
