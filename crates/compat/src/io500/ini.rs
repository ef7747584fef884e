//! The file that tells the suite what to do: sections, and keys with values.

use std::fmt::{self, Display, Formatter};

/// Characters of a line that an error shows.
const SHOWN_MAX: usize = 60;

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its line, from 1.
    pub line: usize,
    /// The section it stands in, as typed.
    pub section: String,
    /// As typed.
    pub key: String,
    /// Without comment and blanks around it; not empty.
    pub value: String,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IniError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub text: String,
}

impl Display for IniError {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "line {}: {}", self.line, self.text)
    }
}

/// Sections as typed, with their lines, and the keys that have a value.
pub type Content = (Vec<(usize, String)>, Vec<Entry>);

/// What a file holds. A key without a value keeps its default, as in the suite.
///
/// # Errors
/// A line is neither a section nor a key with a value, or stands before any section.
pub fn parse(text: &str) -> Result<Content, IniError> {
    let (mut sections, mut entries) = (Vec::<(usize, String)>::new(), Vec::new());
    for (line, whole) in (1..).zip(text.lines()) {
        let wrong = |text: String| IniError { line, text };
        let bare = whole.split(['#', ';']).next().unwrap_or_default().trim();
        if bare.is_empty() {
            continue;
        }
        if let Some(rest) = bare.strip_prefix('[') {
            let name = rest.strip_suffix(']').map(str::trim);
            let Some(name) = name.filter(|name| is_word(name, "_-")) else {
                return Err(wrong(format!("`{}` is not a [section]", shown(bare))));
            };
            sections.push((line, name.to_owned()));
            continue;
        }
        let Some((key, value)) = bare.split_once('=') else {
            return Err(wrong(format!("`{}` is not a `key = value`", shown(bare))));
        };
        let (key, value) = (key.trim(), value.trim());
        if !is_word(key, "_.-") {
            return Err(wrong(format!("`{}` is not the name of a key", shown(key))));
        }
        let Some((_, section)) = sections.last() else {
            return Err(wrong(format!("`{key}` stands before any [section]")));
        };
        if !value.is_empty() {
            let (section, key, value) = (section.clone(), key.to_owned(), value.to_owned());
            entries.push(Entry { line, section, key, value });
        }
    }
    Ok((sections, entries))
}

fn is_word(text: &str, others: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keys_and_comments_are_read() {
        let text = "# a comment\n; another\n\n[ global ] # behind\ndatadir = ./x ; where\napi=\n\
                    [find]\r\n  nproc = 2\t\r\nexternal-script = a b\n";
        let (sections, entries) = parse(text).unwrap();
        assert_eq!(sections, [(4, "global".into()), (7, "find".into())]);
        let entries: Vec<(usize, &str, &str, &str)> = entries
            .iter()
            .map(|it| (it.line, it.section.as_str(), it.key.as_str(), it.value.as_str()))
            .collect();
        assert_eq!(
            entries,
            [
                (5, "global", "datadir", "./x"),
                (8, "find", "nproc", "2"),
                (9, "find", "external-script", "a b"),
            ]
        );
        assert_eq!(parse(""), Ok((vec![], vec![])));
    }

    #[test]
    fn what_is_no_line_of_it_is_named() {
        for (text, error) in [
            ("datadir = x", "line 1: `datadir` stands before any [section]"),
            ("\n[global", "line 2: `[global` is not a [section]"),
            ("[a b]", "line 1: `[a b]` is not a [section]"),
            ("[]", "line 1: `[]` is not a [section]"),
            ("[x]\nnonsense", "line 2: `nonsense` is not a `key = value`"),
            ("[x]\n = 3", "line 2: `` is not the name of a key"),
            ("[x]\na b = 3", "line 2: `a b` is not the name of a key"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), error, "{text}");
        }
    }
}
