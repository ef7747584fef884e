//! Which strides are slower than reads anywhere, and the row of strips that would explain them.

use super::{DEPTH, name, strides};
use crate::compare::{Side, compare};
use crate::experiment::{Setting, control, region};
use drivelab_core::comparison::{Comparison, Sample};
use drivelab_core::findings::{Axis, Figure, Findings, Line, LineKind, Picture, Unit};
use drivelab_core::quantity::{digits, percent, size};
use drivelab_core::sound::Sound;
use drivelab_core::summary::Summary;
use drivelab_stats::{Estimate, Verdict};

pub fn judge(setting: &Setting<'_>, run: &Sound<'_>) -> Findings {
    let summary = run.summary();
    let bytes = region::bytes(setting, run).unwrap_or(0);
    let all = strides(bytes);
    let order = std::iter::once(name(None)).chain(all.iter().map(|it| name(Some(*it))));
    let mut findings = Findings { order: order.collect(), ..Findings::default() };
    let anywhere = (name(None), control::values(summary, &name(None)));
    control::drift(&[anywhere], control::DRIFT, &mut findings);
    findings.figures.extend(rate(summary, None).map(|estimate| Figure {
        name: name(None),
        estimate,
        unit: Unit::Iops,
        note: "what the strides are compared with".into(),
    }));
    findings.pictures.extend(picture(summary, &all));
    let side = |name: &str, is_strided: bool| Side {
        name: name.into(),
        samples: all.iter().filter_map(|it| sample(summary, *it, is_strided)).collect(),
        facts: Vec::new(),
        is_by_run: false,
    };
    let (before, after) = (side("anywhere", false), side("with a stride", true));
    match compare(&before, &after, Some(setting.options.delta)) {
        Ok(comparison) => {
            conclude(setting, &all, &comparison, &mut findings);
            findings.comparison = Some(comparison);
        }
        Err(why) => {
            findings.no_answer = true;
            findings.want_more(format!(
                "Whether a stride slows random reads: {why}. Give a larger --time or --budget."
            ));
        }
    }
    region::told(setting, run, &mut findings);
    findings
}

/// The name of a comparison.
fn words(stride: u64) -> String {
    format!("stride {}", size(stride))
}

fn sample(summary: &Summary, stride: u64, is_strided: bool) -> Option<Sample> {
    // Both sides are there, or neither.
    control::sample(summary, &name(Some(stride)), "")?;
    control::sample(summary, &name(Some(stride).filter(|_| is_strided)), &words(stride))
}

fn rate(summary: &Summary, stride: Option<u64>) -> Option<Estimate> {
    Estimate::positive_mean_of(&control::values(summary, &name(stride)))
}

fn picture(summary: &Summary, all: &[u64]) -> Option<Picture> {
    let at = |stride: &u64| Some((*stride as f64, rate(summary, Some(*stride))?.value));
    let points: Vec<(f64, f64)> = all.iter().filter_map(at).collect();
    let (first, last) = (points.first()?.0, points.last()?.0);
    let anywhere = rate(summary, None)?.value;
    let line = |label: &str, kind, points| Line { label: label.into(), kind, points };
    Some(Picture {
        title: "Random reads of 4 KiB by stride".into(),
        note: format!("{DEPTH} reads outstanding; each point is the mean of its rounds."),
        x: Axis { quantity: "stride".into(), unit: Unit::Bytes },
        y: Axis { quantity: "rate".into(), unit: Unit::Iops },
        lines: vec![
            line("with a stride", LineKind::Measured, points),
            line("anywhere", LineKind::Limit, vec![(first, anywhere), (last, anywhere)]),
        ],
        marks: Vec::new(),
    })
}

/// What the comparison says of each stride, shortest first.
#[derive(Default)]
struct Strides {
    /// Slower, each with its ratio.
    slower: Vec<(u64, f64)>,
    /// Not slower by more than the band.
    kept: Vec<u64>,
    /// The noise is too large to say; each with the lower end of its ratio.
    open: Vec<(u64, f64)>,
}

fn sorted(all: &[u64], comparison: &Comparison) -> Strides {
    let mut sorted = Strides::default();
    for stride in all {
        let wanted = words(*stride);
        let Some(cell) = comparison.cells.iter().find(|cell| cell.name == wanted) else { continue };
        let ratio = cell.ratio.map_or(f64::NAN, |it| it.value);
        match cell.verdict {
            Some(Verdict::Changed) if ratio < 1.0 => sorted.slower.push((*stride, ratio)),
            Some(Verdict::Inconclusive | Verdict::ChangedMaybeRelevant) => {
                let low = cell.ratio.and_then(|it| it.low).unwrap_or(0.0);
                sorted.open.push((*stride, low));
            }
            Some(_) => sorted.kept.push(*stride),
            None => {}
        }
    }
    sorted
}

fn conclude(setting: &Setting<'_>, all: &[u64], comparison: &Comparison, findings: &mut Findings) {
    let band = percent(setting.options.delta);
    let found = sorted(all, comparison);
    let worst = found.slower.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    match (worst, found.kept.last()) {
        (Some(worst), kept) => slows(all, &found, worst, kept, comparison, findings),
        (None, Some(longest)) if found.kept.len() == all.len() => findings.verdict.push(format!(
            "No stride slows random reads here: all {} from {} to {} cost less than {band}. Others \
             were not tried.",
            all.len(),
            size(all[0]),
            size(*longest)
        )),
        (None, Some(_)) => findings.verdict.push(format!(
            "No stride was found that slows random reads: {} of {} cost less than {band}.",
            found.kept.len(),
            all.len()
        )),
        (None, None) => findings.no_answer = true,
    }
    if found.open.len() == all.len() {
        findings.unknown.push(format!(
            "Whether any of {} strides slows random reads: the noise is too large to tell. A \
             larger scale repeats more often.",
            all.len()
        ));
    } else if !found.open.is_empty() {
        findings.unknown.push(format!(
            "Whether a stride of {} slows random reads: the noise is too large to tell. A larger \
             scale repeats more often.",
            sizes(&strides_of(&found.open))
        ));
    }
}

fn strides_of(of: &[(u64, f64)]) -> Vec<u64> {
    of.iter().map(|(stride, _)| *stride).collect()
}

fn sizes(strides: &[u64]) -> String {
    strides.iter().map(|it| size(*it)).collect::<Vec<_>>().join(", ")
}

/// Some strides are slower.
fn slows(
    all: &[u64],
    found: &Strides,
    worst: &(u64, f64),
    kept: Option<&u64>,
    comparison: &Comparison,
    findings: &mut Findings,
) {
    let cell = comparison.cells.iter().find(|cell| cell.name == words(worst.0));
    let interval = cell.and_then(|cell| cell.ratio).and_then(|it| Some((it.low?, it.high?)));
    let interval = interval
        .map_or(String::new(), |(low, high)| format!(" [{}, {}]", digits(low), digits(high)));
    findings.verdict.push(format!(
        "Strides slow random reads: {} of {} do, most of all {}, to {} times{interval} the rate of \
         reads anywhere.",
        found.slower.len(),
        all.len(),
        size(worst.0),
        digits(worst.1),
    ));
    let Some(kept) = kept else {
        if found.slower.len() == all.len() {
            findings.verdict.push(
                "Every stride slows them, so this is not what the strips of an array do.".into(),
            );
        }
        return;
    };
    match row(all, found, worst.1) {
        Some(bytes) => findings.verdict.push(format!(
            "All strides measured that are multiples of {} are slowed to at most {} times, and no \
             other is. So data come back to the same parts of the drive after {} or a multiple \
             of it: on an array, the strips of all members; on an SSD, its dies. Records lie \
             better at other strides, such as {}, the longest that was not slowed.",
            size(bytes),
            digits(highest(found, bytes)),
            size(bytes),
            size(*kept)
        )),
        None => findings.unknown.push(format!(
            "How the drive spreads its data: slowed are {}; not slowed {}. They \
             are not the multiples of one that was measured.",
            sizes(&strides_of(&found.slower)),
            sizes(&found.kept)
        )),
    }
}

/// The highest ratio of the multiples of a row.
fn highest(found: &Strides, row: u64) -> f64 {
    let multiples = found.slower.iter().filter(|(stride, _)| stride.is_multiple_of(row));
    multiples.map(|(_, ratio)| *ratio).fold(0.0, f64::max)
}

/// Rates up to this many times the lowest are as low: two members serve more than one.
const ALIKE: f64 = 1.25;

/// The shortest stride of those slowed most, if the others are its multiples and no multiple of it
/// does better. `None` where a part of it was not judged, which may be the row.
fn row(all: &[u64], found: &Strides, least: f64) -> Option<u64> {
    let most: Vec<u64> =
        found.slower.iter().filter(|it| it.1 <= least * ALIKE).map(|it| it.0).collect();
    let shortest = *most.first()?;
    let is_judged = |stride: &u64| {
        found.kept.contains(stride) || found.slower.iter().any(|(slower, _)| slower == stride)
    };
    // What is open may be a little slower, and not as slow.
    let is_faster = |stride: &u64| {
        let of_open = found.open.iter().find(|(open, _)| open == stride);
        is_judged(stride) || of_open.is_some_and(|(_, low)| *low > least * ALIKE)
    };
    let parts = all.iter().filter(|it| **it < shortest && shortest.is_multiple_of(**it));
    let multiples = all.iter().filter(|it| it.is_multiple_of(shortest) && is_judged(it));
    let explains = most.iter().all(|it| it.is_multiple_of(shortest))
        && multiples.into_iter().all(|it| most.contains(it))
        && parts.into_iter().all(is_faster);
    explains.then_some(shortest)
}
