//! From an approved target to the descriptors that workers use, with the flags a stream asks for.

use drivelab_core::driver::Setup;
use drivelab_core::facts::TargetKind;
use drivelab_core::plan::{Files, IoMode, Stream, Sync};
use drivelab_core::queue::Trouble;
use drivelab_io::engine::Opened;
use drivelab_io::opening::{Advice, Mode, NameDirectory, ScratchDirectory, Target};
use drivelab_io::testbed::{Handle, Opener};
use std::cell::RefCell;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

/// Bits of Linux's file status flags, as /proc shows them (`proc(5)`, fdinfo), in words.
const FLAGS: [(u32, &str); 3] = [(DIRECT, "direct"), (0o10_000, "dsync"), (0o4_000, "nonblocking")];
const DIRECT: u32 =
    if cfg!(any(target_arch = "aarch64", target_arch = "arm")) { 0o200_000 } else { 0o40_000 };
const READ_WRITE: u32 = 0o2;

/// What the workers of a run may open.
#[derive(Debug, Clone, Default)]
pub struct Descriptors {
    /// Files or device.
    pub target: Option<Rc<Target>>,
    /// Files in a file system on the device, while one is mounted: then everything goes to them.
    pub mounted: Rc<RefCell<Option<Rc<Target>>>>,
    /// Where names are made: one directory for all workers, or one each.
    pub directories: Vec<Rc<ScratchDirectory>>,
    /// The target directory itself, where names are spelt in it.
    pub spelt: Option<Rc<NameDirectory>>,
    /// The target's file system lives in memory: io_uring serves it inline if it is non-blocking.
    pub memory_backed: bool,
}

impl Descriptors {
    /// Where data goes now.
    pub fn at(&self) -> Option<Rc<Target>> {
        self.mounted.borrow().clone().or_else(|| self.target.clone())
    }

    /// The opener for a testbed.
    pub fn opener(self) -> Opener {
        Box::new(move |setup| self.open(setup))
    }

    fn open(&self, setup: &Setup) -> Result<Handle, Trouble> {
        let stream = &setup.stream;
        if stream.is_metadata() {
            return self.open_directory(setup);
        }
        let target = self.at().ok_or_else(|| {
            Trouble::defect("this step reads or writes data, and there is no data file")
        })?;
        let first = stream.first_file_of(setup.worker) as usize;
        let mode = self.mode(stream);
        let open = |index| {
            target.descriptor(index, mode).map_err(|error| match error.kind() {
                ErrorKind::Unsupported | ErrorKind::PermissionDenied => {
                    Trouble::usage(error.to_string())
                }
                _ => Trouble::failed(error.to_string()),
            })
        };
        let own = first..first + stream.files_of_worker() as usize;
        let sizes = own.clone().filter_map(|index| target.file(index)).map(|file| file.bytes);
        let opened = Opened {
            descriptor: open(first)?,
            is_device: target.kind == TargetKind::BlockDevice,
            data_only: matches!(stream.sync, Sync::Fdatasync(_)),
            zone_bytes: stream.zoned.map_or(0, |zoned| zoned.size.0),
            bytes: sizes.min().unwrap_or(target.bytes),
            others: own.skip(1).map(open).collect::<Result<_, _>>()?,
            commands: match stream.engine.traits().is_passthrough {
                true => Some(target.command_device(mode.write)?),
                false => None,
            },
        };
        Ok(Handle::Data { opened, nonblocking: mode.nonblock })
    }

    fn open_directory(&self, setup: &Setup) -> Result<Handle, Trouble> {
        let names = setup.stream.names();
        let index = match names.map_or(Files::One, |names| names.directories) {
            _ if names.is_some_and(|names| names.form.is_some()) => {
                let spelt = self.spelt.as_ref();
                let spelt = spelt
                    .ok_or_else(|| Trouble::defect("there is no directory for spelt names"))?;
                let cloned = spelt.descriptor().try_clone_to_owned().map_err(|error| {
                    Trouble::failed(format!("the target directory cannot be used: {error}"))
                });
                return Ok(Handle::Spelt(cloned?, spelt.held()));
            }
            Files::One => 0,
            Files::Each => setup.worker as usize,
        };
        let directory = self
            .directories
            .get(index)
            .ok_or_else(|| Trouble::defect("there is no directory for names"))?;
        directory.descriptor().try_clone_to_owned().map(Handle::Directory).map_err(|error| {
            Trouble::failed(format!("{} cannot be used: {error}", directory.path().display()))
        })
    }

    fn mode(&self, stream: &Stream) -> Mode {
        Mode {
            write: stream.changes_data(),
            direct: stream.io == IoMode::Direct,
            dsync: stream.sync == Sync::Dsync,
            nonblock: self.memory_backed && stream.engine.traits().is_ring,
            advice: Advice::of(stream),
        }
    }

    /// The flags in force on the file of a stream, as the kernel tells them; empty where the
    /// stream opens none.
    pub fn flags_in_force(&self, stream: &Stream) -> String {
        let Some(target) = self.at() else { return String::new() };
        if !stream.reaches_target() {
            return String::new();
        }
        if stream.engine.traits().is_passthrough {
            return match target.command_device(self.mode(stream).write) {
                Ok(device) => format!(
                    "{} commands to {}",
                    flags_of(&device.descriptor).unwrap_or_else(|| "unknown".into()),
                    device.node.display()
                ),
                Err(trouble) => trouble.text,
            };
        }
        match target.descriptor(stream.first_file_of(0) as usize, self.mode(stream)) {
            Ok(descriptor) => flags_of(&descriptor).unwrap_or_else(|| "unknown".into()),
            Err(error) => error.to_string(),
        }
    }
}

fn flags_of(descriptor: &OwnedFd) -> Option<String> {
    let path = format!("/proc/self/fdinfo/{}", descriptor.as_raw_fd());
    let text = std::fs::read_to_string(path).ok()?;
    let octal = text.lines().find_map(|line| line.strip_prefix("flags:"))?.trim();
    let flags = u32::from_str_radix(octal, 8).ok()?;
    let mut words = vec![if flags & READ_WRITE != 0 { "read-write" } else { "read-only" }];
    words.extend(FLAGS.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, word)| *word));
    Some(words.join("|"))
}
