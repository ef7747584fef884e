//! What is shaded on the axis of time: ramps, gaps, suspect repetitions, interruptions.

use drivelab_core::run::StepRun;
use drivelab_core::summary::{StepSummary, stream_gaps, window};

use crate::units;
use crate::view::chart::{Hue, Span};

/// More shaded gaps than this are not drawn; the table of cells counts them all.
const SPANS_MAX: usize = 40;

/// One repetition on the axis.
pub(super) struct Piece<'run> {
    pub(super) step: &'run StepRun,
    /// What the truth guard says of it.
    pub(super) truth: Option<&'run StepSummary>,
    /// Its first recorded time.
    pub(super) origin: u64,
    /// Where on the axis it begins and ends, in seconds.
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Piece<'_> {
    /// Where a time of the stamps lies on the axis.
    pub(super) fn place(&self, time: f64) -> f64 {
        self.from + (time - self.origin as f64) / 1e9
    }
}

/// Everything that is shaded, what lies below first. A word stands once for all of its kind.
pub(super) fn spans(pieces: &[Piece<'_>], stream: u32) -> Vec<Span> {
    let mut spans = suspects(pieces);
    spans.extend(ramps(pieces, stream));
    spans.extend(gaps(pieces, stream));
    spans.extend(interruptions(pieces));
    let mut said: Vec<String> = Vec::new();
    for span in &mut spans {
        match said.contains(&span.word) {
            true => span.word.clear(),
            false => said.push(span.word.clone()),
        }
    }
    spans
}

fn suspects(pieces: &[Piece<'_>]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for piece in pieces {
        let Some(truth) = piece.truth.filter(|truth| truth.valid == Some(false)) else { continue };
        let told = || truth.reasons.iter().filter(|reason| reason.code != "incomplete");
        let Some(first) = told().next() else { continue };
        let texts: Vec<&str> = told().map(|reason| reason.text.as_str()).collect();
        let throttled = told().find(|reason| reason.code.ends_with("_quota"));
        let word = match throttled {
            Some(_) => "suspect: throttled".to_owned(),
            None => format!("suspect: {}", first.code.replace('_', " ")),
        };
        let tip = format!("suspect: {}", texts.join("; "));
        match spans.last_mut() {
            // Neighbours with the same story are one stretch.
            Some(last) if last.to == piece.from && last.word == word && last.tip == tip => {
                last.to = piece.to;
            }
            _ => spans.push(Span { from: piece.from, to: piece.to, word, tip, hue: Hue::Warning }),
        }
    }
    spans
}

fn ramps(pieces: &[Piece<'_>], stream: u32) -> Vec<Span> {
    let has_ramp = |piece: &&Piece<'_>| {
        piece.step.tallies.iter().any(|tally| tally.stream == stream && tally.ramp)
    };
    let mut spans = Vec::new();
    for piece in pieces.iter().filter(has_ramp) {
        if let Some(window) = window(piece.step, stream) {
            spans.push(Span {
                from: piece.from,
                to: piece.place(window.from as f64).clamp(piece.from, piece.to),
                word: "ramp".to_owned(),
                tip: "ramp: recorded, not part of any result".to_owned(),
                hue: Hue::Other,
            });
        }
    }
    spans
}

/// The longest gaps, the longest first.
fn gaps(pieces: &[Piece<'_>], stream: u32) -> Vec<Span> {
    let mut spans = Vec::new();
    for piece in pieces {
        for gap in stream_gaps(piece.step, stream).list {
            let length = gap.to.saturating_sub(gap.from) as f64;
            spans.push(Span {
                from: piece.place(gap.from as f64),
                to: piece.place(gap.to as f64),
                word: "gap".to_owned(),
                tip: format!("gap: no completion for {}", units::time(length)),
                hue: Hue::Warning,
            });
        }
    }
    spans.sort_by(|a: &Span, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
    spans.truncate(SPANS_MAX);
    spans
}

/// Where a repetition was cut off.
fn interruptions(pieces: &[Piece<'_>]) -> Vec<Span> {
    let mut spans = Vec::new();
    for piece in pieces {
        let reason = match &piece.step.end {
            None => Some("the run ended inside this step"),
            Some(end) => end.incomplete.as_deref(),
        };
        if let Some(reason) = reason {
            spans.push(Span {
                from: piece.to - (piece.to - piece.from) / 100.0,
                to: piece.to,
                word: "interrupted".to_owned(),
                tip: format!("interrupted: {reason}"),
                hue: Hue::Warning,
            });
        }
    }
    spans
}
