//! What is made of a run: numbers, whether they may be believed, and what they say next to others.

pub mod fitness;
pub mod health_change;
pub mod rounds;
pub mod sound;
pub mod summary;
pub mod truth;
pub mod well;
