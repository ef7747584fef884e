//! What a report is made of: headings, sentences, tables, lists.

/// One piece of a report. Text of others stands in it as it came: each renderer makes it harmless
/// in its own way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// What the following stands under; of level 1 there is one, the title.
    Heading(u8, String),
    /// Words by themselves; what stands in backquotes is code.
    Words(String),
    /// Sentences under one word: `Verdict`, `Beware`, `Warning`.
    Said(&'static str, Vec<String>),
    /// Things with no order of columns.
    List(Vec<String>),
    /// Numbers and words in rows.
    Table(Table),
    /// A text to be copied as it is, and its language.
    Code(&'static str, String),
    /// What only some want to see, under a title.
    Folded(String, Vec<Block>),
}

/// A table of more words than these is one to look something up in.
const WORDY_CHARACTERS: usize = 2500;

/// A column's head.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) name: String,
    /// Its entries are numbers with their units.
    pub(crate) is_number: bool,
}

/// Entries in words, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    /// What it shows; empty where a heading says it.
    pub(crate) title: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<String>>,
    /// What must be known to read it.
    pub(crate) note: String,
}

impl Table {
    /// A table without rows. A head that ends in `#` is one of numbers.
    pub(crate) fn headed<const N: usize>(heads: [&str; N]) -> Table {
        let head = |name: &str| Head {
            name: name.trim_end_matches('#').to_owned(),
            is_number: name.ends_with('#'),
        };
        Table { heads: heads.map(head).to_vec(), ..Table::default() }
    }

    /// Whether it has nothing but words, and many: it is there to look something up in.
    pub(crate) fn is_wordy(&self) -> bool {
        let entries = self.rows.iter().flatten();
        let has_numbers = self.heads.iter().any(|head| head.is_number);
        !has_numbers && entries.map(|it| it.chars().count()).sum::<usize>() > WORDY_CHARACTERS
    }

    /// The names of its columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.heads.iter().map(|head| head.name.clone()).collect()
    }
}
