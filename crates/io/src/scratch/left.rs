//! How drivelab left the files that stay, so that what somebody writes into one later is not
//! taken for drivelab's.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, StatxFlags, StatxTimestamp};
use serde::{Deserialize, Serialize};

use super::{Entry, Line, ScratchList, life};

/// A time of an inode: seconds and nanoseconds.
pub type Stamp = (i64, u32);

/// Magic numbers of file systems (`statfs(2)`) that set the times of a file in the write itself, on
/// this machine: ext2 to ext4, xfs, btrfs, f2fs, tmpfs, ramfs, bcachefs. On all others a server or
/// a daemon may set them when the data reaches it.
const TIMED_BY_THE_WRITE: [u64; 7] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x8584_58f6, 0xca45_1a4e];

/// The kernel stamps inodes with a clock that goes on in steps of up to 10 ms
/// (`CLOCK_REALTIME_COARSE` of clock_gettime(2)), and exFAT keeps multiples of that.
const STEP: Duration = Duration::from_millis(20);
/// Where only whole seconds are kept; FAT has every other one.
const STEP_OF_SECONDS: Duration = Duration::from_secs(2);

/// What tells a file that nobody touched from one that somebody wrote to.
///
/// `changed` (`st_ctime`) is the witness: no call sets it, so that it shows what puts the size and
/// `modified` back too (`cp -p`, an editor, rsync). It also shows what leaves the content alone: a
/// rename, a link, other rights. Such a file counts as changed: whoever renames or links it has
/// taken it for his own (a link may be a backup's only copy), and to be refused once costs less
/// than data. Size and `modified` say what happened.
///
/// What it does not show: a change while the clock stood still or was put back to that very time,
/// and on tmpfs a store through a mapping that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Length in bytes.
    pub bytes: u64,
    /// `st_mtime`.
    pub modified: Stamp,
    /// `st_ctime`.
    pub changed: Stamp,
}

impl Left {
    /// As it is now, by the file system itself rather than by what a client remembers; `None` if
    /// no name leads to it any more.
    ///
    /// # Errors
    /// As `statx(2)` says.
    pub fn of(descriptor: impl AsFd) -> io::Result<Option<Left>> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
        let statx = rustix::fs::statx(descriptor, "", flags, StatxFlags::BASIC_STATS)?;
        let stamp = |time: StatxTimestamp| (time.tv_sec, time.tv_nsec);
        Ok((statx.stx_nlink > 0).then(|| Left {
            bytes: statx.stx_size,
            modified: stamp(statx.stx_mtime),
            changed: stamp(statx.stx_ctime),
        }))
    }

    /// Of a file whose last writer is done. What a server or a daemon has yet to get is sent first.
    fn of_written(descriptor: impl AsFd) -> io::Result<Option<Left>> {
        let kind = rustix::fs::fstatfs(&descriptor)?.f_type;
        if !TIMED_BY_THE_WRITE.contains(&(kind as u64)) {
            rustix::fs::fsync(&descriptor)?;
        }
        Left::of(descriptor)
    }

    /// Waits until a change would get another time than this.
    fn outlast(self) {
        let (seconds, nanoseconds) = self.changed;
        let step = if nanoseconds == 0 { STEP_OF_SECONDS } else { STEP };
        let since_epoch = Duration::new(u64::try_from(seconds).unwrap_or(0), nanoseconds);
        let over = SystemTime::UNIX_EPOCH + since_epoch + step;
        // The clock of a server may be ahead.
        let wait = over.duration_since(SystemTime::now()).unwrap_or_default().min(step);
        std::thread::sleep(wait);
    }
}

impl ScratchList {
    /// Notes that files of ours are being written: until [`ScratchList::leave`] there is no word on
    /// how they were left, but signs of life. It is on stable storage when this returns.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn take(&self, entries: &[Entry]) -> io::Result<()> {
        let in_use = |entry: &Entry| Line::Made(entry.alive());
        self.append_all(&entries.iter().map(in_use).collect::<Vec<_>>())?;
        entries.iter().for_each(|entry| life::begin(self, entry));
        Ok(())
    }

    /// Notes how files of ours were left, each with a descriptor of it. Only when nothing of the
    /// run writes to them any more.
    ///
    /// # Errors
    /// When a file cannot be looked at or the list cannot be written: then such a file is as that
    /// of a run that was killed.
    pub fn leave<'a, File: AsFd>(
        &self,
        files: impl Iterator<Item = (File, &'a Entry)>,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        let mut last: Option<Left> = None;
        let mut outcome = Ok(());
        let mut identities = Vec::new();
        for (file, entry) in files {
            identities.push(entry.identity);
            match Left::of_written(file) {
                Ok(Some(left)) => {
                    last = last.into_iter().chain([left]).max_by_key(|left| left.changed);
                    let (life, seen, bytes) = (None, None, None);
                    let entry = Entry { left: Some(left), life, seen, bytes, ..entry.clone() };
                    lines.push(Line::Made(entry));
                }
                Ok(None) => lines.push(Line::Gone(entry.identity)),
                Err(error) => outcome = Err(error),
            }
        }
        if let Some(last) = last {
            last.outlast();
        }
        self.append_all(&lines)?;
        identities.into_iter().for_each(life::end);
        outcome
    }
}
