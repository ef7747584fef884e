//! Mechanisms switched on and off, and whether the predicted sign came true.

use crate::load::Bench;
use crate::mechanisms::{Column, Mechanism, Sign, all};
use crate::page::{Table, number};
use drivelab_core::summary::Latency;
use drivelab_stats::Histogram;

/// Changes smaller than this are none.
const CHANGE_MIN: f64 = 0.005;

/// Figures of one run; `None` where there is none.
struct Figures {
    amplification: Option<f64>,
    iops: f64,
    tail_us: Option<f64>,
    read_tail_us: Option<f64>,
    erases_spread: f64,
}

impl Figures {
    fn of(&self, column: Column) -> Option<f64> {
        match column {
            Column::Amplification => self.amplification,
            Column::Iops => Some(self.iops),
            Column::Tail => self.tail_us,
            Column::ReadTail => self.read_tail_us,
            Column::WearSpread => Some(self.erases_spread),
        }
    }
}

fn run(mechanism: &Mechanism, option: &str) -> Result<Figures, String> {
    let separator = if option.is_empty() { "" } else { "," };
    let mut bench = Bench::of(&format!("{}{separator}{option}", mechanism.target))?;
    if let Some(before) = &mechanism.before {
        bench.run((mechanism.stream)(), before.clone())?;
    }
    let outcome = bench.run((mechanism.stream)(), (mechanism.until)())?;
    let inside = outcome.inside;
    let tail_us = |times: &Histogram| {
        Latency::of(times).and_then(|latency| latency.p99_9).map(|ns| ns as f64 / 1e3)
    };
    Ok(Figures {
        amplification: inside.write_amplification(),
        iops: outcome.iops(),
        tail_us: tail_us(&outcome.all),
        read_tail_us: tail_us(&outcome.reads),
        erases_spread: inside.erases_max as f64 - inside.erases_min as f64,
    })
}

fn sign(on: f64, off: f64) -> Option<Sign> {
    match on - off {
        change if change.abs() <= CHANGE_MIN * off.abs() => None,
        change if change > 0.0 => Some(Sign::Up),
        _ => Some(Sign::Down),
    }
}

fn arrow(sign: Sign) -> &'static str {
    match sign {
        Sign::Up => "up",
        Sign::Down => "down",
    }
}

/// The row of one mechanism: cells, and how many of its signs came true and did not.
fn row(mechanism: &Mechanism) -> Result<(Vec<String>, u32, u32), String> {
    let (on, off) = (run(mechanism, mechanism.on)?, run(mechanism, mechanism.off)?);
    let words = |value: Option<f64>| value.map_or("–".to_owned(), number);
    let both = |column: Column| format!("{} / {}", words(on.of(column)), words(off.of(column)));
    let (mut predicted, mut came, mut held, mut failed) = (Vec::new(), Vec::new(), 0, 0);
    for (column, expected) in mechanism.expected {
        predicted.push(format!("{} {}", column.words(), arrow(*expected)));
        let Some((on, off)) = on.of(*column).zip(off.of(*column)) else {
            came.push(format!("{} unknown", column.words()));
            continue;
        };
        let found = sign(on, off);
        let is_true = found == Some(*expected);
        *if is_true { &mut held } else { &mut failed } += 1;
        came.push(match (is_true, found) {
            (true, _) => "yes".to_owned(),
            (false, Some(found)) => format!("**no: {} {}**", column.words(), arrow(found)),
            (false, None) => format!("**no: {} unchanged**", column.words()),
        });
    }
    let cells = vec![
        mechanism.name.to_owned(),
        mechanism.load.to_owned(),
        both(Column::Amplification),
        both(Column::Iops),
        both(Column::Tail),
        both(Column::ReadTail),
        both(Column::WearSpread),
        predicted.join(", "),
        came.join(", "),
        mechanism.why.to_owned(),
    ];
    Ok((cells, held, failed))
}

/// The ablation table.
pub fn section() -> Result<String, String> {
    let mut table = Table::new(&[
        "mechanism",
        "load",
        "amplification, on / off",
        "IOPS",
        "p99.9, µs",
        "of reads, µs",
        "erase spread",
        "predicted when on",
        "came true",
        "why",
    ]);
    let (mut held, mut failed, mut absent) = (0, 0, 0);
    for mechanism in all() {
        match row(&mechanism) {
            Ok((cells, right, wrong)) => {
                held += right;
                failed += wrong;
                table.row(&cells);
            }
            Err(error) => {
                absent += 1;
                table.row(&[mechanism.name.to_owned(), mechanism.load.to_owned(), error]);
            }
        }
    }
    Ok(format!(
        "### Ablation\n\nEach mechanism on and off; the sign was written down before the first \
         run. p99.9 of reads and writes together, then of reads; the erase spread is the count of \
         the most erased block less that of the least erased one. A change below 0.5 % is none. \
         Signs that came true: {held}, that did not: {failed}, mechanisms that could not run: \
         {absent}.\n\n{}",
        table.text()
    ))
}
