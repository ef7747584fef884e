//! Ratios of a heat map in few characters: for fields and for columns.

use drivelab_core::comparison::Cell;
use drivelab_core::findings::HeatMap;

use crate::units::digits;
use crate::view::chart::Table;

/// The mark next to a ratio: what it means can be read without any colour.
fn mark(cell: &Cell) -> &'static str {
    match cell.word() {
        "slower" => "▼",
        "faster" => "▲",
        "cannot tell" | "size unsettled" | "suspect" => "?",
        "no noise" => "≠",
        _ => "=",
    }
}

/// What the marks mean, in a sentence.
const MARKS: &str = "▼ slower, ▲ faster, = the same within the band, ? the noise allows both";

/// The marks of a map in a sentence: those that every map may have, and the rare one.
pub(crate) fn marks(map: &HeatMap) -> String {
    let cells = || map.rows.iter().flat_map(|row| row.cells.iter().flatten());
    match cells().any(|cell| cell.word() == "no noise") {
        true => format!("{MARKS}, ≠ all values of each side are equal, and differ."),
        false => format!("{MARKS}."),
    }
}

/// `0.43 ▼`.
pub(crate) fn entry(cell: &Cell) -> String {
    let ratio = cell.ratio.map_or_else(|| "–".to_owned(), |ratio| few(ratio.value));
    format!("{ratio} {}", mark(cell))
}

/// A ratio with a digit that says something, however small it is.
fn few(ratio: f64) -> String {
    match ratio {
        tiny if (1e-9..0.0005).contains(&tiny) => format!("{tiny:.0e}"),
        small if (0.0005..0.005).contains(&small) => format!("{small:.3}"),
        other => digits(other),
    }
}

/// How strong the colour of a ratio is, from 0 to 1: full from a factor of 10 on.
pub(crate) fn strength(cell: &Cell) -> f64 {
    let size = cell.gain().abs() / std::f64::consts::LN_10;
    let size = if size.is_finite() { size.min(1.0) } else { 0.0 };
    0.10 + 0.45 * size
}

/// Every ratio with its interval and its word.
pub(crate) fn numbers(map: &HeatMap) -> Table {
    let heads = ["pattern", "of", "by", "ratio", "95 % interval", "", "n"].map(str::to_owned);
    let mut rows = Vec::new();
    for row in &map.rows {
        for (column, cell) in map.columns.iter().zip(&row.cells) {
            let Some(cell) = cell else { continue };
            let ratio = cell.ratio.map_or_else(|| "–".to_owned(), |ratio| few(ratio.value));
            let interval = cell.ratio.and_then(|ratio| Some((ratio.low?, ratio.high?)));
            let interval = interval.map_or_else(
                || "none".to_owned(),
                |(low, high)| format!("{} to {}", few(low), few(high)),
            );
            let n = format!("{} against {}", cell.n.1, cell.n.0);
            let (name, against) = (row.name.clone(), row.against.clone());
            rows.push(vec![
                name,
                column.clone(),
                against,
                ratio,
                interval,
                cell.word().to_owned(),
                n,
            ]);
        }
    }
    Table { heads: heads.to_vec(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::comparison::Metric;
    use drivelab_stats::{Ratio, Verdict};

    fn cell(value: f64, verdict: Verdict) -> Cell {
        Cell {
            name: "aligned".into(),
            metric: Metric::Iops,
            verdict: Some(verdict),
            ratio: Some(Ratio { value, low: None, high: None }),
            p_adjusted: None,
            needs_n: None,
            open: None,
            values: None,
            n: (5, 5),
            suspect: None,
        }
    }

    #[test]
    fn a_ratio_can_be_read_without_its_colour() {
        assert_eq!(entry(&cell(0.4321, Verdict::Changed)), "0.43 ▼");
        assert_eq!(entry(&cell(0.00321, Verdict::Changed)), "0.003 ▼");
        assert_eq!(entry(&cell(0.000321, Verdict::Changed)), "3e-4 ▼");
        assert_eq!(entry(&cell(12.34, Verdict::Changed)), "12.3 ▲");
        assert_eq!(entry(&cell(1.01, Verdict::Equivalent)), "1.01 =");
        assert_eq!(entry(&cell(0.9, Verdict::Inconclusive)), "0.90 ?");
        assert_eq!(entry(&cell(0.54, Verdict::Degenerate)), "0.54 ≠");
        let suspect = Cell { verdict: None, ratio: None, ..cell(1.0, Verdict::Changed) };
        assert_eq!(entry(&suspect), "– ?");
    }

    #[test]
    fn colour_grows_with_the_effect_either_way() {
        let at = |value| strength(&cell(value, Verdict::Changed));
        assert!(at(0.5) > at(0.9) && at(2.0) > at(1.1) && at(0.01) <= 0.551);
        assert!((at(0.5) - at(2.0)).abs() < 1e-12 && at(f64::NAN) < 0.2);
    }
}
