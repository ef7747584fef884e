//! What the TARGET on the command line is, before anything is opened.

mod missing;

pub use missing::Missing;

use crate::bounded;
use crate::outcome::Failure;
use drivelab_core::facts::{Facts, TargetFacts, TargetKind};
use drivelab_core::plan::{Act, Files, Plan, Stream};
use drivelab_core::units::Size;
use drivelab_core::validate::Geometry;
use drivelab_io::facts::{self, System};
use drivelab_io::namespace;
use drivelab_sim::target::{PREFIX, SimTarget};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Size of a file to create when nothing says it.
const SIZE_DEFAULT: u64 = 1 << 30;
/// Files that drivelab creates are multiples of this.
const SIZE_GRAIN: u64 = 4096;
const MIB: u64 = 1 << 20;

/// Kinds of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Scratch goes into it.
    Directory,
    /// Nothing there yet: a file will be created.
    Absent,
    /// An existing file.
    File,
    /// A block device.
    Device,
    /// A simulated drive.
    Simulated,
    /// No drive at all: the null engine.
    Nothing,
}

impl Kind {
    /// As it is called in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Kind::Directory => "a directory",
            Kind::Absent => "nothing",
            Kind::File => "a file",
            Kind::Device => "a block device",
            Kind::Simulated => "a simulated drive",
            Kind::Nothing => "no drive",
        }
    }
}

/// A target that was looked at and not touched.
#[derive(Debug)]
pub struct ResolvedTarget {
    /// The path as typed.
    pub path: PathBuf,
    /// Kind of the target.
    pub kind: Kind,
    /// Target and machine.
    pub facts: Facts,
    /// Bytes of each file (to be), or of the device; 0 where a plan has metadata only.
    pub file_bytes: u64,
    /// Data files.
    pub files: u32,
    /// The simulated drive that is meant.
    pub simulated: Option<SimTarget>,
    /// The character device that was named for the namespace, which takes commands alone.
    pub generic: Option<PathBuf>,
}

impl ResolvedTarget {
    /// Looks at `target` for what `plan` needs. `size` is what `--size` said.
    ///
    /// # Errors
    /// Nothing is there and nothing is to be made, or the plan does not fit what is there.
    pub fn take(
        system: &System,
        target: &str,
        plan: &Plan,
        size: Option<Size>,
        missing: Missing<'_>,
    ) -> Result<Self, Failure> {
        let streams = || plan.steps.iter().flat_map(|step| &step.streams);
        let mut resolved = ResolvedTarget::look_at(system, target)?;
        if streams().next().is_some() && streams().all(|stream| !stream.engine.reaches_target()) {
            resolved.kind = Kind::Nothing;
            resolved.facts.target = TargetFacts {
                path: target.to_string(),
                kind: TargetKind::Nothing,
                ..TargetFacts::default()
            };
        }
        resolved.must_be_there(target, missing)?;
        resolved.files =
            streams().filter(|stream| is_data(stream)).map(files_of).max().unwrap_or(0);
        if !plan.files.is_empty() {
            resolved.files = u32::try_from(plan.files.len()).unwrap_or(u32::MAX);
        }
        // A plan of acts alone needs the drive no less.
        let acts = plan.steps.iter().filter_map(|step| step.act.as_ref());
        if matches!(resolved.kind, Kind::Device | Kind::File)
            && acts.into_iter().any(|act| !matches!(act, Act::Idle(_)))
        {
            resolved.files = resolved.files.max(1);
        }
        resolved.file_bytes = resolved.size_for(plan, size)?;
        Ok(resolved)
    }

    /// Looks at `target`, for one data file of a size to be decided.
    ///
    /// # Errors
    /// Nothing is there and nothing is to be made, or it cannot be looked at.
    pub fn look(system: &System, target: &str, missing: Missing<'_>) -> Result<Self, Failure> {
        let resolved = ResolvedTarget::look_at(system, target)?;
        resolved.must_be_there(target, missing)?;
        Ok(resolved)
    }

    /// A name with nothing behind it becomes a file only where that was asked for, and a drive
    /// that holds nothing is none.
    fn must_be_there(&self, target: &str, missing: Missing<'_>) -> Result<(), Failure> {
        if self.kind == Kind::Device && self.facts.target.bytes == Some(0) {
            return Err(Failure::usage(format!(
                "there is no medium in {target}, or it has gone: it holds 0 bytes"
            ))
            .advise("`drivelab list` shows what can be measured here."));
        }
        match missing {
            Missing::Refused { line, takes_size } if self.kind == Kind::Absent => {
                Err(missing::refusal(target, line, takes_size))
            }
            _ => Ok(()),
        }
    }

    fn look_at(system: &System, target: &str) -> Result<Self, Failure> {
        if target.starts_with(PREFIX) {
            return ResolvedTarget::simulate(target);
        }
        let typed = PathBuf::from(target);
        // What a namespace is, is decided by its block device.
        let block = namespace::block_of_generic(system, &typed);
        let generic = block.is_some().then(|| typed.clone());
        let path = block.unwrap_or(typed);
        let kind = kind_of(&path)?;
        let facts = facts::gather(system, &path);
        let (file_bytes, files, simulated) = (0, 1, None);
        let mut resolved =
            ResolvedTarget { path, kind, facts, file_bytes, files, simulated, generic };
        resolved.file_bytes = match kind {
            Kind::Device => resolved.facts.target.bytes.unwrap_or(0),
            Kind::File => std::fs::metadata(&resolved.path).map_or(0, |found| found.len()),
            Kind::Directory | Kind::Absent | Kind::Nothing | Kind::Simulated => 0,
        };
        Ok(resolved)
    }

    /// What is at TARGET, without the facts behind it.
    ///
    /// # Errors
    /// Nothing can be measured there.
    pub fn kind_at(target: &str) -> Result<Kind, Failure> {
        match target.starts_with(PREFIX) {
            true => Ok(Kind::Simulated),
            false => {
                let typed = PathBuf::from(target);
                kind_of(&namespace::block_of_generic(&System::live(), &typed).unwrap_or(typed))
            }
        }
    }

    /// Understands `sim:PROFILE,…`; nothing is built yet.
    fn simulate(target: &str) -> Result<Self, Failure> {
        let read = |file: &str| {
            bounded::text(file, bounded::TEXT_BYTES_MAX)
                .map_err(|error| format!("cannot read the profile {file}: {error}"))
        };
        let simulated = SimTarget::parse(target, read).map_err(Failure::usage)?;
        simulated.check().map_err(Failure::usage)?;
        let needed = simulated.memory_bytes().map_err(Failure::usage)?;
        // Before anything of it is built.
        let host = facts::gather(&System::live(), Path::new("/")).host;
        if let Some(memory) = host.memory_bytes.filter(|memory| needed > *memory) {
            return Err(Failure::usage(format!(
                "the maps of {target} need {} of memory, and this machine has {}",
                drivelab_report::units::size(needed),
                drivelab_report::units::size(memory)
            ))
            .advise(
                "Give it a smaller capacity, as in capacity=64GiB, or larger map_unit_bytes.",
            ));
        }
        let facts = simulated.facts();
        let file_bytes = facts.target.bytes.unwrap_or(0);
        Ok(ResolvedTarget {
            path: PathBuf::from(target),
            kind: Kind::Simulated,
            facts,
            file_bytes,
            files: 1,
            simulated: Some(simulated),
            generic: None,
        })
    }

    /// Whether drivelab will create the files it works on.
    pub fn creates(&self) -> bool {
        matches!(self.kind, Kind::Directory | Kind::Absent) && self.files > 0
    }

    /// What a plan must fit.
    pub fn geometry(&self) -> Geometry {
        let target = &self.facts.target;
        let sector = target.devices.first().and_then(|device| device.logical_block_bytes);
        let align = target.filesystem.as_ref().and_then(|filesystem| filesystem.direct_io_align);
        let block = match self.kind {
            Kind::Device => sector,
            _ => align.map(|(_, offset)| offset).filter(|offset| *offset > 0),
        };
        let kind = match self.kind {
            Kind::Directory => TargetKind::Directory,
            Kind::Absent | Kind::File => TargetKind::File,
            Kind::Device => TargetKind::BlockDevice,
            Kind::Simulated => TargetKind::Simulated,
            Kind::Nothing => TargetKind::Nothing,
        };
        Geometry {
            kind,
            file_bytes: (self.file_bytes > 0).then_some(self.file_bytes),
            logical_block_bytes: block.unwrap_or(512),
            lacks_page_cache: self.kind == Kind::Simulated
                && target.simulated.is_none_or(|known| known.page_cache_bytes.is_none()),
            memory_bytes: self.facts.host.memory_bytes,
        }
    }

    /// Bytes that must stay free on the file system: a tenth of it.
    pub fn reserve_bytes(&self) -> u64 {
        let filesystem = self.facts.target.filesystem.as_ref();
        filesystem.and_then(|found| found.total_bytes).unwrap_or(0) / 10
    }

    /// Size of a file to create: `wanted`, or as much as leaves the reserve free.
    pub fn roomy_bytes(&self, wanted: u64) -> Result<u64, Failure> {
        checked(Size(wanted))?;
        let free = self.facts.target.filesystem.as_ref().and_then(|found| found.free_bytes);
        let room = free.map(|free| free.saturating_sub(self.reserve_bytes()) / MIB * MIB);
        match room {
            Some(room) if room < MIB => Err(self.no_room()),
            room => Ok(wanted.min(room.unwrap_or(wanted))),
        }
    }

    fn no_room(&self) -> Failure {
        let filesystem = self.facts.target.filesystem.as_ref();
        let free = filesystem.and_then(|found| found.free_bytes).unwrap_or(0);
        Failure::usage(format!(
            "{} has only {} free, too little for a scratch file that leaves a tenth of it free",
            self.path.display(),
            drivelab_report::units::capacity(free)
        ))
        .advise("Free some space, name another directory, or give a --size.")
    }

    /// Bytes of each file to use.
    fn size_for(&self, plan: &Plan, size: Option<Size>) -> Result<u64, Failure> {
        match self.kind {
            _ if self.files == 0 && self.kind != Kind::Nothing => Ok(0),
            Kind::Device | Kind::Simulated => {
                Ok(size.map_or(self.file_bytes, |size| size.0.min(self.file_bytes)))
            }
            Kind::File => Ok(size.map_or(self.file_bytes, |size| size.0)),
            // What is not there is as large as is wanted.
            Kind::Nothing => Ok(size.map_or(needed(plan).max(SIZE_DEFAULT), |size| size.0)),
            Kind::Directory if !plan.files.is_empty() => {
                Ok(plan.files.iter().map(|file| file.size.0).max().unwrap_or(0))
            }
            Kind::Directory | Kind::Absent => match size {
                Some(size) => checked(size),
                None => self.default_size(plan),
            },
        }
    }

    /// What the plan's regions need, a gibibyte at least, if that leaves a tenth of the file
    /// system free; else what does, where the plan lets it be less.
    fn default_size(&self, plan: &Plan) -> Result<u64, Failure> {
        let needed = needed(plan);
        let wanted = needed.max(SIZE_DEFAULT);
        let Some(filesystem) = &self.facts.target.filesystem else { return Ok(wanted) };
        let Some(free) = filesystem.free_bytes else { return Ok(wanted) };
        let room =
            free.saturating_sub(self.reserve_bytes()) / u64::from(self.files.max(1)) / MIB * MIB;
        if room < needed.max(MIB) {
            return Err(self.no_room());
        }
        Ok(wanted.min(room))
    }
}

/// A size that files of drivelab can have.
pub fn checked(size: Size) -> Result<u64, Failure> {
    if size.0 == 0 || !size.0.is_multiple_of(SIZE_GRAIN) {
        return Err(Failure::usage(format!(
            "--size {size} must be a positive multiple of 4 KiB, such as --size 1g"
        )));
    }
    Ok(size.0)
}

fn is_data(stream: &Stream) -> bool {
    stream.reaches_target()
}

fn files_of(stream: &Stream) -> u32 {
    if stream.files == Files::Each { stream.workers.max(1) } else { 1 }
}

fn kind_of(path: &Path) -> Result<Kind, Failure> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(Kind::Directory),
        Ok(found) if found.file_type().is_block_device() => Ok(Kind::Device),
        Ok(_) => Ok(Kind::File),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kind::Absent),
        Err(error) => {
            Err(Failure::usage(format!("{} cannot be examined: {error}", path.display())))
        }
    }
}
/// Bytes up to the end of the last region of a plan.
fn needed(plan: &Plan) -> u64 {
    let ends = plan.steps.iter().flat_map(|step| &step.streams).filter_map(|stream| {
        let apart = stream.offset_each.0.saturating_mul(u64::from(stream.workers.max(1) - 1));
        let begin = stream.offset.0.saturating_add(apart);
        stream.length.map(|length| begin.saturating_add(length.0))
    });
    ends.max().unwrap_or(0).checked_next_multiple_of(SIZE_GRAIN).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
