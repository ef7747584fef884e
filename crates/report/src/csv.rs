//! Cells, intervals and histograms of a run as comma-separated values (RFC 4180).

use drivelab_core::run::Run;
use drivelab_core::summary::Summary;

use crate::view::intervals::{buckets, intervals};
use crate::view::sheet::{self, Sheet, Value};

/// How every CSV of drivelab begins: the name of its first column.
pub const CSV_BEGIN: &str = "drivelab_run,cell,stream,kind,";

/// The cells of a run: one row for each cell, stream and kind. Units stand in the names of the
/// columns; what is not known is empty. A text that a spreadsheet would take for a formula is led
/// by an apostrophe.
pub fn csv(summary: &Summary) -> String {
    lines(&sheet::cells(summary))
}

/// The course of a run over time: one row for each interval of each step, stream and kind. Times
/// are nanoseconds since time zero of the run; `ramp` and `partial` are 0 or 1, and an interval
/// with either is in no rate.
pub fn series_csv(run: &Run, summary: &Summary) -> String {
    lines(&intervals(run, summary))
}

/// The latency histograms of a run: one row for each bucket that holds values, of each step, stream
/// and kind; `latency` is `submit`, `service` or `response`.
pub fn histograms_csv(run: &Run, summary: &Summary) -> String {
    lines(&buckets(run, summary))
}

fn lines(sheet: &Sheet) -> String {
    let mut out = sheet.heads.join(",");
    out.push_str("\r\n");
    for row in &sheet.rows {
        let words: Vec<String> = row.iter().map(written).collect();
        out.push_str(&words.join(","));
        out.push_str("\r\n");
    }
    out
}

fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Number(number) => number.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Empty => String::new(),
    }
}

fn quoted(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let text = format!("{mark}{text}");
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        assert_eq!(quoted("random read"), "random read");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(written(&Value::Empty), "");
        assert_eq!(written(&Value::Number(1.5)), "1.5");
    }
}
