//! A data file that a plan names.

use crate::units::Size;
use serde::{Deserialize, Serialize};

/// A file in the target directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Its path, from the target directory on.
    pub name: String,
    /// Its bytes.
    pub size: Size,
}
