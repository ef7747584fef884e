//! The options of `drivelab accept`.

use super::StudyOptions;
use clap::Args;
use drivelab_core::units::Size;
use std::path::PathBuf;

const EXAMPLES: &str = "\
A SPEC holds one section a claim, such as:
  [[claim]]
  name = \"4K random read\"
  metric = \"iops\"           or bandwidth_bytes_per_s, mean_ns, p50_ns, p90_ns, p99_ns,
                            p99_9_ns, p99_99_ns, max_ns
  at_least = 900000         or at_most
  rw = \"randread\"           or read, write, randwrite
  bs = \"4k\"                 default 4k
  depth = 32                per worker, default 1
  workers = 4               default 1
  state = \"filled\"          the state for which it is claimed; default: any
  seconds = 60              of each of the 5 repetitions, default 10

Prints one line a claim, and why below where one is due:
  claim                               asked  measured  95 % interval      answer
  4K random read            IOPS ≥ 20.0 k/s  66.0 k/s  58 to 74 k/s, n 5  met
  4K read latency     p99 latency ≤ 10.0 µs   72.7 µs  51 to 94 µs, n 5   not met
  rare 4K reads    p99.99 latency ≤ 5.00 ms   unknown                     cannot tell

A claim is met if the whole 95 % interval over the repetitions lies on its good side, not met if
all of it lies on the other, and cannot be told otherwise, or where the number is suspect.
Exit status: 0 all met, 1 some not met, 4 some cannot be told and none is not met.";

/// Options of `accept`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AcceptOptions {
    /// The claims, in TOML
    #[arg(value_name = "SPEC.toml")]
    pub spec: String,
    /// Directory, file or block device
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
