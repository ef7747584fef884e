//! The result of `drivelab run`: everything known of each stream, clearly.

use drivelab_core::plan::Role;
use drivelab_core::record::Begin;
use drivelab_core::summary::{CellSummary, StepSummary, StreamSummary, Summary};
use std::fmt::Write;

use crate::text::{Flush, columns_without, hanging, printable};
use crate::view::amounts::NOTHING;
use crate::view::headline;
use crate::view::steps::{self, Rate};

/// Places of wrong data shown here; the run file and the report have more.
const SHOWN: usize = 5;
/// Repetitions of one preparing step shown here, the last ones.
const PREPARING_SHOWN: usize = 2;

/// Who shared the work, every step, every stream, every kind; then repetitions together; then
/// warnings.
pub fn run_summary(summary: &Summary, begin: &Begin) -> String {
    let mut text = super::check::heading(summary, &drivelab_core::facts::Facts::default());
    if let Some(line) = headline::processes(begin) {
        let _ = writeln!(text, "{line}");
    }
    let is_round = |one: &StepSummary, next: &StepSummary| {
        one.name == next.name && one.role != Role::Measure && next.role != Role::Measure
    };
    for rounds in summary.steps.chunk_by(is_round) {
        let left_out = rounds.len().saturating_sub(PREPARING_SHOWN);
        if let (Some(first), 1..) = (rounds.first(), left_out) {
            let _ = write!(
                text,
                "\n{} · repetitions 1 to {left_out}, {} steps, are in the report and --json\n",
                printable(&first.name),
                headline::role_word(first.role)
            );
        }
        for step in &rounds[left_out..] {
            text.push('\n');
            text.push_str(&step_text(step));
        }
    }
    let repeated: Vec<_> = summary.cells.iter().filter(|cell| cell.repetitions > 1).collect();
    for cell in repeated {
        text.push('\n');
        text.push_str(&cell_text(cell));
    }
    if summary.steps.is_empty() {
        text.push_str("\nno step was begun\n");
    }
    let closing = super::closing(summary);
    if !closing.is_empty() {
        text.push('\n');
        text.push_str(&closing);
    }
    text
}

fn step_text(step: &StepSummary) -> String {
    let mut text = format!("{}\n", printable(&steps::title(step)));
    let said = |text: &mut String, word: &str, sentence: &str| {
        text.push_str(&hanging(&format!("  {word}"), &printable(sentence), 14));
    };
    if let Some(reason) = &step.incomplete {
        said(&mut text, "INCOMPLETE", &format!("this step is incomplete: {reason}"));
    }
    for stream in &step.streams {
        text.push_str(&stream_text(stream));
    }
    for (word, sentence) in steps::said(step) {
        said(&mut text, word, &sentence);
    }
    for line in steps::kernel(step) {
        let _ = writeln!(text, "  kernel  {}", printable(&line));
    }
    for sentence in steps::wrong_data(step).iter().take(SHOWN) {
        said(&mut text, "wrong data", sentence);
    }
    text
}

fn stream_text(stream: &StreamSummary) -> String {
    let mut text = format!("  {}\n", printable(&steps::load(stream)));
    steps::rates(stream).iter().for_each(|rate| text.push_str(&rate_line(rate)));
    text.push_str(&latencies(stream));
    for line in steps::details(stream) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

fn rate_line(rate: &Rate) -> String {
    let mut text = format!("    {:<6} {}\n", rate.label, rate.words);
    if let Some(why) = &rate.no_interval {
        text.push_str(&hanging("", &printable(why), 11));
    }
    text
}

/// Columns that a narrow screen does without, the first of them first: p99.99, then p90.
const WITHOUT: [&[usize]; 2] = [&[7], &[4]];

fn latencies(stream: &StreamSummary) -> String {
    let table = steps::latencies(stream);
    if table.rows.is_empty() {
        return String::new();
    }
    let flush = |is_number| if is_number { Flush::Right } else { Flush::Left };
    let flush: Vec<Flush> = table.heads.iter().map(|head| flush(head.is_number)).collect();
    let rows: Vec<Vec<String>> = std::iter::once(table.names()).chain(table.rows).collect();
    let (mut text, gone) = columns_without(&rows, &flush, 4, &WITHOUT);
    let is_shown = |(column, entry): (usize, &String)| !gone.contains(&column) && entry == NOTHING;
    if rows.iter().any(|row| row.iter().enumerate().any(is_shown)) {
        let _ = writeln!(text, "    {}", table.note);
    }
    text
}

/// The repetitions of one cell together.
fn cell_text(cell: &CellSummary) -> String {
    let mut text = format!("{}\n", printable(&steps::cell_title(cell)));
    if let (Some(false), Some(why)) = (cell.valid, cell.against()) {
        text.push_str(&hanging("    SUSPECT", &printable(&why), 13));
    }
    for (action, kind) in cell.streams.iter().flat_map(|stream| &stream.kinds) {
        text.push_str(&rate_line(&steps::rate(action.word(), &kind.rates)));
        let latencies = steps::repeated_latencies(kind);
        if !latencies.is_empty() {
            let _ = writeln!(text, "           {}", latencies.join("  ·  "));
        }
        let commits = steps::repeated_commits(kind);
        if !commits.is_empty() {
            let _ = writeln!(text, "    write + flush  {}", commits.join("  ·  "));
        }
    }
    text
}
