//! `drivelab sim`: which simulated drives there are, and what they are made of.

use super::StoreOptions;
use super::run::seed;
use clap::{Args, Subcommand};
use drivelab_core::units::Size;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drivelab sim list               the simulated drives
  drivelab sim show x25-e         its parameters, each with its source
  drivelab sim show textbook,spare=0.07
                                  the same after a change
  drivelab sim sweep textbook spare=0.07..0.5 --study wsat
                                  one study at six amounts of spare flash, and
                                  the curve

Every command takes a simulated drive as its target, in virtual time and exactly reproducible:
  drivelab check sim:x25-e
  drivelab run sim:textbook,spare=0.28,collector=fifo,capacity=1GiB,state=steady \\
      --rw randwrite --bs 4k --depth 32 --passes 2 --json

Keys after the name: every parameter that `sim show` lists, and
  spare      flash beyond the user's, (T - U) / U, after reserve and open
             blocks
  capacity   bytes of the user; the flash grows and shrinks with them
  collector  greedy, d-choices, fifo, windowed, cost-benefit, random; d says of
             how many
  state      fresh, filled, random-filled, steady, fragmented, trimmed
  page_cache bytes of the page cache of the host before it: buffered I/O needs one
  cache_state  of an array: cold, or warm: its memory answers reads of the
               volume's beginning
  file_system_ns  time that a worker spends on each operation through a file
                  system (study fs)
  journal    writes of its journal for each write through it, from 0 to 1
  setting_delay  time that one value of a kernel setting costs, as in
                 scheduler:bfq:30us
  stall      the drive stands still for a while again and again, as in 5s:300ms
  thermal    the drive throttles while it is too warm, as in 1GB:60s:300MB
  fragmentation  share of its rate that a reader loses once the drive was
                 written over
  seed       of everything random inside the drive";

/// Options of `sim`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true, subcommand_required = true)]
#[command(disable_help_subcommand = true)]
pub struct SimOptions {
    /// What to show.
    #[command(subcommand)]
    pub command: SimCommand,
}

/// What `sim` shows.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// List the simulated drives
    List(SimListOptions),
    /// Show the parameters of a simulated drive
    Show(SimShowOptions),
    /// Put one question to a simulated drive with one parameter varied: a table and a curve
    Sweep(SimSweepOptions),
}

/// Options of `sim list`.
#[derive(Debug, Args)]
pub struct SimListOptions {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Options of `sim show`.
#[derive(Debug, Args)]
pub struct SimShowOptions {
    /// Name of a profile, or a path to one, followed by key=value after commas
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// Show how long the cells last if this much is written every day
    #[arg(long, value_name = "SIZE")]
    pub per_day: Option<Size>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

const SWEEP_EXAMPLES: &str = "\
Examples:
  drivelab sim sweep textbook spare=0.07..0.5
                                  6 values at equal factors
  drivelab sim sweep textbook spare=0.07..0.5/12
                                  12 values
  drivelab sim sweep textbook,spare=0.12 collector=greedy,fifo,random
                                  a list; words have a table and no curve
  drivelab sim sweep nvme-tlc,capacity=1GiB buffer_bytes=1MiB..64MiB --json

Each value is a new drive and one quick run of the study (`drivelab study
--help`), all with one seed. Values between ends that are more than 4 times
apart lie at equal factors, others at equal distances; they are rounded (whole
ends have whole values between them), and the table has them as they were used.";

/// Options of `sim sweep`.
#[derive(Debug, Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub struct SimSweepOptions {
    /// Name of a profile, or a path to one, with key=value behind commas; without capacity= each
    /// drive is 512 MiB of it, where its model can be made smaller
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// The parameter and its values: KEY=FROM..TO, KEY=FROM..TO/POINTS, or KEY=A,B,C
    #[arg(value_name = "KEY=VALUES")]
    pub range: String,
    /// Which study
    #[arg(long, value_name = "NAME", default_value = "wsat")]
    pub study: String,
    /// Seed of everything random [default: random, printed]
    #[arg(long, value_name = "NUMBER", value_parser = seed)]
    pub seed: Option<u64>,
    /// Where to write the HTML page [default: drivelab-STUDY-ID.html; none with --json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print what each run would do, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}
