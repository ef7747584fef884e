//! A run as Markdown as GitHub shows it: for issues, wikis and whatever is kept as text.
//!
//! Text of others is one line without anything that steers, and none of its characters is markup.

use drivelab_core::comparison::Comparison;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;

use crate::text::{escape, harmless, printable};
use crate::view::block::{Block, Head, Table};
use crate::view::card;
use crate::view::document::{comparison_document, document};

/// The run as Markdown. `summary` must be the summary of `run`.
pub fn markdown(run: &Run, summary: &Summary) -> String {
    written(&document(run, summary))
}

/// The card of a check as Markdown: the lines that everyone compares, and what the drive is good
/// for. `None`: the run has none. `summary` must be the summary of `run`.
pub fn card_markdown(run: &Run, summary: &Summary) -> Option<String> {
    card::blocks(run, summary).map(|blocks| written(&blocks))
}

/// A comparison as Markdown, with what a gate says of it.
pub fn comparison_markdown(comparison: &Comparison, gate: Option<&str>) -> String {
    written(&comparison_document(comparison, gate))
}

/// Blocks with an empty line between them.
fn written(blocks: &[Block]) -> String {
    let parts = blocks.iter().map(block).filter(|text| !text.is_empty());
    let parts: Vec<String> = parts.collect();
    parts.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => {
            format!("{} {}\n", "#".repeat(usize::from(*level)), plain(text))
        }
        Block::Words(text) => format!("{}\n", begun(&prose(text))),
        Block::Said(word, sentences) => match sentences.as_slice() {
            [one] => format!("**{word}** {}\n", prose(one)),
            several => format!("**{word}**\n\n{}", list(several)),
        },
        Block::List(items) => list(items),
        Block::Table(of) => table(of),
        Block::Code(language, text) => code(language, text),
        Block::Folded(title, inside) => format!(
            "<details>\n<summary>{}</summary>\n\n{}\n</details>\n",
            escape(&printable(title)),
            written(inside)
        ),
    }
}

fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}\n", begun(&prose(item)))).collect()
}

/// A table has a head and a line below it, and as many entries in each row.
fn table(table: &Table) -> String {
    let line = |entries: Vec<String>| format!("| {} |\n", entries.join(" | "));
    let rule = |head: &Head| if head.is_number { "---:" } else { "---" }.to_owned();
    let mut text = String::new();
    if !table.heads.is_empty() {
        text.push_str(&line(table.heads.iter().map(|head| plain(&head.name)).collect()));
        text.push_str(&line(table.heads.iter().map(rule).collect()));
        for row in &table.rows {
            let entry = |column: usize| row.get(column).map_or(String::new(), |it| plain(it));
            text.push_str(&line((0..table.heads.len()).map(entry).collect()));
        }
    }
    if !table.note.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}{}\n", begun(&prose(&table.note))));
    }
    text
}

/// A text between fences that it does not hold itself.
fn code(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}\n", harmless(text.trim_end()))
}

/// Text in which no character is markup: for headings and entries of tables.
fn plain(text: &str) -> String {
    let text = printable(text.trim());
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_markup = match c {
            // GitHub makes links of addresses that stand by themselves.
            ':' => text[at..].starts_with("://"),
            '.' => text[..at].ends_with("www"),
            c => "\\`*_[]<>|~&#$".contains(c),
        };
        if is_markup {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

/// A sentence in which what stands in backquotes is code.
fn prose(text: &str) -> String {
    let text = printable(text.trim());
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) || parts.iter().skip(1).step_by(2).any(|it| it.is_empty()) {
        return plain(&text);
    }
    let part = |(index, part): (usize, &&str)| match index.is_multiple_of(2) {
        true => spaced(part),
        false => format!("`{part}`"),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Plain text that keeps the spaces at its ends.
fn spaced(text: &str) -> String {
    let begin = text.len() - text.trim_start().len();
    let end = text.trim_end().len().max(begin);
    [&text[..begin], &plain(text), &text[end..]].concat()
}

/// A line that begins no list, rule or heading by accident.
fn begun(text: &str) -> String {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    match rest.chars().next() {
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        Some('.' | ')') if digits > 0 && rest[1..].starts_with([' ', '\t']) => {
            format!("{number}\\{rest}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_others_is_markup() {
        assert_eq!(plain("a|b\\|c"), "a\\|b\\\\\\|c");
        assert_eq!(plain(" <b>*x*</b>\r\n# y "), "\\<b\\>\\*x\\*\\</b\\>\u{fffd}\u{fffd}\\# y");
        assert_eq!(plain("[x](y) ~~z~~ $m$ &lt;"), "\\[x\\](y) \\~\\~z\\~\\~ \\$m\\$ \\&lt;");
        assert_eq!(plain("a: http://b.c www.d.e"), "a: http\\://b.c www\\.d.e");
        assert_eq!(plain("\u{1b}[31m\u{202e}"), "\u{fffd}\\[31m\u{fffd}");
    }

    #[test]
    fn only_whole_pairs_of_backquotes_are_code() {
        assert_eq!(prose("Say `a|b_c` twice."), "Say `a|b_c` twice.");
        assert_eq!(prose("one ` and_two"), "one \\` and\\_two");
        assert_eq!(prose("``` three"), "\\`\\`\\` three");
        assert_eq!(prose("`a` `b`"), "`a` `b`");
    }

    #[test]
    fn a_line_begins_nothing_by_accident() {
        for (text, shown) in [
            ("- a", "\\- a"),
            ("+ a", "\\+ a"),
            ("===", "\\==="),
            ("12. a", "12\\. a"),
            ("1) a", "1\\) a"),
            ("98.4 GB", "98.4 GB"),
            ("3 cells", "3 cells"),
        ] {
            assert_eq!(begun(text), shown);
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(code("sh", "a\n```\nb\n"), "````sh\na\n```\nb\n````\n");
        assert_eq!(code("", "a\u{1b}c"), "```\na\u{fffd}c\n```\n");
    }

    #[test]
    fn rows_have_as_many_entries_as_heads() {
        let mut of = Table::headed(["name", "rate#"]);
        let row = |entries: &[&str]| entries.iter().map(|&entry| entry.to_owned()).collect();
        of.rows = vec![row(&["a|b", "1k IOPS", "lost"]), row(&["c"])];
        of.note = "- a note".to_owned();
        let lines =
            "| name | rate |\n| --- | ---: |\n| a\\|b | 1k IOPS |\n| c |  |\n\n\\- a note\n";
        assert_eq!(table(&of), lines);
    }
}
