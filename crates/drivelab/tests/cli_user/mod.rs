//! A person at a shell: a home of their own, a directory to work in, and the built program.
#![allow(dead_code, reason = "each test program uses its own part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

pub struct User {
    home: TempDir,
    work: TempDir,
}

impl User {
    /// Works in memory: on a disk that all tests share, the truth guard would notice the others.
    pub fn new() -> Self {
        let work = tempfile::tempdir_in("/dev/shm").unwrap();
        User { home: tempfile::tempdir().unwrap(), work }
    }

    /// Works on the disk that all tests share, where numbers may be suspect.
    pub fn on_disk() -> Self {
        User { home: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() }
    }

    /// The current directory of everything this user runs.
    pub fn work(&self) -> &Path {
        self.work.path()
    }

    pub fn runs(&self) -> PathBuf {
        self.home.path().join("drivelab/runs")
    }

    /// The latest run file: of those that began in one second, the last written.
    pub fn last_run(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.runs()).unwrap().map(Result::unwrap);
        let begun_and_written = |entry: &std::fs::DirEntry| {
            let second: String = entry.file_name().to_str().unwrap().chars().take(15).collect();
            (second, entry.metadata().unwrap().modified().unwrap())
        };
        entries.max_by_key(begun_and_written).unwrap().path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Names in the working directory, sorted.
    pub fn listing(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.work())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivelab"));
        command.args(line).current_dir(self.work()).env("XDG_DATA_HOME", self.home.path());
        command
    }

    pub fn types(&self, line: &[&str]) -> Said {
        Said::of(line, self.command(line).stdin(Stdio::null()).output().unwrap())
    }

    /// With these variables of the environment.
    pub fn types_with(&self, line: &[&str], variables: &[(&str, &str)]) -> Said {
        let mut command = self.command(line);
        command.envs(variables.iter().copied()).stdin(Stdio::null());
        Said::of(line, command.output().unwrap())
    }

    pub fn starts(&self, line: &[&str]) -> Child {
        self.command(line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// What the program answered.
pub struct Said {
    pub line: String,
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(line: &[&str], output: Output) -> Self {
        Said {
            line: line.join(" "),
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn fine(self) -> Self {
        self.status(0)
    }

    #[track_caller]
    pub fn status(self, expected: i32) -> Self {
        let Said { line, status, out, err } = &self;
        assert_eq!(*status, Some(expected), "{line}\n--- stdout\n{out}\n--- stderr\n{err}");
        assert!(!err.contains("panicked"), "{line}\n{err}");
        self
    }

    /// A refusal: this status, nothing on stdout, this on stderr.
    #[track_caller]
    pub fn refused(self, status: i32, says: &str) -> Self {
        let said = self.status(status);
        let is_object = || said.json()["error"]["text"].is_string();
        match said.line.split(' ').any(|word| word == "--json") {
            true => assert!(is_object(), "{}: {}", said.line, said.out),
            false => assert_eq!(said.out, "", "{}: stdout must be empty", said.line),
        }
        assert!(said.err.starts_with("drivelab: "), "{}\n{}", said.line, said.err);
        assert!(said.err.contains(says), "{}\nwanted: {says}\n{}", said.line, said.err);
        said
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}", self.out))
    }
}

/// The sentences of one kind that a study said.
pub fn said(json: &Value, kind: &str) -> String {
    let list = json["findings"][kind].as_array().cloned().unwrap_or_default();
    list.iter().map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// One figure of a study, with its interval.
#[track_caller]
pub fn estimate<'a>(json: &'a Value, name: &str) -> &'a Value {
    let figures = json["findings"]["figures"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["name"] == name);
    &found.unwrap_or_else(|| panic!("no {name} in {figures:?}"))["estimate"]
}

/// The value of one figure of a study.
#[track_caller]
pub fn figure(json: &Value, name: &str) -> f64 {
    estimate(json, name)["value"].as_f64().unwrap()
}

/// The rate of random writes on a drive that is put into its steady state by the model itself.
pub fn true_steady_iops(user: &User, target: &str) -> f64 {
    let target = format!("{target},state=steady");
    let load = ["--rw", "randwrite", "--bs", "4k", "--depth", "32", "--passes", "16"];
    let line = [&["run", &target, "--seed", "9", "--json"], &load[..]].concat();
    let json = user.types(&line).fine().json();
    json["steps"][0]["streams"][0]["write"]["iops"]["value"].as_f64().unwrap()
}
