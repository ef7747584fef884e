//! A loop device over any file, detached when dropped.

use super::binary::must;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An attached loop device.
pub struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// Attaches the next free device to `file`. Needs root.
    pub fn attach(file: &Path) -> LoopDevice {
        LoopDevice::attach_with(file, &[])
    }

    /// Attaches with more options of losetup (`--direct-io=on`).
    pub fn attach_with(file: &Path, options: &[&str]) -> LoopDevice {
        let file = file.to_str().expect("a path in UTF-8");
        let arguments = ["--find", "--show"].into_iter().chain(options.iter().copied());
        let name = must("losetup", arguments.chain([file]));
        LoopDevice { path: PathBuf::from(name.trim()) }
    }

    /// Attaches this very device, which the kernel makes where it is not there yet.
    pub fn attach_as(device: &str, file: &Path, options: &[&str]) -> LoopDevice {
        let file = file.to_str().expect("a path in UTF-8");
        must("losetup", options.iter().copied().chain([device, file]));
        LoopDevice { path: PathBuf::from(device) }
    }

    /// The device node.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kernel's name (`loop3`).
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).expect("a device name")
    }

    /// `major:minor`.
    pub fn number(&self) -> String {
        let file = format!("/sys/block/{}/dev", self.name());
        std::fs::read_to_string(file).expect("device number").trim().to_string()
    }

    /// The kernel's counters.
    pub fn counters(&self) -> Counters {
        let text = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name()));
        Counters::parse(&text.expect("counters"))
    }

    /// Takes the device away, as far as the kernel lets it go while it is open.
    pub fn detach(&self) {
        must("losetup", ["--detach", self.path.to_str().expect("a path in UTF-8")]);
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // May be detached already.
        Command::new("losetup").arg("--detach").arg(&self.path).output().ok();
    }
}

/// What `/sys/block/*/stat` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Counters {
    fn parse(text: &str) -> Counters {
        let fields: Vec<u64> =
            text.split_whitespace().map(|field| field.parse().expect("a counter")).collect();
        Counters {
            reads: fields[0],
            read_bytes: fields[2] * 512,
            writes: fields[4],
            written_bytes: fields[6] * 512,
        }
    }

    /// What was counted since `before`.
    pub fn since(self, before: Counters) -> Counters {
        Counters {
            reads: self.reads - before.reads,
            read_bytes: self.read_bytes - before.read_bytes,
            writes: self.writes - before.writes,
            written_bytes: self.written_bytes - before.written_bytes,
        }
    }
}
