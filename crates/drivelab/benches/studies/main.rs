//! What is claimed of studies, compared with drives whose insides are known, with seeds that were
//! fixed beforehand. Prints a section of docs/METHODOLOGY.md; `make validate` puts it there. Ends
//! with status 1 where a claim does not hold.
#![allow(clippy::unwrap_used, reason = "a validation may panic")]

mod budgets;
mod kills;
mod settling;
mod truth;

#[path = "../../tests/support/binary.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod binary;
#[path = "../../tests/support/loop_device.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod loop_device;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Somebody at a shell, with runs of their own.
struct Bench {
    home: tempfile::TempDir,
}

impl Bench {
    /// In a directory of its own.
    fn new() -> Bench {
        Bench { home: tempfile::tempdir().unwrap() }
    }

    /// Works on the disk under this directory.
    fn at(directory: &Path) -> Bench {
        Bench { home: tempfile::tempdir_in(directory).unwrap() }
    }

    /// Where it works.
    fn path(&self) -> &Path {
        self.home.path()
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drivelab"));
        command.args(line).current_dir(self.path()).env("XDG_DATA_HOME", self.path().join("data"));
        command.stdin(Stdio::null());
        command
    }

    /// Starts a command and does not wait.
    fn starts(&self, line: &[&str]) -> Child {
        self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Status and what was printed as JSON.
    fn types(&self, line: &[&str]) -> (i32, Value) {
        let output = self.command(line).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let json = serde_json::from_slice(&output.stdout);
        let json = json.unwrap_or_else(|error| panic!("{line:?}: {error}: {errors}"));
        (output.status.code().unwrap(), json)
    }

    /// The latest run file: of those that began in one second, the last written.
    fn last_run(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.path().join("data/drivelab/runs")).ok()?;
        let begun_and_written = |entry: &std::fs::DirEntry| {
            let second: String = entry.file_name().to_str().unwrap().chars().take(15).collect();
            (second, entry.metadata().unwrap().modified().unwrap())
        };
        Some(entries.map(Result::unwrap).max_by_key(begun_and_written)?.path())
    }

    /// The token that a refusal of this line prints.
    fn token(&self, line: &[&str]) -> String {
        let (status, json) = self.types(line);
        let hint = json["error"]["hint"].as_str().unwrap_or_default();
        let token = hint.split_whitespace().skip_while(|word| *word != "--erase").nth(1);
        token.unwrap_or_else(|| panic!("{line:?}: status {status}, no token: {json}")).to_string()
    }
}

/// The value of a figure of a study.
fn figure(json: &Value, name: &str) -> Option<f64> {
    let figures = json["findings"]["figures"].as_array()?;
    figures.iter().find(|figure| figure["name"] == name)?["estimate"]["value"].as_f64()
}

/// The rate of a drive that the model itself puts into its steady state.
fn true_steady_iops(target: &str) -> f64 {
    let bench = Bench::new();
    let target = format!("{target},state=steady");
    let load = ["--rw", "randwrite", "--bs", "4k", "--depth", "32", "--passes", "16"];
    let (_, json) = bench.types(&[&["run", &target, "--seed", "9", "--json"], &load[..]].concat());
    json["steps"][0]["streams"][0]["write"]["iops"]["value"].as_f64().unwrap()
}

/// A part of the validation: its text, and how many of its claims do not hold.
type Part = fn() -> (String, u32);

/// The names of single parts may follow: `cargo bench --bench studies -- settling`.
fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let parts: [(&str, Part); 5] = [
        ("wsat", truth::wsat),
        ("trim", truth::trim),
        ("settling", settling::after_a_fill),
        ("kills", kills::resumed),
        ("budgets", budgets::kept),
    ];
    let mut failed = 0;
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|it| it == name) {
            let (text, misses) = part();
            println!("{text}");
            failed += misses;
        }
    }
    if failed > 0 {
        eprintln!("{failed} claims do not hold");
        std::process::exit(1);
    }
}
