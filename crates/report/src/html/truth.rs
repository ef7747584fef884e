//! Whether the numbers may be believed.

use drivelab_core::findings::Findings;
use drivelab_core::summary::Summary;
use std::fmt::Write;

use crate::text::escape;
use crate::view::truth::{self, SAID_ABOVE, SILENT};

/// Below the table of cells.
pub(super) fn truth(out: &mut String, summary: &Summary, findings: &Findings) {
    let Some(truth) = truth::truth(summary, findings) else { return };
    let judged = &truth.judged;
    let _ = write!(out, "<section><h2>Can these numbers be trusted?</h2><p>{judged}</p>");
    if truth.is_said_above {
        let _ = write!(out, "<p>{SAID_ABOVE}</p>");
    }
    for ((title, list), class) in truth.lists().into_iter().zip(["bad-list", "", ""]) {
        if !list.is_empty() {
            let items: String = list.iter().map(|it| format!("<li>{}", escape(it))).collect();
            let _ = write!(out, "<h3>{title}</h3><ul class=\"{class}\">{items}</ul>");
        }
    }
    if truth.is_silent {
        let _ = write!(out, "<p class=\"faint\">{SILENT}</p>");
    }
    out.push_str("</section>\n");
}
