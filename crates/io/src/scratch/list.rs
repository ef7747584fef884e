//! The list as a file: opened only if it is one, read and appended line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{Entry, Line};

/// The first line of a list has fewer bytes.
const LINE_BYTES_MAX: u64 = 1 << 16;

/// Opens a list, never through a link. What is there and is none is an error of the kind
/// `InvalidData`; nothing was changed in it then.
pub(super) fn open(path: &Path, create: bool) -> io::Result<File> {
    let mut options = File::options();
    // The program's own list, never a target.
    options.read(true).append(true).create(create).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => foreign("it is a symbolic link"),
        _ => error,
    })?;
    match file.metadata()? {
        found if !found.is_file() => Err(foreign("it is not a regular file")),
        found if found.len() > 0 && !is_list(&file)? => {
            Err(foreign("it is not drivelab's list of its own files"))
        }
        _ => Ok(file),
    }
}

fn foreign(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Whether its first line is of a list, or of one that a crash has torn in its very first line.
fn is_list(file: &File) -> io::Result<bool> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(file.take(LINE_BYTES_MAX));
    (&*file).seek(SeekFrom::Start(0))?;
    reader.read_until(b'\n', &mut line)?;
    let is_whole = line.last() == Some(&b'\n');
    match serde_json::from_slice::<Line>(&line) {
        Ok(_) => Ok(true),
        Err(_) if is_whole => Ok(false),
        Err(_) => Ok(b"{\"event\":\"made\",\"kind\":".starts_with(&line)
            || line.starts_with(b"{\"event\":\"made\",\"kind\":")),
    }
}

pub(super) fn text_of(lines: &[Line]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line).map_err(io::Error::other)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// Appends lines, after ending one that a crash left open.
pub(super) fn append(file: &mut File, lines: &[Line]) -> io::Result<()> {
    let mut text = text_of(lines)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.insert(0, b'\n');
        }
    }
    file.write_all(&text)
}

pub(super) fn read(file: &mut File) -> io::Result<Vec<Entry>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let mut entries: Vec<Entry> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Line::Made(entry)) => {
                entries.retain(|known| known.identity != entry.identity);
                entries.push(entry);
            }
            Ok(Line::Gone(identity)) => entries.retain(|known| known.identity != identity),
            Ok(Line::Alive { life, at }) => {
                let own = entries.iter_mut().filter(|known| known.life.as_ref() == Some(&life));
                own.for_each(|known| known.seen = Some(at));
            }
            Err(_) => {}
        }
    }
    Ok(entries)
}
