//! The real binary, run as a user would, with a data directory of its own.

use drivelab_core::op::Action;
use drivelab_core::record::Record;
use drivelab_core::run::{Run, StepRun};
use drivelab_stats::Histogram;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Runs a tool of the system and gives its output; panics with all it said if it fails.
pub fn must<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> String {
    let arguments: Vec<S> = arguments.into_iter().collect();
    let output = Command::new(program).args(&arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let shown: Vec<_> = arguments.iter().map(|argument| argument.as_ref()).collect();
    assert!(output.status.success(), "{program} {shown:?}: {}: {said}", output.status);
    String::from_utf8(output.stdout).expect("output in UTF-8")
}

/// How often a process is looked at while it is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A place for run files, and the way to start the binary with it.
pub struct Laboratory {
    data: tempfile::TempDir,
    /// Joined before the program starts (cgroup v1 or v2 directories).
    groups: Vec<PathBuf>,
    goes_first: bool,
}

impl Laboratory {
    /// A fresh data directory.
    pub fn new() -> Laboratory {
        let data = tempfile::Builder::new().prefix("drivelab-data-").tempdir();
        Laboratory { data: data.expect("a data directory"), groups: Vec::new(), goes_first: false }
    }

    /// Starts the binary in this control group from now on.
    pub fn join_group(&mut self, group: &Path) {
        self.groups.push(group.to_path_buf());
    }

    /// The binary goes before other work of the machine from now on: for tests of exact times.
    pub fn go_first(&mut self) {
        self.goes_first = true;
    }

    /// Starts `drivelab` with these arguments; the first line of a shell joins the groups.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Running {
        let mut command = Command::new("sh");
        let mut script = String::new();
        for (place, _) in self.groups.iter().enumerate() {
            // A process joins before exec, so that no I/O of it is counted elsewhere.
            script += &format!("echo $$ > \"${{{}}}/cgroup.procs\" || exit 99\n", place + 1);
        }
        let first = if self.goes_first { "nice -n -20 " } else { "" };
        script += &format!("shift {}\nexec {first}\"$@\"\n", self.groups.len());
        command.arg("-c").arg(script).arg("sh").args(&self.groups);
        command.arg(env!("CARGO_BIN_EXE_drivelab")).args(arguments);
        command.env("XDG_DATA_HOME", self.data.path()).current_dir(self.data.path());
        Running::of(command)
    }

    /// Runs `drivelab` to its end, which must come within `limit`.
    pub fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        limit: Duration,
    ) -> Outcome {
        let mut running = self.start(arguments);
        assert!(running.wait(limit), "no end after {limit:?}: {}", running.stands_at());
        running.finish()
    }

    /// The token without which `device` is not written: the refusal prints it, and that is how
    /// anyone learns it.
    pub fn token(&self, device: &str) -> String {
        let refused = ["run", device, "--rw", "randwrite", "--bs", "4k", "--runtime", "1"];
        let outcome = self.run(refused, Duration::from_secs(60)).expect_status(3);
        let words = outcome.stderr.split_whitespace();
        let token = words.skip_while(|word| *word != "--erase").nth(1);
        token.unwrap_or_else(|| panic!("no token in: {}", outcome.stderr)).to_string()
    }

    /// `$XDG_DATA_HOME` of the binary.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// The run files, oldest first.
    pub fn run_files(&self) -> Vec<PathBuf> {
        let directory = self.data.path().join("drivelab/runs");
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        let mut files: Vec<_> = entries.map(|entry| entry.expect("entry").path()).collect();
        files.retain(|file| file.extension() == Some(OsStr::new("jsonl")));
        files.sort();
        files
    }

    /// The only run file, read back record by record.
    pub fn only_run(&self) -> RunFile {
        let files = self.run_files();
        assert_eq!(files.len(), 1, "one run file: {files:?}");
        RunFile::read(&files[0])
    }
}

type Collected = std::sync::Arc<std::sync::Mutex<Vec<u8>>>;

fn reader(mut pipe: impl Read + Send + 'static) -> (Collected, JoinHandle<()>) {
    let text = Collected::default();
    let shared = text.clone();
    let thread = std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = pipe.read(&mut piece) {
            shared.lock().expect("output").extend_from_slice(&piece[..count]);
        }
    });
    (text, thread)
}

fn text_of(collected: &Collected) -> String {
    String::from_utf8_lossy(&collected.lock().expect("output")).into_owned()
}

/// A started `drivelab`. It is killed if the test fails before its end.
pub struct Running {
    child: Child,
    stdout: (Collected, JoinHandle<()>),
    stderr: (Collected, JoinHandle<()>),
    started: Instant,
}

impl Running {
    /// Starts a command and collects what it says.
    pub fn of(mut command: Command) -> Running {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdout = reader(child.stdout.take().expect("piped"));
        let stderr = reader(child.stderr.take().expect("piped"));
        Running { child, stdout, stderr, started: Instant::now() }
    }

    /// Its process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits at most `limit` for the end; whether it came.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.wait_for(limit, |running| running.has_ended())
    }

    /// Waits at most `limit` for something to become true; whether it did.
    pub fn wait_for(
        &mut self,
        limit: Duration,
        mut is_so: impl FnMut(&mut Running) -> bool,
    ) -> bool {
        let begin = Instant::now();
        while !is_so(self) {
            if begin.elapsed() > limit {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("wait").is_some()
    }

    /// What it said on stderr so far.
    pub fn so_far(&self) -> String {
        text_of(&self.stderr.0)
    }

    /// What it said on stderr so far, and where each of its threads stands in the kernel.
    pub fn stands_at(&self) -> String {
        let mut told = format!("it said: {}", self.so_far());
        let directory = format!("/proc/{}/task", self.id());
        for thread in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let read = |name| std::fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            told += &format!("\n{} {} {}", read("comm").trim(), read("wchan"), read("stack"));
        }
        told
    }

    /// What it has printed on stdout so far.
    pub fn printed(&self) -> String {
        text_of(&self.stdout.0)
    }

    /// Takes what it left; it must have ended.
    pub fn finish(mut self) -> Outcome {
        let status = self.child.wait().expect("wait");
        let took = self.started.elapsed();
        while !(self.stdout.1.is_finished() && self.stderr.1.is_finished()) {
            std::thread::sleep(LOOK_EVERY);
        }
        Outcome {
            status: status.code(),
            stdout: text_of(&self.stdout.0),
            stderr: text_of(&self.stderr.0),
            took,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.try_wait().ok();
    }
}

/// What a finished `drivelab` left.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status; `None` after a signal.
    pub status: Option<i32>,
    /// Results.
    pub stdout: String,
    /// Everything else.
    pub stderr: String,
    /// From start to end.
    pub took: Duration,
}

impl Outcome {
    /// Panics unless it ended with this status.
    #[track_caller]
    pub fn expect_status(self, status: i32) -> Outcome {
        assert_eq!(self.status, Some(status), "stderr:\n{}stdout:\n{}", self.stderr, self.stdout);
        self
    }

    /// The object of `--json`.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not one JSON object: {error}: {self:?}"))
    }

    /// Panics unless stderr is what a person can act on: some text, and no panic.
    #[track_caller]
    pub fn expect_plain_words(&self) {
        assert!(!self.stderr.trim().is_empty(), "no word on stderr: {self:?}");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}

/// One kind of the first stream of the last measured step in `--json`.
#[track_caller]
pub fn kind_of<'a>(json: &'a Value, kind: &str) -> &'a Value {
    let steps = json["steps"].as_array().expect("steps");
    let step = steps.iter().rev().find(|step| step["role"] == "measure").expect("a measured step");
    let found = &step["streams"][0][kind];
    assert!(found.is_object(), "no `{kind}` in {step}");
    found
}

/// A run file, both as records and as plain JSON.
pub struct RunFile {
    /// The records put together.
    pub run: Run,
    lines: Vec<Value>,
}

impl RunFile {
    /// Reads every line; a line that is no record fails the test.
    pub fn read(path: &Path) -> RunFile {
        let text = std::fs::read_to_string(path).expect("run file");
        let mut run = Run::default();
        let mut lines = Vec::new();
        for line in text.lines() {
            let record: Record = serde_json::from_str(line).expect("a record");
            run.push(record).expect("records in order");
            lines.push(serde_json::from_str(line).expect("JSON"));
        }
        RunFile { run, lines }
    }

    /// The last step.
    pub fn last_step(&self) -> &StepRun {
        self.run.steps.last().expect("a step")
    }

    /// CLOCK_MONOTONIC in nanoseconds at time zero of every stamp in the run.
    pub fn monotonic_zero_ns(&self) -> u64 {
        self.run.begin.clock.monotonic_zero_ns.expect("monotonic_zero_ns in the clock facts")
    }
}

/// All measured response times of reads in a step, as one histogram.
pub fn read_responses(step: &StepRun) -> Histogram {
    let mut all = Histogram::new();
    for tally in step.tallies.iter().filter(|tally| !tally.ramp) {
        for kind in tally.kinds.iter().filter(|kind| kind.kind == Action::Read) {
            all.merge(kind.response.as_ref().expect("responses of an open loop"));
        }
    }
    all
}
