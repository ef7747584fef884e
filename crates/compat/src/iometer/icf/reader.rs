//! The file as lines: headings, values, and what is wrong where.

use super::sections::{read_display, read_setup, read_specifications};
use super::{Icf, machines};
use std::fmt::{self, Display, Formatter};

/// Where a file goes wrong, what stands there, and what should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcfError {
    /// Line, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// What stands there.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl Display for IcfError {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let IcfError { line, column, found, expected } = self;
        write!(to, "line {line}, column {column}: found {found}, expected {expected}")
    }
}

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Character at which it begins, from 1.
    pub column: usize,
    /// Without the white space around it.
    pub text: &'a str,
}

impl Line<'_> {
    /// Whether it is a heading, rather than a value.
    pub fn is_heading(&self) -> bool {
        self.text.starts_with('\'')
    }

    /// A heading in one form: small letters, single spaces, none around commas, no rule behind.
    pub fn heading(&self) -> Option<String> {
        let text = self.text.strip_prefix('\'')?.trim_end_matches('=').to_lowercase();
        let parts = text.split(',').map(|part| {
            let words: Vec<&str> = part.split_whitespace().collect();
            words.join(" ")
        });
        Some(parts.collect::<Vec<String>>().join(","))
    }

    /// An error at this line.
    pub fn wrong(&self, expected: impl Into<String>) -> IcfError {
        IcfError {
            line: self.number,
            column: self.column,
            found: format!("`{}`", shortened(self.text)),
            expected: expected.into(),
        }
    }
}

/// As much of a line as fits into a sentence.
fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Goes through the lines once.
pub struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
    last_number: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let trimmed = line.trim();
            if !trimmed.is_empty() {
                let before = line.len() - line.trim_start().len();
                let column = line[..before].chars().count() + 1;
                lines.push(Line { number, column, text: trimmed });
            }
        }
        Reader { lines, at: 0, last_number: text.lines().count().max(1) }
    }

    /// The next line, which stays the next.
    pub fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.at).copied()
    }

    /// The next line.
    pub fn next(&mut self, expected: &str) -> Result<Line<'a>, IcfError> {
        let line = self.peek().ok_or_else(|| self.ended(expected))?;
        self.at += 1;
        Ok(line)
    }

    /// The next line, which must be a value.
    pub fn value(&mut self, expected: &str) -> Result<Line<'a>, IcfError> {
        let line = self.next(expected)?;
        if line.is_heading() { Err(line.wrong(expected)) } else { Ok(line) }
    }

    /// The next line if it is a value; texts may be empty.
    pub fn text(&mut self) -> &'a str {
        match self.peek() {
            Some(line) if !line.is_heading() => {
                self.at += 1;
                line.text
            }
            _ => "",
        }
    }

    /// Leaves out values up to the next heading.
    pub fn skip_values(&mut self) {
        while self.peek().is_some_and(|line| !line.is_heading()) {
            self.at += 1;
        }
    }

    /// Takes the next line if it is this heading.
    pub fn takes(&mut self, heading: &str) -> bool {
        let is_next = self.peek().and_then(|line| line.heading()).is_some_and(|it| it == heading);
        if is_next {
            self.at += 1;
        }
        is_next
    }

    fn ended(&self, expected: &str) -> IcfError {
        let found = "the end of the file".to_owned();
        IcfError { line: self.last_number, column: 1, found, expected: expected.to_owned() }
    }
}

/// Reads a file.
///
/// # Errors
/// The first line that is none of an `.icf`, with its place and what was expected there.
pub fn parse(text: &str) -> Result<Icf, IcfError> {
    const VERSION: &str = "a version such as `Version 1.1.0`";
    const SECTION: &str = "a section ('TEST SETUP, 'RESULTS DISPLAY, 'ACCESS SPECIFICATIONS or \
                           'MANAGER LIST), or the version again";
    let mut reader = Reader::new(text);
    let first = reader.next(VERSION)?;
    let version = version_of(&first).ok_or_else(|| first.wrong(VERSION))?;
    let mut icf = Icf { version: version.to_owned(), ..Icf::default() };
    while let Some(line) = reader.peek() {
        reader.at += 1;
        if version_of(&line).is_some() {
            let behind = reader.peek().map(|line| line.wrong("the end of the file"));
            return behind.map_or(Ok(icf), Err);
        }
        match line.heading().as_deref() {
            Some("test setup") => icf.setup = read_setup(&mut reader)?,
            Some("results display") => {
                icf.has_display = true;
                icf.update_results_line = read_display(&mut reader)?;
            }
            Some("access specifications") => {
                icf.specifications = read_specifications(&mut reader)?;
            }
            Some("manager list") => icf.machines = Some(machines::read(&mut reader)?),
            _ => return Err(line.wrong(SECTION)),
        }
    }
    Ok(icf)
}

/// The version, if the line is one: `Version 1.1.0`, with or without an apostrophe.
fn version_of<'a>(line: &Line<'a>) -> Option<&'a str> {
    let text = line.text.strip_prefix('\'').unwrap_or(line.text);
    let (word, version) = text.split_once(char::is_whitespace)?;
    let version = version.trim();
    let is_number = version.starts_with(|first: char| first.is_ascii_digit());
    (word.eq_ignore_ascii_case("version") && is_number).then_some(version)
}
