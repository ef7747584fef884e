//! The states in which a simulated drive can begin.

/// The state a drive is brought into before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it was made.
    Fresh,
    /// Written once, in order.
    Filled,
    /// Written once, at random.
    RandomFilled,
    /// As after random writes without end.
    Steady,
    /// Written once in order, then half of it at random.
    Fragmented,
    /// Written at random without end, then trimmed as a whole.
    Trimmed,
}

impl State {
    pub(crate) const ALL: [(State, &'static str); 7] = [
        (State::Fresh, "fresh"),
        (State::Filled, "filled"),
        (State::RandomFilled, "random-filled"),
        (State::Steady, "random-steady"),
        (State::Steady, "steady"),
        (State::Fragmented, "fragmented"),
        (State::Trimmed, "trimmed"),
    ];

    /// The state of that word.
    pub fn named(word: &str) -> Option<State> {
        State::ALL.iter().find(|(_, known)| *known == word).map(|(state, _)| *state)
    }

    /// The word of the contract.
    pub fn word(self) -> &'static str {
        State::ALL.iter().find(|(state, _)| *state == self).map_or("unknown", |(_, word)| word)
    }
}
