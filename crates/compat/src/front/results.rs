//! Files of results, and which of those that are there already may be written.

/// What is there is told by so many of its first bytes.
pub const LOOKED_AT_BYTES: usize = 4096;

/// A place for results that a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    /// Where, from the working directory on.
    pub path: String,
    /// What happens to a file that is there already.
    pub existing: Existing,
}

/// A file of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Where it goes.
    pub place: ResultFile,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// What is printed once it has been written; may be empty.
    pub said: String,
}

/// What happens to a file of results that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existing {
    /// These bytes are added, if it begins with these (none: whatever it holds).
    AppendAfter(Vec<u8>),
    /// It is replaced if it begins as it should, and the line is refused if it does not.
    ReplaceOwn {
        /// As one of these, whoever may have written it.
        alone: Vec<Mark>,
        /// As one of these, if it is on the list of results that drivelab has written.
        listed: Vec<Mark>,
    },
}

/// How a file of results begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// With these bytes.
    Bytes(Vec<u8>),
    /// With a text like this, in which `#` is a number and `*` anything on the same line.
    Like(&'static str),
}

impl Existing {
    /// It is replaced if it begins as one of these.
    pub fn replaces(alone: Vec<Mark>) -> Self {
        Existing::ReplaceOwn { alone, listed: Vec::new() }
    }

    /// Whether a file may be written that begins with these bytes: all that it has, or
    /// [`LOOKED_AT_BYTES`]; `is_listed`: drivelab has written it.
    pub fn takes(&self, begin: &[u8], is_listed: bool) -> bool {
        let is_any = |marks: &[Mark]| marks.iter().any(|mark| mark.is_of(begin));
        begin.is_empty()
            || match self {
                Existing::AppendAfter(marks) => begin.starts_with(marks),
                Existing::ReplaceOwn { alone, listed } => {
                    is_any(alone) || (is_listed && is_any(listed))
                }
            }
    }
}

impl Mark {
    fn is_of(&self, begin: &[u8]) -> bool {
        match self {
            Mark::Bytes(bytes) => begin.starts_with(bytes),
            Mark::Like(form) => begins_like(begin, form.as_bytes()),
        }
    }
}

/// Whether a text begins like a form. Each gap is as short as what follows it up to the next one
/// allows: forms have no end, so that is as good as any.
fn begins_like(text: &[u8], form: &[u8]) -> bool {
    let mut words = form.split(|byte| *byte == b'*');
    let Some(mut rest) = words.next().and_then(|word| behind(text, word)) else { return false };
    for word in words {
        let line = rest.iter().take_while(|byte| **byte != b'\n').count();
        match (0..=line).find_map(|at| behind(&rest[at..], word)) {
            Some(found) => rest = found,
            None => return false,
        }
    }
    true
}

/// What stands behind a word without gaps; `None`: the text does not begin with it.
fn behind<'a>(mut text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    for letter in word {
        let length = match letter {
            b'#' => text.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            _ => usize::from(text.first() == Some(letter)),
        };
        text = text.get(length..).filter(|_| length > 0)?;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_numbers_and_gaps_on_one_line() {
        for (text, form, is_like) in [
            ("a: (g=12): rw=read, bs=4", "*: (g=#): rw=*, bs=", true),
            ("a: b: (g=0): rw=read", "*: (g=#): rw=", true),
            ("a: (g=): rw=read", "*: (g=#): rw=", false),
            ("a\nb: (g=0): rw=", "*: (g=#): rw=", false),
            ("500, 12, 0, 0, 0\n", "#, #, #, #, #", true),
            ("500, 12\n", "#, #, #, #, #", false),
            ("3;fio-3.33;a;b;0;17;", "#;fio-#.#;*;#;#;", true),
            ("3;fio-3.33;a;b;0;", "#;fio-#.#;*;#;#;", false),
            ("", "#", false),
            ("x", "", true),
        ] {
            assert_eq!(begins_like(text.as_bytes(), form.as_bytes()), is_like, "{text} {form}");
        }
    }

    #[test]
    fn nothing_foreign_is_taken_and_what_is_empty_always_is() {
        let alone = vec![Mark::Bytes(b"ab".to_vec())];
        let own = Existing::ReplaceOwn { alone, listed: vec![Mark::Like("#;")] };
        for is_listed in [false, true] {
            assert!(own.takes(b"abc", is_listed) && own.takes(b"", is_listed));
            assert!(!own.takes(b"a", is_listed) && !own.takes(b"my thesis", is_listed));
            assert_eq!(own.takes(b"3;", is_listed), is_listed);
        }
        assert!(!Existing::replaces(Vec::new()).takes(b"my thesis", true));
        assert!(Existing::AppendAfter(Vec::new()).takes(b"my thesis", false));
        assert!(!Existing::AppendAfter(b"'".to_vec()).takes(b"my thesis", true));
    }
}
