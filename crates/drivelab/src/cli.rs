//! The command line: one definition gives parsing, `--help`, man pages and completions.

pub mod accept;
pub mod compare;
pub mod doctor;
pub mod run;
pub mod sim;
pub mod study;
pub mod watch;

use clap::{Args, Parser, Subcommand};
use drivelab_core::units::{Size, Span};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drivelab check                  what the disk under this directory does, in 3 minutes
  drivelab list                   which drives are here, and what could hurt
  drivelab run . --rw randread --bs 4k --depth 32 --runtime 10
                                  one load on a scratch file here
  drivelab check sim:x25-e        the same on a simulated drive, in virtual time
  drivelab report last            the HTML report of the latest run

Only a scratch file of its own is ever written, unless you add the token that a refusal prints.
Exit status: 0 fine, 1 a bad finding, 2 usage, 3 refused for safety, 4 no valid answer.";

/// Characters of a tag.
const TAG_MAX: usize = 100;

/// A laboratory for storage drives: measures a drive, and says with evidence what is true of it.
#[derive(Debug, Parser)]
#[command(name = "drivelab", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true)]
#[command(arg_required_else_help = true)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The main job: a few minutes, a verdict, a report
    Check(CheckOptions),
    /// Is this machine fit to measure?
    Doctor(doctor::DoctorOptions),
    /// Does a drive keep what its data sheet claims?
    Accept(accept::AcceptOptions),
    /// Put one question to a drive, from its empty state to the answer
    Study(Box<study::StudyCommandOptions>),
    /// Go on with a study that was broken off
    Resume(study::ResumeOptions),
    /// Run one load, described by options or by a plan
    Run(Box<run::RunOptions>),
    /// Are two results different? Faster, slower, equivalent, or cannot tell
    Compare(compare::CompareOptions),
    /// Write the HTML report of a run again
    Report(ReportOptions),
    /// List the runs kept here
    Runs(RunsOptions),
    /// One drive over all its runs: each figure, and when it changed
    History(HistoryOptions),
    /// List drives and file systems, with facts and hazards
    List(ListOptions),
    /// What the kernel counts on the drives below a path, interval by interval
    Watch(watch::WatchOptions),
    /// Simulated drives: which there are, and what they are made of
    Sim(sim::SimOptions),
    /// The queues alone, without driver and recording; for the benchmarks
    #[command(hide = true)]
    Bare(Box<run::RunOptions>),
    /// Write man pages and shell completions into a directory
    #[command(hide = true)]
    Generate(GenerateOptions),
}

/// What every command that measures asks.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// What it may do to the target.
    pub safety: &'a SafetyOptions,
    /// Where its run is kept.
    pub store: &'a StoreOptions,
    /// What the run is called.
    pub tag: Option<&'a str>,
    /// When an operation is called stuck.
    pub stuck_after: Span,
    /// Only say what would be done.
    pub is_dry: bool,
}

/// Where runs are kept.
#[derive(Debug, Args, Clone)]
pub struct StoreOptions {
    /// Directory of the run files [default: $XDG_DATA_HOME/drivelab/runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
}

/// What a run is called.
#[derive(Debug, Args, Clone)]
pub struct TagOption {
    /// A name for the run, such as "before firmware 5B2Q"; `runs prune` never removes it
    #[arg(long, value_name = "TEXT", value_parser = tag)]
    pub tag: Option<String>,
}

/// A tag is one short line.
fn tag(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text {
        "" => Err("a tag needs at least one character".into()),
        _ if text.chars().count() > TAG_MAX => Err(format!("at most {TAG_MAX} characters")),
        _ if text.chars().any(char::is_control) => Err("a tag is one line of text".into()),
        _ => Ok(text.into()),
    }
}

/// What a command writes to.
#[derive(Debug, Args, Clone)]
pub struct SafetyOptions {
    /// Consent to destroy what the target holds; a refusal prints the token
    #[arg(long, value_name = "TOKEN")]
    pub erase: Option<String>,
    /// Keep the file that drivelab created; it is drivelab's as long as nobody else changes it
    #[arg(long)]
    pub keep: bool,
}

/// What every command that puts several loads to a target asks.
#[derive(Debug, Args, Clone)]
pub struct StudyOptions {
    /// Most bytes to write, preparation included
    #[arg(long, value_name = "SIZE", default_value = "8GiB")]
    pub budget: Size,
    /// CPUs that the workers may use, such as 0-3,8 [default: any]
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    pub cpus: String,
    /// Seed of everything random [default: random, printed]
    #[arg(long, value_name = "NUMBER", value_parser = run::seed)]
    pub seed: Option<u64>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print the plan, the bytes and the time, and touch nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Longest time one operation may take before the run is given up
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub stuck_after: Span,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub safety: SafetyOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub called: TagOption,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

impl StudyOptions {
    /// What of it is asked whatever the command.
    pub fn terms(&self) -> Terms<'_> {
        Terms {
            safety: &self.safety,
            store: &self.store,
            tag: self.called.tag.as_deref(),
            stuck_after: self.stuck_after,
            is_dry: self.dry_run,
        }
    }
}

const CHECK_EXAMPLES: &str = "\
Examples:
  drivelab check                    a scratch file in this directory
  drivelab check /mnt/data          a scratch file there
  drivelab check --budget 2GiB --time 1m
                                    a shorter look that writes less
  drivelab check /dev/sdb --erase TOKEN
                                    a whole device; the refusal prints the token

Asks: how fast is this drive, how even, what does a durable write cost, and what can this
experiment not say? At most 3 minutes and 8 GiB of writes. Ends with sentences such as:
  Beware   each durable commit costs 0.8 ms: about 1,300 a second, whatever the IOPS say.";

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckOptions {
    /// Directory, file, block device, or simulated drive (sim:NAME)
    #[arg(value_name = "TARGET", default_value = ".")]
    pub target: String,
    /// Most time to measure; building the scratch file comes on top
    #[arg(long, value_name = "TIME", default_value = "3m")]
    pub time: Span,
    /// Only read: no token is needed, and what writes cost stays unknown
    #[arg(long)]
    pub read_only: bool,
    /// Where to write the HTML report [default: drivelab-ID.html; none with --json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub study: StudyOptions,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  drivelab report last              one HTML page that needs no network
  drivelab report last --csv cells.csv --xlsx run.xlsx
                                    for programs that calculate; no HTML unless --out asks for it
  drivelab report last --series series.csv --histograms latency.csv
                                    intervals and latency histograms, for pandas or DuckDB
  drivelab report last --markdown run.md
                                    for an issue or a wiki
  drivelab report last --redact     without serial numbers and host names, to be given away

A file is replaced only if drivelab made it and nobody has changed it since.";

/// Options of `report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportOptions {
    /// A path, an ID, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Where to write the HTML [default: drivelab-ID.html; none with another file or --json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write Markdown as GitHub shows it: the verdict, tables, facts and the plan; no pictures
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write all cells as comma-separated values: a row for each cell, stream and kind
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the course over time as comma-separated values: a row for each interval
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
    /// Write the latency histograms as comma-separated values: a row for each bucket
    #[arg(long, value_name = "FILE")]
    pub histograms: Option<PathBuf>,
    /// Write an Excel workbook: cells, steps, facts, charts with error bars
    #[arg(long, value_name = "FILE")]
    pub xlsx: Option<PathBuf>,
    /// Leave out serial numbers, host names and tokens everywhere; paths stay
    #[arg(long)]
    pub redact: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

const RUNS_EXAMPLES: &str = "\
Examples:
  drivelab runs                     all runs, oldest first
  drivelab runs last                one run in full
  drivelab runs --tag firmware      runs whose tag contains this text
  drivelab runs prune --keep 30d --dry-run
                                    which runs older than 30 days would be removed";

/// Options of `runs`.
#[derive(Debug, Args)]
#[command(after_help = RUNS_EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct RunsOptions {
    /// Show this run in full: a path, an ID, or `last`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// List only runs whose tag contains this text
    #[arg(long, value_name = "TEXT", conflicts_with = "run")]
    pub tag: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
    #[command(subcommand)]
    #[allow(missing_docs)]
    pub action: Option<RunsAction>,
}

/// What is done with the runs besides listing them.
#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// Remove old runs; never one with a tag, never the latest
    Prune(PruneOptions),
}

/// Options of `runs prune`.
#[derive(Debug, Args)]
pub struct PruneOptions {
    /// Keep runs that began within this time, such as 30d
    #[arg(long, value_name = "TIME")]
    pub keep: Option<Span>,
    /// Remove the oldest until all run files have at most this size, such as 5GB
    #[arg(long, value_name = "SIZE")]
    pub max: Option<Size>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

const HISTORY_EXAMPLES: &str = "\
Examples:
  drivelab history                  the drives of which runs are kept here
  drivelab history .                the drive under this directory
  drivelab history S5GXNX0T123456   the drive with this serial number

A change is reported where the runs before and after it differ by more than 5 % (10 % for p99) and
by more than chance; four runs are needed at least. Suspect figures are left out.";

/// Options of `history`.
#[derive(Debug, Args)]
#[command(after_help = HISTORY_EXAMPLES)]
pub struct HistoryOptions {
    /// Serial number, path on the drive, or target as it was typed
    #[arg(value_name = "DRIVE")]
    pub drive: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Options of `generate`.
#[derive(Debug, Args)]
pub struct GenerateOptions {
    /// Where to write them
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}
