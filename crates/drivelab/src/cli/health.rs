//! The options of `drivelab health`.

use super::StoreOptions;
use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  drivelab health                   every drive of this machine
  drivelab health /dev/sdb          this one
  drivelab health ~/data            the drives that this directory lies on
  drivelab health /dev/sdb --self-test short
                                    has it test itself, for a few minutes
  drivelab health --openmetrics > /var/lib/node_exporter/drives.prom
                                    for a node exporter, from a timer

Reads what each drive keeps of itself (NVMe SMART log; ATA SMART data and device
statistics; SCSI log pages) and changes nothing; --self-test has a drive begin a
test. Needs root. Where runs of the
last 30 days are kept here, it also says how long the rated endurance lasts at
the rate that they saw.
Exit status: 0 no drive warns, 1 a drive warns of itself, 2 a device is missing,
4 the health of a drive that was named, or of all, could not be read, or a test
did not come to an end that the drive tells. A test that found something wrong
is 1.";

/// Options of `health`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct HealthOptions {
    /// Block devices, or files and directories on them [default: all drives]
    #[arg(value_name = "DEVICE")]
    pub devices: Vec<String>,
    /// Have the drive test itself, wait for the end of it, and say how it ended; what it
    /// holds is not changed, and it goes on serving
    #[arg(long, value_name = "KIND", requires = "devices")]
    pub self_test: Option<SelfTestKind>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print OpenMetrics text instead, which a node exporter reads
    #[arg(long, conflicts_with = "json")]
    pub openmetrics: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}

/// How thoroughly a drive tests itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SelfTestKind {
    /// A few minutes: its electronics, and a part of its media
    Short,
    /// Hours on a large drive: all of its media
    Long,
}
