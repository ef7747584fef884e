//! The card of a check: one picture that stands alone, to show or to post.

use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use std::fmt::Write;

use crate::svg::{place, text};
use crate::text::printable;
use crate::view::card::{self, Card, Entry};
use crate::view::{drives, header};

/// A picture of its own needs the name of its language, and its colours.
const HEAD: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" ";
const STYLE: &str = "<style>text{font:15px system-ui,sans-serif;fill:#1c2733}\
    .t{font-size:21px;font-weight:600}.f{fill:#5a6b7b;font-size:13px}.r{text-anchor:end}\
    .n{font-size:17px;font-weight:600;text-anchor:end}.w{fill:#a33b00;font-weight:600}\
    .i{fill:#5a6b7b;font-size:13px}</style>";
const WIDTH: f64 = 800.0;
const MARGIN: f64 = 28.0;
const LINE: f64 = 30.0;
/// Right ends of the numbers that are read and written, and of their p99.
const COLUMNS: [f64; 4] = [300.0, 500.0, 660.0, 772.0];
/// Characters of a line of small print and of the title that fit even in DejaVu Sans, the widest
/// font that is common: 0.58 of its size a character, 0.66 in bold.
const SMALL_PRINT: usize = 84;
const TITLE: usize = 52;

/// The card of a check as a picture; `None`: the run has no such lines. `summary` must be the
/// summary of `run`.
pub fn card_svg(run: &Run, summary: &Summary) -> Option<String> {
    let findings = summary.findings.clone().unwrap_or_default();
    let card = card::card(summary, &findings)?;
    let mut body = String::new();
    let drive = card::drive(summary, &run.begin.facts);
    let title = printable(&drive);
    let mut y = MARGIN + 16.0;
    text(&mut body, MARGIN, y, "t", &shortened(&title, TITLE));
    y += 24.0;
    let is_doubtful = card::word(summary, &card).starts_with(char::is_uppercase);
    let class = if is_doubtful { "f w" } else { "f" };
    text(&mut body, MARGIN, y, class, &printable(&card::circumstances(summary, &card)));
    y += 34.0;
    lines(&mut body, &card, &mut y);
    small_print(&mut body, &card, &findings, &mut y);
    for words in summary.health.iter().filter_map(drives::sentence) {
        put(&mut body, &mut y, "f", &words);
    }
    let height = place(y + MARGIN - 12.0);
    let width = place(WIDTH);
    let label = crate::text::escape(&title);
    let mut out = String::from(HEAD);
    let _ = write!(
        out,
        "aria-label=\"{label}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">{STYLE}\
         <rect width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"#fbfcfd\" \
         stroke=\"#c5ced6\"/>{body}</svg>"
    );
    out.push('\n');
    Some(out)
}

/// The four lines that everyone compares.
fn lines(out: &mut String, card: &Card, y: &mut f64) {
    let heads = ["read", "write", "p99 read", "p99 write"];
    for (head, x) in heads.into_iter().zip(COLUMNS) {
        text(out, x, *y, "f r", head);
    }
    *y += LINE;
    for line in card.lines.iter().filter(|line| line.is_standard) {
        text(out, MARGIN, *y, "", &printable(&line.label));
        for (entry, [rate, p99]) in
            [(&line.read, [COLUMNS[0], COLUMNS[2]]), (&line.write, [COLUMNS[1], COLUMNS[3]])]
        {
            let Some(entry) = entry else { continue };
            numbers(out, entry, [rate, p99], *y);
        }
        *y += LINE;
    }
}

fn numbers(out: &mut String, entry: &Entry, [rate, p99]: [f64; 2], y: f64) {
    text(out, rate, y, "n", &entry.rate);
    let class = if entry.is_suspect { "w" } else { "i" };
    text(out, rate + 6.0, y, class, &format!("{}{}", entry.width, entry.mark()));
    text(out, p99, y, "r", &entry.p99);
}

/// What the drive is good for, what must be known next to the numbers.
fn small_print(
    out: &mut String,
    card: &Card,
    findings: &drivelab_core::findings::Findings,
    y: &mut f64,
) {
    let shown = card.lines.iter().filter(|line| line.is_standard);
    let used: Vec<usize> = shown
        .flat_map(|line| line.read.iter().chain(&line.write))
        .filter_map(|entry| entry.note)
        .collect();
    for (index, note) in card.notes.iter().enumerate() {
        if used.contains(&(index + 1)) {
            put(out, y, "f", &format!("{} {note}", card::raised(index + 1)));
        }
    }
    *y += 8.0;
    for (word, list) in header::uses(findings) {
        // The figures behind them stand in the report.
        let names: Vec<&str> =
            list.iter().map(|one| one.split(": ").next().unwrap_or_default()).collect();
        let words = if word == "Like" { list.join(", ") } else { names.join(", ") };
        if word != "Like" || findings.class.as_ref().is_some_and(|class| class.name.is_some()) {
            put(out, y, "", &format!("{word}: {words}"));
        }
    }
    for words in &findings.beware {
        put(out, y, "w", &format!("Beware: {words}"));
    }
}

fn put(out: &mut String, y: &mut f64, class: &str, words: &str) {
    for line in wrapped(&printable(words), SMALL_PRINT) {
        text(out, MARGIN, *y, class, &line);
        *y += 18.0;
    }
}

fn wrapped(words: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn shortened(words: &str, most: usize) -> String {
    match words.chars().count() > most {
        true => format!("{}…", words.chars().take(most - 1).collect::<String>()),
        false => words.to_owned(),
    }
}
