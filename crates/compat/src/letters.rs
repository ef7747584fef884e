//! Lines that are read as getopt does: `-Fk`, `-b 64k`, `-b64k`, `--posix.odirect`.

use crate::option::{is_flag, name};

/// Which letters and long names a tool has.
#[derive(Debug, Clone)]
pub(crate) struct Grammar {
    /// How each is typed, as tables have it: `-F`, `-b N`, `--type N`.
    pub spellings: Vec<&'static str>,
    /// `-b=64k` means what `-b 64k` does.
    pub has_equals: bool,
}

impl Grammar {
    /// Whether the option of this name, dashes included, has no value; absent if there is none.
    fn is_flag(&self, wanted: &str) -> Option<bool> {
        let spelling = self.spellings.iter().find(|typed| name(typed) == wanted)?;
        Some(is_flag(spelling))
    }
}

/// What one or two words of a line are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// An option.
    Option(Given),
    /// An option without the value that it needs, as typed.
    Lacking(String),
    /// No option of this tool, as typed.
    Unknown(String),
    /// A word that belongs to no option.
    Stray(String),
}

/// An option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The letter or the long name, with its dashes.
    pub name: String,
    /// Its value, empty for one that has none.
    pub value: String,
    /// As typed, for notes.
    pub typed: String,
}

/// A line that is being parsed.
#[derive(Debug, Clone)]
pub(crate) struct Cutter<'a> {
    /// All its words.
    pub line: &'a [String],
    /// How many of them were taken.
    pub taken: usize,
    /// Which options there are.
    pub grammar: &'a Grammar,
}

/// Takes a line apart. Every letter is looked at, whatever stands before it.
pub(crate) fn read(line: &[String], grammar: &Grammar) -> Vec<Word> {
    let mut cutter = Cutter { line, taken: 0, grammar };
    let mut found = Vec::new();
    while let Some(word) = cutter.take() {
        match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) if !long.is_empty() => found.push(cutter.long(long)),
            (None, Some(letters)) if !letters.is_empty() => found.extend(cutter.cluster(letters)),
            _ => found.push(Word::Stray(word.clone())),
        }
    }
    found
}

impl<'a> Cutter<'a> {
    /// The next word.
    pub fn take(&mut self) -> Option<&'a String> {
        let word = self.line.get(self.taken)?;
        self.taken += 1;
        Some(word)
    }

    fn long(&mut self, long: &str) -> Word {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (format!("--{name}"), Some(value.to_owned())),
            None => (format!("--{long}"), None),
        };
        match (self.grammar.is_flag(&name), value) {
            (Some(true), None) => {
                Word::Option(Given { typed: name.clone(), name, value: String::new() })
            }
            (Some(false), value) => match value.or_else(|| self.take().cloned()) {
                Some(value) => {
                    Word::Option(Given { typed: format!("{name}={value}"), name, value })
                }
                None => Word::Lacking(name),
            },
            _ => Word::Unknown(format!("--{long}")),
        }
    }

    /// Letters behind one dash: flags, and at the end perhaps one with its value.
    pub fn cluster(&mut self, letters: &str) -> Vec<Word> {
        let mut found = Vec::new();
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            match self.grammar.is_flag(&name) {
                None => found.push(Word::Unknown(name)),
                Some(true) => {
                    let typed = name.clone();
                    found.push(Word::Option(Given { name, value: String::new(), typed }));
                }
                Some(false) => {
                    found.push(self.valued(name, &letters[at + letter.len_utf8()..]));
                    break;
                }
            }
        }
        found
    }

    fn valued(&mut self, name: String, attached: &str) -> Word {
        let attached = match attached.strip_prefix('=') {
            Some(value) if self.grammar.has_equals => value,
            _ => attached,
        };
        let is_next = attached.is_empty();
        let value = if is_next { self.take().cloned() } else { Some(attached.to_owned()) };
        match value {
            Some(value) => Word::Option(Given { typed: format!("{name} {value}"), name, value }),
            None => Word::Lacking(name),
        }
    }
}

/// Dashes that word processors put in the place of a hyphen, the minus sign among them.
pub(crate) const TYPOGRAPHIC: [char; 7] =
    ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}'];

/// The words with plain hyphens, and those that had none.
pub(crate) fn with_hyphens(args: &[String]) -> (Vec<String>, Vec<String>) {
    let mut changed = Vec::new();
    let plain = args.iter().map(|word| match word.strip_prefix(TYPOGRAPHIC) {
        Some(rest) => {
            changed.push(word.clone());
            match rest.strip_prefix(TYPOGRAPHIC) {
                Some(long) => format!("--{long}"),
                None => format!("-{rest}"),
            }
        }
        None => word.clone(),
    });
    let plain = plain.collect();
    (plain, changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grammar(has_equals: bool) -> Grammar {
        let spellings = vec!["-F", "-k", "-C", "-b N", "-t N", "--posix.odirect", "--type N"];
        Grammar { spellings, has_equals }
    }

    fn of(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        let shown = |word: Word| match word {
            Word::Option(given) => format!("{}:{}|{}", given.name, given.value, given.typed),
            other => format!("{other:?}"),
        };
        read(&words, &grammar(true)).into_iter().map(shown).collect()
    }

    #[test]
    fn letters_stand_alone_together_and_before_their_values() {
        assert_eq!(of("-F -b 64k -t4k"), ["-F:|-F", "-b:64k|-b 64k", "-t:4k|-t 4k"]);
        assert_eq!(of("-kFb 64k -t=4k"), ["-k:|-k", "-F:|-F", "-b:64k|-b 64k", "-t:4k|-t 4k"]);
        assert_eq!(of("-b -F"), ["-b:-F|-b -F"]);
        assert_eq!(
            of("--posix.odirect --type=o --type x"),
            ["--posix.odirect:|--posix.odirect", "--type:o|--type=o", "--type:x|--type=x"]
        );
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        assert_eq!(
            of("-Fq x -b"),
            ["-F:|-F", "Unknown(\"-q\")", "Stray(\"x\")", "Lacking(\"-b\")"]
        );
        assert_eq!(
            of("--foo - -- --type"),
            ["Unknown(\"--foo\")", "Stray(\"-\")", "Stray(\"--\")", "Lacking(\"--type\")"]
        );
        assert_eq!(of("--posix.odirect=1"), ["Unknown(\"--posix.odirect=1\")"]);
        assert_eq!(of("-ü"), ["Unknown(\"-ü\")"]);
        let words = read(&["-b=1".to_owned()], &grammar(false));
        assert!(matches!(&words[0], Word::Option(given) if given.value == "=1"), "{words:?}");
    }

    #[test]
    fn dashes_of_word_processors_become_hyphens() {
        let words = ["-S", "\u{2013}u", "x\u{2013}y", "\u{2013}\u{2013}v", "\u{2014}t"];
        let (plain, changed) = with_hyphens(&words.map(String::from));
        assert_eq!(plain, ["-S", "-u", "x\u{2013}y", "--v", "-t"]);
        assert_eq!(changed, ["\u{2013}u", "\u{2013}\u{2013}v", "\u{2014}t"]);
    }
}
