//! The options of `drivelab watch`.

use clap::Args;
use drivelab_core::units::Span;

const EXAMPLES: &str = "\
Examples:
  drivelab watch                    the devices below this directory, once a second
  drivelab watch /dev/sda --every 5s
                                    … this device, every five seconds
  drivelab watch --count 10 --json  ten lines for a program

What the kernel counts, as iostat -x shows it, beside whatever runs meanwhile; nothing is written
and no privilege needed. Ends with --count, or with Ctrl-C.
`busy` is the time in which at least one request was in flight: a device that serves many at once
is 100 % busy long before it is full. A service time cannot be told from these counters at all.";

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchOptions {
    /// Directory, file or block device
    #[arg(value_name = "TARGET", default_value = ".")]
    pub target: String,
    /// From one line to the next, at least 100ms
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub every: Span,
    /// End after so many intervals [default: go on until Ctrl-C]
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<u64>,
    /// Print one JSON object a line instead of a table
    #[arg(long)]
    pub json: bool,
}
