//! The kernel's tracer on one block device, in an instance of our own.
//!
//! An instance has buffers, clock and filters of its own, so that nobody else's tracing is
//! disturbed and nothing of it stays: dropping removes it, and what a killed run left behind is
//! removed by the next one. Source: kernel document `Documentation/trace/ftrace.rst`.

mod place;
mod root;

pub use place::{Place, place_of};

use crate::system::{DeviceNumber, System};
use drivelab_core::trace::block::{Decoder, Point, Trace};
use root::Root;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How instances of ours are called; a process and its start follow.
const PREFIX: &str = "drivelab-";
/// Bytes of the buffer that one event takes, its share of the page's header included.
const EVENT_BYTES: u64 = 80;
/// All buffers together take at most this.
const BUFFERS_BYTES_MAX: u64 = 256 << 20;
/// And each at least this.
const BUFFER_BYTES_MIN: u64 = 1 << 20;

/// An instance that is ready to trace.
#[derive(Debug)]
pub struct Tracing {
    instance: PathBuf,
    decoder: Decoder,
    /// Open as long as the instance is ours: the kernel lets nobody remove it meanwhile.
    pipes: Vec<(PathBuf, File)>,
    /// Where the instance is: held as long as that.
    _root: Root,
}

impl Tracing {
    /// Makes an instance for the events of one disk, with room for about this many of them.
    ///
    /// # Errors
    /// A sentence: what is missing, and the way out.
    pub fn open(system: &System, disk: DeviceNumber, events: u64) -> Result<Tracing, String> {
        let points = Point::EVENTS.map(|(_, point)| point);
        Tracing::of(system, disk, events, &points, &Point::NEEDED)
    }

    /// The same for what the drive itself takes: from the driver to the drive and back.
    ///
    /// # Errors
    /// As [`Tracing::open`].
    pub fn of_drive(system: &System, disk: DeviceNumber, events: u64) -> Result<Tracing, String> {
        const POINTS: [Point; 3] = [Point::Issue, Point::Complete, Point::Requeue];
        Tracing::of(system, disk, events, &POINTS, &POINTS[..2])
    }

    fn of(
        system: &System,
        disk: DeviceNumber,
        events: u64,
        points: &[Point],
        needed: &[Point],
    ) -> Result<Tracing, String> {
        let root = Root::find(system)?;
        remove_leftovers(&root.path().join("instances"));
        let instance = root.path().join("instances").join(own_name());
        std::fs::create_dir(&instance).map_err(|error| denied(&instance, &error))?;
        // From here on it is removed whatever happens.
        let mut tracing = Unready(Some(instance.clone()));
        set(&instance, "tracing_on", "0")?;
        set(&instance, "trace_clock", "mono")?;
        let pipes = pipes(&instance)?;
        let share = BUFFERS_BYTES_MAX / pipes.len().max(1) as u64;
        let bytes = (events * EVENT_BYTES).min(share).max(BUFFER_BYTES_MIN);
        set(&instance, "buffer_size_kb", &(bytes >> 10).to_string())?;
        let formats = enable(&instance, disk, points, needed)?;
        let header_page = read(&root.path().join("events/header_page"))?;
        let decoder = Decoder::with(&header_page, &formats, needed)?;
        tracing.0 = None;
        Ok(Tracing { instance, decoder, pipes, _root: root })
    }

    /// Begins with empty buffers.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn start(&self) -> Result<(), String> {
        set(&self.instance, "trace", "")?;
        set(&self.instance, "tracing_on", "1")
    }

    /// Stops, and reads what was traced.
    ///
    /// # Errors
    /// The kernel refuses, or its pages contradict themselves.
    pub fn stop(&mut self) -> Result<Trace, String> {
        set(&self.instance, "tracing_on", "0")?;
        let mut trace = Trace::default();
        let page_bytes = self.decoder.page_bytes();
        let mut page = vec![0; page_bytes];
        let mut overrun = 0;
        for (directory, pipe) in &mut self.pipes {
            overrun += lost(&directory.join("stats"));
            loop {
                match pipe.read(&mut page) {
                    Ok(0) => break,
                    Ok(bytes) => self.decoder.read(&page[..bytes], page_bytes, &mut trace)?,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(denied(directory, &error)),
                }
            }
        }
        trace.missed = trace.missed.max(overrun);
        trace.sort();
        Ok(trace)
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        set(&self.instance, "tracing_on", "0").ok();
        self.pipes.clear();
        std::fs::remove_dir(&self.instance).ok();
    }
}

/// An instance that is not set up yet.
struct Unready(Option<PathBuf>);

impl Drop for Unready {
    fn drop(&mut self) {
        if let Some(instance) = &self.0 {
            std::fs::remove_dir(instance).ok();
        }
    }
}

/// A process and when it started, which no other ever has, and a number of its own.
fn own_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let id = std::process::id();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{id}-{}.{number}", started(id).unwrap_or_default())
}

/// Clock ticks from the machine's start to the process's (`proc(5)`, field 22 of stat); `None`
/// where it is gone, or dead and only not yet waited for.
fn started(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, which may hold anything, ends with the last parenthesis.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !is_dead)
}

/// Removes what processes that are gone have left. One that lives in another namespace of
/// processes holds its instance open, and the kernel keeps it.
fn remove_leftovers(instances: &Path) {
    for instance in leftovers(instances) {
        set(&instance, "tracing_on", "0").ok();
        std::fs::remove_dir(instance).ok();
    }
}

/// Instances whose process is gone.
fn leftovers(instances: &Path) -> Vec<PathBuf> {
    let is_left = |name: &str| {
        let (process, start) = name.strip_prefix(PREFIX)?.split_once('-')?;
        let start = start.split('.').next()?;
        let (process, start) = (process.parse().ok()?, start.parse::<u64>().ok()?);
        Some(started(process) != Some(start))
    };
    let entries = std::fs::read_dir(instances).into_iter().flatten().flatten();
    let left = entries.filter(|entry| is_left(&entry.file_name().to_string_lossy()) == Some(true));
    left.map(|entry| entry.path()).collect()
}

/// Enables what an I/O passes, for one disk, and gives the layouts. Only what nobody can do
/// without must be there.
fn enable(
    instance: &Path,
    disk: DeviceNumber,
    points: &[Point],
    needed: &[Point],
) -> Result<Vec<String>, String> {
    let filter = format!("dev == {}", kernel_number(disk));
    let mut formats = Vec::new();
    for (name, point) in Point::EVENTS.into_iter().filter(|(_, point)| points.contains(point)) {
        let directory = instance.join("events/block").join(name);
        let done = set(&directory, "filter", &filter)
            .and_then(|()| set(&directory, "enable", "1"))
            .and_then(|()| read(&directory.join("format")));
        match done {
            Ok(format) => formats.push(format),
            Err(error) if needed.contains(&point) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(formats)
}

/// A device number as the kernel has it inside.
pub fn kernel_number(device: DeviceNumber) -> u32 {
    (device.major << 20) | device.minor
}

fn pipes(instance: &Path) -> Result<Vec<(PathBuf, File)>, String> {
    let mut found = Vec::new();
    let directory = instance.join("per_cpu");
    let entries = std::fs::read_dir(&directory).map_err(|error| denied(&directory, &error))?;
    for entry in entries.flatten() {
        let path = entry.path().join("trace_pipe_raw");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty());
        let opened = opened.map_err(|error| denied(&path, &error.into()))?;
        found.push((entry.path(), File::from(opened)));
    }
    Ok(found)
}

/// Events that were overwritten, or found no room, by the kernel's count of one CPU.
fn lost(stats: &Path) -> u64 {
    let text = std::fs::read_to_string(stats).unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    ["overrun:", "commit overrun:", "dropped events:"].iter().filter_map(|key| value(key)).sum()
}

/// Never makes a file: what is written must be there, as the kernel's own.
fn set(directory: &Path, name: &str, value: &str) -> Result<(), String> {
    let path = directory.join(name);
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Mode::empty()).map(File::from);
    let written = opened.map_err(std::io::Error::from).and_then(|mut file| match value {
        // Opening alone has emptied it.
        "" => Ok(()),
        value => file.write_all(format!("{value}\n").as_bytes()),
    });
    written.map_err(|error| denied(&path, &error))
}

/// In large pieces: of `header_page` the kernel gives what one call asks for, and then the end.
fn read(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| denied(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut text, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
            bytes => text.extend_from_slice(&piece[..bytes]),
        }
    }
}

fn denied(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "{} may not be used ({error}); run this as root, and where the kernel is locked down \
             (Secure Boot) nobody may trace",
            path.display()
        ),
        _ => format!("the kernel's tracer refuses {}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests;
