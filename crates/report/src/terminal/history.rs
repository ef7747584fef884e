//! `drivelab history`: one line for each figure, then what changed and when.

use drivelab_core::comparison::Metric;
use drivelab_core::history::{Change, History, Line};

use std::collections::BTreeMap;

use crate::text::{Flush, columns_without, hanging, printable};
use crate::units;

/// Levels of the small curve.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Runs that the small curve shows, the latest.
const CURVE_MAX: usize = 16;

/// All figures of a drive over its runs.
pub fn history_table(history: &History) -> String {
    let mut text = format!("{}  ·  {}\n\n", printable(&history.drive), runs(history.runs));
    if history.lines.is_empty() {
        let mut words =
            "No figure was measured in two runs, so there is nothing to follow yet.".to_owned();
        words.push_str(&left_out(history));
        text.push_str(&hanging("", &words, 0));
        return text;
    }
    for (index, line) in history.lines.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| &history.lines[at]);
        let group = |line: &Line| (line.command.clone(), line.on.clone(), line.state.clone());
        if before.map(group) == Some(group(line)) {
            continue;
        }
        if before.is_some() {
            text.push('\n');
        }
        let on = match line.on.as_str() {
            "" => String::new(),
            on => format!(", {on}"),
        };
        let heading = format!("{}{on}, state {}", line.command, line.state);
        text.push_str(&hanging("", &printable(&heading), 0));
        let rest = history.lines[index..].iter();
        let rows: Vec<Vec<String>> =
            rest.take_while(|other| group(other) == group(line)).map(row).collect();
        let (left, right) = (Flush::Left, Flush::Right);
        // A narrow screen does without the curve.
        let flush = [left, left, right, right, left, left];
        text.push_str(&columns_without(&rows, &flush, 2, &[&[5]]).0);
    }
    text.push('\n');
    for tag in tags(history) {
        text.push_str(&hanging("Tag", &printable(&tag), 9));
    }
    for line in &history.lines {
        for change in &line.changes {
            text.push_str(&hanging("Changed", &printable(&sentence(line, change)), 9));
        }
    }
    text.push_str(&hanging("", &summary(history), 0));
    text
}

/// The tags in the order of their first runs, each with the runs that have it.
fn tags(history: &History) -> Vec<String> {
    let mut tagged: BTreeMap<&str, &str> = BTreeMap::new();
    for point in history.lines.iter().flat_map(|line| &line.points) {
        tagged.extend(point.tag.as_deref().map(|tag| (point.run.as_str(), tag)));
    }
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for (run, tag) in tagged {
        match found.iter_mut().find(|(known, _)| *known == tag) {
            Some((_, runs)) => runs.push(run),
            None => found.push((tag, vec![run])),
        }
    }
    let words = |(tag, runs): (&str, Vec<&str>)| match runs.as_slice() {
        [first, .., last] => format!("{tag}: {} runs, {first} to {last}", runs.len()),
        _ => format!("{tag}: {}", runs.concat()),
    };
    found.into_iter().map(words).collect()
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

fn value(metric: Metric, value: f64) -> String {
    match metric.is_rate() {
        true => units::operations(value),
        false => units::time(value),
    }
}

fn row(line: &Line) -> Vec<String> {
    let first = line.points.first().map_or(0.0, |point| point.value);
    let last = line.points.last().map_or(0.0, |point| point.value);
    let metric = match line.metric {
        Metric::P99Ns => "p99",
        other => other.words(),
    };
    vec![
        printable(&line.cell),
        metric.to_owned(),
        format!("n {}", line.points.len()),
        value(line.metric, first),
        format!("→ {}", value(line.metric, last)),
        curve(line),
    ]
}

/// The latest values between their smallest and largest; level where they are within 2 %.
fn curve(line: &Line) -> String {
    let from = line.points.len().saturating_sub(CURVE_MAX);
    let values: Vec<f64> = line.points[from..].iter().map(|point| point.value).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if high <= low * 1.02 {
        return BARS[3].to_string().repeat(values.len());
    }
    let level = |value: f64| ((value - low) / (high - low) * 7.0).round() as usize;
    values.into_iter().map(|value| BARS[level(value).min(7)]).collect()
}

fn sentence(line: &Line, change: &Change) -> String {
    let tag = line.points.get(change.at).and_then(|point| point.tag.as_deref());
    let called = tag.map_or(String::new(), |tag| format!(", \"{tag}\""));
    let day = change.started_at.get(..10).unwrap_or(&change.started_at);
    let metric = line.metric.words();
    let mut text = format!(
        "{day} (run {}{called}): {} of {} from {} to {}, {:+.1} %.",
        change.run,
        metric,
        line.cell,
        value(line.metric, change.before),
        value(line.metric, change.after),
        (change.after / change.before - 1.0) * 100.0
    );
    if !change.differences.is_empty() {
        text.push_str(&format!(" With it: {}.", change.differences.join("; ")));
    }
    text
}

fn summary(history: &History) -> String {
    let long = history.lines.iter().filter(|line| line.points.len() >= 4).count();
    let changed = history.lines.iter().filter(|line| !line.changes.is_empty()).count();
    let short = history.lines.len() - long;
    let mut text = match (long, changed) {
        (0, _) => "Changes are looked for from four runs on.".to_owned(),
        (_, 0) => format!(
            "No change beyond chance in the {long} figures that were measured four times or more."
        ),
        _ => format!("{changed} of {long} figures that were measured four times or more changed."),
    };
    if short > 0 && long > 0 {
        text.push_str(&format!(" {short} were measured in fewer runs."));
    }
    text.push_str(&left_out(history));
    text
}

fn left_out(history: &History) -> String {
    let suspect = match history.suspect {
        0 => String::new(),
        1 => " 1 suspect value was left out.".to_owned(),
        count => format!(" {count} suspect values were left out."),
    };
    let incomplete = match history.incomplete {
        0 => String::new(),
        1 => " 1 run that did not come to its end was left out.".to_owned(),
        count => format!(" {count} runs that did not come to their end were left out."),
    };
    format!("{suspect}{incomplete}")
}
