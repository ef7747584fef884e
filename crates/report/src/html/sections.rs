//! The tables and texts below the pictures.

use drivelab_core::findings::Findings;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use std::fmt::Write;

use crate::html::table::{self, Set};
use crate::text::escape;
use crate::view::block::Head;
use crate::view::facts::Group;
use crate::view::{cells, drives, facts, method};

/// Longer plans are opened by whoever wants them.
const PLAN_OPEN_BYTES: usize = 1500;

/// The table of all cells.
pub(super) fn cells(out: &mut String, summary: &Summary, findings: &Findings) {
    if summary.cells.is_empty() {
        out.push_str("<section><p>No cell was measured.</p></section>\n");
        return;
    }
    let table = cells::cells(summary, findings);
    out.push_str("<section><h2>All numbers</h2>");
    table::begin(out, " class=\"cells\"");
    table::heads(out, &table);
    let set = |head: &Head| match (head.name.as_str(), head.is_number) {
        ("rate", _) => Set::Strong,
        ("load", _) => Set::Line,
        ("truth", _) => Set::Truth,
        (_, true) => Set::Number,
        (_, false) => Set::Plain,
    };
    table::rows(out, &table, &table.heads.iter().map(set).collect::<Vec<_>>());
    let _ = writeln!(out, "<p class=\"faint\">{}</p></section>", table.note);
}

/// Every repetition with what belongs to it alone.
pub(super) fn steps(out: &mut String, summary: &Summary) {
    let Some(table) = cells::steps(summary) else { return };
    let _ = write!(out, "<section><details><summary>{}</summary>", table.title);
    table::begin(out, "");
    for head in &table.heads {
        let class = if head.is_number { " class=\"r\"" } else { "" };
        let _ = write!(out, "<th{class}>{}", head.name);
    }
    let set = |head: &Head| match (head.name.as_str(), head.is_number) {
        ("truth", _) => Set::Line,
        (_, true) => Set::Number,
        (_, false) => Set::Plain,
    };
    table::rows(out, &table, &table.heads.iter().map(set).collect::<Vec<_>>());
    out.push_str("</details></section>\n");
}

/// What the drives counted of themselves.
pub(super) fn drives(out: &mut String, summary: &Summary) {
    if summary.health.is_empty() {
        return;
    }
    out.push_str(
        "<section><h2>What the drive counted</h2><p>By its own logs, from just before the first \
         step to just after the last one: all that hosts did, not this run alone.</p>",
    );
    groups(out, summary.health.iter().map(drives::counted));
    out.push_str("</section>\n");
}

/// Rows under their titles.
fn groups(out: &mut String, groups: impl IntoIterator<Item = Group>) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\"><table class=\"facts\">");
    for (title, rows) in groups {
        let _ = write!(out, "<tr class=\"group\"><th colspan=\"2\">{}", escape(&title));
        for (name, value) in rows {
            let _ = write!(out, "<tr><td>{}<td>{}", escape(name), escape(&value));
        }
    }
    out.push_str("</table></div>");
}

/// Target and machine.
pub(super) fn facts(out: &mut String, run: &Run) {
    out.push_str("<section><h2>Facts</h2>");
    let known = facts::groups(&run.begin.facts).into_iter();
    groups(out, known.chain([facts::measurement(run)]));
    if let Some(processes) = facts::processes(&run.begin) {
        let _ = write!(out, "<h3>Processes</h3><p>{}</p>", escape(&processes.title));
        table::numbers(out, &processes);
    }
    out.push_str("</section>\n");
}

/// The plan as the TOML that can be run again.
pub(super) fn plan(out: &mut String, run: &Run) {
    if run.plans.is_empty() {
        return;
    }
    out.push_str("<section><h2>Plan</h2><p>What decided every I/O; save it and run it again.</p>");
    for (title, text) in method::plans(run) {
        let open = if text.len() < PLAN_OPEN_BYTES { " open" } else { "" };
        let _ = write!(
            out,
            "<details{open}><summary>{title}</summary><pre>{}</pre></details>",
            escape(&text)
        );
    }
    out.push_str("</section>\n");
}

/// What the words on this page mean.
pub(super) fn words(out: &mut String, run: &Run, summary: &Summary) {
    let sentences = method::meanings(run, summary);
    let items: String = sentences.iter().map(|it| format!("<li>{}</li>", escape(it))).collect();
    let _ = writeln!(out, "<section><h2>What the words mean</h2><ul>{items}</ul></section>");
}
