//! Why a line has no result.

use schemars::JsonSchema;
use serde::Serialize;

/// What stands on stdout instead of a result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// Why.
    pub error: Reason,
}

/// Why a line did nothing, or gave up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RefusalReason")]
pub struct Reason {
    /// One word, which goes with the exit status: `usage` 2, `refused` 3, `no_valid_answer` 4,
    /// `interrupted` 129, 130 or 143.
    pub code: &'static str,
    /// What happened, in one line.
    pub text: String,
    /// What to do next; null where the text says it.
    pub hint: Option<String>,
}
