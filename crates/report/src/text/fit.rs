//! Lines that are not wider than the screen: nothing breaks inside a word.

use super::screen::{columns_max, known};
use super::{Flush, below, hanging_within};

/// Room below which a column is not wrapped in its place but stands below its row.
const ROOM_MIN: usize = 24;

pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Units that stay on the line of their number.
const UNITS: [&str; 28] = [
    "%", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "kB", "MB", "GB", "TB", "PB", "B/s", "kB/s",
    "MB/s", "GB/s", "MiB/s", "GiB/s", "IOPS", "ns", "µs", "us", "ms", "s", "min", "h", "d", "°C",
];

/// What a line may be broken between: words, a number with its unit and its sign.
pub(crate) fn pieces(words: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        let unit = word.trim_end_matches(['.', ',', ';', ':', ')', ']']);
        let belongs = |last: &String| {
            let is_number = last.ends_with(|c: char| c.is_ascii_digit());
            let is_sign = matches!(last.as_str(), "±" | "×" | "≥" | "≤") || last.ends_with(" ±");
            is_sign || (is_number && UNITS.contains(&unit))
        };
        match found.last_mut().filter(|last| belongs(last)) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => found.push(word.to_owned()),
        }
    }
    found
}

/// Rows of cells in aligned columns, two spaces apart; no spaces at the ends of lines.
pub(crate) fn aligned(rows: &[Vec<String>], flush: &[Flush], indent: usize) -> String {
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| width(&known(cell))).max()
    };
    let widths: Vec<usize> = (0..flush.len()).map(|column| widest(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for ((cell, width), flush) in row.iter().zip(&widths).zip(flush) {
            // A column that is empty in all rows takes no room.
            if *width == 0 {
                continue;
            }
            let cell = known(cell);
            line.push_str(&match flush {
                Flush::Left => format!("{cell:<width$}  "),
                Flush::Right => format!("{cell:>width$}  "),
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The same within the screen: where the rows are wider, the last column is wrapped, or stands
/// below its row; and where that is not enough, the first columns that fit stand in a line, and
/// the others below it.
pub(crate) fn columns(rows: &[Vec<String>], flush: &[Flush], indent: usize) -> String {
    set(rows, flush, indent).unwrap_or_else(|| folded(rows, flush, indent))
}

/// The same, but columns are left out, in this order, while the rows are wider than the screen.
/// Gives the columns that were; none where leaving out all of these would not be enough.
pub(crate) fn columns_without(
    rows: &[Vec<String>],
    flush: &[Flush],
    indent: usize,
    order: &[&[usize]],
) -> (String, Vec<usize>) {
    if let Some(text) = set(rows, flush, indent) {
        return (text, Vec::new());
    }
    for count in 1..=order.len() {
        let gone = order[..count].concat();
        let stays = |(column, _): &(usize, &Flush)| !gone.contains(column);
        let flush: Vec<Flush> =
            flush.iter().enumerate().filter(stays).map(|(_, flush)| *flush).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| without(row, &gone)).collect();
        if let Some(text) = set(&rows, &flush, indent) {
            return (text, gone);
        }
    }
    (folded(rows, flush, indent), Vec::new())
}

fn without(row: &[String], gone: &[usize]) -> Vec<String> {
    let stays = |(column, _): &(usize, &String)| !gone.contains(column);
    row.iter().enumerate().filter(stays).map(|(_, cell)| cell.clone()).collect()
}

fn fits(text: &str) -> bool {
    text.lines().all(|line| width(line) <= columns_max())
}

/// Aligned columns, or all but the last one aligned and that one wrapped.
fn set(rows: &[Vec<String>], flush: &[Flush], indent: usize) -> Option<String> {
    let text = aligned(rows, flush, indent);
    if fits(&text) {
        return Some(text);
    }
    let (Flush::Left, rest @ [_, ..]) = flush.split_last()? else { return None };
    let first = aligned(rows, rest, indent);
    if !fits(&first) {
        return None;
    }
    let last = |row: &Vec<String>| row.get(rest.len()).cloned().unwrap_or_default();
    let words = || rows.iter().map(last);
    let start = first.lines().map(width).max().unwrap_or(0) + 2;
    let longest = words().flat_map(|cell| cell.split_whitespace().map(width).max()).max();
    let room = columns_max().saturating_sub(start);
    let is_next_to_it = room >= ROOM_MIN.max(longest.unwrap_or(0));
    let lines = first.lines().zip(words()).map(|(line, cell)| match is_next_to_it {
        true => hanging_within(columns_max(), line, &cell, start),
        false => below(columns_max(), line, &known(&cell)),
    });
    Some(lines.collect())
}

/// As many of the first columns as fit, and the others below each row.
fn folded(rows: &[Vec<String>], flush: &[Flush], indent: usize) -> String {
    let first = |count: usize| aligned(rows, &flush[..count], indent);
    let count = (1..flush.len()).rev().find(|count| fits(&first(*count))).unwrap_or(1);
    let mut text = String::new();
    for (line, row) in first(count).lines().zip(rows) {
        let others = row.iter().skip(count).map(String::as_str).collect::<Vec<_>>().join(" ");
        text.push_str(&below(columns_max(), line, &known(&others)));
    }
    text
}

/// Whole lines in known characters, none wider than so many columns unless it is one word. What
/// was spaced out stays so within a line; what follows a break stands under the beginning, a
/// comment of a plan stays one.
pub fn fitted(text: &str, columns: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    for line in known(text).split_inclusive('\n') {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        match width(words) <= columns {
            true => lines.push_str(words),
            false => lines.push_str(&broken(words, columns)),
        }
        lines.push_str(end);
    }
    lines
}

fn broken(line: &str, columns: usize) -> String {
    let blank = width(line) - width(line.trim_start_matches(' '));
    let next = match line.starts_with("# ") {
        true => "# ".to_owned(),
        false => " ".repeat(blank + 2),
    };
    let (mut text, mut at, mut rest) = (String::new(), 0, line);
    while let Some(begin) = rest.find(|c| c != ' ') {
        let (gap, after) = rest.split_at(begin);
        let (word, after) = after.split_at(after.find(' ').unwrap_or(after.len()));
        if at > 0 && at + gap.len() + width(word) > columns {
            text.push('\n');
            text.push_str(&next);
            at = next.len();
        } else {
            text.push_str(gap);
            at += gap.len();
        }
        text.push_str(word);
        at += width(word);
        rest = after;
    }
    text
}
