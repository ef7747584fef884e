//! Signs of life: while a run works on what stands in the list, its process says so there each
//! second. What changed later than the last sign was changed by somebody else.

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::left::Stamp;
use super::{Entry, Identity, Left, Line, ScratchKind, ScratchList};

/// How often a process says that it lives.
const EVERY: Duration = Duration::from_secs(1);
/// What changed within this time of the last sign was changed by the run: the next sign was due.
const GRACE_S: i64 = 2;

/// What this process works on, each with the list that it stands in.
static HELD: Mutex<Held> =
    Mutex::new(Held { entries: Vec::new(), joined: Vec::new(), has_thread: false, lost: None });
/// Wakes the thread when there is nothing left to sign for.
static CHANGED: Condvar = Condvar::new();

struct Held {
    entries: Vec<(PathBuf, Entry)>,
    /// Lives of other processes of the run whose files this one works on, each with its list.
    joined: Vec<(PathBuf, String)>,
    has_thread: bool,
    /// Why signs could not be written.
    lost: Option<String>,
}

impl Held {
    fn is_idle(&self) -> bool {
        self.entries.is_empty() && self.joined.is_empty()
    }

    fn wake(&mut self) {
        if !self.has_thread {
            let thread = std::thread::Builder::new().name("signs of life".into());
            self.has_thread = thread.spawn(sign_until_done).is_ok();
        }
    }
}

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells this process from all others that write into the list.
pub(super) fn own() -> String {
    static OWN: OnceLock<String> = OnceLock::new();
    let made = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}", std::process::id(), since.as_nanos())
    };
    OWN.get_or_init(made).clone()
}

/// This moment, by the clock that stamps inodes.
pub(super) fn now() -> Stamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
}

impl Entry {
    /// The same as it stands in the list while this process works on it.
    pub(super) fn alive(&self) -> Entry {
        Entry { left: None, life: Some(own()), seen: Some(now()), ..self.clone() }
    }
}

/// Signs for an entry from now on.
pub(super) fn begin(list: &ScratchList, entry: &Entry) {
    let mut held = held();
    held.entries.retain(|(_, known)| known.identity != entry.identity);
    held.entries.push((list.path().to_path_buf(), entry.clone()));
    held.wake();
}

/// A file that another process of the run has made and this one works on. As long as this lives,
/// it signs for that process: the run lasts, also where its first process was killed.
#[derive(Debug)]
pub struct Joined(PathBuf, String);

impl Joined {
    /// Signs for the process that the list names for an inode. `None` where it names none: the
    /// inode stays as it is, or the list is another machine's.
    ///
    /// # Errors
    /// When the list cannot be read, or the inode not be looked at.
    pub fn begin(list: &ScratchList, inode: impl AsFd) -> io::Result<Option<Joined>> {
        let own = Identity::of(inode)?;
        // The device has another number on each machine that shares a home.
        let is_it = |entry: &&Entry| {
            let known = entry.identity;
            known.inode == own.inode && known.birth == own.birth
        };
        let entries = list.entries()?;
        let Some(life) = entries.iter().rev().find(is_it).and_then(|entry| entry.life.clone())
        else {
            return Ok(None);
        };
        let path = list.path().to_path_buf();
        let mut held = held();
        held.joined.push((path.clone(), life.clone()));
        held.wake();
        Ok(Some(Joined(path, life)))
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut held = held();
        let own = |(path, life): &(PathBuf, String)| *path == self.0 && *life == self.1;
        if let Some(at) = held.joined.iter().position(own) {
            held.joined.remove(at);
        }
        drop(held);
        CHANGED.notify_all();
    }
}

/// Signs for it no longer.
pub(super) fn end(identity: Identity) {
    held().entries.retain(|(_, known)| known.identity != identity);
    CHANGED.notify_all();
}

/// Why the list could not be written while the run lasted; told once.
pub fn lost() -> Option<String> {
    held().lost.take()
}

fn sign_until_done() {
    loop {
        let (mut guard, _) = CHANGED
            .wait_timeout_while(held(), EVERY, |held| !held.is_idle())
            .unwrap_or_else(PoisonError::into_inner);
        if guard.is_idle() {
            guard.has_thread = false;
            return;
        }
        let entries = guard.entries.clone();
        let joined: HashSet<(PathBuf, String)> = guard.joined.iter().cloned().collect();
        drop(guard);
        let lists: HashSet<&PathBuf> = entries.iter().map(|(list, _)| list).collect();
        for path in lists {
            let own = entries.iter().filter(|(list, _)| list == path);
            if let Err(error) = sign(&ScratchList::at(path), own.map(|(_, entry)| entry)) {
                let text = format!("{} cannot be written: {error}", path.display());
                held().lost.get_or_insert(text);
            }
        }
        for (path, life) in joined {
            // The process whose life it is says what became of the list.
            if path.symlink_metadata().is_ok() {
                let _ = ScratchList::at(path).append_unsynced(&[Line::Alive { life, at: now() }]);
            }
        }
    }
}

/// One sign. A list that somebody removed is made again, with what would be lost with it.
fn sign<'a>(list: &ScratchList, entries: impl Iterator<Item = &'a Entry>) -> io::Result<()> {
    if list.path().symlink_metadata().is_ok() {
        return list.append_unsynced(&[Line::Alive { life: own(), at: now() }]);
    }
    let text = format!("{} was removed while the run lasted", list.path().display());
    held().lost.get_or_insert(text);
    list.append_all(&entries.map(|entry| Line::Made(entry.alive())).collect::<Vec<_>>())
}

impl Entry {
    /// Whether a file or directory is as a run that was killed left it; else why not.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn as_killed(&self, open: impl AsFd) -> io::Result<Result<(), &'static str>> {
        as_killed(self, open)
    }
}

fn as_killed(entry: &Entry, open: impl AsFd) -> io::Result<Result<(), &'static str>> {
    let Some(seen) = entry.seen else {
        return Ok(Err("nothing says when its run was last alive"));
    };
    if entry.identity.birth.is_none() {
        return Ok(Err(
            "its file system keeps no time of birth, so it cannot be proved to be ours",
        ));
    }
    let Some(now) = Left::of(&open)? else { return Ok(Ok(())) };
    let is_later = |left: &Left| left.changed > (seen.0 + GRACE_S, seen.1);
    if is_later(&now) {
        return Ok(Err("it was changed after its run was killed"));
    }
    if entry.kind == ScratchKind::File {
        let is_sized = entry.bytes.is_none_or(|bytes| bytes == now.bytes) || now.bytes == 0;
        return Ok(if is_sized { Ok(()) } else { Err("its size is not the one its run gave it") });
    }
    match super::removal::any_below(open, &is_later)? {
        true => Ok(Err("something in it was changed after its run was killed")),
        false => Ok(Ok(())),
    }
}
