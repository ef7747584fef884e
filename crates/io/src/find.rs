//! Files that are looked for by their names and what the kernel says of them. Nothing is opened but
//! directories, and no link is followed.

use drivelab_core::plan::{Find, Found};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// After as many entries it is asked whether to go on.
const ASK_EVERY: u64 = 1 << 10;

/// What one directory holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Files in it.
    pub found: Found,
    /// Directories in it.
    pub below: Vec<PathBuf>,
    /// It was asked to stop, and some of it was not looked at.
    pub is_stopped: bool,
}

/// Looks at all entries of one directory, and asks the kernel about those whose name fits.
///
/// # Errors
/// It cannot be read.
pub fn look(directory: &Path, wanted: &Find, goes_on: impl Fn() -> bool) -> io::Result<Looked> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let open: OwnedFd = openat(CWD, directory, flags, Mode::empty())?;
    let mut looked = Looked::default();
    let mut entries = Dir::read_from(&open)?;
    let mut seen = 0;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        seen += 1;
        if seen % ASK_EVERY == 0 && !goes_on() {
            looked.is_stopped = true;
            break;
        }
        // A file that goes meanwhile is none that could be found.
        let Some(kind) = kind_of(&open, &entry)? else { continue };
        if kind == FileType::Directory {
            let name = std::ffi::OsStr::from_bytes(name.to_bytes());
            looked.below.push(directory.join(name));
            continue;
        }
        looked.found.total += 1;
        let fits = holds(name.to_bytes(), wanted.name.as_bytes());
        let needs_stat = wanted.bytes.is_some() || wanted.changed_from_ns.is_some();
        let is_wanted = fits
            && (!needs_stat || stat(&open, name)?.is_some_and(|found| is_meant(&found, wanted)));
        looked.found.matched += u64::from(is_wanted);
    }
    looked.below.sort();
    Ok(looked)
}

/// What an entry is, where the directory or else the kernel says it.
fn kind_of(directory: &OwnedFd, entry: &rustix::fs::DirEntry) -> io::Result<Option<FileType>> {
    Ok(match entry.file_type() {
        FileType::Unknown => {
            stat(directory, entry.file_name())?.map(|found| FileType::from_raw_mode(found.st_mode))
        }
        known => Some(known),
    })
}

fn stat(directory: impl AsFd, name: &std::ffi::CStr) -> io::Result<Option<Stat>> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => Ok(None),
        other => Ok(Some(other?)),
    }
}

fn is_meant(found: &Stat, wanted: &Find) -> bool {
    let bytes = u64::try_from(found.st_size).unwrap_or(0);
    let changed_ns = i128::from(found.st_ctime) * 1_000_000_000 + found.st_ctime_nsec as i128;
    wanted.bytes.is_none_or(|wanted| wanted.0 == bytes)
        && wanted.changed_from_ns.is_none_or(|from| changed_ns >= i128::from(from))
}

/// Whether `part` stands in `name`.
fn holds(name: &[u8], part: &[u8]) -> bool {
    part.is_empty() || name.windows(part.len()).any(|window| window == part)
}

/// When the inode of a file changed last, in nanoseconds since 1970.
///
/// # Errors
/// It cannot be looked at.
pub fn changed_ns(path: &Path) -> io::Result<u64> {
    let found = std::fs::metadata(path)?;
    let changed_ns = i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec());
    Ok(u64::try_from(changed_ns).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::units::Size;

    #[test]
    fn what_fits_in_all_is_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("01")).expect("a directory");
        for (name, bytes) in [("a01", 3901), ("b01b", 3901), ("01", 0), ("c10", 3901), ("d01", 5)] {
            let path = if name == "01" { at("01").join("01") } else { at(name) };
            std::fs::write(path, vec![0; bytes]).expect("a file");
        }
        std::os::unix::fs::symlink(at("01"), at("link01")).expect("a link");
        let named = Find { name: "01".into(), ..Find::default() };
        let looked = look(directory.path(), &named, || true).expect("it is read");
        assert_eq!(looked.found, Found { matched: 4, total: 5 }, "a link is a file as well");
        assert_eq!(looked.below, [at("01")]);
        let sized = Find { bytes: Some(Size(3901)), ..named.clone() };
        let looked = look(directory.path(), &sized, || true).expect("it is read");
        assert_eq!(looked.found, Found { matched: 2, total: 5 });
        let changed = changed_ns(&at("a01")).expect("its time");
        let of = |from| Find { changed_from_ns: Some(from), ..sized.clone() };
        let matched = |from| look(directory.path(), &of(from), || true).expect("it is read").found;
        assert_eq!(matched(changed).matched, 2);
        assert_eq!(matched(changed + 3_600_000_000_000).matched, 0);
        assert!(look(&at("none"), &named, || true).is_err());
        assert!(look(&at("a01"), &named, || true).is_err(), "a file is no directory");
    }

    #[test]
    fn it_stops_where_it_is_asked_to() {
        let directory = tempfile::tempdir().expect("a directory");
        for number in 0..ASK_EVERY + 10 {
            std::fs::write(directory.path().join(number.to_string()), "").expect("a file");
        }
        let looked = look(directory.path(), &Find::default(), || false).expect("it is read");
        assert!(looked.is_stopped && looked.found.total == ASK_EVERY - 1, "{looked:?}");
        let looked = look(directory.path(), &Find::default(), || true).expect("it is read");
        assert!(!looked.is_stopped && looked.found.total == ASK_EVERY + 10, "{looked:?}");
    }
}
