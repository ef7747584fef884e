//! Every option of Metarates that is known, and what becomes of it here.

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// It means here what it means there.
    Same,
    /// Nearly: what differs.
    Approximated(&'static str),
    /// It cannot be had: what to do instead.
    Refused(&'static str),
}

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The letter.
    pub letter: char,
    /// It has no value.
    pub is_flag: bool,
    /// What it is for.
    pub what: &'static str,
    /// What becomes of it.
    pub care: Care,
}

const fn known(letter: char, is_flag: bool, what: &'static str, care: Care) -> Known {
    Known { letter, is_flag, what, care }
}

/// Of a later copy.
const LATER: Care = Care::Refused(
    "leave it out: only a later copy has it. Start the line so often, with so many tasks",
);

/// All of them.
pub const KNOWN: &[Known] = &[
    known('d', false, "directory, which must be there", Care::Same),
    known('n', false, "files of all tasks together, in equal shares", Care::Same),
    known('u', true, "a directory of each task", Care::Same),
    known('C', true, "creates", Care::Same),
    known('S', true, "stats", Care::Same),
    known('U', true, "utimes", Care::Same),
    known('s', true, "fsync before close in creates", Care::Same),
    known(
        'k',
        true,
        "files stay",
        Care::Approximated("files that one test left are not created again for the next"),
    ),
    known('r', false, "repetitions", LATER),
    known('o', false, "nodes", LATER),
    known('p', false, "processes", LATER),
    known('g', false, "groups", LATER),
];

/// The letters without a value, or those with one.
pub fn letters(is_flag: bool) -> String {
    KNOWN.iter().filter(|known| known.is_flag == is_flag).map(|known| known.letter).collect()
}

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let mut text = String::from("| option | meaning | here | what differs |\n|---|---|---|---|\n");
    for known in KNOWN {
        let value = if known.is_flag { "" } else { " N" };
        let (word, differs) = match known.care {
            Care::Same => ("same", ""),
            Care::Approximated(differs) => ("approximated", differs),
            Care::Refused(way) => ("refused", way),
        };
        let typed = format!("`-{}{value}`", known.letter);
        text += &format!("| {typed} | {} | {word} | {differs} |\n", known.what);
    }
    text
}
