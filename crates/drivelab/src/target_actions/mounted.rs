//! Files in a file system on the target, in place of the target: made, mounted, released again.

use crate::descriptors::Descriptors;
use drivelab_core::anatomy::Piece;
use drivelab_core::plan::{FileSystem, Mount};
use drivelab_core::queue::Trouble;
use drivelab_io::extents;
use drivelab_io::facts::{self, System};
use drivelab_io::file_system::{self, Mounted};
use drivelab_io::guard::{self, Intent, Refusal};
use drivelab_io::identity::Identity;
use drivelab_io::opening::{Mode, OpenRequest, Target, open_target};
use drivelab_io::scratch::ScratchList;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// File systems whose files lie where they say, on the one device that they are mounted from.
const TELLS_PLACES: [&str; 4] = ["xfs", "ext4", "ext3", "ext2"];
/// The name of the first file at a place of our own.
const NAME: &str = "drivelab.dat";
/// Blocks that are compared between the file and the device.
const SEEN: u64 = 64;
const BLOCK_BYTES: usize = 4096;

/// What is mounted, and what it takes to undo it.
#[derive(Debug)]
pub struct Files {
    system: System,
    /// `$XDG_DATA_HOME/drivelab/scratch.jsonl`.
    scratch_list: PathBuf,
    made: Option<FileSystem>,
    mounted: Option<Mounted>,
    /// Files in a directory of others; they stay open until the end.
    elsewhere: Option<Rc<Target>>,
    /// Files that were made in our own file system.
    ours: Vec<Identity>,
}

impl Files {
    /// Nothing is mounted.
    pub fn new(system: System, scratch_list: PathBuf) -> Self {
        let (made, mounted, elsewhere) = (None, None, None);
        Files { system, scratch_list, made, mounted, elsewhere, ours: Vec::new() }
    }

    /// Makes a file system on the device.
    pub fn make(&mut self, descriptors: &Descriptors, kind: FileSystem) -> Result<(), Trouble> {
        file_system::make(&self.system, device(descriptors)?, kind)?;
        self.made = Some(kind);
        Ok(())
    }

    /// From here on everything goes to files.
    pub fn mount(&mut self, descriptors: &Descriptors, wanted: &Mount) -> Result<(), Trouble> {
        let files = match &wanted.directory {
            Some(directory) => self.elsewhere(descriptors, Path::new(directory), wanted)?,
            None => self.here(descriptors, wanted)?,
        };
        *descriptors.mounted.borrow_mut() = Some(files);
        Ok(())
    }

    fn elsewhere(
        &mut self,
        descriptors: &Descriptors,
        directory: &Path,
        wanted: &Mount,
    ) -> Result<Rc<Target>, Trouble> {
        if let Some(files) = &self.elsewhere {
            return Ok(files.clone());
        }
        // What was mounted there may be gone, and its directory still be one.
        let device = device(descriptors)?;
        let nearest = |path: &Path| facts::devices_below(&self.system, path).first().copied();
        if nearest(directory).is_none() || nearest(directory) != nearest(&device.path) {
            return Err(Trouble::usage(format!(
                "{} does not lie on {}: mount its file system there, or name a directory in it",
                directory.display(),
                device.path.display()
            )));
        }
        let files = self.open(directory, wanted, false)?;
        Ok(self.elsewhere.insert(Rc::new(files)).clone())
    }

    fn here(&mut self, descriptors: &Descriptors, wanted: &Mount) -> Result<Rc<Target>, Trouble> {
        let kind = self.made.ok_or_else(|| {
            Trouble::usage("there is no file system to mount: put a step with mkfs before it")
        })?;
        if self.mounted.is_some() {
            return Err(Trouble::usage("it is mounted already: put an unmount before it"));
        }
        let place = self.scratch_list.with_file_name("mount");
        let mounted = file_system::mount(&self.system, device(descriptors)?, kind, &place)?;
        let place = mounted.place().join(NAME);
        // From here on an error unmounts it again.
        self.mounted = Some(mounted);
        let files = self.open(&place, wanted, true)?;
        let identities = (0..files.files().len())
            .filter_map(|index| Identity::of(files.pinned(index)?).ok())
            .filter(|identity| !self.ours.contains(identity));
        let new: Vec<Identity> = identities.collect();
        self.ours.extend(new);
        Ok(Rc::new(files))
    }

    fn open(&self, path: &Path, wanted: &Mount, keep: bool) -> Result<Target, Trouble> {
        let mut request = OpenRequest::new(path, Intent::Write, &self.scratch_list);
        (request.files, request.size, request.keep) = (wanted.files, Some(wanted.bytes.0), keep);
        open_target(&self.system, &request).map_err(of_refusal)
    }

    /// From here on everything goes to the device; says where the files lie on it.
    pub fn unmount(&mut self, descriptors: &Descriptors) -> Result<Vec<Vec<Piece>>, Trouble> {
        let Some(files) = descriptors.mounted.borrow_mut().take() else {
            return Err(Trouble::usage("nothing is mounted: put a mount before the unmount"));
        };
        let target = device(descriptors)?;
        let places = self.places(&files)?;
        let seen = places.first().map(|pieces| look(&files, pieces, |piece| piece.offset));
        drop(files);
        if let Some(mounted) = self.mounted.take() {
            mounted.unmount(&self.system, target)?;
        }
        let here = places.first().map(|pieces| look(target, pieces, |piece| piece.on_disk));
        let is_same = here.flatten().zip(seen.flatten()).is_some_and(|(here, seen)| here == seen);
        Ok(if is_same { places } else { Vec::new() })
    }

    /// The pieces of each file; nothing where the file system does not tell.
    fn places(&self, files: &Target) -> Result<Vec<Vec<Piece>>, Trouble> {
        let mut places = Vec::new();
        for index in 0..files.files().len() {
            let Some(pinned) = files.pinned(index) else { continue };
            let synced = pinned.try_clone_to_owned().and_then(|file| File::from(file).sync_all());
            synced.map_err(|error| {
                Trouble::failed(format!("{} cannot be synced: {error}", files.path.display()))
            })?;
            places.extend(extents::pieces(pinned, files.bytes));
        }
        let mount = facts::filesystem(&self.system, &files.path);
        let tells = mount.is_some_and(|mount| TELLS_PLACES.contains(&mount.kind.as_str()));
        let is_whole = tells && places.len() == files.files().len();
        Ok(if is_whole { places } else { Vec::new() })
    }

    /// Undoes what is still mounted, and forgets the files in it.
    pub fn end(&mut self, descriptors: &Descriptors) {
        descriptors.mounted.borrow_mut().take();
        if let (Some(mounted), Ok(target)) = (self.mounted.take(), device(descriptors))
            && let Err(trouble) = mounted.unmount(&self.system, target)
        {
            crate::print::error(&format!(
                "drivelab: {trouble}; it ends with this program at the latest"
            ));
        }
        if let Some(files) = self.elsewhere.take().and_then(Rc::into_inner)
            && let Err(error) = files.close()
        {
            crate::print::error(&format!("drivelab: scratch {error}; remove it by hand"));
        }
        let list = ScratchList::at(&self.scratch_list);
        for identity in self.ours.drain(..) {
            // What is not forgotten names an inode that will never be again.
            list.forget(identity).ok();
        }
    }
}

fn device(descriptors: &Descriptors) -> Result<&Target, Trouble> {
    let device = descriptors.target.as_deref();
    device.ok_or_else(|| Trouble::usage("there is no device for a file system"))
}

fn of_refusal(refusal: Refusal) -> Trouble {
    let text = refusal.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    match refusal.kind {
        guard::Kind::Usage => Trouble::usage(text),
        guard::Kind::Safety | guard::Kind::Failed => Trouble::failed(text),
    }
}

/// Some blocks of these pieces, read past the page cache; `None` where that is not possible.
fn look(target: &Target, pieces: &[Piece], at: fn(&Piece) -> u64) -> Option<Vec<u8>> {
    let mode = Mode { direct: true, ..Mode::default() };
    let file = File::from(target.descriptor(0, mode).ok()?);
    let mut memory = vec![0; 2 * BLOCK_BYTES];
    let start = memory.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
    let block = &mut memory[start..start + BLOCK_BYTES];
    let blocks: u64 = pieces.iter().map(|piece| piece.bytes / BLOCK_BYTES as u64).sum();
    let mut seen = Vec::new();
    for number in 0..SEEN.min(blocks) {
        let mut rest = number * blocks / SEEN.min(blocks);
        let piece = pieces.iter().find(|piece| {
            let count = piece.bytes / BLOCK_BYTES as u64;
            let is_here = rest < count;
            rest -= if is_here { 0 } else { count };
            is_here
        })?;
        file.read_exact_at(block, at(piece) + rest * BLOCK_BYTES as u64).ok()?;
        seen.extend_from_slice(block);
    }
    (!seen.is_empty()).then_some(seen)
}
