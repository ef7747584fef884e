//! In which state a simulated drive begins.

use super::SimTarget;
use super::scaling::Difference;
use crate::profile::Profile;
use crate::state::State;

impl Profile {
    /// The state in which its published figures are taken to be measured.
    pub fn published_state(&self) -> Option<State> {
        let state = self.published_state.as_ref()?;
        state.value.as_str().and_then(State::named)
    }
}

impl SimTarget {
    pub(super) fn set_state(&mut self, word: &str) -> Result<(), String> {
        if matches!(word, "aged" | "tortured") {
            return Err(format!(
                "state={word}: only a plan ages a drive; put the steps that do before the measured \
                 ones in one plan, since nothing survives the command"
            ));
        }
        let Some(state) = State::named(word) else {
            let words: Vec<&str> = State::ALL.iter().map(|(_, word)| *word).collect();
            return Err(format!("state={word} is not known; known are {}", words.join(", ")));
        };
        (self.state, self.is_state_given) = (state, true);
        Ok(())
    }

    /// Begins in the state of the published figures, unless another one was typed, and notes it.
    pub fn begin_as_published(&mut self) {
        let Some(state) = self.profile.published_state() else { return };
        if self.is_state_given || state == self.state {
            return;
        }
        let source = self.profile.published_state.as_ref().map_or("", |state| &state.source);
        self.state = state;
        self.differences.push(Difference {
            code: "published_state",
            text: format!(
                "the drive begins in state={}, the state taken for its published figures \
                 ({source}); add state=fresh to its name to measure a new one.",
                state.word()
            ),
            advice: String::new(),
        });
    }
}
