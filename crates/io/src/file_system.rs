//! Makes a file system on a device and mounts it where no one else sees it.
//!
//! The one place that formats. The tools of the system do it, on the very inode that the guard has
//! approved. What is mounted is mounted in a mount namespace of this process: it ends with the
//! process, however that ends, so that nothing can be left mounted.

use crate::errno::last_errno;
use crate::opening::Target;
use crate::system::System;
use drivelab_core::facts::TargetKind;
use drivelab_core::op::Errno;
use drivelab_core::plan::FileSystem;
use drivelab_core::queue::Trouble;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rings of io_uring release their files a moment after they were closed.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// Where the tools are when `PATH` does not say so.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// The tool that makes it, and its options: the device is not discarded, so that the drive keeps
/// the state it is in, and nothing is left to be initialised while something is measured.
fn tool(kind: FileSystem) -> (&'static str, &'static str, Vec<String>) {
    const EXT4: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let ext4 = |extended: &str| ("mkfs.ext4", "e2fsprogs", words(&["-q", "-F", "-E", extended]));
    match kind {
        FileSystem::Xfs => ("mkfs.xfs", "xfsprogs", words(&["-q", "-f", "-K"])),
        FileSystem::Ext4 => ext4(EXT4),
        FileSystem::Ext4Striped(stripe) => {
            let stride = stripe.stride.map_or(String::new(), |blocks| format!(",stride={blocks}"));
            ext4(&format!("{EXT4}{stride},stripe_width={}", stripe.stripe_width))
        }
    }
}

/// Where a program is.
fn found(name: &str) -> Option<PathBuf> {
    let listed = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&listed).collect::<Vec<_>>().into_iter();
    let all = directories.chain(SYSTEM_DIRECTORIES.map(PathBuf::from));
    all.map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// Why this one cannot be made here, if so.
pub fn objection(kind: FileSystem) -> Option<String> {
    let (name, package, _) = tool(kind);
    found(name).is_none().then(|| {
        format!(
            "{name} is not installed; install {package}, or use an existing file system (--mount \
             DIR)"
        )
    })
}

/// Makes a file system on the whole device of `target`, which was approved for it and is held
/// exclusively before and after.
///
/// # Errors
/// The tool is missing or failed, or somebody took the device.
pub fn make(system: &System, target: &Target, kind: FileSystem) -> Result<(), Trouble> {
    let (name, _, options) = tool(kind);
    let program = match (found(name), objection(kind)) {
        (Some(program), None) => program,
        (_, why) => return Err(Trouble::usage(why.unwrap_or_default())),
    };
    let shown = target.path.display();
    if target.kind != TargetKind::BlockDevice || !target.writable {
        return Err(Trouble::usage(format!("{shown} was not approved to be formatted")));
    }
    let device = own_path(target)?;
    target.release_exclusive();
    // Ctrl-C ends the run afterwards, and not a file system half made.
    let output = Command::new(program)
        .args(options)
        .arg(&device)
        .stdin(Stdio::null())
        .process_group(0)
        .output()
        .map_err(|error| Trouble::failed(format!("{name} cannot be started: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        return Err(Trouble::failed(format!(
            "{name} could not make a file system on {shown} ({}): {said}",
            output.status
        )));
    }
    hold(system, target, kind)
}

/// Takes hold of the device again, which must bear this file system and be used by nobody.
fn hold(system: &System, target: &Target, kind: FileSystem) -> Result<(), Trouble> {
    target.hold_again(system, kind.word()).map_err(|refusal| Trouble::failed(refusal.to_string()))
}

/// A name of the approved inode that no change of names can lead elsewhere.
fn own_path(target: &Target) -> Result<PathBuf, Trouble> {
    let pinned = target.pinned(0).ok_or_else(|| Trouble::failed("there is no device"))?;
    let (process, number) = (std::process::id(), pinned.as_raw_fd());
    Ok(PathBuf::from(format!("/proc/{process}/fd/{number}")))
}

/// A file system that is mounted at a place of ours. Dropping it unmounts.
#[derive(Debug)]
pub struct Mounted {
    place: PathBuf,
    kind: FileSystem,
    is_over: bool,
}

/// Mounts the file system on the device of `target` at `place`, an empty directory of ours, so
/// that only this process and what it starts from here on see it.
///
/// # Errors
/// As the kernel says; mounting needs root.
pub fn mount(
    system: &System,
    target: &Target,
    kind: FileSystem,
    place: &Path,
) -> Result<Mounted, Trouble> {
    let shown = target.path.display().to_string();
    let failed = |what: &str, error: io::Error| {
        let text = format!("{shown} cannot be mounted: {what}: {error}");
        match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Trouble::usage(format!("{text}; run as root")),
            _ => Trouble::failed(text),
        }
    };
    std::fs::create_dir_all(place).map_err(|error| failed("no place for it", error))?;
    apart().map_err(|errno| failed("no namespace of our own", raw(errno)))?;
    let device = text(&own_path(target)?)?;
    target.release_exclusive();
    let options = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    if let Err(errno) = attach(&device, &text(place)?, kind, options) {
        hold(system, target, kind)?;
        return Err(failed(kind.word(), raw(errno)));
    }
    Ok(Mounted { place: place.to_path_buf(), kind, is_over: false })
}

fn raw(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.0)
}

fn text(path: &Path) -> Result<CString, Trouble> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Trouble::usage(format!("{} has a zero in its name", path.display())))
}

/// Gives this process a mount namespace of its own: what is mounted elsewhere goes on coming and
/// going in it, and what it mounts is seen by nobody else.
fn apart() -> Result<(), Errno> {
    static DONE: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    if DONE.get().is_some() {
        return Ok(());
    }
    // SAFETY: unshare takes no pointer; the namespace of the calling thread alone is copied.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(last_errno());
    }
    let none = std::ptr::null();
    let flags = libc::MS_REC | libc::MS_SLAVE;
    // SAFETY: the kernel reads the target, a C string that lives for ever; a change of propagation
    // takes neither source, type nor data.
    let status = unsafe { libc::mount(none, c"/".as_ptr(), none, flags, none.cast()) };
    if status != 0 {
        return Err(last_errno());
    }
    DONE.set(()).ok();
    Ok(())
}

fn attach(
    device: &CStr,
    place: &CStr,
    kind: FileSystem,
    flags: libc::c_ulong,
) -> Result<(), Errno> {
    let kind = if kind == FileSystem::Xfs { c"xfs" } else { c"ext4" };
    let data = std::ptr::null();
    // SAFETY: the kernel reads three C strings that live until the call has returned, and no data.
    let status =
        unsafe { libc::mount(device.as_ptr(), place.as_ptr(), kind.as_ptr(), flags, data) };
    if status == 0 { Ok(()) } else { Err(last_errno()) }
}

impl Mounted {
    /// Where.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Unmounts, and takes hold of the device of `target` again.
    ///
    /// # Errors
    /// Something in it stays open, or somebody took the device.
    pub fn unmount(mut self, system: &System, target: &Target) -> Result<(), Trouble> {
        self.detach().map_err(|error| {
            let path = target.path.display();
            Trouble::failed(format!("{path} cannot be unmounted: {error}"))
        })?;
        hold(system, target, self.kind)
    }

    fn detach(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let place = CString::new(self.place.as_os_str().as_bytes()).map_err(io::Error::other)?;
        let begin = Instant::now();
        loop {
            // SAFETY: the kernel reads one C string that lives until the call has returned.
            let status = unsafe { libc::umount2(place.as_ptr(), libc::UMOUNT_NOFOLLOW) };
            match last_errno().0 {
                _ if status == 0 => return Ok(()),
                libc::EBUSY | libc::EINTR if begin.elapsed() < PATIENCE => {
                    std::thread::sleep(PAUSE);
                }
                number => return Err(io::Error::from_raw_os_error(number)),
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // What cannot be unmounted goes with the namespace when the process ends.
        self.detach().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::plan::Stripe;

    #[test]
    fn ext4_is_told_of_stripes_where_they_are_asked_for() {
        let told = |kind| tool(kind).2.join(" ");
        assert!(!told(FileSystem::Ext4).contains("stri"), "{}", told(FileSystem::Ext4));
        let stripe = |stride| FileSystem::Ext4Striped(Stripe { stride, stripe_width: 32 });
        assert!(told(stripe(Some(16))).ends_with("=0,stride=16,stripe_width=32"));
        assert!(told(stripe(None)).ends_with("=0,stripe_width=32"));
    }

    #[test]
    fn programs_are_found_or_named() {
        assert!(found("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(found("mkfs.nothing-of-this-name"), None);
    }
}
