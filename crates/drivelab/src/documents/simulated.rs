//! What is said of simulated drives.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The simulated drives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Profiles {
    /// In the order of the list.
    pub simulated: Vec<ProfileRow>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileRow {
    /// What comes after `sim:`.
    pub name: &'static str,
    /// What it models.
    pub title: String,
    /// Bytes of the user; null where only a state decides them.
    pub bytes: Option<u64>,
}

/// One simulated drive with its parameters.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DescribedProfile {
    /// What comes after `sim:`.
    pub name: String,
    /// What it models.
    pub title: String,
    /// A paragraph on it.
    pub about: String,
    /// Bytes of the user.
    pub bytes: Option<u64>,
    /// In what it is not what was typed.
    pub differences: Vec<String>,
    /// What follows from the parameters, by name with the unit; null where there is no number.
    pub derived: BTreeMap<&'static str, Option<f64>>,
    /// The parameters by section and key.
    pub parameters: BTreeMap<String, BTreeMap<String, ProfileParameter>>,
}

/// One parameter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileParameter {
    /// A number, a word, a truth value or a list of them.
    pub value: Value,
    /// Where it was taken from.
    pub source: String,
    /// How well it is known.
    pub status: &'static str,
}
