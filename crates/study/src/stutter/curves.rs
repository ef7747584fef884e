//! How long a write takes, on average and at worst, as curves: by depth, by size, by order.

use super::cells::{RANDOM, SEQUENTIAL, depths, of_depth, of_order, of_size, orders, sizes};
use super::judge::Seen;
use super::published::Measure;
use drivelab_core::findings::{Axis, Line, LineKind, Picture, Unit};
use drivelab_core::study::Scale;

/// Places of an axis, each with the name of its load.
type Places = Vec<(f64, String)>;

/// The pictures of which at least two places were measured.
pub fn pictures(seen: &Seen, scale: Scale) -> Vec<Picture> {
    let random = |at: f64| std::iter::once((at, RANDOM.to_string()));
    let by_depth: Places =
        random(1.0).chain(depths(scale).iter().map(|it| (f64::from(*it), of_depth(*it)))).collect();
    let by_size: Places =
        random(4096.0).chain(sizes(scale).iter().map(|it| (*it as f64, of_size(*it)))).collect();
    let by_order: Places = random(0.0)
        .chain(orders(scale).iter().rev().map(|it| (f64::from(*it) / 100.0, of_order(*it))))
        .chain([(1.0, SEQUENTIAL.to_string())])
        .collect();
    [
        ("Latency of random writes of 4 KiB by queue depth", "queue depth", Unit::Count, by_depth),
        ("Latency of random writes by size", "bytes of a write", Unit::Bytes, by_size),
        ("Latency of writes of 4 KiB by share of sequence", "sequential", Unit::Share, by_order),
    ]
    .into_iter()
    .filter_map(|(title, quantity, unit, places)| {
        let x = Axis { quantity: quantity.into(), unit };
        picture(seen, title, x, &places)
    })
    .collect()
}

fn picture(seen: &Seen, title: &str, x: Axis, places: &Places) -> Option<Picture> {
    let line = |label: &str, measure| Line {
        label: label.into(),
        kind: LineKind::Measured,
        points: places
            .iter()
            .filter_map(|(at, name)| Some((*at, seen.number(name, measure)?)))
            .collect(),
    };
    let lines = vec![line("mean", Measure::MeanNs), line("maximum", Measure::LongestNs)];
    lines.iter().any(|line| line.points.len() > 1).then(|| Picture {
        title: title.into(),
        note: "Each point is one load over all of its rounds; the maximum is its slowest write."
            .into(),
        x,
        y: Axis { quantity: "latency".into(), unit: Unit::Ns },
        lines,
        marks: Vec::new(),
    })
}
