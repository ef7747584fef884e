//! The table of Da Zhou's slides 21 and 22, and what they say of drives that are simulated here.

use super::cost::{self, Cost, Repetition};
use super::judge::{Known, mean_rate};
use super::{Cell, HEADLINE, Load, Order};
use crate::experiment::published::{self, Held};
use drivelab_core::findings::{Entry, Head, Table};
use drivelab_core::quantity::{digits, operations, percent};
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;

/// Figures that are off by more than this share of the published one are missed.
const NEAR: f64 = 0.05;

/// Operations a second that a slide has.
#[derive(Debug, Clone, Copy)]
pub struct Slide {
    /// Which slide.
    pub number: &'static str,
    /// Random reads alone.
    pub reads: f64,
    /// Random writes alone.
    pub writes: f64,
    /// 99 % of reads and 1 % of writes, both at random.
    pub mixed: f64,
    /// Whether the simulated drive was fitted to that too.
    pub is_mix_fitted: bool,
    /// What the slide says follows: one write in reads, ideal, real.
    pub printed: &'static str,
}

const PQI: Slide = Slide {
    number: "slide 21",
    reads: 3360.399,
    writes: 190.2775,
    mixed: 2441.968,
    is_mix_fitted: true,
    printed: "18 reads, ideal 84 %, real 72 %",
};
const INTEL: Slide = Slide {
    number: "slide 22",
    reads: 11_753.65,
    writes: 4954.68,
    mixed: 8200.149,
    is_mix_fitted: false,
    printed: "2.4 reads, ideal 97 %, real 69 %",
};

impl Slide {
    /// The slide of a simulated drive.
    pub fn of(profile: &str) -> Option<Slide> {
        match profile {
            "pqi" => Some(PQI),
            "zhou-intel" => Some(INTEL),
            _ => None,
        }
    }

    /// What follows from its rates.
    pub fn cost(&self) -> Option<Cost> {
        let at = |rate: f64, reads: f64, writes: f64| -> Vec<Repetition> {
            let seconds = (reads + writes) / rate;
            vec![vec![seconds, reads, writes, seconds * 1e9]]
        };
        let (reads, writes) = (at(self.reads, 1000.0, 0.0), at(self.writes, 0.0, 1000.0));
        cost::of(&reads, &writes, &at(self.mixed, 990.0, 10.0)).ok()
    }
}

/// What this run has of the same.
struct Here<'a> {
    reads: Option<f64>,
    writes: Option<f64>,
    mixed: Option<f64>,
    cost: Option<&'a Cost>,
}

/// The slide's own table, and the published figures next to those of this run.
pub fn tables(run: &Run, summary: &Summary, known: &[Known]) -> Vec<Table> {
    let is_headline = |it: &&Known| it.share == HEADLINE && it.order == Order::Random;
    let Some(headline) = known.iter().find(is_headline) else { return Vec::new() };
    let alone = |load| {
        let cell = Cell { load, depth: headline.cell.depth };
        mean_rate(summary, cell).map(|rate| rate.value)
    };
    let here = Here {
        reads: alone(Load::Reads),
        writes: alone(Load::Writes(Order::Random)),
        mixed: headline.rate,
        cost: headline.cost.as_ref(),
    };
    let mut tables = vec![own(run, &here)];
    tables.extend(beside(run, &here));
    tables
}

fn own(run: &Run, here: &Here<'_>) -> Table {
    let state = run.begin.state.as_deref().unwrap_or("unknown");
    let rate = |rate: Option<f64>| rate.map(operations);
    let part = |part: fn(&Cost) -> String| here.cost.map(part);
    let rows = [
        ("state at the beginning", Some(state.to_owned())),
        ("RW: random writes alone", rate(here.writes)),
        ("RR: random reads alone", rate(here.reads)),
        ("R 1% W Random: both", rate(here.mixed)),
        ("1 write = n reads", part(|cost| digits(cost.alone.value))),
        ("ideal read: left of RR", part(|cost| percent(cost.ideal.value))),
        ("real read: left of RR", part(|cost| percent(cost.real.value))),
    ];
    let row = |(name, entry): (&str, Option<String>)| {
        vec![Entry::Text(name.into()), entry.map_or(Entry::Nothing, Entry::Text)]
    };
    let head = |name: &str| Head { name: name.into(), unit: None };
    Table {
        title: "99 % random reads, 1 % random writes".into(),
        note: "As on Da Zhou's slides 21 and 22: n is the time of a write alone by that of a read \
               alone; ideal is the rate that would be left of that of reads alone if each \
               operation took its time alone, 100 ÷ (99 + n) where just 1 % were writes (the \
               slides divide by 100 + n)."
            .into(),
        heads: vec![head(""), head("here")],
        rows: rows.map(row).to_vec(),
    }
}

fn beside(run: &Run, here: &Here<'_>) -> Option<Table> {
    let target = run.begin.target.as_str();
    let slide = Slide::of(target.strip_prefix("sim:")?.split(',').next()?)?;
    let state = run.begin.state.as_deref().unwrap_or("unknown");
    let meant = run.begin.facts.target.published_state.as_deref();
    let why = published::unlike(target, state, meant);
    published::table(
        held(&slide, here),
        why.as_deref(),
        "a figure is hit if it is off by at most 5 % of the published one.",
        &format!(
            "Source: Da Zhou, Understanding IO patterns of SSDs, {}, which prints {}; what follows \
             from its three rates is computed as here.",
            slide.number, slide.printed
        ),
    )
}

fn held(slide: &Slide, here: &Here<'_>) -> Vec<Held> {
    let follows = slide.cost();
    let cost = |part: fn(&Cost) -> Option<f64>| {
        (here.cost.and_then(part), follows.as_ref().and_then(part))
    };
    let number: fn(f64) -> String = digits;
    let is_fitted = slide.is_mix_fitted;
    let rows = [
        ("random reads alone", (here.reads, Some(slide.reads)), true, operations as fn(f64) -> _),
        ("random writes alone", (here.writes, Some(slide.writes)), true, operations),
        ("1 % random writes", (here.mixed, Some(slide.mixed)), is_fitted, operations),
        ("1 write = n reads", cost(|it| Some(it.alone.value)), true, number),
        ("ideal rate left", cost(|it| Some(it.ideal.value)), true, percent),
        ("real rate left", cost(|it| Some(it.real.value)), is_fitted, percent),
        ("efficiency", cost(|it| Some(it.efficiency.value)), is_fitted, percent),
        ("1 write costs n reads", cost(|it| it.cost.map(|cost| cost.value)), is_fitted, number),
        ("interference F", cost(|it| it.factor.map(|factor| factor.value)), is_fitted, number),
    ];
    let of = |(name, (here, published), is_fitted, show): Row| {
        let (here, published) = (here?, published?);
        let ratio = here / published;
        Some(Held {
            figure: name.into(),
            here: show(here),
            published: show(published),
            ratio,
            is_hit: (ratio - 1.0).abs() <= NEAR,
            is_fitted,
            source: slide.number,
        })
    };
    rows.into_iter().filter_map(of).collect()
}

/// A figure: its name, the number here and the published one, whether the drive was fitted to it
/// or to what it follows from, and how it is shown.
type Row = (&'static str, (Option<f64>, Option<f64>), bool, fn(f64) -> String);
