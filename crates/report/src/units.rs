//! Numbers with their units, as all of drivelab writes them.

pub use drivelab_core::quantity::*;
