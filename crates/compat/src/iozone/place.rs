//! Where the files of a line lie, and whether they hold what it reads.

use super::USAGE;
use super::line::Line;
use super::test::Test;
use crate::front::{Found, Refusal, World};
use std::collections::BTreeSet;

/// The file where no -f says otherwise.
const FILE: &str = "iozone.tmp";
/// What IOzone ends with where it cannot open the file for writing.
const CANNOT_OPEN: u8 = 44;
/// What IOzone ends with where a read finds too little.
const NO_DATA: u8 = 60;

/// Where the data goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// TARGET: a directory, a device or a simulated drive.
    pub(super) target: String,
    /// Names of the files in the directory; none on a drive.
    pub(super) names: Vec<String>,
    /// Whether the drive is simulated.
    pub(super) is_simulated: bool,
}

impl Place {
    /// Whether it is a whole drive and no file.
    pub(super) fn is_drive(&self) -> bool {
        self.names.is_empty()
    }
}

/// Where the file of the table lies.
///
/// # Errors
/// A file that cannot be there.
pub(super) fn of_table(line: &Line, world: &dyn World) -> Result<Place, Refusal> {
    let path = line.file.as_deref().unwrap_or(FILE);
    match world.found(path) {
        found @ (Found::Device { .. } | Found::Simulated { .. }) => Ok(drive(path, &found)),
        found => {
            is_possible(path, &found, world)?;
            let (directory, name) = split(path);
            Ok(in_directory(directory, vec![name.to_owned()]))
        }
    }
}

/// Where the files of `count` processes lie.
///
/// # Errors
/// Files that cannot be there, or that have no directory in common.
pub(super) fn of_processes(line: &Line, count: u32, world: &dyn World) -> Result<Place, Refusal> {
    if line.files.is_empty() {
        let names = (0..count).map(|number| format!("iozone.DUMMY.{number}")).collect();
        return Ok(in_directory(".", names));
    }
    let paths: Vec<&str> = line.files.iter().map(String::as_str).collect();
    if let [path] = paths[..]
        && let found @ (Found::Device { .. } | Found::Simulated { .. }) = world.found(path)
    {
        return Ok(drive(path, &found));
    }
    for path in &paths {
        let found = world.found(path);
        if matches!(found, Found::Device { .. } | Found::Simulated { .. }) {
            let text = format!("-F {path}: several drives at once are not supported here");
            return Err(Refusal::new(USAGE, text, "run drivelab once for each of them"));
        }
        is_possible(path, &found, world)?;
    }
    if paths.len() < count as usize && !line.one_file {
        let text = format!("-F names {} files, and {count} processes need {count}", paths.len());
        return Err(Refusal::new(USAGE, text, super::LEFT_OVER));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = paths.iter().find(|path| !seen.insert(**path)) {
        let text = format!("-F {twice}: two processes with one file are not supported here");
        return Err(Refusal::new(USAGE, text, "name each file once; -+V shares one among all"));
    }
    let target = in_common(&paths).ok_or_else(|| {
        let text = "the files of -F have no directory in common but the root";
        Refusal::new(USAGE, text, "put them below one directory, or run drivelab once for each")
    })?;
    let below = |path: &&str| match target {
        "." => (*path).to_owned(),
        directory => path[directory.len()..].trim_start_matches('/').to_owned(),
    };
    Ok(in_directory(target, paths.iter().map(below).collect()))
}

fn drive(path: &str, found: &Found) -> Place {
    let is_simulated = matches!(found, Found::Simulated { .. });
    Place { target: path.to_owned(), names: Vec::new(), is_simulated }
}

fn in_directory(target: &str, names: Vec<String>) -> Place {
    Place { target: target.to_owned(), names, is_simulated: false }
}

/// Whether any of the files is there already.
pub(super) fn is_there(place: &Place, world: &dyn World) -> bool {
    let found = |name: &String| world.found(&joined(&place.target, name));
    place.names.iter().any(|name| matches!(found(name), Found::File { .. }))
}

/// Whether each file holds `bytes` when `first` reads it before anything was written.
///
/// # Errors
/// What IOzone ends with when it does not.
pub(super) fn holds(
    place: &Place,
    first: Test,
    bytes: u64,
    world: &dyn World,
) -> Result<(), Refusal> {
    for name in &place.names {
        let path = joined(&place.target, name);
        match world.found(&path) {
            Found::File { bytes: there } if there >= bytes => {}
            Found::File { bytes: there } => {
                let text = format!(
                    "Error reading block: {path} has {there} bytes, and {} reads {bytes}",
                    first.word()
                );
                return Err(Refusal::new(NO_DATA, text, "use a smaller -s, or test 0 before it"));
            }
            _ => return Err(nothing_to_read(first, &path)),
        }
    }
    Ok(())
}

/// IOzone's own words and status for each test that finds no file.
fn nothing_to_read(first: Test, path: &str) -> Refusal {
    let (status, text) = match first {
        Test::RandomRead | Test::RandomWrite => (70, "Error reading block at 4096".to_owned()),
        Test::BackwardRead => (75, "Can not open temporary file for read".to_owned()),
        Test::StrideRead => (86, "Can not open temporary file for read".to_owned()),
        Test::Fread | Test::Refread => (52, format!("Can not fdopen temp file: {path}")),
        Test::Pread | Test::Repread => {
            (101, format!("Can not open temporary file {path} for read"))
        }
        _ => (58, format!("Can not open temporary file {path} for read")),
    };
    let text = format!("{text}\nopen: No such file or directory");
    Refusal::new(status, text, "add -i 0, which writes the file that the others read")
}

fn is_possible(path: &str, found: &Found, world: &dyn World) -> Result<(), Refusal> {
    let no = |why: &str| {
        let text = format!("Can not open temp file: {path}\nopen: {why}");
        Err(Refusal::new(CANNOT_OPEN, text, "name a file in a directory that exists"))
    };
    match found {
        Found::Directory => no("Is a directory"),
        Found::Unusable(why) => no(why),
        Found::File { .. } => Ok(()),
        _ => match world.found(split(path).0) {
            Found::Directory => Ok(()),
            Found::Absent => no("No such file or directory"),
            _ => no("Not a directory"),
        },
    }
}

fn joined(target: &str, name: &str) -> String {
    match target {
        "." => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{target}/{name}"),
    }
}

/// Directory and name of a path.
fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        None => (".", path),
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
    }
}

/// The deepest directory that all paths lie below; the root does not count.
fn in_common<'a>(paths: &[&'a str]) -> Option<&'a str> {
    let mut common = split(paths.first()?).0;
    if paths.iter().any(|path| path.starts_with('/') != common.starts_with('/')) {
        return None;
    }
    let is_above = |above: &str, path: &str| {
        above == "." || path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
    };
    while !paths.iter().all(|path| is_above(common, path)) {
        common = split(common).0;
        if common == "/" {
            return None;
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_and_share_directories() {
        assert_eq!(split("iozone.tmp"), (".", "iozone.tmp"));
        assert_eq!(split("/mnt/a/f"), ("/mnt/a", "f"));
        assert_eq!(split("/f"), ("/", "f"));
        assert_eq!(in_common(&["/mnt/a/f", "/mnt/b/f"]), Some("/mnt"));
        assert_eq!(in_common(&["/mnt/a/f", "/mnt/ab"]), Some("/mnt"));
        assert_eq!(in_common(&["/a/f", "/b/f"]), None);
        assert_eq!(in_common(&["a/f", "f"]), Some("."));
        assert_eq!(in_common(&["a/f", "a/g"]), Some("a"));
        assert_eq!(in_common(&["/a/f", "f"]), None);
    }
}
