//! Files of results, and which of those that are there already may be written.

/// What is there is told by this many of its first bytes.
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
    /// It is replaced if drivelab wrote it and nobody has changed it since; what it looks like
    /// proves neither.
    ReplaceOwn,
}

impl Existing {
    /// Whether a file may be written that begins with these bytes: all that it has, or
    /// [`LOOKED_AT_BYTES`]; `is_own`: drivelab has written it, and nobody has changed it since.
    pub fn takes(&self, begin: &[u8], is_own: bool) -> bool {
        begin.is_empty()
            || match self {
                Existing::AppendAfter(marks) => begin.starts_with(marks),
                Existing::ReplaceOwn => is_own,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_foreign_is_taken_and_what_is_empty_always_is() {
        for is_own in [false, true] {
            assert!(Existing::ReplaceOwn.takes(b"", is_own));
            assert_eq!(Existing::ReplaceOwn.takes(b"3;fio-3.33;a;", is_own), is_own);
        }
        assert!(Existing::AppendAfter(Vec::new()).takes(b"my thesis", false));
        assert!(!Existing::AppendAfter(b"'".to_vec()).takes(b"my thesis", true));
    }
}
