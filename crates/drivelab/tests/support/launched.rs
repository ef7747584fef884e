//! The real binary under mpirun: several processes, told from all others by their data directory.

use super::binary::{Laboratory, Outcome, RunFile, Running};
use super::machine::Mount;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Far longer than any of these runs; a run that needs it hangs.
pub const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What starts the processes: Open MPI's, or the one that `$MPIRUN` names. The program takes the
/// library of either.
fn mpirun() -> String {
    std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".into())
}

static TURN: Mutex<()> = Mutex::new(());

/// A directory to work in, a place for run files, and an mpirun with four slots on this machine.
pub struct Launcher {
    /// Four processes at a time are enough for a small machine.
    _turn: MutexGuard<'static, ()>,
    laboratory: Laboratory,
    work: tempfile::TempDir,
    mpirun: String,
    /// Words before mpirun.
    pub before: Vec<String>,
    /// Options of mpirun.
    pub options: Vec<String>,
    /// What the last group of processes runs in the place of the built program.
    pub program_of_the_last: Option<PathBuf>,
}

/// Processes that are started alike.
pub struct Group<'a> {
    pub ranks: u32,
    pub directory: &'a Path,
    pub line: &'a [&'a str],
}

impl Launcher {
    /// Works in memory: the truth guard would notice the others on a disk that all tests share.
    pub fn new() -> Launcher {
        Launcher::by(mpirun())
    }

    /// With the mpirun of another MPI: the same program takes the library of either.
    pub fn by(mpirun: String) -> Launcher {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let laboratory = Laboratory::new();
        let slots = laboratory.data().join("slots");
        std::fs::write(&slots, "localhost\n".repeat(4)).expect("machines");
        let slots = slots.to_str().expect("a path in UTF-8").to_string();
        let work = tempfile::tempdir_in("/dev/shm").expect("a directory to work in");
        // Nobody looks for other networks, and whoever is still there when the first one has
        // ended is killed at once: nothing may be left to do by then.
        let quick: &[&str] = match is_open_mpi(&mpirun) {
            true => &["--mca", "pml", "ob1", "--mca", "odls_base_sigkill_timeout", "0"],
            false => &[],
        };
        let options = ["--machinefile", &slots].into_iter().chain(quick.iter().copied());
        let options = options.map(String::from);
        Launcher {
            _turn: turn,
            laboratory,
            work,
            mpirun,
            before: Vec::new(),
            options: options.collect(),
            program_of_the_last: None,
        }
    }

    /// Whoever is asked to end has two seconds for it; by default Open MPI leaves it one.
    pub fn be_patient(&mut self) {
        *self.options.last_mut().expect("options") = "2".into();
    }

    /// The current directory of all processes, unless a group has another.
    pub fn work(&self) -> &Path {
        self.work.path()
    }

    /// Its text, as part of a line.
    pub fn path(&self, name: &str) -> String {
        self.work().join(name).to_str().expect("a path in UTF-8").to_string()
    }

    /// `$XDG_DATA_HOME` of all processes.
    pub fn data(&self) -> &Path {
        self.laboratory.data()
    }

    /// Writes a file into the working directory.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// Names in the working directory, sorted.
    pub fn listing(&self) -> Vec<String> {
        names_in(self.work())
    }

    /// Starts this many processes.
    pub fn start(&self, ranks: u32, line: &[&str]) -> Running {
        self.start_groups(&[Group { ranks, directory: self.work(), line }])
    }

    /// Starts groups of processes that are one team.
    pub fn start_groups(&self, groups: &[Group<'_>]) -> Running {
        let mut words = self.before.iter().chain([&self.mpirun]).map(String::as_str);
        let mut command = Command::new(words.next().expect("a word"));
        command.args(words).args(&self.options);
        for (number, group) in groups.iter().enumerate() {
            if number > 0 {
                command.arg(":");
            }
            command.arg("-np").arg(group.ranks.to_string());
            command.arg("--wdir").arg(group.directory);
            let other = self.program_of_the_last.as_deref();
            let other = other.filter(|_| number + 1 == groups.len());
            command.arg(other.unwrap_or(Path::new(env!("CARGO_BIN_EXE_drivelab"))));
            command.args(group.line);
        }
        self.dress(&mut command);
        Running::of(command)
    }

    fn dress(&self, command: &mut Command) {
        command.current_dir(self.work()).env("XDG_DATA_HOME", self.data());
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env_remove("OMPI_MCA_rmaps_base_oversubscribe");
        // Its own files are in a directory of this test.
        command.env("TMPDIR", self.data());
    }

    /// Runs this many processes to their end.
    pub fn run(&self, ranks: u32, line: &[&str]) -> Outcome {
        self.end_of(self.start(ranks, line))
    }

    /// Runs groups of processes to their end.
    pub fn run_groups(&self, groups: &[Group<'_>]) -> Outcome {
        self.end_of(self.start_groups(groups))
    }

    /// Runs one process without mpirun, with more in its environment.
    pub fn run_alone(&self, line: &[&str], environment: &[(&str, &str)]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivelab"));
        command.args(line);
        self.dress(&mut command);
        command.envs(environment.iter().copied());
        self.end_of(Running::of(command))
    }

    /// Waits for the end: of mpirun, and of all that it started.
    #[track_caller]
    pub fn end_of(&self, mut running: Running) -> Outcome {
        assert!(running.wait(PATIENCE), "no end; it said:\n{}", running.so_far());
        let outcome = running.finish();
        let begin = Instant::now();
        while !self.processes().is_empty() && begin.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(LOOK_EVERY);
        }
        assert_eq!(self.processes(), [], "left running behind {outcome:?}");
        outcome
    }

    /// The processes of drivelab that run here: their ranks and IDs.
    pub fn processes(&self) -> Vec<(u32, u32)> {
        self.processes_of("drivelab")
    }

    /// Those of another program that were started for it.
    pub fn processes_of(&self, program: &str) -> Vec<(u32, u32)> {
        let home = format!("XDG_DATA_HOME={}", self.data().display());
        let mut found: Vec<(u32, u32)> =
            process_ids().filter_map(|id| Some((rank_of(id, program, &home)?, id))).collect();
        found.sort_unstable();
        found
    }

    /// The process ID of this rank, once it measures: once a worker of it is there.
    #[track_caller]
    pub fn measuring(&self, rank: u32) -> u32 {
        let begin = Instant::now();
        loop {
            let ids = self.processes();
            let found = ids.iter().find(|(found, id)| *found == rank && has_worker(*id));
            if let Some((_, id)) = found {
                return *id;
            }
            assert!(begin.elapsed() < PATIENCE, "rank {rank} does not measure: {ids:?}");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// The run files, oldest first.
    pub fn run_files(&self) -> Vec<PathBuf> {
        self.laboratory.run_files()
    }

    /// The only run file.
    #[track_caller]
    pub fn only_run(&self) -> RunFile {
        self.laboratory.only_run()
    }

    /// The list of scratch that is still there.
    pub fn ledger(&self) -> String {
        std::fs::read_to_string(self.data().join("drivelab/scratch.jsonl")).unwrap_or_default()
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        for (_, id) in self.processes() {
            kill("KILL", id);
        }
    }
}

/// Whether the processes are Open MPI's.
fn is_open_mpi(mpirun: &str) -> bool {
    !mpirun.contains("mpich")
}

/// Sends a signal.
pub fn kill(signal: &str, id: u32) {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(id.to_string()).status();
    assert!(status.is_ok_and(|status| status.success()), "kill -{signal} {id}");
}

/// Names in a directory, sorted.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> =
        entries.map(|entry| name(entry).into_string().expect("a name in UTF-8")).collect();
    names.sort();
    names
}

/// A file that has the number of another one, on another file system of the same kind.
pub fn twins() -> [Mount; 2] {
    let mounts = [Mount::tmpfs(16), Mount::tmpfs(16)];
    let inodes = mounts.each_ref().map(|mount| {
        let path = mount.join("probe");
        std::fs::write(&path, b"").expect("a file");
        std::fs::metadata(&path).expect("a file").ino()
    });
    assert_eq!(inodes[0], inodes[1], "a new tmpfs counts its files from the beginning");
    mounts
}

fn process_ids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The rank of a program that was started with this word in its environment.
fn rank_of(id: u32, program: &str, home: &str) -> Option<u32> {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
    // What has ended and was not waited for has no environment any more.
    let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
    let words: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
    if name.trim() != program || !words.contains(&home.as_bytes()) {
        return None;
    }
    let is_rank = |word: &&[u8]| {
        let known = ["OMPI_COMM_WORLD_RANK=", "PMI_RANK="].into_iter();
        known.filter_map(|name| word.strip_prefix(name.as_bytes())).next().map(<[u8]>::to_vec)
    };
    let rank = words.iter().find_map(is_rank);
    rank.map_or(Some(0), |rank| String::from_utf8(rank).ok()?.parse().ok())
}

fn has_worker(id: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return false };
    threads.filter_map(Result::ok).any(|thread| {
        let name = std::fs::read(thread.path().join("comm")).unwrap_or_default();
        name.starts_with(OsStr::new("worker").as_encoded_bytes())
    })
}
