//! `drivelab sim`: which simulated drives there are, and what they are made of.

use clap::{Args, Subcommand};
use drivelab_core::units::Size;

const EXAMPLES: &str = "\
Examples:
  drivelab sim list               the simulated drives
  drivelab sim show x25-e         what one is made of, with the source of every parameter
  drivelab sim show textbook,spare=0.07
                                  the same after a change

Every command takes a simulated drive as its target, in virtual time and exactly reproducible:
  drivelab check sim:x25-e
  drivelab run sim:textbook,spare=0.28,collector=fifo,capacity=1GiB,state=steady \\
      --rw randwrite --bs 4k --depth 32 --passes 2 --json

Keys behind the name: every parameter that `sim show` lists, and
  spare      flash beyond the user's, (T - U) / U, after reserve and open blocks
  capacity   bytes of the user; the flash grows and shrinks with them
  collector  greedy, d-choices, fifo, windowed, cost-benefit, random; d says of how many
  state      fresh, filled, random-filled, steady, fragmented, trimmed
  page_cache bytes of the page cache of the host before it: buffered I/O needs one
  cache_state  of an array: cold, or warm: its memory answers reads of the volume's beginning
  file_system_ns  time that a worker spends on each operation through a file system (study fs)
  journal    writes of its journal for each write through it, from 0 to 1
  setting_delay  time that one value of a kernel setting costs, as in scheduler:bfq:30us
  stall      the drive stands still for a while again and again, as in 5s:300ms
  thermal    it throttles while it is too warm, as in 1GB:60s:300MB
  fragmentation  share of its rate that a reader loses once the drive was written over
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
    /// Show what a simulated drive is made of
    Show(SimShowOptions),
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
    /// Name of a profile, or a path to one, with key=value behind commas
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// Say how long the cells last when so much is written to it every day
    #[arg(long, value_name = "SIZE")]
    pub per_day: Option<Size>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}
