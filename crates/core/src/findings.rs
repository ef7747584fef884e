//! What was concluded, in words, each with the figure it rests on.

use serde::{Deserialize, Serialize};

/// Conclusions of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Findings {
    /// What is true of the drive.
    pub verdict: Vec<String>,
    /// Which numbers may not be what they are called, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// No headline number can be believed: there is no answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_answer: bool,
    /// What can hurt.
    pub beware: Vec<String>,
    /// What this experiment cannot say, and what would.
    pub unknown: Vec<String>,
    /// Remarks on single cells, shown beside their numbers.
    pub remarks: Vec<Remark>,
    /// Cells in the order they are to be read; they ran in another, shuffled one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

/// A remark on one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// Name of the cell.
    pub cell: String,
    /// The remark, a few words.
    pub text: String,
}
