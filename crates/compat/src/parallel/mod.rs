//! What IOR, mdtest and Metarates have in common: tasks that start
//! together, dates, and figures over repetitions.

pub(crate) mod moment;
pub(crate) mod number;
pub(crate) mod spread;
pub(crate) mod tasks;
pub(crate) mod volume;
