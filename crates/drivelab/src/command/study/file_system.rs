//! What `study fs` needs besides its target: a tool that makes a file system, or a directory in
//! the one that is there.

use crate::cli::study::StudyCommandOptions;
use crate::outcome::Failure;
use crate::target::{Kind, ResolvedTarget};
use drivelab_core::facts::Facts;
use drivelab_core::plan::{FileSystem, Stripe};
use drivelab_core::study::FileSystemOptions;
use drivelab_io::facts::{self, System};
use drivelab_io::file_system;
use std::path::Path;

/// What was asked of file systems.
pub fn asked(options: &StudyCommandOptions) -> FileSystemOptions {
    FileSystemOptions {
        make: options.file_system.mkfs.map(FileSystem::from),
        stripe: options
            .file_system
            .stripe_width
            .map(|stripe_width| Stripe { stride: options.file_system.stride, stripe_width }),
        // As it is meant here: a study that goes on may be told so from elsewhere.
        directory: options.file_system.mount.as_ref().map(|path| {
            std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string()
        }),
    }
}

/// Looks whether it can be had as asked, and takes in what is known of a mounted one.
pub fn look(options: &StudyCommandOptions, resolved: &mut ResolvedTarget) -> Result<(), Failure> {
    let asked = &options.file_system;
    if resolved.kind != Kind::Device {
        return Ok(());
    }
    let missing = asked.mkfs.and_then(|word| file_system::objection(FileSystem::from(word)));
    if let Some(text) = missing {
        return Err(Failure::usage(text).advise("Nothing was written."));
    }
    asked.mount.as_deref().map_or(Ok(()), |directory| use_mounted(resolved, directory))
}

/// Takes in what is known of the file system in which `directory` lies; it must be that of the
/// device, and have room.
fn use_mounted(resolved: &mut ResolvedTarget, directory: &Path) -> Result<(), Failure> {
    let shown = directory.display();
    if !directory.is_dir() {
        return Err(Failure::usage(format!("--mount {shown}: there is no such directory"))
            .advise("Name one in the file system that is mounted from the device."));
    }
    let there = facts::gather(&System::live(), directory);
    if number(&there).is_none() || number(&there) != number(&resolved.facts) {
        let source = there.target.filesystem.as_ref().map(|found| found.source.clone());
        return Err(Failure::usage(format!(
            "{shown} is not on {} but on {}",
            resolved.path.display(),
            source.unwrap_or_else(|| "something that is not a block device".into())
        ))
        .advise("Name the device that it lies on, or a directory in a file system of this one."));
    }
    resolved.facts.target.filesystem = there.target.filesystem;
    let free = resolved.facts.target.filesystem.as_ref().and_then(|found| found.free_bytes);
    let room = free.unwrap_or(0).saturating_sub(resolved.reserve_bytes());
    // Of what is free, as of a device of that size.
    resolved.file_bytes = resolved.file_bytes.min(room);
    Ok(())
}

fn number(facts: &Facts) -> Option<&str> {
    facts.target.devices.first().map(|device| device.number.as_str())
}
