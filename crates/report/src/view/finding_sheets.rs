//! What a study found, and what a run was, as rows and columns.

use drivelab_core::findings::{Entry, Findings, Unit};
use drivelab_core::run::Run;

use crate::view::sheet::{Sheet, Value, number, text, whole};

/// A figure a row, with the ends of its interval.
pub(crate) fn figures(findings: &Findings) -> Sheet {
    let rows = findings.figures.iter().map(|figure| {
        let estimate = &figure.estimate;
        vec![
            text(&figure.name),
            number(Some(estimate.value)),
            number(estimate.low),
            number(estimate.high),
            whole(Some(estimate.n)),
            text(unit(figure.unit)),
            text(&figure.note),
        ]
    });
    sheet(["figure", "value", "low", "high", "n", "unit", "note"], rows.collect())
}

/// An entry of a table a row: which table, row and column, and its value. The first column of a
/// table names its rows.
pub(crate) fn tables(findings: &Findings) -> Sheet {
    let mut rows = Vec::new();
    for table in &findings.tables {
        for (place, row) in (1_u64..).zip(&table.rows) {
            let name = match row.first() {
                Some(Entry::Text(name)) => name.clone(),
                Some(Entry::Number(value)) => value.to_string(),
                Some(Entry::Nothing) | None => place.to_string(),
            };
            for (head, entry) in table.heads.iter().zip(row).skip(1) {
                let value = match entry {
                    Entry::Number(value) => number(Some(*value)),
                    Entry::Text(words) => text(words),
                    Entry::Nothing => Value::Empty,
                };
                let of = head.unit.map_or("", unit);
                rows.push(vec![text(&table.title), text(&name), text(&head.name), value, text(of)]);
            }
        }
    }
    sheet(["table", "row", "column", "value", "unit"], rows)
}

/// Which run it was: what would make it again, and how it was tagged.
pub(crate) fn origin(run: &Run) -> Vec<Vec<Value>> {
    let begin = &run.begin;
    let named = [
        ("ID", begin.run.clone()),
        ("target", begin.target.clone()),
        ("tag", begin.tag.clone().unwrap_or_default()),
        ("seed", begin.seed.to_string()),
        ("started", begin.started_at.clone()),
        ("version", begin.version.clone()),
    ];
    let row = |(name, value): (&str, String)| vec![text("run"), text(name), text(value)];
    named.into_iter().map(row).collect()
}

fn sheet<const N: usize>(heads: [&str; N], rows: Vec<Vec<Value>>) -> Sheet {
    Sheet { heads: heads.map(str::to_owned).to_vec(), rows }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Iops => "IOPS",
        Unit::BytesPerS => "bytes/s",
        Unit::Bytes => "bytes",
        Unit::Ns => "ns",
        Unit::Share => "share",
        Unit::Factor => "factor",
        Unit::Count => "count",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::findings::{Figure, Head, Table};
    use drivelab_stats::Estimate;

    #[test]
    fn figures_and_tables_keep_their_numbers_and_units() {
        let head = |name: &str, unit| Head { name: name.into(), unit };
        let findings = Findings {
            figures: vec![Figure {
                name: "steady state".into(),
                estimate: Estimate { value: 9.0, low: Some(8.0), high: Some(10.0), n: 5 },
                unit: Unit::Iops,
                note: "settled".into(),
            }],
            tables: vec![Table {
                title: "Window".into(),
                note: String::new(),
                heads: vec![head("criterion", None), head("measured", Some(Unit::Ns))],
                rows: vec![vec![Entry::Text("average".into()), Entry::Number(7.0)]],
            }],
            ..Findings::default()
        };
        let row = &figures(&findings).rows[0];
        assert_eq!(row[1..4], [8.0 + 1.0, 8.0, 10.0].map(Value::Number));
        assert_eq!((&row[0], &row[5]), (&text("steady state"), &text("IOPS")));
        let row = &tables(&findings).rows[0];
        let expected = [text("Window"), text("average"), text("measured"), Value::Number(7.0)];
        assert_eq!(row[..4], expected);
        assert_eq!(row[4], text("ns"));
    }
}
