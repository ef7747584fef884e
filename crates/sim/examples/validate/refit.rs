//! What a profile would predict had it not been fitted to a figure: the parameter is chosen again
//! by another figure of the same drive, and the figure left out is computed.

use crate::documents::{DOCUMENTS, Figure, Load, Published, doc_001};
use crate::page::{Table, difference, number};
use drivelab_sim::profile::Profile;

/// One figure left out.
struct Refit {
    profile: &'static str,
    parameter: &'static str,
    /// The least and the greatest value that is tried.
    bounds: (i64, i64),
    /// Values are multiples of this.
    step: i64,
    /// The figure left out, by its name and the beginning of its load.
    left_out: Name,
    /// The figure that the parameter is chosen by instead.
    instead: Name,
}

/// What a target does, as one figure.
type Measure = fn(&str) -> Result<f64, String>;

struct Name {
    load: &'static str,
    figure: &'static str,
    /// What measures this figure alone, where its load has more that take time of their own.
    alone: Option<Measure>,
}

const fn name(load: &'static str, figure: &'static str) -> Name {
    Name { load, figure, alone: None }
}

const READS_AND_WRITES: &str = "random 4 KiB, depth 1";
const READS: Name = Name { load: READS_AND_WRITES, figure: "reads/s", alone: Some(doc_001::reads) };
const WRITES: Name =
    Name { load: READS_AND_WRITES, figure: "writes/s", alone: Some(doc_001::writes) };
const MIXED: Name = Name {
    load: READS_AND_WRITES,
    figure: "with 1 % writes, operations/s",
    alone: Some(doc_001::together),
};

const REFITS: &[Refit] = &[
    Refit {
        profile: "pqi",
        parameter: "command_ns",
        bounds: (10_000, 400_000),
        step: 1,
        left_out: READS,
        instead: MIXED,
    },
    Refit {
        profile: "pqi",
        parameter: "log_blocks",
        bounds: (24, 2_048),
        step: 8,
        left_out: WRITES,
        instead: MIXED,
    },
    Refit {
        profile: "zhou-intel",
        parameter: "firmware_read_ns",
        bounds: (0, 60_000),
        step: 1,
        left_out: READS,
        instead: MIXED,
    },
    Refit {
        profile: "zhou-intel",
        parameter: "program_ns",
        bounds: (600_000, 2_300_000),
        step: 1,
        left_out: WRITES,
        instead: MIXED,
    },
    Refit {
        profile: "ocz-core",
        parameter: "program_ns",
        bounds: (300_000, 2_300_000),
        step: 1,
        left_out: name("random 4 KiB writes, depth 1", "IOPS"),
        instead: name("4 KiB writes, 90 % sequential", "mean ms"),
    },
    Refit {
        profile: "samsung-slc",
        parameter: "log_blocks",
        bounds: (24, 4_096),
        step: 8,
        left_out: name("random 4 KiB writes, depth 1", "IOPS"),
        instead: name("4 KiB writes, 90 % sequential", "mean ms"),
    },
];

/// Fitted figures for which that cannot be done, and why.
const CANNOT: &str = "\
Left out of this table: `x25-e` (both rates of IOR: all else that is published of it is a \
change in per cent, which no rate follows from), `x25-m`, `momentus-7200` (their other \
figures are the longest time and, of the first, a ratio, which the parameter hardly \
decides), `ocz-core`'s `command_ns` and `block_dies` (no other figure depends on the first; \
the second has four whole values, and the longest of another load is the same merge), `essd` \
(its other columns are the same limiter), `pblaze5-c916` (two figures, and neither depends \
on the other's parameter), `nvme-tlc` and `nvme-qlc` (three stretches of one curve, a \
parameter each).";

/// Values between the two ends that are tried at most.
const TRIES: u32 = 7;
/// Factor from one end of a range to the other.
const STRIDE: i64 = 4;
/// Of the values between, each such one halves the range; the others go where a straight line says.
const HALVING: u32 = 3;
/// A refit is near enough within this share.
const NEAR: f64 = 0.01;

impl Name {
    fn found(&self, profile: &str) -> Result<(&'static Load, usize), String> {
        let loads = DOCUMENTS.iter().flat_map(|document| document.loads);
        let mut loads = loads
            .filter(|load| load.profile == profile && load.load.starts_with(self.load))
            .filter_map(|load| {
                let at = load.figures.iter().position(|figure| figure.what == self.figure)?;
                Some((load, at))
            });
        loads.next().ok_or_else(|| format!("{profile}: no figure `{}` of that load", self.figure))
    }
}

impl Name {
    /// The figure under a load of some profile, with keys behind its name.
    fn value(&self, load: &Load, at: usize, keys: &str) -> Result<f64, String> {
        match self.alone {
            Some(measure) => measure(&load.target(keys)),
            None => load.found(keys)?.get(at).copied().ok_or_else(|| "not measured".to_owned()),
        }
    }

    /// The figure as a time, in which a parameter that is one is linear.
    fn time(&self, found: f64) -> f64 {
        if self.figure.ends_with("/s") || self.figure == "IOPS" { 1.0 / found } else { found }
    }
}

fn centre(figure: &Figure) -> f64 {
    match figure.published {
        Published::Value(value) | Published::Over(value) => value,
        Published::Range(low, high) => f64::midpoint(low, high),
    }
}

impl Refit {
    fn keys(&self, value: i64) -> String {
        format!(",{}={value}", self.parameter)
    }

    /// The next value above one, until the two ends of a range lie around what is wanted.
    fn stride(&self, value: i64) -> i64 {
        let next = if value == 0 { self.bounds.1 } else { value * STRIDE };
        next.min(self.bounds.1)
    }

    /// The value by which the other figure comes out, or the end of the range that is nearest.
    fn refitted(&self, load: &Load, at: usize) -> Result<(i64, f64), String> {
        let target = centre(&load.figures[at]);
        let wanted = self.instead.time(target);
        let tried = |value: i64| {
            let found = self.instead.value(load, at, &self.keys(value))?;
            eprintln!("refit: {} {}={value}: {found:.4}", self.profile, self.parameter);
            Ok::<(i64, f64), String>((value, found))
        };
        let is_below = |of: (i64, f64)| self.instead.time(of.1) < wanted;
        let off = |of: (i64, f64)| (of.1 / target - 1.0).abs();
        let nearer = |one, other| if off(one) <= off(other) { one } else { other };
        // Large logs take long to settle: the range is gone up in strides.
        let (mut low, mut high) = (tried(self.bounds.0)?, tried(self.stride(self.bounds.0))?);
        let mut nearest = nearer(low, high);
        while is_below(low) == is_below(high) {
            if high.0 >= self.bounds.1 {
                return Ok(nearest);
            }
            (low, high) = (high, tried(self.stride(high.0))?);
            nearest = nearer(nearest, high);
        }
        for number in 1..=TRIES {
            let (from, to) = (self.instead.time(low.1), self.instead.time(high.1));
            let share = match number % HALVING {
                0 => 0.5,
                _ => (wanted - from) / (to - from),
            };
            let way = ((high.0 - low.0) as f64 * share) as i64 / self.step * self.step;
            let least = low.0 + self.step;
            if least >= high.0 || off(nearest) <= NEAR {
                break;
            }
            let next = tried((low.0 + way).min(high.0 - self.step).max(least))?;
            nearest = nearer(nearest, next);
            *if is_below(next) == is_below(low) { &mut low } else { &mut high } = next;
        }
        Ok(nearest)
    }

    fn row(&self) -> Result<Vec<String>, String> {
        let (left_load, left_at) = self.left_out.found(self.profile)?;
        let (load, at) = self.instead.found(self.profile)?;
        let fitted = Profile::embedded(self.profile)?
            .get(self.parameter)
            .and_then(drivelab_sim::profile::TomlValue::as_integer)
            .ok_or_else(|| format!("{}: no number `{}`", self.profile, self.parameter))?;
        let (refitted, reached) = self.refitted(load, at)?;
        let (other, figure) = (&load.figures[at], &left_load.figures[left_at]);
        let found = self.left_out.value(left_load, left_at, &self.keys(refitted))?;
        let of = |figure: &Figure, found: f64| {
            format!("{} ({})", number(found), difference(found, centre(figure)))
        };
        let is_at_end = refitted == self.bounds.0 || refitted == self.bounds.1;
        let reached_words = match other.is_hit(reached) {
            true => of(other, reached),
            false if is_at_end => format!("{}, not reached", of(other, reached)),
            false => format!("{}, not reached closely", of(other, reached)),
        };
        let verdict = match (other.is_hit(reached), figure.is_hit(found)) {
            (false, _) => "**cannot be refitted**",
            (true, true) => "hit",
            (true, false) => "**miss**",
        };
        Ok(vec![
            format!("`{}`", self.profile),
            format!("`{}`", self.parameter),
            format!("{}: {}", left_load.load, figure.what),
            format!("{}: {}", load.load, other.what),
            format!("{fitted} → {refitted}"),
            reached_words,
            of(figure, found),
            verdict.to_owned(),
        ])
    }
}

/// The table.
pub fn section() -> Result<String, String> {
    let mut table = Table::new(&[
        "profile",
        "parameter",
        "left out",
        "chosen by instead",
        "value",
        "that figure then",
        "the one left out then",
        "",
    ]);
    for refit in REFITS {
        table.row(&refit.row()?);
    }
    Ok(format!(
        "### One figure left out\n\nWhere another figure of the same drive depends on the same \
         parameter, the parameter is chosen by that one instead (within a range, by straight \
         lines and halves), and the figure that it had been fitted to becomes a prediction. \
         Where both cannot come out with one value, the model lacks something between them.\n\n\
         {}\n{CANNOT}\n",
        table.text()
    ))
}
