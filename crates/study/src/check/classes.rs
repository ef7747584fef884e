//! The kinds of drives that figures can be like.

use drivelab_core::findings::Unit;
use drivelab_core::uses::{Class, Range, written};
use drivelab_stats::Estimate;
use std::fmt::Write;

/// What a class says of its figures: from, to.
type Ends = (f64, f64);

/// A kind of drives.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// What they are called.
    pub name: &'static str,
    /// Sequential reads of 1 MiB, queue depth 8, bytes a second.
    pub sequential_read: Ends,
    /// Random reads of 4 KiB, queue depth 32, one thread, operations a second.
    pub random_read: Ends,
    /// Random reads of 4 KiB, one at a time, operations a second.
    pub random_read_alone: Ends,
    /// Where the ranges come from.
    pub source: &'static str,
}

/// What the figures of a drive are called, in the order of [`Kind`].
const NAMES: [(&str, Unit); 3] =
    [("sequential read", Unit::BytesPerS), ("random read Q32", Unit::Iops), ("Q1", Unit::Iops)];

/// Volumes whose rate a quota bounds, and credits may raise for a while.
pub const CLOUD: &str = "network volumes of a cloud";

/// Every class. No two of them overlap in all three figures.
pub const CLASSES: [Kind; 7] = [
    Kind {
        name: "hard disks",
        sequential_read: (40e6, 290e6),
        random_read: (80.0, 1200.0),
        random_read_alone: (50.0, 350.0),
        source: "data sheets of 5,400 to 7,200/min disks since 2006; the parts that check reads \
                 lie close together, which shortens seeks",
    },
    Kind {
        name: CLOUD,
        sequential_read: (60e6, 1.1e9),
        random_read: (2500.0, 17e3),
        random_read_alone: (300.0, 3000.0),
        source: "limits of general purpose volumes (3,000 to 16,000 IOPS, up to 1,000 MB/s)",
    },
    Kind {
        name: "SATA SSDs at 3 Gbit/s",
        sequential_read: (180e6, 285e6),
        random_read: (18e3, 70e3),
        random_read_alone: (5e3, 14e3),
        source: "what the link carries; data sheets of 2008 to 2011",
    },
    Kind {
        name: "SATA SSDs at 6 Gbit/s",
        sequential_read: (440e6, 570e6),
        random_read: (60e3, 135e3),
        random_read_alone: (6e3, 16e3),
        source: "what the link carries, 550 MB/s; data sheets promise 90,000 to 100,000 IOPS",
    },
    Kind {
        name: "PCIe 3 NVMe drives",
        sequential_read: (1.7e9, 3.6e9),
        random_read: (100e3, 620e3),
        random_read_alone: (7e3, 22e3),
        source: "what four lanes carry; data sheets, whose IOPS take several threads",
    },
    Kind {
        name: "PCIe 4 NVMe drives",
        sequential_read: (4.0e9, 7.5e9),
        random_read: (150e3, 1.4e6),
        random_read_alone: (9e3, 28e3),
        source: "what four lanes carry; data sheets, whose IOPS take several threads",
    },
    Kind {
        name: "PCIe 5 NVMe drives",
        sequential_read: (9.5e9, 15e9),
        random_read: (150e3, 2.6e6),
        random_read_alone: (9e3, 30e3),
        source: "what four lanes carry; data sheets, whose IOPS take several threads",
    },
];

impl Kind {
    fn ends(&self) -> [Ends; 3] {
        [self.sequential_read, self.random_read, self.random_read_alone]
    }

    fn ranges(&self) -> Vec<Range> {
        let range = |((low, high), (name, unit)): (Ends, (&str, Unit))| Range {
            name: name.into(),
            low,
            high,
            unit,
        };
        self.ends().into_iter().zip(NAMES).map(range).collect()
    }
}

/// The class of these figures: sequential read, random read at depth 32, one at a time. `None`
/// where one of them is not known.
pub fn class(figures: [Option<Estimate>; 3]) -> Class {
    let none = |why: &str| Class { why: why.into(), ..Class::default() };
    let [Some(sequential), Some(random), Some(alone)] = figures else {
        return none("not known: not all three read figures can be believed");
    };
    let figures = [sequential, random, alone]
        .map(|figure| (figure.low.unwrap_or(figure.value), figure.high.unwrap_or(figure.value)));
    let all = |kind: &&Kind, holds: fn(Ends, Ends) -> bool| {
        kind.ends().into_iter().zip(figures).all(|(ends, figure)| holds(ends, figure))
    };
    let is_in = |ends: Ends, figure: Ends| ends.0 <= figure.0 && figure.1 <= ends.1;
    let touches = |ends: Ends, figure: Ends| figure.0 <= ends.1 && ends.0 <= figure.1;
    if let Some(kind) = CLASSES.iter().find(|kind| all(kind, is_in)) {
        return Class { name: Some(kind.name.into()), ranges: kind.ranges(), why: String::new() };
    }
    match CLASSES.iter().find(|kind| all(kind, touches)) {
        Some(kind) => {
            none(&format!("cannot tell whether {}: an interval crosses a range", kind.name))
        }
        None => none("none of the classes listed (docs/METHODOLOGY.md)"),
    }
}

/// The table of classes as docs/METHODOLOGY.md has it.
pub fn table() -> String {
    let mut text = String::from(
        "| class | sequential read, 1 MiB, Q8 | random read, 4 KiB, Q32 | the same, Q1 | source |\n\
         |---|---|---|---|---|\n",
    );
    for kind in &CLASSES {
        let _ = write!(text, "| {} |", kind.name);
        for range in kind.ranges() {
            let [low, high] = [range.low, range.high].map(|end| written(end, range.unit));
            let _ = write!(text, " {low} to {high} |");
        }
        let _ = writeln!(text, " {} |", kind.source);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn middle(kind: &Kind) -> [f64; 3] {
        kind.ends().map(|(low, high)| (low * high).sqrt())
    }

    fn of(values: [f64; 3], width: f64) -> Class {
        let estimate = |value: f64| Estimate {
            value,
            low: Some(value / width),
            high: Some(value * width),
            n: 5,
        };
        class(values.map(|value| Some(estimate(value))))
    }

    #[test]
    fn classes_do_not_overlap() {
        for (at, one) in CLASSES.iter().enumerate() {
            for other in &CLASSES[at + 1..] {
                let shared = one.ends().into_iter().zip(other.ends());
                let apart = |(a, b): (Ends, Ends)| a.1 < b.0 || b.1 < a.0;
                assert!(shared.into_iter().any(apart), "{} and {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn a_drive_is_like_the_class_that_all_its_figures_lie_in() {
        for kind in &CLASSES {
            assert_eq!(of(middle(kind), 1.001).name.as_deref(), Some(kind.name));
            for figure in 0..3 {
                let mut values = middle(kind);
                values[figure] = kind.ends()[figure].1 * 30.0;
                assert_ne!(of(values, 1.001).name.as_deref(), Some(kind.name), "{figure}");
                values[figure] = kind.ends()[figure].1;
                let open = of(values, 1.02);
                assert_ne!(open.name.as_deref(), Some(kind.name), "an interval across a border");
                assert!(open.told().contains("cannot tell whether"), "{}", open.told());
            }
        }
        let unknown = class([None, Some(Estimate::point(1e5, 5)), Some(Estimate::point(1e4, 5))]);
        assert!(unknown.name.is_none() && unknown.told().contains("not known"));
    }
}
