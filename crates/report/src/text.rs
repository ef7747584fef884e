//! Plain text in columns and wrapped paragraphs.

mod fit;
mod screen;

use std::borrow::Cow;

pub use fit::fitted;
pub(crate) use fit::{aligned, columns, columns_without, pieces, width};
pub use screen::{Screen, in_ascii};
pub(crate) use screen::{columns_max, in_ascii_or};

/// Less room than that next to a label is none.
const ROOM_MIN: usize = 20;
/// By how much what stands below a label is indented further.
const BELOW: usize = 4;

/// To which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    Left,
    Right,
}

/// `label`, then `words` wrapped to the screen under each other next to it.
pub fn hanging(label: &str, words: &str, indent: usize) -> String {
    hanging_within(screen::prose_max(), label, words, indent)
}

/// The same within so many columns. Where next to the label is no room, the words stand below it.
fn hanging_within(columns: usize, label: &str, words: &str, indent: usize) -> String {
    let (label, words) = (screen::known(label), screen::known(words));
    let text = format!("{label:<indent$}");
    if !label.trim().is_empty() && columns < indent.max(fit::width(&text)) + ROOM_MIN {
        return below(columns, &label, &words);
    }
    paragraph(columns, text, &words, indent)
}

/// `label`, and `words` below it.
fn below(columns: usize, label: &str, words: &str) -> String {
    let indent = label.chars().take_while(|c| *c == ' ').count() + BELOW;
    let line = format!("{}\n", label.trim_end());
    match words.trim().is_empty() {
        true => line,
        false => line + &paragraph(columns, " ".repeat(indent), words, indent),
    }
}

/// `words` behind what the first line has already.
fn paragraph(columns: usize, mut text: String, words: &str, indent: usize) -> String {
    let mut at = fit::width(&text);
    let mut is_first = true;
    for word in fit::pieces(words) {
        let length = fit::width(&word);
        if !is_first && at + 1 + length > columns {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            at = indent;
            is_first = true;
        }
        if !is_first {
            text.push(' ');
            at += 1;
        }
        text.push_str(&word);
        at += length;
        is_first = false;
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
        assert!(text.lines().all(|line| line.chars().count() <= 80));
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
