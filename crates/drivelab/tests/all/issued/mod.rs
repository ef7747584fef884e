//! What a program issued on the files and names of its directory, by strace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// System calls that are looked at.
const CALLS: &str = "trace=pread64,pwrite64,read,write,fsync,fdatasync,lseek,openat,newfstatat,\
                     utimensat,unlinkat,mkdirat,execve";

/// Kinds of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Read,
    Write,
    Sync,
    DataSync,
    Create,
    Stat,
    Utime,
    Unlink,
    MakeDirectory,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Issued {
    pub kind: Kind,
    pub file: String,
    pub offset: u64,
    pub bytes: u64,
}

/// A directory in which a program ran.
pub struct Place {
    directory: tempfile::TempDir,
    /// Its files and their sizes.
    pub sizes: BTreeMap<String, u64>,
    /// The program's exit status.
    pub status: i32,
    /// What it said.
    pub stderr: String,
    /// What it printed.
    pub stdout: String,
    threads: Vec<Vec<Issued>>,
}

impl Place {
    /// An empty directory, in which a program then runs.
    pub fn after(program: &[&str], words: &[&str]) -> Place {
        Place::empty().after_here(program, words)
    }

    fn empty() -> Place {
        Place {
            directory: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
            sizes: BTreeMap::new(),
            status: -1,
            stderr: String::new(),
            stdout: String::new(),
            threads: Vec::new(),
        }
    }

    /// A directory with one file.
    pub fn with_file(name: &str, text: &str) -> Place {
        let place = Place::empty();
        std::fs::write(place.directory.path().join(name), text).unwrap();
        place
    }

    /// Runs a program there and takes down what its threads issue.
    pub fn after_here(mut self, program: &[&str], words: &[&str]) -> Place {
        let traces = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let prefix = traces.path().join("t");
        let output = Command::new("strace")
            .args(["-ff", "-y", "-s", "0", "-o"])
            .arg(&prefix)
            .args(["-e", CALLS])
            .args(program)
            .args(words)
            .current_dir(self.directory.path())
            .env("XDG_DATA_HOME", home.path())
            .output()
            .unwrap();
        self.take(output, traces.path(), home.path());
        self
    }

    /// The same for each process that a launcher starts, in a directory with these directories.
    pub fn below(
        launcher: &[&str],
        program: &[&str],
        words: &[&str],
        directories: &[&str],
    ) -> Place {
        let mut place = Place::empty();
        for name in directories {
            std::fs::create_dir(place.directory.path().join(name)).unwrap();
        }
        let traces = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let output = Command::new(launcher[0])
            .args(&launcher[1..])
            .args(["strace", "-ff", "-y", "-s", "0", "-o"])
            .arg(traces.path().join("t"))
            .args(["-e", CALLS])
            .args(program)
            .args(words)
            .current_dir(place.directory.path())
            .env("XDG_DATA_HOME", home.path())
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .output()
            .unwrap();
        place.take(output, traces.path(), home.path());
        place
    }

    fn take(&mut self, output: Output, traces: &Path, home: &Path) {
        self.status = output.status.code().unwrap_or(-1);
        self.stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        self.stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(traces).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort_by_key(|path| thread_number(path));
        let below = format!("{}/", self.directory.path().display());
        // The first thread is the program itself: it lays out in fio, and looks at samples here.
        // Then come those that lay out here, one a file.
        let laid_out = layouts(home);
        for file in files {
            let text = std::fs::read_to_string(file).unwrap();
            if text.contains("execve(") {
                continue;
            }
            let mut positions = BTreeMap::new();
            let own: Vec<Issued> = text
                .lines()
                .filter_map(|line| {
                    issued(line, &below)
                        .or_else(|| by_position(line, &below, &mut positions))
                        .or_else(|| named(line, &below))
                })
                .collect();
            // The list of scratch, to which a run adds a sign of life each second.
            let own: Vec<Issued> =
                own.into_iter().filter(|one| !one.file.ends_with("/scratch.jsonl")).collect();
            if !own.is_empty() {
                self.threads.push(own);
            }
        }
        self.threads.drain(..laid_out.min(self.threads.len()));
        collect(self.directory.path(), Path::new(""), &mut self.sizes);
    }

    /// What each worker issued, in the order in which they were started.
    pub fn in_order(&self) -> &[Vec<Issued>] {
        &self.threads
    }

    /// What each thread issued in its jobs; without what was laid out beforehand, which is written
    /// by `write` in fio and in steps of their own here.
    pub fn data(&self) -> Vec<Vec<Issued>> {
        // fio's own note of what it has written is none of its work.
        let is_data =
            |one: &&Issued| one.kind <= Kind::DataSync && !one.file.ends_with("-verify.state");
        let mut all: Vec<Vec<Issued>> = self
            .threads
            .iter()
            .map(|own| own.iter().filter(is_data).cloned().collect::<Vec<_>>())
            .filter(|own: &Vec<Issued>| !own.is_empty())
            .collect();
        all.sort_by_key(|own| own.first().map(|one| (one.file.clone(), one.offset)));
        all
    }
}

/// `write(3</dir/file>, ""..., 4096) = 4096`, `lseek(3</dir/file>, 0, SEEK_SET) = 0`: calls that
/// go on where the file's position is.
fn by_position(line: &str, below: &str, positions: &mut BTreeMap<String, u64>) -> Option<Issued> {
    let (call, rest) = line.split_once('(')?;
    let path = rest.split_once('<')?.1.split_once('>')?.0;
    let file = path.strip_prefix(below)?.to_string();
    let result: u64 = line.rsplit_once(") = ")?.1.split(' ').next()?.parse().ok()?;
    let kind = match call {
        "lseek" => {
            positions.insert(file, result);
            return None;
        }
        "read" => Kind::Read,
        "write" => Kind::Write,
        _ => return None,
    };
    let offset = *positions.get(&file).unwrap_or(&0);
    positions.insert(file.clone(), offset + result);
    (result > 0).then_some(Issued { kind, file, offset, bytes: result })
}

/// `unlinkat(5</dir/junk>, "n0f0", 0) = 0`: calls on names in an open directory.
fn named(line: &str, below: &str) -> Option<Issued> {
    let (call, rest) = line.split_once('(')?;
    let directory = rest.split_once('<')?.1.split_once('>')?.0;
    let name = rest.split_once(", \"")?.1.split_once('"')?.0;
    let kind = match call {
        "openat" if rest.contains("O_CREAT") => Kind::Create,
        "newfstatat" => Kind::Stat,
        "utimensat" => Kind::Utime,
        "unlinkat" => Kind::Unlink,
        "mkdirat" => Kind::MakeDirectory,
        _ => return None,
    };
    let path = format!("{directory}/{name}");
    let file = path.strip_prefix(below)?.to_string();
    let is_done = line.contains(") = 0") || call == "openat";
    (is_done && !name.is_empty()).then_some(Issued { kind, file, offset: 0, bytes: 0 })
}

/// Steps of the run that lay out files.
fn layouts(home: &Path) -> usize {
    let Ok(runs) = std::fs::read_dir(home.join("drivelab/runs")) else { return 0 };
    let texts = runs.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let is_layout = |line: &&str| {
        line.contains("\"record\":\"step_begin\"") && line.contains("\"name\":\"lay out ")
    };
    texts.map(|text| text.lines().filter(is_layout).count()).sum()
}

fn thread_number(path: &Path) -> u64 {
    let text = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    text.parse().unwrap_or(0)
}

fn collect(root: &Path, below: &Path, sizes: &mut BTreeMap<String, u64>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = below.join(entry.file_name());
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            collect(root, &path, sizes);
        } else if !path.to_string_lossy().ends_with("-verify.state") {
            sizes.insert(path.display().to_string(), metadata.len());
        }
    }
}

/// `pread64(3</dir/file>, ""..., 4096, 8192) = 4096`.
fn issued(line: &str, below: &str) -> Option<Issued> {
    let (call, rest) = line.split_once('(')?;
    let kind = match call {
        "pread64" => Kind::Read,
        "pwrite64" => Kind::Write,
        "fsync" => Kind::Sync,
        "fdatasync" => Kind::DataSync,
        _ => return None,
    };
    let path = rest.split_once('<')?.1.split_once('>')?.0;
    let file = path.strip_prefix(below)?.to_string();
    if matches!(kind, Kind::Sync | Kind::DataSync) {
        return Some(Issued { kind, file, offset: 0, bytes: 0 });
    }
    let words = rest.rsplit_once(") =")?.0;
    let mut numbers = words.rsplit(", ");
    let offset = numbers.next()?.parse().ok()?;
    let bytes = numbers.next()?.parse().ok()?;
    Some(Issued { kind, file, offset, bytes })
}
