//! What is made of a run: numbers, whether they may be believed, and what they say beside others.

pub mod claims;
pub mod fitness;
pub mod rounds;
pub mod sound;
pub mod summary;
pub mod truth;
