//! What is said of runs.

use crate::forecast::Forecast;
use drivelab_core::claims::JudgedClaim;
use drivelab_core::comparison::Comparison;
use drivelab_core::history::History;
use drivelab_core::plan::Plan;
use drivelab_core::summary::Summary;
use drivelab_report::terminal::RunRow;
use drivelab_study::compare::Passed;
use schemars::JsonSchema;
use serde::Serialize;

/// One run in numbers, with what was concluded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results<'a> {
    /// The run.
    #[serde(flatten)]
    pub summary: &'a Summary,
    /// `accept`: each claim with its answer; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<JudgedClaim>>,
}

/// What a line would do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Planned<'a> {
    /// The first plan.
    pub plan: &'a Plan,
    /// What it costs.
    pub cost: Forecast,
}

/// Two sides, compared.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Compared<'a> {
    /// Cell by cell.
    #[serde(flatten)]
    pub comparison: &'a Comparison,
    /// What the gate says; null where none was asked for.
    pub passed: Option<Passed>,
}

/// The runs kept here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunList {
    /// Oldest first.
    pub runs: Vec<KeptRun>,
}

/// A run that is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptRun {
    /// Run ID.
    pub run: String,
    /// Wall-clock time of the beginning, RFC 3339, UTC.
    pub started_at: String,
    /// `check`, `run` …
    pub command: String,
    /// The target as typed.
    pub target: String,
    /// What it was called.
    pub tag: Option<String>,
    /// Everything planned was done.
    pub complete: bool,
    /// Measuring steps that ended.
    pub steps: usize,
    /// Why the file could not be read; null where it could. The other fields are empty then.
    pub unreadable: Option<String>,
}

impl From<&RunRow> for KeptRun {
    fn from(row: &RunRow) -> Self {
        KeptRun {
            run: row.run.clone(),
            started_at: row.started_at.clone(),
            command: row.command.clone(),
            target: row.target.clone(),
            tag: row.tag.clone(),
            complete: row.complete,
            steps: row.steps,
            unreadable: row.unreadable.clone(),
        }
    }
}

/// Old runs that were removed, or would be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pruned {
    /// Nothing was removed: it was only asked what would be.
    pub dry_run: bool,
    /// Which run files.
    pub removed: Vec<Removed>,
    /// Bytes of these.
    pub removed_bytes: u64,
    /// Run files that stay.
    pub runs_left: usize,
    /// Bytes of these.
    pub bytes_left: u64,
}

/// A run file that was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Removed {
    /// Run ID.
    pub run: String,
    /// Bytes of its file.
    pub bytes: u64,
}

/// One drive over its runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneHistory {
    /// Each figure.
    pub history: History,
}

/// The drives of which runs are kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Drives {
    /// By name.
    pub drives: Vec<FollowedDrive>,
}

/// A drive of which runs are kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FollowedDrive {
    /// Its serial number, else its name and size, else the target as typed.
    pub drive: String,
    /// What its maker calls it.
    pub model: Option<String>,
    /// How many runs.
    pub runs: usize,
    /// When the first of them began, RFC 3339, UTC.
    pub first: String,
    /// When the last of them began.
    pub last: String,
}
