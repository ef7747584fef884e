//! One run as one HTML page: no network, no address in it, and complete without its one script.
//!
//! From the top: target and state, the verdict in words beside a few big numbers, the pictures and
//! tables of a study, those of all cells, facts, plan, words, and the line that does it again.

mod again;
mod comparison;
mod figures;
mod gathering;
mod numbers;
mod sections;
mod study;
mod style;
mod truth;

use drivelab_core::facts::TargetKind;
use drivelab_core::findings::Findings;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use std::fmt::Write;

pub use comparison::comparison;
pub use gathering::gathering;

use crate::text::escape;
use crate::view::headline;

/// Crosshair with values, curves on and off, a wider axis of time: nothing that the page lacks
/// without it.
const SCRIPT: &str = include_str!("html/page.js");

/// The page. `summary` must be the summary of `run`.
pub fn page(run: &Run, summary: &Summary) -> String {
    let findings = summary.findings.clone().unwrap_or_default();
    let title = format!("drivelab: {} · {}", heading(run, summary), summary.target);
    let mut out = String::with_capacity(64 << 10);
    head(&mut out, &title, findings.comparison.is_some());
    header(&mut out, run, summary);
    first_screen(&mut out, summary, &findings);
    study::key_picture(&mut out, &findings);
    warnings(&mut out, summary);
    study::results(&mut out, &findings);
    figures::figures(&mut out, run, summary);
    sections::cells(&mut out, summary, &findings);
    truth::truth(&mut out, summary, &findings);
    sections::steps(&mut out, summary);
    sections::facts(&mut out, run);
    sections::plan(&mut out, run);
    sections::words(&mut out, run, summary);
    again::again(&mut out, run);
    let _ = write!(out, "</main><script>{SCRIPT}</script></body></html>");
    out.push('\n');
    out
}

/// All of a page up to its content; `compares`: it has a forest plot.
fn head(out: &mut String, title: &str, compares: bool) {
    out.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">");
    let _ = write!(out, "<title>{}</title>", escape(title));
    let more = if compares { comparison::CSS } else { "" };
    let _ = writeln!(out, "<style>{}{more}</style></head><body><main>", style::CSS);
}

/// A sentence in which what stands in backquotes is code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        let part = escape(part);
        match index.is_multiple_of(2) {
            true => out.push_str(&part),
            false => {
                let _ = write!(out, "<code>{part}</code>");
            }
        }
    }
    out
}

fn heading(run: &Run, summary: &Summary) -> String {
    let planned = run.plans.iter().map(|plan| plan.title.trim()).find(|title| !title.is_empty());
    match planned {
        Some(title) => title.to_owned(),
        None => format!("drivelab {}", summary.command).trim().to_owned(),
    }
}

/// Where the numbers come from, said loudly.
fn origin(run: &Run) -> (&'static str, &'static str) {
    let is_virtual = run.begin.clock.source == "virtual" || run.begin.target.starts_with("sim:");
    match (is_virtual, run.begin.facts.target.kind) {
        (true, _) => ("simulated", "Virtual time: no drive was touched."),
        (false, TargetKind::Nothing) => ("no drive", "The generator alone: no drive was touched."),
        (false, _) => ("measured", ""),
    }
}

fn header(out: &mut String, run: &Run, summary: &Summary) {
    let (word, explanation) = origin(run);
    let state = summary.steps.first().map_or("unknown", |step| step.state.as_str());
    let mut badges = format!("<b class=\"badge {}\">{word}</b>", word.replace(' ', "-"));
    if !summary.complete {
        badges.push_str(" <b class=\"badge bad\">incomplete</b>");
    }
    if summary.cells.iter().any(|cell| cell.valid == Some(false)) {
        badges.push_str(" <b class=\"badge bad\">suspect</b>");
    }
    let target = headline::target(&summary.target, &run.begin.facts);
    let _ = writeln!(
        out,
        "<header><p class=\"badges\">{badges}</p><h1>{}</h1>\
         <p class=\"lead\">{} · state: <b>{}</b></p>\
         <p class=\"faint\">run {} · {} · drivelab {} · seed {}</p>",
        escape(&heading(run, summary)),
        escape(&target),
        escape(state),
        escape(&summary.run),
        escape(&summary.started_at),
        escape(&summary.version),
        summary.seed,
    );
    if !explanation.is_empty() {
        let _ = writeln!(out, "<p class=\"alarm\">{explanation}</p>");
    }
    if !summary.complete {
        let reason = summary.incomplete.as_deref();
        let reason =
            reason.unwrap_or("it has no end record, so it was killed or is still going on");
        let _ = writeln!(
            out,
            "<p class=\"alarm\"><b>This run is incomplete:</b> {}. What was recorded until then \
             is shown; it answers less than was asked.</p>",
            escape(reason.trim_end_matches('.'))
        );
    }
    out.push_str("</header>\n");
}

/// Verdict, Suspect and Beware beside the numbers; what is unknown may be long and comes below.
fn first_screen(out: &mut String, summary: &Summary, findings: &Findings) {
    let lists: [(&str, &str, &[String]); 3] = [
        ("Verdict", "good", &findings.verdict),
        ("Suspect", "beware", &findings.suspect),
        ("Beware", "beware", &findings.beware),
    ];
    let is_judged = lists.iter().any(|(_, _, list)| !list.is_empty());
    let class = if is_judged { "first" } else { "plain" };
    let _ = write!(out, "<section class=\"{class}\"><div class=\"verdict\">");
    if !is_judged {
        let why = match summary.complete {
            true => "This run has numbers and no judgement.",
            false => "No judgement: the run did not come to its end.",
        };
        let _ = write!(out, "<p class=\"faint\">{why}</p>");
    }
    for (word, class, list) in lists {
        sentences(out, word, class, list);
    }
    out.push_str("</div>");
    numbers::numbers(out, summary, findings);
    out.push_str("</section>\n");
    if !findings.unknown.is_empty() {
        out.push_str("<section class=\"verdict\">");
        sentences(out, "Unknown", "unknown", &findings.unknown);
        out.push_str("</section>\n");
    }
}

fn sentences(out: &mut String, word: &str, class: &str, list: &[String]) {
    if !list.is_empty() {
        let _ = write!(out, "<h2 class=\"{class}\">{word}</h2>");
    }
    for sentence in list {
        let _ = write!(out, "<p>{}</p>", prose(sentence));
    }
}

/// What must be known, loudly; and what a line of another tool really measures, calmly.
fn warnings(out: &mut String, summary: &Summary) {
    let (notes, alarms): (Vec<_>, Vec<_>) =
        summary.warnings.iter().partition(|warning| headline::is_note(warning));
    if !alarms.is_empty() {
        out.push_str("<section class=\"warnings\"><h2>Warnings</h2><ul>");
    }
    for warning in &alarms {
        let step = warning.step.and_then(|number| {
            summary
                .steps
                .iter()
                .find(|step| step.step == number)
                .map(|step| format!("{}, repetition {}: ", step.name, step.repetition))
        });
        let _ = write!(
            out,
            "<li><b>{}{}</b> {}</li>",
            escape(&step.unwrap_or_default()),
            prose(&warning.text),
            prose(&warning.advice)
        );
    }
    if !alarms.is_empty() {
        out.push_str("</ul></section>\n");
    }
    if !notes.is_empty() {
        let items: String =
            notes.iter().map(|note| format!("<li>{}</li>", prose(&note.text))).collect();
        let _ =
            writeln!(out, "<section class=\"remarks\"><h2>Notes</h2><ul>{items}</ul></section>");
    }
}
