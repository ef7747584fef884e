//! Files and names that a plan spells, in a directory that is not ours.
//!
//! What is there already is written only if the list proves it ours; a name that another has made
//! is neither opened for writing nor removed.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use drivelab_core::facts::TargetKind;
use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use super::create::{
    check_room, empty, finish, make_file, open_existing, refuse_kernel_directories,
};
use super::spelt::SpeltNames;
use super::{OpenRequest, Target, TargetFile};
use crate::guard::{self, Intent, Refusal};
use crate::identity::Identity;
use crate::scratch::life::Joined;
use crate::scratch::{Entry, ScratchKind, ScratchList};
use crate::system::{self, System};

/// A file that a plan names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// From the target directory on.
    pub path: PathBuf,
    /// Bytes of it to use.
    pub bytes: u64,
    /// Whether its content is changed.
    pub destroys: bool,
    /// It begins empty and grows as it is written, to at least as many bytes as are known; absent:
    /// it has its size from the start.
    pub grows_to: Option<u64>,
    /// What this process has to do with it.
    pub part: Part,
}

/// What one rank has to do with a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Part {
    /// It opens the file by the guard's leave, for itself and the others.
    #[default]
    Opens,
    /// It uses the file that another has opened.
    Joins,
    /// The rank has nothing to do with the file.
    None,
}

/// A file that one process has opened, for the others to find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Seen {
    /// Its index among the plan's files.
    pub index: usize,
    /// What it is, wherever its file system is mounted.
    pub mark: Mark,
    /// Whether it may be written.
    pub writable: bool,
}

/// What tells a file or directory from others on whatever machine it is looked at. The device has
/// another number on each; on a local disk of one machine that is not on the other, a file of the
/// same number was born at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    inode: u64,
    birth: Option<(i64, u32)>,
    /// Of a device: its number, and the system start that the number holds for.
    device: Option<(u64, u64)>,
}

impl Mark {
    pub(super) fn of(descriptor: impl AsFd) -> io::Result<Mark> {
        let stat = rustix::fs::fstat(&descriptor)?;
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        let device = is_device.then(system_start).transpose()?.map(|start| (stat.st_rdev, start));
        let Identity { inode, birth, .. } = Identity::of(descriptor)?;
        Ok(Mark { inode, birth, device })
    }

    /// Whether both may be the same: some file systems tell the time of birth to nobody, some not
    /// to every machine.
    fn agrees(self, other: Mark) -> bool {
        let births = self.birth.zip(other.birth);
        let alike = births.is_none_or(|(one, another)| one == another);
        self.inode == other.inode && self.device == other.device && alike
    }
}

/// Tells this start of this machine from all others: half of the kernel's number.
fn system_start() -> io::Result<u64> {
    let text = system::boot(&System::live()).ok_or_else(|| io::Error::other("no boot_id"))?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).map_err(|_| io::Error::other("no boot_id"))
}

/// Opens the named files of a directory, and makes those that are not there.
pub(super) fn files(
    system: &System,
    request: &OpenRequest,
    list: &ScratchList,
) -> Result<Target, Refusal> {
    refuse_kernel_directories(system, request, &request.path)?;
    let consent = request.erase.as_deref();
    let approval = guard::assess(system, &request.path, request.intent, consent, list)?;
    // What was made before an error is removed by the drop of this target.
    let mut target = empty(request, approval, true);
    let mut places = vec![None; request.named.len()];
    for (index, named) in request.named.iter().enumerate() {
        if named.part != Part::Opens {
            continue;
        }
        places[index] = Some(target.files.len());
        let path = request.path.join(&named.path);
        let Some(witness) = guard::witness(&path)? else {
            let needed = named.grows_to.unwrap_or(named.bytes);
            check_room(request, path.parent().unwrap_or(&request.path), needed)?;
            make_file(&path, named.bytes, named.grows_to.is_some(), request, list, &mut target)?;
            continue;
        };
        let intent = if named.destroys { Intent::Write } else { Intent::Read };
        let approval = guard::assess_open(system, &path, &witness, intent, None, list)?;
        let size = Some(named.bytes);
        let own = OpenRequest { path: path.clone(), intent, size, ..request.clone() };
        open_existing(
            &own,
            &approval,
            &witness,
            path,
            named.grows_to.is_some(),
            list,
            &mut target,
        )?;
    }
    target.bytes = request.named.iter().map(|named| named.bytes).max().unwrap_or(0);
    if places.iter().any(Option::is_none) {
        target.places = Some(places);
    }
    finish(target)
}

impl Target {
    /// The files that this process has opened for the others.
    ///
    /// # Errors
    /// As `fstat(2)` says.
    pub fn seen(&self) -> io::Result<Vec<Seen>> {
        let seen = |(index, file): (usize, &TargetFile)| {
            Ok(Seen { index, mark: Mark::of(&file.pinned)?, writable: file.writable })
        };
        self.open_files().filter(|(_, file)| !file.joined).map(seen).collect()
    }

    /// Takes up the files that others have opened by the guard's leave: the same, by their number.
    ///
    /// # Errors
    /// A [`Refusal`] when a file is not there, or is another one here.
    pub fn join(&mut self, request: &OpenRequest, seen: &[Seen]) -> Result<(), Refusal> {
        if let (TargetKind::BlockDevice, Part::Joins) = (self.kind, request.part) {
            return self.join_device(seen);
        }
        for (index, named) in request.named.iter().enumerate() {
            if named.part != Part::Joins {
                continue;
            }
            let path = request.path.join(&named.path);
            let of = |seen: &&Seen| seen.index == index;
            let Some(known) = seen.iter().find(of) else { continue };
            let pinned = join_one(&path, known.mark, FileType::RegularFile)?;
            let list = ScratchList::at(&request.scratch_list);
            let shared = Joined::begin(&list, &pinned)
                .map_err(|error| super::create::no_list(&list, &error))?;
            let place = self.files.len();
            self.files.push(TargetFile {
                path,
                created: false,
                bytes: named.bytes,
                writable: known.writable,
                joined: true,
                shared,
                stays: None,
                pinned,
            });
            if let Some(places) = &mut self.places {
                places[index] = Some(place);
            }
        }
        Ok(())
    }
}

impl Target {
    /// The device is what another rank holds by the guard's leave, on this same machine.
    fn join_device(&mut self, seen: &[Seen]) -> Result<(), Refusal> {
        let (Some(file), Some(known)) = (self.files.first_mut(), seen.first()) else {
            return Err(another(&self.path));
        };
        let mark = Mark::of(&file.pinned).map_err(|error| guard::cannot_open(&file.path, error))?;
        if !mark.agrees(known.mark) {
            return Err(another(&file.path));
        }
        file.writable = known.writable;
        self.writable = known.writable;
        Ok(())
    }
}

pub(super) fn join_one(path: &Path, known: Mark, kind: FileType) -> Result<OwnedFd, Refusal> {
    let shown = path.display();
    let Some(witness) = guard::witness(path)? else {
        return Err(Refusal::usage(
            "missing",
            format!("{shown} does not exist for all processes."),
        )
        .advise("Files that they share must lie on a file system that all of them see."));
    };
    let stat = rustix::fs::fstat(&witness).map_err(|e| guard::cannot_open(path, e.into()))?;
    let mark = Mark::of(&witness).map_err(|error| guard::cannot_open(path, error))?;
    if FileType::from_raw_mode(stat.st_mode) != kind || !mark.agrees(known) {
        return Err(another(path));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    guard::reopen(&witness, flags).map_err(|error| guard::cannot_open(path, error))
}

/// What one process has opened is something else for another.
fn another(path: &Path) -> Refusal {
    let shown = path.display();
    Refusal::safety(
        "changed",
        format!("{shown} is not the same here as for the process that opened it first."),
    )
    .advise(
        "Nothing was written. What several processes share must lie on a file system that all of \
         them see; a device takes processes of one machine.",
    )
}

/// A directory in which names are spelt. It is not ours; the names are, for none of them was there
/// before. Dropping it removes those that are left, unless they are to be kept.
#[derive(Debug)]
pub struct NameDirectory {
    path: PathBuf,
    pinned: OwnedFd,
    mark: Mark,
    spelt: Vec<SpeltNames>,
    keep: bool,
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
    let mut directory = NameDirectory { path, pinned, mark, spelt, keep: true, list: None };
    if let Some(known) = joined {
        // The names are rank 0's to look for, and to remove.
        return if mark.agrees(known) { Ok(directory) } else { Err(another(&request.path)) };
    }
    let found = directory
        .find()
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
    directory.keep = request.keep || directory.spelt.iter().any(|spelt| spelt.existing);
    directory.list = directory.keep.then_some(list);
    Ok(directory)
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

    /// The names that are there, deepest first, and whether each is a directory.
    fn find(&self) -> io::Result<Vec<(PathBuf, bool)>> {
        let depth = self.spelt.iter().map(SpeltNames::depth).max().unwrap_or(0);
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
                let of = |spelt: &&SpeltNames| !spelt.existing && spelt.holds(&path);
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
        for below in ours {
            let path = self.path.join(&below);
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = rustix::fs::openat(&self.pinned, &below, flags, rustix::fs::Mode::empty());
            let holder = open.map_err(|error| guard::cannot_open(&path, error.into()))?;
            let identity =
                Identity::of(&holder).map_err(|error| guard::cannot_open(&path, error))?;
            guard::own_file(&path.display().to_string(), &holder, identity, list)?;
        }
        Ok(())
    }

    /// Notes how directories are left whose names stay, and forgets those that are gone.
    fn leave(&self) -> io::Result<()> {
        let Some(list) = &self.list else { return Ok(()) };
        let makes = self.spelt.iter().any(|spelt| !spelt.existing);
        for below in self.holders()?.iter().filter(|_| makes) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let holder = rustix::fs::openat(&self.pinned, below, flags, rustix::fs::Mode::empty())?;
            let path = std::path::absolute(self.path.join(below))?;
            let identity = Identity::of(&holder)?;
            let entry = Entry::new(ScratchKind::Directory, &path, identity, true);
            list.record(&entry)?;
            list.leave([(&holder, &entry)].into_iter())?;
        }
        Ok(())
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
        for (path, is_directory) in self.find()? {
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
