//! The options of `drivelab accept`.

use super::StudyOptions;
use clap::Args;
use drivelab_core::units::Size;
use std::path::PathBuf;

const EXAMPLES: &str = "\
A SPEC holds one section per claim, such as:
  [[claim]]
  name = \"4K random read\"
  metric = \"iops\"           or bandwidth, mean, p50, p90, p99, p99.9, p99.99, max
  at_least = 900000         or at_most; with its unit as in \"900k IOPS\", \"7 GB/s\", \"2 ms\"
  rw = \"randread\"           or read, write, randwrite
  bs = \"4k\"                 default 4k
  depth = 32                per worker, default 1
  workers = 4               default 1
  sync = \"fdatasync:1\"      or fsync:N, dsync: writes that are to be durable
  of = \"flush\"              a latency of the fsync or fdatasync, not of the write
  state = \"filled\"          the state for which it is claimed; default: any
  seconds = 60              of each of the 5 repetitions, default 10

Prints one line per claim, and below it why, where there is a reason:
  claim                               asked    measured  answer       95 % interval
  4K random read               ≥ 20.0k IOPS  66.0k IOPS  met          58k to 74k IOPS, n 5
  4K read latency     p99 latency ≤ 10.0 µs     72.7 µs  not met      51 to 94 µs, n 5
  rare 4K reads    p99.99 latency ≤ 5.00 ms     unknown  cannot tell

A claim is met if the whole 95 % interval over the repetitions lies on its good
side, not met if all of it lies on the other; otherwise, or if the number is
suspect, it cannot tell. Exit status: 0 all met, 1 some not met, 4 none not met
and some cannot tell.";

/// Options of `accept`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AcceptOptions {
    /// The claims, in TOML
    #[arg(value_name = "SPEC.toml")]
    pub spec: String,
    /// Directory, file, block device or simulated drive (sim:NAME)
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Size of the file to create, if there is none [default: 1GiB, less on a small disk]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Size>,
    /// Where to write an HTML report [default: none]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub study: StudyOptions,
}
