//! Why a step could not go on, in words and with the kind that decides the exit status.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Stands behind the sentence of every defect.
pub(crate) const MARK: &str = " (a defect of drivelab)";

/// The sentence of a defect.
pub(crate) fn sentence(what: impl fmt::Display) -> String {
    format!("{what}{MARK}")
}

/// A step that could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind, for the exit status.
    pub kind: TroubleKind,
    /// What happened, to what, and what to do next.
    pub text: String,
}

/// Kinds of [`Trouble`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TroubleKind {
    /// The request itself makes no sense here.
    Usage,
    /// The drive or kernel failed.
    Failed,
    /// An operation did not come back in time.
    Stuck,
    /// Another rank failed, which says why.
    Elsewhere,
    /// It was asked to stop, and what was begun goes on without us.
    Interrupted,
    /// drivelab is wrong: something that cannot be has happened.
    Defect,
}

impl Trouble {
    /// A failure of drive or kernel.
    pub fn failed(text: impl Into<String>) -> Self {
        Trouble { kind: TroubleKind::Failed, text: text.into() }
    }

    /// A request that makes no sense.
    pub fn usage(text: impl Into<String>) -> Self {
        Trouble { kind: TroubleKind::Usage, text: text.into() }
    }

    /// A stop that was asked for while something goes on without us.
    pub fn interrupted(text: impl Into<String>) -> Self {
        Trouble { kind: TroubleKind::Interrupted, text: text.into() }
    }

    /// What ends this rank because another one failed.
    pub fn elsewhere(text: impl Into<String>) -> Self {
        Trouble { kind: TroubleKind::Elsewhere, text: text.into() }
    }

    /// Something that cannot be has happened: no number of this step can be trusted.
    #[cold]
    pub fn defect(what: impl fmt::Display) -> Self {
        Trouble { kind: TroubleKind::Defect, text: sentence(what) }
    }

    /// An operation that did not come back.
    pub fn stuck(text: impl Into<String>) -> Self {
        Trouble { kind: TroubleKind::Stuck, text: text.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Trouble {}
