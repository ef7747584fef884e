//! Lines of single letters: `-Fk`, `-b 64k`, `-b64k`, `--posix.odirect`.

/// Which letters and long names a tool has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grammar<'a> {
    /// Letters without a value.
    pub flags: &'a str,
    /// Letters with one.
    pub valued: &'a str,
    /// Long names without a value.
    pub long_flags: &'a [&'a str],
    /// Long names with one.
    pub long_valued: &'a [&'a str],
    /// `-b=64k` means what `-b 64k` does.
    pub has_equals: bool,
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
    /// The letter or the long name.
    pub name: String,
    /// Its value, empty for one that has none.
    pub value: String,
    /// As typed, for notes.
    pub typed: String,
}

/// Takes a line apart. Every letter is looked at, whatever stands before it.
pub(crate) fn read(args: &[String], grammar: &Grammar<'_>) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) if !long.is_empty() => {
                found.push(long_word(long, grammar, &mut rest));
            }
            (None, Some(letters)) if !letters.is_empty() => {
                cluster(letters, grammar, &mut rest, &mut found);
            }
            _ => found.push(Word::Stray(word.clone())),
        }
    }
    found
}

fn long_word<'w>(
    long: &str,
    grammar: &Grammar<'_>,
    rest: &mut impl Iterator<Item = &'w String>,
) -> Word {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (long, None),
    };
    let given =
        |value: String, typed: String| Word::Option(Given { name: name.to_owned(), value, typed });
    if grammar.long_flags.contains(&name) && value.is_none() {
        return given(String::new(), format!("--{name}"));
    }
    if !grammar.long_valued.contains(&name) {
        return Word::Unknown(format!("--{long}"));
    }
    match value.or_else(|| rest.next().cloned()) {
        Some(value) => {
            let typed = format!("--{name}={value}");
            given(value, typed)
        }
        None => Word::Lacking(format!("--{name}")),
    }
}

fn cluster<'w>(
    letters: &str,
    grammar: &Grammar<'_>,
    rest: &mut impl Iterator<Item = &'w String>,
    found: &mut Vec<Word>,
) {
    for (at, letter) in letters.char_indices() {
        let typed = format!("-{letter}");
        let given = |value: String, typed: String| {
            Word::Option(Given { name: letter.to_string(), value, typed })
        };
        if grammar.flags.contains(letter) {
            found.push(given(String::new(), typed));
            continue;
        }
        if !grammar.valued.contains(letter) {
            found.push(Word::Unknown(typed));
            continue;
        }
        let attached = &letters[at + letter.len_utf8()..];
        let attached = match attached.strip_prefix('=') {
            Some(value) if grammar.has_equals => value,
            _ => attached,
        };
        let value =
            if attached.is_empty() { rest.next().cloned() } else { Some(attached.to_owned()) };
        found.push(match value {
            Some(value) => {
                let typed = format!("{typed} {value}");
                given(value, typed)
            }
            None => Word::Lacking(typed),
        });
        return;
    }
}

/// Dashes that word processors put in the place of a hyphen.
const TYPOGRAPHIC: [char; 5] = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2212}'];

/// The words with plain hyphens, and those that had none.
pub(crate) fn with_hyphens(args: &[String]) -> (Vec<String>, Vec<String>) {
    let mut changed = Vec::new();
    let plain = args.iter().map(|word| match word.strip_prefix(TYPOGRAPHIC) {
        Some(rest) => {
            changed.push(word.clone());
            format!("-{}", rest.strip_prefix(TYPOGRAPHIC).map_or(rest.to_owned(), dashed))
        }
        None => word.clone(),
    });
    let plain = plain.collect();
    (plain, changed)
}

fn dashed(rest: &str) -> String {
    format!("-{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAMMAR: Grammar<'_> = Grammar {
        flags: "FkC",
        valued: "bt",
        long_flags: &["posix.odirect"],
        long_valued: &["type"],
        has_equals: true,
    };

    fn of(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        let shown = |word: Word| match word {
            Word::Option(given) => format!("{}:{}|{}", given.name, given.value, given.typed),
            other => format!("{other:?}"),
        };
        read(&words, &GRAMMAR).into_iter().map(shown).collect()
    }

    #[test]
    fn letters_stand_alone_together_and_before_their_values() {
        assert_eq!(of("-F -b 64k -t4k"), ["F:|-F", "b:64k|-b 64k", "t:4k|-t 4k"]);
        assert_eq!(of("-kFb 64k -t=4k"), ["k:|-k", "F:|-F", "b:64k|-b 64k", "t:4k|-t 4k"]);
        assert_eq!(of("-b -F"), ["b:-F|-b -F"]);
        assert_eq!(
            of("--posix.odirect --type=o --type x"),
            ["posix.odirect:|--posix.odirect", "type:o|--type=o", "type:x|--type=x"]
        );
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        assert_eq!(of("-Fq x -b"), ["F:|-F", "Unknown(\"-q\")", "Stray(\"x\")", "Lacking(\"-b\")"]);
        assert_eq!(
            of("--foo - -- --type"),
            ["Unknown(\"--foo\")", "Stray(\"-\")", "Stray(\"--\")", "Lacking(\"--type\")"]
        );
        assert_eq!(of("--posix.odirect=1"), ["Unknown(\"--posix.odirect=1\")"]);
        assert_eq!(of("-ü"), ["Unknown(\"-ü\")"]);
        let plain = Grammar { has_equals: false, ..GRAMMAR };
        let words = read(&["-b=1".to_owned()], &plain);
        assert!(matches!(&words[0], Word::Option(given) if given.value == "=1"), "{words:?}");
    }

    #[test]
    fn dashes_of_word_processors_become_hyphens() {
        let words: Vec<String> = ["-S", "\u{2013}u", "x\u{2013}y", "\u{2013}\u{2013}v"]
            .into_iter()
            .map(String::from)
            .collect();
        let (plain, changed) = with_hyphens(&words);
        assert_eq!(plain, ["-S", "-u", "x\u{2013}y", "--v"]);
        assert_eq!(changed, ["\u{2013}u", "\u{2013}\u{2013}v"]);
    }
}
