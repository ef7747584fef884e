//! Several runs of one study as one page.

use super::table::{self, Set};
use super::{SCRIPT, head, sentences, study};
use crate::text::escape;
use crate::view::{self, header};
use drivelab_core::gathering::Gathering;
use std::fmt::Write;

/// The page: what follows from all runs, then the runs, which have pages of their own.
pub fn gathering(gathering: &Gathering) -> String {
    let findings = &gathering.findings;
    let mut out = String::with_capacity(64 << 10);
    let targets: Vec<&str> = gathering.runs.iter().map(|run| run.target.as_str()).collect();
    let title = format!("drivelab: study {} of {}", gathering.study, targets.join(", "));
    head(&mut out, &title, findings.comparison.is_some());
    let simulated = targets.iter().filter(|target| target.starts_with("sim:")).count();
    let (badge, explanation) = match simulated {
        0 => ("", ""),
        all if all == targets.len() => ("simulated", "Virtual time: no drive was touched."),
        _ => ("partly simulated", "Targets that begin with sim: are simulated, in virtual time."),
    };
    let _ = writeln!(
        out,
        "<header><p class=\"badges\"><b class=\"badge\">side by side</b>{}</p>\
         <h1>study {}</h1><p class=\"lead\">{}</p>{}</header>",
        tagged(badge, "b", "badge simulated"),
        escape(&gathering.study),
        escape(&gathering.question),
        tagged(explanation, "p", "alarm"),
    );
    out.push_str("<section class=\"verdict\">");
    for (word, list) in header::judgement(findings) {
        sentences(&mut out, word, list);
    }
    out.push_str("</section>\n");
    study::key_picture(&mut out, findings);
    study::results(&mut out, findings);
    runs(&mut out, gathering);
    let _ = write!(out, "</main><script>{SCRIPT}</script></body></html>");
    out.push('\n');
    out
}

/// A text in its element; nothing where there is none.
fn tagged(text: &str, element: &str, class: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!(" <{element} class=\"{class}\">{text}</{element}>"),
    }
}

fn runs(out: &mut String, gathering: &Gathering) {
    let table = view::study::runs(gathering);
    out.push_str("<section><h2>The runs</h2>");
    table::begin(out, "");
    table::heads(out, &table);
    table::rows(out, &table, &[Set::Line; 3]);
    out.push_str(
        "<p class=\"faint\">Each has a page of its own: \
         <code>drivelab report RUN</code>.</p></section>\n",
    );
}
