//! Tables as data: what a report is made of besides sentences.

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

    /// The names of its columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.heads.iter().map(|head| head.name.clone()).collect()
    }
}
