//! The options of `drivelab doctor`.

use super::StoreOptions;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  drivelab doctor                   can numbers measured in this directory be
                                    trusted?
  drivelab doctor /dev/sdb          … and on this device?
  drivelab doctor --clean           remove what killed runs left, and put
                                    settings back

Takes about 7 seconds, writes nothing and changes no setting. One line per
check: fine, note, warning, bad, or unknown and why. Ends with a sentence such
as:
  Verdict  not fit to measure: foreign load; beware of writeback throttle,
           virtual disk, pressure; 6 checks gave no answer.
Exit status: 0 nothing bad, 1 something bad, 2 the target is missing.";

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorOptions {
    /// Directory, file or block device that would be measured
    #[arg(value_name = "TARGET", default_value = ".", conflicts_with = "clean")]
    pub target: String,
    /// Remove scratch files left by killed runs, and check nothing
    #[arg(long)]
    pub clean: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub store: StoreOptions,
}
