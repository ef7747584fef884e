//! What all front ends share: what they may ask of the world, and what they answer.
//!
//! A front end is two pure functions: from the words of a command line to a [`Job`], and from the
//! run that executed its plan to what the old tool would have printed.

mod results;

use drivelab_core::plan::Plan;
use drivelab_core::run::Run;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

pub use results::{Existing, LOOKED_AT_BYTES, OutputFile, ResultFile};

/// What is at a path, without opening it for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The path does not exist.
    Absent,
    /// A regular file.
    File {
        /// Size of the file or device in bytes.
        bytes: u64,
    },
    /// A directory.
    Directory,
    /// A block device.
    Device {
        /// Size of the file or device in bytes.
        bytes: u64,
    },
    /// A simulated drive, by a name that begins with `sim:`.
    Simulated {
        /// Size of the file or device in bytes.
        bytes: u64,
    },
    /// Something else, or something that cannot be looked at, in words.
    Unusable(String),
}

/// The machine, as old tools print it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Name of the machine.
    pub name: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Hardware, such as `x86_64`.
    pub machine: String,
    /// Processors.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Milliseconds since 1970, UTC, now.
    pub now_ms: u64,
    /// Number of this process.
    pub process: u32,
    /// Version of drivelab.
    pub version: String,
    /// Number of the signal that asked the run to end.
    pub signal: Option<i32>,
}

/// What a front end may ask. Nothing of it changes anything.
pub trait World {
    /// What is at `path`, from the working directory on.
    fn found(&self, path: &str) -> Found;
    /// Whether a simulated drive begins with all of it written.
    fn is_written(&self, _drive: &str) -> bool {
        false
    }
    /// The text of a file: a job file, what it includes, an `.icf`.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn text(&self, path: &str) -> Result<String, String>;
    /// The bytes of a file: a trace.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        self.text(path).map(String::into_bytes)
    }
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// The machine.
    fn host(&self) -> Host;
    /// A number by chance, another one each time; `None` where several processes would have to
    /// agree on it.
    fn drawn(&self) -> Option<u64> {
        None
    }
    /// Processes that share the work: those of mpirun, or 1.
    fn ranks(&self) -> u32;
    /// What `--scale-size` said: sizes and counts of files are to be this many times as large.
    fn scale(&self) -> Scale;
    /// What `--scale-time` said: times are to be this many times as long.
    fn scale_time(&self) -> Scale {
        Scale::WHOLE
    }
}

/// A share of what a command line asks for, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Times this.
    pub numerator: u64,
    /// Over this; not 0.
    pub denominator: u64,
}

impl Scale {
    /// All of it.
    pub const WHOLE: Scale = Scale { numerator: 1, denominator: 1 };

    /// `amount` scaled down or up to a multiple of `grain`, at least one grain where there was any.
    pub fn of(self, amount: u64, grain: u64) -> u64 {
        if self == Scale::WHOLE || amount == 0 {
            return amount;
        }
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        let scaled = u128::from(amount) * numerator / denominator.max(1);
        let grain = grain.max(1);
        let scaled = u64::try_from(scaled).unwrap_or(u64::MAX) / grain * grain;
        scaled.max(grain)
    }
}

/// How an option or a line of another tool is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// It means here what it means there; the note says what that is.
    Same,
    /// Nearly: the note says what differs.
    Approximated,
    /// It changes nothing here, and the note says why nothing is lost.
    Ignored,
}

/// A sentence on what a line really measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// A word for machines (`direct_is_buffered`), the same for every line that it is said of.
    pub code: &'static str,
    /// The option as it was typed, or empty where it is about the whole line.
    pub about: String,
    /// How it is understood.
    pub treatment: Treatment,
    /// Whole sentences.
    pub text: String,
}

impl Note {
    /// A note.
    pub fn new(
        code: &'static str,
        about: impl Into<String>,
        treatment: Treatment,
        text: impl Into<String>,
    ) -> Self {
        Note { code, about: about.into(), treatment, text: text.into() }
    }
}

impl Display for Note {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self.about.is_empty() {
            true => to.write_str(&self.text),
            false => write!(to, "{}: {}", self.about, self.text),
        }
    }
}

/// A command line that is answered without a run: in that tool's terms, with ours next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What the old tool would say, or that an option of it is not supported here, by name.
    pub text: String,
    /// What to do instead, in our terms; may be empty.
    pub advice: String,
    /// The exit status that the old tool ends with.
    pub status: u8,
}

impl Refusal {
    /// A refusal.
    pub fn new(status: u8, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Refusal { text: text.into(), advice: advice.into(), status }
    }
}

/// What a command line comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What will be done.
    pub plan: Plan,
    /// TARGET as our own command line has it: a directory where the plan names files, a device, or
    /// a simulated drive.
    pub target: String,
    /// Whether the files stay, as that tool leaves them.
    pub keeps: bool,
    /// What the line really measures.
    pub notes: Vec<Note>,
    /// Files that the results will go to: each can be written, or nothing is run.
    pub results: Vec<ResultFile>,
}

/// What the words of a command line ask for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked<Options> {
    /// To print this and end with status 0 (`--version`, `--help`).
    Text(String),
    /// To run this; `options` are what the output needs of the line.
    Run {
        /// What to run.
        job: Box<Job>,
        /// The line, understood.
        options: Box<Options>,
    },
}

/// What the results of a run look like in a tool's own layout.
pub type Layout = dyn Fn(&Run, &Host) -> Output;

/// What an old tool leaves behind when its work is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// What it prints.
    pub text: String,
    /// Files that the line asked for.
    pub files: Vec<OutputFile>,
    /// Its exit status where everything went well.
    pub status: u8,
    /// What only the run could tell of what the line really measured.
    pub notes: Vec<Note>,
    /// What the tool itself would have said on stderr.
    pub errors: Vec<String>,
}
