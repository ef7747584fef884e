//! What is measured on, and with which programs. Everything is taken down when dropped.

use crate::support::binary::{Laboratory, must};
use crate::support::machine::Mount;
use crate::support::zram::Zram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Bytes of each target, all of them written with incompressible data.
pub const BYTES: u64 = 1 << 30;

/// Targets and programs.
pub struct Setting {
    /// For run files of the measured drivelab.
    pub laboratory: Laboratory,
    /// A filled zram device and its token, or why there is none.
    pub zram: Result<(Zram, String), String>,
    memory: Mount,
    /// fio's version.
    pub fio: String,
    /// fio's bare loop, or why there is none.
    pub bare_fio: Result<PathBuf, String>,
    /// The only CPU that the measured programs may use.
    pub cpu: usize,
}

impl Setting {
    /// Installs fio, and makes and fills the targets.
    pub fn prepare() -> Setting {
        let fio = install_fio();
        let laboratory = Laboratory::new();
        let memory = Mount::tmpfs(((3 * BYTES) >> 20) + 64);
        let cpu = std::thread::available_parallelism().map_or(0, |count| count.get() - 1);
        let readable = memory.join("read");
        let fill = |into: &str, more: &[&str]| {
            let into = format!("of={into}");
            let count = format!("count={}", BYTES >> 20);
            let base = ["if=/dev/urandom", &into, "bs=1M", &count, "status=none"];
            must("dd", base.iter().copied().chain(more.iter().copied()));
        };
        fill(readable.to_str().expect("UTF-8"), &[]);
        fill(memory.join("written-by-others").to_str().expect("UTF-8"), &[]);
        let mut setting = Setting {
            laboratory,
            zram: Err(String::new()),
            memory,
            fio,
            bare_fio: bare_fio(),
            cpu,
        };
        setting.make_writable();
        setting.zram = Zram::new(BYTES).map(|zram| {
            fill(&zram.path(), &["oflag=direct"]);
            let token = setting.laboratory.token(&zram.path());
            (zram, token)
        });
        setting
    }

    /// A file that drivelab made itself, so that it may be written.
    fn make_writable(&self) {
        let path = self.file("written");
        let size = BYTES.to_string();
        let line = ["run", &path, "--size", &size, "--keep", "--rw", "write", "--bs", "1m"];
        let more = ["--engine", "psync", "--depth", "1", "--passes", "1"];
        let limit = Duration::from_secs(120);
        self.laboratory.run(line.into_iter().chain(more), limit).expect_status(0);
    }

    /// A file on the tmpfs.
    pub fn file(&self, name: &str) -> String {
        self.memory.join(name).to_str().expect("UTF-8").to_string()
    }

    /// The zram device and the options that allow writing to it.
    pub fn zram(&self) -> Result<(String, Vec<String>), String> {
        let (zram, token) = self.zram.as_ref().map_err(Clone::clone)?;
        Ok((zram.path(), vec!["--erase".into(), token.clone()]))
    }
}

fn install_fio() -> String {
    let version = || {
        let output = Command::new("fio").arg("--version").output().ok()?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
    };
    version().unwrap_or_else(|| {
        let lock = ["-o", "DPkg::Lock::Timeout=300", "--quiet", "--quiet"];
        must("apt-get", lock.into_iter().chain(["update"]));
        let install = ["--yes", "--no-install-recommends", "install", "fio"];
        must("apt-get", lock.into_iter().chain(install));
        version().expect("fio after its installation")
    })
}

fn bare_fio() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare-fio");
    let script = root.join("scripts/build-bare-fio-loop");
    let output = Command::new(script).arg(&into).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(said.lines().last().unwrap_or("no word why").to_string())
        }
    }
}
