//! Options of other tools: one form of table for all of them, from which their help, their notes,
//! their refusals and their pages in the reference are made.

use crate::front::{Note, Refusal, Treatment};

/// How an option is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// It means here what it means there.
    Same,
    /// The same but for some values or together with some options: which, and what becomes of them
    /// (a refusal or a note says it where it happens).
    InPart(&'static str),
    /// Nearly; what differs.
    Near(&'static str),
    /// It changes nothing here; why nothing is lost.
    Ignored(&'static str),
    /// It is not supported.
    Unsupported {
        /// Why; empty where what to do instead says enough.
        why: &'static str,
        /// What does what it is for, if anything does.
        instead: Option<&'static str>,
    },
}

impl Care {
    /// Not supported, and nothing else does it.
    pub const fn no(why: &'static str) -> Care {
        Care::Unsupported { why, instead: None }
    }

    /// Not supported, and something else is.
    pub const fn instead(way: &'static str) -> Care {
        Care::Unsupported { why: "", instead: Some(way) }
    }

    /// The word of the tables, and what they say next to it.
    pub(crate) fn told(self) -> (&'static str, String) {
        match self {
            Care::Same => ("same", String::new()),
            Care::InPart(but) => ("same in part", but.to_owned()),
            Care::Near(differs) => ("approximated", differs.to_owned()),
            Care::Ignored(why) => ("ignored", why.to_owned()),
            Care::Unsupported { why, instead: None } => ("refused", why.to_owned()),
            Care::Unsupported { why: "", instead: Some(way) } => {
                ("refused", format!("instead: {way}"))
            }
            Care::Unsupported { why, instead: Some(way) } => ("refused", format!("{why}; {way}")),
        }
    }

    /// What stands behind the meaning in a help that says no more than what takes effect.
    pub(crate) fn in_brief(self) -> &'static str {
        match self {
            Care::Same | Care::InPart(_) | Care::Near(_) => "",
            Care::Ignored(_) => " (without effect)",
            Care::Unsupported { .. } => " (refused)",
        }
    }

    /// What stands behind the meaning in a help that says why.
    pub(crate) fn in_full(self) -> String {
        match self {
            Care::Same => String::new(),
            Care::InPart(but) | Care::Near(but) => format!(" (nearly: {but})"),
            Care::Ignored(why) => format!(" (changes nothing: {why})"),
            Care::Unsupported { why, .. } => format!(" (refused: {why})"),
        }
    }

    /// The note on what becomes of an option that is not quite the same; `clause` begins it.
    pub(crate) fn note(self, code: &'static str, about: &str, clause: &str) -> Option<Note> {
        let (treatment, what) = match self {
            Care::Near(differs) => (Treatment::Approximated, differs),
            Care::Ignored(why) => (Treatment::Ignored, why),
            Care::Same | Care::InPart(_) | Care::Unsupported { .. } => return None,
        };
        Some(Note::new(code, about, treatment, format!("{clause}: {what}.")))
    }

    /// The refusal of what is not supported, in the words of `clause`.
    pub(crate) fn refusal(self, status: u8, clause: &str) -> Option<Refusal> {
        match self {
            Care::Unsupported { why, instead } => Some(refuse(status, clause, why, instead)),
            _ => None,
        }
    }
}

/// Says no in the words of `clause`; where there is an alternative, a reason stands behind them.
pub(crate) fn refuse(status: u8, clause: &str, why: &str, instead: Option<&str>) -> Refusal {
    match instead {
        None => Refusal::new(status, clause, sentence(why)),
        Some(way) if why.is_empty() => Refusal::new(status, clause, format!("Instead: {way}.")),
        Some(way) => Refusal::new(status, format!("{clause}: {why}"), way),
    }
}

/// A clause as a sentence.
pub(crate) fn sentence(clause: &str) -> String {
    // A name keeps its first letter.
    let is_word = clause.split(' ').next().is_some_and(|word| !word.contains(['/', '=', '_']));
    let mut letters = clause.chars();
    let mut first: String = letters.next().into_iter().collect();
    if is_word {
        first = first.to_uppercase();
    }
    let is_ended = clause.is_empty() || clause.ends_with(['.', '?', '!']);
    format!("{first}{}{}", letters.as_str(), if is_ended { "" } else { "." })
}

/// One option; `Own` is what only its tool keeps of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt<Own = ()> {
    /// As it is typed, with its value, and its other names: `-s N[kmg]`, `rw, readwrite`.
    pub typed: &'static str,
    /// What it asks for.
    pub meaning: &'static str,
    /// How it is treated.
    pub care: Care,
    /// What only its tool keeps of it.
    pub own: Own,
}

impl<Own: Copy> Opt<Own> {
    /// Each way to type it, with its value.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> + use<Own> {
        self.typed.split(", ").filter(|typed| !typed.is_empty())
    }

    /// Its names, without their values; the first one is the one we use.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<Own> {
        self.spellings().map(name)
    }

    /// The name that we use.
    pub fn name(&self) -> &'static str {
        name(self.spellings().next().unwrap_or_default())
    }

    /// Whether it has no value.
    pub fn is_flag(&self) -> bool {
        self.spellings().all(is_flag)
    }

    pub(crate) const fn with(self, care: Care) -> Self {
        Opt { care, ..self }
    }
}

/// The name in the way in which an option is typed with its value.
pub(crate) fn name(typed: &str) -> &str {
    typed.split([' ', '=']).next().unwrap_or_default()
}

/// Whether what is typed so has no value.
pub(crate) fn is_flag(typed: &str) -> bool {
    name(typed) == typed
}

/// The option of this name.
pub(crate) fn find<'a, Own: Copy>(
    mut options: impl Iterator<Item = &'a Opt<Own>>,
    wanted: &str,
) -> Option<&'a Opt<Own>> {
    options.find(|option| option.names().any(|name| name == wanted))
}

pub(crate) const fn same(typed: &'static str, meaning: &'static str) -> Opt {
    Opt { typed, meaning, care: Care::Same, own: () }
}

pub(crate) const fn near(typed: &'static str, meaning: &'static str, differs: &'static str) -> Opt {
    same(typed, meaning).with(Care::Near(differs))
}

pub(crate) const fn ignored(typed: &'static str, meaning: &'static str, why: &'static str) -> Opt {
    same(typed, meaning).with(Care::Ignored(why))
}

/// Not supported; `way` is empty where nothing else does it.
pub(crate) const fn refused(
    typed: &'static str,
    meaning: &'static str,
    why: &'static str,
    way: &'static str,
) -> Opt {
    let instead = if way.is_empty() { None } else { Some(way) };
    same(typed, meaning).with(Care::Unsupported { why, instead })
}

/// One line for each option, from how it is typed and what is said of it.
pub(crate) fn help(width: usize, rows: impl Iterator<Item = (String, String)>) -> String {
    rows.map(|(typed, said)| format!("  {:<width$}{said}\n", typed + " ")).collect()
}

/// A table in Markdown, from the line of its head and the first cells of each row.
pub(crate) fn table<'a>(head: &str, rows: impl Iterator<Item = (Vec<String>, &'a Care)>) -> String {
    let columns = head.matches(" |").count();
    let mut text = format!("{head}\n|{}\n", "---|".repeat(columns));
    for (mut cells, care) in rows {
        let (word, said) = care.told();
        cells.extend([word.to_owned(), said]);
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// How it is typed, as a cell: each spelling as code.
pub(crate) fn spelt(option: &Opt<impl Copy>) -> String {
    let spellings: Vec<String> = option.spellings().map(|typed| format!("`{typed}`")).collect();
    spellings.join(", ")
}

/// The table of options that have a meaning and nothing of their own.
pub(crate) fn markdown<'a>(options: impl Iterator<Item = &'a Opt>) -> String {
    let cells = |option: &Opt| vec![spelt(option), option.meaning.to_owned()];
    table(
        "| option | meaning | here | what differs |",
        options.map(|option| (cells(option), &option.care)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Opt; 6] = [
        same("-a, --all", "all"),
        near("-b N", "some", "fewer"),
        ignored("--c=N", "none", "no effect"),
        refused("-d A|B", "more", "no more", "use -a"),
        refused("-e", "less", "", "use -b"),
        refused("-f", "much", "it is too much", ""),
    ];

    #[test]
    fn a_table_is_told_in_all_ways() {
        let names: Vec<&str> = ALL.iter().flat_map(Opt::names).collect();
        assert_eq!(names, ["-a", "--all", "-b", "--c", "-d", "-e", "-f"]);
        let flags: Vec<bool> = ALL.iter().map(Opt::is_flag).collect();
        assert_eq!(flags, [true, false, false, false, true, true]);
        let refused = |option: &Opt| option.care.refusal(255, "no");
        let refusals: Vec<Refusal> = ALL.iter().filter_map(refused).collect();
        let expected = [
            ("no: no more", "use -a"),
            ("no", "Instead: use -b."),
            // A reason is no alternative.
            ("no", "It is too much."),
        ];
        assert_eq!(refusals, expected.map(|(text, advice)| Refusal::new(255, text, advice)));
        let rows =
            ALL.iter().map(|it| (it.typed.to_owned(), it.meaning.to_owned() + &it.care.in_full()));
        assert!(help(14, rows).contains("\n  -b N          some (nearly: fewer)\n"));
        let notes = ALL.iter().filter_map(|it| it.care.note("c", it.typed, "so"));
        assert_eq!(
            notes.map(|note| note.text).collect::<Vec<_>>(),
            ["so: fewer.", "so: no effect."]
        );
        let table = markdown(ALL.iter());
        for row in [
            "| option | meaning | here | what differs |\n|---|---|---|---|\n",
            "| `-a`, `--all` | all | same |  |\n",
            "| `-d A\\|B` | more | refused | no more; use -a |\n",
            "| `-e` | less | refused | instead: use -b |\n",
            "| `-f` | much | refused | it is too much |\n",
        ] {
            assert!(table.contains(row), "{table}");
        }
    }
}
