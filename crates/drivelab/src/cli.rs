//! The command line: one definition gives parsing, `--help`, man pages and completions.

pub mod accept;
pub mod compare;
pub mod doctor;
pub mod health;
pub mod run;
pub mod sim;
pub mod study;
pub mod watch;

use clap::{Args, CommandFactory, Parser, Subcommand};
use drivelab_core::units::{Size, Span};
use drivelab_report::Screen;
use std::path::PathBuf;

const QUESTIONS: &str = "\
Questions, each with its line (drivelab study --help has more):
  What does the disk here do?               drivelab check
  Can this machine measure?                 drivelab doctor
  Does it keep what its data sheet says?    drivelab accept SPEC.toml TARGET
  When does it slow down, and how far?      drivelab study wsat TARGET
  Will the machine freeze?                  drivelab study stutter TARGET
  Which of these is the fastest?            drivelab study rank TARGET TARGET
  Is it slower than before?                 drivelab compare BEFORE AFTER
  One load?   drivelab run . --rw randread --bs 4k --depth 32 --runtime 10
  Without a drive, in virtual time?         drivelab check sim:x25-e
";

const END: &str = "\
Writes only a scratch file of its own, unless given the token of a refusal.
Exit status: 0 fine, 1 a bad finding, 2 usage, 3 refused, 4 no valid answer.";

/// Columns of the widest help.
const HELP_MAX: usize = 100;

/// Characters of a tag.
const TAG_MAX: usize = 100;

/// The names of the tools whose lines are understood, in one line.
fn tools() -> String {
    let names: Vec<&str> = drivelab_compat::TOOLS.iter().map(|tool| tool.word()).collect();
    format!("Other tools:  drivelab {}", names.join("|"))
}

/// The whole of `drivelab --help`: it fits one screen.
fn template() -> String {
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{QUESTIONS}\n\
         Commands:\n{{subcommands}}\n\n{}\n{END}\n",
        tools()
    )
}

/// A laboratory for storage drives: says with evidence what is true of one
#[derive(Debug, Parser)]
#[command(name = "drivelab", version, help_template = template())]
#[command(disable_help_subcommand = true, subcommand_required = true)]
#[command(arg_required_else_help = true)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The whole command line; its help is set for the screen.
pub fn definition() -> clap::Command {
    CommandLine::command().term_width(Screen::current().columns.min(HELP_MAX))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a drive in a few minutes: figures, a verdict, a report
    Check(CheckOptions),
    /// What each drive says of itself: life used, errors, warnings
    Health(health::HealthOptions),
    /// Is this machine fit to measure?
    Doctor(doctor::DoctorOptions),
    /// Does a drive keep what its data sheet claims?
    Accept(accept::AcceptOptions),
    /// Answer one question about a drive by a complete method
    Study(Box<study::StudyCommandOptions>),
    /// Continue an interrupted study
    Resume(study::ResumeOptions),
    /// Run one load, described by options or by a plan
    Run(Box<run::RunOptions>),
    /// Compare two results: faster, slower, equivalent, or cannot tell
    Compare(compare::CompareOptions),
    /// Write the HTML report of a run again
    Report(ReportOptions),
    /// List the runs kept here
    Runs(RunsOptions),
    /// One drive over all its runs: each figure, and when it changed
    History(HistoryOptions),
    /// List drives and file systems, with facts and hazards
    List(ListOptions),
    /// Show the kernel's I/O counters of the drives below a path
    Watch(watch::WatchOptions),
    /// List simulated drives and show their parameters
    Sim(sim::SimOptions),
    /// Bare submission loop, for benchmarks
    #[command(hide = true)]
    Bare(Box<run::RunOptions>),
    /// List the kinds of JSON that --json prints, or print the schema of one
    Schema(SchemaOptions),
    /// Print the completions of a shell
    Completions(CompletionsOptions),
    /// Print the man page, or write all of them into a directory
    Man(ManOptions),
    /// Print this, or the help of a command: drivelab help study wsat
    Help(HelpOptions),
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
    /// What is written while it runs.
    pub live: Option<&'a LiveOptions>,
}

/// What is written while a run lasts.
#[derive(Debug, Args, Clone, Default)]
pub struct LiveOptions {
    /// Write a line of JSON for each interval while it runs; - is stdout, and the text goes to
    /// stderr then
    #[arg(long, value_name = "FILE")]
    pub feed: Option<PathBuf>,
    /// Keep the latest figures in this file for a node exporter (OpenMetrics text), replaced
    /// atomically
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
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
    /// Keep the file that drivelab created; drivelab may reuse it until something else changes it
    #[arg(long)]
    pub keep: bool,
}

/// What every command that puts several loads to a target asks.
#[derive(Debug, Args, Clone)]
pub struct StudyOptions {
    /// Write budget, including preparation
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
    /// Abort if an operation takes longer than this
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub stuck_after: Span,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub live: LiveOptions,
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
            live: Some(&self.live),
        }
    }
}

const CHECK_EXAMPLES: &str = "\
Examples:
  drivelab check                    a scratch file in this directory
  drivelab check /mnt/data          a scratch file there
  drivelab check --budget 2GiB --time 1m
                                    a shorter look that writes less
  drivelab check --for database,desktop
                                    exit status 1 if it is poor for one of
                                    them, 4 if unknown
  drivelab check --card card.png    one picture to show or to post
  drivelab check /dev/sdb --erase TOKEN
                                    a whole device; the refusal prints the
                                    token

Asks: how fast is this drive, what is it good for, what does a durable write
cost, and what can this experiment not say? At most 3 minutes and 8 GiB of
writes. Uses: desktop, video, database-group (group commit), database-each (a
commit each), database (both), vm, backup.
Ends with lines such as:
  Poor for    database with a commit each: durable commits 1.30k IOPS (enough
              from 2.00k IOPS)";

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckOptions {
    /// Directory, file, block device, or simulated drive (sim:NAME)
    #[arg(value_name = "TARGET", default_value = ".")]
    pub target: String,
    /// Time budget to measure; creating the scratch file comes on top
    #[arg(long, value_name = "TIME", default_value = "3m")]
    pub time: Span,
    /// Only read: no token is needed, and what writes cost stays unknown
    #[arg(long)]
    pub read_only: bool,
    /// Exit with status 1 if it is poor for one of these, such as database,desktop
    #[arg(long = "for", value_name = "USES", value_delimiter = ',')]
    pub uses: Vec<String>,
    /// Where to write the HTML report [default: drivelab-ID.html; none with --json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write one picture to show or to post (.svg or .png); it names no serial number, host or path
    #[arg(long, value_name = "FILE")]
    pub card: Option<PathBuf>,
    /// Print the same as Markdown instead of text, for an issue or a forum
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Show the results without serial numbers and host names; the run file keeps them
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub study: StudyOptions,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  drivelab report last              one HTML page that needs no network
  drivelab report last --csv cells.csv --xlsx run.xlsx
                                    for spreadsheets; no HTML unless --out asks
                                    for it
  drivelab report last --series series.csv --histograms latency.csv
                                    intervals and latency histograms, for
                                    pandas or DuckDB
  drivelab report last --markdown run.md
                                    for an issue or a wiki
  drivelab report last --redact     without serial numbers and host names, to
                                    share

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
    /// Write the card of a check: one picture to show or to post (.svg or .png)
    #[arg(long, value_name = "FILE")]
    pub card: Option<PathBuf>,
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
                                    which runs older than 30 days would be
                                    removed";

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

A change is reported where the runs before and after it differ by more than 5 %
(10 % for p99) and by more than chance; four runs are needed at least. Suspect
figures are left out.";

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

const SCHEMA_EXAMPLES: &str = "\
Examples:
  drivelab schema                   the kinds, and the lines that print each
  drivelab schema run > run.schema.json
                                    for a validator; JSON Schema, draft 2020-12";

/// Options of `schema`.
#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaOptions {
    /// The kind; without it all are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  drivelab completions bash > ~/.local/share/bash-completion/completions/drivelab
  drivelab completions zsh > ~/.zfunc/_drivelab      (with ~/.zfunc in fpath)
  drivelab completions fish > ~/.config/fish/completions/drivelab.fish";

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsOptions {
    /// Which shell: bash, zsh, fish, elvish, powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  drivelab man | man -l -                        reads it at once
  drivelab man ~/.local/share/man/man1           a page for each command";

/// Options of `man`.
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManOptions {
    /// Where to write the pages of all commands; without it, the page of drivelab goes to stdout
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// Options of `help`.
#[derive(Debug, Args)]
pub struct HelpOptions {
    /// The command, and behind `study` the name of a study
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
}
