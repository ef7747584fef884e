//! Numbers of findings in words: each in the unit that it carries.

use drivelab_core::findings::{Entry, Figure, Table, Unit};

use crate::units;
use crate::view::unit::{self, amount, count, is_size};

/// What stands where nothing was measured or nothing applies.
pub(crate) const NOTHING: &str = "–";

/// No quantity of a drive is larger: what is, is taken for no number.
const NUMBER_MAX: f64 = 1e21;

/// Whether it can be what was measured.
pub(crate) fn is_number(value: f64) -> bool {
    value.is_finite() && value.abs() <= NUMBER_MAX
}

/// A number in its unit.
pub(crate) fn show(value: f64, unit: Unit) -> String {
    match is_number(value) {
        true => unit::Unit::from(unit).show(value),
        false => units::UNKNOWN.to_owned(),
    }
}

/// How sure a figure is; `None` where the data give no interval. Of a share the ends are shown:
/// a percentage of a percentage would be misread.
pub(crate) fn margin(figure: &Figure) -> Option<String> {
    let estimate = &figure.estimate;
    estimate.relative_half_width().filter(|half| is_number(*half))?;
    match figure.unit {
        Unit::Share => units::interval(estimate, units::Scale::of(0.01, "%")),
        _ => Some(units::half_width(estimate)),
    }
}

/// How many columns a table has, those without a head included.
pub(crate) fn width(table: &Table) -> usize {
    let widest = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    widest.max(table.heads.len())
}

/// Whether a column holds numbers.
pub(crate) fn is_numeric(table: &Table, column: usize) -> bool {
    table.heads.get(column).is_some_and(|head| head.unit.is_some())
}

/// The heads of a table, as many as it has columns.
pub(crate) fn heads(table: &Table) -> Vec<String> {
    let name =
        |column: usize| table.heads.get(column).map_or(String::new(), |head| head.name.clone());
    (0..width(table)).map(name).collect()
}

/// The entries of a table with their units, each row as wide as the table.
pub(crate) fn rows(table: &Table) -> Vec<Vec<String>> {
    let width = width(table);
    let sized: Vec<bool> = (0..width).map(|column| holds_sizes(table, column)).collect();
    let entry = |row: &Vec<Entry>, column: usize| match row.get(column) {
        Some(Entry::Number(value)) => number(table, column, *value, sized[column]),
        Some(Entry::Text(text)) => text.clone(),
        Some(Entry::Nothing) => NOTHING.to_owned(),
        None => String::new(),
    };
    table.rows.iter().map(|row| (0..width).map(|column| entry(row, column)).collect()).collect()
}

fn number(table: &Table, column: usize, value: f64, is_sized: bool) -> String {
    match table.heads.get(column).and_then(|head| head.unit) {
        _ if !is_number(value) => units::UNKNOWN.to_owned(),
        Some(Unit::Bytes) if !is_sized => amount(value),
        Some(unit) => show(value, unit),
        None => count(value),
    }
}

/// Whether all numbers of a column are sizes: GiB next to GB could not be compared at a glance.
fn holds_sizes(table: &Table, column: usize) -> bool {
    table.rows.iter().filter_map(|row| row.get(column)).all(|entry| match entry {
        Entry::Number(value) => is_size(*value),
        Entry::Text(_) | Entry::Nothing => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::findings::Head;
    use drivelab_stats::Estimate;

    #[test]
    fn a_share_shows_the_ends_of_its_interval() {
        let estimate = Estimate { value: 0.96, low: Some(0.956), high: Some(0.964), n: 5 };
        let mut figure =
            Figure { name: String::new(), estimate, unit: Unit::Share, note: "".into() };
        assert_eq!(margin(&figure).as_deref(), Some("95.60 to 96.40 %"));
        figure.unit = Unit::Factor;
        assert_eq!(margin(&figure).as_deref(), Some("± 0.4 %"));
        figure.estimate.high = None;
        assert_eq!(margin(&figure), None);
        figure.estimate.high = Some(f64::NAN);
        assert_eq!(margin(&figure), None);
    }

    #[test]
    fn a_column_of_bytes_keeps_to_one_kind_of_unit() {
        let head = |name: &str, unit| Head { name: name.into(), unit };
        let number = Entry::Number;
        let table = Table {
            title: String::new(),
            note: String::new(),
            heads: vec![head("size", Some(Unit::Bytes)), head("written", Some(Unit::Bytes))],
            rows: vec![
                vec![number(4096.0), number(8.0 * 1024f64.powi(3))],
                vec![number(512.0), number(1e9), Entry::Text("late".into())],
                vec![Entry::Nothing],
            ],
        };
        assert_eq!(heads(&table), ["size", "written", ""]);
        let rows = rows(&table);
        assert_eq!(rows[0], ["4 KiB", "8.59 GB", ""]);
        assert_eq!(rows[1], ["512 B", "1.00 GB", "late"]);
        assert_eq!(rows[2], ["–", "", ""]);
    }
}
