//! Options of an old tool in one table, from which its help, its refusals and its page in the
//! reference are made.

use crate::front::Refusal;
use std::fmt::Write;

/// How an option is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As in the old tool.
    Same,
    /// Nearly; this differs.
    Approximated(&'static str),
    /// It changes nothing, because of this.
    Ignored(&'static str),
    /// It is not to be had, because of this; and what to do instead.
    Refused(&'static str, &'static str),
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// As it is typed, with its value: `-s N[kmg]`.
    pub option: &'static str,
    /// What it asks for.
    pub meaning: &'static str,
    /// How it is understood.
    pub how: How,
}

impl Entry {
    /// The option without its value.
    pub fn name(&self) -> &'static str {
        self.option.split([' ', '=']).next().unwrap_or_default()
    }

    /// Its refusal with the usage status of its tool, if it is not to be had.
    pub fn refusal(&self, status: u8) -> Option<Refusal> {
        match self.how {
            How::Refused(why, advice) => {
                let text = format!("{} is not to be had here: {why}", self.name());
                Some(Refusal::new(status, text, advice))
            }
            _ => None,
        }
    }
}

pub(crate) const fn same(option: &'static str, meaning: &'static str) -> Entry {
    Entry { option, meaning, how: How::Same }
}

pub(crate) const fn near(
    option: &'static str,
    meaning: &'static str,
    differs: &'static str,
) -> Entry {
    Entry { option, meaning, how: How::Approximated(differs) }
}

pub(crate) const fn ignored(
    option: &'static str,
    meaning: &'static str,
    why: &'static str,
) -> Entry {
    Entry { option, meaning, how: How::Ignored(why) }
}

pub(crate) const fn refused(
    option: &'static str,
    meaning: &'static str,
    why: &'static str,
    advice: &'static str,
) -> Entry {
    Entry { option, meaning, how: How::Refused(why, advice) }
}

/// One line for each option.
pub(crate) fn help<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut text = String::new();
    for entry in entries {
        let differs = match entry.how {
            How::Same => String::new(),
            How::Approximated(differs) => format!(" (nearly: {differs})"),
            How::Ignored(why) => format!(" (changes nothing: {why})"),
            How::Refused(why, _) => format!(" (refused: {why})"),
        };
        let _ = writeln!(text, "  {:<13} {}{differs}", entry.option, entry.meaning);
    }
    text
}

/// A table in Markdown.
pub(crate) fn markdown<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut text = String::from("| option | meaning | here | what differs |\n|---|---|---|---|\n");
    for entry in entries {
        let (word, differs) = match entry.how {
            How::Same => ("same", String::new()),
            How::Approximated(differs) => ("approximated", differs.to_owned()),
            How::Ignored(why) => ("ignored", why.to_owned()),
            How::Refused(why, advice) => ("refused", format!("{why}; {advice}")),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let (option, meaning, differs) = (cell(entry.option), cell(entry.meaning), cell(&differs));
        let _ = writeln!(text, "| `{option}` | {meaning} | {word} | {differs} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_told_in_three_ways() {
        let entries = [
            same("-a", "all"),
            near("-b N", "some", "fewer"),
            ignored("--c=N", "none", "no effect"),
            refused("-d A|B", "more", "no more", "use -a"),
        ];
        let names: Vec<&str> = entries.iter().map(Entry::name).collect();
        assert_eq!(names, ["-a", "-b", "--c", "-d"]);
        let refusals: Vec<_> = entries.iter().filter_map(|entry| entry.refusal(255)).collect();
        assert_eq!(refusals, [Refusal::new(255, "-d is not to be had here: no more", "use -a")]);
        assert!(help(entries.iter()).contains("-b N          some (nearly: fewer)\n"));
        assert!(
            markdown(entries.iter()).contains("| `-d A\\|B` | more | refused | no more; use -a |")
        );
    }
}
