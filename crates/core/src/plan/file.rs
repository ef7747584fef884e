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
}
