//! Seeds of counted frequencies: fixed, or from one that was drawn again.

use drivelab_stats::derive;

/// The seed that was drawn, if one was.
pub fn fresh() -> Option<u64> {
    let text = std::env::var("DRIVELAB_SEED").ok()?;
    Some(text.parse().expect("DRIVELAB_SEED is a number"))
}

/// The seed of a count: its own, or one that follows from it and the drawn one.
pub fn seeded(own: u64) -> u64 {
    fresh().map_or(own, |drawn| derive(drawn, 0x7365_6564, own))
}

/// Standard errors by which a count may miss what it promises. Fixed seeds are held to two; of
/// fresh ones, of which a hundred counts are made each time, two would be exceeded by chance.
pub fn errors() -> f64 {
    if fresh().is_some() { 3.5 } else { 2.0 }
}
