//! One run as one HTML page: no network, no address in it, and complete without its one script.
//!
//! From the top: target and state, the verdict in words next to a few big numbers, the pictures and
//! tables of a study, those of all cells, facts, plan, words, and the line that does it again.

mod again;
mod comparison;
mod figures;
mod gathering;
mod numbers;
mod sections;
mod study;
mod style;
mod table;
mod truth;

use drivelab_core::findings::Findings;
use drivelab_core::record::Warning;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use std::fmt::Write;

pub use comparison::comparison;
pub use gathering::gathering;

use crate::text::{Html, escape};
use crate::view::{header, headline};

/// Crosshair with values, curves on and off, a wider axis of time, pictures and tables saved as
/// files: nothing that the page lacks without it.
const SCRIPT: &str = concat!(include_str!("html/page.js"), include_str!("html/save.js"));

/// The page. `summary` must be the summary of `run`.
pub fn page(run: &Run, summary: &Summary) -> String {
    let findings = summary.findings.clone().unwrap_or_default();
    let title = format!("drivelab: {} · {}", header::heading(run, summary), summary.target);
    let mut out = String::with_capacity(64 << 10);
    head(&mut out, &title, findings.comparison.is_some());
    header(&mut out, run, summary);
    first_screen(&mut out, summary, &findings);
    match study::has_key_picture(&findings) {
        true => study::key_picture(&mut out, &findings),
        false => figures::key_picture(&mut out, run, summary),
    }
    warnings(&mut out, summary);
    study::results(&mut out, &findings);
    figures::layouts(&mut out, run);
    figures::figures(&mut out, run, summary);
    sections::cells(&mut out, summary, &findings);
    truth::truth(&mut out, summary, &findings);
    sections::steps(&mut out, summary);
    sections::drives(&mut out, summary);
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
fn prose(text: &str) -> Html {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        let part = escape(part);
        let _ = match index.is_multiple_of(2) {
            true => write!(out, "{part}"),
            false => write!(out, "<code>{part}</code>"),
        };
    }
    Html::around(format_args!("{out}"))
}

fn header(out: &mut String, run: &Run, summary: &Summary) {
    let (word, explanation) = header::origin(run);
    let mut badges = format!("<b class=\"badge {}\">{word}</b>", word.replace(' ', "-"));
    if !summary.complete {
        badges.push_str(" <b class=\"badge bad\">incomplete</b>");
    }
    if header::is_suspect(summary) {
        badges.push_str(" <b class=\"badge bad\">suspect</b>");
    }
    let target = headline::target(&summary.target, &run.begin.facts);
    let _ = writeln!(
        out,
        "<header><p class=\"badges\">{badges}</p><h1>{}</h1>\
         <p class=\"lead\">{} · state: <b>{}</b></p>\
         <p class=\"faint\">run {} · {} · drivelab {} · seed {}{}</p>",
        escape(&header::heading(run, summary)),
        escape(&target),
        escape(header::state(summary)),
        escape(&summary.run),
        escape(&summary.started_at),
        escape(&summary.version),
        summary.seed,
        summary.tag.iter().map(|tag| format!(" · {}", escape(tag))).collect::<String>(),
    );
    if !explanation.is_empty() {
        let _ = writeln!(out, "<p class=\"alarm\">{explanation}</p>");
    }
    if let Some(reason) = header::incomplete(summary) {
        let _ = writeln!(
            out,
            "<p class=\"alarm\"><b>This run is incomplete:</b> {}. What was recorded until then \
             is shown; it answers less than was asked.</p>",
            escape(reason.trim_end_matches('.'))
        );
    }
    out.push_str("</header>\n");
}

/// Verdict, Suspect and Beware next to the numbers; what is unknown may be long and comes below.
fn first_screen(out: &mut String, summary: &Summary, findings: &Findings) {
    let [beside @ .., unknown] = header::judgement(findings);
    let is_judged = !findings.uses.is_empty() || beside.iter().any(|(_, list)| !list.is_empty());
    let class = if is_judged { "first" } else { "plain" };
    let _ = write!(out, "<section class=\"{class}\"><div class=\"verdict\">");
    if !is_judged {
        let _ = write!(out, "<p class=\"faint\">{}</p>", header::unjudged(summary));
    }
    header::uses(findings).iter().for_each(|(word, list)| sentences(out, word, list));
    beside.into_iter().for_each(|(word, list)| sentences(out, word, list));
    out.push_str("</div>");
    numbers::numbers(out, summary, findings);
    out.push_str("</section>\n");
    if let (word, [_, ..]) = unknown {
        out.push_str("<section class=\"verdict\">");
        sentences(out, word, unknown.1);
        out.push_str("</section>\n");
    }
}

fn sentences(out: &mut String, word: &str, list: &[String]) {
    let class = match word {
        "Verdict" | "Good for" | "Enough for" => "good",
        "Unknown" | "Not known" | "Like" => "unknown",
        _ => "beware",
    };
    if !list.is_empty() {
        let _ = write!(out, "<h2 class=\"{class}\">{word}</h2>");
    }
    for sentence in list {
        let _ = write!(out, "<p>{}</p>", prose(sentence));
    }
}

/// What must be known, loudly; and what a line of another tool really measures, calmly.
fn warnings(out: &mut String, summary: &Summary) {
    let (alarms, notes) = header::alarms_and_notes(&summary.warnings);
    if !alarms.is_empty() {
        let item = |warning: &&Warning| {
            format!(
                "<li><b>{}{}</b> {}</li>",
                escape(&header::step_of(summary, warning)),
                prose(&warning.text),
                prose(&warning.advice)
            )
        };
        let items: String = alarms.iter().map(item).collect();
        let _ = writeln!(
            out,
            "<section class=\"warnings\"><h2>Warnings</h2><ul>{items}</ul></section>"
        );
    }
    if !notes.is_empty() {
        let items: String =
            notes.iter().map(|note| format!("<li>{}</li>", prose(&note.text))).collect();
        let _ =
            writeln!(out, "<section class=\"remarks\"><h2>Notes</h2><ul>{items}</ul></section>");
    }
}
