//! What is open while a run lasts: files, directories, devices; and that it is gone afterwards.

use super::intent::{self, intent_of};
use super::refused;
use crate::descriptors::Descriptors;
use crate::job::Job;
use crate::outcome::{Failure, Status};
use crate::patience::Patience;
use crate::ranks::{agree, all_gather, first_found, made_by_rank_0, parts};
use crate::target::{Kind, ResolvedTarget};
use crate::target_actions::is_taken_away;
use drivelab_core::facts::{DeviceFacts, TargetKind};
use drivelab_core::plan::{Act, Files, Plan, PlanFile, Stream};
use drivelab_core::record::Warning;
use drivelab_io::facts::{DeviceNumber, System, is_there};
use drivelab_io::opening::{
    Mark, NameDirectory, NamedFile, OpenRequest, Part, ScratchDirectory, SpeltNames, Target,
    join_directory, open_directory, open_names, open_target,
};
use drivelab_io::ranks::Ranks;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What is open while a run lasts.
#[derive(Debug, Default)]
pub struct OpenTarget {
    /// What workers may open.
    pub descriptors: Descriptors,
    keeps: bool,
    /// An operation did not come back, and may yet write.
    pub hangs: bool,
    /// What a reader must know of it.
    pub warnings: Vec<Warning>,
}

impl OpenTarget {
    pub fn open(
        job: &Job<'_>,
        resolved: &ResolvedTarget,
        plan: &Plan,
        scratch_list: PathBuf,
    ) -> Result<Self, Failure> {
        let ranks = job.ranks;
        let mut wanted = OpenRequest::new(&resolved.path, intent_of(plan, resolved), scratch_list);
        wanted.keep = job.keep;
        wanted.erase = job.erase.clone();
        wanted.reserve_bytes = job.reserve_bytes;
        let mut open_target = OpenTarget { keeps: job.keep, ..OpenTarget::default() };
        let filesystem = resolved.facts.target.filesystem.as_ref();
        open_target.descriptors.memory_backed = filesystem.is_some_and(|found| found.memory_backed);
        // Its names are in its own file system, and there is nothing else to open.
        if resolved.kind == Kind::Simulated {
            return Ok(open_target);
        }
        wanted.named = named_files(ranks, plan);
        if resolved.kind == Kind::Device && !ranks.is_rank_0() {
            wanted.part = Part::Joins;
        }
        open_target.open_spelt(job, &wanted, plan)?;
        for _ in 0..directories_of(plan) {
            open_target.descriptors.directories.push(Rc::new(scratch_directory(job, &wanted)?));
        }
        if resolved.kind != Kind::Nothing && resolved.files > 0 {
            wanted.files = resolved.files;
            wanted.size = (resolved.creates() || job.size.is_some()).then_some(resolved.file_bytes);
            let target = open_by_ranks(job, &wanted)?;
            open_target.warnings.extend(first_found(ranks, holes(&target))?);
            open_target.descriptors.target = Some(Rc::new(target));
        }
        Ok(open_target)
    }

    /// Rank 0 looks whether names are free; the others find them begun.
    fn open_spelt(
        &mut self,
        job: &Job<'_>,
        wanted: &OpenRequest,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let spelt = spelt_names(plan);
        if spelt.is_empty() {
            return Ok(());
        }
        let open = |joined| open_names(&job.system, wanted, spelt.clone(), joined).map_err(refused);
        let mark = |made: &NameDirectory| Ok(made.mark());
        let names = made_by_rank_0(job.ranks, || open(None), mark, |mark| open(Some(mark)))?;
        let names = if job.ranks.is_alone() { names.alone() } else { names };
        self.descriptors.spelt = Some(Rc::new(names));
        Ok(())
    }

    /// Bytes of one data file.
    pub fn file_bytes(&self, resolved: &ResolvedTarget) -> u64 {
        self.descriptors.target.as_ref().map_or(resolved.file_bytes, |target| target.bytes)
    }

    /// Files that were created and stay.
    pub fn kept(&self) -> impl Iterator<Item = &Path> {
        let files = self.descriptors.target.iter().flat_map(|target| target.files());
        files.filter(|file| self.keeps && file.created).map(|file| file.path.as_path())
    }

    /// Removes scratch, and notes how what stays was left; what cannot be done is said. By now all
    /// ranks have ended their last step.
    pub fn close(self) {
        let files = self.descriptors.target.iter().flat_map(|target| target.scratch_paths());
        let directories = self.descriptors.directories.iter().map(|one| one.path().to_path_buf());
        let _cleaning =
            Patience::begin("scratch is being removed", files.chain(directories).collect());
        let mut closed: Vec<std::io::Result<()>> = Vec::new();
        let close = if self.hangs { Target::abandon } else { Target::close };
        closed.extend(self.descriptors.target.and_then(Rc::into_inner).map(close));
        let directories = self.descriptors.directories.into_iter().filter_map(Rc::into_inner);
        closed.extend(directories.map(ScratchDirectory::close));
        closed.extend(self.descriptors.spelt.and_then(Rc::into_inner).map(NameDirectory::close));
        for error in closed.into_iter().filter_map(Result::err) {
            crate::print::error(&format!("drivelab: scratch {error}; remove it by hand"));
        }
    }
}

/// Scratch directories that metadata actions need.
fn directories_of(plan: &Plan) -> u32 {
    let names = plan
        .steps
        .iter()
        .flat_map(|step| &step.streams)
        .filter_map(|stream| Some((stream.workers, stream.names()?)))
        .filter(|(_, names)| names.form.is_none());
    let needed = names.map(|(workers, names)| match names.directories {
        Files::One => 1,
        Files::Each => workers,
    });
    needed.max().unwrap_or(0)
}

/// A directory for names, which rank 0 makes and the others join.
fn scratch_directory(job: &Job<'_>, wanted: &OpenRequest) -> Result<ScratchDirectory, Failure> {
    let make = || open_directory(&job.system, wanted).map_err(refused);
    let mark = |made: &ScratchDirectory| {
        let mark = made.mark().map_err(|error| Failure::invalid(format!("{error}")))?;
        Ok((made.path().to_owned(), mark))
    };
    let join = |(path, mark): (PathBuf, Mark)| {
        join_directory(&path, mark, &wanted.scratch_list).map_err(refused)
    };
    made_by_rank_0(job.ranks, make, mark, join)
}

/// Opens the target; of several ranks each opens its own files, and then joins those that others
/// have opened.
fn open_by_ranks(job: &Job<'_>, wanted: &OpenRequest) -> Result<Target, Failure> {
    let mut target = agree(job.ranks, open_target(&job.system, wanted).map_err(refused))?;
    if job.ranks.is_alone() {
        return Ok(target);
    }
    let mine = target.seen().map_err(|error| Failure::invalid(format!("{error}")));
    let seen = all_gather(job.ranks, mine)?.concat();
    agree(job.ranks, target.join(wanted, &seen).map_err(refused))?;
    Ok(target)
}

/// The files that a plan names, and whether it changes what is in them.
fn named_files(ranks: Ranks, plan: &Plan) -> Vec<NamedFile> {
    let streams = || plan.steps.iter().flat_map(|step| &step.streams);
    let writers = || streams().filter(|stream| intent::is_data(stream) && stream.changes_data());
    let trims = plan.steps.iter().any(|step| matches!(step.act, Some(Act::Trim { .. })));
    let parts = parts(ranks, plan);
    // How much is written until then, nobody knows.
    let ends_by_time = |index: u32| {
        plan.steps.iter().any(|step| {
            let writes = |stream: &&Stream| stream.changes_data() && stream.uses_file(index);
            let ends = |stream: &Stream| step.until_of(stream).elapsed.is_some();
            step.streams.iter().filter(writes).any(ends)
        })
    };
    let named = |(index, file): (u32, &PlanFile)| NamedFile {
        part: parts[index as usize],
        path: PathBuf::from(&file.name),
        bytes: file.size.0,
        grows_to: file.grows.then(|| if ends_by_time(index) { 0 } else { file.size.0 }),
        destroys: trims || writers().any(|stream| stream.uses_file(index)),
    };
    (0..).zip(&plan.files).map(named).collect()
}

/// The names that a plan spells.
fn spelt_names(plan: &Plan) -> Vec<SpeltNames> {
    let mut spelt: Vec<SpeltNames> = Vec::new();
    for stream in plan.steps.iter().flat_map(|step| &step.streams) {
        let own = SpeltNames::of(stream);
        spelt.extend(own.filter(|own| !spelt.contains(own)));
    }
    spelt
}

/// Existing files that are not wholly allocated read faster than any drive.
fn holes(target: &Target) -> Option<Warning> {
    use std::os::unix::fs::MetadataExt;
    let sparse = |file: &&drivelab_io::opening::TargetFile| {
        let found = std::fs::metadata(&file.path).ok();
        let allocated = found.map(|found| found.blocks() * 512);
        !file.created && !file.joined && allocated.is_some_and(|allocated| allocated < file.bytes)
    };
    let file = target.files().iter().find(sparse).filter(|_| target.kind == TargetKind::File)?;
    Some(Warning {
        code: "file_has_holes".into(),
        text: format!(
            "{} is not fully allocated: reads of its holes, or of what is stored compressed, take \
             less work of the drive.",
            file.path.display()
        ),
        advice: "Write the whole file first.".into(),
        step: None,
    })
}

/// Why a device cannot be opened that was there when it was looked at: it has gone since.
pub fn or_gone(failure: Failure, job: &Job<'_>, resolved: &ResolvedTarget) -> Failure {
    let devices = &resolved.facts.target.devices;
    if resolved.kind != Kind::Device || !went_away(&failure, &job.system, devices) {
        return failure;
    }
    Failure::invalid(format!("{} went away before it was opened", resolved.path.display()))
        .advise("Look at the kernel log (dmesg), its slot and its cable.")
}

/// Whether a drive has gone, or goes now: what failed may be the first sign of it, what was asked
/// for wrongly is none.
fn went_away(failure: &Failure, system: &System, devices: &[DeviceFacts]) -> bool {
    match failure.status {
        Status::Invalid => is_taken_away(|| is_gone(system, devices)),
        _ => is_gone(system, devices),
    }
}

/// Whether the first of these, which the target is, is no longer there.
fn is_gone(system: &System, devices: &[DeviceFacts]) -> bool {
    let number = devices.first().and_then(|device| DeviceNumber::parse(&device.number));
    number.is_some_and(|number| !is_there(system, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::tests::one_drive;

    #[test]
    fn a_device_is_gone_once_the_kernel_no_longer_has_it() {
        let (_root, block, system) = one_drive();
        let device = [DeviceFacts { number: "8:0".into(), ..DeviceFacts::default() }];
        assert!(!is_gone(&system, &device));
        assert!(!is_gone(&system, &[]), "nothing was known of it");
        std::fs::write(block.join("size"), "0\n").unwrap();
        assert!(is_gone(&system, &device), "an NVMe drive that was pulled out");
        std::fs::remove_dir_all(&block).unwrap();
        assert!(is_gone(&system, &device));
    }

    #[test]
    fn a_device_that_cannot_be_read_may_be_going() {
        let (_root, block, system) = one_drive();
        let device = [DeviceFacts { number: "8:0".into(), ..DeviceFacts::default() }];
        let unread = Failure::invalid("what /dev/sda holds cannot be read: Input/output error");
        assert!(!went_away(&unread, &system, &device), "it is a drive that cannot be read");
        let taken = block.clone();
        let kernel = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(60));
            std::fs::remove_dir_all(taken).unwrap();
        });
        assert!(!went_away(&Failure::usage("no such option"), &system, &device));
        assert!(went_away(&unread, &system, &device));
        kernel.join().unwrap();
    }
}
