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

#[cfg(test)]
mod tests {
    use crate::state::State;
    use crate::target::SimTarget;

    fn begun(name: &str) -> SimTarget {
        let none = |_: &str| Err(String::new());
        let mut target = SimTarget::parse(name, none).expect("a target");
        target.begin_as_published();
        target
    }

    #[test]
    fn a_drive_begins_as_its_figures_were_taken_and_says_so() {
        let target = begun("sim:pqi");
        assert_eq!(target.state, State::Fragmented);
        let [told] = target.differences.as_slice() else { panic!("{:?}", target.differences) };
        assert_eq!(told.code, "published_state");
        assert!(told.text.contains("begins in state=fragmented"), "{}", told.text);
    }

    #[test]
    fn what_was_typed_stands_and_nothing_is_said() {
        for name in ["sim:pqi,state=fresh", "sim:pqi,state=fragmented", "sim:textbook"] {
            let target = begun(name);
            assert_eq!(target.state.word() == "fragmented", name.ends_with("fragmented"), "{name}");
            assert!(target.differences.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_profile_with_a_state_that_is_none_is_refused() {
        let pqi = include_str!("../../../../profiles/pqi.toml");
        let wrong = pqi.replacen("value = \"fragmented\"", "value = \"battered\"", 1);
        let error = SimTarget::parse("sim:./wrong.toml", |_| Ok(wrong.clone())).unwrap_err();
        assert!(error.contains("`published_state` is not a state"), "{error}");
    }
}
