//! Which drive is meant, and how much of it each worker uses.

use super::USAGE;
use super::icf::{SECTOR_BYTES, Worker};
use crate::front::{Found, Refusal, Scale, World};

/// The file that Iometer uses in a mounted drive.
pub const FILE: &str = "iobw.tst";
/// Files grow by these.
const FILE_GRAIN_BYTES: u64 = 4096;

/// The drive of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drive {
    /// Where it is, as our own command line names it.
    pub path: String,
    /// Kind of the drive.
    pub kind: DriveKind,
    /// Its bytes, or those of its file; `None` where a file is still to be made.
    pub bytes: Option<u64>,
}

/// What a drive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveKind {
    /// A device or a simulated drive.
    Raw,
    /// A file that was named as a drive.
    File,
    /// A directory in a mounted file system, whose file is used.
    Mounted,
}

/// The part of a drive that a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// First byte.
    pub offset: u64,
    /// Bytes; `None`: to the end.
    pub length: Option<u64>,
    /// The worker asked for more than there is, and gets what there is.
    pub is_cut: bool,
}

/// A name as it is in the file, without the file system behind it: `/mnt/x [ext4]`.
pub fn bare(name: &str) -> &str {
    match name.rsplit_once(" [") {
        Some((before, kind)) if kind.ends_with(']') => before.trim_end(),
        _ => name,
    }
}

fn is_path(name: &str) -> bool {
    name.starts_with('/') || name.starts_with("sim:")
}

/// The drive that `name`, on line `line` of the configuration file `file`, means here.
pub fn find(
    name: Option<(usize, &str)>,
    file: &str,
    option: Option<&str>,
    world: &dyn World,
) -> Result<Drive, Refusal> {
    let named = name.map(|(_, name)| bare(name)).filter(|name| is_path(name));
    let Some(path) = option.or(named) else {
        let text = match name {
            Some((line, name)) => format!(
                "{file}:{line}: target `{name}` is a name on the machine that wrote the file"
            ),
            None => format!("{file}: no worker has a target"),
        };
        return Err(Refusal::new(
            USAGE,
            text,
            "say which drive is meant: --target with a device, a directory or sim:PROFILE",
        ));
    };
    let (kind, bytes) = match world.found(path) {
        Found::Device { bytes } | Found::Simulated { bytes } => (DriveKind::Raw, Some(bytes)),
        Found::File { bytes } => (DriveKind::File, Some(bytes)),
        Found::Directory => (DriveKind::Mounted, prepared(path, world)?),
        Found::Absent => {
            let text = format!("there is no drive `{path}`");
            return Err(Refusal::new(USAGE, text, "name a device, a directory or sim:PROFILE"));
        }
        Found::Unusable(why) => {
            return Err(Refusal::new(USAGE, format!("`{path}`: {why}"), "name another drive"));
        }
    };
    Ok(Drive { path: path.to_owned(), kind, bytes })
}

/// The bytes of the file that a directory has already.
fn prepared(directory: &str, world: &dyn World) -> Result<Option<u64>, Refusal> {
    let path = format!("{}/{FILE}", directory.trim_end_matches('/'));
    match world.found(&path) {
        Found::Absent => Ok(None),
        Found::File { bytes } => Ok(Some(bytes)),
        _ => Err(Refusal::new(
            USAGE,
            format!("`{path}` is not a file"),
            "remove it, or name another directory",
        )),
    }
}

/// The bytes of the file that Iometer would make for `worker`, the first on this drive.
pub fn file_bytes(worker: &Worker, file: &str, scale: Scale) -> Result<u64, Refusal> {
    if worker.maximum_sectors == 0 {
        let Worker { line, name, .. } = worker;
        return Err(Refusal::new(
            USAGE,
            format!(
                "{file}:{line}: worker `{name}` has no maximum disk size, and there is no {FILE} \
                 yet: Iometer would fill the drive with it"
            ),
            "write a number of sectors instead of 0 as `Disk maximum size`",
        ));
    }
    let (start, maximum) = scaled(worker, scale);
    Ok((start + maximum).next_multiple_of(FILE_GRAIN_BYTES))
}

/// First byte and bytes that a worker asks for.
fn scaled(worker: &Worker, scale: Scale) -> (u64, u64) {
    // So that a sum of both is a number, too.
    let bytes = |sectors: u64| {
        scale.of(sectors.saturating_mul(SECTOR_BYTES), SECTOR_BYTES).min(u64::MAX / 4)
    };
    (bytes(worker.starting_sector), bytes(worker.maximum_sectors))
}

/// The part that `worker` uses of a drive of `bytes`, of which `whole` bytes are used where the
/// worker names no size, from a multiple of `grid` on.
pub fn part(worker: &Worker, bytes: u64, whole: u64, grid: u64, scale: Scale) -> Part {
    let (start, maximum) = scaled(worker, scale);
    // Requests begin at multiples of the grid from the beginning of the disk, not of the part.
    let offset = start.checked_next_multiple_of(grid).unwrap_or(start);
    let end = start.checked_add(maximum).filter(|end| maximum > 0 && *end <= bytes);
    let length = match end {
        Some(end) => Some(end.saturating_sub(offset)),
        None if whole < bytes => Some(whole.saturating_sub(offset)),
        None => None,
    };
    Part { offset, length, is_cut: maximum > 0 && end.is_none() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(maximum_sectors: u64, starting_sector: u64) -> Worker {
        Worker { maximum_sectors, starting_sector, ..Worker::disk(1, "W") }
    }

    #[test]
    fn names_lose_their_file_system() {
        assert_eq!(bare("/mnt/x [ext4]"), "/mnt/x");
        assert_eq!(bare("sda [drive]"), "sda");
        assert_eq!(bare("C: \"Data [x] disk\""), "C: \"Data [x] disk\"");
    }

    #[test]
    fn parts_are_the_guides() {
        let part = |maximum, start, bytes, grid| {
            let found = part(&worker(maximum, start), bytes, bytes, grid, Scale::WHOLE);
            (found.offset, found.length, found.is_cut)
        };
        // Sectors 5 to 14.
        assert_eq!(part(10, 5, 1 << 20, 512), (2560, Some(5120), false));
        assert_eq!(part(0, 0, 1 << 20, 512), (0, None, false));
        assert_eq!(part(0, 8, 1 << 20, 512), (4096, None, false));
        // Beyond the end: silently all of it.
        assert_eq!(part(2049, 0, 1 << 20, 512), (0, None, true));
        assert_eq!(part(u64::MAX >> 10, 1, 1 << 20, 512), (512, None, true));
        // From the next multiple of the alignment on.
        assert_eq!(part(100, 63, 1 << 20, 4096), (32768, Some(163 * 512 - 32768), false));
    }

    #[test]
    fn a_scale_shrinks_what_is_used() {
        let scale = Scale { numerator: 1, denominator: 1024 };
        assert_eq!(part(&worker(2048, 0), 1 << 20, 1024, 512, scale).length, Some(1024));
        assert_eq!(part(&worker(0, 0), 1 << 20, 1024, 512, scale).length, Some(1024));
        assert_eq!(file_bytes(&worker(2048, 0), "x.icf", scale).unwrap(), 4096);
        assert_eq!(file_bytes(&worker(2047, 0), "x.icf", Scale::WHOLE).unwrap(), 1 << 20);
    }

    #[test]
    fn a_file_that_would_fill_the_drive_is_refused() {
        let refusal = file_bytes(&worker(0, 0), "x.icf", Scale::WHOLE).unwrap_err();
        assert!(refusal.text.starts_with("x.icf:1: worker `W` has no maximum disk size"));
    }
}
