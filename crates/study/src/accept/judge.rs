//! Whether each claim holds: met, not met, or cannot tell and why.

/// A rate that falls short of its limit by less keeps it.
const ROUNDING: f64 = 0.001;

use super::spec::Of;
use super::{Claim, LAYOUT, REPETITIONS, State};
use drivelab_core::claims::{Answer, JudgedClaim, Metric};
use drivelab_core::facts::{Facts, TargetKind};
use drivelab_core::findings::Findings;
use drivelab_core::plan::IoMode;
use drivelab_core::quantity;
use drivelab_core::run::Run;
use drivelab_core::sound::{Rules, Sound};
use drivelab_core::summary::{CellKind, CellSummary, Latency, LatencyEstimates, Summary};
use drivelab_stats::{Estimate, samples_needed};

/// A repetition that ends earlier than this share of its time has measured something else.
const TIME_SHARE: f64 = 0.95;

/// How far a percentile may be from the exact one: the width of a histogram's bucket.
const RESOLUTION: f64 = 0.001;

/// The reason that a load did not reach its depth.
const SHALLOW: &str = "depth_not_reached";

/// What may be judged: a depth that was not reached speaks against some claims only, see
/// [`at_its_depth`].
pub const RULES: Rules = Rules { is_finding: |_, code| code == SHALLOW, ..Rules::STRICT };

/// The answers in words, for the run file and the exit status.
pub fn judge(claims: &[Claim], run: &Sound<'_>) -> Findings {
    answers(claims, run, run.summary())
}

pub(super) fn answers(claims: &[Claim], run: &Run, summary: &Summary) -> Findings {
    let judged = judged(claims, &run.begin.facts, summary);
    let order = super::cells(claims);
    let mut findings = Findings { order, ..Findings::default() };
    for claim in &judged {
        let said = sentence(claim);
        match claim.answer {
            Answer::Met => findings.verdict.push(said),
            Answer::NotMet => findings.beware.push(said),
            Answer::CannotTell => findings.unknown.push(said),
        }
    }
    let is_open = |claim: &JudgedClaim| claim.answer == Answer::CannotTell;
    let mut answered = claims.iter().zip(&judged);
    findings.wants_more =
        answered.any(|(claim, judged)| is_open(judged) && is_ended_early(claim, summary));
    let count = |answer| judged.iter().filter(|claim| claim.answer == answer).count();
    let (met, not_met) = (count(Answer::Met), count(Answer::NotMet));
    let open = count(Answer::CannotTell);
    findings.no_answer = not_met == 0 && open > 0;
    let total = judged.len();
    findings.claims.clone_from(&judged);
    let headline = format!("{met} of {total} claims met, {not_met} not met, {open} inconclusive.");
    findings.verdict.insert(0, headline);
    findings.unknown.extend(not_checked(summary));
    if met > 0 {
        let longest = claims.iter().map(|claim| claim.seconds).max().unwrap_or_default();
        findings.unknown.push(format!(
            "How long it holds: each load ran {REPETITIONS} times for at most {longest}. A cache, \
             the credits of a volume or heat may carry it for so long; a larger `seconds` in the \
             claim shows more."
        ));
    }
    if run.steps.iter().any(|step| step.begin.name == LAYOUT) {
        findings.unknown.push(
            "The whole drive: the claims were tested on a scratch file on it, in the state it was \
             found in."
                .into(),
        );
    }
    findings
}

/// What the truth guard could not look at in cells that it has nothing against, each once.
fn not_checked(summary: &Summary) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for cell in summary.cells.iter().filter(|cell| cell.valid.is_none()) {
        for reason in &cell.unchecked {
            let text = format!("Not checked: {}.", reason.text.trim_end_matches('.'));
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

/// Every claim with its answer, in the order of the claims.
pub fn judged(claims: &[Claim], facts: &Facts, summary: &Summary) -> Vec<JudgedClaim> {
    let mut judged: Vec<JudgedClaim> = Vec::new();
    for claim in claims {
        let mut one = judge_one(claim, facts, summary);
        // What speaks against a load speaks against all claims on it, and is said once.
        let is_same = |known: &&JudgedClaim| known.answer == one.answer && known.why == one.why;
        let known = judged.iter().find(is_same).filter(|_| !one.why.is_empty());
        if let Some(first) = known.map(|known| known.name.clone()) {
            one.why = format!("as for {first}");
        }
        judged.push(one);
    }
    judged
}

fn judge_one(claim: &Claim, facts: &Facts, summary: &Summary) -> JudgedClaim {
    let name = claim.cell();
    let cell = summary.cells.iter().find(|cell| cell.name == name);
    let figure = cell.and_then(|cell| figure(claim, cell));
    let (answer, why) = match cell {
        None => cannot("its load was not measured".into()),
        Some(cell) => answer(claim, facts, summary, cell, figure),
    };
    JudgedClaim {
        name: claim.name.clone(),
        metric: claim.metric,
        at_least: claim.at_least,
        at_most: claim.at_most,
        estimate: figure,
        answer,
        why,
    }
}

fn cannot(why: String) -> (Answer, String) {
    (Answer::CannotTell, why)
}

fn answer(
    claim: &Claim,
    facts: &Facts,
    summary: &Summary,
    cell: &CellSummary,
    figure: Option<Estimate>,
) -> (Answer, String) {
    if let Some(why) = disbelief(claim, facts, summary, cell) {
        return cannot(why);
    }
    let Some(kind) = kind_of(claim, cell) else {
        return cannot("nothing was measured under its load".into());
    };
    if kind.rates.errors > 0 {
        let (errors, word) = (kind.rates.errors, claim.action().word());
        return cannot(format!("{errors} {word}s failed"));
    }
    // One I/O that took longer refutes a claim on all of them, whatever the mean of maxima says.
    if let (Metric::MaxNs, Some(limit), Some(latency)) =
        (claim.metric, claim.at_most, merged(claim, kind))
        && latency.max as f64 > limit
    {
        return (Answer::NotMet, format!("one took {}", quantity::time(latency.max as f64)));
    }
    let Some(figure) = figure else { return cannot(no_figure(claim, kind)) };
    let has_interval = figure.low.is_some();
    let (low, high) = match (figure.low, figure.high) {
        (Some(low), Some(high)) => (low, high),
        _ if figure.n < 2 => return cannot("one repetition gives no interval".into()),
        _ if !are_equal(claim, summary, cell) => {
            return cannot(
                "its repetitions differ too much for an interval; measure longer".into(),
            );
        }
        // Equal repetitions: a percentile is known as well as the histogram resolves it.
        _ if claim.metric.quantile().is_some() => {
            (figure.value * (1.0 - RESOLUTION), figure.value * (1.0 + RESOLUTION))
        }
        // In virtual time nothing but the drive and its seed can change a figure.
        _ if facts.target.kind == TargetKind::Simulated => (figure.value, figure.value),
        _ => return cannot(format!("{} equal repetitions give no interval", figure.n)),
    };
    let (good, bad) = match (claim.at_least, claim.at_most) {
        // What is still under way when a repetition ends takes time and is not counted with it.
        (Some(limit), _) => (low >= limit * (1.0 - ROUNDING), high < limit * (1.0 - ROUNDING)),
        (_, Some(limit)) => (high <= limit, low > limit),
        (None, None) => (false, false),
    };
    let (answer, why) = at_its_depth(claim, shallow(summary, cell), [good, bad]);
    let why = match why.is_empty() && !has_interval {
        true => format!("each of its {} repetitions gave this figure", figure.n),
        false => why,
    };
    (answer, why)
}

/// The answer of an interval on the good or on the bad side of the limit. A load that did not reach
/// its depth is lighter than the one claimed: more operations a second than were claimed are still
/// more, and times longer than were claimed still longer; nothing else follows from it.
pub(super) fn at_its_depth(
    claim: &Claim,
    shallow: Option<&str>,
    side: [bool; 2],
) -> (Answer, String) {
    match (side, shallow, claim.at_least.is_some()) {
        ([true, _], None, _) => (Answer::Met, String::new()),
        ([_, true], None, _) => (Answer::NotMet, String::new()),
        ([true, _], Some(why), true) => (Answer::Met, format!("although {why}")),
        ([_, true], Some(why), false) => (Answer::NotMet, format!("although {why}")),
        (_, Some(why), _) => cannot(format!("suspect: {why}")),
        (_, None, _) => cannot("the interval spans the limit; measure longer".into()),
    }
}

/// How the load of a cell fell short of its depth, if it did.
fn shallow<'a>(summary: &'a Summary, cell: &CellSummary) -> Option<&'a str> {
    let steps = summary.steps.iter().filter(|step| cell.steps.contains(&step.step));
    let mut notes = steps.flat_map(|step| &step.notes).filter(|note| note.code == SHALLOW);
    notes.next().map(|note| note.text.trim_end_matches('.'))
}

/// Why the numbers of the cell are not those of the drive that the claim is about.
fn disbelief(
    claim: &Claim,
    facts: &Facts,
    summary: &Summary,
    cell: &CellSummary,
) -> Option<String> {
    if cell.valid == Some(false) {
        let against = cell.against().unwrap_or_default();
        let against = against.trim_end_matches('.');
        return Some(match cell.reasons.is_empty() {
            true => format!("{against}; bring the drive to its steady state first"),
            false => format!("suspect: {against}"),
        });
    }
    let filesystem = facts.target.filesystem.as_ref();
    if let Some(found) = filesystem.filter(|found| found.memory_backed) {
        return Some(format!("{} is in memory: no drive was measured", found.kind));
    }
    let buffered = cell.streams.iter().any(|stream| stream.load.io == IoMode::Buffered);
    if buffered && cell.valid.is_none() {
        return Some("buffered I/O: memory may have answered, which could not be checked".into());
    }
    if cell.repetitions < REPETITIONS {
        let out = [(cell.incomplete, "incomplete"), (cell.suspect, "suspect")];
        let out: Vec<String> = out
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let out = if out.is_empty() { String::new() } else { format!(" ({})", out.join(", ")) };
        let done = cell.repetitions;
        return Some(format!("only {done} of {REPETITIONS} repetitions count{out}"));
    }
    let (asked, measured) = seconds(claim, cell);
    if measured < TIME_SHARE * asked {
        return Some(format!(
            "its {} repetitions ended after {} s together instead of {} s; raise --budget {}-fold",
            cell.repetitions,
            quantity::digits(measured),
            quantity::digits(asked),
            (asked / measured).ceil()
        ));
    }
    let wanted = claim.state.filter(|state| *state != State::Unknown)?;
    let states = summary.steps.iter().filter(|step| step.name == cell.name);
    let other = states.map(|step| step.state.as_str()).find(|found| *found != wanted.word())?;
    Some(format!(
        "claimed for a drive that is {}, and the state found was {other}; bring it there first",
        wanted.word()
    ))
}

/// How long the repetitions were to take together, and how long they took.
fn seconds(claim: &Claim, cell: &CellSummary) -> (f64, f64) {
    let asked = claim.seconds.seconds() * f64::from(cell.repetitions);
    (asked, cell.streams.first().map_or(0.0, |stream| stream.seconds))
}

/// Whether the bytes allowed were written before its time was over.
fn is_ended_early(claim: &Claim, summary: &Summary) -> bool {
    let name = claim.cell();
    let whole = summary.cells.iter().filter(|cell| cell.repetitions >= REPETITIONS);
    whole.filter(|cell| cell.name == name).any(|cell| {
        let (asked, measured) = seconds(claim, cell);
        measured < TIME_SHARE * asked
    })
}

fn kind_of<'a>(claim: &Claim, cell: &'a CellSummary) -> Option<&'a CellKind> {
    cell.streams.first()?.kinds.get(&claim.action())
}

/// Whether the figure of all repetitions that count is the same: an interval is missing where they
/// are equal, and where they are too far apart for one.
fn are_equal(claim: &Claim, summary: &Summary, cell: &CellSummary) -> bool {
    let steps = summary.steps.iter().filter(|step| cell.steps.contains(&step.step));
    let values = steps.filter_map(|step| {
        let kind = step.streams.first()?.kinds.get(&claim.action())?;
        let latency = if claim.of == Of::Commit { kind.commit_ns } else { kind.service_ns };
        Some(match claim.metric {
            Metric::Iops => kind.rates.iops?.value,
            Metric::BandwidthBytesPerS => kind.rates.bandwidth_bytes_per_s?.value,
            Metric::MeanNs => latency?.mean,
            Metric::P50Ns => latency?.p50? as f64,
            Metric::P90Ns => latency?.p90? as f64,
            Metric::P99Ns => latency?.p99? as f64,
            Metric::P999Ns => latency?.p99_9? as f64,
            Metric::P9999Ns => latency?.p99_99? as f64,
            Metric::MaxNs => latency?.max as f64,
        })
    });
    let values: Vec<f64> = values.collect();
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// The latencies of all I/Os that a claim is on.
fn merged(claim: &Claim, kind: &CellKind) -> Option<Latency> {
    if claim.of == Of::Commit { kind.merged.commit_ns } else { kind.merged.service_ns }
}

fn figure(claim: &Claim, cell: &CellSummary) -> Option<Estimate> {
    let kind = kind_of(claim, cell)?;
    let latency = if claim.of == Of::Commit { &kind.commit_ns } else { &kind.service_ns };
    let of = |pick: fn(&LatencyEstimates) -> Option<Estimate>| pick(latency.as_ref()?);
    match claim.metric {
        Metric::Iops => kind.rates.iops,
        Metric::BandwidthBytesPerS => kind.rates.bandwidth_bytes_per_s,
        Metric::MeanNs => of(|latency| latency.mean),
        Metric::P50Ns => of(|latency| latency.p50),
        Metric::P90Ns => of(|latency| latency.p90),
        Metric::P99Ns => of(|latency| latency.p99),
        Metric::P999Ns => of(|latency| latency.p99_9),
        Metric::P9999Ns => of(|latency| latency.p99_99),
        Metric::MaxNs => of(|latency| latency.max),
    }
}

fn no_figure(claim: &Claim, kind: &CellKind) -> String {
    match claim.metric.quantile() {
        Some(quantile) => format!(
            "too few I/Os for the {}: {} in {REPETITIONS} repetitions, each needs {}; measure \
             longer",
            claim.metric.words(),
            quantity::count(kind.rates.ops),
            quantity::count(samples_needed(quantile))
        ),
        None => "too little was measured for a figure".into(),
    }
}

/// A figure in the unit of its metric.
fn in_unit(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => quantity::operations(value),
        Metric::BandwidthBytesPerS => quantity::bandwidth(value),
        _ => quantity::time(value),
    }
}

fn sentence(claim: &JudgedClaim) -> String {
    let side = if claim.at_least.is_some() { "at least" } else { "at most" };
    let limit = claim.at_least.or(claim.at_most).unwrap_or(f64::NAN);
    let asked = format!("{} {side} {}", claim.metric.words(), in_unit(claim.metric, limit));
    let measured = match &claim.estimate {
        Some(figure) => in_unit(claim.metric, figure.value),
        None => "no figure".into(),
    };
    let why = if claim.why.is_empty() { String::new() } else { format!(": {}", claim.why) };
    let answer = claim.answer.words();
    format!("{}: {asked}, measured {measured}: {answer}{why}.", claim.name)
}
