//! What IOR, mdtest and Metarates have in common: tasks that start together, and figures over
//! repetitions.

pub(crate) mod number;
pub(crate) mod spread;
pub(crate) mod tasks;
pub(crate) mod volume;
