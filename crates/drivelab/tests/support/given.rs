//! What was typed behind the options of a validation, and seeds where none was.
#![allow(clippy::unwrap_used, reason = "a validation may panic")]

/// The word behind an option.
pub fn word(option: &str) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    let at = words.iter().position(|word| word == option)?;
    words.get(at + 1).cloned()
}

/// The number behind an option.
pub fn number(option: &str) -> Option<u64> {
    word(option).map(|word| word.parse().unwrap())
}

/// A first seed by the clock, with room for this many in each second.
pub fn fresh(seeds: u64) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_secs() % 1_000_000 * seeds
}
