//! A data file that a plan names.

use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file in the target directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Its path, from the target directory on.
    pub name: String,
    /// Size of the file.
    pub size: Size,
    /// It begins empty, and grows as it is written, instead of having its size from the start. One
    /// that drivelab made earlier is emptied, and stays or goes as one that the run makes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
}
