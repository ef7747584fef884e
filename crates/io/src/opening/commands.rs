//! The way of NVMe commands to a namespace whose block device was approved and is held.

use super::Target;
use crate::engine::CommandDevice;
use crate::guard::Subject;
use crate::namespace::Namespace;
use crate::passthrough::line::Kernel;
use crate::passthrough::nvme::own_namespace;
use crate::system::{DeviceNumber, System};
use drivelab_core::queue::Trouble;
use rustix::fs::{FileType, Mode, OFlags};
use std::os::fd::{AsFd, OwnedFd};

impl Target {
    /// Opens the character device of the namespace that this target is, for writing too where that
    /// was approved. The guard has looked at the block device of the same namespace, which is open
    /// here, and held where it is written.
    ///
    /// # Errors
    /// The target is no namespace, writing was not approved, or the device cannot be opened.
    pub fn command_device(&self, write: bool) -> Result<CommandDevice, Trouble> {
        let Subject::Device(number) = self.approval.subject else {
            return Err(Trouble::usage(format!(
                "{} is not an NVMe namespace, and only those take commands: use --engine io_uring",
                self.path.display()
            )));
        };
        let is_writable = self.writable && self.files.first().is_some_and(|file| file.writable);
        if write && !is_writable {
            return Err(Trouble::usage(format!(
                "{} was opened for reading only",
                self.path.display()
            )));
        }
        let system = System::live();
        let namespace = Namespace::of(&system, number)?;
        let flags = if write { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        let node = namespace.generic.display();
        let descriptor = rustix::fs::open(&namespace.generic, flags, Mode::empty());
        let descriptor = descriptor.map_err(|error| {
            Trouble::usage(format!(
                "{node}, which takes the NVMe commands of io_uring_cmd, cannot be opened \
                 ({error}): run as root, or use --engine io_uring"
            ))
        })?;
        check(&system, number, &namespace, &descriptor)?;
        let Namespace { generic: node, identifier, block_bytes, .. } = namespace;
        Ok(CommandDevice { descriptor, node, identifier, block_bytes })
    }
}

/// The node's name proves nothing: what is open must be the device that sysfs shows next to the
/// approved one, still, and answer for the same namespace.
fn check(
    system: &System,
    number: DeviceNumber,
    namespace: &Namespace,
    descriptor: &OwnedFd,
) -> Result<(), Trouble> {
    let node = namespace.generic.display();
    let stat = rustix::fs::fstat(descriptor)
        .map_err(|error| Trouble::failed(format!("{node} cannot be examined: {error}")))?;
    let is_character = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
    let found = Some(DeviceNumber::from_raw(stat.st_rdev)).filter(|_| is_character);
    let identifier = own_namespace(&mut Kernel::new(descriptor.as_fd()))?;
    let is_same = found.is_some()
        && found == namespace.generic_number
        && identifier == namespace.identifier
        && Namespace::of(system, number)? == *namespace;
    match is_same {
        true => Ok(()),
        false => Err(Trouble::failed(format!(
            "{node} does not belong to {} (any more), and nothing was sent to it: look at what \
             changes the device nodes, then try again",
            namespace.name
        ))),
    }
}
