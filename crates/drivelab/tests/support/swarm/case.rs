//! One case: a drive, a command, and everything that it said.

use super::drive::{Drive, one_of};
use drivelab_core::record::Record;
use drivelab_core::run::Run;
use drivelab_stats::Random;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Parts the numbers that were added later from the earlier ones, so that seeds keep their cases.
const ELSE: u64 = 0x5eed_0e15_e000_0000;

/// What is typed, and where.
#[derive(Debug, Clone)]
pub struct Case {
    /// Everything follows from it.
    pub seed: u64,
    /// The drive.
    pub drive: Drive,
    /// The study, or `check`.
    pub study: &'static str,
    /// The words between the program's name and the target, and behind it.
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// What was allowed, where the line says it.
    pub budget: Option<u64>,
    pub seconds: Option<u64>,
}

/// `rank` needs several drives, `doctor` no simulated one.
pub const STUDIES: [&str; 22] = [
    "check",
    "aa",
    "wsat",
    "wsat",
    "trim",
    "trim",
    "pts-iops",
    "pts-tp",
    "pts-lat",
    "rank",
    "patterns",
    "mix",
    "steady",
    "fs",
    "stutter",
    "apps",
    "modes",
    "endurance",
    "files",
    "ior",
    "torture",
    "tune",
];

impl Case {
    /// The case of a seed: what `small` draws of any size, or a plain run, or a drive that stalls.
    pub fn draw(seed: u64) -> Case {
        let mut case = Case::drawn(seed, &STUDIES, u64::MAX);
        let mut random = Random::new(seed ^ ELSE);
        if random.below(100) < 8 {
            let (period_s, length_ms) = (1 + random.below(20), 20 + random.below(600));
            case.drive.stall(period_s, length_ms);
        }
        match random.below(100) {
            0..12 => case.put_run(&mut random),
            12..16 if case.study != "rank" => {
                case.study = "anatomy";
                case.before = vec!["study".into(), "anatomy".into()];
            }
            16..19 if case.study != "rank" => {
                case.study = "stride";
                case.before = vec!["study".into(), "stride".into()];
            }
            _ => {}
        }
        case
    }

    /// One load, some time.
    fn put_run(&mut self, random: &mut Random) {
        self.study = "run";
        self.before = vec!["run".into()];
        (self.budget, self.seconds) = (None, None);
        let loads = ["randread", "randread", "randwrite", "randwrite", "read", "write", "randrw"];
        let mut add = |key: &str, value: String| self.after.extend([key.into(), value]);
        add("--rw", one_of(random, &loads).into());
        add("--bs", one_of(random, &["4k", "4k", "16k", "128k"]).into());
        add("--depth", one_of(random, &[1, 4, 32]).to_string());
        add("--runtime", format!("{}s", one_of(random, &[10, 30, 60, 120])));
        self.after.drain(..self.after.iter().position(|word| word == "--rw").unwrap_or(0));
        self.after.extend(["--seed".into(), random.below(1000).to_string()]);
    }

    /// The case of a seed for a test that has little time: a small drive.
    pub fn small(seed: u64) -> Case {
        Case::drawn(seed, &STUDIES, 256 << 20)
    }

    fn drawn(seed: u64, studies: &[&'static str], most: u64) -> Case {
        let mut random = Random::new(seed);
        let study = one_of(&mut random, studies);
        let drive = Drive::draw(&mut random, most);
        let mut case = Case {
            seed,
            drive,
            study,
            before: Vec::new(),
            after: Vec::new(),
            budget: None,
            seconds: None,
        };
        case.put_line(&mut random);
        case
    }

    fn put_line(&mut self, random: &mut Random) {
        let quick_only = self.study != "check" && random.below(10) < 6;
        if self.study != "check" {
            self.before = vec!["study".into(), self.study.into()];
        } else {
            self.before = vec!["check".into()];
        }
        if quick_only {
            self.after.push("--quick".into());
            self.budget = Some(10 << 30);
            // What `study --help` says of each.
            self.seconds = Some(if self.study == "stutter" { 420 } else { 300 });
        } else {
            let seconds = one_of(random, &[30, 60, 120, 300, 900]);
            let budget = (1 << 30) * one_of(random, &[1, 4, 10, 40]);
            self.after.extend(["--time".into(), format!("{seconds}s")]);
            self.after.extend(["--budget".into(), format!("{budget}")]);
            (self.budget, self.seconds) = (Some(budget), Some(seconds));
        }
        if self.study == "rank" {
            self.after.push(
                one_of(random, &["sim:gp3,capacity=1GiB", "sim:textbook,capacity=512MiB"]).into(),
            );
        }
        self.after.extend(["--seed".into(), format!("{}", random.below(1000))]);
    }

    /// The same line with another seed of the host.
    pub fn reseeded(&self, number: u64) -> Option<Case> {
        let mut other = self.clone();
        let at = other.after.iter().position(|word| word == "--seed")?;
        other.after[at + 1] = (5000 + 17 * number + self.seed % 1000).to_string();
        Some(other)
    }

    /// The line that a person would type.
    pub fn line(&self) -> String {
        let mut words = vec!["drivelab".to_string()];
        words.extend(self.words());
        words.join(" ")
    }

    /// The arguments.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.before.clone();
        words.push(self.drive.target.clone());
        words.extend(self.after.iter().cloned());
        words
    }
}

/// A directory in which the program is run.
pub struct Place {
    home: tempfile::TempDir,
}

/// The program under test; `DRIVELAB_BINARY` names another one.
fn program() -> PathBuf {
    std::env::var_os("DRIVELAB_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_drivelab").into(), PathBuf::from)
}

impl Place {
    /// An empty one, with the drive's profile in it.
    pub fn of(drive: &Drive) -> Place {
        let home = tempfile::Builder::new().prefix("drivelab-swarm-").tempdir();
        let place = Place { home: home.expect("a directory") };
        if let Some(profile) = &drive.profile {
            std::fs::write(place.path().join("drawn.toml"), profile).expect("a profile");
        }
        place
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.home.path()
    }

    /// Runs the program; at most this many seconds of the real clock.
    pub fn types(&self, words: &[String], seconds: u64) -> Output {
        let mut command = Command::new("timeout");
        command.arg("--signal=KILL").arg(format!("{seconds}")).arg(program()).args(words);
        command.current_dir(self.path()).env("XDG_DATA_HOME", self.path().join("data"));
        command.env_remove("NO_COLOR").stdin(Stdio::null());
        command.output().expect("it starts")
    }

    /// The latest run file.
    pub fn last_run(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.path().join("data/drivelab/runs")).ok()?;
        entries.map(|entry| entry.expect("an entry").path()).max()
    }
}

/// All that one case said.
pub struct Said {
    /// Exit status; `None` after a signal.
    pub status: Option<i32>,
    pub json: Option<Value>,
    pub stderr: String,
    /// What `report` prints of the run, and its page.
    pub text: String,
    pub html: String,
    /// The run file.
    pub run: Option<Run>,
    /// What it took on the real clock.
    pub took: Duration,
}

/// Longest a case may take on the real clock.
pub const LIMIT_S: u64 = 120;

impl Said {
    /// Runs the case.
    pub fn of(case: &Case, place: &Place) -> Said {
        let mut said = Said::json_of(case, place);
        said.run = place.last_run().and_then(|path| read(&path));
        if said.run.is_some() {
            let words = ["report", "last", "--out", "page.html"].map(String::from);
            let report = place.types(&words, LIMIT_S);
            said.text = String::from_utf8_lossy(&report.stdout).into_owned();
            said.html = std::fs::read_to_string(place.path().join("page.html")).unwrap_or_default();
        }
        said
    }

    /// The object of `--json` alone.
    pub fn json_of(case: &Case, place: &Place) -> Said {
        let mut words = case.words();
        words.push("--json".into());
        let begin = Instant::now();
        let output = place.types(&words, LIMIT_S);
        Said {
            status: output.status.code(),
            json: serde_json::from_slice(&output.stdout).ok(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            text: String::new(),
            html: String::new(),
            run: None,
            took: begin.elapsed(),
        }
    }

    /// The sentences of the findings.
    pub fn sentences(&self, list: &str) -> Vec<&str> {
        let all = self.json.as_ref().and_then(|json| json["findings"][list].as_array());
        all.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// A figure of the findings.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let figures = self.json.as_ref()?["findings"]["figures"].as_array()?;
        let found = figures.iter().find(|figure| figure["name"] == name)?;
        found["estimate"]["value"].as_f64()
    }
}

/// The records of a run file, put together.
pub fn read(path: &Path) -> Option<Run> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut run = Run::default();
    for line in text.lines() {
        let record: Record = serde_json::from_str(line).ok()?;
        run.push(record).ok()?;
    }
    Some(run)
}
