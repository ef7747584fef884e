//! Bars whose parts add up.

use drivelab_core::findings::Stack;

use crate::view::amounts::{self, is_number};
use crate::view::chart::{Axis, Body, Chart, Layered, Table, Unit};

/// This many bars are read out; the table has all.
const SAID_MAX: usize = 8;
/// Bars that differ by more than this factor are drawn as shares, each of its own whole: the parts
/// of the short ones could not be seen.
const UNLIKE: f64 = 4.0;

/// The chart of a stack; `None` where no bar has a length.
pub fn stack(stack: &Stack) -> Option<Chart> {
    let is_sound = |values: &[f64]| values.iter().all(|value| is_number(*value) && *value >= 0.0);
    let show = |value: f64| amounts::show(value, stack.unit);
    let bars: Vec<Layered> = stack
        .bars
        .iter()
        .filter(|bar| bar.values.len() == stack.parts.len() && is_sound(&bar.values))
        .map(|bar| Layered {
            label: bar.label.clone(),
            text: show(bar.values.iter().sum()),
            tips: stack
                .parts
                .iter()
                .zip(&bar.values)
                .map(|(part, v)| format!("{part}: {}", show(*v)))
                .collect(),
            values: bar.values.clone(),
        })
        .collect();
    let top = bars.iter().map(|bar| bar.values.iter().sum()).fold(0.0, f64::max);
    if top <= 0.0 {
        return None;
    }
    let wholes = bars.iter().map(|bar| bar.values.iter().sum::<f64>()).filter(|sum| *sum > 0.0);
    let are_unlike = top > UNLIKE * wholes.fold(top, f64::min);
    let said: Vec<String> = bars
        .iter()
        .take(SAID_MAX)
        .map(|bar| format!("{} {} ({})", bar.label, bar.text, bar.tips.join(", ")))
        .collect();
    let heads = [String::new()].into_iter().chain(stack.parts.clone()).chain(["all".to_owned()]);
    let row = |bar: &Layered| {
        let parts = bar.values.iter().map(|value| show(*value));
        [bar.label.clone()].into_iter().chain(parts).chain([bar.text.clone()]).collect()
    };
    let rows = bars.iter().map(row).collect();
    let (axis, bars, more) = match are_unlike {
        true => (shares(), bars.into_iter().map(share).collect(), SHARES),
        false => (
            Axis {
                quantity: stack.quantity.clone(),
                unit: Unit::from(stack.unit),
                is_log: false,
                from: 0.0,
                to: top,
            },
            bars,
            "",
        ),
    };
    Some(Chart {
        title: stack.title.clone(),
        note: format!("{}{more}", stack.note).trim().to_owned(),
        alt: format!("{}, as bars of parts: {}.", stack.title, said.join("; ")),
        table: Table { heads: heads.collect(), rows },
        body: Body::Stacks { axis, parts: stack.parts.clone(), bars },
    })
}

const SHARES: &str = " Each bar is cut into shares of its own whole, which is written at its \
                      end: the wholes differ too much for one scale.";

fn shares() -> Axis {
    Axis { quantity: String::new(), unit: Unit::Share, is_log: false, from: 0.0, to: 1.0 }
}

/// A bar as parts of one.
fn share(bar: Layered) -> Layered {
    let whole: f64 = bar.values.iter().sum();
    let values = bar.values.iter().map(|value| if whole > 0.0 { value / whole } else { 0.0 });
    Layered { values: values.collect(), ..bar }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::findings::{StackBar, Unit as Of};

    fn drawn(wholes: [f64; 2]) -> (Axis, Vec<Layered>, Chart) {
        let bar =
            |whole: f64| StackBar { label: "x".into(), values: vec![whole / 4.0, whole * 0.75] };
        let chart = stack(&Stack {
            title: "t".into(),
            note: "n".into(),
            quantity: "time".into(),
            unit: Of::Ns,
            parts: vec!["a".into(), "b".into()],
            bars: wholes.map(bar).to_vec(),
        });
        let chart = chart.unwrap();
        let Body::Stacks { axis, bars, .. } = chart.body.clone() else { panic!("no stack") };
        (axis, bars, chart)
    }

    #[test]
    fn wholes_that_differ_much_are_drawn_as_shares_and_told_as_times() {
        let (axis, bars, chart) = drawn([1000.0, 4000.0]);
        assert_eq!((axis.to, bars[0].values.clone()), (4000.0, vec![250.0, 750.0]));
        assert_eq!(chart.note, "n");
        let (axis, bars, chart) = drawn([1000.0, 4001.0]);
        assert_eq!((axis.to, axis.unit), (1.0, Unit::Share));
        assert_eq!(bars[0].values, [0.25, 0.75]);
        assert!(chart.note.contains("shares of its own whole"), "{}", chart.note);
        assert!(bars[0].text.contains("1.00"), "{}", bars[0].text);
        assert_eq!(chart.table.rows[0][3], bars[0].text);
    }
}
