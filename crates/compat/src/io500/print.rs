//! What the suite prints, and the files of its results.

use super::phase::{Group, Phase};
use super::score::Score;
use super::{Io500, VERSION};
use crate::suite::{Outcome, Suite};
use jiff::Timestamp;

impl Io500 {
    /// The line of a phase, as `result_summary.txt` has it.
    pub fn row_of(outcome: &Outcome) -> String {
        let (phase, figure) = (Phase::at(outcome.done.phase), outcome.figure());
        let mark = if phase.group() == Group::None { "[      ]" } else { "[RESULT]" };
        let invalid = if outcome.against.is_empty() { "" } else { " [INVALID]" };
        format!(
            "{mark} {:>20} {:>15} {} : time {:.3} seconds{invalid}",
            phase.name(),
            format!("{:.6}", figure.score),
            phase.unit(),
            figure.seconds,
        )
    }

    /// The last line.
    pub fn score_row(&self, outcomes: &[Outcome]) -> String {
        let score = Score::of(outcomes);
        format!(
            "[SCORE ] Bandwidth {:.6} GiB/s : IOPS {:.6} kiops : TOTAL {:.6}{}\n",
            score.bandwidth,
            score.metadata,
            score.total,
            self.invalid_mark(outcomes)
        )
    }

    fn invalid_mark(&self, outcomes: &[Outcome]) -> &'static str {
        if self.invalid(outcomes).is_empty() { "" } else { " [INVALID]" }
    }

    /// `result_summary.txt`; the score stands there once all phases are over.
    pub fn summary(&self, outcomes: &[Outcome]) -> String {
        let rows: String = outcomes.iter().map(|it| Io500::row_of(it) + "\n").collect();
        let score = if is_whole(outcomes) { self.score_row(outcomes) } else { String::new() };
        self.heading() + &rows + &score
    }

    /// `result.txt`: a section for each phase. What drivelab adds is keys that its readers pass
    /// over.
    pub fn result(&self, outcomes: &[Outcome]) -> String {
        let mut text = String::from("[run]\n");
        text += &pair("procs", &self.ranks.to_string());
        text += &pair("version", VERSION);
        text += &pair("result-dir", &self.results);
        text += &pair("mode", "standard");
        text +=
            "; measured by drivelab, not by the program of the committee, and without its hashes\n";
        for reason in self.asked_otherwise() {
            text += &format!("; ERROR INVALID {reason}\n");
        }
        for outcome in outcomes {
            text += &section(outcome);
        }
        if is_whole(outcomes) {
            let score = Score::of(outcomes);
            text += "\n[SCORE]\n";
            text += &pair("MD", &format!("{:.6}", score.metadata));
            text += &pair("BW", &format!("{:.6}", score.bandwidth));
            let mark = self.invalid_mark(outcomes);
            text += &pair("SCORE", &format!("{:.6}{mark}", score.total));
        }
        text
    }
}

fn is_whole(outcomes: &[Outcome]) -> bool {
    outcomes.len() == Phase::ALL.len()
}

fn section(outcome: &Outcome) -> String {
    let (phase, done, figure) = (Phase::at(outcome.done.phase), &outcome.done, outcome.figure());
    let mut text = format!("\n[{}]\n", phase.name());
    text += &pair("t_start", &moment(done.between_ms.0));
    if !done.line.is_empty() {
        text += &pair("exe", &done.line);
    }
    if let Some(found) = figure.found {
        text += &pair("found", &found.matched.to_string());
        text += &pair("total-files", &found.total.to_string());
    }
    for reason in &outcome.against {
        text += &format!("; ERROR INVALID {reason}\n");
    }
    if phase.group() != Group::None {
        text += &pair("score", &format!("{:.6}", figure.score));
    }
    text += &pair("t_delta", &format!("{:.4}", figure.seconds));
    text += &pair("t_end", &moment(done.between_ms.1));
    if let Some(word) = outcome.word() {
        text += &pair("guard", &word.in_full());
    }
    if let Some(run) = &done.run {
        text += &pair("drivelab-run", run);
    }
    text
}

fn pair(key: &str, value: &str) -> String {
    format!("{key:<15} = {value}\n")
}

/// `2026-11-22 05:37:46`, in UTC.
fn moment(ms: u64) -> String {
    at(ms).strftime("%F %T").to_string()
}

/// `2026.11.22-05.37.46`, in UTC: the name of a directory.
pub fn stamp(ms: u64) -> String {
    at(ms).strftime("%Y.%m.%d-%H.%M.%S").to_string()
}

fn at(ms: u64) -> Timestamp {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}
