//! Which cells each kind of reason speaks against.

use crate::summary::CellSummary;

/// A kind of reason, and the suspect cells that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspicion<'summary> {
    /// Names and texts, in order of the cells; never empty.
    pub cells: Vec<(&'summary str, &'summary str)>,
}

impl<'summary> Suspicion<'summary> {
    /// The text of the first cell; its figures are those of that cell.
    pub fn text(&self) -> &'summary str {
        self.cells.first().map_or("", |(_, text)| text)
    }

    /// Names of the cells whose text is that of the first, and of the others.
    pub fn names(&self) -> (Vec<&'summary str>, Vec<&'summary str>) {
        let text = self.text();
        let named = |alike: bool| {
            let of = self.cells.iter().filter(move |(_, own)| (*own == text) == alike);
            of.map(|(name, _)| *name).collect()
        };
        (named(true), named(false))
    }
}

/// One for each kind of reason, in the order in which they come up.
pub fn suspicions<'summary>(
    cells: impl IntoIterator<Item = &'summary CellSummary>,
) -> Vec<Suspicion<'summary>> {
    let mut found: Vec<(&str, Suspicion<'summary>)> = Vec::new();
    for cell in cells.into_iter().filter(|cell| cell.valid == Some(false)) {
        for reason in &cell.reasons {
            let told = (cell.name.as_str(), reason.text.as_str());
            match found.iter_mut().find(|(code, _)| *code == reason.code) {
                Some((_, suspicion)) => suspicion.cells.push(told),
                None => found.push((&reason.code, Suspicion { cells: vec![told] })),
            }
        }
    }
    found.into_iter().map(|(_, suspicion)| suspicion).collect()
}
