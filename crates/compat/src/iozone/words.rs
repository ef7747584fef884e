//! A command line of IOzone cut into options: POSIX `getopt` with clusters, and `-+x` options,
//! whose operand is always the next word.

use super::catalogue::{self, LETTERS};
use super::{LEFT_OVER, USAGE};
use crate::front::Refusal;
use crate::letters::{Cutter, Grammar, TYPOGRAPHIC, Word as Cut};
use crate::option::Opt;

/// Processes of `-t` where its value is no number above 0.
pub(super) const PROCESSES_DEFAULT: u32 = 8;

/// One option as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// `-R`.
    Flag(char),
    /// `-s 16G`.
    Valued(char, String),
    /// `-+n`, `-+q 5`.
    Plus(char, String),
    /// `-F` with its names.
    Names(Vec<String>),
    /// A word that belongs to no option.
    Extra(String),
}

impl Word {
    /// As it is shown in notes.
    pub(super) fn typed(&self) -> String {
        match self {
            Word::Flag(letter) => format!("-{letter}"),
            Word::Valued(letter, value) => format!("-{letter} {value}"),
            Word::Plus(letter, operand) if operand.is_empty() => format!("-+{letter}"),
            Word::Plus(letter, operand) => format!("-+{letter} {operand}"),
            Word::Names(names) => format!("-F {}", names.join(" ")),
            Word::Extra(word) => word.clone(),
        }
    }
}

/// A line cut into options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The options in their order.
    pub(super) words: Vec<Word>,
    /// The line as IOzone prints it: words that belong to no option come last.
    pub(super) printed: Vec<String>,
    /// Words whose dash was none, as they were typed.
    pub(super) dashed: Vec<String>,
}

/// `text` with a typographic dash before an option made the one that was meant.
fn with_hyphen(text: &str) -> Option<String> {
    let rest = text.strip_prefix(TYPOGRAPHIC)?;
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '+').then(|| format!("-{rest}"))
}

/// Cuts a line into options.
///
/// # Errors
/// What IOzone says to an option that it does not know or that lacks its value.
pub(super) fn cut(line: &[String]) -> Result<Words, Refusal> {
    let mut found = Words::default();
    let mut plain = Vec::new();
    for word in line {
        let meant = with_hyphen(word);
        found.dashed.extend(meant.is_some().then(|| word.clone()));
        plain.push(meant.unwrap_or_else(|| word.clone()));
    }
    let spellings = LETTERS.iter().flat_map(Opt::spellings).chain(["-+ OPTION"]).collect();
    let grammar = Grammar { spellings, has_equals: false };
    let cutter = Cutter { line: &plain, taken: 0, grammar: &grammar };
    let mut scan = Scan { cutter, processes: 0 };
    let (mut extra, mut is_over) = (Vec::new(), false);
    while let Some(word) = scan.cutter.take() {
        let before = scan.cutter.taken - 1;
        match word.strip_prefix('-') {
            Some("-") if !is_over => is_over = true,
            Some(cluster) if !cluster.is_empty() && !is_over => {
                for cut in scan.cutter.cluster(cluster) {
                    found.words.push(scan.word(cut)?);
                }
            }
            _ => {
                extra.push(word.clone());
                continue;
            }
        }
        found.printed.extend_from_slice(&plain[before..scan.cutter.taken]);
    }
    found.words.extend(extra.iter().cloned().map(Word::Extra));
    found.printed.extend(extra);
    Ok(found)
}

struct Scan<'a> {
    cutter: Cutter<'a>,
    /// What `-t` or `-u` said so far: this many names follow `-F`.
    processes: u32,
}

impl Scan<'_> {
    fn word(&mut self, cut: Cut) -> Result<Word, Refusal> {
        let given = match cut {
            Cut::Option(given) => given,
            Cut::Lacking(typed) => {
                return Err(unknown(&format!("option requires an argument -- '{}'", &typed[1..])));
            }
            Cut::Unknown(typed) | Cut::Stray(typed) => {
                return Err(unknown(&format!("invalid option -- '{}'", &typed[1..])));
            }
        };
        let letter = given.name.chars().nth(1).unwrap_or_default();
        Ok(match letter {
            '+' => self.plus(&given.value)?,
            'F' => self.names(given.value)?,
            _ if given.typed == given.name => Word::Flag(letter),
            _ => {
                if matches!(letter, 't' | 'u' | 'l') {
                    self.processes = self.processes.max(processes(&given.value));
                }
                Word::Valued(letter, given.value)
            }
        })
    }

    /// `-+x`: only the first letter counts, and an operand is the next word.
    fn plus(&mut self, value: &str) -> Result<Word, Refusal> {
        let mut letters = value.chars();
        let letter = letters.next().unwrap_or_default();
        let Some(option) = catalogue::find(&format!("-+{letter}")) else {
            let text = format!("Unsupported Plus option -> {letter} <-");
            return Err(Refusal::new(USAGE, text, "leave it out; -h lists the supported options"));
        };
        if option.is_flag() {
            return Ok(Word::Plus(letter, String::new()));
        }
        if !letters.as_str().is_empty() {
            return Err(Refusal::new(
                200,
                format!("-+{letter} takes an operand !!"),
                format!(
                    "IOzone takes the word after `-+{value}` as the operand and forgets `{}`; \
                     write `-+{letter} {}`",
                    letters.as_str(),
                    letters.as_str()
                ),
            ));
        }
        let status = if letter == 'K' { 204 } else { 200 };
        let operand = self.cutter.take().cloned().ok_or_else(|| {
            let text = format!("-+{letter} takes an operand !!");
            Refusal::new(status, text, "give it as the next word")
        })?;
        Ok(Word::Plus(letter, operand))
    }

    /// As many words as `-t` said are names, whatever they look like.
    fn names(&mut self, first: String) -> Result<Word, Refusal> {
        if self.processes == 0 {
            return Err(Refusal::new(
                12,
                "invalid options: must specify -t N before -F",
                "put -t N first; one file alone is -f",
            ));
        }
        let mut names = vec![first];
        while names.len() < self.processes as usize {
            let Some(name) = self.cutter.take() else { break };
            names.push(name.clone());
        }
        let wanted = self.processes;
        if names.len() < wanted as usize {
            let text = format!("-F names {} files, and -t {wanted} needs {wanted}", names.len());
            return Err(Refusal::new(USAGE, text, LEFT_OVER));
        }
        if let Some(option) = names.iter().find(|name| name.starts_with('-')) {
            let text = format!(
                "-F takes {wanted} words as names, as -t says, and `{option}` is one of them"
            );
            return Err(Refusal::new(USAGE, text, LEFT_OVER));
        }
        Ok(Word::Names(names))
    }
}

/// Processes that the value of `-t` asks for.
pub(super) fn processes(value: &str) -> u32 {
    match u32::try_from(super::number::integer(value)) {
        Ok(0) | Err(_) => PROCESSES_DEFAULT,
        Ok(count) => count,
    }
}

fn unknown(why: &str) -> Refusal {
    let text = format!("iozone: {why}\nUnsupported option -> (null) <-");
    Refusal::new(USAGE, text, "leave it out; -h lists the supported options")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn cut_text(line: &str) -> Result<Words, Refusal> {
        cut(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn typed(line: &str) -> Vec<String> {
        cut_text(line).unwrap().words.iter().map(Word::typed).collect()
    }

    #[test]
    fn clusters_and_values_are_getopt_s() {
        assert_eq!(typed("-Rb name -s16G"), ["-R", "-b name", "-s 16G"]);
        assert_eq!(typed("-Rbname -+n -+ n"), ["-R", "-b name", "-+n", "-+n"]);
        assert_eq!(typed("-iI 0"), ["-i I", "0"]);
        assert_eq!(typed("-+q 5 -i 0"), ["-+q 5", "-i 0"]);
        assert_eq!(typed("-t 2 -F a b -R"), ["-t 2", "-F a b", "-R"]);
        assert_eq!(typed("-i -s 64"), ["-i -s", "64"]);
    }

    #[test]
    fn words_of_no_option_come_last() {
        let words = cut_text("foo -s 64 - -R -- -r 8").unwrap();
        assert_eq!(words.printed.join(" "), "-s 64 -R -- foo - -r 8");
        let extra = words.words.iter().filter(|word| matches!(word, Word::Extra(_)));
        assert_eq!(extra.count(), 4);
    }

    #[test]
    fn dashes_of_word_processors_are_hyphens() {
        let words = cut_text("–Rb out.wks –s 16G −+n — –5").unwrap();
        assert_eq!(words.dashed, ["–Rb", "–s", "−+n"]);
        assert_eq!(words.printed.join(" "), "-Rb out.wks -s 16G -+n — –5");
    }

    #[test]
    fn what_is_unknown_ends_as_in_iozone() {
        for (line, status, text) in [
            ("--help", 255, "iozone: invalid option -- '-'"),
            ("-?", 255, "iozone: invalid option -- '?'"),
            ("-R -s", 255, "iozone: option requires an argument -- 's'"),
            ("-+", 255, "iozone: option requires an argument -- '+'"),
            ("-+o", 255, "Unsupported Plus option -> o <-"),
            ("-+q", 200, "-+q takes an operand !!"),
            ("-+K", 204, "-+K takes an operand !!"),
            ("-+A2 -i 0", 200, "-+A takes an operand !!"),
            ("-F a b -t 2", 12, "invalid options: must specify -t N before -F"),
            ("-t 3 -F a b", 255, "-F names 2 files"),
            ("-t 3 -F a b -i 0", 255, "-F takes 3 words as names"),
        ] {
            let refusal = cut_text(line).unwrap_err();
            assert_eq!(refusal.status, status, "{line}");
            assert!(refusal.text.starts_with(text), "{line}: {}", refusal.text);
        }
    }
}
