//! The options of `drivelab watch`.

use clap::Args;
use drivelab_core::units::Span;

const EXAMPLES: &str = "\
Examples:
  drivelab watch                    the devices below this directory, once a
                                    second
  drivelab watch /dev/sda --every 5s
                                    … this device, every five seconds
  drivelab watch --count 10 --json  ten lines for a program

Shows the kernel's I/O counters as iostat -x does, while anything else runs; it
writes nothing and needs no privilege, except for --trace. On a terminal it
fills the screen, with the last minute of each device and the cells of a run
that goes on (q ends it, p pauses, s sorts); with --plain, --count or --json,
or into a file or pipe, it prints lines. Ends with --count, or with Ctrl-C.
`busy` is the time in which at least one request was in flight: a device that
serves many at once is 100 % busy long before it is full. A service time cannot
be derived from these counters.";

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchOptions {
    /// Directories, files or block devices
    #[arg(value_name = "TARGET", default_value = ".")]
    pub targets: Vec<String>,
    /// Interval between lines, at least 100ms
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub every: Span,
    /// Stop after this many intervals [default: run until Ctrl-C]
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<u64>,
    /// Show p99 instead of the mean, from the kernel's tracer: needs root, and takes CPU time for
    /// each request of the devices
    #[arg(long)]
    pub trace: bool,
    /// Print lines also on a terminal
    #[arg(long)]
    pub plain: bool,
    /// Print one JSON object a line instead of a table
    #[arg(long)]
    pub json: bool,
}
