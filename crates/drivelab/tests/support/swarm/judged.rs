//! What became of a sentence.

use serde_json::Value;

/// How sure a sentence sounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// "settled", "would not freeze", "works", a cause.
    Certain,
    /// Faster, slower, equivalent, an interval: wrong in one of twenty is what it says.
    Alpha,
    /// A promise of the program itself: a status, a budget, a number that is one.
    Promise,
}

/// Whether it is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Right,
    Wrong,
    /// Truth could not be told from what was measured.
    Unknown,
    /// It could have been.
    Tellable,
}

/// One sentence and its truth.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What it is about, in a word or two.
    pub about: &'static str,
    pub level: Level,
    pub class: Class,
    /// What the program said.
    pub said: String,
    /// What is so.
    pub truth: String,
}

impl Judged {
    /// A sentence that is right or wrong.
    pub fn held(
        about: &'static str,
        level: Level,
        is_right: bool,
        said: impl Into<String>,
        truth: impl Into<String>,
    ) -> Judged {
        let class = if is_right { Class::Right } else { Class::Wrong };
        Judged { about, level, class, said: said.into(), truth: truth.into() }
    }

    /// Sentence and truth, for a story.
    pub fn told(&self) -> String {
        let Judged { about, class, said, truth, .. } = self;
        format!("  {class:?} {about}: said \"{said}\"\n      truth: {truth}\n")
    }

    /// No answer.
    pub fn open(
        about: &'static str,
        is_tellable: bool,
        said: impl Into<String>,
        truth: impl Into<String>,
    ) -> Judged {
        let class = if is_tellable { Class::Tellable } else { Class::Unknown };
        Judged { about, level: Level::Certain, class, said: said.into(), truth: truth.into() }
    }
}

/// The text of a value for a message, not longer than needed.
pub fn short(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(160).collect()
}
