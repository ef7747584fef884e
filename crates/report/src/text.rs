//! Plain text in columns and wrapped paragraphs.

use std::borrow::Cow;
use std::fmt::Write;

/// The widest line of a wrapped paragraph, in characters.
pub(crate) const COLUMNS: usize = 100;

/// To which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    Left,
    Right,
}

/// Rows of cells in aligned columns, two spaces apart; no spaces at the ends of lines.
pub(crate) fn columns(rows: &[Vec<String>], flush: &[Flush], indent: usize) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..flush.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for ((cell, width), flush) in row.iter().zip(&widths).zip(flush) {
            // A column that is empty in all rows takes no room.
            if *width == 0 {
                continue;
            }
            let _ = match flush {
                Flush::Left => write!(line, "{cell:<width$}  "),
                Flush::Right => write!(line, "{cell:>width$}  "),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `label`, then `words` wrapped to [`COLUMNS`] under each other beside it.
pub(crate) fn hanging(label: &str, words: &str, indent: usize) -> String {
    let mut text = format!("{label:<indent$}");
    let mut at = text.chars().count();
    let mut first = true;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if !first && at + 1 + length > COLUMNS {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            at = indent;
            first = true;
        }
        if !first {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += length;
        first = false;
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// A character that steers a terminal or turns the direction of writing: C0 and C1 controls, and
/// the bidirectional controls that make text look like other text (Unicode TR 36, "Trojan Source").
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Foreign text for one place in a line: what steers a terminal is replaced, line ends included.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

/// What may stand in a page or a picture as it is. Text becomes that in [`escape`] alone, and what
/// is markup cannot be escaped again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    /// Markup around parts that are markup, or never hold any: numbers, and words of our own.
    pub(crate) fn around(parts: std::fmt::Arguments<'_>) -> Self {
        Self(parts.to_string())
    }
}

impl std::fmt::Display for Html {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Text made safe for content of HTML and for quoted attributes; control characters are replaced.
pub(crate) fn escape(text: &str) -> Html {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    Html(safe)
}

/// Whole lines for a terminal or a log: everything that steers is replaced but ends of lines
/// (`\n`, `\r\n`) and tabs. The program itself prints nothing else, so what is replaced came from
/// a file, a name or a drive.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| steers(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = characters.next() {
        let kept = match c {
            '\n' | '\t' => true,
            '\r' => characters.peek() == Some(&'\n'),
            c => !steers(c),
        };
        shown.push(if kept { c } else { '\u{fffd}' });
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_hang_and_stay_within_the_width() {
        let text = hanging("Verdict", &"word ".repeat(60), 9);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS));
        assert!(text.starts_with("Verdict  word word"));
        assert!(text.lines().skip(1).all(|line| line.starts_with("         word")));
        assert_eq!(text.split_whitespace().count(), 61);
    }

    #[test]
    fn a_word_wider_than_the_line_stands_alone() {
        let long = "x".repeat(120);
        assert_eq!(hanging("a", &format!("b {long} c"), 2), format!("a b\n  {long}\n  c\n"));
    }

    #[test]
    fn columns_align_and_empty_ones_vanish() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["a", "", "µs"]), row(["bcd", "", "1.0 ms"])];
        let text = columns(&rows, &[Flush::Left, Flush::Left, Flush::Right], 1);
        assert_eq!(text, " a        µs\n bcd  1.0 ms\n");
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\u{fffd}[31mb\u{fffd}c");
        let injected = "\u{1b}]0;x\u{7}\u{9b}2J\u{7f}\u{8}\u{202e}over\rwritten";
        let shown = "\u{fffd}]0;x\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}over\u{fffd}written";
        assert_eq!(printable(injected), shown);
        assert_eq!(harmless(injected), shown);
        let plain = "a\tb\r\nc\n· µs\n";
        assert!(matches!(harmless(plain), Cow::Owned(same) if same == plain));
        assert!(matches!(harmless("a · µs\n"), Cow::Borrowed(_)));
    }
}
