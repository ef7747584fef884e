//! The directory in which a plan spells names, which is not ours, and those of the names that are.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use super::OpenRequest;
use super::create::{check_room, refuse_kernel_directories};
use super::named::{Mark, another};
use super::spelt::SpeltNames;
use crate::guard::{self, Refusal};
use crate::identity::Identity;
use crate::names::Held;
use crate::scratch::{Entry, ScratchKind, ScratchList};
use crate::system::System;

/// A directory in which names are spelt. It is not ours; the names are, for none of them was there
/// before. Dropping it removes those that are left, unless they are to be kept.
#[derive(Debug)]
pub struct NameDirectory {
    path: PathBuf,
    pinned: OwnedFd,
    mark: Mark,
    spelt: Vec<SpeltNames>,
    keep: bool,
    /// Which of the names the run has made.
    held: Held,
    /// All that make names are workers of this process, so that what is not held is another's.
    is_alone: bool,
    /// Where the directories stand that hold names which stay.
    list: Option<ScratchList>,
}

/// Opens the existing directory `request.path` for names that are spelt. Where another rank
/// has done so first, `joined` is the directory that it has found.
///
/// # Errors
/// A [`Refusal`] when it is no directory, or another one than `joined`, or one of the names is
/// there already.
pub fn open_names(
    system: &System,
    request: &OpenRequest,
    spelt: Vec<SpeltNames>,
    joined: Option<Mark>,
) -> Result<NameDirectory, Refusal> {
    let shown = request.path.display();
    let Some(witness) = guard::witness(&request.path)? else {
        return Err(guard::cannot_open(&request.path, Errno::NOENT.into()));
    };
    let stat = rustix::fs::fstat(&witness)
        .map_err(|error| guard::cannot_open(&request.path, error.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Refusal::usage("wrong_kind", format!("{shown} is not a directory."))
            .advise("Metadata actions need a directory to make names in."));
    }
    refuse_kernel_directories(system, request, &request.path)?;
    let pinned = guard::reopen(&witness, OFlags::RDONLY | OFlags::DIRECTORY)
        .map_err(|error| guard::cannot_open(&request.path, error))?;
    let mark = Mark::of(&pinned).map_err(|error| guard::cannot_open(&request.path, error))?;
    let path = request.path.clone();
    // Nothing is removed before it is known to be ours.
    let mut directory = NameDirectory {
        path,
        pinned,
        mark,
        spelt,
        keep: true,
        list: None,
        held: Held::default(),
        is_alone: false,
    };
    if let Some(known) = joined {
        // The names are rank 0's to look for, and to remove.
        return if mark.agrees(known) { Ok(directory) } else { Err(another(&request.path)) };
    }
    let found = directory
        .find(SpeltNames::holds)
        .map_err(|error| guard::failed(format!("the names in {shown} cannot be read"), &error))?;
    if let Some(first) = found.first() {
        let count = found.len();
        return Err(Refusal::safety(
            "foreign_names",
            format!(
                "{} exists already, one of {count} such names that would be created.",
                request.path.join(&first.0).display()
            ),
        )
        .advise("Nothing was written. Remove them, or name another directory."));
    }
    let list = ScratchList::at(&request.scratch_list);
    directory.refuse_foreign(&list)?;
    let needed = directory.spelt.iter().map(SpeltNames::bytes_needed);
    check_room(request, &request.path, needed.fold(0, u64::saturating_add))?;
    directory.keep = request.keep || directory.spelt.iter().any(|spelt| spelt.existing);
    directory.list = directory.keep.then_some(list);
    Ok(directory)
}

/// What a line would remove, and drivelab has not made.
fn not_made(label: &str) -> Refusal {
    Refusal::safety("foreign_file", format!("{label} exists and was not made by drivelab.")).advise(
        "Nothing was removed: drivelab removes what it has made, and nothing else. Remove it \
         yourself, or use other names.",
    )
}

impl NameDirectory {
    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open directory, for `openat` and its like.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.pinned.as_fd()
    }

    /// What it is, for those who join.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// For workers of this process alone: what they do not tell to have made stays.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// Where workers tell which names they have made.
    pub fn held(&self) -> Held {
        self.held.clone()
    }

    /// Whether a path is a name that the run has made.
    fn is_ours(&self, spelt: &SpeltNames, path: &Path) -> bool {
        let is_held = |(worker, name)| self.held.has(&spelt.form, worker, name);
        spelt.number(path).is_some_and(|number| !self.is_alone || is_held(number))
    }

    /// The names that are there and are meant, deepest first, and whether each is a directory.
    fn find(
        &self,
        is_meant: impl Fn(&SpeltNames, &Path) -> bool,
    ) -> io::Result<Vec<(PathBuf, bool)>> {
        let depth = self.spelt.iter().map(SpeltNames::depth).max().unwrap_or(0);
        self.find_down_to(depth, is_meant)
    }

    /// The same, with so many levels of directories below this one.
    fn find_down_to(
        &self,
        depth: usize,
        is_meant: impl Fn(&SpeltNames, &Path) -> bool,
    ) -> io::Result<Vec<(PathBuf, bool)>> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open = vec![(PathBuf::new(), 0)];
        while let Some((below, level)) = open.pop() {
            let listed = match std::fs::read_dir(self.path.join(&below)) {
                Err(error) if level > 0 && error.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            for entry in listed {
                let entry = entry?;
                let path = below.join(entry.file_name());
                let is_directory = entry.file_type()?.is_dir();
                let of = |spelt: &&SpeltNames| !spelt.existing && is_meant(spelt, &path);
                if self.spelt.iter().find(of).is_some() && seen.insert(path.clone()) {
                    found.push((path.clone(), is_directory));
                }
                // Only what could lead to one of the names is looked into.
                if is_directory && level < depth && self.leads(&path) {
                    open.push((path, level + 1));
                }
            }
        }
        found.sort_by_key(|(path, _)| std::cmp::Reverse(path.components().count()));
        Ok(found)
    }

    /// The directories that are there and hold names.
    fn holders(&self) -> io::Result<Vec<PathBuf>> {
        let depth = self.spelt.iter().map(SpeltNames::depth).max().unwrap_or(0);
        let mut found = Vec::new();
        let mut open = vec![(PathBuf::new(), 0)];
        while let Some((below, level)) = open.pop() {
            if level >= depth {
                continue;
            }
            for entry in std::fs::read_dir(self.path.join(&below))? {
                let entry = entry?;
                if entry.file_type()?.is_dir() && self.leads(&below.join(entry.file_name())) {
                    let path = below.join(entry.file_name());
                    found.push(path.clone());
                    open.push((path, level + 1));
                }
            }
        }
        Ok(found)
    }

    /// Names are removed only from directories of ours that are as an earlier run has left them.
    fn refuse_foreign(&self, list: &ScratchList) -> Result<(), Refusal> {
        if !self.spelt.iter().any(|spelt| spelt.existing && spelt.removes) {
            return Ok(());
        }
        let shown = self.path.display();
        let cannot = |error: io::Error| guard::failed(format!("{shown} cannot be read"), &error);
        let mut ours = self.holders().map_err(cannot)?;
        // The directory itself is not ours: what stands in it must be.
        for entry in std::fs::read_dir(&self.path).map_err(cannot)? {
            let name = PathBuf::from(entry.map_err(cannot)?.file_name());
            let mut changed = self.spelt.iter().filter(|spelt| spelt.existing && spelt.removes);
            if changed.any(|spelt| spelt.holds(&name)) && !ours.contains(&name) {
                ours.push(name);
            }
        }
        // Read once: there may be many.
        let entries = guard::own_entries(list)?;
        for below in ours {
            let path = self.path.join(&below);
            let label = path.display().to_string();
            let cannot = |error: io::Error| guard::cannot_open(&path, error);
            let opened = match self.open_own(&below) {
                // A link is nothing that a run makes.
                Err(Errno::LOOP) => return Err(not_made(&label)),
                opened => opened.map_err(|error| cannot(error.into()))?,
            };
            let identity = Identity::of(&opened).map_err(cannot)?;
            let entry = identity.birth.and_then(|_| entries.get(&identity));
            let entry = entry.ok_or_else(|| not_made(&label))?;
            guard::as_left(&label, &opened, entry)?;
        }
        Ok(())
    }

    /// Notes how directories are left whose names stay, and forgets those that are gone.
    fn leave(&self) -> io::Result<()> {
        let Some(list) = &self.list else { return Ok(()) };
        if self.spelt.iter().all(|spelt| spelt.existing) {
            return Ok(());
        }
        let mut stays: Vec<(PathBuf, bool)> =
            self.holders()?.into_iter().map(|below| (below, true)).collect();
        // What stands in the directory itself has no holder of ours that would speak for it.
        let holders: HashSet<PathBuf> = stays.iter().map(|(below, _)| below.clone()).collect();
        let found = self.find_down_to(0, |spelt, path| self.is_ours(spelt, path))?;
        stays.extend(found.into_iter().filter(|(name, _)| !holders.contains(name)));
        let mut entries = Vec::with_capacity(stays.len());
        for (below, is_directory) in stays {
            let path = std::path::absolute(self.path.join(&below))?;
            let kind = if is_directory { ScratchKind::Directory } else { ScratchKind::File };
            let identity = Identity::of(self.open_own(&below)?)?;
            entries.push((Entry::new(kind, &path, identity, true), below));
        }
        // Opened one after the other: there may be more than a process may have open.
        list.leave(entries.iter().filter_map(|(entry, below)| {
            let opened = self.open_own(below).ok()?;
            Some((opened, entry))
        }))
    }

    fn open_own(&self, below: &Path) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.pinned, below, flags, rustix::fs::Mode::empty())
    }

    fn leads(&self, path: &Path) -> bool {
        let count = path.components().count();
        self.spelt.iter().any(|spelt| {
            let above: PathBuf = Path::new(&spelt.form).components().take(count).collect();
            let Some(above) = above.to_str().filter(|_| spelt.depth() >= count) else {
                return false;
            };
            let above = SpeltNames { form: above.to_owned(), ..spelt.clone() };
            above.holds(path)
        })
    }

    /// Removes the names that are left now, unless they are to be kept.
    ///
    /// # Errors
    /// When one cannot be removed; the rest is removed all the same.
    pub fn close(mut self) -> io::Result<()> {
        self.clear()
    }

    fn clear(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.keep, true) {
            let left = self.leave();
            self.list = None;
            return left;
        }
        let mut outcome = Ok(());
        for (path, is_directory) in self.find(|spelt, path| self.is_ours(spelt, path))? {
            let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            if let Err(error) = rustix::fs::unlinkat(&self.pinned, &path, flags) {
                outcome = Err(io::Error::new(
                    io::Error::from(error).kind(),
                    format!("{} could not be removed: {error}", self.path.join(path).display()),
                ));
            }
        }
        outcome
    }
}

impl Drop for NameDirectory {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}
