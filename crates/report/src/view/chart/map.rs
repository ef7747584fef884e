//! Every cell as a place between rate and latency: what is had, and what is paid for it.

use drivelab_core::summary::Summary;

use crate::units;
use crate::view::chart::bars::hue;
use crate::view::chart::{Axis, Body, Chart, Hue, Table, Unit};
use crate::view::headline::{self, Row};

/// Fewer places are no picture.
const PLACES_MIN: usize = 4;
/// More would hide each other; the bars below show all.
const PLACES_MAX: usize = 40;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Its name.
    pub label: String,
    /// Where, in the units of the axes.
    pub at: (f64, f64),
    /// How far the slow ones reach, in the unit of the vertical axis.
    pub up_to: Option<f64>,
    /// The number may not be what it is called: drawn hollow.
    pub is_suspect: bool,
    /// Colour, by its meaning.
    pub hue: Hue,
}

/// The chart of all cells; `None` where there are too few or too many.
pub fn map(summary: &Summary) -> Option<Chart> {
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(headline::rows).collect();
    let found: Vec<(&Row<'_>, Place)> =
        rows.iter().filter_map(|row| Some((row, place(row)?))).collect();
    if found.len() < PLACES_MIN || found.len() > PLACES_MAX {
        return None;
    }
    let places: Vec<Place> = found.iter().map(|(_, place)| place.clone()).collect();
    let xs: Vec<f64> = places.iter().map(|place| place.at.0).collect();
    let reach = |place: &Place| [place.at.1, place.up_to.unwrap_or(place.at.1)];
    let ys: Vec<f64> = places.iter().flat_map(reach).collect();
    let x = Axis::around("operations per second, better →", Unit::Operations, &xs)?;
    let y = Axis::around("latency of one, better ↓", Unit::Nanoseconds, &ys)?;
    let row = |(row, place): &(&Row<'_>, Place)| {
        let p99 = place.up_to.map_or("–".to_owned(), units::time);
        vec![
            row.plain_label(),
            units::operations(place.at.0),
            units::time(place.at.1),
            p99,
            headline::truth_word(row.cell.valid).to_owned(),
        ]
    };
    let heads = ["cell", "rate", "mean latency", "p99", "truth"].map(str::to_owned).to_vec();
    let said: Vec<String> = places
        .iter()
        .map(|one| {
            format!("{} {} at {}", one.label, units::time(one.at.1), units::operations(one.at.0))
        })
        .collect();
    let hollow = if places.iter().any(|place| place.is_suspect) { " Hollow: suspect." } else { "" };
    Some(Chart {
        title: "Latency against rate, all cells".to_owned(),
        note: format!(
            "Each number is a cell: its mean latency, with a line up to its p99. On a dotted line \
             the same number of operations is in flight. Down and to the right is better; what \
             lies further up on the same line waits.{hollow}"
        ),
        alt: format!("Latency against rate. {}.", said.join("; ")),
        table: Table { heads, rows: found.iter().map(row).collect() },
        body: Body::Map { x, y, guides: guides(&places), places },
    })
}

fn place(row: &Row<'_>) -> Option<Place> {
    let rate = row.rates.iops?.value;
    let latency = row.latency?;
    let is_usable = |value: f64| value.is_finite() && value > 0.0;
    (is_usable(rate) && is_usable(latency.mean)).then(|| Place {
        label: row.full_label(),
        at: (rate, latency.mean),
        up_to: latency.p99.map(|ns| ns as f64).filter(|p99| *p99 > latency.mean),
        is_suspect: row.cell.valid == Some(false),
        hue: hue(row.kind),
    })
}

/// Operations in flight that divide the places, by Little's law: rate × latency.
fn guides(places: &[Place]) -> Vec<(f64, String)> {
    let depths = places.iter().map(|place| place.at.0 * place.at.1 / 1e9);
    let (low, high) = depths.fold((f64::INFINITY, 0.0f64), |(a, b), d| (a.min(d), b.max(d)));
    let all = [1.0, 4.0, 16.0, 32.0, 128.0, 1024.0];
    let near = all.into_iter().filter(|depth| *depth >= low * 0.7 && *depth <= high * 1.5);
    near.map(|depth| (depth * 1e9, format!("{depth} in flight"))).collect()
}
