//! The JSON objects that commands print. Their schemas are derived from these very types
//! (`command/schema`), so that the two cannot differ; docs/JSON.md says what a reader may rely on.

mod feed;
mod machine;
mod refusal;
mod runs;
mod simulated;

pub use feed::{FeedInterval, FeedKind};
pub use machine::{Cleaned, DoctorAnswer, Healths, Left, Listed, Restored};
pub use refusal::{Reason, Refusal};
pub use runs::{
    Compared, Drives, FollowedDrive, KeptRun, OneHistory, Planned, Pruned, Removed, Results,
    RunList,
};
pub use simulated::{DescribedProfile, ProfileParameter, ProfileRow, Profiles};

use drivelab_core::summary::SCHEMA;
use schemars::JsonSchema;
use serde::Serialize;

/// An object with the number of its schema, as every one has it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<T> {
    /// Version of this schema: it grows when a reader must know.
    schema: u32,
    #[serde(flatten)]
    body: T,
}

impl<T> Document<T> {
    /// This one, with its number.
    pub fn of(body: T) -> Self {
        Document { schema: SCHEMA, body }
    }
}
