//! The few big numbers of the first screen.

use drivelab_core::findings::Findings;
use drivelab_core::summary::Summary;
use std::fmt::Write;

use crate::text::{Html, escape};
use crate::view::numbers;

/// Each with its label above and what it rests on below; nothing where there is none.
pub(super) fn numbers(out: &mut String, summary: &Summary, findings: &Findings) {
    let numbers = numbers::numbers(summary, findings);
    if numbers.is_empty() {
        return;
    }
    out.push_str("<div class=\"numbers\">");
    for number in numbers {
        let value = match number.value.strip_suffix(" IOPS") {
            Some(value) if !number.of.is_empty() => {
                let value = escape(value);
                Html::around(format_args!("{value} <i>{} IOPS</i>", number.of))
            }
            _ => escape(&number.value),
        };
        // Words that stand for a number may be wrapped.
        let is_number = number.value.chars().any(|c| c.is_ascii_digit());
        let class = if is_number { "" } else { " class=\"words\"" };
        let label = marked(&number.label);
        let _ = write!(out, "<div><span>{label}</span><strong{class}>{value}</strong>");
        for small in number.small.iter().filter(|small| !small.is_empty()) {
            let _ = write!(out, "<small>{}</small>", escape(small));
        }
        out.push_str("</div>");
    }
    out.push_str("</div>");
}

/// A label whose leading mark of doubt stands out.
fn marked(label: &str) -> Html {
    for mark in ["SUSPECT", "INCOMPLETE"] {
        if let Some(rest) = label.strip_prefix(mark) {
            let rest = escape(rest);
            return Html::around(format_args!("<b class=\"warn\">{mark}</b>{rest}"));
        }
    }
    escape(label)
}
