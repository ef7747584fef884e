//! Values on a line: where each stands, and what it may be.

use super::reader::{IcfError, Line};

/// One value of a line.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub text: &'a str,
}

/// The values of a line, parted by commas, white space or both.
pub fn fields<'a>(line: &Line<'a>) -> Vec<Field<'a>> {
    let mut found = Vec::new();
    let mut begin = None;
    let is_gap = |c: char| c == ',' || c.is_whitespace();
    let ends = line.text.char_indices().chain([(line.text.len(), ',')]);
    for (column, (at, c)) in (line.column..).zip(ends) {
        match (begin, is_gap(c)) {
            (None, false) => begin = Some((at, column)),
            (Some((from, first)), true) => {
                found.push(Field { line: line.number, column: first, text: &line.text[from..at] });
                begin = None;
            }
            _ => {}
        }
    }
    found
}

/// As many values as `names`, in their order.
pub fn exactly<'a>(line: &Line<'a>, names: &[&str]) -> Result<Vec<Field<'a>>, IcfError> {
    let found = fields(line);
    if found.len() == names.len() {
        return Ok(found);
    }
    let column = found.get(names.len()).map_or(line.column, |field| field.column);
    let expected = format!("{} values ({})", names.len(), names.join(", "));
    let text = format!("{} values", found.len());
    Err(IcfError { line: line.number, column, found: text, expected })
}

impl Field<'_> {
    /// An error at this value.
    pub fn wrong(&self, expected: impl Into<String>) -> IcfError {
        IcfError {
            line: self.line,
            column: self.column,
            found: format!("`{}`", self.text),
            expected: expected.into(),
        }
    }

    /// A whole number of at most `most`.
    pub fn number(&self, what: &str, most: u64) -> Result<u64, IcfError> {
        let is_plain = self.text.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.text.parse().ok().filter(|number| is_plain && *number <= most);
        number.ok_or_else(|| match most {
            u64::MAX => self.wrong(format!("{what}, a whole number")),
            _ => self.wrong(format!("{what}, a whole number up to {most}")),
        })
    }

    /// A whole number that fits 32 bits.
    pub fn small(&self, what: &str, most: u32) -> Result<u32, IcfError> {
        Ok(u32::try_from(self.number(what, u64::from(most))?).unwrap_or(most))
    }

    /// One of several words, in any case.
    pub fn word<T: Copy>(&self, what: &str, words: &[(T, &str)]) -> Result<T, IcfError> {
        let known = words.iter().find(|(_, word)| word.eq_ignore_ascii_case(self.text));
        known.map(|(value, _)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
            self.wrong(format!("{what}: {}", words.join(", ")))
        })
    }

    /// ENABLED or DISABLED.
    pub fn switch(&self, what: &str) -> Result<bool, IcfError> {
        self.word(what, &[(true, "ENABLED"), (false, "DISABLED")])
    }
}

/// A whole line as one value.
pub fn whole<'a>(line: &Line<'a>) -> Field<'a> {
    Field { line: line.number, column: line.column, text: line.text }
}
