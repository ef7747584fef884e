//! Bars whose parts add up.

use drivelab_core::findings::Stack;

use crate::view::amounts::{self, is_number};
use crate::view::chart::{Axis, Body, Chart, Layered, Table, Unit};

/// So many bars are read out; the table has all.
const SAID_MAX: usize = 8;

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
    Some(Chart {
        title: stack.title.clone(),
        note: stack.note.clone(),
        alt: format!("{}, as bars of parts: {}.", stack.title, said.join("; ")),
        table: Table { heads: heads.collect(), rows: bars.iter().map(row).collect() },
        body: Body::Stacks {
            axis: Axis {
                quantity: stack.quantity.clone(),
                unit: Unit::from(stack.unit),
                is_log: false,
                from: 0.0,
                to: top,
            },
            parts: stack.parts.clone(),
            bars,
        },
    })
}
