//! Files that a plan names, in a directory that is not ours.
//!
//! What is there already is written only if the list proves it ours.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use drivelab_core::facts::TargetKind;
use rustix::fs::{FileType, OFlags};

use super::create::{
    check_room, empty, finish, make_file, open_existing, refuse_kernel_directories,
};
use super::{OpenRequest, Target, TargetFile};
use crate::guard::{self, Intent, Refusal};
use crate::identity::Identity;
use crate::scratch::ScratchList;
use crate::scratch::life::Joined;
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
    pub(super) fn agrees(self, other: Mark) -> bool {
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
pub(super) fn another(path: &Path) -> Refusal {
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
