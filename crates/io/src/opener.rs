//! From an approved target to the descriptors that workers use, with the flags a stream asks for.

use crate::engine::Opened;
use crate::target::{Mode, ScratchDirectory, Target};
use crate::testbed::{Handle, Opener};
use drivelab_core::driver::Setup;
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{Engine, Files, IoMode, PatternName, Stream, Sync};
use drivelab_core::queue::Trouble;
use std::os::fd::AsFd;
use std::rc::Rc;

/// What the workers of a run may open.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// Files or device.
    pub target: Option<Rc<Target>>,
    /// Where names are made, one for each worker or one for all.
    pub directories: Vec<Rc<ScratchDirectory>>,
    /// The target's file system lives in memory: io_uring serves it inline if it is non-blocking.
    pub memory_backed: bool,
}

/// The flags that a stream asks for.
pub fn mode_of(stream: &Stream, memory_backed: bool) -> Mode {
    let mapped = matches!(stream.engine, Engine::Mmap | Engine::Stdio);
    Mode {
        write: stream.changes_data(),
        direct: stream.io == IoMode::Direct && !mapped,
        dsync: stream.sync == Sync::Dsync,
        nonblock: memory_backed && stream.engine == Engine::IoUring,
    }
}

impl Site {
    /// The opener for a testbed.
    pub fn opener(self) -> Opener {
        Box::new(move |setup| self.open(setup))
    }

    fn open(&self, setup: &Setup) -> Result<Handle, Trouble> {
        let stream = &setup.stream;
        if stream.engine == Engine::Null {
            return Ok(Handle::Nothing);
        }
        if stream.pattern == PatternName::Names {
            return self.open_directory(setup);
        }
        let target = self.target.as_ref().ok_or_else(|| {
            Trouble::usage("this step reads or writes data, but the target holds none (a defect)")
        })?;
        let file = if stream.files == Files::Each { setup.worker as usize } else { 0 };
        let mode = mode_of(stream, self.memory_backed);
        let descriptor =
            target.descriptor(file, mode).map_err(|error| Trouble::usage(error.to_string()))?;
        let opened = Opened {
            descriptor,
            is_device: target.kind == TargetKind::BlockDevice,
            data_only: matches!(stream.sync, Sync::Fdatasync(_)),
            bytes: target.bytes,
        };
        Ok(Handle::Data { opened, nonblocking: mode.nonblock })
    }

    fn open_directory(&self, setup: &Setup) -> Result<Handle, Trouble> {
        let index = match setup.stream.directories {
            Files::One => 0,
            Files::Each => setup.worker as usize,
        };
        let directory = self.directories.get(index).ok_or_else(|| {
            Trouble::usage("metadata actions need a directory as target, not a file or device")
        })?;
        let descriptor = directory.descriptor().try_clone_to_owned().map_err(|error| {
            Trouble::failed(format!("{} cannot be used: {error}", directory.path().display()))
        })?;
        Ok(Handle::Directory(descriptor))
    }
}

/// What the kernel says the flags of a stream's files are, in words: the effective mode.
///
/// # Errors
/// The file cannot be opened that way.
pub fn effective_flags(target: &Target, stream: &Stream, memory_backed: bool) -> String {
    let mode = mode_of(stream, memory_backed);
    let flags = target
        .descriptor(0, mode)
        .and_then(|descriptor| Ok(rustix::fs::fcntl_getfl(descriptor.as_fd())?));
    match flags {
        Err(error) => error.to_string(),
        Ok(flags) => {
            use rustix::fs::OFlags;
            let access = if flags.contains(OFlags::RDWR) { "O_RDWR" } else { "O_RDONLY" };
            let mut words = vec![access];
            for (flag, word) in [
                (OFlags::DIRECT, "O_DIRECT"),
                (OFlags::DSYNC, "O_DSYNC"),
                (OFlags::NONBLOCK, "O_NONBLOCK"),
            ] {
                if flags.contains(flag) {
                    words.push(word);
                }
            }
            words.join("|")
        }
    }
}
