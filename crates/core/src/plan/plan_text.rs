//! Plans as TOML text: read with errors that point at the place, written so that they read well.
//!
//! A plan is a file people edit by hand, so a wrong key costs them one line of explanation, the
//! source line and a caret, and never a guess about what they meant. Other files of that kind are
//! read by [`parse_as`] with the same care.

use crate::plan::Plan;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;

pub use toml::Spanned;

/// How far a wrong key may be from a known one to be suggested.
const TYPING_ERRORS_MAX: usize = 3;

/// A file that cannot be read: what is wrong, where, and the line it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// Name of the file, as typed.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, without the place.
    pub text: String,
    /// The line of the source, for display.
    pub source: String,
    /// How many characters are marked, at least 1.
    pub marked: usize,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} line {}, column {}: {}", self.file, self.line, self.column, self.text)?;
        writeln!(f, "{:>5} | {}", self.line, self.source)?;
        let indent = " ".repeat(self.column.saturating_sub(1));
        write!(f, "      | {indent}{}", "^".repeat(self.marked.max(1)))?;
        match &self.suggestion {
            Some(known) => write!(f, " did you mean `{known}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PlanError {}

/// Reads a plan. The error says line, column and what was probably meant.
///
/// # Errors
/// The text is no TOML, or no plan.
///
/// ```
/// use drivelab_core::plan_text::parse;
///
/// let plan = parse("[[steps]]\nname = 'idle'\nact = { idle = '2s' }\n", "rest.toml")?;
/// assert_eq!(plan.steps[0].name, "idle");
///
/// let wrong = parse("[[steps]]\nname = 'a'\nrepaet = 3\n", "typed.toml").unwrap_err();
/// assert_eq!((wrong.line, wrong.column), (3, 1));
/// assert_eq!(wrong.suggestion.as_deref(), Some("repeat"));
/// # Ok::<(), drivelab_core::plan_text::PlanError>(())
/// ```
pub fn parse(text: &str, file_name: &str) -> Result<Plan, PlanError> {
    parse_as(text, file_name, "the plan")
}

/// Reads anything else that people write in TOML; `whole` is what its top level is called.
///
/// # Errors
/// The text is no TOML, or has not the form of `T`.
pub fn parse_as<T: DeserializeOwned>(
    text: &str,
    file_name: &str,
    whole: &str,
) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let (message, suggestion) = reword(error.message(), text, &span, whole);
        PlanError { suggestion, ..error_at(text, file_name, span, message) }
    })
}

/// The plan as TOML that [`parse`] reads back to an equal plan.
///
/// ```
/// use drivelab_core::plan::{Plan, Step, Stream};
/// use drivelab_core::plan_text::{parse, render};
///
/// let streams = vec![Stream { depth: 4, ..Stream::default() }];
/// let step = Step { streams, ..Step::default() };
/// let plan = Plan { seed: 3, steps: vec![step], ..Plan::default() };
/// assert_eq!(parse(&render(&plan), "written.toml"), Ok(plan));
/// ```
pub fn render(plan: &Plan) -> String {
    // A number beyond 2^63 fits no `toml::Table`; the plain writer takes it.
    match toml::Table::try_from(plan) {
        Ok(table) => {
            let mut out = String::new();
            render_table(&table, "", &mut out);
            out
        }
        Err(_) => toml::to_string(plan).unwrap_or_default(),
    }
}

/// Writes scalars and inline tables first, then `[[path]]` sections.
fn render_table(table: &toml::Table, path: &str, out: &mut String) {
    let is_section = |name: &str| name == "steps" || name == "streams";
    for (key, value) in table.iter().filter(|(key, _)| !is_section(key)) {
        out.push_str(&format!("{key} = {value}\n"));
    }
    for (key, value) in table.iter().filter(|(key, _)| is_section(key)) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        for entry in value.as_array().into_iter().flatten().filter_map(toml::Value::as_table) {
            out.push_str(&format!("\n[[{path}]]\n"));
            render_table(entry, &path, out);
        }
    }
}

/// An error at a place that the reader had nothing against.
pub fn error_at(
    text: &str,
    file_name: &str,
    span: Range<usize>,
    message: impl Into<String>,
) -> PlanError {
    let start = floor_char(text, span.start);
    let end = floor_char(text, span.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let source = text[line_start..line_end].trim_end_matches('\r');
    PlanError {
        file: file_name.to_string(),
        line: text[..start].matches('\n').count() + 1,
        column: text[line_start..start].chars().count() + 1,
        text: message.into(),
        source: source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        marked: text[start..end.min(line_end)].trim_end().chars().count().max(1),
        suggestion: None,
    }
}

fn floor_char(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Rewords the deserializer's sentence; the second part is what was probably meant.
fn reword(message: &str, text: &str, span: &Range<usize>, whole: &str) -> (String, Option<String>) {
    let mut words = message.split('`');
    let intro = words.next().unwrap_or_default();
    let (Some(given), true) = (words.next(), intro.starts_with("unknown ")) else {
        return (one_line(message), None);
    };
    let known: Vec<&str> = words.skip(1).step_by(2).collect();
    let suggestion = nearest(given, &known).map(String::from);
    let sentence = match intro {
        "unknown field " => format!("unknown key `{given}` in {}", section(text, span, whole)),
        _ => format!("unknown word `{given}`"),
    };
    let listed = match (&suggestion, known.as_slice()) {
        (Some(_), _) | (None, []) => sentence,
        (None, known) => format!("{sentence}; known are {}", known.join(", ")),
    };
    (listed, suggestion)
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The known word closest to `given`, if it could be a typing error or an abbreviation.
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given: Vec<char> = given.to_lowercase().chars().take(64).collect();
    let limit = TYPING_ERRORS_MAX.min(given.len() / 2);
    known
        .iter()
        .map(|word| (edit_distance(&given, &word.chars().collect::<Vec<_>>()), *word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Insertions, deletions and substitutions that turn `a` into `b` (Levenshtein 1966).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The section in which the wrong key stands: `[[steps.streams]]`, `mix` …
fn section(text: &str, span: &Range<usize>, whole: &str) -> String {
    let Ok(root) = toml::de::DeTable::parse(text) else {
        return "this section".to_string();
    };
    let mut path = Vec::new();
    let inside_array = path_to(root.get_ref(), span, &mut path).unwrap_or(false);
    match (path.is_empty(), inside_array) {
        (true, _) => whole.to_string(),
        (false, true) => format!("[[{}]]", path.join(".")),
        (false, false) => format!("`{}`", path.join(".")),
    }
}

/// Collects the keys that lead to the table holding the key at `span`; tells whether the last one
/// is an array of tables. `None`: not in here.
fn path_to(
    table: &toml::de::DeTable<'_>,
    span: &Range<usize>,
    path: &mut Vec<String>,
) -> Option<bool> {
    if table.iter().any(|(key, _)| key.span() == *span) {
        return Some(false);
    }
    table.iter().find_map(|(key, value)| {
        path.push(key.get_ref().to_string());
        let found = match value.get_ref() {
            toml::de::DeValue::Table(inner) => path_to(inner, span, path),
            toml::de::DeValue::Array(entries) => path_in_array(entries, span, path),
            _ => None,
        };
        if found.is_none() {
            path.pop();
        }
        found
    })
}

fn path_in_array(
    entries: &toml::de::DeArray<'_>,
    span: &Range<usize>,
    path: &mut Vec<String>,
) -> Option<bool> {
    let depth = path.len();
    entries.iter().find_map(|entry| match entry.get_ref() {
        toml::de::DeValue::Table(inner) => {
            let is_last_an_array = path_to(inner, span, path)?;
            Some(is_last_an_array || path.len() == depth)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests;
