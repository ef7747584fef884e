//! Tables of a page.

use std::fmt::Write;

use crate::html::prose;
use crate::text::escape;
use crate::view::block::Table;

/// How the entries of a column are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Plain,
    /// To the right.
    Number,
    /// To the right, and what the table is about.
    Strong,
    /// Never wrapped.
    Line,
    /// Wrapped at a width that can still be read.
    Words,
    /// The same with sentences in which what stands in backquotes is code.
    Prose,
    /// The truth guard's word, which stands out where it is a warning.
    Truth,
}

impl Set {
    /// What its entries are called in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Set::Plain => "",
            Set::Number | Set::Strong => "r",
            Set::Line | Set::Truth => "n",
            Set::Words | Set::Prose => "w",
        }
    }
}

/// A table whose columns are set by what they hold.
pub(super) fn numbers(out: &mut String, table: &Table) {
    let set = |is_number| if is_number { Set::Number } else { Set::Plain };
    let sets: Vec<Set> = table.heads.iter().map(|head| set(head.is_number)).collect();
    begin(out, "");
    heads(out, table);
    rows(out, table, &sets);
}

/// The beginning of a table; `more` stands for attributes.
pub(super) fn begin(out: &mut String, more: &str) {
    let _ = write!(out, "<div class=\"scroll\" tabindex=\"0\"><table{more}><tr>");
}

/// The heads of columns, those of numbers to the right.
pub(super) fn heads(out: &mut String, table: &Table) {
    for head in &table.heads {
        let class = if head.is_number { " class=\"r\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}", escape(&head.name));
    }
}

/// All rows, and the end of the table.
pub(super) fn rows(out: &mut String, table: &Table, sets: &[Set]) {
    for row in &table.rows {
        out.push_str("<tr>");
        for (entry, set) in row.iter().zip(sets) {
            let is_doubted = *set == Set::Truth && entry == "SUSPECT";
            let entry = if *set == Set::Prose { prose(entry) } else { escape(entry) };
            let _ = match set.class() {
                "" => write!(out, "<td>"),
                class => write!(out, "<td class=\"{class}\">"),
            };
            let _ = match set {
                Set::Strong => write!(out, "<b>{entry}</b>"),
                Set::Truth if is_doubted => write!(out, "<b class=\"warn\">{entry}</b>"),
                _ => write!(out, "{entry}"),
            };
        }
    }
    out.push_str("</table></div>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_set_by_what_their_column_holds() {
        let mut table = Table::headed(["name", "rate#", "truth", "note"]);
        let row = |entries: [&str; 4]| entries.map(str::to_owned).to_vec();
        table.rows = vec![
            row(["a<b `c`", "1k IOPS", "SUSPECT", "see `d<e`"]),
            row(["f", "2k IOPS", "valid", "one ` alone"]),
        ];
        let mut out = String::new();
        begin(&mut out, " class=\"cells\"");
        heads(&mut out, &table);
        rows(&mut out, &table, &[Set::Plain, Set::Strong, Set::Truth, Set::Prose]);
        let expected = "<div class=\"scroll\" tabindex=\"0\"><table class=\"cells\"><tr>\
            <th scope=\"col\">name<th scope=\"col\" class=\"r\">rate\
            <th scope=\"col\">truth<th scope=\"col\">note\
            <tr><td>a&lt;b `c`<td class=\"r\"><b>1k IOPS</b>\
            <td class=\"n\"><b class=\"warn\">SUSPECT</b>\
            <td class=\"w\">see <code>d&lt;e</code>\
            <tr><td>f<td class=\"r\"><b>2k IOPS</b><td class=\"n\">valid\
            <td class=\"w\">one ` alone</table></div>";
        assert_eq!(out, expected);
    }
}
