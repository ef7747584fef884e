//! How a command ends: the exit status and the one sentence that explains it.

use drivelab_core::queue::{Trouble, TroubleKind};
use std::fmt;

/// Exit status: scripts rely on these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Nothing bad.
    Fine = 0,
    /// A bad finding.
    Finding = 1,
    /// Usage, or target missing, not permitted, too small.
    Usage = 2,
    /// Refused for safety.
    Refused = 3,
    /// No valid answer.
    Invalid = 4,
    /// A closed terminal (SIGHUP).
    HungUp = 129,
    /// Ctrl-C (SIGINT).
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

impl Status {
    /// Every one of them.
    pub const ALL: [Status; 8] = [
        Status::Fine,
        Status::Finding,
        Status::Usage,
        Status::Refused,
        Status::Invalid,
        Status::HungUp,
        Status::Interrupted,
        Status::Terminated,
    ];

    /// Of a run that was asked to stop by a signal.
    pub fn interruption() -> Self {
        let number = drivelab_io::signal::exit_status();
        let found = Status::ALL.into_iter().find(|status| *status as u8 == number);
        found.unwrap_or(Status::Interrupted)
    }

    /// One word for programs.
    pub fn code(self) -> &'static str {
        match self {
            Status::Fine => "fine",
            Status::Finding => "bad_finding",
            Status::Usage => "usage",
            Status::Refused => "refused",
            Status::Invalid => "no_valid_answer",
            Status::HungUp | Status::Interrupted | Status::Terminated => "interrupted",
        }
    }

    /// Whether somebody asked it to stop.
    pub fn is_interruption(self) -> bool {
        matches!(self, Status::HungUp | Status::Interrupted | Status::Terminated)
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: Status,
    /// What happened, to what.
    pub text: String,
    /// What to do next, if the text does not say.
    pub advice: Option<String>,
}

impl Failure {
    /// A request that makes no sense, or a target that is not there.
    pub fn usage(text: impl Into<String>) -> Self {
        Failure { status: Status::Usage, text: text.into(), advice: None }
    }

    /// Something that would destroy what is not ours.
    pub fn refused(text: impl Into<String>) -> Self {
        Failure { status: Status::Refused, text: text.into(), advice: None }
    }

    /// No answer that could be trusted.
    pub fn invalid(text: impl Into<String>) -> Self {
        Failure { status: Status::Invalid, text: text.into(), advice: None }
    }

    /// What happened and what to do next, apart: a text of several paragraphs or lines says in the
    /// first one what happened.
    pub fn parts(&self) -> (String, Option<String>) {
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = in_words(&self.text);
        let text = text.trim();
        let (first, rest) =
            text.split_once("\n\n").or_else(|| text.split_once('\n')).unwrap_or((text, ""));
        let more = [rest, self.advice.as_deref().unwrap_or_default()];
        let lines = more.iter().flat_map(|text| text.lines()).map(str::trim);
        let hint = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        (joined(first), Some(hint).filter(|hint| !hint.is_empty()))
    }

    /// The same with a line of advice.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble.kind {
            TroubleKind::Usage => Failure::usage(trouble.text),
            TroubleKind::Failed | TroubleKind::Stuck | TroubleKind::Elsewhere => {
                Failure::invalid(trouble.text)
            }
            TroubleKind::Interrupted => {
                Failure { status: Status::interruption(), ..Failure::invalid(trouble.text) }
            }
            TroubleKind::Defect => Failure::invalid(trouble.text).advise(
                "No number of this step can be trusted. Please report it with the run file.",
            ),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "drivelab: {}", in_words(&self.text))?;
        match &self.advice {
            Some(advice) => write!(f, "\n  {advice}"),
            None => Ok(()),
        }
    }
}

/// What the kernel answered in words alone: its number says nothing more.
fn in_words(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |words, part| words + part.split_once(')').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::{Failure, Status, Trouble};

    #[test]
    fn a_defect_is_no_valid_answer_and_says_whose_it_is() {
        let failure = Failure::from(Trouble::defect("an operation came back twice"));
        assert_eq!(failure.status, Status::Invalid);
        assert_eq!(failure.text, "an operation came back twice (a defect of drivelab)");
        assert!(failure.advice.is_some_and(|advice| advice.contains("report it")));
    }

    #[test]
    fn what_happened_and_what_to_do_are_told_apart() {
        let one = Failure::usage("there is no `x`.").advise("Name\n  another one.");
        assert_eq!(one.parts(), ("there is no `x`.".into(), Some("Name\nanother one.".into())));
        let lines = Failure::refused("refused: it holds data.\n  To destroy it:  --erase T");
        let hint = Some("To destroy it:  --erase T".to_string());
        assert_eq!(lines.parts(), ("refused: it holds data.".into(), hint));
        let clap = Failure::usage("these are missing:\n  <PLAN>\n\nUsage: drivelab run");
        let usage = Some("Usage: drivelab run".to_string());
        assert_eq!(clap.parts(), ("these are missing: <PLAN>".into(), usage));
        assert_eq!(Failure::invalid("stuck").parts(), ("stuck".into(), None));
        let gone = Failure::usage("cannot read x: No such file (os error 2), nor y (os error 13).");
        assert_eq!(gone.parts().0, "cannot read x: No such file, nor y.");
        assert_eq!(gone.to_string(), "drivelab: cannot read x: No such file, nor y.");
    }
}
