//! How many workers `fs` has, and how deep they go: its own, or those of a review.

use crate::experiment::Setting;
use drivelab_core::study::Protocol;

/// The workers of all loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jobs {
    /// Outstanding requests of the loads in order, by one worker.
    pub in_order: u32,
    /// Workers of the random loads, and files where each has its own.
    pub workers: u32,
    /// The same in a word, at the beginning of a sentence.
    pub in_words: &'static str,
    /// What each of them keeps outstanding.
    pub depth: u32,
}

const OWN: Jobs = Jobs { in_order: 32, workers: 4, in_words: "Four", depth: 8 };
const PBLAZE5: Jobs = Jobs { in_order: 256, workers: 8, in_words: "Eight", depth: 64 };

/// What is done otherwise than in the review.
pub const DEVIATION: &str = "The review first wrote for three hours sequentially and for three \
                             hours at random. Here the file is written sequentially, and once over \
                             at random: the steady state is not waited for; `steady --protocol \
                             pblaze5` does.";

pub fn of(setting: &Setting<'_>) -> Jobs {
    match setting.options.protocol {
        Some(Protocol::Pblaze5) => PBLAZE5,
        None => OWN,
    }
}
