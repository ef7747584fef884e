//! The world as front ends see it.

use super::drivelab_options::DrivelabOptions;
use crate::bounded;
use crate::entropy;
use crate::target::{Kind, Missing, ResolvedTarget};
use drivelab_compat::front::{Found, Host, Scale, World};
use drivelab_io::facts::{self, System};
use drivelab_io::ranks::Ranks;
use drivelab_sim::target::State;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Job files and the like are no larger than this.
const TEXT_BYTES_MAX: u64 = 1 << 24;

/// This machine.
#[derive(Debug)]
pub struct RealWorld {
    ranks: Ranks,
    system: System,
    host: Host,
    scale: Scale,
    scale_time: Scale,
}

impl RealWorld {
    /// Looks at the machine.
    pub fn new(ranks: Ranks, system: System, options: &DrivelabOptions) -> Self {
        let facts = facts::host(&system);
        let kernel = facts.kernel.unwrap_or_default();
        let host = Host {
            name: facts.hostname.unwrap_or_default(),
            kernel: kernel.split_whitespace().next().unwrap_or_default().to_string(),
            machine: std::env::consts::ARCH.to_string(),
            cpus: facts.cpus_online.unwrap_or(1),
            memory_bytes: facts.memory_bytes.unwrap_or(0),
            now_ms: now_ms(),
            process: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            signal: None,
        };
        RealWorld { ranks, system, host, scale: options.scale, scale_time: options.scale_time }
    }

    /// The machine, now.
    pub fn host_now(&self) -> Host {
        let signal = drivelab_io::signal::received();
        Host { now_ms: now_ms(), signal, ..self.host.clone() }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

/// What stands in the standard input up to its end.
fn standard_input(ranks: Ranks) -> Result<String, String> {
    if !ranks.is_alone() {
        return Err("standard input reaches rank 0 only; name a file".into());
    }
    let mut text = String::new();
    let mut input = std::io::stdin().lock().take(TEXT_BYTES_MAX + 1);
    input.read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        Err("it is larger than 16 MiB".into())
    } else {
        Ok(text)
    }
}

impl World for RealWorld {
    fn found(&self, path: &str) -> Found {
        // Lines may name thousands of files, and the facts behind a path take milliseconds.
        match ResolvedTarget::kind_at(path) {
            Ok(Kind::Absent) => return Found::Absent,
            Ok(Kind::Directory) => return Found::Directory,
            Ok(Kind::File) => {
                return Found::File { bytes: std::fs::metadata(path).map_or(0, |it| it.len()) };
            }
            _ => {}
        }
        match ResolvedTarget::look(&self.system, path, Missing::Made) {
            Err(failure) => Found::Unusable(failure.text),
            Ok(resolved) => match resolved.kind {
                Kind::Absent => Found::Absent,
                Kind::Directory => Found::Directory,
                Kind::Device => Found::Device { bytes: resolved.file_bytes },
                Kind::Simulated => Found::Simulated { bytes: resolved.file_bytes },
                Kind::File | Kind::Nothing => Found::File { bytes: resolved.file_bytes },
            },
        }
    }

    fn is_written(&self, drive: &str) -> bool {
        let resolved = ResolvedTarget::look(&self.system, drive, Missing::Made).ok();
        let state = resolved.and_then(|resolved| resolved.simulated).map(|drive| drive.state);
        state.is_some_and(|state| !matches!(state, State::Fresh | State::Trimmed))
    }

    fn drawn(&self) -> Option<u64> {
        self.ranks.is_alone().then(entropy::seed)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        // A pipe may never end.
        let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
        match found.is_file() {
            true => {
                bounded::bytes(path, bounded::TRACE_BYTES_MAX).map_err(|error| error.to_string())
            }
            false => Err("it is not a file".into()),
        }
    }

    fn text(&self, path: &str) -> Result<String, String> {
        if path == "-" {
            return standard_input(self.ranks);
        }
        let found = std::fs::metadata(Path::new(path)).map_err(|error| error.to_string())?;
        if !found.is_file() || found.len() > TEXT_BYTES_MAX {
            return Err("it is not a text file of at most 16 MiB".into());
        }
        let bytes = bounded::bytes(path, TEXT_BYTES_MAX).map_err(|error| error.to_string())?;
        // Comments of old files are not always UTF-8, and the tools never ask.
        String::from_utf8(bytes).or_else(|error| match error.as_bytes().contains(&0) {
            true => Err("it is not a text file".into()),
            false => Ok(error.as_bytes().iter().map(|byte| char::from(*byte)).collect()),
        })
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn host(&self) -> Host {
        self.host_now()
    }

    fn ranks(&self) -> u32 {
        self.ranks.size()
    }

    fn scale(&self) -> Scale {
        self.scale
    }

    fn scale_time(&self) -> Scale {
        self.scale_time
    }
}
